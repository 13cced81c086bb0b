/* SPDX-License-Identifier: MIT */
/* Weights by heat: whatever the mesh, either pairs that sum to 1 or the reason why there are none; then diffusion. */
#include <sbs/heat.h>
#include <sbs/influences.h>
#include <string.h>

#include "things.h"

#define DIFFUSE_ERRORS (FUZZ_MESH_ERRORS | FUZZ_ERROR(OPTION) | FUZZ_ERROR(JOINT_INDEX) | FUZZ_ERROR(NO_CONVERGENCE))

static void diffuse(fuzz_input *in, const sbs_mesh_desc *mesh) {
  const sbs_influences_table table = fuzz_table(in, mesh->vertex_count);
  const size_t vertices = table.vertex_count, limit = fuzz_below(in, 8), count = vertices * limit;
  const size_t size = table.scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double);
  sbs_influences_diffuse_options options = sbs_default_influences_diffuse_options();
  const double *lengths = fuzz_reals(in, vertices, SBS_FLOAT64, 0.0, 2.0);
  options.locked = fuzz_flags_or_null(in, table.joint_count);
  options.allocator = fuzz_allocator(in);
  int32_t *joints = fuzz_room(in, count * sizeof *joints);
  void *weights = fuzz_room(in, count * size);
  sbs_fault fault = {0};
  const sbs_status status = sbs_influences_diffuse(&table, mesh, lengths, &options, limit, joints, weights, &fault);
  fuzz_check_status(status, DIFFUSE_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(joints, count * sizeof *joints));
    FUZZ_CHECK(fuzz_is_untouched(weights, count * size));
    return;
  }
  fuzz_check_pairs(joints, weights, table.scalar, vertices, limit, table.joint_count, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const sbs_mesh_desc mesh = fuzz_mesh(&in, fuzz_count(&in, 120));
  const size_t count = mesh.vertex_count, joints = fuzz_count(&in, 8);
  sbs_heat_bones bones = {.joint_count = joints};
  bones.heads = fuzz_reals(&in, 3 * joints, SBS_FLOAT64, -2.0, 2.0);
  bones.tails = fuzz_rarely(&in) ? bones.heads : fuzz_reals(&in, 3 * joints, SBS_FLOAT64, -2.0, 2.0);
  bones.enabled = fuzz_flags_or_null(&in, joints);
  sbs_heat_options options = sbs_default_heat_options();
  const double *numbers = fuzz_reals(&in, 2, SBS_FLOAT64, 0.0, 1.0);
  if (fuzz_rarely(&in)) options.strength = numbers[0];
  if (fuzz_rarely(&in)) options.prune = numbers[1];
  options.threads = fuzz_threads(&in);
  options.allocator = fuzz_allocator(&in);
  const size_t width = fuzz_rarely(&in) ? 0 : 1 + fuzz_byte(&in) % 8;

  int32_t *indices = fuzz_room(&in, count * width * sizeof *indices);
  double *weights = fuzz_room(&in, count * width * sizeof *weights);
  int32_t *islands = fuzz_room(&in, count * sizeof *islands);
  sbs_heat_join *joins = fuzz_room(&in, count * sizeof *joins);
  sbs_heat_report report = {.max_influences = SIZE_MAX};
  sbs_fault fault = {0};
  const sbs_status status =
      sbs_heat_weights(&mesh, &bones, &options, width, indices, weights, islands, joins, &report, &fault);
  fuzz_check_status(status, FUZZ_MESH_ERRORS, &fault);
  if (status != SBS_OK || report.trouble) {
    FUZZ_CHECK(fuzz_is_untouched(indices, count * width * sizeof *indices));
    FUZZ_CHECK(fuzz_is_untouched(weights, count * width * sizeof *weights));
    FUZZ_CHECK(fuzz_is_untouched(joins, count * sizeof *joins));
  }
  if (status != SBS_OK) {
    FUZZ_CHECK(report.max_influences == SIZE_MAX && fuzz_is_untouched(islands, count * sizeof *islands));
  } else if (!report.trouble) {
    fuzz_check_pairs(indices, weights, SBS_FLOAT64, count, width, joints, 1);
    FUZZ_CHECK(report.max_influences >= 1 && report.max_influences <= width);
    FUZZ_CHECK(report.join_count < report.island_count);
    for (size_t i = 0; i < report.join_count; i++) {
      FUZZ_CHECK(joins[i].island != joins[i].neighbor && joins[i].vertex_count > 0 && joins[i].distance >= 0.0);
    }
  }
  if (count) diffuse(&in, &mesh);
  fuzz_close(&in);
  return 0;
}
