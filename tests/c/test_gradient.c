/* SPDX-License-Identifier: MIT */
/* Gradients by each instruction set and type, and their memory. tests/python holds them against differences. */
#include <sbs/gradient.h>

#include "counting_allocator.h"
#include "rig.h"

enum {
  VERTICES = 700,
  JOINTS = 7,
  INFLUENCES = 4
};

static rig mesh;
static transform joints[JOINTS];
static double upstream[2][3 * VERTICES];

typedef struct found {
  double rest_positions[3 * VERTICES], rest_normals[3 * VERTICES], joint_weights[INFLUENCES * VERTICES],
      matrices[12 * JOINTS], centers[3 * VERTICES];
} found;

/* The method, or for spherical skinning the center, by number. */
static sbs_deform_options options_of(int number) {
  static const sbs_method methods[] = {SBS_METHOD_RIGID, SBS_METHOD_LINEAR, SBS_METHOD_DUAL_QUATERNION};
  sbs_deform_options options = sbs_default_deform_options();
  if (number < 3) {
    options.method = methods[number];
  } else {
    options.center = (sbs_center)(number - 3);
  }
  return options;
}

static sbs_gradient_result result_in(found *of) {
  return (sbs_gradient_result){.rest_positions = of->rest_positions,
                               .rest_normals = of->rest_normals,
                               .joint_weights = of->joint_weights,
                               .skinning_matrices = of->matrices,
                               .centers = of->centers};
}

static void differentiate(const sbs_deform_options *options, found *of) {
  const sbs_skin_desc desc = describe_rig(&mesh);
  const sbs_pose pose = pose_of(joints);
  const sbs_gradient_upstream by = {upstream[0], upstream[1]};
  const sbs_gradient_result result = result_in(of);
  sbs_skin *skin = NULL;
  sbs_gradient *gradient = NULL;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_gradient_new(skin, &desc, NULL, &gradient, NULL), SBS_OK);
  CHECK_EQUAL(sbs_gradient_deform(gradient, skin, &desc, &pose, options, &by, &result, NULL), SBS_OK);
  sbs_gradient_free(gradient);
  sbs_skin_free(skin);
}

/* All instruction sets compute the same in double, to what sums in another order are off by. */
static void test_instruction_sets_agree(void) {
  static found first, other;
  const sbs_build_info info = sbs_get_build_info();
  for (int number = 0; number < 6; number++) {
    const sbs_deform_options options = options_of(number);
    for (int i = 0; info.instruction_sets[i]; i++) {
      CHECK_EQUAL(setenv("SBS_ISA", info.instruction_sets[i], 1), 0);
      differentiate(&options, i ? &other : &first);
      const double *a = (const double *)&first, *b = (const double *)&other;
      for (size_t k = 0; i && k < sizeof first / sizeof *a; k++) CHECK_NEAR(a[k], b[k], 1e-10);
    }
    CHECK_EQUAL(unsetenv("SBS_ISA"), 0);
  }
}

/* A loss that is the sum of all x: if all joints move along x, it grows by the number of vertices. */
static void test_translations(void) {
  static found of;
  for (size_t i = 0; i < 3 * VERTICES; i++) upstream[0][i] = i % 3 == 0;
  for (int number = 0; number < 6; number++) {
    const sbs_deform_options options = options_of(number);
    differentiate(&options, &of);
    double sum = 0.0;
    for (size_t j = 0; j < JOINTS; j++) sum += of.matrices[12 * j + 3];
    CHECK_NEAR(sum, (double)VERTICES, 1e-10);
  }
}

static sbs_status make(const sbs_allocator *allocator, void *made) {
  const sbs_skin_desc desc = describe_rig(&mesh);
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  sbs_status status = sbs_gradient_new(skin, &desc, allocator, made, NULL);
  if (!status) {
    /* which allocates from the same */
    static found of;
    static double amount[VERTICES];
    const sbs_pose pose = pose_of(joints);
    const sbs_gradient_upstream by = {upstream[0], upstream[1]};
    const sbs_gradient_result result = result_in(&of);
    sbs_deform_options options = sbs_default_deform_options();
    for (size_t v = 0; v < VERTICES; v++) amount[v] = 0.25;
    options.amount = amount;
    options.amount_scalar = SBS_FLOAT64;
    sbs_gradient **gradient = made;
    status = sbs_gradient_deform(*gradient, skin, &desc, &pose, &options, &by, &result, NULL);
    if (status) sbs_gradient_free(*gradient);
  }
  sbs_skin_free(skin);
  return status;
}

static void discard(void *made) {
  sbs_gradient **gradient = made;
  sbs_gradient_free(*gradient);
}

static void test_every_allocation_fails_in_turn(void) {
  sbs_gradient *gradient = NULL;
  CHECK(fail_each_allocation(make, discard, &gradient) > 20);
}

static void test_errors(void) {
  static found of;
  sbs_skin_desc desc = describe_rig(&mesh);
  const sbs_pose pose = pose_of(joints);
  const sbs_gradient_upstream by = {upstream[0], upstream[1]};
  const sbs_gradient_result result = result_in(&of);
  sbs_skin *skin = NULL;
  sbs_gradient *gradient = NULL;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  static const double others[VERTICES * INFLUENCES]; /* not those of the skin */
  desc.joint_weights = others;
  CHECK_EQUAL(sbs_gradient_new(skin, &desc, NULL, &gradient, &fault), SBS_ERROR_OPTION);
  CHECK(strcmp(fault.argument, "joint_weights") == 0);
  desc.joint_weights = mesh.joint_weights;
  CHECK_EQUAL(sbs_gradient_new(skin, &desc, NULL, &gradient, NULL), SBS_OK);
  sbs_deform_options options = sbs_default_deform_options();
  options.rotation = SBS_ROTATION_AVERAGE;
  CHECK_EQUAL(sbs_gradient_deform(gradient, skin, &desc, &pose, &options, &by, &result, &fault), SBS_ERROR_OPTION);
  CHECK(strcmp(fault.argument, "rotation") == 0);
  options = sbs_default_deform_options();
  options.rcond = 1e-3;
  CHECK_EQUAL(sbs_gradient_deform(gradient, skin, &desc, &pose, &options, &by, &result, &fault), SBS_ERROR_OPTION);
  CHECK(strcmp(fault.argument, "rcond") == 0);
  CHECK_EQUAL(sbs_gradient_deform(NULL, skin, &desc, &pose, NULL, &by, &result, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_gradient_deform(gradient, skin, &desc, &pose, NULL, NULL, &result, NULL), SBS_ERROR_NULL);
  sbs_gradient_free(gradient);
  sbs_gradient_free(NULL);
  sbs_skin_free(skin);
}

int main(void) {
  uint64_t seed = 5;
  mesh = new_rig(1, VERTICES, JOINTS, INFLUENCES);
  for (int j = 0; j < JOINTS; j++) joints[j] = random_rigid(&seed, 100.0);
  joints[2] = multiply(joints[2], scaling(1.25, 0.75, 1.0));
  for (size_t i = 0; i < 3 * VERTICES; i++) {
    upstream[0][i] = random_between(&seed, -1.0, 1.0);
    upstream[1][i] = random_between(&seed, -1.0, 1.0);
  }
  RUN(test_instruction_sets_agree);
  RUN(test_translations);
  RUN(test_every_allocation_fails_in_turn);
  RUN(test_errors);
  free_rig(&mesh);
  return harness_result();
}
