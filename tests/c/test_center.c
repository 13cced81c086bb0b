/* SPDX-License-Identifier: MIT */
/*
 * Rotation centers: c = argmin mean_{a<b} |C_a c - C_b c|^2 + damping |c - c0|^2 of rigid joints, and what the same is
 * of joints that stretch. What damping costs is damping / s^2 of the distance to c0, s^2 the smallest eigenvalue of the
 * equations: tolerances below are of that size, or of rounding. Dampings of 1e-15 are too small for normal equations
 * and so test the way through the singular value decomposition.
 */
#include "base/lapack.h"
#include "one_set.h"

/* The center, relative to the place of the vertex. */
static void find_center(const transform *joints, size_t joint_count, const double place[3], double damping,
                        double rcond, double z[3]) {
  sbs_skin *skin = skin_of_one_set(joint_count, place, NULL, NULL);
  const sbs_pose pose = pose_of(joints);
  sbs_deform_options options = sbs_default_deform_options();
  options.damping = damping;
  options.rcond = rcond;
  sbs_deform_report report;
  CHECK_EQUAL(sbs_skin_rotation_centers(skin, &pose, &options, z, &report, NULL), SBS_OK);
  CHECK_EQUAL(report.solves, 1);
  for (int i = 0; i < 3; i++) z[i] -= place[i];
  sbs_skin_free(skin);
}

static void check_center(const transform *joints, size_t joint_count, const double place[3], double x, double y,
                         double z, double damping, double tolerance) {
  const double expected[3] = {x, y, z};
  double found[3];
  find_center(joints, joint_count, place, damping, 0.0, found);
  for (int i = 0; i < 3; i++) CHECK_NEAR(place[i] + found[i], expected[i], tolerance);
  find_center(joints, joint_count, place, damping, 1e-3, found);
  for (int i = 0; i < 3; i++) CHECK_NEAR(place[i] + found[i], expected[i], 1e-13);
}

/* ----------------------------------------------------------------------------------- what the center is, by hand -- */

static void test_rank_0_stays_at_the_centroid(void) {
  uint64_t seed = 1;
  const transform same = random_rigid(&seed, 90.0);
  const transform equal[3] = {same, same, same};
  check_center(equal, 3, centroid, 0.4, -0.3, 1.7, 1e-8, 1e-15);
  /* apart by translations only: every point is as good as any other */
  const transform apart[2] = {same, multiply(translation(1.0, 2.0, 3.0), same)};
  check_center(apart, 2, centroid, 0.4, -0.3, 1.7, 1e-8, 1e-15);
}

/* An elbow: a hinge about the line through (1, 2, 0) along z. Of the line, the point nearest to the centroid. */
static void test_rank_2_is_the_axis_of_a_hinge(void) {
  uint64_t seed = 2;
  for (double degrees = 10.0; degrees < 360.0; degrees += 50.0) {
    const transform parent = random_rigid(&seed, 180.0); /* moves both, and so changes nothing */
    const transform joints[2] = {parent, multiply(parent, about(rotation(0.0, 0.0, 1.0, degrees), 1.0, 2.0, 0.0))};
    const double s = 2.0 * sin(degrees * acos(-1.0) / 360.0);
    check_center(joints, 2, centroid, 1.0, 2.0, 1.7, 1e-8, 1e-8 / (s * s) * 3.0);
    check_center(joints, 2, centroid, 1.0, 2.0, 1.7, 1e-15, 1e-13);
  }
}

/* --------------------------------------------------------------------------- the damped optimum, however it lies -- */

/* The gradient of half of what c minimises, from the pairs. */
static void gradient(const transform *joints, size_t joint_count, const double z[3], double damping, double g[3]) {
  const double share = 2.0 / (double)(joint_count * (joint_count - 1));
  const double c[3] = {centroid[0] + z[0], centroid[1] + z[1], centroid[2] + z[2]};
  for (int i = 0; i < 3; i++) g[i] = damping * z[i];
  for (size_t a = 0; a < joint_count; a++) {
    for (size_t b = a + 1; b < joint_count; b++) {
      double by_a[3], by_b[3];
      move_point(joints + a, c, by_a);
      move_point(joints + b, c, by_b);
      for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) g[i] += share * (joints[a].m[k][i] - joints[b].m[k][i]) * (by_a[k] - by_b[k]);
      }
    }
  }
}

