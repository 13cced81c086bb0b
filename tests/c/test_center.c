/* SPDX-License-Identifier: MIT */
/*
 * Rotation centers: c = argmin mean_{a<b} |C_a c - C_b c|^2 + damping |c - c0|^2, by every instruction set. Damping
 * costs damping / s^2 of the distance to c0, where s^2 is the smallest eigenvalue of the equations: tolerances are of
 * that size, or of rounding. Dampings of 1e-15 are too small for normal equations and so test the singular value
 * decomposition. tests/python holds centers of characters, and of joints that scale, against a reference.
 */
#include "base/lapack.h"
#include "rig.h"

enum {
  MOST_JOINTS = 8
};

static const double centroid[3] = {0.4, -0.3, 1.7};

/* The center of a skin of one vertex at the centroid under all of the joints, relative to the centroid. */
static void find_center(const transform *joints, size_t joint_count, double damping, double rcond, double z[3]) {
  int32_t indices[MOST_JOINTS];
  double weights[MOST_JOINTS];
  for (size_t j = 0; j < joint_count; j++) indices[j] = (int32_t)j, weights[j] = 1.0 / (double)joint_count;
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = 1;
  desc.joint_count = joint_count;
  desc.influences_per_vertex = joint_count;
  desc.scalar = desc.weight_scalar = SBS_FLOAT64;
  desc.rest_positions = centroid;
  desc.joint_indices = indices;
  desc.joint_weights = weights;
  const sbs_pose pose = pose_of(joints);
  sbs_deform_options options = sbs_default_deform_options();
  options.damping = damping;
  options.rcond = rcond;
  sbs_deform_report report;
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_rotation_centers(skin, &pose, &options, z, &report, NULL), SBS_OK);
  CHECK_EQUAL(report.solves, 1);
  for (int i = 0; i < 3; i++) z[i] -= centroid[i];
  sbs_skin_free(skin);
}

/* An elbow: a hinge about the line through (1, 2, 0) along z. Of the line, the point nearest to the centroid. */
static void test_hinge(void) {
  uint64_t seed = 2;
  for (double degrees = 10.0; degrees < 360.0; degrees += 50.0) {
    const transform parent = random_rigid(&seed, 180.0); /* moves both, and so changes nothing */
    const transform joints[2] = {parent, multiply(parent, about(rotation(0.0, 0.0, 1.0, degrees), 1.0, 2.0, 0.0))};
    const double s = 2.0 * sin(degrees * acos(-1.0) / 360.0), expected[3] = {1.0, 2.0, centroid[2]};
    const double dampings[3] = {1e-8, 1e-15, 1e-8}, rconds[3] = {0.0, 0.0, 1e-3};
    for (int way = 0; way < 3; way++) {
      double z[3];
      find_center(joints, 2, dampings[way], rconds[way], z);
      for (int i = 0; i < 3; i++) CHECK_NEAR(centroid[i] + z[i], expected[i], way ? 1e-13 : 1e-8 / (s * s) * 3.0);
    }
  }
}

/*
 * z = sum_k s_k (u_k, e) / (s_k^2 + damping) v_k from the SVD of the equations of all pairs. Returns the part of e
 * that the equations don't reach, which no center mends.
 */
static double damped_by_svd(const transform *joints, size_t joint_count, double damping, double z[3]) {
  enum {
    MOST_ROWS = 3 * MOST_JOINTS * (MOST_JOINTS - 1) / 2
  };
  const size_t rows = 3 * joint_count * (joint_count - 1) / 2;
  const double root = sqrt(2.0 / (double)(joint_count * (joint_count - 1)));
  double u[3 * MOST_ROWS], e[MOST_ROWS], s[3], vt[9], work[MOST_ROWS + 16];
  CHECK(sbs_svd_work_size(rows) <= sizeof work / sizeof *work);
  size_t row = 0;
  for (size_t a = 0; a < joint_count; a++) {
    for (size_t b = a + 1; b < joint_count; b++) {
      double by_a[3], by_b[3];
      move_point(joints + a, centroid, by_a);
      move_point(joints + b, centroid, by_b);
      for (int i = 0; i < 3; i++, row++) {
        for (size_t j = 0; j < 3; j++) u[j * rows + row] = root * (joints[a].m[i][j] - joints[b].m[i][j]);
        e[row] = root * (by_b[i] - by_a[i]);
      }
    }
  }
  CHECK_EQUAL(sbs_svd(rows, u, s, vt, work), SBS_OK);
  double rest = 0.0;
  for (row = 0; row < rows; row++) rest += e[row] * e[row];
  z[0] = z[1] = z[2] = 0.0;
  for (size_t k = 0; k < 3; k++) {
    double amount = 0.0;
    for (row = 0; row < rows; row++) amount += u[k * rows + row] * e[row];
    for (size_t j = 0; j < 3; j++) z[j] += vt[3 * k + j] * (s[k] * amount / (s[k] * s[k] + damping));
    if (s[k] > 1e-12) rest -= amount * amount;
  }
  return sqrt(fmax(rest, 0.0));
}

