/* SPDX-License-Identifier: MIT */
/*
 * Surfaces: nearest points against every triangle alone, blocked segments, crossing triangles, islands. tests/python
 * holds nearest points and crossing triangles against other programs.
 */
#include <float.h>
#include <sbs/surface.h>

#include "rig.h"

static sbs_mesh_desc mesh_of(const void *positions, size_t vertex_count, const int32_t *triangles,
                             size_t triangle_count) {
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  mesh.vertex_count = vertex_count;
  mesh.scalar = SBS_FLOAT64;
  mesh.positions = positions;
  mesh.triangle_count = triangle_count;
  mesh.triangles = triangles;
  return mesh;
}

/* A right triangle in the plane z = 0 with legs of 4 and 3, and one of no area: a segment from x = 10 to 12. */
static const double positions[6][3] = {{0, 0, 0}, {4, 0, 0}, {0, 3, 0}, {10, 0, 0}, {12, 0, 0}, {11, 0, 0}};
static const int32_t triangles[2][3] = {{0, 1, 2}, {3, 5, 4}};

static sbs_surface *new_surface(const sbs_mesh_desc *mesh) {
  sbs_surface *surface = NULL;
  CHECK_EQUAL(sbs_surface_new(mesh, NULL, &surface, NULL), SBS_OK);
  return surface;
}

/* 1e300 times the size of the mesh away, where the square of that is no number any more. */
static void test_points_far_from_a_tiny_mesh(void) {
  const double tiny[3][3] = {{0.0, 0.0, 0.0}, {1e-300, 0.0, 0.0}, {0.0, 1e-300, 0.0}};
  const double points[2][3] = {{-3.0, 0.0, 4.0}, {0.0, 1e10, 0.0}};
  const int32_t corners[3] = {0, 1, 2};
  const sbs_mesh_desc mesh = mesh_of(tiny, 3, corners, 1);
  sbs_surface *surface = new_surface(&mesh);
  int32_t found[2];
  double barycentric[2][3], distances[2];
  CHECK_EQUAL(sbs_surface_nearest(surface, points[0], 2, NULL, NULL, 1, found, barycentric[0], distances, NULL),
              SBS_OK);
  CHECK(found[0] == 0 && found[1] == 0);
  CHECK_NEAR(distances[0], 5.0, 8 * DBL_EPSILON * 5.0);
  CHECK_NEAR(distances[1], 1e10, 8 * DBL_EPSILON * 1e10);
  sbs_surface_free(surface);
}

static void test_labels_pass_triangles_over(void) {
  const sbs_mesh_desc mesh = mesh_of(positions, 6, triangles[0], 2);
  sbs_surface *surface = new_surface(&mesh);
  const double points[3][3] = {{1, 1, 1}, {1, 1, 1}, {11, 0, 3}};
  const int32_t point_labels[3] = {7, 8, 9}, labels[2] = {7, 9}, same[2] = {8, 8};
  int32_t found[3];
  double barycentric[3][3], distances[3];
  CHECK_EQUAL(
      sbs_surface_nearest(surface, points[0], 3, point_labels, labels, 1, found, barycentric[0], distances, NULL),
      SBS_OK);
  CHECK(found[0] == 1 && found[1] == 0 && found[2] == 0); /* the nearer one has the label of the first */
  CHECK_EQUAL(sbs_surface_nearest(surface, points[0], 3, point_labels, same, 1, found, barycentric[0], distances, NULL),
              SBS_OK);
  CHECK(found[1] == -1 && isinf(distances[1]) && barycentric[1][0] == 0.0);
  sbs_surface_free(surface);
}

static void test_ties_go_to_the_lowest_triangle(void) {
  const int32_t equal[9][3] = {{0, 1, 2}, {0, 1, 2}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2},
                               {0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {0, 1, 2}};
  const sbs_mesh_desc mesh = mesh_of(positions, 6, equal[0], 9);
  sbs_surface *surface = new_surface(&mesh);
  const double corner[3] = {0, 0, 1};
  int32_t triangle = -1;
  double barycentric[3], distance;
  CHECK_EQUAL(sbs_surface_nearest(surface, corner, 1, NULL, NULL, 1, &triangle, barycentric, &distance, NULL), SBS_OK);
  CHECK_EQUAL(triangle, 0);
  sbs_surface_free(surface);
}

