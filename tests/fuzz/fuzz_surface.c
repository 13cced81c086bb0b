/* SPDX-License-Identifier: MIT */
/* Nearest triangles and blocked segments of a surface, held against a look at every triangle's distance. */
#include <math.h>
#include <sbs/surface.h>
#include <string.h>

#include "things.h"

#define ASK_ERRORS (FUZZ_ERROR(NOT_FINITE) | FUZZ_ERROR(OPTION))

static double coordinate(const sbs_mesh_desc *mesh, int32_t vertex, size_t axis) {
  const size_t each = mesh->scalar == SBS_FLOAT32 ? 4 : 8;
  const size_t stride = mesh->positions_stride ? mesh->positions_stride : 3 * each;
  const char *at = (const char *)mesh->positions + (size_t)vertex * stride + axis * each;
  float narrow;
  double wide;
  memcpy(&narrow, at, sizeof narrow);
  if (mesh->scalar == SBS_FLOAT32) return (double)narrow;
  memcpy(&wide, at, sizeof wide);
  return wide;
}

static void find_nearest(fuzz_input *in, const sbs_surface *surface, const sbs_mesh_desc *mesh) {
  const size_t count = fuzz_below(in, 24);
  const double *points = fuzz_reals(in, 3 * count, SBS_FLOAT64, -3.0, 3.0);
  const int with_labels = fuzz_byte(in) & 1;
  const int32_t *labels = with_labels ? fuzz_indices(in, count, 0, 2) : NULL;
  const int32_t *triangle_labels = with_labels ? fuzz_indices(in, mesh->triangle_count, 0, 2) : NULL;
  int32_t *nearest = fuzz_room(in, count * sizeof *nearest);
  double *barycentric = fuzz_room(in, 3 * count * sizeof *barycentric);
  double *distances = fuzz_room(in, count * sizeof *distances);
  sbs_fault fault = {0};
  const sbs_status status = sbs_surface_nearest(surface, points, count, labels, triangle_labels, fuzz_threads(in),
                                                nearest, barycentric, distances, &fault);
  fuzz_check_status(status, ASK_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(nearest, count * sizeof *nearest));
    FUZZ_CHECK(fuzz_is_untouched(barycentric, 3 * count * sizeof *barycentric));
    FUZZ_CHECK(fuzz_is_untouched(distances, count * sizeof *distances));
    return;
  }
  double size = 0.0;
  for (size_t v = 0; v < mesh->vertex_count; v++) {
    for (size_t axis = 0; axis < 3; axis++) size = fmax(size, fabs(coordinate(mesh, (int32_t)v, axis)));
  }
  for (size_t i = 0; i < 3 * count; i++) size = fmax(size, fabs(points[i]));
  for (size_t i = 0; i < count; i++) {
    FUZZ_CHECK(nearest[i] >= -1 && nearest[i] < (int32_t)mesh->triangle_count);
    if (nearest[i] < 0) {
      FUZZ_CHECK(labels != NULL && distances[i] == INFINITY);
      continue;
    }
    FUZZ_CHECK(!labels || triangle_labels[nearest[i]] != labels[i]);
    const double *b = barycentric + 3 * i;
    FUZZ_CHECK(b[0] >= 0.0 && b[1] >= 0.0 && b[2] >= 0.0 && fabs(b[0] + b[1] + b[2] - 1.0) <= 1e-12);

    /*
     * The distance is that of the point that is told, and no corner is nearer; where squares neither overflow nor
     * vanish.
     */
    if (!(size < 1e100 && size > 1e-100)) continue;
    double square = 0.0;
    for (size_t axis = 0; axis < 3; axis++) {
      double at = 0.0;
      for (size_t k = 0; k < 3; k++) at += b[k] * coordinate(mesh, mesh->triangles[3 * (size_t)nearest[i] + k], axis);
      square += (at - points[3 * i + axis]) * (at - points[3 * i + axis]);
    }
    FUZZ_CHECK(fabs(sqrt(square) - distances[i]) <= 1e-7 * size);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
      if (labels && triangle_labels[t] == labels[i]) continue;
      for (size_t k = 0; k < 3; k++) {
        double corner = 0.0;
        for (size_t axis = 0; axis < 3; axis++) {
          const double d = coordinate(mesh, mesh->triangles[3 * t + k], axis) - points[3 * i + axis];
          corner += d * d;
        }
        FUZZ_CHECK(distances[i] <= sqrt(corner) + 1e-7 * size);
      }
    }
  }
}

