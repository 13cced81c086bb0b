/* SPDX-License-Identifier: MIT */
/* Two methods blended by a map of amounts. */
#include "rig.h"

/* Under an emulator all takes a hundred times as long. */
#ifndef EMULATED
#define EMULATED 0
#endif

enum {
  VERTICES = 3000,
  JOINTS = 9,
  FRAMES = 3
};

/* Of all_variants, the first are one of each method. */
enum {
  LINEAR = 1,
  ALL_METHODS = 4
};

static rig mesh;
static transform frames[FRAMES][JOINTS];
static float amount32[VERTICES];
static double amount64[VERTICES];

/* Room for frames of either type, with a stride of 4 numbers. */
typedef struct outcome {
  double positions[FRAMES * VERTICES * 4], normals[FRAMES * VERTICES * 4];
} outcome;

static outcome of_base, of_method, of_both, again;

/*
 * Whole stretches of 0 and of 1, and amounts of all kinds side by side, where 0 may have a sign. Joints turn; in the
 * second frame they are rigid, but not to the last bit, and in the last some are not.
 */
static void make_input(void) {
  uint64_t seed = 5;
  mesh = new_rig(2, VERTICES, JOINTS, 3);
  for (int i = 0; i < FRAMES * JOINTS; i++) frames[i / JOINTS][i % JOINTS] = random_rigid(&seed, 140.0);
  for (int j = 0; j < JOINTS; j++) frames[1][j] = multiply(frames[1][j], scaling(1.000001, 1.0, 0.999999));
  for (int j = 0; j < 3; j++) {
    frames[FRAMES - 1][j] = multiply(frames[FRAMES - 1][j], scaling(1.0 + j, 0.5, -1.0 + j));
  }
  for (size_t v = 0; v < VERTICES; v++) {
    const size_t kind = v < VERTICES / 3 ? 0 : v < 2 * VERTICES / 3 ? 1 : random_below(&seed, 4);
    amount64[v] = kind == 0 ? (v < VERTICES / 2 ? 0.0 : -0.0) : kind == 1 ? 1.0 : random_float32(&seed, 0.0, 1.0);
    amount32[v] = (float)amount64[v];
  }
}

static size_t size_of(sbs_scalar scalar) {
  return scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double);
}

static double number_at(const double *numbers, sbs_scalar scalar, size_t index) {
  return scalar == SBS_FLOAT32 ? (double)((const float *)(const void *)numbers)[index] : numbers[index];
}

static void deform_with(const sbs_skin *skin, const sbs_deform_options *options, int with_normals, outcome *out) {
  const sbs_pose poses = pose_of(frames[0]);
  double *normals = with_normals ? out->normals : NULL;
  memset(out, 0x55, sizeof *out);
  CHECK_EQUAL(sbs_skin_deform_many(skin, FRAMES, &poses, options, out->positions, normals, NULL, NULL), SBS_OK);
}

static void deform(const sbs_skin *skin, const sbs_deform_options *options, outcome *out) {
  deform_with(skin, options, 1, out);
}

static void check_vertex(sbs_scalar scalar, int with_normals, size_t f, size_t v) {
  const size_t first = 3 * (f * VERTICES + v);
  const double a = amount64[v];
  /*
   * A difference, a product and a sum, each rounded; numbers are below 8. In the second frame joints are off a rotation
   * by 1e-6; where float32 skins compute both methods at once, the base takes the rotation, too.
   */
  const double tolerance = scalar == SBS_FLOAT64 ? 6e-15 : f == 1 ? 1e-5 : 3e-6;
  double mixed[3], length = 0.0;
  for (size_t k = 0; k < 3; k++) {
    const double p0 = number_at(of_base.positions, scalar, first + k);
    const double p1 = number_at(of_method.positions, scalar, first + k);
    CHECK_NEAR(number_at(of_both.positions, scalar, first + k), (1.0 - a) * p0 + a * p1, tolerance);
    mixed[k] =
        (1.0 - a) * number_at(of_base.normals, scalar, first + k) + a * number_at(of_method.normals, scalar, first + k);
    length += mixed[k] * mixed[k];
  }
  length = sqrt(length);
  for (size_t k = 0; k < 3 && with_normals && length > 0.1; k++) { /* shorter ones are of normals that cancel */
    CHECK_NEAR(number_at(of_both.normals, scalar, first + k), mixed[k] / length, tolerance / length);
  }
}

