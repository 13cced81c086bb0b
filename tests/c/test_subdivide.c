/* SPDX-License-Identifier: MIT */
/* Subdivision and curvature on meshes small enough to be done by hand. */
#include <sbs/subdivision.h>

#include "harness.h"

static sbs_mesh_desc describe(size_t vertex_count, const double (*positions)[3], size_t triangle_count,
                              const int32_t (*triangles)[3]) {
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  mesh.vertex_count = vertex_count;
  mesh.scalar = SBS_FLOAT64;
  mesh.positions = positions;
  mesh.triangle_count = triangle_count;
  mesh.triangles = triangle_count ? triangles[0] : NULL;
  return mesh;
}

static void check_triangle(const sbs_subdivision *mesh, size_t triangle, int32_t a, int32_t b, int32_t c,
                           int32_t source) {
  CHECK_EQUAL(mesh->triangles[3 * triangle], a);
  CHECK_EQUAL(mesh->triangles[3 * triangle + 1], b);
  CHECK_EQUAL(mesh->triangles[3 * triangle + 2], c);
  CHECK_EQUAL(mesh->sources[triangle], source);
}

static void check_row(const sbs_subdivision *mesh, size_t row, const int32_t parents[3], const double shares[3]) {
  for (size_t i = 0; i < 3; i++) {
    CHECK_EQUAL(mesh->parents[3 * row + i], parents[i]);
    CHECK_NEAR(mesh->shares[3 * row + i], shares[i], 0.0);
  }
}

/*
 * A strip whose second triangle has vertices of its own along the seam 1-2, 3-4, and one more triangle beyond:
 *
 *     2,4 --- 5
 *      | \    | \
 *      0 --1,3---6        7 is loose
 */
static const double strip_positions[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0},
                                             {0, 1, 0}, {1, 1, 0}, {2, 0, 0}, {9, 9, 9}};
static const int32_t strip_triangles[3][3] = {{0, 1, 2}, {3, 5, 4}, {3, 6, 5}};
static const int32_t strip_representatives[8] = {0, 1, 2, 1, 2, 5, 6, 7};

static sbs_mesh_desc strip(void) {
  return describe(8, strip_positions, 3, strip_triangles);
}

static void test_four_of_one_and_two_of_its_neighbor(void) {
  const sbs_mesh_desc mesh = strip();
  const unsigned char chosen[3] = {1, 0, 0};
  const sbs_subdivision *fine = NULL;
  CHECK_EQUAL(sbs_subdivision_new(&mesh, strip_representatives, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine, NULL),
              SBS_OK);
  CHECK_EQUAL(fine->vertex_count, 12);
  CHECK_EQUAL(fine->new_vertex_count, 4); /* three middles, and that of the seam for its other side */
  CHECK_EQUAL(fine->triangle_count, 7);
  check_triangle(fine, 0, 0, 8, 10, 0);
  check_triangle(fine, 1, 8, 1, 9, 0);
  check_triangle(fine, 2, 10, 9, 2, 0);
  check_triangle(fine, 3, 8, 9, 10, 0);
  check_triangle(fine, 4, 4, 11, 5, 1); /* from its side 4-3 on */
  check_triangle(fine, 5, 11, 3, 5, 1);
  check_triangle(fine, 6, 3, 6, 5, 2);
  check_row(fine, 0, (int32_t[]){0, 1, 0}, (double[]){0.5, 0.5, 0});
  check_row(fine, 1, (int32_t[]){1, 2, 1}, (double[]){0.5, 0.5, 0});
  check_row(fine, 2, (int32_t[]){0, 2, 0}, (double[]){0.5, 0.5, 0});
  check_row(fine, 3, (int32_t[]){3, 4, 3}, (double[]){0.5, 0.5, 0});
  sbs_subdivision_free(fine);
}

/* Both neighbors are chosen: the middle one has two split edges, and is divided by its shorter diagonal. */
static void test_three_of_a_triangle_between_two(void) {
  const sbs_mesh_desc mesh = strip();
  const unsigned char chosen[3] = {1, 0, 1};
  const sbs_subdivision *fine = NULL;
  CHECK_EQUAL(sbs_subdivision_new(&mesh, strip_representatives, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine, NULL),
              SBS_OK);
  CHECK_EQUAL(fine->vertex_count, 15); /* 8 to 10; 11 on 3-5 and 12 on 4-3; 13, 14 */
  CHECK_EQUAL(fine->triangle_count, 11);
  check_triangle(fine, 4, 12, 3, 11, 1); /* the corner between the split edges */
  /* from 4, (0, 1), to 11, (1, 1/2), and from 5, (1, 1), to 12, (1/2, 1/2): the second is shorter */
  check_triangle(fine, 5, 4, 12, 5, 1);
  check_triangle(fine, 6, 12, 11, 5, 1);
  sbs_subdivision_free(fine);
}

/* Three triangles at an edge: all of them follow where it is split, and it makes no neighbors. */
static void test_edge_of_three_triangles(void) {
  const double positions[5][3] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}};
  const int32_t triangles[3][3] = {{0, 1, 2}, {0, 1, 3}, {0, 1, 4}};
  const sbs_mesh_desc mesh = describe(5, positions, 3, triangles);
  const unsigned char chosen[3] = {0, 1, 0};
  const sbs_subdivision *fine = NULL;
  CHECK_EQUAL(sbs_subdivision_new(&mesh, NULL, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine, NULL), SBS_OK);
  CHECK_EQUAL(fine->triangle_count, 2 + 4 + 2);
  CHECK_EQUAL(fine->new_vertex_count, 3);
  sbs_subdivision_free(fine);
  double curvatures[3] = {-1, -1, -1};
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, NULL, curvatures, NULL), SBS_OK);
  for (int t = 0; t < 3; t++) CHECK_NEAR(curvatures[t], 0.0, 0.0);
}

