/* SPDX-License-Identifier: MIT */
/* Flesh: a bent tube that keeps its volume, other units, threads, masks, seams, bad input, and meshes out of order. */
#include <sbs/flesh.h>

#include "counting_allocator.h"
#include "rig.h"
#include "tube.h"

enum {
  RINGS = 25,
  SIDES = 12,
  TUBE = RINGS * SIDES,
  VERTICES = TUBE + 2, /* with the middles of both ends */
  TRIANGLES = 2 * (RINGS - 1) * SIDES + 2 * SIDES
};
static double rest[VERTICES][3], amounts[VERTICES];
static int32_t triangles[TRIANGLES][3], joints[VERTICES][2];
static float weights[VERTICES][2];
static const int32_t parents[2] = {-1, 0};
static const unsigned char hinges[2] = {0, 1};
static double bones[2][6];

/* A closed tube along x from -3 to 3, of radius 0.6, that bends at 0. */
static sbs_flesh_desc describe(double unit) {
  add_tube(rest, triangles, 0, RINGS, SIDES, -3.0, 3.0, 0.6);
  for (int end = 0; end < 2; end++) {
    const int32_t middle = TUBE + end, first = end ? TUBE - SIDES : 0;
    rest[middle][0] = end ? 3.0 : -3.0;
    rest[middle][1] = rest[middle][2] = 0.0;
    for (int32_t i = 0; i < SIDES; i++) {
      int32_t *corners = triangles[2 * (RINGS - 1) * SIDES + end * SIDES + i];
      corners[0] = middle;
      corners[1] = first + (end ? i : (i + 1) % SIDES);
      corners[2] = first + (end ? (i + 1) % SIDES : i);
    }
  }
  for (int v = 0; v < VERTICES; v++) {
    const double share = fmin(fmax((rest[v][0] + 0.7) / 1.4, 0.0), 1.0);
    joints[v][0] = 0, joints[v][1] = 1;
    weights[v][0] = (float)(1.0 - share), weights[v][1] = (float)share;
    for (int axis = 0; axis < 3; axis++) rest[v][axis] *= unit;
  }
  const double heads[2][6] = {{-3.0, 0.0, 0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 3.0, 0.0, 0.0}};
  for (int i = 0; i < 12; i++) bones[i / 6][i % 6] = unit * heads[i / 6][i % 6];
  return (sbs_flesh_desc){.vertex_count = VERTICES,
                          .scalar = SBS_FLOAT64,
                          .rest_positions = rest,
                          .triangle_count = TRIANGLES,
                          .triangles = triangles[0],
                          .influences_per_vertex = 2,
                          .joint_indices = joints[0],
                          .weight_scalar = SBS_FLOAT32,
                          .joint_weights = weights,
                          .joint_count = 2,
                          .parents = parents,
                          .bones = bones[0],
                          .hinges = hinges};
}

/* By linear blending. */
static void deform(const transform pose[2], double (*found)[3]) {
  for (int v = 0; v < VERTICES; v++) {
    double ends[2][3];
    for (int j = 0; j < 2; j++) move_point(pose + j, rest[v], ends[j]);
    for (int axis = 0; axis < 3; axis++) {
      found[v][axis] = (double)weights[v][0] * ends[0][axis] + (double)weights[v][1] * ends[1][axis];
    }
  }
}

static double volume(double (*x)[3]) {
  double sum = 0.0;
  for (int t = 0; t < TRIANGLES; t++) {
    const double *a = x[triangles[t][0]], *b = x[triangles[t][1]], *c = x[triangles[t][2]];
    sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return sum / 6.0;
}

static double farthest(double (*a)[3], double (*b)[3]) {
  double most = 0.0;
  for (int i = 0; i < 3 * VERTICES; i++) most = fmax(most, fabs(a[i / 3][i % 3] - b[i / 3][i % 3]));
  return most;
}

static sbs_flesh *make(const sbs_flesh_desc *desc) {
  sbs_flesh *flesh = NULL;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_flesh_new(desc, NULL, NULL, &flesh, &fault), SBS_OK);
  return flesh;
}

static void relax(const sbs_flesh *flesh, const transform *pose, double (*x)[3], int threads) {
  const sbs_pose given = pose_of(pose);
  CHECK_EQUAL(sbs_flesh_relax(flesh, &given, SBS_FLESH_STEPS, 1.0, SBS_FLOAT64, x, 0, NULL, 0, threads, NULL), SBS_OK);
}

