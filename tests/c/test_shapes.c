/* SPDX-License-Identifier: MIT */
/* Shapes of a skin: every method deforms them as it deforms a mesh that was bound with them; bits; bad input. */
#include <sbs/correctives.h>

#include "counting_allocator.h"
#include "rig.h"

enum {
  VERTICES = 3000,
  JOINTS = 9,
  SHAPES = 3,
  FRAMES = 2
};

/* Three shapes, of which the last two overlap, and one vertex is there twice. */
typedef struct some_shapes {
  size_t offsets[SHAPES + 1];
  int32_t vertices[3 * VERTICES];
  double deltas[9 * VERTICES], normal_deltas[9 * VERTICES];
} some_shapes;

static rig mesh;
static some_shapes made;
static transform frames[FRAMES][JOINTS];
static const double weights[FRAMES][SHAPES] = {{1.0, 0.0, -0.5}, {0.25, 0.75, 1.0}};

static void make_input(void) {
  uint64_t seed = 11;
  mesh = new_rig(4, VERTICES, JOINTS, 4);
  size_t count = 0;
  for (size_t s = 0; s < SHAPES; s++) {
    made.offsets[s] = count;
    for (size_t v = 0; v < VERTICES; v++) {
      if (s == 0 ? v % 7 : v < VERTICES / 2 || random_below(&seed, 2)) continue;
      made.vertices[count++] = (int32_t)(s == 2 ? VERTICES - 1 - (v - VERTICES / 2) : v);
    }
  }
  made.vertices[count++] = made.vertices[made.offsets[SHAPES - 1]];
  made.offsets[SHAPES] = count;
  for (size_t i = 0; i < 3 * count; i++) {
    made.deltas[i] = random_float32(&seed, -0.1, 0.1);
    made.normal_deltas[i] = random_float32(&seed, -0.3, 0.3);
  }
  for (int i = 0; i < FRAMES * JOINTS; i++) frames[i / JOINTS][i % JOINTS] = random_rigid(&seed, 100.0);
}

static sbs_shapes_desc describe(void) {
  sbs_shapes_desc desc = sbs_default_shapes_desc();
  desc.shape_count = SHAPES;
  desc.shape_offsets = made.offsets;
  desc.vertices = made.vertices;
  desc.scalar = SBS_FLOAT64;
  desc.deltas = made.deltas;
  desc.normal_deltas = made.normal_deltas;
  return desc;
}

static sbs_shapes *make(const sbs_skin *skin, const sbs_shapes_desc *desc) {
  sbs_shapes *shapes = NULL;
  CHECK_EQUAL(sbs_shapes_new(skin, desc, NULL, &shapes, NULL), SBS_OK);
  CHECK_EQUAL(sbs_shapes_count(shapes), desc->shape_count);
  return shapes;
}

/* The mesh with the shapes of a frame. */
static rig shaped(size_t frame) {
  rig copy = mesh;
  copy.positions = malloc(3 * VERTICES * sizeof *copy.positions);
  copy.normals = malloc(3 * VERTICES * sizeof *copy.normals);
  if (!copy.positions || !copy.normals) abort();
  memcpy(copy.positions, mesh.positions, 3 * VERTICES * sizeof *copy.positions);
  memcpy(copy.normals, mesh.normals, 3 * VERTICES * sizeof *copy.normals);
  for (size_t v = 0; v < VERTICES; v++) {
    double length = 0.0;
    for (size_t k = 0; k < 3; k++) length += copy.normals[3 * v + k] * copy.normals[3 * v + k];
    for (size_t k = 0; k < 3; k++) copy.normals[3 * v + k] /= sqrt(length);
  }
  for (size_t s = 0; s < SHAPES; s++) {
    for (size_t i = made.offsets[s]; i < made.offsets[s + 1]; i++) {
      for (size_t k = 0; k < 3; k++) {
        copy.positions[3 * (size_t)made.vertices[i] + k] += weights[frame][s] * made.deltas[3 * i + k];
        copy.normals[3 * (size_t)made.vertices[i] + k] += weights[frame][s] * made.normal_deltas[3 * i + k];
      }
    }
  }
  return copy;
}

static double number_at(const void *numbers, sbs_scalar scalar, size_t i) {
  return scalar == SBS_FLOAT32 ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
}

static double out[FRAMES][3 * VERTICES], out_normals[FRAMES][3 * VERTICES], expected[3 * VERTICES],
    expected_normals[3 * VERTICES];

/* One variant, alone or in part, against skins that are bound with the shapes of each frame. */
static void check_variant(const sbs_skin *skin, const sbs_shapes *shapes, sbs_scalar scalar, int variant,
                          const double *amount) {
  const sbs_pose poses = pose_of(frames[0]);
  sbs_deform_options options = options_of_variant(variant);
  options.amount = amount;
  options.amount_scalar = SBS_FLOAT64;
  options.shapes = shapes;
  options.shape_weights = weights[0];
  CHECK_EQUAL(sbs_skin_deform_many(skin, FRAMES, &poses, &options, out, out_normals, NULL, NULL), SBS_OK);
  for (size_t f = 0; f < FRAMES; f++) {
    rig moved = shaped(f);
    sbs_skin *fresh = bind_rig(&moved, scalar, 1);
    const sbs_pose pose = pose_of(frames[f]);
    options.shapes = NULL;
    options.shape_weights = NULL;
    CHECK_EQUAL(sbs_skin_deform(fresh, &pose, &options, expected, expected_normals, NULL, NULL), SBS_OK);
    /* numbers are below 8; centers of joint sets are damped towards other centroids, which moves them by 1e-6 */
    const double tolerance = scalar == SBS_FLOAT32 ? 2e-5 : 2e-6;
    for (size_t i = 0; i < 3 * VERTICES; i++) {
      const size_t at = f * 3 * VERTICES + i;
      CHECK_NEAR(number_at(out, scalar, at), number_at(expected, scalar, i), tolerance);
      CHECK_NEAR(number_at(out_normals, scalar, at), number_at(expected_normals, scalar, i), tolerance);
    }
    sbs_skin_free(fresh);
    free(moved.positions);
    free(moved.normals);
  }
}

