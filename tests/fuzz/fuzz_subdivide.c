/* SPDX-License-Identifier: MIT */
/* Finer meshes, and what else is told of a mesh's edges: points at one place, neighbors, curvature. */
#include <math.h>
#include <sbs/subdivision.h>

#include "things.h"

static void check_subdivision(const sbs_subdivision *made, const sbs_mesh_desc *mesh) {
  FUZZ_CHECK(made->vertex_count == mesh->vertex_count + made->new_vertex_count);
  FUZZ_CHECK(made->triangle_count >= mesh->triangle_count);
  for (size_t i = 0; i < made->new_vertex_count; i++) {
    double sum = 0.0;
    for (size_t k = 0; k < 3; k++) {
      const int32_t parent = made->parents[3 * i + k];
      FUZZ_CHECK(parent >= 0 && (size_t)parent < mesh->vertex_count && made->shares[3 * i + k] >= 0.0);
      sum += made->shares[3 * i + k];
    }
    FUZZ_CHECK(fabs(sum - 1.0) <= 1e-12);
  }
  for (size_t t = 0; t < made->triangle_count; t++) {
    const int32_t source = made->sources[t];
    FUZZ_CHECK(source >= 0 && (size_t)source < mesh->triangle_count && (t == 0 || made->sources[t - 1] <= source));
    for (size_t k = 0; k < 3; k++) {
      const int32_t corner = made->triangles[3 * t + k];
      FUZZ_CHECK(corner >= 0 && (size_t)corner < made->vertex_count);
    }
  }
}

static void subdivide(fuzz_input *in, const sbs_mesh_desc *mesh, const int32_t *representatives,
                      const sbs_allocator *allocator) {
  unsigned char *chosen = fuzz_flags_or_null(in, mesh->triangle_count);
  if (!chosen) {
    chosen = fuzz_room(in, mesh->triangle_count);
    for (size_t t = 0; t < mesh->triangle_count; t++) chosen[t] = t % 7 == 0;
  }
  const sbs_subdivision_scheme scheme = (sbs_subdivision_scheme)(fuzz_rarely(in) ? fuzz_byte(in) : fuzz_byte(in) & 1);
  const int levels = fuzz_rarely(in) ? -(int)fuzz_byte(in) : 1 + (int)(fuzz_byte(in) % 4);
  const sbs_subdivision *made = NULL;
  sbs_fault fault = {0};
  const sbs_status status =
      sbs_subdivision_new(mesh, representatives, chosen, scheme, levels, allocator, &made, &fault);
  fuzz_check_status(status, FUZZ_MESH_ERRORS, &fault);
  FUZZ_CHECK((status == SBS_OK) == (made != NULL));
  if (made) check_subdivision(made, mesh);
  sbs_subdivision_free(made);
}

static void find_neighbors(fuzz_input *in, const sbs_mesh_desc *mesh, const int32_t *representatives,
                           const sbs_allocator *allocator) {
  size_t *offsets = fuzz_room(in, (mesh->vertex_count + 1) * sizeof *offsets);
  int32_t *neighbors = fuzz_room(in, 6 * mesh->triangle_count * sizeof *neighbors);
  sbs_fault fault = {0};
  const sbs_status status = sbs_mesh_adjacency(mesh, representatives, allocator, offsets, neighbors, &fault);
  fuzz_check_status(status, FUZZ_MESH_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(offsets, (mesh->vertex_count + 1) * sizeof *offsets));
    FUZZ_CHECK(fuzz_is_untouched(neighbors, 6 * mesh->triangle_count * sizeof *neighbors));
    return;
  }
  FUZZ_CHECK(offsets[0] == 0 && offsets[mesh->vertex_count] <= 6 * mesh->triangle_count);
  for (size_t v = 0; v < mesh->vertex_count; v++) {
    for (size_t i = offsets[v]; i < offsets[v + 1]; i++) {
      FUZZ_CHECK(neighbors[i] >= 0 && (size_t)neighbors[i] < mesh->vertex_count && (size_t)neighbors[i] != v);
      FUZZ_CHECK(i == offsets[v] || neighbors[i - 1] < neighbors[i]);
    }
  }
}

static void measure_curvature(fuzz_input *in, const sbs_mesh_desc *mesh, const int32_t *representatives,
                              const sbs_allocator *allocator) {
  double *curvatures = fuzz_room(in, mesh->triangle_count * sizeof *curvatures);
  sbs_fault fault = {0};
  const sbs_status status = sbs_mesh_curvature(mesh, representatives, allocator, curvatures, &fault);
  fuzz_check_status(status, FUZZ_MESH_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(curvatures, mesh->triangle_count * sizeof *curvatures));
    return;
  }
  for (size_t t = 0; t < mesh->triangle_count; t++)
    FUZZ_CHECK(curvatures[t] >= 0.0 && curvatures[t] <= 3.1415926535898);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const unsigned what = fuzz_byte(&in) % 4;
  const sbs_mesh_desc mesh = fuzz_mesh(&in, fuzz_count(&in, 60));
  const sbs_allocator allocator = fuzz_allocator(&in);
  int32_t *representatives = fuzz_room(&in, mesh.vertex_count * sizeof *representatives);
  sbs_fault fault = {0};
  const sbs_status status = sbs_mesh_weld(&mesh, &allocator, representatives, &fault);
  fuzz_check_status(status, FUZZ_MESH_ERRORS, &fault);
  if (status == SBS_OK) {
    for (size_t v = 0; v < mesh.vertex_count; v++) {
      const int32_t first = representatives[v];
      FUZZ_CHECK(first >= 0 && (size_t)first <= v && representatives[first] == first);
    }
  }
  const unsigned byte = fuzz_byte(&in);
  if (byte >= 240) representatives = fuzz_indices(&in, mesh.vertex_count, 0, mesh.vertex_count ? mesh.vertex_count : 1);
  const int32_t *told = (status != SBS_OK && byte < 240) || byte & 1 ? NULL : representatives;
  switch (what) {
    case 2: find_neighbors(&in, &mesh, told, &allocator); break;
    case 3: measure_curvature(&in, &mesh, told, &allocator); break;
    default: subdivide(&in, &mesh, told, &allocator);
  }
  fuzz_close(&in);
  return 0;
}
