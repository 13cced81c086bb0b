/* SPDX-License-Identifier: MIT */
/* Cleaning and smoothing influences: pairs in order come out, in place too, and cleaning twice is cleaning once. */
#include <math.h>
#include <string.h>

#include "things.h"

#define CLEAN_ERRORS \
  (FUZZ_ERROR(EMPTY) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(OPTION) | FUZZ_ERROR(JOINT_INDEX) | FUZZ_ERROR(OUT_OF_MEMORY))
#define SMOOTH_ERRORS (CLEAN_ERRORS | FUZZ_ERROR(STRIDE) | FUZZ_ERROR(NOT_FINITE) | FUZZ_ERROR(VERTEX_INDEX))

static size_t size_of(sbs_scalar scalar) {
  return scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double);
}

static void clean(fuzz_input *in, const sbs_influences_table *table) {
  const size_t width = table->influences_per_vertex, count = table->vertex_count * width;
  sbs_influences_clean_options options = sbs_default_influences_clean_options();
  options.normalize = !fuzz_rarely(in);
  options.limit = fuzz_below(in, width + 2);
  if (fuzz_byte(in) & 1) options.threshold = fuzz_fraction(in);
  options.locked = fuzz_flags_or_null(in, table->joint_count);
  options.allocator = fuzz_allocator(in);
  int32_t *joints = fuzz_room(in, count * sizeof *joints), *again = fuzz_room(in, count * sizeof *again);
  void *weights = fuzz_room(in, count * size_of(table->scalar));
  void *weights_again = fuzz_room(in, count * size_of(table->scalar));
  sbs_influences_clean_report report = {0}, report_again = {0};
  sbs_fault fault = {0};
  sbs_status status = sbs_influences_clean(table, &options, joints, weights, &report, &fault);
  fuzz_check_status(status, CLEAN_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(joints, count * sizeof *joints));
    FUZZ_CHECK(fuzz_is_untouched(weights, count * size_of(table->scalar)));
    return;
  }
  fuzz_check_pairs(joints, weights, table->scalar, table->vertex_count, width, table->joint_count, 0);

  in->fail_at = SIZE_MAX;
  memcpy(again, joints, count * sizeof *joints);
  memcpy(weights_again, weights, count * size_of(table->scalar));
  sbs_influences_table in_place = *table;
  in_place.joint_indices = again;
  in_place.joint_weights = weights_again;
  status = sbs_influences_clean(&in_place, &options, again, weights_again, &report_again, NULL);
  FUZZ_CHECK(status == SBS_OK && report_again.changed == 0);
  FUZZ_CHECK(!memcmp(again, joints, count * sizeof *joints));
  FUZZ_CHECK(!memcmp(weights_again, weights, count * size_of(table->scalar)));
}

static void smooth(fuzz_input *in, const sbs_influences_table *table) {
  const size_t vertices = table->vertex_count;
  const sbs_mesh_desc mesh = fuzz_mesh(in, fuzz_rarely(in) ? fuzz_count(in, 60) : vertices);
  sbs_influences_smooth_options options = sbs_default_influences_smooth_options();
  options.iterations = fuzz_below(in, 5);
  options.strength = fuzz_fraction(in);
  if (fuzz_byte(in) & 1) options.mask = fuzz_reals(in, vertices, SBS_FLOAT64, 0.0, 1.0);
  options.locked = fuzz_flags_or_null(in, table->joint_count);
  options.normalize = !fuzz_rarely(in);
  options.allocator = fuzz_allocator(in);
  const size_t limit = fuzz_below(in, 8), count = vertices * limit;
  int32_t *joints = fuzz_room(in, count * sizeof *joints);
  void *weights = fuzz_room(in, count * size_of(table->scalar));
  sbs_fault fault = {0};
  const sbs_status status = sbs_influences_smooth(table, &mesh, &options, limit, joints, weights, &fault);
  fuzz_check_status(status, SMOOTH_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(joints, count * sizeof *joints));
    FUZZ_CHECK(fuzz_is_untouched(weights, count * size_of(table->scalar)));
    return;
  }
  fuzz_check_pairs(joints, weights, table->scalar, vertices, limit, table->joint_count, 0);
}

/* Whatever the numbers are, what a skin makes of them is in order. */
static void tidy(fuzz_input *in, const sbs_influences_table *table) {
  const size_t width = table->influences_per_vertex, count = table->vertex_count * width;
  int32_t *joints = fuzz_room(in, count * sizeof *joints);
  double *weights = fuzz_room(in, count * sizeof *weights);
  size_t most = 0;
  sbs_fault fault = {0};
  const sbs_status status = sbs_influences_tidy(table, joints, weights, &most, &fault);
  fuzz_check_status(status, CLEAN_ERRORS, &fault);
  if (status != SBS_OK) return;
  FUZZ_CHECK(most <= width);
  fuzz_check_pairs(joints, weights, SBS_FLOAT64, table->vertex_count, width, table->joint_count, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const unsigned what = fuzz_byte(&in) & 1;
  const sbs_influences_table table = fuzz_table(&in, fuzz_count(&in, 60));
  tidy(&in, &table);
  if (what) {
    smooth(&in, &table);
  } else {
    clean(&in, &table);
  }
  fuzz_close(&in);
  return 0;
}
