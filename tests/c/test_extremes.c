/* SPDX-License-Identifier: MIT */
/* However odd the joints, results are finite, and normals are of unit length. */
#include "base/scalar.h"
#include "rig.h"

enum {
  VERTICES = 64,
  JOINTS = 6
};

/* A joint of some odd kind, turned by any angle. */
static transform odd_joint(int kind, int joint, uint64_t *seed) {
  const transform turn = random_rigid(seed, 180.0);
  switch (kind) {
    case 0: return multiply(turn, joint % 2 ? scaling(-1.0, 1.0, 1.0) : identity()); /* mirrored beside plain */
    case 1: return multiply(turn, scaling(1.0, 0.0, 1.0));                           /* flat */
    case 2: return multiply(turn, scaling(1.0, 1e-13, 1.0));                         /* nearly so */
    case 3: return multiply(turn, scaling(1e30, 1e30, 1e30));
    case 4: return multiply(turn, scaling(1e-30, 1e-30, 1e-30));
    case 5: return multiply(turn, scaling(1e-12, 1.0, 1e9));
    case 6: return multiply(translation(1e12, 0.0, 0.0), turn);
    case 7: return multiply(turn, joint % 2 ? scaling(-1e-3, 1.0, 1e3) : scaling(1e15, 1e15, 1e15));
    default: break;
  }
  transform any = turn; /* no particular shape, and any handedness */
  for (int i = 0; i < 9; i++) any.m[i / 3][i % 3] = random_between(seed, -1.0, 1.0);
  return any;
}

enum {
  KINDS = 9
};

/* How many vertices have a position that is not finite; and how many, a normal that is not of unit length. */
static void check_pose(const sbs_skin *skin, sbs_scalar scalar, const transform *joints,
                       const sbs_deform_options *options) {
  const sbs_pose pose = pose_of(joints);
  double positions[3 * VERTICES], normals[3 * VERTICES];
  int infinite = 0, not_unit = 0;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, options, positions, normals, NULL, NULL), SBS_OK);
  for (size_t v = 0; v < VERTICES; v++) {
    double norm = 0.0;
    for (size_t i = 3 * v; i < 3 * v + 3; i++) {
      infinite += !isfinite(sbs_scalar_get(positions, scalar, i));
      norm += sbs_scalar_get(normals, scalar, i) * sbs_scalar_get(normals, scalar, i);
    }
    not_unit += !(fabs(norm - 1.0) <= 2e-5); /* what rigid joints, which may be off by 1e-5, leave of a normal */
  }
  CHECK_EQUAL(infinite, 0);
  CHECK_EQUAL(not_unit, 0);
}

static void check_kind(int kind, size_t influences) {
  uint64_t seed = (uint64_t)kind;
  rig made = new_rig(influences, VERTICES, JOINTS, influences);
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    sbs_skin *skin = bind_rig(&made, scalar, 1);
    for (int pose = 0; pose < 5; pose++) {
      transform joints[JOINTS];
      for (int j = 0; j < JOINTS; j++) joints[j] = odd_joint(kind, j, &seed);
      for (int m = 0; m < 8; m++) {
        sbs_deform_options options = sbs_default_deform_options();
        options.method = (sbs_method)(m / 2);
        options.rcond = m % 2 ? 1e-3 : 0.0;
        check_pose(skin, scalar, joints, &options);
      }
    }
    sbs_skin_free(skin);
  }
  free_rig(&made);
}

static void test_odd_joints(void) {
  for (int kind = 0; kind < KINDS; kind++) {
    for (size_t influences = 1; influences <= 5; influences++) check_kind(kind, influences);
  }
}

/* Nothing is left of normals where all joints are scaled to nothing. */
static void test_joints_scaled_to_nothing(void) {
  rig made = new_rig(1, VERTICES, JOINTS, 3);
  transform joints[JOINTS];
  for (int j = 0; j < JOINTS; j++) joints[j] = multiply(translation(1.0, 2.0, 3.0), scaling(0.0, 0.0, 0.0));
  const sbs_pose pose = pose_of(joints);
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT64, 1);
  for (int method = SBS_METHOD_RIGID; method <= SBS_METHOD_DUAL_QUATERNION; method++) {
    sbs_deform_options options = sbs_default_deform_options();
    options.method = (sbs_method)method;
    double positions[VERTICES][3], normals[VERTICES][3];
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, positions, normals, NULL, NULL), SBS_OK);
    for (int i = 0; i < 3 * VERTICES; i++) {
      CHECK_NEAR(positions[i / 3][i % 3], 1.0 + i % 3, 4e-15);
      CHECK(normals[i / 3][i % 3] == 0.0);
    }
  }
  sbs_skin_free(skin);
  free_rig(&made);
}

static void run_all(void) {
  RUN(test_odd_joints);
  RUN(test_joints_scaled_to_nothing);
}

int main(void) {
  run_with_every_instruction_set(run_all);
  return harness_result();
}
