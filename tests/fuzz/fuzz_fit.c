/* SPDX-License-Identifier: MIT */
/*
 * Fits to examples of any size: weights of sum 1 and finite errors, or nothing written; by one thread as by two.
 */
#include <math.h>
#include <sbs/fit.h>
#include <string.h>

#include "things.h"

#define FIT_ERRORS \
  (FUZZ_POSE_ERRORS | FUZZ_ERROR(EMPTY) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(JOINT_INDEX) | FUZZ_ERROR(NEGATIVE))

enum {
  MOST_VERTICES = 6,
  MOST_JOINTS = 7,
  MOST_FRAMES = 4
};

static size_t few(fuzz_input *in, size_t most) {
  return fuzz_rarely(in) ? 0 : 1 + fuzz_byte(in) % most;
}

static const double *reals(fuzz_input *in, size_t count, double low, double high) {
  const double size = fuzz_size(in);
  return fuzz_reals(in, count, SBS_FLOAT64, low * size, high * size);
}

static sbs_fit_desc describe(fuzz_input *in) {
  sbs_fit_desc desc = sbs_default_fit_desc();
  const size_t vertices = desc.vertex_count = few(in, MOST_VERTICES), joints = desc.joint_count = few(in, MOST_JOINTS);
  desc.frame_count = few(in, MOST_FRAMES);
  desc.rest_positions = reals(in, 3 * vertices, -1.0, 1.0);
  desc.posed = reals(in, 3 * vertices * desc.frame_count, -1.0, 1.0);
  desc.poses = fuzz_extreme_pose(in, joints, desc.frame_count);
  if (fuzz_byte(in) & 1) desc.centers = reals(in, 3 * vertices, -1.0, 1.0);
  desc.allowed = fuzz_flags_or_null(in, vertices * joints);
  const unsigned more = fuzz_byte(in);
  if (more & 1) desc.toward = reals(in, vertices * joints, 0.0, 1.0);
  if (more & 2) desc.twist = fuzz_twist_of_a_bone(in, joints, fuzz_size(in));
  if (desc.twist && more & 4) desc.poses.twist_angles = fuzz_reals(in, 2 * desc.frame_count, SBS_FLOAT64, -4.0, 4.0);
  return desc;
}

static double positive(fuzz_input *in) {
  const double size = fuzz_size(in);
  return fuzz_rarely(in) ? fuzz_number(in) : size * (1.0 + fuzz_byte(in)) / 256.0;
}

static void fit_weights(fuzz_input *in, sbs_fit_desc *desc, sbs_fit_options *options) {
  options->method = (sbs_method)(fuzz_rarely(in) ? fuzz_byte(in) : 1 + fuzz_byte(in) % 3);
  options->center = (sbs_center)(fuzz_rarely(in) ? fuzz_byte(in) : fuzz_byte(in) % 3);
  options->influences = few(in, 8);
  options->iterations = fuzz_byte(in) % 16;
  if (fuzz_byte(in) & 1) options->damping = positive(in);
  if (fuzz_byte(in) & 1) options->pull = positive(in);
  if (fuzz_byte(in) & 1) {
    const size_t width = desc->initial_influences = few(in, 4);
    desc->initial_indices = fuzz_indices(in, desc->vertex_count * width, 0, desc->joint_count ? desc->joint_count : 1);
    desc->initial_weights = reals(in, desc->vertex_count * width, 0.0, 1.0);
  }
  const size_t count = desc->vertex_count * options->influences;
  int32_t *joints[2];
  double *weights[2], *errors[2];
  for (int i = 0; i < 2; i++) {
    joints[i] = fuzz_room(in, count * sizeof *joints[i]);
    weights[i] = fuzz_room(in, count * sizeof *weights[i]);
    errors[i] = fuzz_room(in, desc->vertex_count * sizeof *errors[i]);
  }
  sbs_fault fault = {0};
  fuzz_fail_soon(in);
  const sbs_status status = sbs_fit_weights(desc, options, joints[0], weights[0], errors[0], &fault);
  fuzz_check_status(status, FIT_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(joints[0], count * sizeof *joints[0]));
    FUZZ_CHECK(fuzz_is_untouched(weights[0], count * sizeof *weights[0]));
    FUZZ_CHECK(fuzz_is_untouched(errors[0], desc->vertex_count * sizeof *errors[0]));
    return;
  }
  fuzz_check_pairs(joints[0], weights[0], SBS_FLOAT64, desc->vertex_count, options->influences, desc->joint_count, 1);
  for (size_t v = 0; v < desc->vertex_count; v++) {
    FUZZ_CHECK(weights[0][v * options->influences] > 0.0 && isfinite(errors[0][v]));
  }
  in->fail_at = SIZE_MAX;
  options->threads = 1 + options->threads % 2;
  FUZZ_CHECK(sbs_fit_weights(desc, options, joints[1], weights[1], errors[1], NULL) == SBS_OK);
  FUZZ_CHECK(!memcmp(joints[0], joints[1], count * sizeof *joints[0]));
  FUZZ_CHECK(!memcmp(weights[0], weights[1], count * sizeof *weights[0]));
  FUZZ_CHECK(!memcmp(errors[0], errors[1], desc->vertex_count * sizeof *errors[0]));
}

