/* SPDX-License-Identifier: MIT */
/* The arguments that calls with a pose have in common: matrices, and the method. */
#ifndef SBS_EXTENSION_POSE_H
#define SBS_EXTENSION_POSE_H

#include "function.h"

/* A method with its options, and what it is blended with. */
typedef struct core_method {
  sbs_deform_options options;
  sbs_deform_options base;
  PyArrayObject *amount;
} core_method;

/* The rows of core_method_arguments, in the order of Python's signatures. An option of a method is one more row. */
enum {
  CORE_METHOD,
  CORE_ROTATION,
  CORE_CENTER,
  CORE_DAMPING,
  CORE_RCOND,
  CORE_AMOUNT,
  CORE_BASE,
  CORE_METHOD_ARGUMENTS
};

extern const core_argument core_method_arguments[CORE_METHOD_ARGUMENTS];

/* How the structure of a call with a method starts. */
typedef struct core_pose_call {
  core_call call;
  core_method by;
  PyArrayObject *matrices;
  PyArrayObject *twists; /* the angles of a twist, or NULL */
} core_pose_call;

/* "twists", which goes into that, of one frame and of many. */
extern const core_argument core_twists_argument[1], core_twists_of_frames_argument[1];

/* Whether a skin has the twist that angles are of; raises if not. */
int core_check_twists(const core_pose_call *given, PyObject *twist);

/* The matrices and the angles. */
sbs_pose core_pose_with_twists(const core_pose_call *given);

/* Makes a fault in the angles of a twist one in "twists": at bone and angle, or of many frames at frame and bone. */
void core_place_in_twists(sbs_fault *fault, const core_pose_call *given);

/* Some of the rows of core_method_arguments, from `first` to `last`, of a function whose calls start like that. */
#define CORE_METHOD_PART(first, last) {core_method_arguments + (first), (last) - (first) + 1}

/* `set_defaults` of these functions. */
void core_set_method_defaults(void *call);

/* The words of the options of a method, in the order of the library's enumerators. */
extern const char *const core_method_words[];
extern const char *const core_rotation_words[];
extern const char *const core_center_words[];

/* The options with amount and base, once all arguments are converted. */
const sbs_deform_options *core_method_options(core_method *method);

/* Matrices of one frame. */
sbs_pose core_one_pose(PyArrayObject *matrices);

/* The matrices of a frame of many. */
sbs_pose core_frame_pose(PyArrayObject *matrices, size_t frame);

/* Makes a fault in the matrices of one frame, of several that a call goes through, one among all of them. */
void core_place_in_frame(sbs_fault *fault, PyArrayObject *matrices, size_t frame);

#endif
