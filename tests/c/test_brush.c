/* SPDX-License-Identifier: MIT */
/* The brush: arguments that Python cannot pass, and memory that is short. */
#include <sbs/brush.h>

#include "base/memory.h"
#include "counting_allocator.h"
#include "rig.h"

/* A row of squares along x, each vertex of joint 0. */
enum {
  COLUMNS = 40,
  VERTICES = 2 * COLUMNS,
  TRIANGLES = 2 * (COLUMNS - 1),
  JOINTS = 3,
  LIMIT = 3
};

typedef struct strip {
  double positions[VERTICES][3];
  int32_t triangles[TRIANGLES][3];
  int32_t indices[VERTICES];
  double weights[VERTICES];
  sbs_mesh_desc mesh;
  sbs_influences_table table;
} strip;

static void make_strip(strip *made) {
  memset(made, 0, sizeof *made);
  for (int32_t v = 0; v < VERTICES; v++) {
    made->positions[v][0] = v / 2;
    made->positions[v][1] = v % 2;
    made->weights[v] = 1.0;
  }
  for (int32_t t = 0; t < TRIANGLES; t++) {
    for (int32_t corner = 0; corner < 3; corner++) made->triangles[t][corner] = t + corner;
  }
  made->mesh = sbs_default_mesh_desc();
  made->mesh.vertex_count = VERTICES;
  made->mesh.scalar = SBS_FLOAT64;
  made->mesh.positions = made->positions;
  made->mesh.triangle_count = TRIANGLES;
  made->mesh.triangles = made->triangles[0];
  made->table = (sbs_influences_table){.vertex_count = VERTICES,
                                       .joint_count = JOINTS,
                                       .influences_per_vertex = 1,
                                       .joint_indices = made->indices,
                                       .scalar = SBS_FLOAT64,
                                       .joint_weights = made->weights};
}

typedef struct influences {
  int32_t joints[VERTICES][LIMIT];
  double weights[VERTICES][LIMIT];
} influences;

static influences get(const sbs_brush *brush) {
  influences found;
  memset(&found, 0, sizeof found);
  CHECK_EQUAL(sbs_brush_get_influences(brush, found.joints[0], found.weights[0]), SBS_OK);
  return found;
}

static sbs_brush_options painting(int32_t joint) {
  sbs_brush_options options = sbs_default_brush_options();
  options.joint = joint;
  options.radius = 3.0;
  options.strength = 0.5;
  return options;
}

