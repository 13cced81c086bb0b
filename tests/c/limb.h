/* SPDX-License-Identifier: MIT */
/* A limb that swings and twists, for tests of twist. */
#ifndef SBS_TESTS_LIMB_H
#define SBS_TESTS_LIMB_H

#include <sbs/twist.h>

#include "harness.h"

typedef double matrix[3][4];

/* A rotation about the line through `center` along an axis. */
static inline void turn(int axis, double angle, const double center[3], matrix out) {
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;
  memset(out, 0, sizeof(matrix));
  out[axis][axis] = 1.0;
  out[a][a] = out[b][b] = cos(angle);
  out[a][b] = -sin(angle);
  out[b][a] = sin(angle);
  for (int i = 0; i < 3; i++) {
    out[i][3] = center[i];
    for (int j = 0; j < 3; j++) out[i][3] -= out[i][j] * center[j];
  }
}

/* Along x: a root at 0, a limb from 0 to 4, and a hand at 4. */
enum {
  JOINTS = 3
};
static const int32_t limb[1] = {1}, root[1] = {0}, hand[1] = {2};
static const double heads[1][3] = {{0, 0, 0}}, tails[1][3] = {{4, 0, 0}};
static const double wrist[3] = {4, 0, 0};

static inline sbs_twist_desc describe(void) {
  sbs_twist_desc desc = sbs_default_twist_desc();
  desc.joint_count = JOINTS;
  desc.bone_count = 1;
  desc.joints = limb;
  desc.parents = root;
  desc.children = hand;
  desc.heads = heads[0];
  desc.tails = tails[0];
  return desc;
}

static inline sbs_twist *new_twist(const sbs_twist_desc *desc) {
  sbs_twist *twist = NULL;
  return CHECK_EQUAL(sbs_twist_new(desc, NULL, &twist, NULL), SBS_OK) ? twist : NULL;
}

/* The root at rest, the limb turned by `own` about x after a swing about z, the hand by `child` more about x. */
static inline void pose_limb(double swing, double own, double child, matrix joints[JOINTS]) {
  const double zero[3] = {0, 0, 0};
  matrix swung, twisted, local;
  turn(0, 0.0, zero, joints[0]);
  turn(2, swing, zero, swung);
  turn(0, own, zero, twisted);
  turn(0, child, wrist, local);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 4; j++) {
      joints[1][i][j] = j == 3 ? swung[i][3] : 0.0;
      for (int k = 0; k < 3; k++) joints[1][i][j] += swung[i][k] * twisted[k][j];
    }
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 4; j++) {
      joints[2][i][j] = j == 3 ? joints[1][i][3] : 0.0;
      for (int k = 0; k < 3; k++) joints[2][i][j] += joints[1][i][k] * local[k][j];
    }
  }
}

static inline sbs_pose pose_of(const matrix *joints) {
  return (sbs_pose){.skinning_matrices = joints, .scalar = SBS_FLOAT64, .rows = 3};
}

#endif