static void test_bent(void) {
  double first[VERTICES][3], linear[VERTICES][3], found[VERTICES][3];
  const double units[] = {1.0, 1e-30, 1e28};
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    const sbs_flesh_desc desc = describe(units[u]);
    sbs_flesh *flesh = make(&desc);
    CHECK_EQUAL(sbs_flesh_free_count(flesh), VERTICES);

    /* At rest nothing moves but by rounding, and by the bones whose ends the last rings are beside. */
    const transform still[2] = {identity(), identity()};
    memcpy(found, rest, sizeof found);
    relax(flesh, still, found, 1);
    CHECK_NEAR(farthest(found, rest) / units[u], 0.0, 1e-4);

    const transform pose[2] = {identity(), rotation(0.0, 0.0, 1.0, 100.0)};
    deform(pose, linear);
    memcpy(found, linear, sizeof found);
    relax(flesh, pose, found, 1);
    const double whole = volume(rest);
    CHECK(volume(linear) / whole < 0.97);
    CHECK_NEAR(volume(found) / whole, 1.0, 0.015); /* the multipliers converge, and are not there yet */
    CHECK(farthest(found, linear) > 0.1 * units[u]);

    /* The unit is the caller's, and so are the threads. */
    for (int v = 0; v < VERTICES; v++) {
      for (int axis = 0; axis < 3; axis++) {
        if (u == 0) first[v][axis] = found[v][axis];
        CHECK_NEAR(found[v][axis] / units[u], first[v][axis], 2e-5);
      }
    }
    double again[VERTICES][3];
    memcpy(again, linear, sizeof again);
    relax(flesh, pose, again, 4);
    CHECK(memcmp(again, found, sizeof found) == 0);

    /* A character that is moved, turned and doubled as a whole. */
    transform whole_pose[2];
    const transform all = multiply(translation(units[u], 2.0 * units[u], 0.0),
                                   multiply(rotation(1.0, 2.0, 3.0, 40.0), scaling(2.0, 2.0, 2.0)));
    for (int j = 0; j < 2; j++) whole_pose[j] = multiply(all, pose[j]);
    deform(whole_pose, again);
    relax(flesh, whole_pose, again, 1);
    for (int v = 0; v < VERTICES; v++) {
      double moved[3];
      move_point(&all, found[v], moved);
      for (int axis = 0; axis < 3; axis++) CHECK_NEAR(again[v][axis] / units[u], moved[axis] / units[u], 1e-4);
    }
    sbs_flesh_free(flesh);
  }
}

/* Held vertices keep their bits, those of half an amount go half of the way, and a seam stays closed. */
static void test_mask(void) {
  sbs_flesh_desc desc = describe(1.0);
  double linear[VERTICES][3], all[VERTICES][3], held[VERTICES][3];
  const transform pose[2] = {identity(), rotation(0.0, 0.0, 1.0, 90.0)};
  deform(pose, linear);
  memcpy(all, linear, sizeof all);
  memcpy(held, linear, sizeof held);
  sbs_flesh *flesh = make(&desc);
  relax(flesh, pose, all, 0);
  sbs_flesh_free(flesh);
  for (int v = 0; v < VERTICES; v++) amounts[v] = v % SIDES < 3 ? 0.0 : 1.0;
  desc.amounts = amounts;
  flesh = make(&desc);
  relax(flesh, pose, held, 0);
  sbs_flesh_free(flesh);
  CHECK(farthest(held, linear) > 0.01);
  for (int v = 0; v < VERTICES; v++) {
    if (amounts[v] == 0.0) CHECK(memcmp(held[v], linear[v], sizeof held[v]) == 0);
    amounts[v] = 0.5;
  }
  memcpy(held, linear, sizeof held);
  flesh = make(&desc);
  relax(flesh, pose, held, 0);
  sbs_flesh_free(flesh);
  for (int i = 0; i < 3 * VERTICES; i++) {
    CHECK_NEAR(held[i / 3][i % 3], (linear[i / 3][i % 3] + all[i / 3][i % 3]) / 2.0, 1e-9);
  }
}

/* Normals turn with the surface, and stay as long as they were. */
static void test_normals(void) {
  const sbs_flesh_desc desc = describe(1.0);
  const transform pose[2] = {identity(), rotation(0.0, 0.0, 1.0, 90.0)};
  const sbs_pose given = pose_of(pose);
  double found[VERTICES][3], normals[VERTICES][3];
  double turned = 0.0;
  deform(pose, found);
  for (int v = 0; v < VERTICES; v++) normals[v][0] = 0.0, normals[v][1] = 0.6, normals[v][2] = 0.8;
  sbs_flesh *flesh = make(&desc);
  CHECK_EQUAL(sbs_flesh_relax(flesh, &given, 12, 1.0, SBS_FLOAT64, found, 0, normals, 0, 0, NULL), SBS_OK);
  sbs_flesh_free(flesh);
  for (int v = 0; v < VERTICES; v++) {
    const double *n = normals[v];
    CHECK_NEAR(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1.0, 1e-9);
    turned = fmax(turned, fabs(n[0]));
  }
  CHECK(turned > 0.1 && turned < 0.9);
}

