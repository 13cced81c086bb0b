/* SPDX-License-Identifier: MIT */
/* Relaxation: the energy's gradient, a patch at rest and a squeezed one, bad input. */
#include <sbs/relaxation.h>

#include "counting_allocator.h"
#include "rig.h"

/*
 * A tube along x about a bone of two halves, at rest from -2 to 2 and of radius 1, in rings; the first two and the last
 * two are held.
 */
enum {
  RINGS = 11,
  AROUND = 8,
  VERTICES = RINGS * AROUND,
  TRIANGLES = 2 * (RINGS - 1) * AROUND
};
static double rest[VERTICES][3], posed[VERTICES][3], planes[VERTICES][4], distances[VERTICES];
static int32_t triangles[TRIANGLES][3], parts[TRIANGLES], vertex_bones[VERTICES][2];
static unsigned char is_free[VERTICES];
static double bones[2][6] = {{-2, 0, 0, 0, 0, 0}, {0, 0, 0, 2, 0, 0}}, apexes[2][3];
static double rest_volumes[2] = {5.6, 5.6}, held_volumes[2] = {0.2, -0.1};

static int32_t vertex_at(int ring, int place) {
  return ring * AROUND + place % AROUND;
}

/* Posed as at rest, without planes. */
static sbs_relaxation_desc describe(void) {
  for (int ring = 0; ring < RINGS; ring++) {
    for (int place = 0; place < AROUND; place++) {
      const int32_t v = vertex_at(ring, place);
      const double angle = 2 * acos(-1.0) * (place + 0.5 * ring) / AROUND;
      rest[v][0] = 4.0 * ring / (RINGS - 1) - 2.0;
      rest[v][1] = cos(angle);
      rest[v][2] = sin(angle);
      is_free[v] = ring > 1 && ring < RINGS - 2;
      distances[v] = place ? 1.0 : 0.0;
      vertex_bones[v][0] = 0;
      vertex_bones[v][1] = ring > RINGS / 2 ? 1 : -1;
      if (ring == RINGS - 1) continue;
      int32_t *two = triangles[2 * v];
      two[0] = v, two[1] = two[3] = vertex_at(ring + 1, place), two[4] = vertex_at(ring + 1, place + 1);
      two[2] = two[5] = vertex_at(ring, place + 1);
      parts[2 * v] = parts[2 * v + 1] = ring == 3 ? -1 : ring > RINGS / 2;
    }
  }
  memcpy(posed, rest, sizeof posed);
  sbs_relaxation_desc desc = sbs_default_relaxation_desc();
  desc.vertex_count = VERTICES;
  desc.triangle_count = TRIANGLES;
  desc.rest_positions = rest[0];
  desc.positions = posed[0];
  desc.triangles = triangles[0];
  desc.free_vertices = is_free;
  desc.size = 1.0;
  desc.bone_count = 2;
  desc.bones = bones[0];
  desc.vertex_bones = vertex_bones[0];
  desc.distances = distances;
  return desc;
}

/* All that an energy may have, in a pose where the parts of it are of about the same size. */
static sbs_relaxation_desc describe_all(void) {
  sbs_relaxation_desc desc = describe();
  uint64_t seed = 5;
  for (int v = 0; v < VERTICES; v++) {
    for (int axis = 0; axis < 3; axis++) posed[v][axis] += random_between(&seed, -0.1, 0.1);
    const double plane[4] = {0.6, 0.0, -0.8, 0.1};
    if (v % 3) memcpy(planes[v], plane, sizeof plane);
  }
  desc.planes = planes[0];
  desc.part_count = 2;
  desc.triangle_parts = parts;
  desc.apexes = apexes[0];
  desc.rest_volumes = rest_volumes;
  desc.held_volumes = held_volumes;
  return desc;
}

