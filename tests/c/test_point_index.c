/* SPDX-License-Identifier: MIT */
/* Points within a radius: against all of them, one by one, however they lie. */
#include "base/memory.h"
#include "harness.h"
#include "mesh/point_index.h"
#include "rig.h"

enum {
  POINTS = 3000
};

static void fill(sbs_indexed_point *points, int kind) {
  uint64_t seed = 7;
  for (int32_t i = 0; i < POINTS; i++) {
    double *p = points[i].position;
    points[i].id = i;
    switch (kind) {
      case 0: /* anywhere */
        for (int axis = 0; axis < 3; axis++) p[axis] = random_between(&seed, -1.0, 1.0);
        break;
      case 1: /* a grid, in order: many equal coordinates, which is how meshes come */
        p[0] = i % 15;
        p[1] = (i / 15) % 20;
        p[2] = (double)(i / 300);
        break;
      case 2: /* a line */ p[0] = p[1] = p[2] = -(double)i; break;
      case 3: /* all at one point, but for one far away */ p[0] = p[1] = p[2] = i == 17 ? 1e6 : 1.0; break;
      default: /* of all sizes */
        for (int axis = 0; axis < 3; axis++) p[axis] = ldexp(random_between(&seed, -1.0, 1.0), -i % 300);
        break;
    }
  }
}

static void check_query(const sbs_point_index *index, const double center[3], double radius) {
  static int32_t places[POINTS];
  static double distances[POINTS];
  static unsigned char found[POINTS];
  const size_t count = sbs_point_index_within(index, center, radius, places, distances);
  size_t expected = 0, wrong = 0;
  memset(found, 0, sizeof found);
  for (size_t i = 0; i < count; i++) found[places[i]]++;
  for (size_t i = 0; i < POINTS; i++) {
    const double *p = index->points[i].position;
    const double x = p[0] - center[0], y = p[1] - center[1], z = p[2] - center[2];
    const int within = sqrt(x * x + y * y + z * z) <= radius;
    expected += (size_t)within;
    wrong += found[i] != within;
  }
  CHECK_EQUAL(count, expected);
  CHECK_EQUAL(wrong, 0);
  for (size_t i = 0; i < count; i++) {
    const double *p = index->points[places[i]].position;
    const double x = p[0] - center[0], y = p[1] - center[1], z = p[2] - center[2];
    wrong += distances[i] != sqrt(x * x + y * y + z * z);
  }
  CHECK_EQUAL(wrong, 0);
}

static void test_finds_what_is_within(void) {
  static sbs_indexed_point points[POINTS];
  const sbs_allocator allocator = sbs_default_allocator();
  for (int kind = 0; kind < 5; kind++) {
    sbs_point_index index;
    unsigned char seen[POINTS] = {0};
    fill(points, kind);
    if (!CHECK_EQUAL(sbs_point_index_init(&index, points, POINTS, &allocator), SBS_OK)) return;
    for (size_t i = 0; i < POINTS; i++) seen[points[i].id] = 1;
    for (size_t i = 0; i < POINTS; i++) CHECK(seen[i]); /* sorted, not lost */
    for (size_t i = 0; i < POINTS; i += 151) {
      const double radii[] = {0.0, 1e-9, 0.1, 1.0, 3.0, 1e4, 1e300};
      for (size_t r = 0; r < sizeof radii / sizeof *radii; r++) check_query(&index, points[i].position, radii[r]);
    }
    const double far[3] = {1e9, -1e9, 0.0};
    check_query(&index, far, 1.0);
    check_query(&index, far, 2e9);
    sbs_point_index_free(&index, &allocator);
  }
}

int main(void) {
  RUN(test_finds_what_is_within);
  return harness_result();
}