enum {
  VERTICES = 300,
  TRIANGLES = 700,
  POINTS = 1000
};

typedef struct soup {
  double positions[VERTICES][3], points[POINTS][3], ends[POINTS][3];
  int32_t triangles[TRIANGLES][3];
} soup;

/* Triangles without any order, of all sizes; some are points and segments. */
static void make_soup(soup *made, double size) {
  uint64_t seed = 3;
  for (int v = 0; v < VERTICES; v++) {
    for (int i = 0; i < 3; i++) made->positions[v][i] = size * random_between(&seed, -1.0, 1.0);
  }
  for (int p = 0; p < POINTS; p++) {
    for (int i = 0; i < 3; i++) made->points[p][i] = size * random_between(&seed, -2.0, 2.0);
    for (int i = 0; i < 3; i++) made->ends[p][i] = made->points[p][i] + size * random_between(&seed, -0.5, 0.5);
  }
  for (int t = 0; t < TRIANGLES; t++) {
    for (int i = 0; i < 3; i++) made->triangles[t][i] = (int32_t)random_between(&seed, 0.0, VERTICES - 0.001);
    if (t % 50 == 0) made->triangles[t][1] = made->triangles[t][0];
    if (t % 100 == 0) made->triangles[t][2] = made->triangles[t][0];
  }
}

/* The tree agrees with a look at every triangle alone, in any unit and by any number of threads. */
static void test_tree_agrees_with_every_triangle_alone(void) {
  static soup made;
  static int32_t found[POINTS], again[POINTS];
  static double barycentric[POINTS][3], distances[POINTS], least[POINTS];
  static unsigned char blocked[POINTS], any[POINTS], one[POINTS];
  const double sizes[] = {1.0, 1e-150, 1e150};
  for (int s = 0; s < 3; s++) {
    make_soup(&made, sizes[s]);
    const sbs_mesh_desc mesh = mesh_of(made.positions, VERTICES, made.triangles[0], TRIANGLES);
    sbs_surface *surface = new_surface(&mesh);
    CHECK_EQUAL(
        sbs_surface_nearest(surface, made.points[0], POINTS, NULL, NULL, 3, found, barycentric[0], distances, NULL),
        SBS_OK);
    CHECK_EQUAL(sbs_surface_nearest(surface, made.points[0], POINTS, NULL, NULL, 1, again, barycentric[0], least, NULL),
                SBS_OK);
    CHECK(memcmp(found, again, sizeof found) == 0);
    CHECK(memcmp(distances, least, sizeof distances) == 0);
    CHECK_EQUAL(sbs_surface_blocked(surface, made.points[0], made.ends[0], POINTS, NULL, 0, blocked, NULL), SBS_OK);
    sbs_surface_free(surface);

    memset(any, 0, sizeof any);
    for (int p = 0; p < POINTS; p++) least[p] = INFINITY;
    for (int t = 0; t < TRIANGLES; t++) {
      static double alone[POINTS];
      const sbs_mesh_desc single = mesh_of(made.positions, VERTICES, made.triangles[t], 1);
      surface = new_surface(&single);
      sbs_surface_nearest(surface, made.points[0], POINTS, NULL, NULL, 1, again, barycentric[0], alone, NULL);
      sbs_surface_blocked(surface, made.points[0], made.ends[0], POINTS, NULL, 1, one, NULL);
      sbs_surface_free(surface);
      for (int p = 0; p < POINTS; p++) {
        least[p] = fmin(least[p], alone[p]);
        any[p] |= one[p];
      }
    }
    /* a box is left out that is farther than the best by a rounding error only */
    for (int p = 0; p < POINTS; p++) CHECK_NEAR(distances[p] / sizes[s], least[p] / sizes[s], 8 * DBL_EPSILON);
    CHECK(memcmp(blocked, any, sizeof blocked) == 0);
    CHECK(memchr(blocked, 0, sizeof blocked) && memchr(blocked, 1, sizeof blocked));
  }
}

