/* SPDX-License-Identifier: MIT */
/* Flesh of any mesh and relaxations of any patch: results stay finite, and nothing is written where they fail. */
#include <math.h>
#include <sbs/flesh.h>
#include <sbs/relaxation.h>
#include <string.h>

#include "things.h"

#define NEW_ERRORS \
  (FUZZ_ERROR(EMPTY) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(OPTION) | FUZZ_ERROR(NOT_FINITE) | FUZZ_ERROR(JOINT_INDEX) | \
   FUZZ_ERROR(VERTEX_INDEX) | FUZZ_ERROR(PARENT) | FUZZ_ERROR(NO_CONVERGENCE) | FUZZ_ERROR(OUT_OF_MEMORY))
#define RELAX_ERRORS (FUZZ_POSE_ERRORS | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(NEGATIVE))
#define PATCH_ERRORS \
  (FUZZ_ERROR(EMPTY) | FUZZ_ERROR(NULL) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(OPTION) | FUZZ_ERROR(NOT_FINITE) | \
   FUZZ_ERROR(VERTEX_INDEX) | FUZZ_ERROR(OUT_OF_MEMORY))

static double factor(fuzz_input *in) {
  return fuzz_rarely(in) ? fuzz_number(in) : 4.0 * fuzz_fraction(in);
}

/* -------------------------------------------------------------------------------------------------------- flesh -- */

static sbs_flesh *make(fuzz_input *in, sbs_flesh_desc *desc) {
  *desc = sbs_default_flesh_desc();
  const sbs_mesh_desc mesh = fuzz_mesh(in, fuzz_count(in, 120));
  const size_t vertices = desc->vertex_count = mesh.vertex_count;
  const size_t joints = desc->joint_count = fuzz_rarely(in) ? 0 : 1 + fuzz_byte(in) % 5;
  desc->scalar = fuzz_scalar(in);
  const double size = desc->scalar == SBS_FLOAT32 ? 1.0 : fuzz_size(in);
  desc->rest_positions = fuzz_reals(in, 3 * vertices, desc->scalar, -2.0 * size, 2.0 * size);
  desc->triangle_count = mesh.triangle_count;
  desc->triangles = mesh.triangles;
  const size_t width = desc->influences_per_vertex = fuzz_byte(in) % 4 + !fuzz_rarely(in);
  desc->joint_indices = fuzz_indices(in, vertices * width, 0, joints ? joints : 1);
  desc->weight_scalar = fuzz_scalar(in);
  desc->joint_weights = fuzz_reals(in, vertices * width, desc->weight_scalar, 0.0, 1.0);
  int32_t *parents = fuzz_room(in, joints * sizeof *parents);
  for (size_t j = 0; j < joints; j++) parents[j] = (int32_t)fuzz_below(in, j + 1) - (fuzz_rarely(in) ? 2 : 1);
  desc->parents = parents;
  desc->bones = fuzz_reals(in, 6 * joints, SBS_FLOAT64, -2.0 * size, 2.0 * size);
  desc->hinges = fuzz_flags_or_null(in, joints);
  if (fuzz_byte(in) & 1) desc->amounts = fuzz_reals(in, vertices, SBS_FLOAT64, 0.0, 1.0);
  sbs_flesh_options options = sbs_default_flesh_options();
  double *const factors[] = {&options.bending, &options.hold,    &options.crease,
                             &options.margin,  &options.thinner, &options.thicker};
  for (size_t i = 0; i < sizeof factors / sizeof *factors && fuzz_rarely(in); i++) *factors[i] = factor(in);
  fuzz_choose_instruction_set(in);
  const sbs_allocator allocator = fuzz_allocator(in);
  sbs_flesh *made = NULL;
  sbs_fault fault = {0};
  fuzz_fail_soon(in);
  const sbs_status status = sbs_flesh_new(desc, &options, &allocator, &made, &fault);
  in->fail_at = SIZE_MAX;
  fuzz_check_status(status, NEW_ERRORS | (mesh.triangles ? 0 : FUZZ_ERROR(NULL)), &fault);
  FUZZ_CHECK((status == SBS_OK) == (made != NULL));
  FUZZ_CHECK(sbs_flesh_free_count(made) <= vertices);
  return made;
}

static void relax(fuzz_input *in, const sbs_flesh *flesh, const sbs_flesh_desc *desc) {
  const sbs_pose pose = fuzz_extreme_pose(in, desc->joint_count, 1);
  const sbs_scalar scalar = fuzz_scalar(in);
  const double size = scalar == SBS_FLOAT64 ? fuzz_size(in) : 1.0;
  const size_t count = 3 * desc->vertex_count, bytes = count * (scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double));
  const int has_normals = fuzz_byte(in) & 1, threads = fuzz_threads(in);
  void *positions[3] = {fuzz_reals(in, count, scalar, -2.0 * size, 2.0 * size), fuzz_room(in, bytes),
                        fuzz_room(in, bytes)};
  void *normals[3] = {fuzz_reals(in, count, scalar, -1.0, 1.0), fuzz_room(in, bytes), fuzz_room(in, bytes)};
  for (int i = 1; i < 3; i++) memcpy(positions[i], positions[0], bytes), memcpy(normals[i], normals[0], bytes);
  const size_t steps = fuzz_rarely(in) ? fuzz_byte(in) : 1 + fuzz_byte(in) % 12;
  const double amount = fuzz_fraction(in);
  sbs_fault fault = {0};
  fuzz_fail_soon(in);
  const sbs_status status = sbs_flesh_relax(flesh, &pose, steps, amount, scalar, positions[1], 0,
                                            has_normals ? normals[1] : NULL, 0, threads, &fault);
  in->fail_at = SIZE_MAX;
  fuzz_check_status(status, RELAX_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(!memcmp(positions[0], positions[1], bytes) && !memcmp(normals[0], normals[1], bytes));
    return;
  }
  FUZZ_CHECK(fuzz_count_not_finite(positions[1], count, scalar) == 0);
  if (has_normals) FUZZ_CHECK(fuzz_count_not_finite(normals[1], count, scalar) == 0);
  FUZZ_CHECK(sbs_flesh_relax(flesh, &pose, steps, amount, scalar, positions[2], 0, has_normals ? normals[2] : NULL, 0,
                             1 + threads % 2, NULL) == SBS_OK);
  FUZZ_CHECK(!memcmp(positions[1], positions[2], bytes) && !memcmp(normals[1], normals[2], bytes));
}