static void test_no_triangles(void) {
  const sbs_mesh_desc mesh = describe(8, strip_positions, 0, NULL);
  const sbs_subdivision *fine = NULL;
  CHECK_EQUAL(sbs_subdivision_new(&mesh, NULL, NULL, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine, NULL), SBS_OK);
  CHECK_EQUAL(fine->vertex_count, 8);
  CHECK_EQUAL(fine->triangle_count, 0);
  sbs_subdivision_free(fine);
  sbs_subdivision_free(NULL);
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, NULL, NULL, NULL), SBS_OK);
}

/* A sliver far from the origin: what its corners were rounded to must not decide about a normal. */
static void test_slivers_have_no_normal(void) {
  float positions[4][3] = {{1000, 0, 0}, {1001, 0, 0}, {1002, 1e-5f, 0}, {1000.5f, -1, 0}};
  const int32_t triangles[2][3] = {{0, 1, 2}, {1, 0, 3}};
  sbs_mesh_desc mesh = describe(4, NULL, 2, triangles);
  mesh.scalar = SBS_FLOAT32;
  mesh.positions = positions;
  double curvatures[2] = {-1, -1};
  positions[2][2] = 1e-5f;
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, NULL, curvatures, NULL), SBS_OK);
  CHECK_NEAR(curvatures[0], 0.0, 0.0);
  CHECK_NEAR(curvatures[1], 0.0, 0.0);
  positions[2][2] = 1;
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, NULL, curvatures, NULL), SBS_OK);
  CHECK(curvatures[0] > 1.5 && curvatures[1] == curvatures[0]);
}

static void test_bad_input(void) {
  sbs_mesh_desc mesh = strip();
  const unsigned char chosen[3] = {1, 1, 1};
  const sbs_subdivision *fine = NULL;
  double curvatures[3];
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_subdivision_new(NULL, NULL, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "mesh");
  CHECK_EQUAL(sbs_subdivision_new(&mesh, NULL, NULL, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "chosen");
  CHECK_EQUAL(sbs_subdivision_new(&mesh, NULL, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "subdivision");
  CHECK_EQUAL(sbs_subdivision_new(&mesh, NULL, chosen, (sbs_subdivision_scheme)7, 1, NULL, &fine, &fault),
              SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "scheme");
  CHECK_EQUAL(sbs_subdivision_new(&mesh, NULL, chosen, SBS_SUBDIVISION_1_TO_4, 0, NULL, &fine, &fault),
              SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "levels");
  CHECK_EQUAL(sbs_subdivision_new(&mesh, NULL, chosen, SBS_SUBDIVISION_1_TO_4, 1, &(sbs_allocator){0}, &fine, &fault),
              SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_subdivision_new(&mesh, NULL, chosen, SBS_SUBDIVISION_1_TO_4, INT32_MAX, NULL, &fine, &fault),
              SBS_ERROR_TOO_LARGE);
  CHECK_STRING(fault.argument, "levels");
  CHECK_EQUAL(sbs_mesh_curvature(NULL, NULL, NULL, curvatures, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "curvatures");
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, &(sbs_allocator){0}, curvatures, &fault), SBS_ERROR_NULL);

  const int32_t bad_representatives[8] = {0, 1, 2, 8, 4, 5, 6, 7};
  CHECK_EQUAL(sbs_subdivision_new(&mesh, bad_representatives, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine, &fault),
              SBS_ERROR_VERTEX_INDEX);
  CHECK_STRING(fault.argument, "representatives");
  CHECK_EQUAL(fault.index[0], 3);
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, bad_representatives, NULL, curvatures, &fault), SBS_ERROR_VERTEX_INDEX);
  const int32_t bad_triangles[3][3] = {{0, 1, 2}, {3, 5, 4}, {3, -1, 5}};
  mesh.triangles = bad_triangles[0];
  CHECK_EQUAL(sbs_subdivision_new(&mesh, NULL, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine, &fault),
              SBS_ERROR_VERTEX_INDEX);
  CHECK_STRING(fault.argument, "triangles");
  CHECK_EQUAL(fault.index[0], 2);
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, NULL, curvatures, &fault), SBS_ERROR_VERTEX_INDEX);
  double with_nan[8][3] = {{0}};
  with_nan[4][1] = NAN;
  mesh = describe(8, (const double (*)[3])with_nan, 3, strip_triangles);
  CHECK_EQUAL(sbs_subdivision_new(&mesh, NULL, chosen, SBS_SUBDIVISION_1_TO_4, 1, NULL, &fine, &fault),
              SBS_ERROR_NOT_FINITE);
  CHECK_EQUAL(fault.index[0], 4);
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, NULL, curvatures, &fault), SBS_ERROR_NOT_FINITE);
  mesh = strip();
  mesh.triangle_count = (size_t)INT32_MAX;
  mesh.triangles = NULL;
  CHECK_EQUAL(sbs_mesh_curvature(&mesh, NULL, NULL, curvatures, &fault), SBS_ERROR_NULL);
  CHECK(fine == NULL);
}

int main(void) {
  RUN(test_four_of_one_and_two_of_its_neighbor);
  RUN(test_three_of_a_triangle_between_two);
  RUN(test_edge_of_three_triangles);
  RUN(test_no_triangles);
  RUN(test_slivers_have_no_normal);
  RUN(test_bad_input);
  return harness_result();
}
