/* SPDX-License-Identifier: MIT */
/* Vertices at one point, neighbors over edges, subdivision and curvature: known answers, and bad input. */
#include <sbs/subdivision.h>

#include "harness.h"

/*
 * A strip whose second triangle has vertices of its own along the seam 1-2, 3-4, and one more triangle beyond:
 *
 *     2,4 --- 5
 *      | \    | \
 *      0 --1,3---6        7 is loose
 */
static const double positions[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, -0.0, 0},
                                       {0, 1, 0}, {1, 1, 0}, {2, 0, 0}, {9, 9, 9}};
static const int32_t triangles[3][3] = {{0, 1, 2}, {3, 5, 4}, {3, 6, 5}};
static const int32_t representatives[8] = {0, 1, 2, 1, 2, 5, 6, 7};

static sbs_mesh_desc strip(void) {
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  mesh.vertex_count = 8;
  mesh.scalar = SBS_FLOAT64;
  mesh.positions = positions;
  mesh.triangle_count = 3;
  mesh.triangles = triangles[0];
  return mesh;
}

static void test_welds_equal_points(void) {
  const sbs_mesh_desc mesh = strip();
  int32_t found[8];
  CHECK_EQUAL(sbs_mesh_weld(&mesh, NULL, found, NULL), SBS_OK);
  CHECK(memcmp(found, representatives, sizeof found) == 0);

  float rows[3][5] = {{1, 2, 3, 7, 7}, {1, 2, 4, 7, 7}, {1, 2, 3, 8, 8}};
  sbs_mesh_desc strided = sbs_default_mesh_desc();
  strided.vertex_count = 3;
  strided.positions = rows;
  strided.positions_stride = sizeof rows[0];
  CHECK_EQUAL(sbs_mesh_weld(&strided, NULL, found, NULL), SBS_OK);
  CHECK(found[0] == 0 && found[1] == 1 && found[2] == 0);
}

static void test_neighbors(void) {
  const sbs_mesh_desc mesh = strip();
  const size_t expected_offsets[9] = {0, 2, 6, 9, 9, 9, 12, 14, 14};
  const int32_t expected[14] = {1, 2, 0, 2, 5, 6, 0, 1, 5, 1, 2, 6, 1, 5};
  size_t offsets[9];
  int32_t found[18];
  CHECK_EQUAL(sbs_mesh_adjacency(&mesh, representatives, NULL, offsets, found, NULL), SBS_OK);
  CHECK(memcmp(offsets, expected_offsets, sizeof offsets) == 0);
  CHECK(memcmp(found, expected, sizeof expected) == 0);
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

static void test_four_of_one_and_two_of_its_neighbor(void) {
  const sbs_mesh_desc mesh = strip();
  const unsigned char chosen[3] = {1, 0, 0};
  const sbs_subdivision *fine = NULL;
  CHECK_EQUAL(sbs_subdivision_new(&mesh, representatives, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine, NULL),
              SBS_OK);
  CHECK_EQUAL(fine->vertex_count, 12);
  CHECK_EQUAL(fine->new_vertex_count, 4); /* three middles, and that of the seam for its other side */
  const int32_t corners[7][3] = {{0, 8, 10}, {8, 1, 9}, {10, 9, 2}, {8, 9, 10}, {4, 11, 5}, {11, 3, 5}, {3, 6, 5}};
  const int32_t sources[7] = {0, 0, 0, 0, 1, 1, 2}, parents[4][3] = {{0, 1, 0}, {1, 2, 1}, {0, 2, 0}, {3, 4, 3}};
  if (!CHECK_EQUAL(fine->triangle_count, 7)) return;
  CHECK(memcmp(fine->triangles, corners, sizeof corners) == 0);
  CHECK(memcmp(fine->sources, sources, sizeof sources) == 0);
  CHECK(memcmp(fine->parents, parents, sizeof parents) == 0);
  for (int i = 0; i < 12; i++) CHECK(fine->shares[i] == (i % 3 == 2 ? 0.0 : 0.5));
  sbs_subdivision_free(fine);
}

/* Both neighbors are chosen: the middle one has two split edges, and is divided by its shorter diagonal. */
static void test_three_of_a_triangle_between_two(void) {
  const sbs_mesh_desc mesh = strip();
  const unsigned char chosen[3] = {1, 0, 1};
  const sbs_subdivision *fine = NULL;
  CHECK_EQUAL(sbs_subdivision_new(&mesh, representatives, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine, NULL),
              SBS_OK);
  /* from 4, (0, 1), to 11, (1, 1/2), and from 5, (1, 1), to 12, (1/2, 1/2): the second is shorter */
  const int32_t corners[3][3] = {{12, 3, 11}, {4, 12, 5}, {12, 11, 5}};
  if (CHECK_EQUAL(fine->triangle_count, 11)) CHECK(memcmp(fine->triangles + 12, corners, sizeof corners) == 0);
  sbs_subdivision_free(fine);
}

/* A sliver far from the origin: the rounding of its corners must not decide about a normal. */
static void test_slivers_have_no_normal(void) {
  float far[4][3] = {{1000, 0, 0}, {1001, 0, 0}, {1002, 1e-5f, 1e-5f}, {1000.5f, -1, 0}};
  const int32_t two[2][3] = {{0, 1, 2}, {1, 0, 3}};
  const sbs_mesh_desc mesh = {.vertex_count = 4, .positions = far, .triangle_count = 2, .triangles = two[0]};
  double curvatures[2] = {-1, -1};
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, NULL, curvatures, NULL), SBS_OK);
  CHECK(curvatures[0] == 0.0 && curvatures[1] == 0.0);
  far[2][2] = 1;
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, NULL, curvatures, NULL), SBS_OK);
  CHECK(curvatures[0] > 1.5 && curvatures[1] == curvatures[0]);
}