/* Without any tie nothing fails, and each of the springs of bones works without the other. */
static void test_options(void) {
  const sbs_flesh_desc desc = describe(1.0);
  const transform pose[2] = {identity(), rotation(0.0, 0.0, 1.0, 100.0)};
  double free[VERTICES][3], thinner[VERTICES][3], thicker[VERTICES][3];
  const struct {
    sbs_flesh_options options;
    double (*found)[3];
  } cases[] = {{{0}, free}, {{.thinner = 3.0}, thinner}, {{.thicker = 3.0}, thicker}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sbs_flesh *flesh = NULL;
    CHECK_EQUAL(sbs_flesh_new(&desc, &cases[i].options, NULL, &flesh, NULL), SBS_OK);
    deform(pose, cases[i].found);
    relax(flesh, pose, cases[i].found, 1);
    for (int c = 0; c < 3 * VERTICES; c++) CHECK(isfinite(cases[i].found[c / 3][c % 3]));
    sbs_flesh_free(flesh);
  }
  CHECK(farthest(thinner, free) > 0.01);
  CHECK(farthest(thicker, free) > 0.01);
  CHECK(farthest(thicker, thinner) > 0.01);
}

static void test_bad_input(void) {
  const sbs_flesh_desc good = describe(1.0);
  sbs_flesh_desc desc;
  sbs_flesh *flesh = NULL;
  sbs_fault fault = {0};
#define REFUSED(change, status, argument) \
  desc = good, desc.change; \
  CHECK_REFUSED(sbs_flesh_new(&desc, NULL, NULL, &flesh, &fault), status, argument); \
  CHECK(!flesh)
  REFUSED(vertex_count = 0, SBS_ERROR_EMPTY, "vertex_count");
  REFUSED(triangle_count = 0, SBS_ERROR_EMPTY, "triangle_count");
  REFUSED(triangle_count = SIZE_MAX / 2, SBS_ERROR_TOO_LARGE, "triangle_count");
  REFUSED(influences_per_vertex = 0, SBS_ERROR_EMPTY, "influences_per_vertex");
  REFUSED(vertex_count = VERTICES - 1, SBS_ERROR_VERTEX_INDEX, "triangles");
  REFUSED(joint_count = 1, SBS_ERROR_JOINT_INDEX, "joint_indices");
  REFUSED(bones = NULL, SBS_ERROR_NULL, "bones");
  REFUSED(scalar = (sbs_scalar)7, SBS_ERROR_OPTION, "scalar");
#undef REFUSED
  sbs_flesh_options options = sbs_default_flesh_options();
  options.margin = 1.5;
  CHECK_REFUSED(sbs_flesh_new(&good, &options, NULL, &flesh, &fault), SBS_ERROR_OPTION, "margin");

  flesh = make(&good);
  const transform still[2] = {identity(), identity()};
  const sbs_pose pose = pose_of(still);
  double x[VERTICES][3];
  memcpy(x, rest, sizeof x);
  const struct {
    size_t steps;
    double amount;
    int threads;
    const char *name;
  } wrong[] = {{0, 1.0, 0, "steps"}, {1001, 1.0, 0, "steps"}, {1, NAN, 0, "amount"}, {1, 1.0, -1, "threads"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const sbs_status status = sbs_flesh_relax(flesh, &pose, wrong[i].steps, wrong[i].amount, SBS_FLOAT64, x, 0, NULL, 0,
                                              wrong[i].threads, &fault);
    CHECK_REFUSED(status, wrong[i].threads < 0 ? SBS_ERROR_NEGATIVE : SBS_ERROR_OPTION, wrong[i].name);
  }
  x[3][1] = INFINITY;
  CHECK_REFUSED(sbs_flesh_relax(flesh, &pose, 1, 1.0, SBS_FLOAT64, x, 0, NULL, 0, 0, &fault), SBS_ERROR_NOT_FINITE,
                "positions");
  sbs_flesh_free(flesh);
  sbs_flesh_free(NULL);
}

/* Meshes and poses beyond reason: results are finite. */
static void test_hostile(void) {
  sbs_flesh_desc desc = describe(1.0);
  uint64_t seed = 7;
  const transform poses[][2] = {{identity(), rotation(0.0, 0.0, 1.0, 180.0)},
                                {scaling(0.0, 0.0, 0.0), scaling(0.0, 0.0, 0.0)},
                                {identity(), scaling(-1.0, 1.0, 1.0)},
                                {identity(), scaling(1e-9, 1e9, 1.0)},
                                {scaling(1e29, 1e29, 1e29), translation(-1e29, 0.0, 0.0)}};
  for (int is_soup = 0; is_soup < 2; is_soup++) {
    for (int t = 0; is_soup && t < TRIANGLES; t++) {
      for (int i = 0; i < 3; i++) {
        const int32_t any = (int32_t)random_between(&seed, 0.0, VERTICES);
        triangles[t][i] = i ? any : t % 3 ? any : 0; /* a fan around 0, slivers, points, many at an edge */
      }
    }
    sbs_flesh *flesh = make(&desc);
    for (size_t p = 0; p < sizeof poses / sizeof *poses; p++) {
      double found[VERTICES][3];
      deform(poses[p], found);
      relax(flesh, poses[p], found, 0);
      for (int i = 0; i < 3 * VERTICES; i++) CHECK(isfinite(found[i / 3][i % 3]));
    }
    sbs_flesh_free(flesh);
  }
}

/* A vertex far away, the first, changes nothing if it has no triangles; with one, flesh is made all the same. */
static void test_stray(void) {
  enum {
    ALL = VERTICES + 1
  };
  const transform pose[2] = {identity(), rotation(0.0, 0.0, 1.0, 90.0)};
  const sbs_pose given = pose_of(pose);
  const double far[] = {1e4, 1e12, 1e29};
  double found[VERTICES][3];
  sbs_flesh_desc desc = describe(1.0);
  sbs_flesh *flesh = make(&desc);
  deform(pose, found);
  relax(flesh, pose, found, 1);
  sbs_flesh_free(flesh);
  for (size_t i = 0; i < 6; i++) {
    double strayed[ALL][3] = {{far[i % 3], 0.0, 0.0}}, x[ALL][3] = {{far[i % 3], 0.0, 0.0}};
    int32_t all[TRIANGLES + 1][3] = {{0, 1, 2}}, all_joints[ALL][2] = {{0}};
    float all_weights[ALL][2] = {{1.0f}};
    memcpy(strayed + 1, rest, sizeof rest);
    memcpy(all_joints + 1, joints, sizeof joints);
    memcpy(all_weights + 1, weights, sizeof weights);
    for (int t = 0; t < 3 * TRIANGLES; t++) all[1 + t / 3][t % 3] = triangles[t / 3][t % 3] + 1;
    desc.vertex_count = ALL;
    desc.rest_positions = strayed;
    desc.triangle_count = i < 3 ? TRIANGLES : TRIANGLES + 1;
    desc.triangles = i < 3 ? all[1] : all[0];
    desc.joint_indices = all_joints[0];
    desc.joint_weights = all_weights;
    flesh = make(&desc);
    deform(pose, x + 1);
    CHECK_EQUAL(sbs_flesh_relax(flesh, &given, SBS_FLESH_STEPS, 1.0, SBS_FLOAT64, x, 0, NULL, 0, 1, NULL), SBS_OK);
    for (int v = 0; v < VERTICES; v++) {
      for (int axis = 0; axis < 3; axis++) {
        CHECK(isfinite(x[1 + v][axis]));
        if (i < 3) CHECK_NEAR(x[1 + v][axis], found[v][axis], 1e-5); /* other origins, in single precision */
      }
    }
    sbs_flesh_free(flesh);
  }
}

/* Skin without weights is of no limb and stays. Skin beside it is relaxed. */
static void test_without_weights(void) {
  const sbs_flesh_desc desc = describe(1.0);
  const transform pose[2] = {identity(), rotation(0.0, 0.0, 1.0, 90.0)};
  for (int is_all = 0; is_all < 2; is_all++) {
    double linear[VERTICES][3], found[VERTICES][3];
    size_t weighted = VERTICES;
    deform(pose, linear);
    for (int v = 0; v < VERTICES; v++) {
      if (!is_all && rest[v][0] > -1.0) continue;
      weights[v][0] = weights[v][1] = 0.0f;
      weighted--;
    }
    sbs_flesh *flesh = make(&desc);
    CHECK_EQUAL(sbs_flesh_free_count(flesh), weighted);
    memcpy(found, linear, sizeof found);
    relax(flesh, pose, found, 1);
    for (int v = 0; v < VERTICES; v++) {
      if (weights[v][0] + weights[v][1] <= 0.0f) CHECK(memcmp(found[v], linear[v], sizeof *found) == 0);
      for (int i = 0; i < 3; i++) CHECK_NEAR(found[v][i], linear[v][i], 0.6); /* the radius */
    }
    CHECK(is_all == (memcmp(found, linear, sizeof found) == 0));
    sbs_flesh_free(flesh);
  }
}

static sbs_status make_and_relax(const sbs_allocator *allocator, void *found) {
  const sbs_flesh_desc desc = describe(1.0);
  const transform pose[2] = {identity(), rotation(0.0, 0.0, 1.0, 90.0)};
  const sbs_pose given = pose_of(pose);
  sbs_flesh *flesh = NULL;
  sbs_status status = sbs_flesh_new(&desc, NULL, allocator, &flesh, NULL);
  if (!status) {
    deform(pose, found);
    status = sbs_flesh_relax(flesh, &given, 1, 1.0, SBS_FLOAT64, found, 0, NULL, 0, 1, NULL);
  }
  sbs_flesh_free(flesh);
  return status;
}

static void test_allocations(void) {
  double found[VERTICES][3];
  CHECK(fail_each_allocation(make_and_relax, NULL, found) > 40);
}

static int stop(double fraction, void *user) {
  ++*(int *)user;
  return fraction >= 0.5;
}

static void test_cancelled(void) {
  const sbs_flesh_desc desc = describe(1.0);
  const transform pose[2] = {identity(), rotation(0.0, 0.0, 1.0, 90.0)};
  const sbs_pose given = pose_of(pose);
  double linear[VERTICES][3], found[VERTICES][3];
  int told = 0;
  sbs_flesh *flesh = make(&desc);
  deform(pose, linear);
  memcpy(found, linear, sizeof found);
  sbs_set_progress(stop, &told);
  CHECK_EQUAL(sbs_flesh_relax(flesh, &given, 12, 1.0, SBS_FLOAT64, found, 0, NULL, 0, 1, NULL), SBS_ERROR_CANCELLED);
  sbs_set_progress(NULL, NULL);
  CHECK(told > 0 && memcmp(found, linear, sizeof found) == 0);
  sbs_flesh_free(flesh);
}

static int count(double fraction, void *user) {
  (void)fraction;
  ++*(size_t *)user;
  return 0;
}

/* The pressures of all pieces take one solution: hair has thousands of pieces, and would take minutes. */
static void test_many_pieces(void) {
  enum {
    PIECES = 200,
    CORNERS = 8,
    FACES = 12
  };
  static double x[PIECES * CORNERS][3];
  static int32_t faces[PIECES * FACES][3], two[PIECES * CORNERS][2];
  static float halves[PIECES * CORNERS][2];
  static const int32_t cube[FACES][3] = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 4, 5}, {0, 5, 1},
                                         {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
  for (int v = 0; v < PIECES * CORNERS; v++) {
    for (int axis = 0; axis < 3; axis++) x[v][axis] = (axis ? 0 : 2 * (v / CORNERS)) + (v >> (2 - axis) & 1);
    two[v][1] = 1;
    halves[v][0] = halves[v][1] = 0.5f;
  }
  for (int i = 0; i < 3 * PIECES * FACES; i++) {
    faces[i / 3][i % 3] = i / 3 / FACES * CORNERS + cube[i / 3 % FACES][i % 3];
  }
  sbs_flesh_desc desc = describe(1.0);
  desc.vertex_count = PIECES * CORNERS;
  desc.rest_positions = x;
  desc.triangle_count = PIECES * FACES;
  desc.triangles = faces[0];
  desc.joint_indices = two[0];
  desc.joint_weights = halves;
  size_t told = 0;
  sbs_set_progress(count, &told);
  sbs_flesh *flesh = make(&desc);
  sbs_set_progress(NULL, NULL);
  CHECK(told > 10 && told < PIECES);
  CHECK_EQUAL(sbs_flesh_free_count(flesh), PIECES * CORNERS);
  sbs_flesh_free(flesh);
}

int main(void) {
  RUN(test_bent);
  RUN(test_mask);
  RUN(test_normals);
  RUN(test_options);
  RUN(test_bad_input);
  RUN(test_hostile);
  RUN(test_stray);
  RUN(test_without_weights);
  RUN(test_allocations);
  RUN(test_cancelled);
  RUN(test_many_pieces);
  return harness_result();
}
