/* SPDX-License-Identifier: MIT */
/* Gradients by each instruction set and type, and their memory. tests/python holds them against differences. */
#include <sbs/gradient.h>
#include <sbs/shapes.h>

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
      matrices[12 * JOINTS], centers[3 * VERTICES], shape_weight, shaped_positions[3 * VERTICES],
      shaped_normals[3 * VERTICES];
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

static sbs_gradient_result result_in(found *room) {
  return (sbs_gradient_result){.rest_positions = room->rest_positions,
                               .rest_normals = room->rest_normals,
                               .joint_weights = room->joint_weights,
                               .skinning_matrices = room->matrices,
                               .centers = room->centers};
}

enum {
  SMALL = 70,   /* vertices at most, of four blocks and more */
  COLUMNS = 3,  /* influences */
  STRIDE = 5,   /* numbers from vertex to vertex, of which the last has 3 */
  PATTERNS = 4, /* of joint sets: one joint; one joint of two by turns; two of three by turns; any */
  NUMBERS = (3 + 3 + 3 + COLUMNS) * SMALL + 12 * JOINTS
};

/* Weights of a pattern: which joints, and 0 for the others. */
static void choose_weights(int pattern, size_t count, int32_t *indices, double *weights) {
  static const unsigned sets[] = {1, 2, 3, 6, 5, 7, 4};
  for (size_t v = 0; v < count; v++) {
    const unsigned chosen[PATTERNS] = {1, 1u << v % 2, v % 2 ? 3 : 6, sets[(v * v + v / 3) % 7]};
    for (size_t k = 0; k < COLUMNS; k++) {
      const int has = (int)(chosen[pattern] >> k & 1);
      indices[COLUMNS * v + k] = (int32_t)k;
      weights[COLUMNS * v + k] = has ? 1.0 + (double)((v + k) % 3) : 0.0;
    }
  }
}

/*
 * Gradients by rest positions, weights, matrices, centers, and rest normals if there are normals; returns how many
 * numbers there are.
 */
static size_t differentiate(sbs_scalar scalar, size_t count, int pattern, const sbs_deform_options *options,
                            int normals, size_t stride, double numbers[NUMBERS]) {
  static double strided[STRIDE * SMALL], weights[COLUMNS * SMALL];
  static int32_t indices[COLUMNS * SMALL];
  const size_t lengths[5] = {3 * count, COLUMNS * count, 12 * JOINTS, 3 * count, normals ? 3 * count : 0};
  choose_weights(pattern, count, indices, weights);
  for (size_t i = 0; i < 3 * count; i++) strided[i / 3 * stride + i % 3] = mesh.positions[i];
  void *positions = numbers_of(strided, stride * (count - 1) + 3, scalar),
       *by = numbers_of(upstream[0], 3 * count, scalar);
  void *rest_normals = numbers_of(mesh.normals, 3 * count, scalar),
       *by_normals = numbers_of(upstream[1], 3 * count, scalar);
  void *made[5];
  for (int i = 0; i < 5; i++) made[i] = numbers_of(numbers, lengths[i], i == 2 ? SBS_FLOAT64 : scalar); /* as room */
  const sbs_skin_desc desc = {.rest_positions = positions,
                              .rest_positions_stride = stride * size_of(scalar),
                              .rest_normals = normals ? rest_normals : NULL,
                              .scalar = scalar,
                              .joint_indices = indices,
                              .joint_weights = weights,
                              .weight_scalar = SBS_FLOAT64,
                              .centers = mesh.centers,
                              .vertex_count = count,
                              .influences_per_vertex = COLUMNS,
                              .joint_count = JOINTS};
  const sbs_pose pose = pose_of(joints);
  const sbs_gradient_upstream upstream_of = {by, normals ? by_normals : NULL};
  const sbs_gradient_result result = {.rest_positions = made[0],
                                      .joint_weights = made[1],
                                      .skinning_matrices = made[2],
                                      .centers = made[3],
                                      .rest_normals = normals ? made[4] : NULL};
  sbs_skin *skin = NULL;
  sbs_gradient *gradient = NULL;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_gradient_new(skin, &desc, NULL, &gradient, NULL), SBS_OK);
  CHECK_EQUAL(sbs_gradient_deform(gradient, skin, &desc, &pose, options, &upstream_of, &result, NULL), SBS_OK);
  size_t at = 0;
  for (size_t i = 0; i < 5; i++) {
    for (size_t k = 0; k < lengths[i]; k++) numbers[at++] = number_at(made[i], i == 2 ? SBS_FLOAT64 : scalar, k);
  }
  sbs_gradient_free(gradient);
  sbs_skin_free(skin);
  for (int i = 0; i < 5; i++) free(made[i]);
  free(positions);
  free(by);
  free(rest_normals);
  free(by_normals);
  return at;
}

