/* SPDX-License-Identifier: MIT */
/* Dragging, from C: a known answer, bad input, and short memory, after which nothing has changed. */
#include <sbs/drag.h>

#include "base/memory.h"
#include "counting_allocator.h"
#include "rig.h"

enum {
  VERTICES = 40,
  JOINTS = 2,
  LIMIT = 3
};

/* A row of points along y, each of both joints, which share the origin; the second is turned by 90 degrees about x. */
static double positions[VERTICES][3], weights[VERTICES][2];
static int32_t indices[VERTICES][2];
static const double matrices[JOINTS][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                            {1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0}};
static const sbs_pose pose = {.skinning_matrices = matrices, .scalar = SBS_FLOAT64, .rows = 3};

static sbs_brush *new_brush(const sbs_allocator *allocator) {
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  for (size_t v = 0; v < VERTICES; v++) {
    positions[v][1] = 1.0 + (double)v;
    indices[v][1] = 1;
    weights[v][0] = 0.75;
    weights[v][1] = 0.25;
  }
  mesh.vertex_count = VERTICES;
  mesh.scalar = SBS_FLOAT64;
  mesh.positions = positions;
  const sbs_influences_table table = {.vertex_count = VERTICES,
                                      .joint_count = JOINTS,
                                      .influences_per_vertex = 2,
                                      .joint_indices = indices[0],
                                      .scalar = SBS_FLOAT64,
                                      .joint_weights = weights};
  sbs_brush *brush = NULL;
  CHECK_EQUAL(sbs_brush_new(&table, &mesh, LIMIT, allocator, &brush, NULL), SBS_OK);
  return brush;
}

static sbs_drag_options options_of(double radius) {
  sbs_drag_options options = sbs_default_drag_options();
  options.radius = radius;
  return options;
}

/* Two joints that share their position take a point along the arc between them: its middle is half of each. */
static void test_known_answer(void) {
  sbs_brush *brush = new_brush(NULL);
  const sbs_drag_options options = options_of(0.5);
  const double target[3] = {0.0, 2.0 * sqrt(0.5), 2.0 * sqrt(0.5)};
  sbs_brush_change change;
  CHECK_EQUAL(sbs_drag_vertex(brush, &options, &pose, 1, target, &change, NULL), SBS_OK);
  CHECK_EQUAL(change.vertex_count, 1);
  CHECK_EQUAL(change.vertices[0], 1);
  CHECK_NEAR(change.new_joint_weights[0], 0.5, 1e-8);
  CHECK_NEAR(change.new_joint_weights[1], 0.5, 1e-8);
  CHECK(change.old_joint_weights[0] == 0.75 && change.old_joint_weights[1] == 0.25);
  CHECK_EQUAL(sbs_brush_restore(brush, change.vertices, change.old_joint_indices, change.old_joint_weights,
                                change.vertex_count, NULL),
              SBS_OK);
  double restored[VERTICES * LIMIT];
  int32_t joints[VERTICES * LIMIT];
  CHECK_EQUAL(sbs_brush_get_influences(brush, joints, restored), SBS_OK);
  for (size_t v = 0; v < VERTICES; v++) CHECK(restored[LIMIT * v] == 0.75 && restored[LIMIT * v + 1] == 0.25);
  sbs_brush_free(brush);
}

static void test_every_allocation_fails_in_turn(void) {
  allocation_counter counter = {.fail_at = SIZE_MAX};
  const sbs_allocator allocator = counting_allocator(&counter);
  sbs_brush *brush = new_brush(&allocator);
  sbs_drag_options options = options_of(20.0);
  const double target[3] = {0.0, 2.0, 2.0};
  options.mirror_axis = 2;
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  size_t failed = 0;
  for (; status && failed < 100; failed++) {
    double before[VERTICES * LIMIT], after[VERTICES * LIMIT];
    int32_t joints[VERTICES * LIMIT];
    CHECK_EQUAL(sbs_brush_get_influences(brush, joints, before), SBS_OK);
    const size_t held = counter.allocated - counter.released;
    counter.fail_at = counter.allocated + failed;
    status = sbs_drag_vertex(brush, &options, &pose, 1, target, NULL, NULL);
    counter.fail_at = SIZE_MAX;
    if (!status) break;
    CHECK_EQUAL(status, SBS_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(sbs_brush_get_influences(brush, joints, after), SBS_OK);
    CHECK(memcmp(before, after, sizeof before) == 0);
    CHECK(counter.allocated - counter.released <= held + 3); /* the brush may have grown its rows */
  }
  CHECK(failed >= 10);
  sbs_brush_free(brush);
  CHECK_EQUAL(counter.allocated, counter.released);
}

static void test_errors(void) {
  static const double target[3] = {0.0, 1.0, 1.0}, nowhere[3] = {0.0, NAN, 0.0}, beyond[3] = {0.0, 0.0, -1e200};
  static const double large[JOINTS][12] = {{1e200}, {0}};
  static const float amounts[VERTICES] = {0.5f, 2.0f};
  const sbs_pose far = {.skinning_matrices = large, .scalar = SBS_FLOAT64, .rows = 3};
  sbs_brush *brush = new_brush(NULL);
  sbs_deform_options deform;
  sbs_drag_options options = options_of(1.0);
  sbs_fault fault = {0};
#define DRAG(options, pose, vertex, target) sbs_drag_vertex(brush, options, pose, vertex, target, NULL, &fault)
  CHECK_EQUAL(sbs_drag_vertex(NULL, &options, &pose, 1, target, NULL, NULL), SBS_ERROR_NULL);
  CHECK_REFUSED(DRAG(NULL, &pose, 1, target), SBS_ERROR_OPTION, "radius");
  CHECK_REFUSED(DRAG(&options, NULL, 1, target), SBS_ERROR_NULL, "pose");
  CHECK_REFUSED(DRAG(&options, &pose, 1, NULL), SBS_ERROR_NULL, "target");
  CHECK_REFUSED(DRAG(&options, &pose, VERTICES, target), SBS_ERROR_VERTEX_INDEX, "vertex");
  CHECK_REFUSED(DRAG(&options, &pose, 1, nowhere), SBS_ERROR_NOT_FINITE, "target");
  CHECK_REFUSED(DRAG(&options, &pose, 1, beyond), SBS_ERROR_TOO_LARGE, "target");
  CHECK_REFUSED(DRAG(&options, &far, 1, target), SBS_ERROR_TOO_LARGE, "skinning_matrices");
#define REFUSED(change, name) \
  options = options_of(1.0), deform = sbs_default_deform_options(), options.deform = &deform, change; \
  CHECK_REFUSED(DRAG(&options, &pose, 1, target), SBS_ERROR_OPTION, name)
  REFUSED(options.threads = -1, "threads");
  REFUSED(options.mirror_axis = 3, "mirror_axis");
  REFUSED(deform.method = SBS_METHOD_RIGID, "method");
  REFUSED(deform.rotation = SBS_ROTATION_AVERAGE, "rotation");
  REFUSED(deform.rcond = 1e-3, "rcond");
  REFUSED(deform.center = SBS_CENTER_OPTIMIZED, "centers");
  REFUSED(deform.amount = amounts, "amount");
#undef REFUSED
#undef DRAG
  sbs_brush_free(brush);
}

int main(void) {
  RUN(test_known_answer);
  RUN(test_every_allocation_fails_in_turn);
  RUN(test_errors);
  return harness_result();
}
