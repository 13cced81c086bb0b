/* SPDX-License-Identifier: MIT */
/* _core.Skin: a sbs_skin and the arrays that it was made from. Immutable, so all threads may use one at once. */
#ifndef SBS_EXTENSION_SKIN_H
#define SBS_EXTENSION_SKIN_H

#include "function.h"
#include "scratch_pool.h"

#include <sbs/gradient.h>

/* The objects that a skin keeps: the first arguments of the constructor, in their order, and the twist. */
enum {
  CORE_REST_POSITIONS,
  CORE_JOINT_INDICES,
  CORE_JOINT_WEIGHTS,
  CORE_PARENTS,
  CORE_JOINT_POSITIONS,
  CORE_REST_NORMALS,
  CORE_CENTERS,
  CORE_TWIST_POSITIONS,
  CORE_ARRAY_COUNT,
  CORE_KEPT_TWIST = CORE_ARRAY_COUNT
};

typedef struct core_skin {
  core_object object;
  sbs_skin_info info;
  sbs_weight_report report;
  core_scratch_pool scratch;        /* this and the next are all that changes; threads may share them */
  _Atomic(sbs_gradient *) gradient; /* made when it is first needed; NULL before */
  sbs_skin_desc desc;               /* of the arrays */
} core_skin;

/* The _core.Twist of a skin, or NULL. */
static inline const core_object *core_skin_twist(const core_skin *skin) {
  return (const core_object *)skin->object.kept[CORE_KEPT_TWIST];
}

/*
 * Part of `prepare`: completes a description by its twist, or NULL, and by the number of joints: that of the largest
 * index where no argument tells it. Raises and returns 0 if there are twist_positions without a twist.
 */
int core_complete_skin(core_call *call, sbs_skin_desc *desc, const core_object *twist);

/*
 * An object for a skin, which it owns even if this fails and raises. desc: of the arrays and the twist; lengths: those
 * of calls of its methods.
 */
PyObject *core_wrap_skin(const core_call *call, sbs_skin *skin, const sbs_weight_report *report,
                         const sbs_skin_desc *desc, const npy_intp *lengths, PyObject *const *kept);

/* The methods, each in the source of its name. */
extern const core_function core_deform, core_deform_many, core_rotation_centers; /* skin_deform.c */
extern const core_function core_inverse_deform;
extern const core_function core_deform_vjp, core_weight_jacobian;    /* skin_gradient.c */
extern const core_function core_bound_influences, core_pose_palette; /* skin_palette.c */
extern const core_function core_update_skin;

#endif
