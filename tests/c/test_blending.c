/* SPDX-License-Identifier: MIT */
/* Bones blending, from C: by hand, with bad input, and where memory is short. Tails of bones are tested in Python. */
#include <sbs/blending.h>

#include "counting_allocator.h"
#include "rig.h"

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
  for (size_t v = 0; v < VERTICES; v++) { /* (0, 1) of a root stands second */
    CHECK_NEAR(found.t[v], t[v], 1e-15);
    CHECK_NEAR(found.joint_weights[2 * v], 1.0 - t[v], 1e-15);
    CHECK_NEAR(found.joint_weights[2 * v + 1], t[v], 1e-15);
    CHECK(found.joint_indices[2 * v] == joints[v][0] && found.joint_indices[2 * v + 1] == joints[v][1]);
  }
  for (size_t axis = 0; axis < 3; axis++) CHECK(found.centers[5][axis] == joint_positions[2][axis]);
}

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

static void test_refuses(void) {
  const int32_t circle[JOINTS] = {1, 2, 0}, far[JOINTS] = {-1, 0, 3}, nowhere[VERTICES] = {0, 0, 3, 0, 0, 0};
  const unsigned char root[JOINTS] = {1, 1, 0}, hand[JOINTS] = {0, 0, 1};
  const double not_finite[JOINTS][12] = {{0.0}, {0.0, NAN}}, ends[JOINTS] = {0, 0, -INFINITY};
  const double together[JOINTS][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, low[JOINTS] = {0, 0, 2},
               high[JOINTS] = {0, 1, 2};
  const int32_t wrong[VERTICES][WIDTH] = {{0}, {0}, {0}, {0}, {0, 0, JOINTS}};
  sbs_influences_table table = influences;
  results found;
  sbs_fault fault = {0};
  sbs_blending_desc desc = arm();
  sbs_blending binding = room_in(&found);
  CHECK_EQUAL(sbs_blending_bind(NULL, NULL, &binding, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_blending_bind(&desc, NULL, NULL, NULL), SBS_ERROR_NULL);
  binding.keeps = NULL;
  CHECK_EQUAL(sbs_blending_bind(&desc, NULL, &binding, NULL), SBS_ERROR_NULL);
#define REFUSED(change, status, argument) \
  desc = arm(), desc.change; \
  CHECK_REFUSED(bind(&desc, &found, &fault), status, argument)
  REFUSED(rest_positions = NULL, SBS_ERROR_NULL, "rest_positions");
  REFUSED(inverse_bind_matrices = NULL, SBS_ERROR_NULL, "inverse_bind_matrices");
  REFUSED(vertex_count = 0, SBS_ERROR_EMPTY, "vertex_count");
  REFUSED(joint_count = 0, SBS_ERROR_EMPTY, "joint_count");
  REFUSED(vertex_count = (size_t)INT32_MAX + 1, SBS_ERROR_TOO_LARGE, "vertex_count");
  REFUSED(joint_count = (size_t)INT32_MAX + 1, SBS_ERROR_TOO_LARGE, "joint_count");
  REFUSED(scalar = (sbs_scalar)9, SBS_ERROR_OPTION, "scalar");
  REFUSED(profile = (sbs_blending_profile)2, SBS_ERROR_OPTION, "profile");
  REFUSED(zone_scale = -1.0, SBS_ERROR_OPTION, "zone_scale");
  REFUSED(zone_scale = INFINITY, SBS_ERROR_NOT_FINITE, "zone_scale");
  REFUSED(rest_positions_stride = 5, SBS_ERROR_STRIDE, "rest_positions_stride");
  REFUSED(parents = circle, SBS_ERROR_PARENT, "parents");
  REFUSED(parents = far, SBS_ERROR_PARENT, "parents");
  REFUSED(inverse_bind_matrices = not_finite[0], SBS_ERROR_NOT_FINITE, "inverse_bind_matrices");
  REFUSED(tails = not_finite[1], SBS_ERROR_NOT_FINITE, "tails");
  REFUSED(t_min = ends, SBS_ERROR_NOT_FINITE, "t_min");
  REFUSED(t_max = ends, SBS_ERROR_NOT_FINITE, "t_max");
  REFUSED(attachment = nowhere, SBS_ERROR_JOINT_INDEX, "attachment");
  desc = arm(), desc.influences = &table;
  CHECK_EQUAL(bind(&desc, &found, NULL), SBS_OK);
  table.vertex_count--;
  REFUSED(influences = &table, SBS_ERROR_OPTION, "influences.vertex_count");
  table = influences, table.joint_count++;
  REFUSED(influences = &table, SBS_ERROR_OPTION, "influences.joint_count");
  table = influences, table.joint_weights = NULL;
  REFUSED(influences = &table, SBS_ERROR_NULL, "joint_weights");
  table = influences, table.joint_indices = wrong[0];
  REFUSED(influences = &table, SBS_ERROR_JOINT_INDEX, "joint_indices");
  REFUSED(blended = root, SBS_ERROR_OPTION, "blended");
  desc = arm(), desc.blended = hand;
  CHECK_EQUAL(bind(&desc, &found, NULL), SBS_OK);
  desc.joint_positions = together[0]; /* no joint that turns about its parent can be blended */
  CHECK_REFUSED(bind(&desc, &found, &fault), SBS_ERROR_OPTION, "blended");
  CHECK_EQUAL(fault.index[0], 2);
  desc = arm(), desc.joint_positions = together[0];
  CHECK_EQUAL(bind(&desc, &found, NULL), SBS_OK); /* then all are rigid */
  for (size_t v = 0; v < VERTICES; v++) CHECK(found.t[v] == 1.0);
  desc = arm(), desc.t_min = low, desc.t_max = high;
  CHECK_REFUSED(bind(&desc, &found, &fault), SBS_ERROR_OPTION, "t_min");
  CHECK(fault.index[0] == 2 && fault.value == 2.0 && fault.limit == 2.0);
#undef REFUSED
}

static void test_bones_refuse(void) {
  const int32_t circle[JOINTS] = {1, 0, -1}, far[JOINTS] = {-1, 3, 0};
  const double heads[JOINTS][3] = {{0, 0, 0}, {1, 0, NAN}};
  const sbs_allocator none = {NULL, NULL, NULL};
  double tails[JOINTS][3];
  sbs_fault fault = {0};
#define TAILS(count, parents, heads, allocator, tails) sbs_bones_tails(count, parents, heads, allocator, tails, &fault)
  CHECK_REFUSED(TAILS(JOINTS, NULL, heads[0], NULL, tails[0]), SBS_ERROR_NULL, "parents");
  CHECK_EQUAL(TAILS(JOINTS, parents, NULL, NULL, tails[0]), SBS_ERROR_NULL);
  CHECK_EQUAL(TAILS(JOINTS, parents, heads[0], NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(TAILS(JOINTS, parents, heads[0], &none, tails[0]), SBS_ERROR_NULL);
  CHECK_EQUAL(TAILS(0, parents, heads[0], NULL, tails[0]), SBS_ERROR_EMPTY);
  CHECK_EQUAL(TAILS((size_t)INT32_MAX + 1, parents, heads[0], NULL, tails[0]), SBS_ERROR_TOO_LARGE);
  CHECK_EQUAL(TAILS(JOINTS, circle, joint_positions[0], NULL, tails[0]), SBS_ERROR_PARENT);
  CHECK_EQUAL(TAILS(JOINTS, far, joint_positions[0], NULL, tails[0]), SBS_ERROR_PARENT);
  CHECK_REFUSED(TAILS(JOINTS, parents, heads[0], NULL, tails[0]), SBS_ERROR_NOT_FINITE, "joint_positions");
  CHECK(fault.index[0] == 1 && fault.index[1] == 2);
#undef TAILS
}

static sbs_status bind_by(const sbs_allocator *allocator, void *desc) {
  results found;
  const sbs_blending binding = room_in(&found);
  return sbs_blending_bind(desc, allocator, &binding, NULL);
}

static sbs_status find_tails_by(const sbs_allocator *allocator, void *tails) {
  return sbs_bones_tails(JOINTS, parents, joint_positions[0], allocator, tails, NULL);
}

static void test_short_of_memory(void) {
  const int32_t attachment[VERTICES] = {1, 1, 1, 1, 1, 2};
  const double t_min[JOINTS] = {NAN, -0.5, NAN}, t_max[JOINTS] = {NAN, 0.5, NAN};
  const unsigned char blended[JOINTS] = {0, 1, 0};
  sbs_blending_desc desc = arm();
  double tails[JOINTS][3];
  CHECK(fail_each_allocation(bind_by, NULL, &desc) > 10);
  desc.influences = &influences;
  desc.blended = blended;
  CHECK(fail_each_allocation(bind_by, NULL, &desc) > 10);
  desc.attachment = attachment, desc.t_min = t_min, desc.t_max = t_max; /* vertices keep influences beside the zone */
  CHECK(fail_each_allocation(bind_by, NULL, &desc) > 8);
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
  RUN(test_attachments_and_zones_of_the_mesh);
  RUN(test_refuses);
  RUN(test_bones_refuse);
  RUN(test_short_of_memory);
  RUN(test_is_given_up);
  return harness_result();
}
