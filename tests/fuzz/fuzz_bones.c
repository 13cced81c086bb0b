/* SPDX-License-Identifier: MIT */
/* Bones, and bones blending bound: shares from 0 to 1, and pairs of a joint and its parent that a skin takes. */
#include <math.h>
#include <sbs/blending.h>

#include "things.h"

#define BONES_ERRORS \
  (FUZZ_ERROR(NULL) | FUZZ_ERROR(EMPTY) | FUZZ_ERROR(NOT_FINITE) | FUZZ_ERROR(PARENT) | FUZZ_ERROR(OUT_OF_MEMORY))
#define BIND_ERRORS \
  (BONES_ERRORS | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(OPTION) | FUZZ_ERROR(STRIDE) | FUZZ_ERROR(JOINT_INDEX))

static const double *reals_or_null(fuzz_input *in, size_t count, double low, double high) {
  return fuzz_byte(in) & 1 ? fuzz_reals(in, count, SBS_FLOAT64, low, high) : NULL;
}

/* A mesh that mostly has a skeleton. */
static sbs_skin_desc mesh_with_skeleton(fuzz_input *in) {
  sbs_skin_desc mesh = fuzz_skin_desc(in);
  if (!mesh.joint_positions && !fuzz_rarely(in)) {
    mesh.joint_positions = fuzz_reals(in, mesh.joint_count * 3, SBS_FLOAT64, -4.0, 4.0);
  }
  if (!mesh.parents && !fuzz_rarely(in)) {
    int32_t *parents = fuzz_room(in, mesh.joint_count * sizeof *parents);
    for (size_t j = 0; j < mesh.joint_count; j++) parents[j] = (int32_t)fuzz_below(in, j + 1) - 1;
    mesh.parents = parents;
  }
  return mesh;
}

/* Which joints are blended, or NULL; mostly of those that can be. */
static unsigned char *blended_or_null(fuzz_input *in, const sbs_skin_desc *mesh) {
  unsigned char *blended = fuzz_flags_or_null(in, mesh->joint_count);
  for (size_t j = 0; j < mesh->joint_count && blended && mesh->parents; j++) {
    if (mesh->parents[j] < 0 && !fuzz_rarely(in)) blended[j] = 0;
  }
  return blended;
}

static void find_tails(fuzz_input *in, const sbs_skin_desc *mesh) {
  double *tails = fuzz_room(in, mesh->joint_count * 3 * sizeof *tails);
  const sbs_allocator allocator = fuzz_allocator(in);
  sbs_fault fault = {0};
  const sbs_status status =
      sbs_bones_tails(mesh->joint_count, mesh->parents, mesh->joint_positions, &allocator, tails, &fault);
  fuzz_check_status(status, BONES_ERRORS, &fault);
  if (status != SBS_OK) FUZZ_CHECK(fuzz_is_untouched(tails, mesh->joint_count * 3 * sizeof *tails));
}

static sbs_blending_desc describe(fuzz_input *in, const sbs_skin_desc *mesh, sbs_influences_table *table) {
  const size_t vertices = mesh->vertex_count, joints = mesh->joint_count;
  sbs_blending_desc desc = sbs_default_blending_desc();
  desc.vertex_count = vertices;
  desc.joint_count = joints;
  desc.scalar = mesh->scalar;
  desc.rest_positions = mesh->rest_positions;
  desc.rest_positions_stride = mesh->rest_positions_stride;
  desc.parents = mesh->parents;
  desc.joint_positions = mesh->joint_positions;
  desc.inverse_bind_matrices = fuzz_reals(in, joints * 12, SBS_FLOAT64, -2.0, 2.0);
  desc.tails = reals_or_null(in, joints * 3, -4.0, 4.0);
  desc.t_min = reals_or_null(in, joints, -2.0, 0.0);
  desc.t_max = reals_or_null(in, joints, 0.0, 2.0);
  desc.blended = blended_or_null(in, mesh);
  if (fuzz_byte(in) & 1) desc.attachment = fuzz_indices(in, vertices, -1, joints);
  *table = (sbs_influences_table){.vertex_count = vertices,
                                  .joint_count = joints,
                                  .influences_per_vertex = mesh->influences_per_vertex,
                                  .joint_indices = mesh->joint_indices,
                                  .scalar = mesh->weight_scalar,
                                  .joint_weights = mesh->joint_weights};
  const unsigned choices = fuzz_byte(in);
  if (choices & 1) desc.influences = table;
  if (choices & 2) desc.profile = SBS_BLENDING_PROFILE_SMOOTHSTEP;
  if (choices & 4) desc.zone_scale = 1.5;
  return desc;
}

static void check_vertex(const sbs_blending_desc *desc, const sbs_blending *found, size_t vertex) {
  const size_t width = sbs_blending_width(desc);
  const int32_t joint = found->attachment[vertex];
  double sum = 0.0;
  FUZZ_CHECK(joint >= -1 && joint < (int32_t)desc->joint_count);
  FUZZ_CHECK(found->t[vertex] >= 0.0 && found->t[vertex] <= 1.0);
  for (size_t k = 0; k < width; k++) {
    const int32_t named = found->joint_indices[vertex * width + k];
    const double weight = found->joint_weights[vertex * width + k];
    FUZZ_CHECK(named >= 0 && named < (int32_t)desc->joint_count && (weight > 0.0 || (weight == 0.0 && named == 0)));
    if (weight > 0.0 && !found->keeps[vertex]) FUZZ_CHECK(named == joint || named == desc->parents[joint]);
    sum += weight;
  }
  FUZZ_CHECK(sum == 0.0 ? joint < 0 || found->keeps[vertex] : fabs(sum - 1.0) < 1e-12); /* a rounding a weight */
}

static void bind(fuzz_input *in, const sbs_skin_desc *mesh) {
  const size_t vertices = mesh->vertex_count, joints = mesh->joint_count;
  sbs_influences_table table;
  const sbs_blending_desc desc = describe(in, mesh, &table);
  const size_t width = sbs_blending_width(&desc);
  const sbs_blending found = {.attachment = fuzz_room(in, vertices * sizeof(int32_t)),
                              .t = fuzz_room(in, vertices * sizeof(double)),
                              .t_min = fuzz_room(in, joints * sizeof(double)),
                              .t_max = fuzz_room(in, joints * sizeof(double)),
                              .joint_indices = fuzz_room(in, vertices * width * sizeof(int32_t)),
                              .joint_weights = fuzz_room(in, vertices * width * sizeof(double)),
                              .centers = fuzz_room(in, vertices * 3 * sizeof(double)),
                              .keeps = fuzz_room(in, vertices)};
  const sbs_allocator allocator = fuzz_allocator(in);
  sbs_fault fault = {0};
  const sbs_status status = sbs_blending_bind(&desc, &allocator, &found, &fault);
  fuzz_check_status(status, BIND_ERRORS, &fault);
  for (size_t v = 0; v < vertices && status == SBS_OK; v++) check_vertex(&desc, &found, v);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const unsigned what = fuzz_byte(&in) & 3;
  const sbs_skin_desc mesh = mesh_with_skeleton(&in);
  if (what == 3) {
    find_tails(&in, &mesh);
  } else {
    bind(&in, &mesh);
  }
  fuzz_close(&in);
  return 0;
}
