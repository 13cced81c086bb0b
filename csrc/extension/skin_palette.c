/* SPDX-License-Identifier: MIT */
/* A skin's influences and poses, as shaders need them. */
#include "pose.h"
#include "skin.h"

/* --------------------------------------------------------------------------------------------------- influences -- */

typedef struct bound_call {
  core_call call;
  size_t width;
  int32_t *joints;
  float *weights;
  double lost;
} bound_call;

static const core_row influences_rows[] = {
    {"width", CORE_COUNT, .at = offsetof(bound_call, width), .shape = "W"},
};

static const core_row influences_results[] = {
    {"joints", CORE_INT32, .at = offsetof(bound_call, joints), "(V, W)", .result = 1},
    {"weights", CORE_FLOATS, .at = offsetof(bound_call, weights), "(V, W)", .result = 1},
};

static sbs_status run_influences(void *address, sbs_fault *fault) {
  bound_call *given = address;

  return sbs_skin_influences(core_made(given), given->width, given->joints, given->weights, &given->lost, fault);
}

static PyObject *finish_influences(void *address) {
  return Py_BuildValue("OOd", core_result(address, 0), core_result(address, 1), ((const bound_call *)address)->lost);
}

CORE_FUNCTION(
    core_bound_influences, bound_call, .name = "bound_influences",
    .summary = "The influences as bound, heaviest first: joints (V, W), weights float32 (V, W), and the largest sum of "
               "weights that a vertex lost.",
    .parts = {CORE_PART(influences_rows), CORE_PART(influences_results)}, .positional = 1,
    .returns = "tuple[NDArray[np.int32], NDArray[np.float32], float]", .run = run_influences,
    .finish = finish_influences)

/* ------------------------------------------------------------------------------------------------- pose_palette -- */

typedef struct palette_call {
  core_pose_call posed;
  int with_centers;
  float *joints, *centers;
  sbs_palette_report report;
} palette_call;

static const core_row palette_matrices_row[] = {{"skinning_matrices", CORE_MATRICES, offsetof(palette_call, posed.pose),
                                                 "(F, J, 4, 4) or (F, J, 3, 4)", .hint = "; palettes are of frames"}};

static const core_row palette_rows[] = {
    {"centers", CORE_FLAG, .at = offsetof(palette_call, with_centers), .optional = 1},
    {"threads", CORE_THREADS, .at = offsetof(palette_call, posed.options.threads), .optional = 1},
};

static const core_row palette_results[] = {
    {"joints", CORE_FLOATS, .at = offsetof(palette_call, joints), "(F, P, 4, 4)", .result = 1},
    {"set_centers", CORE_FLOATS, .at = offsetof(palette_call, centers), "(F, N, 4)", .result = 1, .none = 1},
};

static int prepare_palette(void *address) {
  palette_call *given = address;

  if (!given->with_centers) given->posed.call.skipped = 1u << 1;
  return core_prepare_pose(given);
}

static sbs_status run_palette(void *address, sbs_fault *fault) {
  palette_call *given = address;

  return sbs_pose_palette(core_made(given), core_length(given, 'F'), &given->posed.pose, &given->posed.options,
                          given->joints, given->centers, &given->report, fault);
}

static PyObject *finish_palette(void *address) {
  const sbs_palette_report *report = &((const palette_call *)address)->report;

  return Py_BuildValue("OO(nn)", core_result(address, 0), core_result(address, 1), (Py_ssize_t)report->scaled_joints,
                       (Py_ssize_t)report->stretched_joints);
}

CORE_FUNCTION(
    core_pose_palette, palette_call, .name = "pose_palette",
    .summary = "Poses for shaders, as float32: of each joint the rows of its matrix and its quaternion (F, P, "
               "4, 4), the rotation centers of joint sets (F, N, 4) if they are wanted, and the counts (scaled_joints, "
               "stretched_joints).",
    .parts = {CORE_PART(palette_matrices_row), CORE_METHOD_PART(CORE_METHOD, CORE_METHOD),
              CORE_METHOD_PART(CORE_DAMPING, CORE_RCOND), CORE_PART(core_twists_of_frames_row), CORE_PART(palette_rows),
              CORE_PART(palette_results)},
    .positional = 1, .returns = "tuple[NDArray[np.float32], NDArray[np.float32] | None, tuple[int, int]]",
    .set_defaults = core_set_method_defaults, .prepare = prepare_palette, .run = run_palette, .finish = finish_palette)
