/* SPDX-License-Identifier: MIT */
/* A joint's matrix as A = R S, and R as a quaternion: sheared, singular and extreme matrices, and any lane. */
#include "base/scalar.h"
#include "pose/batches.h"
#include "pose/check.h"
#include "rig.h"

/* A joint taken apart, in row-major matrices. */
typedef struct parts {
  double matrix[9], moving[9], translation[3];
  int rigid, skewed;
  double rotation[9], stretch[9], inverse_stretch[9], quaternion[4];
} parts;

static parts parts_of(sbs_joint *joint, unsigned kind) {
  sbs_stretch stretch;
  parts found = {.rigid = !(kind & SBS_JOINT_NONRIGID), .skewed = (kind & SBS_JOINT_SKEWED) != 0};
  CHECK_EQUAL(sbs_decompose_joint(joint, kind, &stretch), SBS_OK);
  sbs_vec4_to_rows(joint->given, found.matrix);
  sbs_vec4_to_rows(joint->moving, found.moving);
  sbs_vec4_to_rows(stretch.rotation, found.rotation);
  sbs_vec4_to_rows(stretch.stretch, found.stretch);
  sbs_vec4_to_rows(stretch.inverse, found.inverse_stretch);
  for (int i = 0; i < 3; i++) found.translation[i] = joint->translation[i];
  for (int i = 0; i < 4; i++) found.quaternion[i] = joint->quaternion[i];
  return found;
}

static sbs_joints_args arguments_of(const sbs_pose *pose, sbs_joint *joints, unsigned char *kinds) {
  return (sbs_joints_args){
      .matrices = pose->skinning_matrices,
      .scalar = pose->scalar,
      .rows = pose->rows,
      .normal_tolerance = 2.0 * sbs_scalar_epsilon(SBS_FLOAT32),
      .joints = joints,
      .kinds = kinds,
  };
}

static parts prepare_pose(const sbs_pose *pose) {
  sbs_joint joint;
  unsigned char kind;
  CHECK_EQUAL(sbs_check_poses(pose, 1, 1, NULL), SBS_OK);
  const sbs_joints_args args = arguments_of(pose, &joint, &kind);
  sbs_choose_joints_batch(sbs_choose_isa())(&args, 0, 1);
  return parts_of(&joint, kind);
}

static parts prepare(const transform *matrix) {
  const sbs_pose pose = pose_of(matrix);
  return prepare_pose(&pose);
}

static void product(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 9; i++)
    out[i] = a[i / 3 * 3] * b[i % 3] + a[i / 3 * 3 + 1] * b[3 + i % 3] + a[i / 3 * 3 + 2] * b[6 + i % 3];
}

static void transpose(const double m[9], double out[9]) {
  for (int i = 0; i < 9; i++) out[i] = m[3 * (i % 3) + i / 3];
}

static double determinant(const double m[9]) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

static double largest_difference(const double a[9], const double b[9]) {
  double largest = 0.0;
  for (int i = 0; i < 9; i++) {
    if (!(fabs(a[i] - b[i]) <= largest)) largest = fabs(a[i] - b[i]);
  }
  return largest;
}

