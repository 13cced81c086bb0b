/* SPDX-License-Identifier: MIT */
/*
 * Optimized centers: on every instruction set, cancelled at every turn, and all that can be wrong. tests/python holds
 * them against known answers.
 */
#include <float.h>
#include <sbs/centers.h>

#include "counting_allocator.h"
#include "rig.h"

enum {
  RINGS = 33,
  SIDES = 6,
  VERTICES = RINGS * SIDES,
  TRIANGLES = 2 * (RINGS - 1) * SIDES,
  JOINTS = 3,
  INFLUENCES = 2
};

/* A tube along x of length 4 and radius 1: joint 0 gives way to joint 1 up to x = 2, and that to joint 2 beyond. */
typedef struct tube {
  double positions[VERTICES][3];
  int32_t triangles[TRIANGLES][3];
  int32_t joints[VERTICES][INFLUENCES];
  double weights[VERTICES][INFLUENCES];
  sbs_skin_desc desc;
} tube;

static tube *new_tube(void) {
  static tube made;
  size_t count = 0;
  for (int ring = 0; ring < RINGS; ring++) {
    const double x = 4.0 * ring / (RINGS - 1);
    const int first = x < 2.0 ? 0 : 1;
    for (int side = 0; side < SIDES; side++) {
      const int v = ring * SIDES + side, after = ring * SIDES + (side + 1) % SIDES;
      const double angle = 2.0 * acos(-1.0) * side / SIDES, second = 0.5 * (x - 2.0 * first);
      const double position[3] = {x, cos(angle), sin(angle)};
      memcpy(made.positions[v], position, sizeof position);
      made.joints[v][0] = first;
      made.joints[v][1] = first + 1;
      made.weights[v][0] = 1.0 - second;
      made.weights[v][1] = second;
      if (ring + 1 == RINGS) continue;
      const int32_t corners[2][3] = {{v, after, after + SIDES}, {v, after + SIDES, v + SIDES}};
      memcpy(made.triangles[count], corners, sizeof corners);
      count += 2;
    }
  }
  made.desc = sbs_default_skin_desc();
  made.desc.vertex_count = VERTICES;
  made.desc.joint_count = JOINTS;
  made.desc.influences_per_vertex = INFLUENCES;
  made.desc.scalar = SBS_FLOAT64;
  made.desc.rest_positions = made.positions;
  made.desc.joint_indices = made.joints[0];
  made.desc.weight_scalar = SBS_FLOAT64;
  made.desc.joint_weights = made.weights[0];
  return &made;
}

static sbs_status find(const tube *made, const sbs_centers_options *options, double centers[VERTICES][3],
                       sbs_centers_report *report, sbs_fault *fault) {
  return sbs_centers_optimized(&made->desc, TRIANGLES, made->triangles[0], options, centers[0], report, fault);
}

/* Instruction sets round differently, threads do not. */
static void test_instruction_sets_and_threads(void) {
  const tube *made = new_tube();
  static double expected[VERTICES][3], centers[VERTICES][3];
  sbs_centers_options options = sbs_default_centers_options();
  CHECK_EQUAL(find(made, NULL, expected, NULL, NULL), SBS_OK);
  for (int i = 0; i < INSTRUCTION_SETS; i++) {
    if (setenv("SBS_ISA", instruction_sets[i], 1)) abort();
    options.threads = 1;
    CHECK_EQUAL(find(made, &options, centers, NULL, NULL), SBS_OK);
    for (int v = 0; v < VERTICES; v++) {
      for (int axis = 0; axis < 3; axis++) CHECK_NEAR(centers[v][axis], expected[v][axis], 1e3 * DBL_EPSILON);
    }
    for (options.threads = 2; options.threads < 6; options.threads++) {
      static double again[VERTICES][3];
      CHECK_EQUAL(find(made, &options, again, NULL, NULL), SBS_OK);
      CHECK(!memcmp(again, centers, sizeof centers));
    }
  }
  unsetenv("SBS_ISA");
}

typedef struct listener {
  size_t calls, stop_at;
  double last;
} listener;

static int listen(double fraction, void *user) {
  listener *to = user;
  CHECK(fraction >= to->last && fraction <= 1.0);
  to->last = fraction;
  return to->calls++ == to->stop_at;
}

/*
 * Asked to give up at each call in turn, nothing is written and everything is given back. How many calls there are
 * depends on how much of the work others do.
 */
