/* SPDX-License-Identifier: MIT */
/* Weights by capsules: what the check refuses the others refuse too, and pairs and matrix say the same. */
#include <sbs/capsules.h>
#include <string.h>

#include "things.h"

#define CHECK_ERRORS \
  (FUZZ_ERROR(EMPTY) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(OPTION) | FUZZ_ERROR(NOT_FINITE) | FUZZ_ERROR(NEGATIVE) | \
   FUZZ_ERROR(RADIUS))
#define WEIGHTS_ERRORS (CHECK_ERRORS | FUZZ_ERROR(STRIDE) | FUZZ_ERROR(UNWEIGHTED) | FUZZ_ERROR(OUT_OF_MEMORY))

static sbs_capsules make_capsules(fuzz_input *in) {
  const size_t count = fuzz_count(in, 80);
  sbs_capsules made = {.capsule_count = count};
  made.heads = fuzz_reals(in, 3 * count, SBS_FLOAT64, -2.0, 2.0);
  made.tails = fuzz_rarely(in) ? made.heads : fuzz_reals(in, 3 * count, SBS_FLOAT64, -2.0, 2.0);
  made.inner_radii = fuzz_reals(in, 2 * count, SBS_FLOAT64, 0.0, fuzz_rarely(in) ? 1.0 : 0.25);
  made.outer_radii = fuzz_reals(in, 2 * count, SBS_FLOAT64, fuzz_rarely(in) ? 0.0 : 0.25, 1.0);
  if (fuzz_byte(in) & 1) made.multipliers = fuzz_reals(in, count, SBS_FLOAT64, 0.0, 2.0);
  made.enabled = fuzz_flags_or_null(in, count);
  if (fuzz_byte(in) & 1) made.falloffs = fuzz_indices(in, count, -1, 3);
  return made;
}

static double weight_at(const void *weights, sbs_scalar scalar, size_t i) {
  return scalar == SBS_FLOAT32 ? (double)((const float *)weights)[i] : ((const double *)weights)[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const sbs_capsules capsules = make_capsules(&in);
  sbs_capsules_points points = {.point_count = fuzz_count(&in, 200), .scalar = fuzz_scalar(&in)};
  const size_t count = points.point_count, joints = capsules.capsule_count;
  const size_t gap = fuzz_gap(&in, points.scalar), each = points.scalar == SBS_FLOAT32 ? 4 : 8;
  points.points = fuzz_rows(&in, count, 3, gap, points.scalar, -2.0, 2.0);
  points.points_stride = fuzz_rarely(&in) ? fuzz_below(&in, 3 * each) : gap ? 3 * each + gap : 0;
  if (gap && !points.points_stride) points.points_stride = 3 * each + gap;
  sbs_capsules_options options = sbs_default_capsules_options();
  options.falloff = (sbs_capsules_falloff)(fuzz_rarely(&in) ? fuzz_byte(&in) : fuzz_byte(&in) % 3);
  options.outside = (sbs_capsules_outside)(fuzz_rarely(&in) ? fuzz_byte(&in) : fuzz_byte(&in) % 3);
  options.threads = fuzz_threads(&in);
  options.allocator = fuzz_allocator(&in);
  const size_t width = fuzz_rarely(&in) ? 0 : 1 + fuzz_byte(&in) % 8;

  sbs_fault fault = {0};
  const sbs_status checked = sbs_capsules_check(&capsules, &fault);
  fuzz_check_status(checked, CHECK_ERRORS, &fault);
  int32_t *indices = fuzz_room(&in, count * width * sizeof *indices);
  void *weights = fuzz_room(&in, count * width * each), *dense = fuzz_room(&in, count * joints * each);
  sbs_capsules_report report = {0}, dense_report = {0};
  fault = (sbs_fault){0};
  const sbs_status status =
      sbs_capsules_weights(&capsules, &points, &options, width, indices, weights, &report, &fault);
  fuzz_check_status(status, WEIGHTS_ERRORS, &fault);
  if (checked != SBS_OK) FUZZ_CHECK(status == checked || status == SBS_ERROR_OPTION || status == SBS_ERROR_EMPTY);
  if (status == SBS_OK) {
    fuzz_check_pairs(indices, weights, points.scalar, count, width, joints, 1);
  } else if (status != SBS_ERROR_UNWEIGHTED) {
    FUZZ_CHECK(fuzz_is_untouched(indices, count * width * sizeof *indices));
    FUZZ_CHECK(fuzz_is_untouched(weights, count * width * each));
  }
  const sbs_status measured = sbs_capsules_weights(&capsules, &points, &options, 0, NULL, NULL, &dense_report, NULL);
  fuzz_check_status(measured, WEIGHTS_ERRORS, NULL);
  if (status == SBS_OK && measured == SBS_OK) FUZZ_CHECK(!memcmp(&report, &dense_report, sizeof report));

  fault = (sbs_fault){0};
  const sbs_status as_matrix =
      sbs_capsules_weights_dense(&capsules, &points, &options, width, dense, &dense_report, &fault);
  fuzz_check_status(as_matrix, WEIGHTS_ERRORS, &fault);
  if (as_matrix != SBS_OK && as_matrix != SBS_ERROR_UNWEIGHTED)
    FUZZ_CHECK(fuzz_is_untouched(dense, count * joints * each));
  if (status == SBS_OK && as_matrix == SBS_OK && width) {
    for (size_t i = 0; i < count * width; i++) {
      const double weight = weight_at(weights, points.scalar, i);
      const size_t at = i / width * joints + (size_t)indices[i];
      FUZZ_CHECK(weight == 0.0 || weight == weight_at(dense, points.scalar, at));
    }
  }
  fuzz_close(&in);
  return 0;
}
