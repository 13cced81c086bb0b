/* SPDX-License-Identifier: MIT */
/* A method mixed with linear blending by an amount for each vertex. */
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

/* Of all_variants, the first that turns: those before take no amount. */
enum {
  FIRST_VARIANT = 2
};

static rig mesh;
static transform frames[FRAMES][JOINTS];
static float amount32[VERTICES];
static double amount64[VERTICES];

/* Room for frames of either type, with a stride of 4 numbers. */
typedef struct outcome {
  double positions[FRAMES * VERTICES * 4], normals[FRAMES * VERTICES * 4];
} outcome;

static outcome of_linear, of_method, of_both, again;

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
   * by 1e-6, which an amount gives to linear blending, too.
   */
  const double tolerance = f == 1 ? 1e-5 : scalar == SBS_FLOAT64 ? 1e-14 : 3e-6;
  double mixed[3], length = 0.0;
  for (size_t k = 0; k < 3; k++) {
    const double p0 = number_at(of_linear.positions, scalar, first + k);
    const double p1 = number_at(of_method.positions, scalar, first + k);
    CHECK_NEAR(number_at(of_both.positions, scalar, first + k), (1.0 - a) * p0 + a * p1, tolerance);
    if (!with_normals) continue;
    mixed[k] = (1.0 - a) * number_at(of_linear.normals, scalar, first + k) +
               a * number_at(of_method.normals, scalar, first + k);
    length += mixed[k] * mixed[k];
  }
  length = sqrt(length);
  for (size_t k = 0; k < 3 && with_normals && length > 0.1; k++) { /* shorter ones are of normals that cancel */
    CHECK_NEAR(number_at(of_both.normals, scalar, first + k), mixed[k] / length, tolerance / length);
  }
}

static void for_all_variants(void (*check)(const sbs_skin *skin, sbs_scalar scalar, sbs_deform_options options)) {
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    sbs_skin *skin = bind_rig(&mesh, scalar, 1);
    for (int i = FIRST_VARIANT; i < ALL_VARIANTS; i++) {
      sbs_deform_options options = options_of_variant(i);
      options.amount = scalar == SBS_FLOAT32 ? (const void *)amount64 : amount32; /* either type goes with either */
      options.amount_scalar = scalar == SBS_FLOAT32 ? SBS_FLOAT64 : SBS_FLOAT32;
      check(skin, scalar, options);
    }
    sbs_skin_free(skin);
  }
}

static void check_mixture(const sbs_skin *skin, sbs_scalar scalar, sbs_deform_options options) {
  sbs_deform_options alone = options, linear = sbs_default_deform_options();
  alone.amount = NULL;
  linear.method = SBS_METHOD_LINEAR;
  for (int with_normals = EMULATED; with_normals < 2; with_normals++) {
    deform_with(skin, &linear, with_normals, &of_linear);
    deform_with(skin, &alone, with_normals, &of_method);
    deform_with(skin, &options, with_normals, &of_both);
    for (size_t i = 0; i < FRAMES * VERTICES; i++) check_vertex(scalar, with_normals, i / VERTICES, i % VERTICES);
  }
}

static void test_mixture(void) {
  for_all_variants(check_mixture);
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
  options.scratch_size = sbs_skin_scratch_size(skin);
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
  for_all_variants(check_same_bits);
}

static void test_errors(void) {
  static double amounts[VERTICES], out[VERTICES * 3], untouched[VERTICES * 3];
  const sbs_pose pose = pose_of(frames[0]);
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 0);
  sbs_deform_options options = sbs_default_deform_options();
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

  options.method = SBS_METHOD_LINEAR; /* of which there is nothing but all */
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "amount");
  CHECK(memcmp(out, untouched, sizeof out) == 0);
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

/* Only centers of sets are solved of which a vertex has an amount. */
static void test_report(void) {
  static double out[VERTICES * 3], amounts[VERTICES];
  static int32_t sets[VERTICES];
  const sbs_pose pose = pose_of(frames[FRAMES - 1]);
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 0);
  sbs_deform_options options = sbs_default_deform_options();
  sbs_deform_report alone, mixed;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, &alone, NULL), SBS_OK);
  CHECK(alone.solves > 1);
  CHECK(alone.nonrigid_joints > 0);
  CHECK_EQUAL(sbs_skin_joint_set_of_vertex(skin, sets), SBS_OK);
  const int32_t chosen = sets[find_vertex_of_solved_set(skin, sets)];
  options.amount = amounts;
  options.amount_scalar = SBS_FLOAT64;
  for (int outside = 0; outside < 2; outside++) {
    for (size_t v = 0; v < VERTICES; v++) amounts[v] = (sets[v] == chosen) != outside ? 0.5 : 0.0;
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, &mixed, NULL), SBS_OK);
    CHECK_EQUAL(mixed.solves, outside ? alone.solves - 1 : 1);
    CHECK_EQUAL(mixed.nonrigid_joints, alone.nonrigid_joints);
    CHECK_EQUAL(mixed.nontrivial_joint_sets, alone.nontrivial_joint_sets);
  }
  sbs_skin_free(skin);
}

static void tests(void) {
  RUN(test_mixture);
  RUN(test_same_bits);
}

int main(void) {
  make_input();
  run_with_every_instruction_set(tests);
  RUN(test_errors);
  RUN(test_report);
  free_rig(&mesh);
  return harness_result();
}