/* Checks numbers that were fitted, and errors. */
static void check_fitted(sbs_status status, const double *numbers, size_t count, const double *errors, size_t rows) {
  if (status == SBS_OK) {
    FUZZ_CHECK(fuzz_count_not_finite(numbers, count, SBS_FLOAT64) == 0);
    FUZZ_CHECK(fuzz_count_not_finite(errors, rows, SBS_FLOAT64) == 0);
  } else {
    FUZZ_CHECK(fuzz_is_untouched(numbers, count * sizeof *numbers));
    FUZZ_CHECK(fuzz_is_untouched(errors, rows * sizeof *errors));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const unsigned what = fuzz_byte(&in) % 4;
  sbs_fit_desc desc = describe(&in);
  sbs_fit_options options = sbs_default_fit_options();
  options.allocator = fuzz_allocator(&in);
  options.threads = fuzz_threads(&in);
  if (what < 2) {
    fit_weights(&in, &desc, &options);
    sbs_twist_free((sbs_twist *)(uintptr_t)desc.twist);
    fuzz_close(&in);
    return 0;
  }
  const size_t width = few(&in, 5), rows = what == 2 ? desc.vertex_count : desc.frame_count;
  const int32_t *indices = fuzz_indices(&in, desc.vertex_count * width, 0, desc.joint_count ? desc.joint_count : 1);
  const double *weights = reals(&in, desc.vertex_count * width, 0.0, 1.0);
  const size_t count = what == 2 ? 3 * desc.vertex_count : 12 * desc.joint_count * desc.frame_count;
  double *fitted = fuzz_room(&in, count * sizeof *fitted), *errors = fuzz_room(&in, rows * sizeof *errors);
  sbs_fault fault = {0};
  sbs_status status;
  if (what == 2) {
    fuzz_fail_soon(&in);
    status = sbs_fit_centers(&desc, width, indices, weights, &options, fitted, errors, &fault);
  } else {
    const unsigned char *fixed = fuzz_flags_or_null(&in, desc.joint_count);
    const sbs_fit_matrices_options of_matrices = {fuzz_byte(&in) % 12, options.threads, options.allocator};
    fuzz_fail_soon(&in);
    status = sbs_fit_matrices(&desc, width, indices, weights, fixed, &of_matrices, fitted, errors, &fault);
  }
  fuzz_check_status(status, FIT_ERRORS, &fault);
  check_fitted(status, fitted, count, errors, rows);
  sbs_twist_free((sbs_twist *)(uintptr_t)desc.twist);
  fuzz_close(&in);
  return 0;
}