static void test_cancel(void) {
  const tube *made = new_tube();
  static double centers[VERTICES][3];
  allocation_counter counter = {.fail_at = SIZE_MAX};
  sbs_centers_options options = sbs_default_centers_options();
  size_t stop_at = 0;
  options.progress = listen;
  options.allocator = counting_allocator(&counter);
  for (options.threads = 1; options.threads < 3; options.threads++) {
    for (stop_at = 0; stop_at < 1000; stop_at++) {
      listener to = {.stop_at = stop_at};
      sbs_centers_report report = {.samples = 7};
      sbs_fault fault = {0};
      options.progress_user = &to;
      centers[0][0] = 77.0;
      const sbs_status status = find(made, &options, centers, &report, &fault);
      CHECK_EQUAL(counter.allocated, counter.released);
      if (status == SBS_OK) {
        CHECK(to.last == 1.0);
        CHECK(options.threads > 1 || to.calls == stop_at);
        break;
      }
      CHECK_EQUAL(status, SBS_ERROR_CANCELLED);
      CHECK_EQUAL(to.calls, stop_at + 1);
      CHECK(centers[0][0] == 77.0);
      CHECK_EQUAL(report.samples, 7);
      CHECK(fault.argument == NULL);
    }
    CHECK(stop_at > (options.threads > 1 ? 0 : 4) && stop_at < 1000);
  }
}

static void check_error(const tube *made, const sbs_centers_options *options, sbs_status expected,
                        const char *argument) {
  static double centers[VERTICES][3];
  sbs_fault fault = {0};
  centers[0][0] = 77.0;
  CHECK_EQUAL(find(made, options, centers, NULL, &fault), expected);
  CHECK_STRING(fault.argument, argument);
  CHECK(centers[0][0] == 77.0);
}

static void test_bad_input_is_named(void) {
  tube *made = new_tube();
  double centers[3];
  sbs_fault fault = {0};
  CHECK_REFUSED(sbs_centers_optimized(NULL, 1, made->triangles[0], NULL, centers, NULL, &fault), SBS_ERROR_NULL,
                "desc");
  CHECK_REFUSED(sbs_centers_optimized(&made->desc, 1, made->triangles[0], NULL, NULL, NULL, &fault), SBS_ERROR_NULL,
                "centers");
  CHECK_REFUSED(sbs_centers_optimized(&made->desc, 1, NULL, NULL, centers, NULL, &fault), SBS_ERROR_NULL, "triangles");
  CHECK_REFUSED(sbs_centers_optimized(&made->desc, 0, NULL, NULL, centers, NULL, &fault), SBS_ERROR_EMPTY, "triangles");

  const double wrong[][3] = {{0.0, 0.1, 0.0}, {NAN, 0.1, 0.0},  {INFINITY, 0.1, 0.0}, {0.1, 0.0, 0.0},
                             {0.1, NAN, 0.0}, {0.1, 0.1, -1.0}, {0.1, 0.1, NAN}};
  const char *const names[] = {"sigma", "sigma", "sigma", "refinement", "refinement", "tolerance", "tolerance"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    sbs_centers_options options = sbs_default_centers_options();
    options.sigma = wrong[i][0];
    options.refinement = wrong[i][1];
    options.tolerance = wrong[i][2];
    check_error(made, &options, SBS_ERROR_OPTION, names[i]);
  }
  sbs_centers_options options = sbs_default_centers_options();
  options.threads = -1;
  check_error(made, &options, SBS_ERROR_OPTION, "threads");
  options = sbs_default_centers_options();
  options.allocator.release = NULL;
  check_error(made, &options, SBS_ERROR_NULL, "allocator.release");

  made->triangles[5][1] = VERTICES;
  check_error(made, NULL, SBS_ERROR_VERTEX_INDEX, "triangles");
  made = new_tube();
  made->joints[5][1] = JOINTS;
  check_error(made, NULL, SBS_ERROR_JOINT_INDEX, "joint_indices");
  made = new_tube();
  made->positions[5][1] = NAN;
  check_error(made, NULL, SBS_ERROR_NOT_FINITE, "rest_positions");
  made = new_tube();
  made->desc.rest_positions_stride = 8;
  check_error(made, NULL, SBS_ERROR_STRIDE, "rest_positions_stride");
}

/* Coordinates of any size, and with room between them. */
static void test_sizes_and_strides(void) {
  static double far[VERTICES][4], centers[VERTICES][3], expected[VERTICES][3];
  const double sizes[] = {1e-300, 1e300};
  for (int i = 0; i < 2; i++) {
    tube *made = new_tube();
    CHECK_EQUAL(find(made, NULL, expected, NULL, NULL), SBS_OK);
    for (int v = 0; v < VERTICES; v++) {
      for (int axis = 0; axis < 3; axis++) far[v][axis] = sizes[i] * made->positions[v][axis];
      far[v][3] = NAN;
    }
    made->desc.rest_positions = far;
    made->desc.rest_positions_stride = sizeof far[0];
    CHECK_EQUAL(find(made, NULL, centers, NULL, NULL), SBS_OK);
    for (int v = 0; v < VERTICES; v++) {
      for (int axis = 0; axis < 3; axis++) {
        CHECK_NEAR(centers[v][axis] / sizes[i], expected[v][axis], 1e3 * DBL_EPSILON);
      }
    }
  }
}

int main(void) {
  RUN(test_instruction_sets_and_threads);
  RUN(test_cancel);
  RUN(test_bad_input_is_named);
  RUN(test_sizes_and_strides);
  return harness_result();
}
