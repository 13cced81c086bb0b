/* SPDX-License-Identifier: MIT */
/*
 * Optimized centers: on every instruction set, cancelled at every turn, and all that can be wrong. tests/python holds
 * them against known answers.
 */
#include <float.h>
#include <sbs/centers.h>

#include "rig.h"
#include "tube.h"

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
  add_tube(made.positions, made.triangles, 0, RINGS, SIDES, 0.0, 4.0, 1.0);
  for (int v = 0; v < VERTICES; v++) {
    const double x = made.positions[v][0];
    made.joints[v][0] = x < 2.0 ? 0 : 1;
    made.joints[v][1] = made.joints[v][0] + 1;
    made.weights[v][1] = 0.5 * (x - 2.0 * made.joints[v][0]);
    made.weights[v][0] = 1.0 - made.weights[v][1];
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

/* Asked to give up at each call in turn, nothing is written. How many calls there are depends on other threads. */
static void test_cancel(void) {
  const tube *made = new_tube();
  static double centers[VERTICES][3];
  sbs_centers_options options = sbs_default_centers_options();
  options.progress = listen;
  for (options.threads = 1; options.threads < 3; options.threads++) {
    sbs_status status = SBS_ERROR_CANCELLED;
    size_t stop_at = 0;
    for (; status && stop_at < 1000; stop_at++) {
      listener to = {.stop_at = stop_at};
      sbs_centers_report report = {.samples = 7};
      options.progress_user = &to;
      centers[0][0] = 77.0;
      status = find(made, &options, centers, &report, NULL);
      if (!status) break;
      CHECK_EQUAL(status, SBS_ERROR_CANCELLED);
      CHECK_EQUAL(to.calls, stop_at + 1);
      CHECK(centers[0][0] == 77.0 && report.samples == 7);
    }
    CHECK(!status && stop_at > (options.threads > 1 ? 0 : 4));
  }
}

static void test_bad_input_is_named(void) {
  static double centers[VERTICES][3];
  tube *made = new_tube();
  sbs_centers_options options;
  sbs_fault fault = {0};
#define FIND(desc, count, triangles, options, centers) \
  sbs_centers_optimized(desc, count, triangles, options, centers, NULL, &fault)
  CHECK_REFUSED(FIND(NULL, 1, made->triangles[0], NULL, centers[0]), SBS_ERROR_NULL, "desc");
  CHECK_REFUSED(FIND(&made->desc, 1, made->triangles[0], NULL, NULL), SBS_ERROR_NULL, "centers");
  CHECK_REFUSED(FIND(&made->desc, 1, NULL, NULL, centers[0]), SBS_ERROR_NULL, "triangles");
  CHECK_REFUSED(FIND(&made->desc, 0, NULL, NULL, centers[0]), SBS_ERROR_EMPTY, "triangles");
#undef FIND
#define REFUSED(change, status, argument) \
  options = sbs_default_centers_options(), made = new_tube(), change; \
  CHECK_REFUSED(find(made, &options, centers, NULL, &fault), status, argument)
  const double wrong[] = {0.0, NAN, INFINITY};
  for (int i = 0; i < 3; i++) {
    REFUSED(options.sigma = wrong[i], SBS_ERROR_OPTION, "sigma");
  }
  REFUSED(options.refinement = 0.0, SBS_ERROR_OPTION, "refinement");
  REFUSED(options.refinement = NAN, SBS_ERROR_OPTION, "refinement");
  REFUSED(options.tolerance = -1.0, SBS_ERROR_OPTION, "tolerance");
  REFUSED(options.tolerance = NAN, SBS_ERROR_OPTION, "tolerance");
  REFUSED(options.threads = -1, SBS_ERROR_OPTION, "threads");
  REFUSED(options.allocator.release = NULL, SBS_ERROR_NULL, "allocator.release");
  REFUSED(made->triangles[5][1] = VERTICES, SBS_ERROR_VERTEX_INDEX, "triangles");
  REFUSED(made->joints[5][1] = JOINTS, SBS_ERROR_JOINT_INDEX, "joint_indices");
  REFUSED(made->positions[5][1] = NAN, SBS_ERROR_NOT_FINITE, "rest_positions");
  REFUSED(made->desc.rest_positions_stride = 8, SBS_ERROR_STRIDE, "rest_positions_stride");
#undef REFUSED
  CHECK(centers[0][0] == 0.0);
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