static void test_gradient(void) {
  const sbs_relaxation_desc desc = describe_all();
  double gradient[VERTICES][3], energy, most = 0.0, worst = 0.0;
  CHECK_EQUAL(sbs_relaxation_energy(&desc, NULL, &energy, gradient[0], NULL), SBS_OK);
  for (int v = 0; v < VERTICES; v++) {
    for (int axis = 0; axis < 3; axis++) {
      const double step = 1e-6, at = posed[v][axis];
      double above, below;
      if (!is_free[v]) {
        CHECK(gradient[v][axis] == 0.0);
        continue;
      }
      posed[v][axis] = at + step;
      CHECK_EQUAL(sbs_relaxation_energy(&desc, NULL, &above, NULL, NULL), SBS_OK);
      posed[v][axis] = at - step;
      CHECK_EQUAL(sbs_relaxation_energy(&desc, NULL, &below, NULL, NULL), SBS_OK);
      posed[v][axis] = at;
      most = fmax(most, fabs(gradient[v][axis]));
      worst = fmax(worst, fabs((above - below) / (2 * step) - gradient[v][axis]));
    }
  }
  CHECK(most > 0.01);
  CHECK_NEAR(worst / most, 0.0, 1e-7);
}

/* Each factor has its part in the energy. */
static void test_factors(void) {
  const sbs_relaxation_desc desc = describe_all();
  sbs_relaxation_options options = sbs_default_relaxation_options();
  double *const factors[] = {&options.bending, &options.volume, &options.crease, &options.thinner, &options.thicker};
  double all, without, sum = 0.0;
  CHECK_EQUAL(sbs_relaxation_energy(&desc, &options, &all, NULL, NULL), SBS_OK);
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
    const double factor = *factors[i];
    *factors[i] = 0.0;
    CHECK_EQUAL(sbs_relaxation_energy(&desc, &options, &without, NULL, NULL), SBS_OK);
    CHECK(without < all - 1e-5);
    sum += all - without;
    *factors[i] = factor;
  }
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) *factors[i] = 0.0;
  CHECK_EQUAL(sbs_relaxation_energy(&desc, &options, &without, NULL, NULL), SBS_OK);
  CHECK(without > 1e-3);
  CHECK_NEAR(without + sum, all, 1e-13);
}

static void test_rest_stays(void) {
  const sbs_relaxation_desc desc = describe();
  sbs_relaxation_options options = sbs_default_relaxation_options();
  options.thicker = options.thinner = 0.0;
  double found[VERTICES][3], energy;
  sbs_relaxation_report report;
  CHECK_EQUAL(sbs_relaxation_energy(&desc, &options, &energy, NULL, NULL), SBS_OK);
  CHECK_NEAR(energy, 0.0, 0.01); /* of the 0.001 that keeps the strain finite */
  CHECK_EQUAL(sbs_relaxation_minimize(&desc, &options, found[0], &report, NULL), SBS_OK);
  for (int v = 0; v < VERTICES; v++) {
    for (int axis = 0; axis < 3; axis++) CHECK_NEAR(found[v][axis], rest[v][axis], is_free[v] ? 2e-3 : 0.0);
  }
}

/* A tube whose free part is squeezed and pushed aside opens again, whatever the unit is. */
static void test_squeezed_opens(void) {
  const double units[] = {1.0, 1e-4, 1e5};
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    sbs_relaxation_desc desc = describe();
    double found[VERTICES][3], scaled_bones[2][6], farthest = 0.0;
    sbs_relaxation_report report;
    for (int v = 0; v < VERTICES; v++) {
      if (is_free[v]) posed[v][1] = 0.2 * posed[v][1] + 0.3, posed[v][2] *= 0.3;
      for (int axis = 0; axis < 3; axis++) posed[v][axis] *= units[u], rest[v][axis] *= units[u];
      distances[v] *= units[u];
    }
    for (int i = 0; i < 2; i++) {
      for (int k = 0; k < 6; k++) scaled_bones[i][k] = units[u] * bones[i][k];
    }
    desc.bones = scaled_bones[0];
    desc.size = units[u];
    CHECK_EQUAL(sbs_relaxation_minimize(&desc, NULL, found[0], &report, NULL), SBS_OK);
    CHECK(report.first_energy > 1.0);
    CHECK(report.energy < 0.02 && report.energy >= -0.01);
    CHECK(report.iterations > 5 && report.iterations <= 150);
    for (int v = 0; v < VERTICES; v++) {
      for (int axis = 0; axis < 3; axis++) {
        farthest = fmax(farthest, fabs(found[v][axis] - rest[v][axis]) / units[u]);
        if (!is_free[v]) CHECK(found[v][axis] == posed[v][axis]);
      }
    }
    CHECK(farthest < 0.05);
  }
}

