/* SPDX-License-Identifier: MIT */
/*
 * Which joint sets have their center from equations, and which by the trivial rule or none; and centers of many sets.
 */
#include "one_set.h"
#include "skin/skin.h"

/* ---------------------------------------------------------------------------------------------- the trivial rule -- */

/* The center of {joint 0, joint 1}; returns whether equations were solved. The matrices are given as `scalar`. */
static int pair_center(const transform *joints, sbs_scalar scalar, const int32_t *parents,
                       const double *joint_positions, double c[3]) {
  sbs_skin *skin = skin_of_one_set(2, centroid, parents, joint_positions);
  void *matrices = numbers_of(joints[0].m[0], 24, scalar);
  const sbs_pose pose = {.skinning_matrices = matrices, .scalar = scalar, .rows = 3};
  sbs_deform_report report;
  CHECK_EQUAL(sbs_skin_rotation_centers(skin, &pose, NULL, c, &report, NULL), SBS_OK);
  CHECK_EQUAL(report.nontrivial_joint_sets, !parents || (parents[0] != 1 && parents[1] != 0));
  CHECK(report.solves <= 1);
  free(matrices);
  sbs_skin_free(skin);
  return (int)report.solves;
}

static void test_trivial_set_turns_about_the_child(void) {
  static const int32_t second_is_child[2] = {-1, 0}, first_is_child[2] = {1, -1}, strangers[2] = {-1, -1};
  static const double positions[2][3] = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
  double c[3];
  for (int child = 0; child < 2; child++) {
    const double *p = positions[child];
    const int32_t *parents = child ? second_is_child : first_is_child;
    const transform joints[2] = {identity(), about(rotation(0.0, 0.0, 1.0, 90.0), p[0], p[1], p[2])};
    CHECK_EQUAL(pair_center(joints, SBS_FLOAT64, parents, positions[0], c), 0);
    for (int i = 0; i < 3; i++) CHECK_NEAR(c[i], p[i], 2e-15); /* not the point of the axis nearest to the centroid */

    CHECK_EQUAL(pair_center(joints, SBS_FLOAT64, parents, NULL, c), 1);
    CHECK_NEAR(c[2], centroid[2], 1e-15);
    CHECK_EQUAL(pair_center(joints, SBS_FLOAT64, strangers, positions[0], c), 1);
    CHECK_EQUAL(pair_center(joints, SBS_FLOAT64, NULL, positions[0], c), 1);
  }
}

/* Rounding of the matrices is no slide. */
static void test_trivial_set_in_float32(void) {
  static const int32_t parents[2] = {-1, 0};
  static const double positions[2][3] = {{1.0, 2.0, 3.0}, {0.4, -0.5, 0.6}};
  uint64_t seed = 10;
  for (int i = 0; i < 100; i++) {
    const transform parent = random_rigid(&seed, 180.0),
                    turn = rotation(0.3, 1.0, -0.7, random_between(&seed, -180.0, 180.0));
    const transform joints[2] = {parent, multiply(parent, about(turn, 0.4, -0.5, 0.6))};
    double c[3];
    for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
      CHECK_EQUAL(pair_center(joints, scalar, parents, positions[0], c), 0);
      for (int k = 0; k < 3; k++) CHECK_NEAR(c[k], positions[1][k], 2e-15);
    }
  }
}

static void test_sliding_joint_is_solved(void) {
  static const int32_t parents[2] = {-1, 0};
  static const double positions[2][3] = {{0.0, 0.0, 0.0}, {4.0, 5.0, 6.0}};
  const transform turn = about(rotation(0.0, 0.0, 1.0, 90.0), 4.0, 5.0, 6.0);
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    double c[3];
    transform joints[2] = {identity(), multiply(translation(0.0, 0.0, 1e-2), turn)};
    CHECK_EQUAL(pair_center(joints, scalar, parents, positions[0], c), 1);
    CHECK_NEAR(c[0], 4.0, 1e-6);
    CHECK_NEAR(c[1], 5.0, 1e-6);
    CHECK_NEAR(c[2], centroid[2], 1e-6);
    /* what float32 can't tell from no slide is one in float64 */
    joints[1] = multiply(translation(0.0, 0.0, 1e-6), turn);
    CHECK_EQUAL(pair_center(joints, scalar, parents, positions[0], c), scalar == SBS_FLOAT64);
  }
}

/* ---------------------------------------------------------------------------------------- several sets of a skin -- */

static void test_sets_without_equations(void) {
  static const double positions[4][3] = {{1.0, 0.0, 0.0}, {3.0, 0.0, 0.0}, {0.0, 5.0, 1.0}, {0.0, 7.0, 2.0}};
  static const int32_t indices[4] = {0, 0, 1, 1};
  static const double weights[4] = {1.0, 1.0, 0.0, 0.0};
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = 4;
  desc.joint_count = 2;
  desc.influences_per_vertex = 1;
  desc.scalar = SBS_FLOAT64;
  desc.rest_positions = positions;
  desc.joint_indices = indices;
  desc.weight_scalar = SBS_FLOAT64;
  desc.joint_weights = weights;
  sbs_skin *skin = NULL;
  if (!CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK)) return;
  const transform joints[2] = {rotation(1.0, 0.0, 0.0, 90.0), identity()};
  const sbs_pose pose = pose_of(joints);
  double centers[2][3];
  sbs_deform_report report;
  CHECK_EQUAL(sbs_skin_rotation_centers(skin, &pose, NULL, centers[0], &report, NULL), SBS_OK);
  const double expected[2][3] = {{0.0, 6.0, 1.5}, {2.0, 0.0, 0.0}}; /* the empty set comes first */
  for (int i = 0; i < 6; i++) CHECK_NEAR(centers[i / 3][i % 3], expected[i / 3][i % 3], 1e-15);
  CHECK_EQUAL(report.nontrivial_joint_sets, 0);
  CHECK_EQUAL(report.solves, 0);
  sbs_skin_free(skin);
}

