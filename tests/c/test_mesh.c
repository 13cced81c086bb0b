/* SPDX-License-Identifier: MIT */
/* Vertices at one point, and neighbors over edges. */
#include <sbs/mesh.h>

#include "rig.h"

/*
 * Two triangles that share an edge, each with vertices of its own, and a vertex of no triangle:
 *
 *     2,5 --- 4
 *      |  \   |
 *      0 --- 1,3      6
 */
static const double positions[7][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, -0.0, 0}, {1, 1, 0}, {0, 1, 0}, {5, 0, 0}};
static const int32_t triangles[2][3] = {{0, 1, 2}, {3, 4, 5}};

static sbs_mesh_desc two_triangles(void) {
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  mesh.vertex_count = 7;
  mesh.scalar = SBS_FLOAT64;
  mesh.positions = positions;
  mesh.triangle_count = 2;
  mesh.triangles = triangles[0];
  return mesh;
}

static void test_welds_equal_points(void) {
  const sbs_mesh_desc mesh = two_triangles();
  const int32_t expected[7] = {0, 1, 2, 1, 4, 2, 6};
  int32_t representatives[7];
  CHECK_EQUAL(sbs_mesh_weld(&mesh, NULL, representatives, NULL), SBS_OK);
  for (int v = 0; v < 7; v++) CHECK_EQUAL(representatives[v], expected[v]);
}

static void test_welds_float32_and_strides(void) {
  float rows[3][5] = {{1, 2, 3, 7, 7}, {1, 2, 4, 7, 7}, {1, 2, 3, 8, 8}};
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  mesh.vertex_count = 3;
  mesh.positions = rows;
  mesh.positions_stride = sizeof rows[0];
  int32_t representatives[3];
  CHECK_EQUAL(sbs_mesh_weld(&mesh, NULL, representatives, NULL), SBS_OK);
  CHECK_EQUAL(representatives[0], 0);
  CHECK_EQUAL(representatives[1], 1);
  CHECK_EQUAL(representatives[2], 0);
}

static void check_neighbors(const int32_t *representatives, const size_t *offsets, const int32_t *neighbors) {
  const sbs_mesh_desc mesh = two_triangles();
  size_t found_offsets[8];
  int32_t found[12];
  CHECK_EQUAL(sbs_mesh_adjacency(&mesh, representatives, NULL, found_offsets, found, NULL), SBS_OK);
  for (int v = 0; v < 8; v++) CHECK_EQUAL(found_offsets[v], offsets[v]);
  for (size_t i = 0; i < offsets[7]; i++) CHECK_EQUAL(found[i], neighbors[i]);
}

static void test_neighbors(void) {
  const size_t apart[8] = {0, 2, 4, 6, 8, 10, 12, 12};
  const int32_t neighbors_apart[12] = {1, 2, 0, 2, 0, 1, 4, 5, 3, 5, 3, 4};
  check_neighbors(NULL, apart, neighbors_apart);
  const int32_t representatives[7] = {0, 1, 2, 1, 4, 2, 6};
  const size_t welded[8] = {0, 2, 5, 8, 8, 10, 10, 10};
  const int32_t neighbors_welded[10] = {1, 2, 0, 2, 4, 0, 1, 4, 1, 2};
  check_neighbors(representatives, welded, neighbors_welded);
}

/* A hub with more neighbors than are sorted by insertion, and triangles that repeat a corner. */
static void test_fan_and_degenerate_triangles(void) {
  enum {
    RIM = 500
  };
  static int32_t fan[RIM + 1][3];
  for (int32_t i = 0; i < RIM; i++) {
    fan[i][0] = 0;
    fan[i][1] = 1 + (7 * i) % RIM; /* each once, out of order */
    fan[i][2] = 1 + (7 * i + 7) % RIM;
  }
  fan[RIM][0] = fan[RIM][1] = fan[RIM][2] = 3;
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  mesh.vertex_count = RIM + 1;
  mesh.triangle_count = RIM + 1;
  mesh.triangles = fan[0];
  static size_t offsets[RIM + 2];
  static int32_t neighbors[6 * (RIM + 1)];
  CHECK_EQUAL(sbs_mesh_adjacency(&mesh, NULL, NULL, offsets, neighbors, NULL), SBS_OK);
  CHECK_EQUAL(offsets[1], RIM);
  for (int32_t i = 0; i < RIM; i++) CHECK_EQUAL(neighbors[i], i + 1);
  CHECK_EQUAL(offsets[RIM + 1], 4 * RIM); /* the rim: the hub and two others each */
}

static void test_bad_input(void) {
  sbs_mesh_desc mesh = two_triangles();
  int32_t representatives[7], neighbors[12];
  size_t offsets[8];
  sbs_fault fault = {0};
  const int32_t bad_triangles[2][3] = {{0, 1, 2}, {3, 7, 5}};
  mesh.triangles = bad_triangles[0];
  CHECK_EQUAL(sbs_mesh_adjacency(&mesh, NULL, NULL, offsets, neighbors, &fault), SBS_ERROR_VERTEX_INDEX);
  CHECK_STRING(fault.argument, "triangles");
  CHECK_EQUAL(fault.index[0], 1);
  CHECK_EQUAL(fault.index[1], 1);
  CHECK(fault.value == 7.0 && fault.limit == 7.0);
  mesh = two_triangles();
  const int32_t bad_representatives[7] = {0, 1, -1, 1, 4, 2, 6};
  CHECK_EQUAL(sbs_mesh_adjacency(&mesh, bad_representatives, NULL, offsets, neighbors, &fault), SBS_ERROR_VERTEX_INDEX);
  CHECK_STRING(fault.argument, "representatives");

  double with_nan[7][3] = {{0}};
  with_nan[6][2] = NAN;
  mesh.positions = with_nan;
  CHECK_EQUAL(sbs_mesh_weld(&mesh, NULL, representatives, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_EQUAL(fault.index[0], 6);
  mesh.positions_stride = 20;
  CHECK_EQUAL(sbs_mesh_weld(&mesh, NULL, representatives, &fault), SBS_ERROR_STRIDE);
  mesh = two_triangles();
  mesh.vertex_count = 0;
  CHECK_EQUAL(sbs_mesh_weld(&mesh, NULL, representatives, &fault), SBS_ERROR_EMPTY);
  CHECK_STRING(fault.argument, "positions");
  mesh.vertex_count = (size_t)INT32_MAX + 1;
  CHECK_EQUAL(sbs_mesh_weld(&mesh, NULL, representatives, &fault), SBS_ERROR_TOO_LARGE);
  CHECK_EQUAL(sbs_mesh_weld(NULL, NULL, representatives, &fault), SBS_ERROR_NULL);
  mesh = two_triangles();
  CHECK_EQUAL(sbs_mesh_weld(&mesh, NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_mesh_weld(&mesh, &(sbs_allocator){0}, representatives, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_mesh_adjacency(&mesh, NULL, NULL, NULL, neighbors, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_mesh_adjacency(&mesh, NULL, NULL, offsets, NULL, &fault), SBS_ERROR_NULL);
  mesh.triangles = NULL;
  CHECK_EQUAL(sbs_mesh_adjacency(&mesh, NULL, NULL, offsets, neighbors, &fault), SBS_ERROR_NULL);
}

int main(void) {
  RUN(test_welds_equal_points);
  RUN(test_welds_float32_and_strides);
  RUN(test_neighbors);
  RUN(test_fan_and_degenerate_triangles);
  RUN(test_bad_input);
  return harness_result();
}
