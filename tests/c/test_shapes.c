/* SPDX-License-Identifier: MIT */
/* Shapes of a skin: bits of vertices without one, by threads and instruction sets; bad input. */
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

static double out[FRAMES][3 * VERTICES], out_normals[FRAMES][3 * VERTICES], expected[3 * VERTICES],
    expected_normals[3 * VERTICES];

/*
 * A vertex without a shape keeps its bits; so do all where weights are 0, and with other threads and scratch. All
 * instruction sets are alike, but for rounding.
 */
static void check_bits(sbs_scalar scalar) {
  static double first[2][3 * VERTICES]; /* by the first instruction set, of each type */
  static _Alignas(64) unsigned char scratch[1 << 22];
  const sbs_pose pose = pose_of(frames[0]);
  const size_t size = 3 * size_of(scalar);
  sbs_skin *skin = bind_rig(&mesh, scalar, 1);
  sbs_shapes_desc desc = describe();
  desc.shape_count = 1; /* every seventh vertex */
  sbs_shapes *shapes = make(skin, &desc);
  sbs_deform_options options = sbs_default_deform_options();
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, expected, expected_normals, NULL, NULL), SBS_OK);
  const double whole = 1.0, none = 0.0;
  options.shapes = shapes;
  options.shape_weights = &none;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out[0], out_normals[0], NULL, NULL), SBS_OK);
  CHECK(memcmp(out[0], expected, VERTICES * size) == 0);
  options.shape_weights = &whole;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out[0], out_normals[0], NULL, NULL), SBS_OK);
  for (size_t v = 0; v < VERTICES; v++) {
    CHECK_EQUAL(memcmp((char *)out[0] + v * size, (char *)expected + v * size, size) == 0, v % 7 != 0);
  }
  for (size_t i = 0; i < 3 * VERTICES; i++) {
    if (first[scalar][i] == 0.0) first[scalar][i] = number_at(out[0], scalar, i);
    CHECK_NEAR(number_at(out[0], scalar, i), first[scalar][i], scalar == SBS_FLOAT32 ? 2e-6 : 1e-12);
  }
  options.threads = 3;
  memset(scratch, 0xff, sizeof scratch); /* only memory with sums is read */
  options.scratch = scratch;
  options.scratch_size = sbs_skin_scratch_size(skin) + sbs_shapes_scratch_size(shapes);
  CHECK(options.scratch_size <= sizeof scratch);
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out[1], out_normals[1], NULL, NULL), SBS_OK);
  CHECK(memcmp(out[0], out[1], VERTICES * size) == 0);
  CHECK(memcmp(out_normals[0], out_normals[1], VERTICES * size) == 0);
  options.scratch_size = sbs_skin_scratch_size(skin);
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out[1], NULL, NULL, NULL), SBS_ERROR_SCRATCH);
  sbs_shapes_free(shapes);
  sbs_skin_free(skin);
}

static void test_bits(void) {
  check_bits(SBS_FLOAT32);
  check_bits(SBS_FLOAT64);
}

static void test_bad_input(void) {
  const sbs_pose pose = pose_of(frames[0]);
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT32, 0), *other = bind_rig(&mesh, SBS_FLOAT32, 0);
  const size_t back[SHAPES + 1] = {0, 5, 4, 6};
  const int32_t beyond[1] = {VERTICES};
  const double bad[6] = {0, 0, 0, 0, INFINITY, 0};
  sbs_shapes_desc desc = describe(), good = desc;
  sbs_shapes *refused = NULL;
  sbs_fault fault = {0};
#define REFUSED(change, status, argument) \
  desc = good, desc.change; \
  CHECK_REFUSED(sbs_shapes_new(skin, &desc, NULL, &refused, &fault), status, argument)
  REFUSED(shape_count = SHAPES, SBS_ERROR_OPTION, "normal_deltas");
  good.normal_deltas = NULL;
  REFUSED(shape_count = 0, SBS_ERROR_EMPTY, "shape_count");
  REFUSED(shape_offsets = back, SBS_ERROR_OPTION, "shape_offsets");
  REFUSED(vertices = beyond, SBS_ERROR_VERTEX_INDEX, "vertices");
  REFUSED(deltas = bad, SBS_ERROR_NOT_FINITE, "deltas");
#undef REFUSED
  CHECK(!refused);

  sbs_shapes *shapes = make(skin, &good);
  sbs_deform_options options = sbs_default_deform_options();
  options.shapes = shapes;
  CHECK_REFUSED(sbs_skin_deform(skin, &pose, &options, out[0], NULL, NULL, &fault), SBS_ERROR_NULL, "shape_weights");
  const double nan[SHAPES] = {0, NAN, 0};
  options.shape_weights = nan;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out[0], NULL, NULL, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_EQUAL(fault.index[1], 1);
  options.shape_weights = weights[0];
  CHECK_REFUSED(sbs_skin_deform(other, &pose, &options, out[0], NULL, NULL, &fault), SBS_ERROR_OPTION, "shapes");
  sbs_shapes_free(shapes);
  sbs_shapes_free(NULL);
  sbs_skin_free(skin);
  sbs_skin_free(other);
}

static void tests(void) {
  RUN(test_bits);
}

int main(void) {
  make_input();
  run_with_every_instruction_set(tests);
  RUN(test_bad_input);
  free_rig(&mesh);
  return harness_result();
}
