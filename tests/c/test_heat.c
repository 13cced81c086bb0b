/* SPDX-License-Identifier: MIT */
/*
 * Weights by heat: any number of threads, cancelled, short of memory, with arguments that Python cannot pass, and of
 * any size. tests/python holds them against known answers.
 */
#include <float.h>
#include <sbs/heat.h>

#include "counting_allocator.h"
#include "tube.h"

enum {
  RINGS = 41,
  SIDES = 12,
  SHIRT = 9 * SIDES, /* rings around the middle of the tube, which hide the bones */
  VERTICES = RINGS * SIDES + SHIRT + 3,
  TUBE_TRIANGLES = 2 * SIDES * (RINGS - 1),
  TRIANGLES = TUBE_TRIANGLES + 2 * SIDES * 8 + 1,
  JOINTS = 2
};

/* A tube along x of length 4 and radius 0.5 with a bone in each half, a shirt around it, and a button on the shirt. */
typedef struct scene {
  double positions[VERTICES][3];
  int32_t triangles[TRIANGLES][3];
  double heads[JOINTS][3], tails[JOINTS][3];
  sbs_mesh_desc mesh;
  sbs_heat_bones bones;
} scene;

typedef struct result {
  int32_t joints[VERTICES][JOINTS];
  double weights[VERTICES][JOINTS];
  int32_t islands[VERTICES];
  sbs_heat_join joins[VERTICES];
  sbs_heat_report report;
} result;

static scene *new_scene(void) {
  static const double button[3][3] = {{2.0, 0.0, 0.62}, {2.02, 0.0, 0.62}, {2.0, 0.02, 0.62}};
  static const int32_t corners[3] = {VERTICES - 3, VERTICES - 2, VERTICES - 1};
  static scene made;
  made = (scene){.heads = {{0.0, 0.0, 0.0}, {2.0, 0.0, 0.0}}, .tails = {{2.0, 0.0, 0.0}, {4.0, 0.0, 0.0}}};
  add_tube(made.positions, made.triangles, 0, RINGS, SIDES, 0.0, 4.0, 0.5);
  add_tube(made.positions, made.triangles + TUBE_TRIANGLES, RINGS * SIDES, SHIRT / SIDES, SIDES, 1.6, 2.4, 0.6);
  memcpy(made.positions[VERTICES - 3], button, sizeof button);
  memcpy(made.triangles[TRIANGLES - 1], corners, sizeof corners);
  made.mesh = sbs_default_mesh_desc();
  made.mesh.vertex_count = VERTICES;
  made.mesh.scalar = SBS_FLOAT64;
  made.mesh.positions = made.positions;
  made.mesh.triangle_count = TRIANGLES;
  made.mesh.triangles = made.triangles[0];
  made.bones = (sbs_heat_bones){.joint_count = JOINTS, .heads = made.heads[0], .tails = made.tails[0]};
  return &made;
}

static const unsigned char untouched = 0x5a;

static sbs_status find(const scene *made, const sbs_heat_options *options, result *out, sbs_fault *fault) {
  memset(out, untouched, sizeof *out);
  return sbs_heat_weights(&made->mesh, &made->bones, options, JOINTS, out->joints[0], out->weights[0], out->islands,
                          out->joins, &out->report, fault);
}

static int is_untouched(const result *out) {
  const unsigned char *bytes = (const unsigned char *)out;
  for (size_t i = 0; i < sizeof *out; i++) {
    if (bytes[i] != untouched) return 0;
  }
  return 1;
}

static void test_threads_change_no_bit(void) {
  static result expected, out;
  sbs_heat_options options = sbs_default_heat_options();
  options.threads = 1;
  CHECK_EQUAL(find(new_scene(), &options, &expected, NULL), SBS_OK);
  for (options.threads = 2; options.threads < 5; options.threads++) {
    CHECK_EQUAL(find(new_scene(), &options, &out, NULL), SBS_OK);
    CHECK(!memcmp(out.joints, expected.joints, sizeof out.joints));
    CHECK(!memcmp(out.weights, expected.weights, sizeof out.weights));
  }
}

static int give_up(double fraction, void *user) {
  return fraction >= *(const double *)user;
}

