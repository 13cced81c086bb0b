/* SPDX-License-Identifier: MIT */
/* _core.Skin: a sbs_skin and the arrays that it was made from. Immutable, so all threads may use one at once. */
#ifndef SBS_EXTENSION_SKIN_TYPE_H
#define SBS_EXTENSION_SKIN_TYPE_H

#include "function.h"
#include "scratch_pool.h"

#include <sbs/gradient.h>

/* The arrays that a skin was made from: the first arguments of the constructor, in their order. */
enum {
  CORE_REST_POSITIONS,
  CORE_JOINT_INDICES,
  CORE_JOINT_WEIGHTS,
  CORE_PARENTS,
  CORE_JOINT_POSITIONS,
  CORE_REST_NORMALS,
  CORE_CENTERS,
  CORE_TWIST_POSITIONS,
  CORE_HELD_COUNT
};

typedef struct core_skin {
  PyObject_HEAD
  sbs_skin *skin;
  sbs_skin_info info;
  sbs_weight_report report;
  core_scratch_pool scratch;            /* this and the next are all that changes; threads may share them */
  _Atomic(sbs_gradient *) gradient;     /* made when it is first needed; NULL before */
  PyArrayObject *held[CORE_HELD_COUNT]; /* converted; NULL where not given; nobody writes to them */
  PyObject *twist;                      /* the _core.Twist, or NULL */
  sbs_skin_desc desc;                   /* of these */
} core_skin;

/*
 * Part of `prepare`: completes a description by its twist, a _core.Twist or NULL, and by the number of joints: where no
 * argument tells it, the largest index does. Raises and returns 0 if there are twist_positions without a twist.
 */
int core_complete_skin(core_call *call, sbs_skin_desc *desc, PyObject *twist);

/*
 * Makes an object for a skin and takes ownership of it, even if this fails and raises. The object is made last, so that
 * no other thread, nor the collector, ever sees one without its skin. desc: of the arrays and the twist.
 */
PyObject *core_wrap_skin(PyObject *type, sbs_skin *skin, const sbs_weight_report *report, const sbs_skin_desc *desc,
                         PyArrayObject *const *arrays, PyObject *twist);

extern const core_function core_check_skin;

/* Makes the type and adds it to the module. A new reference, or NULL with an exception set. */
PyObject *core_new_skin_type(PyObject *module);

#endif
