/* SPDX-License-Identifier: MIT */
#include "pose.h"

#include <string.h>

const char *const core_method_words[] = {"rigid", "linear", "spherical", "dual_quaternion", NULL};
const char *const core_rotation_words[] = {"qlerp", "average", NULL};
const char *const core_center_words[] = {"joint_set", "weighted", "optimized", NULL};

const core_row core_method_rows[CORE_METHOD_ROWS] = {
    {"method", CORE_WORD, .at = offsetof(core_method, options.method), .words = core_method_words, .optional = 1},
    {"rotation", CORE_WORD, .at = offsetof(core_method, options.rotation), .words = core_rotation_words, .optional = 1},
    {"center", CORE_WORD, .at = offsetof(core_method, options.center), .words = core_center_words, .optional = 1},
    {"damping", CORE_REAL, .at = offsetof(core_method, options.damping), .optional = 1},
    {"rcond", CORE_REAL, .at = offsetof(core_method, options.rcond), .optional = 1, .none = 1},
    {"amount", CORE_REALS, .at = offsetof(core_method, options.amount), "(V,)",
     .scalar = offsetof(core_method, options.amount_scalar), .optional = 1},
};

void core_set_method_defaults(void *address) {
  ((core_pose_call *)address)->by.options = sbs_default_deform_options();
}

const core_row core_twists_row[1] = {
    {"twists", CORE_DOUBLES, .at = offsetof(core_pose_call, pose.twist_angles), "(B, 2)", .optional = 1}};

const core_row core_twists_of_frames_row[1] = {
    {"twists", CORE_DOUBLES, .at = offsetof(core_pose_call, pose.twist_angles), "(F, B, 2)", .optional = 1}};

int core_check_twists(core_call *call, sbs_pose *pose, PyObject *twist) {
  if (pose->twist_angles != NULL && twist == NULL) {
    PyErr_SetString(PyExc_ValueError, "twists has no effect on a skin that was made without twist");
    return 0;
  }
  if (twist != NULL && core_length(call, 'B') == 0) pose->twist_angles = NULL; /* of no bones there are none */
  return 1;
}

void core_place_in_twists(sbs_fault *fault, const core_call *call) {
  if (fault->argument == NULL || strcmp(fault->argument, "twist_angles") != 0) return;
  fault->argument = "twists";
  if (call->lengths['F' - 'A'] < 0) return;
  fault->index[1] = fault->index[0] % core_length(call, 'B');
  fault->index[0] /= core_length(call, 'B');
}

sbs_status core_go_through_frames(void *call, const sbs_pose *poses, core_frame_step *step, sbs_fault *fault) {
  const size_t joint_count = core_length(call, 'J');
  const size_t size = joint_count * poses->rows * 4 * (poses->scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double));
  sbs_pose pose = *poses;

  for (size_t f = 0; f < core_length(call, 'F'); f++) {
    pose.skinning_matrices = (const char *)poses->skinning_matrices + f * size;
    const sbs_status status = core_is_cancelled(call) ? SBS_ERROR_CANCELLED : step(call, f, &pose, fault);
    if (status == SBS_OK) continue;
    if (fault->argument != NULL && strcmp(fault->argument, "skinning_matrices") == 0)
      fault->index[0] += f * joint_count;
    return status;
  }
  return SBS_OK;
}