static void test_blocked_by_hand(void) {
  static const struct {
    double start[3], end[3];
    int32_t vertex;
    int blocked;
  } cases[] = {
      {{1, 1, 1}, {1, 1, -1}, -1, 1},     /* through the middle */
      {{1, 1, 1}, {1, 1, 0.5}, -1, 0},    /* ends before */
      {{3, 3, 1}, {3, 3, -1}, -1, 0},     /* past it */
      {{2, 1.5, 1}, {2, 1.5, -1}, -1, 1}, /* through a side */
      {{0, 0, 1}, {0, 0, -1}, -1, 1},     /* through a corner */
      {{0, 0, 1}, {0, 0, -1}, 0, 0},      /* which it is told to start from */
      {{1, 1, 0}, {1, 1, -1}, -1, 0},     /* starts on it */
      {{-1, 1, 0}, {5, 1, 0}, -1, 0},     /* within its plane */
      {{11, 0, 1}, {11, 0, -1}, -1, 0},   /* a triangle of no area */
      {{1, 1, 1}, {1, 1, 1}, -1, 0},      /* a segment of no length */
  };
  const sbs_mesh_desc mesh = mesh_of(positions, 6, triangles[0], 2);
  sbs_surface *surface = new_surface(&mesh);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char blocked = 2;
    CHECK_EQUAL(sbs_surface_blocked(surface, cases[i].start, cases[i].end, 1, &cases[i].vertex, 1, &blocked, NULL),
                SBS_OK);
    CHECK_EQUAL(blocked, cases[i].blocked);
  }
  sbs_surface_free(surface);
}

