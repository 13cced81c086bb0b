/* SPDX-License-Identifier: MIT */
/* Odd joints, whose results are finite, with normals of unit length; and scenes far from the origin. */
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
    not_unit += !(fabs(norm - 1.0) <= 2e-5); /* rigid joints may be off by 1e-5 */
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

/*
 * A scene far from the origin loses no more than the rounding of its output. For that, every group of vertices has
 * a residual: its anchor's exact position minus the one rounded to float32. gcc 12 at -O2 takes just this difference,
 * q - (float)q over three numbers, for zero (its SLP vectoriser); then outputs are up to a whole unit in the last place
 * off, where rounding costs half a unit.
 */
static void test_far_scenes_lose_half_a_unit(void) {
  enum {
    MANY = 4096
  };
  static float deformed[MANY][3];
  static const double by[3] = {1000.1234567, -4000.7654321, 2000.333333333};
  const transform both[2] = {translation(by[0], by[1], by[2]), translation(by[0], by[1], by[2])};
  const sbs_pose pose = pose_of(both);
  rig made = new_rig(2005, MANY, 2, 2);
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT32, 0);
  for (int method = SBS_METHOD_RIGID; method <= SBS_METHOD_DUAL_QUATERNION; method++) {
    sbs_deform_options options = sbs_default_deform_options();
    options.method = (sbs_method)method;
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, deformed, NULL, NULL, NULL), SBS_OK);
    double worst = 0.0; /* in units in the last place */
    for (size_t i = 0; i < 3 * MANY; i++) {
      const double exact = made.positions[i] + by[i % 3];
      const double unit = (double)(nextafterf(fabsf((float)exact), INFINITY) - fabsf((float)exact));
      worst = fmax(worst, fabs((double)deformed[i / 3][i % 3] - exact) / unit);
    }
    /* half a unit of the output, and the rounding of a rest position to float32: 2^-24, 1/1000 of the smallest unit */
    CHECK(worst <= 0.51);
  }
  sbs_skin_free(skin);
  free_rig(&made);
}

static void run_all(void) {
  RUN(test_odd_joints);
  RUN(test_far_scenes_lose_half_a_unit);
}

int main(void) {
  run_with_every_instruction_set(run_all);
  return harness_result();
}