/* All pairs of methods, and linear blending with all rotations and centers. */
static void for_all_pairs(void (*check)(const sbs_skin *skin, sbs_scalar scalar, sbs_deform_options options)) {
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    sbs_skin *skin = bind_rig(&mesh, scalar, 1);
    for (int i = 0; i < ALL_METHODS * ALL_VARIANTS; i++) {
      const int of = i / ALL_VARIANTS, with = i % ALL_VARIANTS;
      if (of == with || (of != LINEAR && with >= ALL_METHODS)) continue;
      sbs_deform_options base = options_of_variant(of), options = options_of_variant(with);
      options.base = &base;
      options.amount = scalar == SBS_FLOAT32 ? (const void *)amount64 : amount32; /* either type goes with either */
      options.amount_scalar = scalar == SBS_FLOAT32 ? SBS_FLOAT64 : SBS_FLOAT32;
      check(skin, scalar, options);
    }
    sbs_skin_free(skin);
  }
}

static void check_mixture(const sbs_skin *skin, sbs_scalar scalar, sbs_deform_options options) {
  sbs_deform_options alone = options;
  alone.amount = NULL;
  for (int with_normals = EMULATED; with_normals < 2; with_normals++) {
    deform_with(skin, options.base, with_normals, &of_base);
    deform_with(skin, &alone, with_normals, &of_method);
    deform_with(skin, &options, with_normals, &of_both);
    for (size_t i = 0; i < FRAMES * VERTICES; i++) check_vertex(scalar, with_normals, i / VERTICES, i % VERTICES);
  }
}

static void test_mixture(void) {
  for_all_pairs(check_mixture);
}

/* Threads, frames one by one, the caller's scratch and strides change no bit. */
static void check_same_bits(const sbs_skin *skin, sbs_scalar scalar, sbs_deform_options options) {
  static _Alignas(64) unsigned char scratch[1 << 22];
  const size_t size = 3 * size_of(scalar), stride = 4 * size_of(scalar);
  options.threads = 1;
  deform(skin, &options, &of_both);
  const int threads[] = {2, 5};
  for (int i = 0; i < 2; i++) {
    options.threads = threads[i];
    deform(skin, &options, &again);
    CHECK(memcmp(&again, &of_both, sizeof again) == 0);
  }
  for (size_t f = 0; f < FRAMES; f++) {
    const sbs_pose pose = pose_of(frames[f]);
    char *positions = (char *)again.positions + f * VERTICES * size;
    char *normals = (char *)again.normals + f * VERTICES * size;
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, positions, normals, NULL, NULL), SBS_OK);
  }
  CHECK(memcmp(&again, &of_both, sizeof again) == 0);

  options.scratch = scratch;
  options.scratch_size = 2 * sbs_skin_scratch_size(skin);
  CHECK(options.scratch_size <= sizeof scratch);
  options.positions_stride = options.normals_stride = stride;
  deform(skin, &options, &again);
  const unsigned char untouched[8] = {0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55};
  for (size_t i = 0; i < FRAMES * VERTICES; i++) {
    const char *position = (const char *)again.positions + i * stride,
               *normal = (const char *)again.normals + i * stride;
    CHECK(memcmp(position, (const char *)of_both.positions + i * size, size) == 0);
    CHECK(memcmp(normal, (const char *)of_both.normals + i * size, size) == 0);
    CHECK(memcmp(position + size, untouched, stride - size) == 0);
  }
}

