/* SPDX-License-Identifier: MIT */
/* Muscles of any shape in any pose: states, surfaces and skin stay finite, and nothing is written where they fail. */
#include <math.h>
#include <sbs/muscles.h>
#include <string.h>

#include "things.h"

#define NEW_ERRORS (FUZZ_MESH_ERRORS | FUZZ_ERROR(JOINT_INDEX) | FUZZ_ERROR(RADIUS) | FUZZ_ERROR(NULL))
#define MUSCLES_ERRORS (FUZZ_POSE_ERRORS | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(NEGATIVE))

enum {
  MOST_MUSCLES = 3
};

static sbs_muscle make_muscle(fuzz_input *in, size_t joints) {
  sbs_muscle muscle = sbs_default_muscle();
  const double size = fuzz_size(in);
  muscle.point_count = fuzz_rarely(in) ? fuzz_byte(in) : 2 + fuzz_byte(in) % 3;
  const int32_t *indices = fuzz_indices(in, SBS_MUSCLE_POINTS, 0, joints);
  const double *points = fuzz_reals(in, 3 * SBS_MUSCLE_POINTS, SBS_FLOAT64, -2.0 * size, 2.0 * size);
  memcpy(muscle.joints, indices, sizeof muscle.joints);
  memcpy(muscle.points, points, sizeof muscle.points);
  muscle.radius = fuzz_rarely(in) ? fuzz_number(in) : (1 + fuzz_byte(in)) / 512.0 * size;
  muscle.reach = fuzz_rarely(in) ? fuzz_number(in) : (1 + fuzz_byte(in)) / 64.0 * size;
  const unsigned kind = fuzz_byte(in);
  if (kind & 1) {
    muscle.profile_count = fuzz_below(in, 9);
    muscle.profile = fuzz_reals(in, muscle.profile_count, SBS_FLOAT64, 0.0, 1.0);
  }
  for (int i = 0; i < 2 && kind & 2; i++) muscle.tendons[i] = fuzz_fraction(in);
  if (kind & 4) {
    muscle.flattening = fuzz_rarely(in) ? fuzz_size(in) : 1.0 + fuzz_byte(in) / 64.0;
    for (int i = 0; i < 3; i++) muscle.thin_direction[i] = fuzz_number(in);
    muscle.thin_joint = (int32_t)fuzz_below(in, joints + (size_t)fuzz_rarely(in));
  }
  if (kind & 8) muscle.contraction = fuzz_fraction(in);
  if (kind & 16) muscle.most_growth = fuzz_rarely(in) ? fuzz_size(in) : 1.0 + fuzz_byte(in) / 32.0;
  if (kind & 32) {
    muscle.covered_count = fuzz_below(in, 4);
    muscle.covered = fuzz_indices(in, muscle.covered_count, 0, joints);
  }
  return muscle;
}

static sbs_muscles *make(fuzz_input *in, sbs_muscles_desc *desc) {
  static sbs_muscle muscles[MOST_MUSCLES];
  *desc = sbs_default_muscles_desc();
  const size_t joints = desc->joint_count = 1 + fuzz_byte(in) % 5;
  desc->muscle_count = fuzz_rarely(in) ? 0 : 1 + fuzz_byte(in) % MOST_MUSCLES;
  desc->muscles = muscles;
  for (size_t m = 0; m < desc->muscle_count; m++) muscles[m] = make_muscle(in, joints);
  desc->vertex_count = fuzz_count(in, 60);
  desc->scalar = fuzz_scalar(in);
  const double size = desc->scalar == SBS_FLOAT64 ? fuzz_size(in) : 1.0;
  desc->rest_positions = fuzz_reals(in, 3 * desc->vertex_count, desc->scalar, -2.0 * size, 2.0 * size);
  if (fuzz_byte(in) & 1) desc->rest_normals = fuzz_reals(in, 3 * desc->vertex_count, desc->scalar, -1.0, 1.0);
  if (desc->vertex_count) {
    desc->triangle_count = fuzz_below(in, 40);
    desc->triangles = fuzz_indices(in, 3 * desc->triangle_count, 0, desc->vertex_count);
  }
  if (fuzz_byte(in) & 1) {
    const size_t width = desc->influences_per_vertex = fuzz_byte(in) % 4;
    desc->joint_indices = fuzz_indices(in, desc->vertex_count * width, 0, joints);
    desc->weight_scalar = fuzz_scalar(in);
    desc->joint_weights = fuzz_reals(in, desc->vertex_count * width, desc->weight_scalar, 0.0, 1.0);
  }
  fuzz_choose_instruction_set(in);
  const sbs_allocator allocator = fuzz_allocator(in);
  sbs_muscles *made = NULL;
  sbs_fault fault = {0};
  fuzz_fail_soon(in);
  const sbs_status status = sbs_muscles_new(desc, &allocator, &made, &fault);
  fuzz_check_status(status, NEW_ERRORS, &fault);
  FUZZ_CHECK((status == SBS_OK) == (made != NULL));
  in->fail_at = SIZE_MAX;
  return made;
}