/* Every function that reads a part of a mesh refuses it. */
static void check_mesh(sbs_mesh_desc mesh, const int32_t *representatives_of, sbs_status status, const char *argument,
                       size_t row, int is_welded, int is_joined) {
  const unsigned char chosen[3] = {1, 1, 1};
  const sbs_subdivision *fine = NULL;
  int32_t found[18];
  size_t offsets[9];
  double curvatures[3];
  for (int call = is_welded ? 0 : 1; call < (is_joined ? 4 : 1); call++) {
    sbs_fault fault = {0};
    const sbs_status told = call == 0   ? sbs_mesh_weld(&mesh, NULL, found, &fault)
                            : call == 1 ? sbs_subdivision_new(&mesh, representatives_of, chosen, SBS_SUBDIVISION_1_TO_4,
                                                              1, NULL, &fine, &fault)
                            : call == 2 ? sbs_mesh_curvature(&mesh, representatives_of, NULL, curvatures, &fault)
                                        : sbs_mesh_adjacency(&mesh, representatives_of, NULL, offsets, found, &fault);
    if (call == 3 && is_welded) continue; /* neighbors need no positions */
    CHECK_EQUAL(told, status);
    CHECK_STRING(fault.argument, argument);
    CHECK_EQUAL(fault.index[0], row);
  }
  CHECK(fine == NULL);
}

static void test_bad_meshes(void) {
  const int32_t bad_triangles[3][3] = {{0, 1, 2}, {3, 5, 4}, {3, -1, 5}}, bad_vertices[8] = {0, 1, 2, 8, 4, 5, 6, 7};
  double with_nan[8][3] = {{0}};
  with_nan[4][1] = NAN;
  sbs_mesh_desc mesh = strip();
  mesh.triangles = bad_triangles[0];
  check_mesh(mesh, NULL, SBS_ERROR_VERTEX_INDEX, "triangles", 2, 0, 1);
  mesh.triangles = NULL;
  check_mesh(mesh, NULL, SBS_ERROR_NULL, "triangles", 0, 0, 1);
  mesh = strip();
  check_mesh(mesh, bad_vertices, SBS_ERROR_VERTEX_INDEX, "representatives", 3, 0, 1);
  mesh.positions = with_nan;
  check_mesh(mesh, NULL, SBS_ERROR_NOT_FINITE, "positions", 4, 1, 1);
  mesh.positions_stride = 20;
  check_mesh(mesh, NULL, SBS_ERROR_STRIDE, "positions_stride", 0, 1, 1);
  mesh = strip();
  mesh.vertex_count = 0;
  check_mesh(mesh, NULL, SBS_ERROR_EMPTY, "positions", 0, 1, 0);
  mesh.vertex_count = (size_t)INT32_MAX + 1;
  check_mesh(mesh, NULL, SBS_ERROR_TOO_LARGE, "vertex_count", 0, 1, 0);
}

static void test_other_bad_input(void) {
  const sbs_mesh_desc mesh = strip();
  const unsigned char chosen[3] = {1, 1, 1};
  const sbs_allocator none = {0};
  const sbs_subdivision *fine = NULL;
  double curvatures[3];
  int32_t found[18];
  size_t offsets[9];
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_mesh_weld(NULL, NULL, found, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_mesh_weld(&mesh, NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_mesh_weld(&mesh, &none, found, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_mesh_adjacency(&mesh, NULL, NULL, NULL, found, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_mesh_adjacency(&mesh, NULL, NULL, offsets, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_mesh_curvature(NULL, NULL, NULL, curvatures, &fault), SBS_ERROR_NULL);
  CHECK_REFUSED(sbs_mesh_curvature(&mesh, NULL, NULL, NULL, &fault), SBS_ERROR_NULL, "curvatures");
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, &none, curvatures, &fault), SBS_ERROR_NULL);
#define DIVIDE(mesh, chosen, scheme, levels, allocator, to) \
  sbs_subdivision_new(mesh, NULL, chosen, scheme, levels, allocator, to, &fault)
  CHECK_REFUSED(DIVIDE(NULL, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine), SBS_ERROR_NULL, "mesh");
  CHECK_REFUSED(DIVIDE(&mesh, NULL, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine), SBS_ERROR_NULL, "chosen");
  CHECK_REFUSED(DIVIDE(&mesh, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, NULL), SBS_ERROR_NULL, "subdivision");
  CHECK_REFUSED(DIVIDE(&mesh, chosen, (sbs_subdivision_scheme)7, 1, NULL, &fine), SBS_ERROR_OPTION, "scheme");
  CHECK_REFUSED(DIVIDE(&mesh, chosen, SBS_SUBDIVISION_1_TO_4, 0, NULL, &fine), SBS_ERROR_OPTION, "levels");
  CHECK_REFUSED(DIVIDE(&mesh, chosen, SBS_SUBDIVISION_1_TO_4, INT32_MAX, NULL, &fine), SBS_ERROR_TOO_LARGE, "levels");
  CHECK_EQUAL(DIVIDE(&mesh, chosen, SBS_SUBDIVISION_1_TO_4, 1, &none, &fine), SBS_ERROR_NULL);
  CHECK(fine == NULL);
  sbs_subdivision_free(NULL);
}

int main(void) {
  RUN(test_welds_equal_points);
  RUN(test_neighbors);
  RUN(test_fan_and_degenerate_triangles);
  RUN(test_four_of_one_and_two_of_its_neighbor);
  RUN(test_three_of_a_triangle_between_two);
  RUN(test_slivers_have_no_normal);
  RUN(test_bad_meshes);
  RUN(test_other_bad_input);
  return harness_result();
}