static void test_as_bound(void) {
  static double amount[VERTICES];
  uint64_t seed = 2;
  for (size_t v = 0; v < VERTICES; v++) amount[v] = random_between(&seed, 0.0, 1.0);
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    sbs_skin *skin = bind_rig(&mesh, scalar, 1);
    const sbs_shapes_desc desc = describe();
    sbs_shapes *shapes = make(skin, &desc);
    for (int variant = 0; variant < ALL_VARIANTS; variant++) check_variant(skin, shapes, scalar, variant, NULL);
    check_variant(skin, shapes, scalar, ALL_VARIANTS - 4, amount);
    check_variant(skin, shapes, scalar, 3, amount);
    sbs_shapes_free(shapes);
    sbs_skin_free(skin);
  }
}

/* A vertex without a shape keeps its bits; so do all where weights are 0, and with other threads and scratch. */
static void test_bits(void) {
  static _Alignas(64) unsigned char scratch[1 << 22];
  const sbs_pose pose = pose_of(frames[0]);
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT32, 1);
  sbs_shapes_desc desc = describe();
  desc.shape_count = 1; /* every seventh vertex */
  sbs_shapes *shapes = make(skin, &desc);
  sbs_deform_options options = sbs_default_deform_options();
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, expected, expected_normals, NULL, NULL), SBS_OK);
  const double whole = 1.0, none = 0.0;
  options.shapes = shapes;
  options.shape_weights = &none;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out[0], out_normals[0], NULL, NULL), SBS_OK);
  CHECK(memcmp(out[0], expected, 3 * VERTICES * sizeof(float)) == 0);
  options.shape_weights = &whole;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out[0], out_normals[0], NULL, NULL), SBS_OK);
  for (size_t v = 0; v < VERTICES; v++) {
    const int same = memcmp((float *)(void *)out[0] + 3 * v, (float *)(void *)expected + 3 * v, 3 * sizeof(float)) == 0;
    CHECK_EQUAL(same, v % 7 != 0);
  }
  options.threads = 3;
  memset(scratch, 0xff, sizeof scratch); /* only memory with sums is read */
  options.scratch = scratch;
  options.scratch_size = sbs_skin_scratch_size(skin) + sbs_shapes_scratch_size(shapes);
  CHECK(options.scratch_size <= sizeof scratch);
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out[1], out_normals[1], NULL, NULL), SBS_OK);
  CHECK(memcmp(out[0], out[1], 3 * VERTICES * sizeof(float)) == 0);
  CHECK(memcmp(out_normals[0], out_normals[1], 3 * VERTICES * sizeof(float)) == 0);
  options.scratch_size = sbs_skin_scratch_size(skin);
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out[1], NULL, NULL, NULL), SBS_ERROR_SCRATCH);
  sbs_shapes_free(shapes);
  sbs_skin_free(skin);
}

static void check_fault(const sbs_skin *skin, sbs_shapes_desc desc, sbs_status status, const char *argument) {
  sbs_shapes *shapes = NULL;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_shapes_new(skin, &desc, NULL, &shapes, &fault), status);
  CHECK(!shapes);
  CHECK_STRING(fault.argument, argument);
}

static void test_bad_input(void) {
  const sbs_pose pose = pose_of(frames[0]);
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT32, 0), *other = bind_rig(&mesh, SBS_FLOAT32, 0);
  sbs_shapes_desc desc = describe();
  check_fault(skin, desc, SBS_ERROR_OPTION, "normal_deltas");
  desc.normal_deltas = NULL;
  const sbs_shapes_desc good = desc;
  desc.shape_count = 0;
  check_fault(skin, desc, SBS_ERROR_EMPTY, "shape_count");
  desc = good;
  const size_t back[SHAPES + 1] = {0, 5, 4, 6};
  desc.shape_offsets = back;
  check_fault(skin, desc, SBS_ERROR_OPTION, "shape_offsets");
  const size_t few[2] = {0, 2};
  const int32_t beyond[2] = {0, VERTICES};
  const double bad[6] = {0, 0, 0, 0, INFINITY, 0};
  desc = good;
  desc.shape_count = 1;
  desc.shape_offsets = few;
  desc.vertices = beyond;
  check_fault(skin, desc, SBS_ERROR_VERTEX_INDEX, "vertices");
  desc.vertices = good.vertices;
  desc.deltas = bad;
  check_fault(skin, desc, SBS_ERROR_NOT_FINITE, "deltas");

  sbs_shapes *shapes = make(skin, &good);
  sbs_deform_options options = sbs_default_deform_options();
  sbs_fault fault;
  options.shapes = shapes;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out[0], NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "shape_weights");
  const double nan[SHAPES] = {0, NAN, 0};
  options.shape_weights = nan;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out[0], NULL, NULL, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_EQUAL(fault.index[1], 1);
  options.shape_weights = weights[0];
  CHECK_EQUAL(sbs_skin_deform(other, &pose, &options, out[0], NULL, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "shapes");
  sbs_shapes_free(shapes);
  sbs_shapes_free(NULL);
  sbs_skin_free(skin);
  sbs_skin_free(other);
}

static void tests(void) {
  RUN(test_as_bound);
  RUN(test_bits);
}

int main(void) {
  make_input();
  run_with_every_instruction_set(tests);
  RUN(test_bad_input);
  free_rig(&mesh);
  return harness_result();
}
