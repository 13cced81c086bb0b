/* SPDX-License-Identifier: MIT */
/* The same bits by any number of threads, by frames together or apart, in any layout of input and output. */
#include <fenv.h>

#include "rig.h"

/* Under an emulator all takes a hundred times as long: a part of it runs, with normals and in float32. */
#ifndef EMULATED
#define EMULATED 0
#endif

/* Enough work for two threads in each frame, and for four in all of them. */
enum {
  VERTICES = 12000,
  JOINTS = 14,
  FRAMES = 3
};

/* Room for the output of all frames in either type. */
static double expected[2][FRAMES][VERTICES][3], found[2][FRAMES][VERTICES][3];

/* Moving joints; the last frame has some that are not rigid. */
static void make_frames(transform frames[FRAMES][JOINTS]) {
  uint64_t seed = 1;
  for (int i = 0; i < FRAMES * JOINTS; i++) frames[i / JOINTS][i % JOINTS] = random_rigid(&seed, 120.0);
  for (int j = 0; j < 3; j++) {
    frames[FRAMES - 1][j] = multiply(frames[FRAMES - 1][j], scaling(1.0 + j, 0.5, -1.0 + j));
  }
}

static void deform_frames(const sbs_skin *skin, const transform frames[FRAMES][JOINTS],
                          const sbs_deform_options *options, int with_normals) {
  const sbs_pose poses = pose_of(frames[0]);
  memset(found, 0, sizeof found);
  CHECK_EQUAL(sbs_skin_deform_many(skin, FRAMES, &poses, options, found[0], with_normals ? found[1] : NULL, NULL, NULL),
              SBS_OK);
}

/* Into records with something before and after each vertex, which stays. */
static void check_strides(const sbs_skin *skin, const transform frames[FRAMES][JOINTS], sbs_scalar scalar,
                          const sbs_deform_options *options, int with_normals) {
  static unsigned char records[2][FRAMES * VERTICES * 5 * sizeof(double)];
  const size_t size = size_of(scalar), stride[2] = {5 * size, 4 * size};
  const sbs_pose poses = pose_of(frames[0]);
  sbs_deform_options strided = *options;
  strided.positions_stride = stride[0];
  strided.normals_stride = stride[1];
  memset(records, 0x5a, sizeof records);
  CHECK_EQUAL(
      sbs_skin_deform_many(skin, FRAMES, &poses, &strided, records[0], with_normals ? records[1] : NULL, NULL, NULL),
      SBS_OK);
  for (int which = 0; which < 1 + with_normals; which++) {
    size_t wrong = 0, written_between = 0;
    for (size_t v = 0; v < (size_t)FRAMES * VERTICES; v++) {
      const unsigned char *record = records[which] + v * stride[which];
      wrong += memcmp(record, (const char *)expected[which] + v * 3 * size, 3 * size) != 0;
      for (size_t i = 3 * size; i < stride[which]; i++) written_between += record[i] != 0x5a;
    }
    CHECK_EQUAL(wrong, 0);
    CHECK_EQUAL(written_between, 0);
  }
}

/*
 * Both types, all methods, with and without normals and amounts: frames one by one and together, by threads, strided.
 */
static void test_frames_threads_and_strides(void) {
  static const int threads[] = {1, 0, 4};
  static transform frames[FRAMES][JOINTS];
  static float amounts[VERTICES]; /* whole stretches of 0, of either sign, and of 1, and amounts side by side */
  for (int v = 0; v < VERTICES; v++) {
    amounts[v] = v < VERTICES / 3 ? (v % 4000 ? -0.0f : 0.0f) : v < 2 * VERTICES / 3 ? 1.0f : 0.25f * (float)(v % 5);
  }
  make_frames(frames);
  rig made = new_rig(1, VERTICES, JOINTS, 3);
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= (EMULATED ? SBS_FLOAT32 : SBS_FLOAT64); scalar++) {
    sbs_skin *skin = bind_rig(&made, scalar, 1);
    for (int m = EMULATED; m < 4 * ALL_VARIANTS; m += 1 + EMULATED) {
      const int with_normals = m % 2, with_amounts = m / 2 % 2;
      const size_t frame_size = VERTICES * 3 * size_of(scalar);
      sbs_deform_options options = options_of_variant(m / 4);
      if (with_amounts && m / 4 < FIRST_TO_TURN) continue;
      options.amount = with_amounts ? amounts : NULL;
      options.threads = 1;
      memset(expected, 0, sizeof expected);
      for (size_t f = 0; f < FRAMES; f++) {
        const sbs_pose pose = pose_of(frames[f]);
        char *positions = (char *)expected[0] + f * frame_size, *normals = (char *)expected[1] + f * frame_size;
        CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, positions, with_normals ? normals : NULL, NULL, NULL),
                    SBS_OK);
      }
      for (int i = 0; i < 3; i++) {
        options.threads = threads[i];
        deform_frames(skin, frames, &options, with_normals);
        CHECK(memcmp(found, expected, sizeof found) == 0);
      }
      check_strides(skin, frames, scalar, &options, with_normals);
    }
    sbs_skin_free(skin);
  }
  free_rig(&made);
}