static void test_cancel(void) {
  static result out;
  const double fractions[] = {0.0, 0.3, 0.6, 0.9, 2.0};
  for (int i = 0; i < 5; i++) {
    double at = fractions[i];
    sbs_heat_options options = sbs_default_heat_options();
    options.progress = give_up;
    options.progress_user = &at;
    CHECK_EQUAL(find(new_scene(), &options, &out, NULL), i < 4 ? SBS_ERROR_CANCELLED : SBS_OK);
    CHECK_EQUAL(is_untouched(&out), i < 4);
  }
}

static sbs_status call(const sbs_allocator *allocator, void *made) {
  static result out;
  sbs_heat_options options = sbs_default_heat_options();
  options.allocator = *allocator;
  const sbs_status status = find(made, &options, &out, NULL);
  CHECK(is_untouched(&out) == (status != SBS_OK));
  return status;
}

static void test_every_allocation_fails_in_turn(void) {
  CHECK(fail_each_allocation(call, NULL, new_scene()) > 60);
}

static void test_bad_input_is_named(void) {
  static result out;
  scene *made = new_scene();
  sbs_fault fault = {0};
#define REFUSED(mesh, bones, width, joints, weights, report, status, argument) \
  CHECK_REFUSED(sbs_heat_weights(mesh, bones, NULL, width, joints, weights, NULL, NULL, report, &fault), status, \
                argument)
  int32_t *const joints = out.joints[0];
  double *const weights = out.weights[0];
  REFUSED(NULL, &made->bones, 2, joints, weights, &out.report, SBS_ERROR_NULL, "mesh");
  REFUSED(&made->mesh, NULL, 2, joints, weights, &out.report, SBS_ERROR_NULL, "bones");
  REFUSED(&made->mesh, &made->bones, 2, NULL, weights, &out.report, SBS_ERROR_NULL, "joint_indices");
  REFUSED(&made->mesh, &made->bones, 2, joints, NULL, &out.report, SBS_ERROR_NULL, "joint_weights");
  REFUSED(&made->mesh, &made->bones, 2, joints, weights, NULL, SBS_ERROR_NULL, "report");
  REFUSED(&made->mesh, &made->bones, 0, joints, weights, &out.report, SBS_ERROR_EMPTY, "influences_per_vertex");
#undef REFUSED
  sbs_heat_options options = sbs_default_heat_options();
  options.threads = -1;
  CHECK_REFUSED(find(made, &options, &out, &fault), SBS_ERROR_OPTION, "threads");
  options = sbs_default_heat_options();
  options.allocator.release = NULL;
  CHECK_REFUSED(find(made, &options, &out, &fault), SBS_ERROR_NULL, "allocator.release");
  made->bones.joint_count = 0;
  CHECK_REFUSED(find(made, NULL, &out, &fault), SBS_ERROR_EMPTY, "heads");
  made = new_scene();
  made->bones.heads = NULL;
  CHECK_REFUSED(find(made, NULL, &out, &fault), SBS_ERROR_NULL, "heads");
  CHECK(is_untouched(&out));
}

/* Coordinates of any size, and bones that are beyond all. */
static void test_sizes(void) {
  static result expected, out;
  static const double sizes[] = {1e-300, 1e300};
  CHECK_EQUAL(find(new_scene(), NULL, &expected, NULL), SBS_OK);
  for (int i = 0; i < 2; i++) {
    scene *made = new_scene();
    for (int v = 0; v < VERTICES; v++) {
      for (int axis = 0; axis < 3; axis++) made->positions[v][axis] *= sizes[i];
    }
    for (int j = 0; j < JOINTS; j++) {
      for (int axis = 0; axis < 3; axis++) {
        made->heads[j][axis] *= sizes[i];
        made->tails[j][axis] *= sizes[i];
      }
    }
    CHECK_EQUAL(find(made, NULL, &out, NULL), SBS_OK);
    CHECK_EQUAL(out.report.trouble, SBS_HEAT_WORKS);
    for (int v = 0; v < RINGS * SIDES; v++) CHECK_NEAR(out.weights[v][0], expected.weights[v][0], 1e-9);
  }
  scene *made = new_scene();
  made->heads[1][0] = -DBL_MAX;
  made->tails[1][0] = DBL_MAX;
  CHECK_EQUAL(find(made, NULL, &out, NULL), SBS_OK);
}

int main(void) {
  RUN(test_threads_change_no_bit);
  RUN(test_cancel);
  RUN(test_every_allocation_fails_in_turn);
  RUN(test_bad_input_is_named);
  RUN(test_sizes);
  return harness_result();
}