/*
 * z = sum_k s_k (u_k, e) / (s_k^2 + damping) v_k from the SVD of the equations of all pairs. Returns what no center can
 * mend: the part of e that the equations don't reach.
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
  double z[3], by_svd[3], g[3];
  find_center(joints, joint_count, centroid, damping, 0.0, z);
  gradient(joints, joint_count, z, damping, g);
  for (int i = 0; i < 3; i++) CHECK_NEAR(g[i], 0.0, 1e-12);
  const double rest = damped_by_svd(joints, joint_count, damping, by_svd);
  /* an error of 2e-15 in the equations moves z by up to 2e-15 (|z| / sqrt(damping) + rest / damping) */
  const double size = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
  const double tolerance = 2e-15 * ((1.0 + size) / sqrt(damping) + rest / damping);
  for (int i = 0; i < 3; i++) CHECK_NEAR(z[i], by_svd[i], tolerance);
}

/* Three joints of size `scale` that turn by anything about nearly the same slanted axis, through one point. */
static void make_nearly_coaxial(transform joints[3], uint64_t *seed, double tilt, double scale) {
  for (int j = 0; j < 3; j++) {
    double r[3];
    for (int i = 0; i < 3; i++) r[i] = random_between(seed, -tilt, tilt);
    const transform turn = rotation(0.48 + r[0], 0.6 + r[1], r[2] - 0.64, random_between(seed, -90.0, 90.0));
    joints[j] = about(multiply(turn, scaling(scale, scale, scale)), 1.0, 0.5, 2.0);
  }
}

static void test_nearly_coaxial_joints(void) {
  uint64_t seed = 3;
  for (double tilt = 1e-4; tilt < 1.1e-2; tilt *= sqrt(sqrt(10.0))) {
    for (int i = 0; i < 20; i++) {
      transform joints[3];
      make_nearly_coaxial(joints, &seed, tilt, 1.0);
      check_optimum(joints, 3, 1e-8);
    }
  }
}

/*
 * Tilts that the damping is just about as strong as, down to dampings that normal equations can't tell from rounding.
 */
