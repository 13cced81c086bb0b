/* SPDX-License-Identifier: MIT */
/* Palettes for shaders, by any number of threads, and bad input. The renderer and tests/python hold shaders to them. */
#include "rig.h"

enum {
  VERTICES = 500,
  JOINTS = 9,
  FRAMES = 5
};

static float palettes[2][FRAMES][JOINTS][16], centers[2][FRAMES][VERTICES][4];

static void test_threads_change_no_bit(void) {
  uint64_t seed = 13;
  rig mesh = new_rig(11, VERTICES, JOINTS, 4);
  transform joints[FRAMES * JOINTS];
  for (int i = 0; i < FRAMES * JOINTS; i++) joints[i] = random_rigid(&seed, 170.0);
  joints[0] = multiply(translation(1.0, 2.0, 3.0), scaling(4.0, 4.0, 4.0));
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT32, 0);
  sbs_pose pose = pose_of(joints);
  sbs_deform_options options = sbs_default_deform_options();
  for (int i = 0; i < 2; i++) {
    options.threads = 1 + 3 * i;
    CHECK_EQUAL(sbs_pose_palette(skin, FRAMES, &pose, &options, palettes[i][0][0], centers[i][0][0], NULL, NULL),
                SBS_OK);
  }
  CHECK(memcmp(palettes[0], palettes[1], sizeof palettes[0]) == 0);
  CHECK(memcmp(centers[0], centers[1], sizeof centers[0]) == 0);
  const float first[16] = {4, 0, 0, 1, 0, 4, 0, 2, 0, 0, 4, 3, 0, 0, 0, 2}; /* the scale is |q|^2 */
  for (int i = 0; i < 16; i++) CHECK(palettes[0][0][0][i] == first[i]);
  sbs_skin_free(skin);
  free_rig(&mesh);
}

static void test_bad_input(void) {
  rig mesh = new_rig(11, VERTICES, JOINTS, 4);
  transform joints[JOINTS];
  for (int j = 0; j < JOINTS; j++) joints[j] = identity();
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT32, 0);
  const sbs_pose pose = pose_of(joints);
  sbs_deform_options options = sbs_default_deform_options();
  sbs_fault fault;
  int32_t indices[VERTICES][3];
  float weights[VERTICES][3];
  double lost;
  CHECK_EQUAL(sbs_skin_influences(skin, 3, indices[0], weights[0], &lost, NULL), SBS_OK);
  CHECK_NEAR((double)weights[0][0] + (double)weights[0][1] + (double)weights[0][2], 1.0, 2e-7);
  CHECK(lost > 0.0 && lost <= 0.25); /* the lightest of four influences */
  CHECK_EQUAL(sbs_skin_influences(skin, 0, indices[0], weights[0], NULL, NULL), SBS_ERROR_EMPTY);
  CHECK_EQUAL(sbs_skin_influences(NULL, 1, indices[0], weights[0], NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_influences(skin, 1, NULL, weights[0], NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_influences(skin, 1, indices[0], NULL, NULL, NULL), SBS_ERROR_NULL);
#define PALETTE(skin, frames, pose, options, to) sbs_pose_palette(skin, frames, pose, options, to, NULL, NULL, &fault)
  float *const to = palettes[0][0][0];
  CHECK_REFUSED(PALETTE(skin, 1, &pose, NULL, NULL), SBS_ERROR_NULL, "joints");
  CHECK_EQUAL(PALETTE(NULL, 1, &pose, NULL, to), SBS_ERROR_NULL);
  CHECK_EQUAL(PALETTE(skin, 1, NULL, NULL, to), SBS_ERROR_NULL);
  CHECK_EQUAL(PALETTE(skin, 0, &pose, NULL, to), SBS_OK);
  options.method = (sbs_method)57;
  CHECK_REFUSED(PALETTE(skin, 1, &pose, &options, to), SBS_ERROR_OPTION, "method");
  joints[3].m[1][2] = NAN;
  CHECK_REFUSED(PALETTE(skin, 1, &pose, NULL, to), SBS_ERROR_NOT_FINITE, "skinning_matrices");
  CHECK_EQUAL(fault.index[0], 3);
#undef PALETTE
  sbs_skin_free(skin);
  free_rig(&mesh);
}

int main(void) {
  RUN(test_threads_change_no_bit);
  RUN(test_bad_input);
  return harness_result();
}
