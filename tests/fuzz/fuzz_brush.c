/* SPDX-License-Identifier: MIT */
/*
 * A brush: strokes that change what they say they change, that fail without a trace, and that are undone to the last
 * bit.
 */
#include <math.h>
#include <sbs/brush.h>
#include <string.h>

#include "things.h"

#define NEW_ERRORS (FUZZ_MESH_ERRORS | FUZZ_ERROR(JOINT_INDEX))
#define STROKE_ERRORS \
  (FUZZ_ERROR(OPTION) | FUZZ_ERROR(NOT_FINITE) | FUZZ_ERROR(JOINT_INDEX) | FUZZ_ERROR(OUT_OF_MEMORY))
#define RESTORE_ERRORS (FUZZ_ERROR(JOINT_INDEX) | FUZZ_ERROR(VERTEX_INDEX))

enum {
  STROKES = 8
};

typedef struct painting {
  size_t vertices, width, joints;
  sbs_brush *brush;
  int32_t *indices;
  double *weights;
} painting;

/* The influences as they are now. */
static painting look(fuzz_input *in, painting painted) {
  painted.indices = fuzz_room(in, painted.vertices * painted.width * sizeof *painted.indices);
  painted.weights = fuzz_room(in, painted.vertices * painted.width * sizeof *painted.weights);
  FUZZ_CHECK(sbs_brush_get_influences(painted.brush, painted.indices, painted.weights) == SBS_OK);
  return painted;
}

static int are_same(const painting *a, const painting *b) {
  const size_t count = a->vertices * a->width;
  return !memcmp(a->indices, b->indices, count * sizeof *a->indices) &&
         !memcmp(a->weights, b->weights, count * sizeof *a->weights);
}

static sbs_brush_options make_options(fuzz_input *in, size_t joints) {
  sbs_brush_options options = sbs_default_brush_options();
  options.mode = (sbs_brush_mode)(fuzz_rarely(in) ? fuzz_byte(in) : fuzz_byte(in) % 5);
  options.joint = fuzz_rarely(in) ? (int32_t)fuzz_word(in) : (int32_t)fuzz_below(in, joints);
  if (options.mode == SBS_BRUSH_SMOOTH && fuzz_byte(in) & 1) options.joint = -1;
  options.radius = fuzz_rarely(in) ? fuzz_number(in) : (1 + fuzz_byte(in)) / 64.0;
  options.strength = fuzz_fraction(in);
  if (fuzz_byte(in) & 1) options.value = fuzz_fraction(in);
  options.falloff = (sbs_brush_falloff)(fuzz_rarely(in) ? fuzz_byte(in) : fuzz_byte(in) % 5);
  options.distance = (sbs_brush_distance)(fuzz_rarely(in) ? fuzz_byte(in) : fuzz_byte(in) % 2);
  options.locked = fuzz_flags_or_null(in, joints);
  options.normalize = !fuzz_rarely(in);
  options.mirror_axis = fuzz_rarely(in) ? (int)fuzz_byte(in) - 128 : (int)(fuzz_byte(in) % 4) - 1;
  if (options.mirror_axis >= 0 && fuzz_byte(in) & 1) options.mirror_position = fuzz_number(in);
  if (options.mirror_axis >= 0 && fuzz_byte(in) & 1) options.mirror_joints = fuzz_indices(in, joints, 0, joints);
  return options;
}

static void stroke(fuzz_input *in, const painting *painted) {
  const painting before = look(in, *painted);
  const sbs_brush_options options = make_options(in, painted->joints);
  const size_t dabs = fuzz_below(in, 4), L = painted->width;
  const double *centers = fuzz_reals(in, 3 * dabs, SBS_FLOAT64, -2.0, 2.0);
  sbs_brush_change change = {0};
  sbs_fault fault = {0};
  const sbs_status status = sbs_brush_stroke(painted->brush, &options, centers, dabs, &change, &fault);
  fuzz_check_status(status, STROKE_ERRORS, &fault);
  const painting after = look(in, *painted);
  if (status != SBS_OK) {
    FUZZ_CHECK(are_same(&before, &after));
    return;
  }
  painting expected = look(in, *painted);
  fuzz_check_pairs(after.indices, after.weights, SBS_FLOAT64, after.vertices, L, after.joints, 0);
  for (size_t i = 0; i < change.vertex_count; i++) {
    const size_t v = (size_t)change.vertices[i];
    FUZZ_CHECK(v < painted->vertices);
    FUZZ_CHECK(!memcmp(change.new_joint_indices + i * L, after.indices + v * L, L * sizeof(int32_t)));
    FUZZ_CHECK(!memcmp(change.new_joint_weights + i * L, after.weights + v * L, L * sizeof(double)));
    memcpy(expected.indices + v * L, change.old_joint_indices + i * L, L * sizeof(int32_t));
    memcpy(expected.weights + v * L, change.old_joint_weights + i * L, L * sizeof(double));
  }
  FUZZ_CHECK(are_same(&before, &expected));

  /* Half of all strokes are undone; of arrays that belong to the brush. */
  if (fuzz_byte(in) & 1) return;
  FUZZ_CHECK(sbs_brush_restore(painted->brush, change.vertices, change.old_joint_indices, change.old_joint_weights,
                               change.vertex_count, NULL) == SBS_OK);
  const painting undone = look(in, *painted);
  FUZZ_CHECK(are_same(&before, &undone));
}

static void restore(fuzz_input *in, const painting *painted) {
  const painting before = look(in, *painted);
  const size_t count = fuzz_below(in, painted->vertices + 1), L = painted->width;
  const int32_t *vertices = fuzz_indices(in, count, 0, painted->vertices);
  const int32_t *indices = fuzz_indices(in, count * L, 0, painted->joints);
  const double *weights = fuzz_reals(in, count * L, SBS_FLOAT64, 0.0, 1.0);
  sbs_fault fault = {0};
  const sbs_status status = sbs_brush_restore(painted->brush, vertices, indices, weights, count, &fault);
  fuzz_check_status(status, RESTORE_ERRORS, &fault);
  if (status == SBS_OK) return;
  const painting after = look(in, *painted);
  FUZZ_CHECK(are_same(&before, &after));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  painting painted = {.vertices = fuzz_count(&in, 60)};
  const sbs_influences_table table = fuzz_table(&in, painted.vertices);
  const sbs_mesh_desc mesh = fuzz_mesh(&in, fuzz_rarely(&in) ? fuzz_count(&in, 60) : painted.vertices);
  painted.joints = table.joint_count;
  painted.width = table.influences_per_vertex + fuzz_below(&in, 3) - (size_t)fuzz_rarely(&in);
  const sbs_allocator allocator = fuzz_allocator(&in);
  sbs_fault fault = {0};
  const sbs_status status = sbs_brush_new(&table, &mesh, painted.width, &allocator, &painted.brush, &fault);
  fuzz_check_status(status, NEW_ERRORS, &fault);
  FUZZ_CHECK((status == SBS_OK) == (painted.brush != NULL));
  if (painted.brush) {
    const painting made = look(&in, painted);
    fuzz_check_pairs(made.indices, made.weights, SBS_FLOAT64, made.vertices, made.width, made.joints, 0);
    if (fuzz_rarely(&in)) in.fail_at = in.allocated + fuzz_below(&in, 32);
    for (int i = 0; i < STROKES && in.left; i++) {
      if (fuzz_rarely(&in)) {
        restore(&in, &painted);
      } else {
        stroke(&in, &painted);
      }
    }
  }
  sbs_brush_free(painted.brush);
  fuzz_close(&in);
  return 0;
}