static void cover(fuzz_input *in, const sbs_muscles *muscles, const sbs_muscles_desc *desc, const sbs_pose *pose,
                  const double *activations) {
  const sbs_scalar scalar = fuzz_scalar(in);
  const double size = scalar == SBS_FLOAT64 ? fuzz_size(in) : 1.0;
  const size_t count = 3 * desc->vertex_count, bytes = count * (scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double));
  const int has_normals = fuzz_byte(in) & 1;
  void *positions[3] = {fuzz_reals(in, count, scalar, -2.0 * size, 2.0 * size), fuzz_room(in, bytes),
                        fuzz_room(in, bytes)};
  void *normals[3] = {fuzz_reals(in, count, scalar, -1.0, 1.0), fuzz_room(in, bytes), fuzz_room(in, bytes)};
  for (int i = 1; i < 3; i++) {
    memcpy(positions[i], positions[0], bytes);
    memcpy(normals[i], normals[0], bytes);
  }
  const int threads = fuzz_threads(in);
  sbs_fault fault = {0};
  fuzz_fail_soon(in);
  const sbs_status status = sbs_muscles_cover(muscles, pose, activations, scalar, positions[1], 0,
                                              has_normals ? normals[1] : NULL, 0, threads, &fault);
  fuzz_check_status(status, MUSCLES_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(!memcmp(positions[0], positions[1], bytes) && !memcmp(normals[0], normals[1], bytes));
    return;
  }
  in->fail_at = SIZE_MAX;
  FUZZ_CHECK(fuzz_count_not_finite(positions[0], count, scalar) == fuzz_count_not_finite(positions[1], count, scalar));
  FUZZ_CHECK(fuzz_count_not_finite(normals[0], count, scalar) == fuzz_count_not_finite(normals[1], count, scalar));
  FUZZ_CHECK(sbs_muscles_cover(muscles, pose, activations, scalar, positions[2], 0, has_normals ? normals[2] : NULL, 0,
                               1 + threads % 2, NULL) == SBS_OK);
  FUZZ_CHECK(!memcmp(positions[1], positions[2], bytes) && !memcmp(normals[1], normals[2], bytes));
}

static void measure(fuzz_input *in, const sbs_muscles *muscles, const sbs_pose *pose, const double *activations) {
  const size_t count = sbs_muscles_count(muscles), size = count * sizeof(sbs_muscle_state);
  sbs_muscle_state *states = fuzz_room(in, size);
  sbs_fault fault = {0};
  sbs_status status = sbs_muscles_measure(muscles, pose, activations, states, &fault);
  fuzz_check_status(status, MUSCLES_ERRORS, &fault);
  if (status != SBS_OK) FUZZ_CHECK(fuzz_is_untouched(states, size));
  for (size_t m = 0; m < count && !status; m++) {
    FUZZ_CHECK(isfinite(states[m].length) && isfinite(states[m].belly_length) && isfinite(states[m].growth));
    FUZZ_CHECK(isfinite(states[m].volume));
  }
  const size_t muscle = fuzz_below(in, count + (size_t)fuzz_rarely(in)), rings = fuzz_byte(in) % 8,
               sides = fuzz_byte(in) % 8;
  double *surface = fuzz_room(in, 3 * rings * sides * sizeof *surface);
  fault = (sbs_fault){0};
  status = sbs_muscles_surface(muscles, pose, activations, muscle, rings, sides, surface, &fault);
  fuzz_check_status(status, MUSCLES_ERRORS, &fault);
  if (status == SBS_OK) {
    FUZZ_CHECK(fuzz_count_not_finite(surface, 3 * rings * sides, SBS_FLOAT64) == 0);
  } else {
    FUZZ_CHECK(fuzz_is_untouched(surface, 3 * rings * sides * sizeof *surface));
  }
}

/* Muscles are covered by vertices of the mesh, with shares. */
static void list(fuzz_input *in, const sbs_muscles *muscles, size_t vertices) {
  const size_t count = sbs_muscles_count(muscles);
  size_t *covered = fuzz_room(in, count * sizeof *covered);
  FUZZ_CHECK(sbs_muscles_covered(muscles, covered) <= vertices);
  for (size_t m = 0; m < count; m++) {
    int32_t *of_muscle = fuzz_room(in, covered[m] * sizeof *of_muscle);
    double *shares = fuzz_room(in, covered[m] * sizeof *shares), *rest = fuzz_room(in, covered[m] * sizeof *rest);
    FUZZ_CHECK(sbs_muscles_cover_of(muscles, m, of_muscle, shares, rest, NULL) == SBS_OK);
    for (size_t i = 0; i < covered[m]; i++) {
      FUZZ_CHECK(of_muscle[i] >= 0 && (size_t)of_muscle[i] < vertices);
      FUZZ_CHECK(shares[i] > 0.0 && shares[i] <= 1.0 && isfinite(rest[i]));
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const unsigned what = fuzz_byte(&in) % 4;
  sbs_muscles_desc desc;
  sbs_muscles *muscles = make(&in, &desc);
  if (muscles) {
    const sbs_pose pose = fuzz_extreme_pose(&in, desc.joint_count, 1);
    const double *activations = fuzz_byte(&in) & 1 ? fuzz_reals(&in, desc.muscle_count, SBS_FLOAT64, 0.0, 1.0) : NULL;
    if (what)
      cover(&in, muscles, &desc, &pose, activations);
    else
      measure(&in, muscles, &pose, activations);
    list(&in, muscles, desc.vertex_count);
  }
  sbs_muscles_free(muscles);
  fuzz_close(&in);
  return 0;
}