/* From within a cube every segment to the outside is blocked, also where it passes edges and corners. */
static void test_a_closed_surface_has_no_gaps(void) {
  static const double corners[8][3] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                       {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
  static const int32_t sides[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                       {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  const sbs_mesh_desc mesh = mesh_of(corners, 8, sides[0], 12);
  sbs_surface *surface = new_surface(&mesh);
  size_t open = 0;
  for (int x = -6; x <= 6; x++) {
    for (int y = -6; y <= 6; y++) {
      for (int z = -6; z <= 6; z++) {
        if (abs(x) < 6 && abs(y) < 6 && abs(z) < 6) continue;
        const double start[3] = {0, 0, 0}, end[3] = {x / 3.0, y / 3.0, z / 3.0};
        unsigned char blocked;
        sbs_surface_blocked(surface, start, end, 1, NULL, 1, &blocked, NULL);
        open += !blocked;
      }
    }
  }
  CHECK_EQUAL(open, 0);
  sbs_surface_free(surface);
}

/* Two triangles that share a point and cross, but not where it is one vertex. */
static void test_crossing(void) {
  static const double corners[6][3] = {{0, 0, 0}, {4, 0, 0}, {0, 3, 0}, {0, 0, 0}, {1, 1, -1}, {1, 1, 1}};
  static const int32_t both[2][3] = {{0, 1, 2}, {3, 4, 5}}, welded[6] = {0, 1, 2, 0, 4, 5};
  const sbs_mesh_desc mesh = mesh_of(corners, 6, both[0], 2);
  sbs_surface *surface = new_surface(&mesh);
  for (int threads = 1; threads < 4; threads++) {
    unsigned char crossing[2] = {5, 5};
    CHECK_EQUAL(sbs_surface_crossing(surface, NULL, threads, crossing, NULL), SBS_OK);
    CHECK(crossing[0] == 1 && crossing[1] == 1);
    CHECK_EQUAL(sbs_surface_crossing(surface, welded, threads, crossing, NULL), SBS_OK);
    CHECK(!crossing[0] && !crossing[1]);
  }
  sbs_surface_free(surface);
}

static void test_islands(void) {
  const int32_t joined[4][3] = {{5, 6, 7}, {1, 2, 1}, {8, 5, 2}, {4, 4, 4}};
  const int32_t expected[9] = {0, 1, 1, 2, 3, 1, 1, 1, 1};
  sbs_mesh_desc mesh = mesh_of(NULL, 9, joined[0], 4);
  int32_t islands[9];
  size_t count = 0;
  CHECK_EQUAL(sbs_mesh_islands(&mesh, islands, &count, NULL), SBS_OK);
  CHECK_EQUAL(count, 4);
  for (int v = 0; v < 9; v++) CHECK_EQUAL(islands[v], expected[v]);

  mesh.triangle_count = 0;
  mesh.triangles = NULL;
  CHECK_EQUAL(sbs_mesh_islands(&mesh, islands, &count, NULL), SBS_OK);
  CHECK_EQUAL(count, 9);
  for (int v = 0; v < 9; v++) CHECK_EQUAL(islands[v], v);
}

static void test_bad_input_is_named(void) {
  sbs_surface *surface = NULL;
  sbs_fault fault = {0};
  sbs_mesh_desc mesh = mesh_of(positions, 6, triangles[0], 0);
  CHECK_REFUSED(sbs_surface_new(NULL, NULL, &surface, &fault), SBS_ERROR_NULL, "mesh");
  CHECK_REFUSED(sbs_surface_new(&mesh, NULL, &surface, &fault), SBS_ERROR_EMPTY, "triangles");
  const int32_t wild[2][3] = {{0, 1, 2}, {0, 6, 1}};
  mesh = mesh_of(positions, 6, wild[0], 2);
  CHECK_EQUAL(sbs_surface_new(&mesh, NULL, &surface, &fault), SBS_ERROR_VERTEX_INDEX);
  CHECK_EQUAL(fault.index[0], 1);
  CHECK_EQUAL(fault.index[1], 1);
  const double bad[3][3] = {{0, 0, 0}, {1, NAN, 0}, {0, 1, 0}};
  mesh = mesh_of(bad, 3, triangles[0], 1);
  CHECK_REFUSED(sbs_surface_new(&mesh, NULL, &surface, &fault), SBS_ERROR_NOT_FINITE, "positions");
  CHECK(surface == NULL);
  sbs_surface_free(NULL);

  mesh = mesh_of(positions, 6, triangles[0], 2);
  surface = new_surface(&mesh);
  int32_t label = 0, triangle = 5;
  double barycentric[3], distance;
  unsigned char blocked = 5;
  CHECK_REFUSED(sbs_surface_nearest(surface, bad[0], 3, NULL, NULL, 1, &triangle, barycentric, &distance, &fault),
                SBS_ERROR_NOT_FINITE, "points");
  CHECK_EQUAL(fault.index[0], 1);
  CHECK_REFUSED(sbs_surface_nearest(surface, bad[0], 1, &label, NULL, 1, &triangle, barycentric, &distance, &fault),
                SBS_ERROR_NULL, "triangle_labels");
  CHECK_REFUSED(sbs_surface_blocked(surface, bad[0], bad[1], 1, NULL, 1, &blocked, &fault), SBS_ERROR_NOT_FINITE,
                "ends");
  CHECK_REFUSED(sbs_surface_crossing(NULL, NULL, 1, &blocked, &fault), SBS_ERROR_NULL, "surface");
  CHECK_REFUSED(sbs_surface_crossing(surface, NULL, 1, NULL, &fault), SBS_ERROR_NULL, "crossing");
  CHECK_EQUAL(triangle, 5);
  CHECK_EQUAL(blocked, 5);
  sbs_surface_free(surface);

  size_t count = 5;
  mesh.triangles = wild[0];
  CHECK_EQUAL(sbs_mesh_islands(&mesh, &triangle, &count, &fault), SBS_ERROR_VERTEX_INDEX);
  CHECK_EQUAL(sbs_mesh_islands(&mesh, NULL, &count, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(count, 5);
}

int main(void) {
  RUN(test_points_far_from_a_tiny_mesh);
  RUN(test_labels_pass_triangles_over);
  RUN(test_ties_go_to_the_lowest_triangle);
  RUN(test_tree_agrees_with_every_triangle_alone);
  RUN(test_blocked_by_hand);
  RUN(test_a_closed_surface_has_no_gaps);
  RUN(test_crossing);
  RUN(test_islands);
  RUN(test_bad_input_is_named);
  return harness_result();
}