static void test_small_damping(void) {
  uint64_t seed = 11;
  for (double damping = 1e-8; damping > 1e-16; damping *= 0.1) {
    for (int i = 0; i < 20; i++) {
      transform joints[3];
      make_nearly_coaxial(joints, &seed, sqrt(damping), 1.0);
      check_optimum(joints, 3, damping);
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

/* ------------------------------------------------------------------------------------------- joints that stretch -- */

/* Joints that are scaled alike turn about what they would turn about without, nearly coaxial as they may be. */
static void test_scales_move_no_center(void) {
  uint64_t seed = 9;
  for (double scale = 1e-4; scale < 1e5; scale *= 10.0) {
    for (int i = 0; i < 20; i++) {
      uint64_t same = seed;
      transform joints[3], scaled[3];
      make_nearly_coaxial(joints, &seed, 1e-3, 1.0);
      make_nearly_coaxial(scaled, &same, 1e-3, scale);
      double z[3], of_scaled[3];
      find_center(joints, 3, centroid, 1e-8, 0.0, z);
      find_center(scaled, 3, centroid, 1e-8, 0.0, of_scaled);
      /* as in check_optimum, of translations that hold no more digits than the scaled points, or the unscaled place */
      const double size = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
      const double tolerance = 4e-15 * (1.0 + 1.0 / scale) * (1.0 + size) / sqrt(1e-8);
      for (int k = 0; k < 3; k++) CHECK_NEAR(of_scaled[k], z[k], tolerance);
    }
  }
}

/* What the rigid [R | C f - R f] turn about, f the centroid: by them from f on, over the scale of the joints. */
static void test_stretches_make_equations_no_worse(void) {
  uint64_t seed = 5;
  for (int i = 0; i < 50; i++) {
    transform joints[3], rigid[3];
    double square = 0.0;
    for (int j = 0; j < 3; j++) {
      const double s[3] = {1.0, random_between(&seed, 0.5, 2.0), 1.5};
      const transform turn = random_rigid(&seed, 60.0);
      joints[j] = multiply(turn, scaling(s[0], s[1], s[2]));
      for (int k = 0; k < 3; k++) square += s[k] * s[k] / 9.0;
      double moved[3], turned[3];
      move_point(joints + j, centroid, moved);
      move_point(&turn, centroid, turned);
      rigid[j] = multiply(translation(moved[0] - turned[0], moved[1] - turned[1], moved[2] - turned[2]), turn);
    }
    double z[3], of_rigid[3];
    find_center(joints, 3, centroid, 1e-8, 0.0, z);
    find_center(rigid, 3, centroid, 1e-8, 0.0, of_rigid);
    for (int k = 0; k < 3; k++) CHECK_NEAR(sqrt(square) * z[k], of_rigid[k], 1e-9);
  }
}

/* Joints that stretch and do not turn move no point more alike than any other, however little they stretch. */
static void test_stretches_alone_turn_nothing(void) {
  for (double stretch = 1e-5; stretch < 10.0; stretch *= 10.0) {
    const transform joints[2] = {identity(), about(scaling(1.0 + stretch, 1.0, 1.0), 1000.0, 0.0, 0.0)};
    check_center(joints, 2, centroid, 0.4, -0.3, 1.7, 1e-8, 1e-15);
  }
}

/* A joint that is scaled to a point turns by what the singular value decomposition says, and nothing overflows. */
static void test_joints_scaled_to_nothing(void) {
  static const double scales[] = {0.0, 1e-320, 1e-200, 1e-160, 1e-100};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    const transform joints[2] = {scaling(scales[i], scales[i], scales[i]),
                                 multiply(translation(1.0, 2.0, 3.0), scaling(0.0, 0.0, 0.0))};
    double z[3];
    find_center(joints, 2, centroid, 1e-8, 0.0, z);
    for (int k = 0; k < 3; k++) CHECK(isfinite(z[k]));
  }
}

/* ------------------------------------------------------------------------------------------------- the truncated -- */

/* A tilt of 1e-4 is noise to rcond = 1e-3, and an equation to rcond = 1e-6. */
static void test_truncated_drops_small_singular_values(void) {
  const transform joints[3] = {identity(), about(rotation(1e-4, 1.0, 0.0, 90.0), 1.0, 7.0, 2.0),
                               about(rotation(0.0, 1.0, 1e-4, -90.0), 1.0, 7.0, 2.0)};
  double z[3];
  find_center(joints, 3, centroid, 1e-8, 1e-3, z);
  CHECK_NEAR(centroid[1] + z[1], -0.3, 1e-2); /* free along the axes: near the centroid */
  find_center(joints, 3, centroid, 1e-8, 1e-6, z);
  CHECK_NEAR(centroid[0] + z[0], 1.0, 1e-10);
  CHECK_NEAR(centroid[1] + z[1], 7.0, 1e-10);
  CHECK_NEAR(centroid[2] + z[2], 2.0, 1e-10);
}

/* However small rcond, singular values up to 1e-5 are dropped: joints that all but coincide don't throw c far away. */
static void test_truncated_has_an_absolute_cut(void) {
  const transform joints[2] = {identity(), multiply(translation(1e-3, 0.0, 0.0), rotation(0.0, 0.0, 1.0, 1e-4))};
  double z[3];
  find_center(joints, 2, centroid, 1e-8, 1e-12, z);
  for (int i = 0; i < 3; i++) CHECK(z[i] == 0.0);
}

/* ------------------------------------------------------------------------------------------- far from the origin -- */

/* A mesh bound far from the origin has its centers there: they follow, to the rounding of the coordinates. */
static void test_centers_follow_the_origin(void) {
  uint64_t seed = 8;
  for (int i = 0; i < 20; i++) {
    transform near[3], far[3];
    for (int j = 0; j < 3; j++) {
      near[j] = random_rigid(&seed, 90.0);
      far[j] = about(near[j], 1000.0, -2000.0, 500.0);
    }
    const double far_centroid[3] = {centroid[0] + 1000.0, centroid[1] - 2000.0, centroid[2] + 500.0};
    double near_z[3], far_z[3];
    find_center(near, 3, centroid, 1e-4, 0.0, near_z);
    find_center(far, 3, far_centroid, 1e-4, 0.0, far_z);
    /* 1e3 of coordinates to 1e-16, over the smallest eigenvalue of at least 1e-4 to the power of one half */
    for (int k = 0; k < 3; k++) CHECK_NEAR(far_z[k], near_z[k], 1e-10);
  }
}

static void run_all(void) {
  RUN(test_rank_0_stays_at_the_centroid);
  RUN(test_rank_2_is_the_axis_of_a_hinge);
  RUN(test_nearly_coaxial_joints);
  RUN(test_small_damping);
  RUN(test_random_joints);
  RUN(test_scales_move_no_center);
  RUN(test_stretches_make_equations_no_worse);
  RUN(test_stretches_alone_turn_nothing);
  RUN(test_joints_scaled_to_nothing);
  RUN(test_truncated_drops_small_singular_values);
  RUN(test_truncated_has_an_absolute_cut);
  RUN(test_centers_follow_the_origin);
}

int main(void) {
  run_with_every_instruction_set(run_all);
  return harness_result();
}
