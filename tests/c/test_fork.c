/* SPDX-License-Identifier: MIT */
/* A child process deforms, serially and to the same bits, after its parent deformed with several threads. */
#include <sbs/sbs.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

enum {
  VERTICES = 50000,
  FRAMES = 4
};

static float rest[VERTICES][3];
static int32_t joints[VERTICES][2];
static float weights[VERTICES][2];
static float by_parent[FRAMES][VERTICES][3];
static float by_child[FRAMES][VERTICES][3];

/* A helix around the x axis between a joint that rests and one that turns. */
static sbs_skin *new_skin(void) {
  for (int v = 0; v < VERTICES; v++) {
    float along = (float)v / VERTICES;
    rest[v][0] = along;
    rest[v][1] = cosf(100.0f * along);
    rest[v][2] = sinf(100.0f * along);
    joints[v][1] = 1;
    weights[v][0] = 1.0f - along;
    weights[v][1] = along;
  }
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = VERTICES;
  desc.joint_count = 2;
  desc.influences_per_vertex = 2;
  desc.scalar = SBS_FLOAT32;
  desc.rest_positions = rest;
  desc.joint_indices = joints[0];
  desc.weight_scalar = SBS_FLOAT32;
  desc.joint_weights = weights;
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  return skin;
}

static sbs_status deform(const sbs_skin *skin, float positions[FRAMES][VERTICES][3]) {
  double matrices[FRAMES][2][3][4] = {0};
  for (int f = 0; f < FRAMES; f++) {
    for (int i = 0; i < 3; i++) matrices[f][0][i][i] = 1.0;
    matrices[f][1][0][0] = 1.0;
    matrices[f][1][1][1] = matrices[f][1][2][2] = cos(0.5 * f);
    matrices[f][1][2][1] = sin(0.5 * f);
    matrices[f][1][1][2] = -matrices[f][1][2][1];
  }
  sbs_pose poses = {.skinning_matrices = matrices, .scalar = SBS_FLOAT64, .rows = 3};
  sbs_deform_options options = sbs_default_deform_options();
  options.threads = 4;
  return sbs_skin_deform_many(skin, FRAMES, &poses, &options, positions, NULL, NULL, NULL);
}

static void test_child_deforms_after_fork(void) {
  sbs_skin *skin = new_skin();
  if (!CHECK(skin != NULL)) return;
  CHECK_EQUAL(deform(skin, by_parent), SBS_OK);
  fflush(stdout);

  pid_t child = fork();
  if (!CHECK(child >= 0)) return;
  if (child == 0) {
    alarm(60); /* ends the child if it waits for threads that fork did not copy */
    int same = deform(skin, by_child) == SBS_OK && memcmp(by_child, by_parent, sizeof by_parent) == 0;
    sbs_skin_free(skin);
    _exit(same ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int result = 0;
  CHECK_EQUAL(waitpid(child, &result, 0), child);
  CHECK(WIFEXITED(result));
  CHECK_EQUAL(WEXITSTATUS(result), EXIT_SUCCESS);

  /* The parent keeps its threads. */
  memset(by_child, 0, sizeof by_child);
  CHECK_EQUAL(deform(skin, by_child), SBS_OK);
  CHECK(memcmp(by_child, by_parent, sizeof by_parent) == 0);
  sbs_skin_free(skin);
}

int main(void) {
  RUN(test_child_deforms_after_fork);
  return harness_result();
}