/* A chain of joints of which every other slides against its parent. */
static void make_chain(transform *joints, int32_t *parents, double (*positions)[3], int count) {
  uint64_t seed = 7;
  for (int j = 0; j < count; j++) {
    double *p = positions[j];
    for (int i = 0; i < 3; i++) p[i] = random_between(&seed, -1.0, 1.0);
    const double x = random_between(&seed, -1.0, 1.0), degrees = random_between(&seed, -90.0, 90.0);
    const transform turn = about(rotation(x, 1.0, 0.5, degrees), p[0], p[1], p[2]);
    const transform slide = translation(0.0, j % 2 ? 0.1 : 0.0, 0.0);
    parents[j] = j - 1;
    joints[j] = multiply(j ? joints[j - 1] : identity(), multiply(slide, turn));
  }
}

/*
 * The centers of a skin of sets of all sizes, solved several at once, are those of its sets alone; the report counts
 * them. Any method in the options is overruled.
 */
static void test_centers_of_a_skin(void) {
  enum {
    JOINTS = 12,
    INFLUENCES = MOST_JOINTS
  };
  transform joints[JOINTS];
  int32_t parents[JOINTS];
  double positions[JOINTS][3];
  make_chain(joints, parents, positions, JOINTS);
  rig made = new_rig(7, 400, JOINTS, INFLUENCES);
  for (size_t v = 0; v < made.vertex_count; v++) {
    for (size_t k = v % (INFLUENCES + 1); k < INFLUENCES; k++) made.joint_weights[INFLUENCES * v + k] = 0.0;
  }
  sbs_skin_desc desc = describe_rig(&made);
  desc.parents = parents;
  desc.joint_positions = positions[0];
  sbs_skin *skin = NULL;
  if (!CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK)) return;

  const sbs_pose pose = pose_of(joints);
  sbs_deform_options options = sbs_default_deform_options();
  options.method = SBS_METHOD_LINEAR;
  double (*centers)[3] = malloc(skin->set_count * sizeof *centers);
  if (!centers) abort();
  sbs_deform_report report;
  CHECK_EQUAL(sbs_skin_rotation_centers(skin, &pose, &options, centers[0], &report, NULL), SBS_OK);

  size_t nontrivial = 0, solves = 0, trivial = 0;
  for (size_t set = 0; set < skin->set_count; set++) {
    const int32_t *members = skin->set_joints + skin->set_offsets[set];
    const size_t size = sbs_set_size(skin, set);
    if (size < 2) {
      CHECK(memcmp(centers[set], skin->set_centroids + 3 * set, sizeof centers[set]) == 0);
      continue;
    }
    transform of_set[MOST_JOINTS];
    int32_t parents_of_set[MOST_JOINTS];
    double positions_of_set[MOST_JOINTS][3], alone[3];
    for (size_t k = 0; k < size; k++) {
      of_set[k] = joints[members[k]];
      parents_of_set[k] = k && members[k - 1] == parents[members[k]] ? (int32_t)k - 1 : -1;
      memcpy(positions_of_set[k], positions[members[k]], sizeof positions_of_set[k]);
    }
    sbs_skin *skin_of_set = skin_of_one_set(size, skin->set_centroids + 3 * set, parents_of_set, positions_of_set[0]);
    const sbs_pose pose_of_set = pose_of(of_set);
    sbs_deform_report report_of_set;
    CHECK_EQUAL(sbs_skin_rotation_centers(skin_of_set, &pose_of_set, NULL, alone, &report_of_set, NULL), SBS_OK);
    CHECK(memcmp(centers[set], alone, sizeof alone) == 0);
    nontrivial += report_of_set.nontrivial_joint_sets;
    solves += report_of_set.solves;
    trivial += report_of_set.solves == 0;
    sbs_skin_free(skin_of_set);
  }
  CHECK_EQUAL(report.nontrivial_joint_sets, nontrivial);
  CHECK_EQUAL(report.solves, solves);
  CHECK_EQUAL(report.nonrigid_joints, 0);
  CHECK(nontrivial < solves && trivial > 0); /* some sets of a joint and its parent are solved, some are not */
  free(centers);
  sbs_skin_free(skin);
  free_rig(&made);
}

static void run_all(void) {
  RUN(test_trivial_set_turns_about_the_child);
  RUN(test_trivial_set_in_float32);
  RUN(test_sliding_joint_is_solved);
  RUN(test_sets_without_equations);
  RUN(test_centers_of_a_skin);
}

int main(void) {
  run_with_every_instruction_set(run_all);
  return harness_result();
}
