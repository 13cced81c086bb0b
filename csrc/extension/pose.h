/* SPDX-License-Identifier: MIT */
/* What calls with poses have in common: matrices, the method, and frames. */
#ifndef SBS_EXTENSION_POSE_H
#define SBS_EXTENSION_POSE_H

#include "function.h"

/* A method with its options. */
typedef struct core_method {
  sbs_deform_options options;
} core_method;

/* The rows of core_method_rows, in the order of Python's signatures. An option of a method is one more row. */
enum {
  CORE_METHOD,
  CORE_ROTATION,
  CORE_CENTER,
  CORE_DAMPING,
  CORE_RCOND,
  CORE_AMOUNT,
  CORE_METHOD_ROWS
};

/* About a core_method. */
extern const core_row core_method_rows[CORE_METHOD_ROWS];

/* How the structure of a call with a method starts. */
typedef struct core_pose_call {
  core_call call;
  core_method by;
  sbs_pose pose;
} core_pose_call;

/* Some of the rows of core_method_rows, from `first` to `last`, of a function whose calls start like that. */
#define CORE_METHOD_PART(first, last) {core_method_rows + (first), (last) - (first) + 1, offsetof(core_pose_call, by)}

/* The angles of a twist in such a call, of one frame and of many: "twists". */
extern const core_row core_twists_row[1], core_twists_of_frames_row[1];

/* `set_defaults` of these functions. */
void core_set_method_defaults(void *call);

/* Part of `prepare`: whether a skin has the twist that angles are of; raises if not. */
int core_check_twists(core_call *call, sbs_pose *pose, PyObject *twist);

/* Makes a fault in the angles of a twist one in "twists": at bone and angle, or of many frames at frame and bone. */
void core_place_in_twists(sbs_fault *fault, const core_call *call);

/* The words of the options of a method, in the order of the library's enumerators. */
extern const char *const core_method_words[];
extern const char *const core_rotation_words[];
extern const char *const core_center_words[];

/* What a function does in one of several frames. */
typedef sbs_status core_frame_step(void *call, size_t frame, const sbs_pose *pose, sbs_fault *fault);

/*
 * Part of `run`: goes through the F frames of a call whose matrices are (F, J, 4, 4) or (F, J, 3, 4). A fault in the
 * matrices of one is one among those of all.
 */
sbs_status core_go_through_frames(void *call, const sbs_pose *poses, core_frame_step *step, sbs_fault *fault);

#endif
