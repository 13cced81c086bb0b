/* SPDX-License-Identifier: MIT */
/* Bones blending, from C: by hand, with bad input, and where memory is short. Tails of bones are tested in Python. */
#include <sbs/blending.h>

#include "counting_allocator.h"
#include "rig.h"

/* ------------------------------------------------------------------------------------------------------------ bones */

static void test_bones_refuse(void) {
  const int32_t circle[2] = {1, 0}, far[2] = {-1, 2}, parents[2] = {-1, 0};
  double heads[2][3] = {{0, 0, 0}, {1, 0, 0}}, tails[2][3];
  const sbs_allocator none = {NULL, NULL, NULL};
  sbs_fault fault = {0};
  CHECK_REFUSED(sbs_bones_tails(2, NULL, heads[0], NULL, tails[0], &fault), SBS_ERROR_NULL, "parents");
  CHECK_EQUAL(sbs_bones_tails(2, parents, NULL, NULL, tails[0], &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_bones_tails(2, parents, heads[0], NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_bones_tails(2, parents, heads[0], &none, tails[0], &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_bones_tails(0, parents, heads[0], NULL, tails[0], &fault), SBS_ERROR_EMPTY);
  CHECK_EQUAL(sbs_bones_tails((size_t)INT32_MAX + 1, parents, heads[0], NULL, tails[0], &fault), SBS_ERROR_TOO_LARGE);
  CHECK_EQUAL(sbs_bones_tails(2, circle, heads[0], NULL, tails[0], &fault), SBS_ERROR_PARENT);
  CHECK_EQUAL(sbs_bones_tails(2, far, heads[0], NULL, tails[0], &fault), SBS_ERROR_PARENT);
  heads[1][2] = NAN;
  CHECK_REFUSED(sbs_bones_tails(2, parents, heads[0], NULL, tails[0], &fault), SBS_ERROR_NOT_FINITE, "joint_positions");
  CHECK_EQUAL(fault.index[0], 1);
  CHECK_EQUAL(fault.index[1], 2);
}

/* -------------------------------------------------------------------------------------------------------------- arm */

enum {
  VERTICES = 6,
  JOINTS = 3,
  WIDTH = 3
};

/* Upper arm, forearm and hand along x, at -3, 0 and 3; the axes of the forearm are twice as long, so its unit is 2. */
static const int32_t parents[JOINTS] = {-1, 0, 1};
static const double joint_positions[JOINTS][3] = {{-3, 0, 0}, {0, 0, 0}, {3, 0, 0}};
static const double inverse_binds[JOINTS][3][4] = {{{1, 0, 0, 3}, {0, 1, 0, 0}, {0, 0, 1, 0}},
                                                   {{0.5, 0, 0, 0}, {0, 0.5, 0, 0}, {0, 0, 0.5, 0}},
                                                   {{1, 0, 0, -3}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
static const double points[VERTICES][3] = {{-2, 1, 0}, {-1, 1, 0}, {-0.5, 0, 1}, {0, -1, 0}, {1, 1, 0}, {2.5, 1, 0}};

typedef struct results {
  int32_t attachment[VERTICES], joint_indices[VERTICES * WIDTH];
  double t[VERTICES], t_min[JOINTS], t_max[JOINTS], joint_weights[VERTICES * WIDTH], centers[VERTICES][3];
  unsigned char keeps[VERTICES];
} results;

static sbs_blending_desc arm(void) {
  sbs_blending_desc desc = sbs_default_blending_desc();
  desc.vertex_count = VERTICES;
  desc.joint_count = JOINTS;
  desc.scalar = SBS_FLOAT64;
  desc.rest_positions = points;
  desc.parents = parents;
  desc.joint_positions = joint_positions[0];
  desc.inverse_bind_matrices = inverse_binds[0][0];
  return desc;
}

static sbs_blending room_in(results *found) {
  return (sbs_blending){.attachment = found->attachment,
                        .t = found->t,
                        .t_min = found->t_min,
                        .t_max = found->t_max,
                        .joint_indices = found->joint_indices,
                        .joint_weights = found->joint_weights,
                        .centers = found->centers[0],
                        .keeps = found->keeps};
}

static sbs_status bind(const sbs_blending_desc *desc, results *found, sbs_fault *fault) {
  const sbs_blending binding = room_in(found);
  return sbs_blending_bind(desc, NULL, &binding, fault);
}

static void check_pairs(const results *found, const int32_t (*joints)[2], const double *t) {
  for (size_t v = 0; v < VERTICES; v++) {
    const double weights[2] = {1.0 - t[v], t[v]};
    CHECK_NEAR(found->t[v], t[v], 1e-15);
    for (size_t k = 0; k < 2; k++) {
      CHECK_EQUAL(found->joint_indices[2 * v + k], joints[v][k]);
      CHECK_NEAR(found->joint_weights[2 * v + k], weights[k], 1e-15);
    }
  }
}

/*
 * Without attachments the nearest bones are 0, 0, 0, 0 (a tie with 1), 1 and 1. Around the elbow, from -1.5 to 1.5,
 * are four vertices, and all are 1 away from the line: half a unit of the forearm, so its zone goes from -0.6 to 0.6,
 * which is -1.2 to 1.2 of the mesh. At the wrist, from 1.5 to 4.5, is one, 1 away: -1.2 to 1.2. The forearm takes
 * vertices beyond -1.2 and within 2 * 2 * hypot(0.6, 0.5) = 3.1 of the elbow; the hand, to which the last two are
 * nearer or not (1 is nearer to 0, but that is the parent's), vertices beyond 1.8 and within 2 * hypot(1.2, 1).
 */
static void test_attachments_and_zones_of_the_mesh(void) {
  const int32_t attachment[VERTICES] = {0, 1, 1, 1, 1, 2},
                joints[VERTICES][2] = {{0, 0}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {1, 2}};
  const double t[VERTICES] = {1, 0.1 / 1.2, 0.35 / 1.2, 0.5, 1.1 / 1.2, 0.7 / 2.4};
  sbs_blending_desc desc = arm();
  results found;
  CHECK_EQUAL(bind(&desc, &found, NULL), SBS_OK);
  for (size_t v = 0; v < VERTICES; v++) CHECK_EQUAL(found.attachment[v], attachment[v]);
  CHECK_NEAR(found.t_min[1], -0.6, 1e-15);
  CHECK_NEAR(found.t_max[1], 0.6, 1e-15);
  CHECK_NEAR(found.t_min[2], -1.2, 1e-15);
  CHECK_NEAR(found.t_max[2], 1.2, 1e-15);
  CHECK_EQUAL(found.joint_indices[0], 0); /* (0, 1) of a root stands second */
  CHECK(found.joint_weights[0] == 0.0 && found.joint_weights[1] == 1.0);
  check_pairs(&found, joints, t);
  for (size_t axis = 0; axis < 3; axis++) CHECK(found.centers[5][axis] == joint_positions[2][axis]);
}

/* ------------------------------------------------------------------------------------------------------- influences */

/* Unsorted, off 1, doubled, negative, infinite and without any. */
static const int32_t joint_indices[VERTICES][WIDTH] = {{0, 1, 2}, {0, 2, 1}, {1, 1, 0},
                                                       {1, 2, 0}, {2, 0, 1}, {0, 1, 2}};
static const float joint_weights[VERTICES][WIDTH] = {{0.5f, 0.5f, 0.0f},  {2.0f, 1.0f, 1.0f},   {0.375f, 0.375f, 0.25f},
                                                     {1.0f, -1.0f, 0.0f}, {0.25f, 0.25f, 0.5f}, {0.0f, -INFINITY, NAN}};

static const sbs_influences_table influences = {.vertex_count = VERTICES,
                                                .joint_count = JOINTS,
                                                .influences_per_vertex = WIDTH,
                                                .joint_indices = joint_indices[0],
                                                .scalar = SBS_FLOAT32,
                                                .joint_weights = joint_weights};

/* All rigid, so that nobody takes over; the last has no weight that counts. */
static void test_attached_to_the_heaviest(void) {
  const double together[JOINTS][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  const int32_t expected[VERTICES] = {0, 0, 1, 1, 1, -1};
  sbs_blending_desc desc = arm();
  results found;
  desc.joint_positions = together[0];
  desc.influences = &influences;
  CHECK_EQUAL(bind(&desc, &found, NULL), SBS_OK);
  for (size_t v = 0; v < VERTICES; v++) CHECK_EQUAL(found.attachment[v], expected[v]);
}

/*
 * Only the forearm is blended, its t as in test_shares. Vertices outside its zone keep their influences: of vertices
 * 0 and 1, before the zone, the upper arm has the weight of both; of vertex 4, beyond it, the forearm.
 */
static void test_others_keep_their_influences(void) {
  const unsigned char blended[JOINTS] = {0, 1, 0};
  const int32_t attachment[VERTICES] = {1, 1, 1, 1, 1, 2};
  const double t_min[JOINTS] = {NAN, -0.5, NAN}, t_max[JOINTS] = {NAN, 0.5, NAN};
  const int32_t joints[VERTICES][WIDTH] = {{0, 0, 0}, {0, 2, 0}, {0, 1, 0}, {0, 1, 0}, {1, 2, 0}, {0, 0, 0}};
  const double weights[VERTICES][WIDTH] = {{1, 0, 0},     {0.75, 0.25, 0}, {0.75, 0.25, 0},
                                           {0.5, 0.5, 0}, {0.75, 0.25, 0}, {0, 0, 0}};
  const unsigned char keeps[VERTICES] = {1, 1, 0, 0, 1, 1};
  sbs_blending_desc desc = arm();
  results found;
  desc.blended = blended;
  desc.attachment = attachment;
  desc.t_min = t_min;
  desc.t_max = t_max;
  desc.influences = &influences;
  CHECK_EQUAL(sbs_blending_width(&desc), WIDTH);
  CHECK_EQUAL(bind(&desc, &found, NULL), SBS_OK);
  for (size_t v = 0; v < VERTICES; v++) {
    CHECK_EQUAL(found.keeps[v], keeps[v]);
    for (size_t k = 0; k < WIDTH; k++) {
      CHECK_EQUAL(found.joint_indices[WIDTH * v + k], joints[v][k]);
      CHECK(found.joint_weights[WIDTH * v + k] == weights[v][k]); /* sums of powers of two: exact */
    }
    for (size_t axis = 0; axis < 3; axis++) CHECK(found.centers[v][axis] == (keeps[v] ? points[v][axis] : 0.0));
  }
}

/* ----------------------------------------------------------------------------------------------------------- faults */

static void check_refused(const sbs_blending_desc *desc, sbs_status status, const char *argument) {
  results found;
  sbs_fault fault = {0};
  CHECK_EQUAL(bind(desc, &found, &fault), status);
  CHECK_STRING(fault.argument, argument);
}

static void test_refuses_pointers_and_counts(void) {
  results found;
  sbs_blending_desc desc = arm();
  sbs_blending binding = room_in(&found);
  CHECK_EQUAL(sbs_blending_bind(NULL, NULL, &binding, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_blending_bind(&desc, NULL, NULL, NULL), SBS_ERROR_NULL);
  binding.keeps = NULL;
  CHECK_EQUAL(sbs_blending_bind(&desc, NULL, &binding, NULL), SBS_ERROR_NULL);
  const sbs_blending_desc whole = desc;
  desc.rest_positions = NULL;
  check_refused(&desc, SBS_ERROR_NULL, "rest_positions");
  desc = whole, desc.inverse_bind_matrices = NULL;
  check_refused(&desc, SBS_ERROR_NULL, "inverse_bind_matrices");
  desc = whole, desc.vertex_count = 0;
  check_refused(&desc, SBS_ERROR_EMPTY, "vertex_count");
  desc = whole, desc.joint_count = 0;
  check_refused(&desc, SBS_ERROR_EMPTY, "joint_count");
  desc = whole, desc.vertex_count = (size_t)INT32_MAX + 1;
  check_refused(&desc, SBS_ERROR_TOO_LARGE, "vertex_count");
  desc = whole, desc.joint_count = (size_t)INT32_MAX + 1;
  check_refused(&desc, SBS_ERROR_TOO_LARGE, "joint_count");
  desc = whole, desc.scalar = (sbs_scalar)9;
  check_refused(&desc, SBS_ERROR_OPTION, "scalar");
  desc = whole, desc.profile = (sbs_blending_profile)2;
  check_refused(&desc, SBS_ERROR_OPTION, "profile");
  desc = whole, desc.zone_scale = -1.0;
  check_refused(&desc, SBS_ERROR_OPTION, "zone_scale");
  desc = whole, desc.zone_scale = INFINITY;
  check_refused(&desc, SBS_ERROR_NOT_FINITE, "zone_scale");
  desc = whole, desc.rest_positions_stride = 5;
  check_refused(&desc, SBS_ERROR_STRIDE, "rest_positions_stride");
}

static void test_refuses_numbers(void) {
  double matrices[JOINTS][12] = {{0.0}}, ends[JOINTS] = {0, 0, -INFINITY}, tails[JOINTS][3] = {{0.0}};
  const int32_t attachment[VERTICES] = {0, 0, 3, 0, 0, 0}, circle[JOINTS] = {1, 2, 0};
  const sbs_blending_desc whole = arm();
  sbs_blending_desc desc = whole;
  sbs_influences_table table = influences;
  desc.parents = circle;
  check_refused(&desc, SBS_ERROR_PARENT, "parents");
  matrices[1][7] = NAN;
  desc = whole, desc.inverse_bind_matrices = matrices[0];
  check_refused(&desc, SBS_ERROR_NOT_FINITE, "inverse_bind_matrices");
  tails[2][0] = INFINITY;
  desc = whole, desc.tails = tails[0];
  check_refused(&desc, SBS_ERROR_NOT_FINITE, "tails");
  desc = whole, desc.t_min = ends;
  check_refused(&desc, SBS_ERROR_NOT_FINITE, "t_min");
  desc = whole, desc.t_max = ends;
  check_refused(&desc, SBS_ERROR_NOT_FINITE, "t_max");
  desc = whole, desc.attachment = attachment;
  check_refused(&desc, SBS_ERROR_JOINT_INDEX, "attachment");
  desc = whole, desc.influences = &table, table.vertex_count--;
  check_refused(&desc, SBS_ERROR_OPTION, "influences.vertex_count");
  table = influences, table.joint_count++;
  check_refused(&desc, SBS_ERROR_OPTION, "influences.joint_count");
  table = influences, table.joint_weights = NULL;
  check_refused(&desc, SBS_ERROR_NULL, "joint_weights");
  int32_t wrong[VERTICES][WIDTH] = {{0}};
  wrong[4][2] = JOINTS;
  table = influences, table.joint_indices = wrong[0];
  check_refused(&desc, SBS_ERROR_JOINT_INDEX, "joint_indices");
}

static void test_refuses_joints_that_cannot_be_blended(void) {
  const unsigned char root[JOINTS] = {1, 1, 0}, hand[JOINTS] = {0, 0, 1};
  const double together[JOINTS][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  const double t_min[JOINTS] = {0, 0, 2}, t_max[JOINTS] = {0, 1, 2};
  results found;
  sbs_fault fault = {0};
  sbs_blending_desc desc = arm();
  desc.blended = root;
  check_refused(&desc, SBS_ERROR_OPTION, "blended");
  desc.blended = hand;
  CHECK_EQUAL(bind(&desc, &found, NULL), SBS_OK);
  desc.joint_positions = together[0];
  CHECK_REFUSED(bind(&desc, &found, &fault), SBS_ERROR_OPTION, "blended");
  CHECK_EQUAL(fault.index[0], 2);
  desc.blended = NULL; /* then it is rigid */
  CHECK_EQUAL(bind(&desc, &found, NULL), SBS_OK);
  for (size_t v = 0; v < VERTICES; v++) CHECK(found.t[v] == 1.0);
  desc = arm();
  desc.t_min = t_min;
  desc.t_max = t_max;
  CHECK_REFUSED(bind(&desc, &found, &fault), SBS_ERROR_OPTION, "t_min");
  CHECK_EQUAL(fault.index[0], 2);
  CHECK(fault.value == 2.0 && fault.limit == 2.0);
}

/* ----------------------------------------------------------------------------------------------------------- memory */

static sbs_status bind_by(const sbs_allocator *allocator, void *desc) {
  results found;
  const sbs_blending binding = room_in(&found);
  return sbs_blending_bind(desc, allocator, &binding, NULL);
}

static sbs_status find_tails_by(const sbs_allocator *allocator, void *tails) {
  return sbs_bones_tails(JOINTS, parents, joint_positions[0], allocator, tails, NULL);
}

static void test_short_of_memory(void) {
  const unsigned char blended[JOINTS] = {0, 1, 0};
  sbs_blending_desc desc = arm();
  double tails[JOINTS][3];
  CHECK(fail_each_allocation(bind_by, NULL, &desc) > 10);
  desc.influences = &influences;
  desc.blended = blended;
  CHECK(fail_each_allocation(bind_by, NULL, &desc) > 10);
  CHECK(fail_each_allocation(find_tails_by, NULL, tails) > 4);
}

static int refuse(double fraction, void *user) {
  (void)fraction;
  (void)user;
  return 1;
}

static void test_is_given_up(void) {
  const sbs_blending_desc desc = arm();
  results found;
  sbs_set_progress(refuse, NULL);
  CHECK_EQUAL(bind(&desc, &found, NULL), SBS_ERROR_CANCELLED);
  sbs_set_progress(NULL, NULL);
}

int main(void) {
  RUN(test_bones_refuse);
  RUN(test_attachments_and_zones_of_the_mesh);
  RUN(test_attached_to_the_heaviest);
  RUN(test_others_keep_their_influences);
  RUN(test_refuses_pointers_and_counts);
  RUN(test_refuses_numbers);
  RUN(test_refuses_joints_that_cannot_be_blended);
  RUN(test_short_of_memory);
  RUN(test_is_given_up);
  return harness_result();
}