static void check_refused(const sbs_relaxation_desc *desc, sbs_status status, const char *argument, size_t row) {
  double energy = 77.0, found[VERTICES][3] = {{77.0}};
  sbs_fault fault = {0};
  CHECK_REFUSED(sbs_relaxation_energy(desc, NULL, &energy, NULL, &fault), status, argument);
  CHECK_EQUAL(fault.index[0], row);
  CHECK_EQUAL(sbs_relaxation_minimize(desc, NULL, found[0], NULL, &fault), status);
  CHECK(energy == 77.0 && found[0][0] == 77.0);
}

static void test_bad_input(void) {
  const sbs_relaxation_desc good = describe_all();
  sbs_relaxation_desc desc;
#define REFUSED(change, status, argument, row) \
  desc = good, desc.change; \
  check_refused(&desc, status, argument, row)
  REFUSED(vertex_count = 0, SBS_ERROR_EMPTY, "vertex_count", 0);
  REFUSED(free_vertices = NULL, SBS_ERROR_NULL, "free_vertices", 0);
  REFUSED(apexes = NULL, SBS_ERROR_NULL, "apexes", 0);
  REFUSED(vertex_bones = NULL, SBS_ERROR_NULL, "vertex_bones", 0);
  REFUSED(vertex_count = VERTICES - 1, SBS_ERROR_VERTEX_INDEX, "triangles", TRIANGLES - 3);
  REFUSED(size = 0.0, SBS_ERROR_OPTION, "size", 0);
  REFUSED(part_count = 1, SBS_ERROR_OPTION, "triangle_parts", 2 * AROUND * (RINGS / 2 + 1));
  REFUSED(bone_count = 1, SBS_ERROR_OPTION, "vertex_bones", AROUND * (RINGS / 2 + 1));
#undef REFUSED
  posed[7][2] = NAN;
  check_refused(&good, SBS_ERROR_NOT_FINITE, "positions", 7);
  for (int v = 0; v < VERTICES; v++) {
    posed[v][2] = v % 2 ? 1e30 : -1e30;
    for (int axis = 0; axis < 3; axis++) rest[v][axis] *= 1e-60;
  }
  check_refused(&good, SBS_ERROR_TOO_LARGE, "positions", 0);

  sbs_relaxation_options options = sbs_default_relaxation_options();
  double energy;
  sbs_fault fault;
  options.thicker = -1.0;
  CHECK_REFUSED(sbs_relaxation_energy(&good, &options, &energy, NULL, &fault), SBS_ERROR_OPTION, "thicker");
  CHECK_EQUAL(sbs_relaxation_energy(NULL, NULL, &energy, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_relaxation_energy(&good, NULL, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_relaxation_minimize(&good, NULL, NULL, NULL, NULL), SBS_ERROR_NULL);
}

/* Meshes that are out of order: results are finite all the same. */
static void test_degenerate(void) {
  sbs_relaxation_desc desc = describe_all();
  double found[VERTICES][3];
  sbs_relaxation_report report;
  for (int v = 0; v < AROUND; v++) memcpy(rest[5 * AROUND + v], rest[5 * AROUND], sizeof rest[0]); /* no area */
  for (int v = 0; v < AROUND; v++) memcpy(posed[4 * AROUND + v], posed[4 * AROUND], sizeof posed[0]);
  for (int axis = 0; axis < 3; axis++) posed[60][axis] = 0.0; /* on the bone */
  memcpy(triangles[50], triangles[60], sizeof triangles[0]);  /* twice the same, three at an edge */
  triangles[70][0] = triangles[70][1] = triangles[70][2];     /* a point */
  const int32_t turned = triangles[80][0];                    /* the other way around */
  triangles[80][0] = triangles[80][1];
  triangles[80][1] = turned;
  rest_volumes[1] = 0.0;
  CHECK_EQUAL(sbs_relaxation_minimize(&desc, NULL, found[0], &report, NULL), SBS_OK);
  rest_volumes[1] = 5.6;
  CHECK(report.energy <= report.first_energy);
  for (int v = 0; v < VERTICES; v++) {
    for (int axis = 0; axis < 3; axis++) CHECK(fabs(found[v][axis]) < 100.0);
  }
  memset(is_free, 0, sizeof is_free); /* nothing moves */
  CHECK_EQUAL(sbs_relaxation_minimize(&desc, NULL, found[0], &report, NULL), SBS_OK);
  CHECK(memcmp(found, posed, sizeof found) == 0 && report.iterations == 0);
}

/* A volume at rest whose square underflows, of cones that are flat in the pose. */
static void test_tiny_volume(void) {
  const double volumes[] = {1e-140, 1e-170, 1e-310};
  for (size_t i = 0; i < sizeof volumes / sizeof *volumes; i++) {
    sbs_relaxation_desc desc = describe();
    const double apex[3] = {0.0, 0.0, 0.0};
    double energy = 77.0, gradient[VERTICES][3] = {{77.0}};
    sbs_fault fault = {0};
    for (int v = 0; v < VERTICES; v++) posed[v][2] = 0.0;
    for (int t = 0; t < TRIANGLES; t++) parts[t] = 0;
    desc.part_count = 1;
    desc.triangle_parts = parts;
    desc.apexes = apex;
    desc.rest_volumes = volumes + i;
    const sbs_status status = sbs_relaxation_energy(&desc, NULL, &energy, gradient[0], &fault);
    CHECK_EQUAL(status, volumes[i] > 1e-300 ? SBS_OK : SBS_ERROR_TOO_LARGE);
    if (status) CHECK(energy == 77.0 && gradient[0][0] == 77.0);
    for (int v = 0; v < VERTICES; v++) CHECK(isfinite(gradient[v][0] + gradient[v][1] + gradient[v][2]));
  }
}

static sbs_status minimize(const sbs_allocator *allocator, void *found) {
  const sbs_relaxation_desc desc = describe_all();
  sbs_relaxation_options options = sbs_default_relaxation_options();
  options.allocator = *allocator;
  options.iterations = 3;
  return sbs_relaxation_minimize(&desc, &options, found, NULL, NULL);
}

static void test_allocations(void) {
  double found[VERTICES][3];
  CHECK(fail_each_allocation(minimize, NULL, found) > 10);
}

static int stop_at_half(double fraction, void *user) {
  ++*(int *)user;
  return fraction >= 0.5;
}

static void test_cancelled(void) {
  const sbs_relaxation_desc desc = describe_all();
  sbs_relaxation_options options = sbs_default_relaxation_options();
  double found[VERTICES][3] = {{77.0}};
  int told = 0;
  options.iterations = 10;
  sbs_set_progress(stop_at_half, &told);
  CHECK_EQUAL(sbs_relaxation_minimize(&desc, &options, found[0], NULL, NULL), SBS_ERROR_CANCELLED);
  sbs_set_progress(NULL, NULL);
  CHECK(told >= 6 && found[0][0] == 77.0);
}

int main(void) {
  RUN(test_gradient);
  RUN(test_factors);
  RUN(test_rest_stays);
  RUN(test_squeezed_opens);
  RUN(test_bad_input);
  RUN(test_degenerate);
  RUN(test_tiny_volume);
  RUN(test_allocations);
  RUN(test_cancelled);
  return harness_result();
}