static void test_new_refuses(void) {
  strip made;
  make_strip(&made);
  sbs_brush *brush = NULL;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_brush_new(NULL, &made.mesh, LIMIT, NULL, &brush, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_brush_new(&made.table, NULL, LIMIT, NULL, &brush, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_brush_new(&made.table, &made.mesh, LIMIT, NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_REFUSED(sbs_brush_new(&made.table, &made.mesh, 0, NULL, &brush, &fault), SBS_ERROR_OPTION, "limit");
  CHECK_EQUAL(sbs_brush_new(&made.table, &made.mesh, SIZE_MAX, NULL, &brush, &fault), SBS_ERROR_OPTION);
  made.mesh.vertex_count--;
  CHECK_EQUAL(sbs_brush_new(&made.table, &made.mesh, LIMIT, NULL, &brush, &fault), SBS_ERROR_OPTION);
  made.mesh.vertex_count++;
  CHECK(brush == NULL);
  sbs_brush_free(NULL);
}

static void test_stroke_refuses(void) {
  strip made;
  make_strip(&made);
  sbs_brush *brush = NULL;
  if (!CHECK_EQUAL(sbs_brush_new(&made.table, &made.mesh, LIMIT, NULL, &brush, NULL), SBS_OK)) return;
  const influences before = get(brush);
  const sbs_brush_options good = painting(1);
  const double center[3] = {5, 0, 0}, nowhere[3] = {5, NAN, 0};
  sbs_brush_options options;
  sbs_fault fault = {0};
#define REFUSED(field, value, name) \
  options = good, options.field = value; \
  CHECK_REFUSED(sbs_brush_stroke(brush, &options, center, 1, NULL, &fault), SBS_ERROR_OPTION, name)
  REFUSED(mode, (sbs_brush_mode)5, "mode");
  REFUSED(mode, (sbs_brush_mode)-1, "mode");
  REFUSED(falloff, (sbs_brush_falloff)5, "falloff");
  REFUSED(distance, (sbs_brush_distance)2, "distance");
  REFUSED(mirror_axis, 3, "mirror_axis");
#undef REFUSED
  CHECK_EQUAL(sbs_brush_stroke(brush, &good, nowhere, 1, NULL, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_EQUAL(sbs_brush_stroke(brush, &good, NULL, 1, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_brush_stroke(NULL, &good, center, 1, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_brush_stroke(brush, NULL, center, 1, NULL, &fault), SBS_ERROR_OPTION);
  const influences after = get(brush);
  CHECK(memcmp(&before, &after, sizeof before) == 0);
  sbs_brush_free(brush);
}

/* Rows that no stroke has: refused, or put in order so that nothing goes beyond its array later. */
static void test_restore_is_careful(void) {
  strip made;
  make_strip(&made);
  sbs_brush *brush = NULL;
  if (!CHECK_EQUAL(sbs_brush_new(&made.table, &made.mesh, LIMIT, NULL, &brush, NULL), SBS_OK)) return;
  const int32_t vertices[2] = {0, VERTICES}, joints[2][LIMIT] = {{1, 1, 1}, {JOINTS, 0, 0}};
  const double weights[2][LIMIT] = {{0.25, 0.5, 0.25}, {1.0, NAN, -1.0}};
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_brush_restore(NULL, vertices, joints[0], weights[0], 1, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_brush_restore(brush, NULL, joints[0], weights[0], 1, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_brush_restore(brush, vertices, NULL, weights[0], 1, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_brush_restore(brush, vertices, joints[0], NULL, 1, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_brush_restore(brush, vertices, joints[0], weights[0], 2, &fault), SBS_ERROR_JOINT_INDEX);
  CHECK_EQUAL(sbs_brush_restore(brush, vertices + 1, joints[0], weights[0], 1, &fault), SBS_ERROR_VERTEX_INDEX);
  for (int row = 1; row >= 0; row--) {
    CHECK_EQUAL(sbs_brush_restore(brush, vertices, joints[0], weights[row], 1, &fault), SBS_OK);
    const influences found = get(brush);
    CHECK(found.joints[0][0] == 1 && found.weights[0][0] == 1.0 && found.weights[0][1] == 0.0);
  }
  sbs_brush_options options = painting(-1);
  options.mode = SBS_BRUSH_SMOOTH;
  const double center[3] = {0, 0, 0};
  CHECK_EQUAL(sbs_brush_stroke(brush, &options, center, 1, NULL, NULL), SBS_OK);
  sbs_brush_free(brush);
}

/* ----------------------------------------------------------------------------------------------------------- memory */

/* Strokes need more and more memory; each fails once before it is made. */
static void test_a_stroke_that_fails_has_done_nothing(void) {
  strip made;
  make_strip(&made);
  allocation_counter counter = {.fail_at = SIZE_MAX};
  const sbs_allocator allocator = counting_allocator(&counter);
  sbs_brush *brush = NULL;
  if (!CHECK_EQUAL(sbs_brush_new(&made.table, &made.mesh, LIMIT, &allocator, &brush, NULL), SBS_OK)) return;
  double centers[COLUMNS][3];
  for (int i = 0; i < COLUMNS; i++) memcpy(centers[i], (double[3]){i, 0.5, 0.0}, sizeof centers[i]);
  size_t failures = 0;
  for (size_t count = 1; count <= COLUMNS; count++) {
    const sbs_brush_options options = painting((int32_t)(1 + count % 2));
    const influences before = get(brush);
    sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
    for (size_t more = 0; status; more++) {
      counter.fail_at = counter.allocated + more;
      sbs_fault fault = {0};
      status = sbs_brush_stroke(brush, &options, centers[0], count, NULL, &fault);
      if (!status) break;
      CHECK_EQUAL(status, SBS_ERROR_OUT_OF_MEMORY);
      const influences after = get(brush);
      CHECK(memcmp(&before, &after, sizeof before) == 0);
      failures++;
    }
    counter.fail_at = SIZE_MAX;
  }
  CHECK(failures > 10);
  sbs_brush_free(brush);
  CHECK_EQUAL(counter.released, counter.allocated);
}

int main(void) {
  RUN(test_new_refuses);
  RUN(test_stroke_refuses);
  RUN(test_restore_is_careful);
  RUN(test_a_stroke_that_fails_has_done_nothing);
  return harness_result();
}
