/* SPDX-License-Identifier: MIT */
/* Dragging, from C: a known answer, what it refuses, and that where memory is short nothing has happened. */
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

static void check_refused(const sbs_drag_options *options, const sbs_pose *posed, size_t vertex, const double *target,
                          sbs_status expected, const char *argument) {
  sbs_brush *brush = new_brush(NULL);
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_drag_vertex(brush, options, posed, vertex, target, NULL, &fault), expected);
  CHECK_STRING(fault.argument, argument);
  sbs_brush_free(brush);
}

static void test_errors(void) {
  static const double target[3] = {0.0, 1.0, 1.0}, nowhere[3] = {0.0, NAN, 0.0}, beyond[3] = {0.0, 0.0, -1e200};
  static const double large[JOINTS][12] = {{1e200}, {0}};
  const sbs_pose far = {.skinning_matrices = large, .scalar = SBS_FLOAT64, .rows = 3};
  static const float amounts[VERTICES] = {0.5f, 2.0f};
  const sbs_drag_options good = options_of(1.0);
  sbs_deform_options deform = sbs_default_deform_options();
  sbs_drag_options bad = good;
  check_refused(NULL, &pose, 1, target, SBS_ERROR_OPTION, "radius");
  check_refused(&good, NULL, 1, target, SBS_ERROR_NULL, "pose");
  check_refused(&good, &pose, 1, NULL, SBS_ERROR_NULL, "target");
  check_refused(&good, &pose, VERTICES, target, SBS_ERROR_VERTEX_INDEX, "vertex");
  check_refused(&good, &pose, 1, nowhere, SBS_ERROR_NOT_FINITE, "target");
  check_refused(&good, &pose, 1, beyond, SBS_ERROR_TOO_LARGE, "target");
  check_refused(&good, &far, 1, target, SBS_ERROR_TOO_LARGE, "skinning_matrices");
  bad.threads = -1;
  check_refused(&bad, &pose, 1, target, SBS_ERROR_OPTION, "threads");
  bad = good;
  bad.mirror_axis = 3;
  check_refused(&bad, &pose, 1, target, SBS_ERROR_OPTION, "mirror_axis");
  bad = good;
  bad.deform = &deform;
  deform.method = SBS_METHOD_RIGID;
  check_refused(&bad, &pose, 1, target, SBS_ERROR_OPTION, "method");
  deform = sbs_default_deform_options();
  deform.rotation = SBS_ROTATION_AVERAGE;
  check_refused(&bad, &pose, 1, target, SBS_ERROR_OPTION, "rotation");
  deform = sbs_default_deform_options();
  deform.rcond = 1e-3;
  check_refused(&bad, &pose, 1, target, SBS_ERROR_OPTION, "rcond");
  deform = sbs_default_deform_options();
  deform.center = SBS_CENTER_OPTIMIZED;
  check_refused(&bad, &pose, 1, target, SBS_ERROR_OPTION, "centers");
  deform = sbs_default_deform_options();
  deform.amount = amounts;
  check_refused(&bad, &pose, 1, target, SBS_ERROR_OPTION, "amount");
  CHECK_EQUAL(sbs_drag_vertex(NULL, &good, &pose, 1, target, NULL, NULL), SBS_ERROR_NULL);
}

int main(void) {
  RUN(test_known_answer);
  RUN(test_every_allocation_fails_in_turn);
  RUN(test_errors);
  return harness_result();
}
