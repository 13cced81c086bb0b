/* SPDX-License-Identifier: MIT */
/*
 * A host for the deformer node of deformer.c, which does what a user of a real one does: bind an arm, play frames,
 * paint, save the scene, open it again. With libsbs installed:
 *
 *     cc deformer_host.c deformer.c $(pkg-config --cflags --libs sbs) -lm -o host && ./host
 *
 * It ends with 0 if each step gave what it has to.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deformer.h"

enum {
  RINGS = 41,
  SIDES = 24,
  VERTICES = RINGS * SIDES,
  TRIANGLES = 2 * (RINGS - 1) * SIDES,
  INFLUENCES = 2,
  FRAMES = 24
};

static float rest[VERTICES][3];
static int32_t joints[VERTICES][INFLUENCES];
static double weights[VERTICES][INFLUENCES];
static int32_t triangles[TRIANGLES][3];
static const int32_t parents[2] = {-1, 0};
static const double joint_positions[2][3] = {{0, 0, 0}, {1, 0, 0}};

/* A tube of radius 1/4 along x from 0 to 2, whose weights pass from one joint to the other around x = 1. */
static sbs_skin_desc make_arm(void) {
  for (int v = 0; v < VERTICES; v++) {
    const double x = 2.0 * (v / SIDES) / (RINGS - 1), angle = 6.283185307179586 * (v % SIDES) / SIDES;
    rest[v][0] = (float)x, rest[v][1] = (float)(0.25 * cos(angle)), rest[v][2] = (float)(0.25 * sin(angle));
    joints[v][0] = 0, joints[v][1] = 1;
    weights[v][1] = fmin(fmax(2.0 * x - 1.5, 0.0), 1.0);
    weights[v][0] = 1.0 - weights[v][1];
  }
  for (int t = 0; t < TRIANGLES / 2; t++) {
    const int ring = t / SIDES * SIDES, a = t % SIDES, b = (a + 1) % SIDES;
    const int32_t corners[4] = {ring + a, ring + b, ring + SIDES + a, ring + SIDES + b};
    memcpy(triangles[2 * t], (int32_t[]){corners[0], corners[2], corners[1]}, sizeof *triangles);
    memcpy(triangles[2 * t + 1], (int32_t[]){corners[1], corners[2], corners[3]}, sizeof *triangles);
  }
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = VERTICES, desc.joint_count = 2, desc.influences_per_vertex = INFLUENCES;
  desc.rest_positions = rest;
  desc.joint_indices = joints[0];
  desc.joint_weights = weights, desc.weight_scalar = SBS_FLOAT64;
  desc.parents = parents, desc.joint_positions = joint_positions[0];
  return desc;
}

/* The forearm twisted about the arm, as the animation of the scene has it. */
static void make_pose(int frame, double matrices[2][3][4]) {
  const double angle = 3.0 * frame / (FRAMES - 1), c = cos(angle), s = sin(angle);
  const double found[2][3][4] = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}},
                                 {{1, 0, 0, 0}, {0, c, -s, 0}, {0, s, c, 0}}};
  memcpy(matrices, found, sizeof found);
}

static double smallest_radius(const float (*positions)[3]) {
  double smallest = INFINITY;
  for (int v = 0; v < VERTICES; v++) smallest = fmin(smallest, hypot(positions[v][1], positions[v][2]));
  return smallest;
}

static int failures;

static void expect(int holds, const char *what) {
  printf("%-60s %s\n", what, holds ? "yes" : "NO");
  failures += !holds;
}

static int evaluate(const deformer *d, int frame, double envelope, float (*positions)[3]) {
  double matrices[2][3][4];
  make_pose(frame, matrices);
  return deformer_evaluate(d, matrices[0][0], 3, envelope, positions[0]) == SBS_OK;
}

/* A stroke of the brush: a ring of vertices follows the forearm half. */
static sbs_status paint(deformer *d) {
  int32_t vertices[SIDES], new_joints[SIDES][INFLUENCES];
  double new_weights[SIDES][INFLUENCES];
  for (int i = 0; i < SIDES; i++) {
    vertices[i] = 10 * SIDES + i;
    new_joints[i][0] = 1, new_joints[i][1] = 0;
    new_weights[i][0] = new_weights[i][1] = 0.5;
    memcpy(joints[vertices[i]], new_joints[i], sizeof *joints); /* what the host knows of it */
    memcpy(weights[vertices[i]], new_weights[i], sizeof *weights);
  }
  return deformer_set_weights(d, SIDES, vertices, new_joints[0], new_weights[0]);
}

int main(void) {
  static float shown[VERTICES][3], again[VERTICES][3];
  sbs_skin_desc desc = make_arm();
  deformer *node = deformer_new(), *opened = deformer_new();
  if (!node || !opened) return 1;

  expect(!evaluate(node, 0, 1.0, shown), "a node that is not bound does not deform");
  expect(deformer_bind(node, &desc, 1, TRIANGLES, triangles[0]) == SBS_OK, "an arm is bound, about optimized centers");
  double thinnest = INFINITY;
  int played = 1;
  for (int frame = 0; frame < FRAMES; frame++) {
    played &= evaluate(node, frame, 1.0, shown);
    thinnest = fmin(thinnest, smallest_radius(shown));
  }
  expect(played && thinnest > 0.249, "it keeps its radius in all frames");
  expect(evaluate(node, FRAMES - 1, 0.0, shown) && !memcmp(shown, rest, sizeof rest), "envelope 0 leaves it at rest");

  expect(deformer_bind(node, &desc, 0, 0, NULL) == SBS_OK, "it is bound again, about the joint");
  expect(paint(node) == SBS_OK && evaluate(node, FRAMES - 1, 1.0, shown), "weights are painted");
  expect(deformer_bind(opened, &desc, 0, 0, NULL) == SBS_OK && evaluate(opened, FRAMES - 1, 1.0, again) &&
             !memcmp(shown, again, sizeof shown),
         "painting gives what binding anew gives, bit for bit");
  desc.joint_count = 1;
  expect(deformer_bind(node, &desc, 0, 0, NULL) == SBS_ERROR_JOINT_INDEX && evaluate(node, FRAMES - 1, 1.0, again) &&
             !memcmp(shown, again, sizeof shown),
         "a mesh that does not fit is refused, and nothing has changed");

  const size_t size = deformer_store(node, NULL, 0);
  char *bytes = malloc(size);
  if (!bytes) return 1;
  expect(size && deformer_store(node, bytes, size) == size, "the scene is saved");
  expect(deformer_load(opened, bytes, size) == SBS_OK && evaluate(opened, FRAMES - 1, 1.0, again) &&
             !memcmp(shown, again, sizeof shown),
         "opened again, it deforms alike, bit for bit");
  int refused = 1;
  for (size_t cut = 0; cut < size; cut += 997) refused &= deformer_load(opened, bytes, cut) == SBS_ERROR_OPTION;
  bytes[0] ^= 1;
  expect(refused && deformer_load(opened, bytes, size) == SBS_ERROR_OPTION, "a damaged scene is refused");

  free(bytes);
  deformer_free(opened);
  deformer_free(node);
  return failures != 0;
}