/*
 * Rows of the mesh may be read four numbers at a time, but not the last. Meshes of all numbers of vertices around those
 * of whole blocks, of both types and of any stride, have the gradients of the first instruction set in double; but for
 * a rounding of float32 for each vertex.
 */
static void test_arrays_are_read_up_to_their_ends(void) {
  static const size_t counts[] = {1, 2, 15, 16, 17, 31, 32, 33, 34, 48, 64, 65, SMALL};
  static double expected[NUMBERS], others[NUMBERS];
  const sbs_build_info info = sbs_get_build_info();
  for (int number = 0; number < 6; number++) {
    const sbs_deform_options options = options_of(number);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      for (int which = 0; which < 8 * PATTERNS; which++) {
        const int pattern = which / 8, normals = which >> 2 & 1;
        const size_t stride = which >> 1 & 1 ? STRIDE : 3, count = counts[c];
        const sbs_scalar scalar = which & 1 ? SBS_FLOAT32 : SBS_FLOAT64;
        for (int i = 0; info.instruction_sets[i]; i++) {
          CHECK_EQUAL(setenv("SBS_ISA", info.instruction_sets[i], 1), 0);
          const int first = !i && scalar == SBS_FLOAT64;
          const size_t length =
              differentiate(scalar, count, pattern, &options, normals, stride, first ? expected : others);
          const double tolerance = scalar == SBS_FLOAT64 ? 1e-10 : 1e-5 * (double)count;
          for (size_t k = 0; !first && k < length; k++) CHECK_NEAR(expected[k], others[k], tolerance);
        }
        CHECK_EQUAL(unsetenv("SBS_ISA"), 0);
      }
    }
  }
}

/* A shape of one vertex, and the result with its gradient. */
static sbs_shapes *make_shape(const sbs_skin *skin) {
  static const size_t offsets[2] = {0, 1};
  static const int32_t vertex = 3;
  static const double deltas[3] = {0.25, 0.5, -0.25};
  const sbs_shapes_desc desc = {1, offsets, &vertex, SBS_FLOAT64, deltas, deltas};
  sbs_shapes *shapes = NULL;
  CHECK_EQUAL(sbs_shapes_new(skin, &desc, NULL, &shapes, NULL), SBS_OK);
  return shapes;
}

static sbs_gradient_result result_with_shapes_in(found *room) {
  sbs_gradient_result result = result_in(room);
  result.shape_weights = &room->shape_weight;
  result.shaped_positions = room->shaped_positions;
  result.shaped_normals = room->shaped_normals;
  return result;
}

/*
 * Makes a gradient and differentiates, by two methods and with a shape, with one allocator. Where that fails, nothing
 * is written.
 */