/* ---------------------------------------------------------------------------------------------------- relaxations -- */

static void minimize(fuzz_input *in) {
  sbs_relaxation_desc desc = sbs_default_relaxation_desc();
  const sbs_mesh_desc mesh = fuzz_mesh(in, fuzz_count(in, 60));
  const size_t vertices = desc.vertex_count = mesh.vertex_count, triangles = desc.triangle_count = mesh.triangle_count;
  const double size = fuzz_size(in), other = fuzz_byte(in) & 1 ? size : fuzz_size(in);
  desc.rest_positions = fuzz_reals(in, 3 * vertices, SBS_FLOAT64, -2.0 * size, 2.0 * size);
  desc.positions = fuzz_reals(in, 3 * vertices, SBS_FLOAT64, -2.0 * other, 2.0 * other);
  desc.triangles = mesh.triangles;
  unsigned char *is_free = fuzz_room(in, vertices);
  for (size_t v = 0; v < vertices; v++) is_free[v] = fuzz_byte(in) % 4 != 1;
  desc.free_vertices = is_free;
  desc.size = fuzz_rarely(in) ? fuzz_number(in) : fuzz_byte(in) & 1 ? size : fuzz_size(in);
  const unsigned has = fuzz_byte(in);
  if (has & 1) {
    const double volume = fuzz_byte(in) & 1 ? size * size * size : fuzz_size(in);
    desc.part_count = 1 + fuzz_byte(in) % 2;
    desc.triangle_parts = fuzz_indices(in, triangles, -1, desc.part_count);
    desc.apexes = fuzz_reals(in, 3 * desc.part_count, SBS_FLOAT64, -size, size);
    desc.rest_volumes = fuzz_reals(in, desc.part_count, SBS_FLOAT64, -volume, volume);
    if (fuzz_byte(in) & 1) desc.held_volumes = fuzz_reals(in, desc.part_count, SBS_FLOAT64, -volume, volume);
  }
  if (has & 2) desc.planes = fuzz_reals(in, 4 * vertices, SBS_FLOAT64, -1.0, 1.0);
  if (has & 4) {
    desc.bone_count = 1 + fuzz_byte(in) % 2;
    desc.bones = fuzz_reals(in, 6 * desc.bone_count, SBS_FLOAT64, -2.0 * size, 2.0 * size);
    desc.vertex_bones = fuzz_indices(in, 2 * vertices, -1, desc.bone_count);
    desc.distances = fuzz_reals(in, vertices, SBS_FLOAT64, -0.5 * size, size);
  }
  sbs_relaxation_options options = sbs_default_relaxation_options();
  double *const factors[] = {&options.bending, &options.volume, &options.crease, &options.thinner, &options.thicker};
  for (size_t i = 0; i < sizeof factors / sizeof *factors && fuzz_rarely(in); i++) *factors[i] = factor(in);
  options.iterations = fuzz_byte(in) % 20;
  options.allocator = fuzz_allocator(in);
  const size_t count = 3 * vertices, bytes = count * sizeof(double);
  double energy = 77.0, *gradient = fuzz_room(in, bytes), *found = fuzz_room(in, bytes);
  sbs_fault fault = {0};
  fuzz_fail_soon(in);
  sbs_status status = sbs_relaxation_energy(&desc, &options, &energy, gradient, &fault);
  in->fail_at = SIZE_MAX;
  fuzz_check_status(status, PATCH_ERRORS, &fault);
  if (status) {
    FUZZ_CHECK(energy == 77.0 && fuzz_is_untouched(gradient, bytes));
  } else {
    FUZZ_CHECK(isfinite(energy) && fuzz_count_not_finite(gradient, count, SBS_FLOAT64) == 0);
  }
  sbs_relaxation_report report;
  fault = (sbs_fault){0};
  fuzz_fail_soon(in);
  status = sbs_relaxation_minimize(&desc, &options, found, &report, &fault);
  in->fail_at = SIZE_MAX;
  fuzz_check_status(status, PATCH_ERRORS, &fault);
  if (status) {
    FUZZ_CHECK(fuzz_is_untouched(found, bytes));
    return;
  }
  FUZZ_CHECK(isfinite(report.first_energy) && report.energy <= report.first_energy);
  FUZZ_CHECK(fuzz_count_not_finite(found, count, SBS_FLOAT64) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  if (fuzz_byte(&in) & 1) {
    minimize(&in);
  } else {
    sbs_flesh_desc desc;
    sbs_flesh *flesh = make(&in, &desc);
    if (flesh) relax(&in, flesh, &desc);
    sbs_flesh_free(flesh);
  }
  fuzz_close(&in);
  return 0;
}
