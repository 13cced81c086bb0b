/* SPDX-License-Identifier: MIT */
/*
 * A scene far from the origin loses no more than the rounding of its output. For that, every group of vertices has
 * a residual: its anchor's exact position minus the one rounded to float32. gcc 12 at -O2 takes just this difference,
 * q - (float)q over three numbers, for zero (its SLP vectoriser); then outputs are up to a whole unit in the last place
 * off, where rounding costs half a unit.
 */
#include <sbs/sbs.h>
#include <stdlib.h>

#include "harness.h"
#include "system.h"

enum {
  VERTICES = 4096,
  JOINTS = 2
};

static float rest[VERTICES][3];
static int32_t joints[VERTICES][2];
static float weights[VERTICES][2];
static float deformed[VERTICES][3];

/* Where both joints move all by these. */
static const double translation[3] = {1000.1234567, -4000.7654321, 2000.333333333};

static double next_random(void) {
  static uint32_t state = 2005;
  state = state * 1664525u + 1013904223u;
  return (state >> 8) / (double)(1u << 24);
}

static sbs_skin *new_skin(void) {
  for (int v = 0; v < VERTICES; v++) {
    for (int i = 0; i < 3; i++) rest[v][i] = (float)next_random();
    joints[v][1] = 1;
    weights[v][0] = (float)next_random();
    weights[v][1] = 1.0f - weights[v][0];
  }
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = VERTICES;
  desc.joint_count = JOINTS;
  desc.influences_per_vertex = 2;
  desc.rest_positions = rest;
  desc.joint_indices = joints[0];
  desc.joint_weights = weights;
  sbs_skin *skin = NULL;
  return CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK) ? skin : NULL;
}

/* The largest error of an output, in units in its last place. */
static double worst_error(void) {
  double worst = 0.0;
  for (int v = 0; v < VERTICES; v++) {
    for (int i = 0; i < 3; i++) {
      const double exact = (double)rest[v][i] + translation[i];
      const double unit = (double)(nextafterf(fabsf((float)exact), INFINITY) - fabsf((float)exact));
      worst = fmax(worst, fabs((double)deformed[v][i] - exact) / unit);
    }
  }
  return worst;
}

static void test_far_scenes_lose_half_a_unit(void) {
  static const char *const instruction_sets[] = {"plain", "baseline", "avx2", "avx512"};
  double matrices[JOINTS][3][4] = {{{1, 0, 0, translation[0]}, {0, 1, 0, translation[1]}, {0, 0, 1, translation[2]}}};
  memcpy(matrices[1], matrices[0], sizeof matrices[0]);
  const sbs_pose pose = {.skinning_matrices = matrices, .scalar = SBS_FLOAT64, .rows = 3};

  for (size_t i = 0; i < sizeof instruction_sets / sizeof *instruction_sets; i++) {
    setenv("SBS_ISA", instruction_sets[i], 1);
    sbs_skin *skin = new_skin();
    if (!skin) return;
    for (int method = SBS_METHOD_RIGID; method <= SBS_METHOD_DUAL_QUATERNION; method++) {
      sbs_deform_options options = sbs_default_deform_options();
      options.method = (sbs_method)method;
      CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, deformed, NULL, NULL, NULL), SBS_OK);
      /* half a unit of the output, and what float32 loses of a rest position: 2^-24, 1/1000 of the smallest unit */
      CHECK(worst_error() <= 0.51);
    }
    sbs_skin_free(skin);
  }
}

int main(void) {
  RUN(test_far_scenes_lose_half_a_unit);
  return harness_result();
}