static void test_same_bits(void) {
  for_all_pairs(check_same_bits);
}

/*
 * Amounts of 0 and 1 and few between, in and out of order, so that some groups need one method, and others both. The
 * numbers are below 8.
 */
static void test_few_amounts(void) {
  static double amounts[VERTICES];
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 1);
  sbs_deform_options options = sbs_default_deform_options(), base = options;
  base.method = SBS_METHOD_LINEAR;
  deform(skin, &base, &of_base);
  deform(skin, &options, &of_method);
  options.amount = amounts;
  options.amount_scalar = SBS_FLOAT64;
  options.threads = 1;
  uint64_t seed = 8;
  for (int round = 0; round < 60; round++) {
    const size_t first = random_below(&seed, VERTICES), count = 1 + random_below(&seed, round < 30 ? 4 : 400);
    const double inside = round % 3 ? 1.0 : 0.0, outside = round % 3 ? -0.0 : 1.0;
    for (size_t v = 0; v < VERTICES; v++) amounts[v] = v - first < count ? inside : outside;
    if (round % 2) amounts[first] = 0.25;
    deform(skin, &options, &of_both);
    for (size_t v = 0; v < VERTICES; v++) {
      for (size_t i = 3 * v; i < 3 * v + 3; i++) {
        const double expected = (1.0 - amounts[v]) * of_base.positions[i] + amounts[v] * of_method.positions[i];
        CHECK_NEAR(of_both.positions[i], expected, 6e-15);
      }
    }
  }
  sbs_skin_free(skin);
}

/* Amounts that are all 0, or all 1, do not even pose the other method: with the scratch of one. */
static void test_one_method_alone(void) {
  static _Alignas(64) unsigned char scratch[1 << 21];
  static double amounts[2][VERTICES];
  for (size_t v = 0; v < VERTICES; v++) amounts[1][v] = 1.0;
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 1);
  sbs_deform_options options = sbs_default_deform_options();
  deform(skin, &options, &of_method);
  options.method = SBS_METHOD_LINEAR;
  deform(skin, &options, &of_base);
  options.method = SBS_METHOD_SPHERICAL; /* the base is linear by default */
  options.scratch = scratch;
  options.scratch_size = sbs_skin_scratch_size(skin);
  CHECK(options.scratch_size <= sizeof scratch);
  options.amount_scalar = SBS_FLOAT64;
  for (int i = 0; i < 2; i++) {
    options.amount = amounts[i];
    deform(skin, &options, &again);
    CHECK(memcmp(&again, i ? &of_method : &of_base, sizeof again) == 0);
  }
  sbs_skin_free(skin);
}

static void test_errors(void) {
  static double amounts[VERTICES], out[VERTICES * 3], untouched[VERTICES * 3];
  static _Alignas(64) unsigned char scratch[1 << 21];
  const sbs_pose pose = pose_of(frames[0]);
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 0);
  sbs_deform_options options = sbs_default_deform_options(), base = options;
  sbs_fault fault;
  options.amount = amounts;
  options.amount_scalar = SBS_FLOAT64;
  const struct {
    double amount;
    sbs_status status;
  } cases[] = {{NAN, SBS_ERROR_NOT_FINITE},
               {INFINITY, SBS_ERROR_NOT_FINITE},
               {-1e-300, SBS_ERROR_OPTION},
               {1.0000001, SBS_ERROR_OPTION},
               {-INFINITY, SBS_ERROR_NOT_FINITE}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const size_t at = i * 700;
    amounts[at] = cases[i].amount;
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, NULL, &fault), cases[i].status);
    CHECK_STRING(fault.argument, "amount");
    CHECK_EQUAL(fault.index_count, 1);
    CHECK_EQUAL(fault.index[0], at);
    CHECK(memcmp(&fault.value, amounts + at, sizeof(double)) == 0);
    CHECK(memcmp(out, untouched, sizeof out) == 0);
    amounts[at] = 0.5;
  }
  options.amount_scalar = (sbs_scalar)2;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "amount_scalar");
  options.amount_scalar = SBS_FLOAT64;

  options.base = &base;
  base.method = (sbs_method)-1;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "base.method");
  base.method = SBS_METHOD_RIGID;
  base.damping = -1.0;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "base.damping");
  CHECK_NEAR(fault.value, -1.0, 0.0);
  base.damping = 1e-8;
  base.rcond = 1.0;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "base.rcond");
  base.rcond = 0.0;
  base.threads = -7; /* not read */
  base.amount = amounts;
  base.base = &base;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, NULL, &fault), SBS_OK);
  CHECK(memcmp(out, untouched, sizeof out) != 0);

  options.scratch = scratch;
  options.scratch_size = 2 * sbs_skin_scratch_size(skin) - 1;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, NULL, &fault), SBS_ERROR_SCRATCH);
  CHECK_NEAR(fault.limit, 2.0 * (double)sbs_skin_scratch_size(skin), 0.0);
  sbs_skin_free(skin);
}

