/* SPDX-License-Identifier: MIT */
/* Rows that calls with poses share: matrices, the method with its options, twists and shapes. */
#ifndef SBS_EXTENSION_POSE_H
#define SBS_EXTENSION_POSE_H

#include "function.h"

/* The start of the structure of a call with a pose, or with poses of many frames. */
typedef struct core_pose_call {
  core_call call;
  sbs_pose pose;
  sbs_deform_options options;
  const core_object *shapes; /* or NULL */
} core_pose_call;

/* "skinning_matrices" of a core_pose_call: of one frame, and of frames. */
extern const core_row core_matrices_row[1], core_matrices_of_frames_row[1];

/* The method and its options, in the order of Python's signatures. A new option is one more row. */
enum {
  CORE_METHOD,
  CORE_ROTATION,
  CORE_CENTER,
  CORE_DAMPING,
  CORE_RCOND,
  CORE_AMOUNT,
  CORE_METHOD_ROWS
};

extern const core_row core_method_rows[CORE_METHOD_ROWS];

/* The part of core_method_rows from `first` to `last`. */
#define CORE_METHOD_PART(first, last) {core_method_rows + (first), (last) - (first) + 1, 0}

/* "twists", angles of a core_pose_call: of one frame, and of frames. */
extern const core_row core_twists_row[1], core_twists_of_frames_row[1];

/* "shapes" and their weights, of one frame and of frames. */
extern const core_row core_shapes_rows[2], core_shapes_of_frames_rows[2];

/* `set_defaults` of functions with a method. */
void core_set_method_defaults(void *call);

/* Part of `prepare`: whether there is a twist for the angles, unless there are none; raises if not. */
int core_check_twists(core_call *call, sbs_pose *pose, const core_object *twist);

/* `prepare` of methods of a skin: whether twists and shapes fit it; raises if not. */
int core_prepare_pose(void *call);

/* The words of the options of a method, in the order of the library's enumerators. */
extern const char *const core_method_words[];
extern const char *const core_rotation_words[];
extern const char *const core_center_words[];

#endif