static void check_optimum(const transform *joints, size_t joint_count, double damping) {
  double z[3], by_svd[3];
  find_center(joints, joint_count, damping, 0.0, z);
  const double rest = damped_by_svd(joints, joint_count, damping, by_svd);
  /* an error of 2e-15 in the equations moves z by up to 2e-15 (|z| / sqrt(damping) + rest / damping) */
  const double size = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
  const double tolerance = 2e-15 * ((1.0 + size) / sqrt(damping) + rest / damping);
  for (int i = 0; i < 3; i++) CHECK_NEAR(z[i], by_svd[i], tolerance);
}

/* Three joints that turn by anything about nearly the same slanted axis, through one point. */
static void make_nearly_coaxial(transform joints[3], uint64_t *seed, double tilt) {
  for (int j = 0; j < 3; j++) {
    double r[3];
    for (int i = 0; i < 3; i++) r[i] = random_between(seed, -tilt, tilt);
    const transform turn = rotation(0.48 + r[0], 0.6 + r[1], r[2] - 0.64, random_between(seed, -90.0, 90.0));
    joints[j] = about(turn, 1.0, 0.5, 2.0);
  }
}

/* Also where damping is just about as strong as tilts, down to where rounding hides it from normal equations. */
static void test_nearly_coaxial_joints(void) {
  uint64_t seed = 3;
  for (double damping = 1e-8; damping > 1e-16; damping *= 0.1) {
    for (double tilt = sqrt(damping); tilt < 1.1e-2; tilt *= 10.0) {
      for (int i = 0; i < 20; i++) {
        transform joints[3];
        make_nearly_coaxial(joints, &seed, tilt);
        check_optimum(joints, 3, damping);
      }
    }
  }
}

static void test_random_joints(void) {
  uint64_t seed = 4;
  for (size_t count = 2; count <= MOST_JOINTS; count++) {
    for (int i = 0; i < 50; i++) {
      transform joints[MOST_JOINTS];
      for (size_t j = 0; j < count; j++) joints[j] = random_rigid(&seed, 120.0);
      check_optimum(joints, count, 1e-8);
      check_optimum(joints, count, 1e-3);
    }
  }
}

/* Joints that are scaled to nothing leave no rotation, and tilts below rcond no equation: nothing overflows. */
static void test_edges(void) {
  static const double scales[] = {0.0, 1e-320, 1e-200, 1e-160, 1e-100, 1.0};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    const transform small = scaling(scales[i], scales[i], scales[i]);
    const transform joints[3] = {small, multiply(small, about(rotation(1e-4, 1.0, 0.0, 90.0), 1.0, 7.0, 2.0)),
                                 multiply(small, about(rotation(0.0, 1.0, 1e-4, -90.0), 1.0, 7.0, 2.0))};
    double z[3];
    find_center(joints, 3, 1e-8, 0.0, z);
    for (int k = 0; k < 3; k++) CHECK(isfinite(z[k]));
    find_center(joints, 3, 1e-8, 1e-3, z);
    CHECK_NEAR(z[1], 0.0, 1e-2); /* free along the axes: near the centroid */
  }
}

static void run_all(void) {
  RUN(test_hinge);
  RUN(test_nearly_coaxial_joints);
  RUN(test_random_joints);
  RUN(test_edges);
}

int main(void) {
  run_with_every_instruction_set(run_all);
  return harness_result();
}