/* A vertex of a set of three joints or more: its center is never that of a joint. */
static size_t find_vertex_of_solved_set(const sbs_skin *skin, const int32_t *sets) {
  static size_t offsets[VERTICES + 1];
  static int32_t joints[VERTICES * 8];
  CHECK_EQUAL(sbs_skin_joint_sets(skin, offsets, joints), SBS_OK);
  size_t v = 0;
  while (v < VERTICES - 1 && offsets[sets[v] + 1] - offsets[sets[v]] < 3) v++;
  CHECK(offsets[sets[v] + 1] - offsets[sets[v]] >= 3);
  return v;
}

/* Of each method, only the joint sets of vertices that need it are posed; joints are counted once. */
static void test_report(void) {
  static double out[VERTICES * 3];
  static int32_t sets[VERTICES];
  const sbs_pose pose = pose_of(frames[FRAMES - 1]);
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 0);
  sbs_deform_options options = sbs_default_deform_options(), base = options;
  sbs_deform_report alone, together;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, &alone, NULL), SBS_OK);
  CHECK(alone.solves > 1);
  CHECK(alone.nonrigid_joints > 0);
  CHECK_EQUAL(sbs_skin_joint_set_of_vertex(skin, sets), SBS_OK);

  static double amounts[VERTICES]; /* the method for one set, the base for all others */
  const int32_t chosen = sets[find_vertex_of_solved_set(skin, sets)];
  for (size_t v = 0; v < VERTICES; v++) amounts[v] = sets[v] == chosen ? 1.0 : 0.0;
  options.amount = amounts;
  options.amount_scalar = SBS_FLOAT64;
  base.method = SBS_METHOD_LINEAR;
  options.base = &base;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, &together, NULL), SBS_OK);
  CHECK_EQUAL(together.solves, 1);

  options.method = SBS_METHOD_LINEAR;
  base.method = SBS_METHOD_SPHERICAL;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, &together, NULL), SBS_OK);
  CHECK_EQUAL(together.solves, alone.solves - 1);
  CHECK_EQUAL(together.nonrigid_joints, alone.nonrigid_joints);
  CHECK_EQUAL(together.nontrivial_joint_sets, alone.nontrivial_joint_sets);

  options.method = SBS_METHOD_SPHERICAL; /* both everywhere */
  for (size_t v = 0; v < VERTICES; v++) amounts[v] = 0.5;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, &together, NULL), SBS_OK);
  CHECK_EQUAL(together.solves, 2 * alone.solves);
  sbs_skin_free(skin);
}

static void tests(void) {
  RUN(test_mixture);
  RUN(test_same_bits);
}

int main(void) {
  make_input();
  run_with_every_instruction_set(tests);
  RUN(test_few_amounts);
  RUN(test_one_method_alone);
  RUN(test_errors);
  RUN(test_report);
  free_rig(&mesh);
  return harness_result();
}