static const double unit_matrix[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

/*
 * True of every joint: R is a proper rotation and the quaternion's, S is symmetric, R S = A. A few roundings
 * each, relative to the size of A.
 */
static void check_parts(const parts *joint) {
  double transposed[9], found[9];
  transpose(joint->rotation, transposed);
  product(transposed, joint->rotation, found);
  CHECK_NEAR(largest_difference(found, unit_matrix), 0.0, 2e-15);
  CHECK_NEAR(determinant(joint->rotation), 1.0, 4e-15);

  const double w = joint->quaternion[0], x = joint->quaternion[1], y = joint->quaternion[2], z = joint->quaternion[3];
  CHECK_NEAR(w * w + x * x + y * y + z * z, 1.0, 1e-15);
  const double turned[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                            2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                            2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  CHECK_NEAR(largest_difference(turned, joint->rotation), 0.0, 4e-15);

  transpose(joint->stretch, transposed);
  CHECK(memcmp(transposed, joint->stretch, sizeof transposed) == 0);
  CHECK(memcmp(joint->moving, joint->rigid ? joint->rotation : joint->matrix, sizeof joint->moving) == 0);
  if (joint->rigid) return;
  double size = 0.0;
  for (int i = 0; i < 9; i++) size = fmax(size, fabs(joint->matrix[i]));
  product(joint->rotation, joint->stretch, found);
  CHECK_NEAR(largest_difference(found, joint->matrix), 0.0, 2e-15 * size);
}

/* S^-1 S = I, to the roundings that the condition of S costs */
static void check_inverse(const parts *joint, double condition) {
  double found[9];
  product(joint->stretch, joint->inverse_stretch, found);
  CHECK_NEAR(largest_difference(found, unit_matrix), 0.0, 4e-15 * condition);
}

static void check_rotation(const parts *joint, const transform *expected, double tolerance) {
  for (int i = 0; i < 9; i++) CHECK_NEAR(joint->rotation[i], expected->m[i / 3][i % 3], tolerance);
}

/* Joints of a pose of four rows, more than fill the lanes; each the same whichever others it is prepared with. */
static void test_rows_and_lanes(void) {
  enum {
    JOINTS = 13
  };
  uint64_t seed = 11;
  double squares[JOINTS][4][4] = {{{0.0}}};
  float singles[JOINTS][3][4];
  for (size_t j = 0; j < JOINTS; j++) {
    transform matrix = random_rigid(&seed, 180.0);
    if (j % 3 == 0) matrix = multiply(matrix, scaling(1.0, 2.0, 1.0));
    for (int i = 0; i < 12; i++) singles[j][i / 4][i % 4] = (float)matrix.m[i / 4][i % 4];
    for (int i = 0; i < 12; i++) squares[j][i / 4][i % 4] = (double)singles[j][i / 4][i % 4];
    squares[j][3][3] = 1.0;
  }
  const sbs_pose poses[2] = {{squares, SBS_FLOAT64, 4, NULL}, {singles, SBS_FLOAT32, 3, NULL}};
  for (int p = 0; p < 2; p++) {
    CHECK_EQUAL(sbs_check_poses(poses + p, 1, JOINTS, NULL), SBS_OK);
    for (size_t split = 0; split <= JOINTS; split++) {
      sbs_joint joints[JOINTS];
      unsigned char kinds[JOINTS];
      const sbs_joints_args args = arguments_of(poses + p, joints, kinds);
      sbs_choose_joints_batch(sbs_choose_isa())(&args, 0, split);
      sbs_choose_joints_batch(sbs_choose_isa())(&args, split, JOINTS);
      for (size_t j = 0; j < JOINTS; j++) {
        const sbs_pose alone = {.skinning_matrices = squares[j], .scalar = SBS_FLOAT64, .rows = 4};
        const parts found = parts_of(joints + j, kinds[j]), expected = prepare_pose(&alone);
        CHECK_EQUAL(found.rigid, j % 3 != 0);
        for (int i = 0; i < 9; i++) CHECK(found.matrix[i] == squares[j][i / 3][i % 3]);
        for (int i = 0; i < 3; i++) CHECK(found.translation[i] == squares[j][i][3]);
        CHECK(memcmp(&found, &expected, sizeof found) == 0);
      }
    }
  }
}

/*
 * R (1 + e x x^T) for a shear of any kind; the truth is the property itself: R S = A with S positive definite is
 * unique.
 */
static void test_sheared(void) {
  uint64_t seed = 4;
  for (int i = 0; i < 200; i++) {
    transform shear = identity();
    for (int k = 0; k < 9; k++) shear.m[k / 3][k % 3] += random_between(&seed, -0.3, 0.3);
    const transform matrix = multiply(random_rigid(&seed, 180.0), shear);
    const parts joint = prepare(&matrix);
    CHECK(!joint.rigid);
    check_parts(&joint);
    check_inverse(&joint, 20.0);
    const double *s = joint.stretch;
    CHECK(s[0] > 0.0 && s[0] * s[4] - s[1] * s[3] > 0.0 && determinant(s) > 0.0);
  }
}

/* Scales of rank 2, 1 and 0: the axes that are left turn as the joint does. */
static void test_singular(void) {
  static const double scales[3][3] = {{2.0, 0.0, 3.0}, {0.0, 0.0, 3.0}, {0.0, 0.0, 0.0}};
  uint64_t seed = 6;
  for (int i = 0; i < 60; i++) {
    const double *s = scales[i % 3];
    const transform turn = random_rigid(&seed, 180.0), matrix = multiply(turn, scaling(s[0], s[1], s[2]));
    const parts joint = prepare(&matrix);
    CHECK(!joint.rigid);
    check_parts(&joint);
    if (i % 3 == 0) check_rotation(&joint, &turn, 1e-14); /* two axes leave no choice of the third */
    for (int k = 0; k < 3 && s[2] > 0.0; k++) CHECK_NEAR(joint.rotation[3 * k + 2], turn.m[k][2], 1e-14);
    for (int k = 0; k < 9; k++) CHECK_NEAR(joint.inverse_stretch[k], k == 4 ? s[0] * s[2] : 0.0, 1e-13); /* adjugate */
  }
}

/*
 * A scale that shrinks to zero along one axis keeps its rotation all the way, through the change to the SVD; so do
 * scales far from 1 in both directions, where their cube nearly exceeds the range of a double.
 */
static void test_extreme_scales(void) {
  uint64_t seed = 8;
  for (double scale = 1.0; scale > 1e-20; scale *= 0.1) {
    for (int all = 0; all < 2; all++) {
      const double s = all ? pow(scale, 5.0) : scale, sizes[2] = {s, 1.0 / s};
      for (int i = 0; i <= all; i++) {
        const double other = all ? sizes[i] : 1.0;
        const transform turn = random_rigid(&seed, 180.0), matrix = multiply(turn, scaling(other, sizes[i], other));
        const parts joint = prepare(&matrix);
        check_parts(&joint);
        check_rotation(&joint, &turn, all ? 4e-15 : 1e-14);
        if (all) check_inverse(&joint, 1.0);
      }
    }
  }
}

/* diag(1 + e, 1, 1) has |A^T A - I| = 2 e + e^2 */
static void test_rigid_up_to_the_threshold(void) {
  uint64_t seed = 10;
  static const double defects[] = {0.99e-5, -0.99e-5, 1.01e-5, -1.01e-5};
  for (int i = 0; i < 4; i++) {
    const transform turn = random_rigid(&seed, 180.0);
    const transform matrix = multiply(turn, scaling(sqrt(1.0 + defects[i]), 1.0, 1.0));
    const parts joint = prepare(&matrix);
    CHECK_EQUAL(joint.rigid, i < 2);
    CHECK(joint.skewed);
    check_parts(&joint);
    check_rotation(&joint, &turn, 4e-15); /* to double on either side of the threshold */
  }
}

static void run_all(void) {
  RUN(test_rows_and_lanes);
  RUN(test_sheared);
  RUN(test_singular);
  RUN(test_extreme_scales);
  RUN(test_rigid_up_to_the_threshold);
}

int main(void) {
  run_with_every_instruction_set(run_all);
  return harness_result();
}