/* Whatever way the caller rounds: the threads do likewise, and do again what the next caller does. */
static void test_rounding_modes(void) {
  enum {
    MANY = 100000 /* vertices: enough work for eight threads */
  };
  static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}, numbers[] = {1, 8, 3};
  static float by_one[4][MANY][3], by_many[MANY][3];
  static transform frames[FRAMES][JOINTS];
  make_frames(frames);
  rig made = new_rig(3, MANY, JOINTS, 3);
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT32, 0);
  const sbs_pose pose = pose_of(frames[FRAMES - 1]);
  const int first = EMULATED ? 1 : 0, end = EMULATED ? 4 : ALL_VARIANTS; /* a method each */
  for (int m = first; m < end; m++) {
    sbs_deform_options options = options_of_variant(m);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers - EMULATED; i++) {
      options.threads = numbers[i];
      for (int mode = 0; mode < 4; mode++) {
        CHECK_EQUAL(fesetround(modes[mode]), 0);
        float (*positions)[3] = options.threads == 1 ? by_one[mode] : by_many;
        const sbs_status status = sbs_skin_deform(skin, &pose, &options, positions, NULL, NULL, NULL);
        CHECK_EQUAL(fegetround(), modes[mode]);
        CHECK_EQUAL(fesetround(FE_TONEAREST), 0);
        CHECK_EQUAL(status, SBS_OK);
        CHECK(memcmp(positions, by_one[mode], sizeof by_many) == 0);
      }
    }
    CHECK(memcmp(by_one[1], by_one[2], sizeof by_many) != 0); /* or else this would tell nothing */
  }
  sbs_skin_free(skin);
  free_rig(&made);
}

/* The centers as well, by either solver. */
static void test_centers_by_threads(void) {
  static transform frames[FRAMES][JOINTS];
  make_frames(frames);
  rig made = new_rig(1, VERTICES, JOINTS, 3);
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT32, 0);
  const sbs_pose pose = pose_of(frames[0]);
  for (int truncated = 0; truncated < 2; truncated++) {
    sbs_deform_options options = sbs_default_deform_options();
    options.rcond = truncated ? 1e-3 : 0.0;
    for (int threads = 1; threads <= 4; threads++) {
      options.threads = threads;
      double (*centers)[3] = threads == 1 ? expected[0][0] : found[0][0];
      CHECK_EQUAL(sbs_skin_rotation_centers(skin, &pose, &options, centers[0], NULL, NULL), SBS_OK);
      if (threads > 1) CHECK(memcmp(found[0][0], expected[0][0], 364 * sizeof *centers) == 0); /* 3 of 14 joints */
    }
  }
  sbs_skin_free(skin);
  free_rig(&made);
}

/* Rest positions of the options, a few numbers from vertex to vertex and none behind the last. */
static void test_strided_rest_positions(void) {
  enum {
    FEW = 333,
    STRIDE = 5
  };
  static transform frames[FRAMES][JOINTS];
  static double spread[STRIDE * FEW], dense[2][FEW * 3], strided[2][FEW * 3];
  make_frames(frames);
  rig made = new_rig(6, FEW, JOINTS, 3), other = new_rig(7, FEW, JOINTS, 3);
  for (size_t i = 0; i < 3 * FEW; i++) spread[i / 3 * STRIDE + i % 3] = other.positions[i];
  for (int m = 0; m < 2 * ALL_VARIANTS; m++) {
    const sbs_scalar scalar = m % 2 ? SBS_FLOAT32 : SBS_FLOAT64;
    const sbs_pose pose = pose_of(frames[m % FRAMES]);
    sbs_deform_options options = options_of_variant(m / 2);
    sbs_skin *skin = bind_rig(&made, scalar, 1);
    void *packed = numbers_of(other.positions, 3 * FEW, scalar);
    void *loose = numbers_of(spread, STRIDE * (FEW - 1) + 3, scalar);
    options.rest_positions = packed;
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, dense[0], dense[1], NULL, NULL), SBS_OK);
    options.rest_positions = loose;
    options.rest_positions_stride = STRIDE * size_of(scalar);
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, strided[0], strided[1], NULL, NULL), SBS_OK);
    CHECK(memcmp(dense, strided, sizeof dense) == 0);
    free(packed);
    free(loose);
    sbs_skin_free(skin);
  }
  free_rig(&made);
  free_rig(&other);
}

int main(void) {
  RUN(test_frames_threads_and_strides);
  RUN(test_rounding_modes);
  RUN(test_centers_by_threads);
  RUN(test_strided_rest_positions);
  return harness_result();
}
