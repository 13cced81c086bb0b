/* SPDX-License-Identifier: MIT */
/* The arguments that all methods of _core.Skin take that pose it: matrices, and by which method. */
#ifndef SBS_EXTENSION_POSE_ARGUMENTS_H
#define SBS_EXTENSION_POSE_ARGUMENTS_H

#include "arguments.h"
#include "skin_type.h"

/* By which method: what is said of one, and of the base that it is blended with. */
typedef struct core_method {
  core_choice method;
  core_choice rotation;
  core_choice center;
  core_real damping;
  core_real rcond;
} core_method;

core_method core_default_method(void);

/* Sets the options of a method; raises and returns 0 if rcond is the 0 by which the library understands None. */
int core_set_method(const core_method *method, sbs_deform_options *options);

/*
 * A method that another one is blended with: a str, the method, or a dict of its options. `set` are the options that it
 * makes. For "O&"; named "base" in messages.
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

/* Whether there is one amount for each vertex, or none; raises if not, else sets the options. */
int core_set_amount(const core_skin *self, const core_array *amount, const core_base *base,
                    sbs_deform_options *options);

/* Whether two contiguous arrays share memory. */
int core_overlap(PyArrayObject *a, PyArrayObject *b);

/* Whether an output shares no memory with another array, which may be NULL; raises if it does. */
int core_check_no_overlap(const core_array *output, PyArrayObject *other, const char *name);

/*
 * Makes the array for a result, (V, 3) or (F, V, 3) as the matrices say, or checks the one that the caller gave. 1, or
 * 0 with an exception set.
 */
int core_prepare_output(const core_skin *self, core_array *output, PyArrayObject *matrices);

/* Raises what a call with these matrices reported. */
void core_raise_fault(PyObject *self, sbs_status status, const sbs_fault *fault, PyArrayObject *matrices);

#endif