static sbs_status make(const sbs_allocator *allocator, void *made) {
  const sbs_skin_desc desc = describe_rig(&mesh);
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  sbs_status status = sbs_gradient_new(skin, &desc, allocator, made, NULL);
  if (!status) {
    static found room, untouched;
    static double amount[VERTICES];
    const sbs_pose pose = pose_of(joints);
    const sbs_gradient_upstream by = {upstream[0], upstream[1]};
    const sbs_gradient_result result = result_with_shapes_in(&room);
    sbs_deform_options options = sbs_default_deform_options();
    sbs_shapes *shapes = make_shape(skin);
    const double weight = 0.5;
    options.shapes = shapes;
    options.shape_weights = &weight;
    for (size_t v = 0; v < VERTICES; v++) amount[v] = 0.25;
    options.amount = amount;
    options.amount_scalar = SBS_FLOAT64;
    sbs_gradient **gradient = made;
    sbs_fault fault = {.argument = "untouched"};
    memset(&room, 0x5a, sizeof room);
    memset(&untouched, 0x5a, sizeof untouched);
    status = sbs_gradient_deform(*gradient, skin, &desc, &pose, &options, &by, &result, &fault);
    if (status) {
      CHECK(memcmp(&room, &untouched, sizeof room) == 0);
      CHECK(fault.argument == NULL);
      sbs_gradient_free(*gradient);
    }
    sbs_shapes_free(shapes);
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
  static found room;
  static double amount[VERTICES];
  static const double others[VERTICES * INFLUENCES]; /* not the skin's */
  sbs_skin_desc desc = describe_rig(&mesh);
  const sbs_pose pose = pose_of(joints);
  const sbs_gradient_upstream by = {upstream[0], upstream[1]};
  const sbs_gradient_result result = result_in(&room), with_shapes = result_with_shapes_in(&room);
  double jacobian[3 * INFLUENCES];
  sbs_skin *skin = NULL;
  sbs_gradient *gradient = NULL;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  desc.joint_weights = others;
  CHECK_REFUSED(sbs_gradient_new(skin, &desc, NULL, &gradient, &fault), SBS_ERROR_OPTION, "joint_weights");
  desc.joint_weights = mesh.joint_weights;
  CHECK_EQUAL(sbs_gradient_new(skin, &desc, NULL, &gradient, NULL), SBS_OK);
  CHECK_EQUAL(sbs_gradient_deform(NULL, skin, &desc, &pose, NULL, &by, &result, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_gradient_deform(gradient, skin, &desc, &pose, NULL, NULL, &result, NULL), SBS_ERROR_NULL);
#define DEFORM(options, result) sbs_gradient_deform(gradient, skin, &desc, &pose, options, &by, result, &fault)
#define JACOBIAN(options, vertex) \
  sbs_gradient_weight_jacobian(gradient, skin, &desc, &pose, options, vertex, jacobian, &fault)
  sbs_deform_options options = sbs_default_deform_options();
  options.rotation = SBS_ROTATION_AVERAGE;
  CHECK_REFUSED(DEFORM(&options, &result), SBS_ERROR_OPTION, "rotation");
  options = sbs_default_deform_options();
  options.rcond = 1e-3;
  CHECK_REFUSED(DEFORM(&options, &result), SBS_ERROR_OPTION, "rcond");
  CHECK_REFUSED(DEFORM(NULL, &with_shapes), SBS_ERROR_OPTION, "shapes");
  sbs_shapes *shapes = make_shape(skin);
  const double weight = 0.5;
  options = sbs_default_deform_options();
  options.shapes = shapes;
  options.shape_weights = &weight;
  CHECK_REFUSED(JACOBIAN(&options, 0), SBS_ERROR_OPTION, "shapes");
  sbs_shapes_free(shapes);

  /* Amounts are checked as sbs_skin_deform checks them; for a Jacobian, the amount of its vertex alone. */
  const double bad[] = {NAN, INFINITY, -INFINITY, -0.25, 1.25};
  options = sbs_default_deform_options();
  options.amount = amount;
  options.amount_scalar = SBS_FLOAT64;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const sbs_status status = isfinite(bad[i]) ? SBS_ERROR_OPTION : SBS_ERROR_NOT_FINITE;
    amount[9] = bad[i];
    CHECK_REFUSED(JACOBIAN(&options, 9), status, "amount");
    CHECK_EQUAL(fault.index[0], 9);
    CHECK_EQUAL(JACOBIAN(&options, 8), SBS_OK);
    fault = (sbs_fault){0};
    CHECK_REFUSED(DEFORM(&options, &result), status, "amount");
    CHECK_EQUAL(fault.index[0], 9);
  }
#undef DEFORM
#undef JACOBIAN
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
  RUN(test_arrays_are_read_up_to_their_ends);
  RUN(test_every_allocation_fails_in_turn);
  RUN(test_errors);
  free_rig(&mesh);
  return harness_result();
}