static void find_blocked(fuzz_input *in, const sbs_surface *surface, const sbs_mesh_desc *mesh) {
  const size_t count = fuzz_below(in, 24);
  const double *starts = fuzz_reals(in, 3 * count, SBS_FLOAT64, -3.0, 3.0);
  const double *ends = fuzz_reals(in, 3 * count, SBS_FLOAT64, -3.0, 3.0);
  const int32_t *vertices = fuzz_byte(in) & 1 ? fuzz_indices(in, count, -1, mesh->vertex_count) : NULL;
  unsigned char *blocked = fuzz_room(in, count);
  sbs_fault fault = {0};
  const sbs_status status =
      sbs_surface_blocked(surface, starts, ends, count, vertices, fuzz_threads(in), blocked, &fault);
  fuzz_check_status(status, ASK_ERRORS | FUZZ_ERROR(VERTEX_INDEX), &fault);
  if (status != SBS_OK) FUZZ_CHECK(fuzz_is_untouched(blocked, count));
  for (size_t i = 0; status == SBS_OK && i < count; i++) FUZZ_CHECK(blocked[i] <= 1);
}

static void find_crossing(fuzz_input *in, const sbs_surface *surface, const sbs_mesh_desc *mesh) {
  const int32_t *vertices = fuzz_byte(in) & 1 ? fuzz_indices(in, mesh->vertex_count, 0, mesh->vertex_count) : NULL;
  unsigned char *crossing = fuzz_room(in, mesh->triangle_count);
  sbs_fault fault = {0};
  fuzz_check_status(sbs_surface_crossing(surface, vertices, fuzz_threads(in), crossing, &fault), 0, &fault);
  size_t count = 0;
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    FUZZ_CHECK(crossing[t] <= 1);
    count += crossing[t];
  }
  FUZZ_CHECK(count != 1); /* it takes two */
}

static void number_islands(fuzz_input *in, const sbs_mesh_desc *mesh) {
  int32_t *islands = fuzz_room(in, mesh->vertex_count * sizeof *islands);
  size_t count = SIZE_MAX;
  sbs_fault fault = {0};
  const sbs_status status = sbs_mesh_islands(mesh, islands, &count, &fault);
  fuzz_check_status(status, FUZZ_ERROR(EMPTY) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(VERTEX_INDEX), &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(count == SIZE_MAX && fuzz_is_untouched(islands, mesh->vertex_count * sizeof *islands));
    return;
  }
  int32_t next = 0;
  for (size_t v = 0; v < mesh->vertex_count; v++) {
    FUZZ_CHECK(islands[v] >= 0 && islands[v] <= next);
    next += islands[v] == next;
  }
  FUZZ_CHECK((size_t)next == count);
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *corners = mesh->triangles + 3 * t;
    FUZZ_CHECK(islands[corners[0]] == islands[corners[1]] && islands[corners[0]] == islands[corners[2]]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const sbs_mesh_desc mesh = fuzz_mesh(&in, fuzz_count(&in, 60));
  const sbs_allocator allocator = fuzz_allocator(&in);
  sbs_surface *surface = NULL;
  sbs_fault fault = {0};
  number_islands(&in, &mesh);
  const sbs_status status = sbs_surface_new(&mesh, &allocator, &surface, &fault);
  fuzz_check_status(status, FUZZ_MESH_ERRORS, &fault);
  FUZZ_CHECK((status == SBS_OK) == (surface != NULL));
  if (surface) {
    find_nearest(&in, surface, &mesh);
    find_blocked(&in, surface, &mesh);
    find_crossing(&in, surface, &mesh);
  }
  sbs_surface_free(surface);
  fuzz_close(&in);
  return 0;
}
