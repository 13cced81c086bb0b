/* SPDX-License-Identifier: MIT */
/* The arguments of all methods of _core.Skin that pose it: matrices, and the method. */
#ifndef SBS_EXTENSION_POSE_ARGUMENTS_H
#define SBS_EXTENSION_POSE_ARGUMENTS_H

#include "arguments.h"
#include "skin_type.h"

/* A method with its options; also that of the base that it is blended with. */
typedef struct core_method {
  core_choice method;
  core_choice rotation;
  core_choice center;
  core_real damping;
  core_real rcond;
} core_method;

core_method core_default_method(void);

/* Sets the options of a method; raises and returns 0 if rcond is 0, which the library takes for None. */
int core_set_method(const core_method *method, sbs_deform_options *options);

/*
 * The method that another one is blended with: a str, the method, or a dict of its options. `set` are the resulting
 * options. For "O&"; messages name it "base".
 */
typedef struct core_base {
  sbs_deform_options set;
} core_base;

int core_convert_base(PyObject *object, void *core_base_address);

/* "skinning_matrices" of one frame, or of many. */
core_array core_matrices_argument(int many);

/* Whether the matrices fit the skin; raises if not. */
int core_check_matrices(const core_skin *self, const core_array *matrices);

sbs_pose core_pose_of(PyArrayObject *matrices);

/* "amount", (V,) or None. */
core_array core_amount_argument(void);

/* Sets the amount of the options. Raises and returns 0 unless there is one for each vertex, or none at all. */
int core_set_amount(const core_skin *self, const core_array *amount, const core_base *base,
                    sbs_deform_options *options);

/* Whether two contiguous arrays share memory. */
int core_overlap(PyArrayObject *a, PyArrayObject *b);

/* Whether an output shares no memory with another array, which may be NULL; raises if it does. */
int core_check_no_overlap(const core_array *output, PyArrayObject *other, const char *name);

/*
 * Makes the array for a result, (V, 3), or (F, V, 3) for several frames, or checks that of the caller. Returns 1, or 0
 * with an exception set.
 */
int core_prepare_output(const core_skin *self, core_array *output, PyArrayObject *matrices);

/* Raises the fault of a call with these matrices. */
void core_raise_fault(PyObject *self, sbs_status status, const sbs_fault *fault, PyArrayObject *matrices);

#endif
