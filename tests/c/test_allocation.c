/* SPDX-License-Identifier: MIT */
/*
 * Memory of skins, and of calls with them: every allocation fails in turn, nothing leaks, and scratch from
 * the caller needs none. Of brushes, capsules, centers, meshes, subdivisions, surfaces and tools for weights,
 * test_progress.c makes them fail.
 */
#include "counting_allocator.h"
#include "rig.h"

/* A mesh with all that a description can have, and with more sets than the table of joint sets starts with. */
typedef struct subject {
  rig mesh;
  int32_t parents[40];
  double joint_positions[40][3];
  transform joints[40];
  sbs_skin_desc desc;
  sbs_skin_options options;
} subject;

static void make_subject(subject *made, allocation_counter *count) {
  uint64_t seed = 1;
  made->mesh = new_rig(1, 1000, 40, 4);
  for (size_t v = 0; v < made->mesh.vertex_count; v++) { /* vertices of 0 to 4 joints */
    for (size_t k = v % 5; k < 4; k++) made->mesh.joint_weights[4 * v + k] = 0.0;
  }
  made->desc = describe_rig(&made->mesh);
  made->options = sbs_default_skin_options();
  for (int j = 0; j < 40; j++) {
    made->parents[j] = j - 1;
    made->joints[j] = random_rigid(&seed, 90.0);
    for (int i = 0; i < 3; i++) made->joint_positions[j][i] = random_between(&seed, -1.0, 1.0);
  }
  made->desc.parents = made->parents;
  made->desc.joint_positions = made->joint_positions[0];
  made->options.allocator = counting_allocator(count);
}

static void check_out_of_memory_fault(const sbs_fault *fault) {
  CHECK(fault->argument == NULL);
  CHECK_EQUAL(fault->index_count, 0);
  CHECK(fault->value == 0.0);
  CHECK(fault->limit == 0.0);
}

static const unsigned char untouched = 0x5a;

/* The number of bytes that are not as they were filled. */
static size_t touched(const void *memory, size_t size) {
  size_t count = 0;
  for (size_t i = 0; i < size; i++) count += ((const unsigned char *)memory)[i] != untouched;
  return count;
}

static void test_every_allocation_of_new_fails_in_turn(void) {
  allocation_counter count = {.fail_at = SIZE_MAX};
  subject made;
  make_subject(&made, &count);
  sbs_skin *const before = (sbs_skin *)(void *)&made;
  sbs_skin *skin = before;
  for (count.fail_at = 0; skin == before && count.fail_at < 1000; count.fail_at += skin == before) {
    const size_t fail_at = count.fail_at;
    count.allocated = count.released = 0;
    sbs_weight_report report;
    sbs_fault fault;
    memset(&report, untouched, sizeof report);
    memset(&fault, untouched, sizeof fault);
    const sbs_status status = sbs_skin_new(&made.desc, &made.options, &skin, &report, &fault);
    if (status == SBS_OK) {
      CHECK(count.allocated <= fail_at);
      CHECK_EQUAL(touched(&fault, sizeof fault), 0);
      CHECK(skin != before);
      break;
    }
    CHECK_EQUAL(status, SBS_ERROR_OUT_OF_MEMORY);
    CHECK(skin == before);
    CHECK_EQUAL(touched(&report, sizeof report), 0);
    check_out_of_memory_fault(&fault);
    CHECK_EQUAL(count.released, count.allocated);
    CHECK_EQUAL(count.bytes, 0);
  }
  CHECK(count.fail_at > 30); /* there were that many to fail */
  if (skin != before) sbs_skin_free(skin);
  CHECK_EQUAL(count.released, count.allocated);
  CHECK_EQUAL(count.bytes, 0);
  CHECK_EQUAL(count.foreign, 0);
  free_rig(&made.mesh);
}

/* A skin tells the memory that it holds, but for alignment, and has released all other memory. */
static void test_info_tells_the_memory(void) {
  allocation_counter count = {.fail_at = SIZE_MAX};
  subject made;
  make_subject(&made, &count);
  sbs_skin *skin = NULL;
  sbs_skin_info info;
  made.options.strict = 1; /* bad input leaves nothing behind either */
  CHECK_EQUAL(sbs_skin_new(&made.desc, &made.options, &skin, NULL, NULL), SBS_ERROR_WEIGHT);
  CHECK(count.allocated > 0 && count.bytes == 0);
  made.options.strict = 0;
  if (!CHECK_EQUAL(sbs_skin_new(&made.desc, &made.options, &skin, NULL, NULL), SBS_OK)) return;
  CHECK_EQUAL(sbs_skin_get_info(skin, &info), SBS_OK);
  CHECK(info.memory <= count.bytes);
  CHECK(count.bytes <= info.memory + 128 * (count.allocated - count.released));
  sbs_skin_free(skin);
  CHECK_EQUAL(count.bytes, 0);
  sbs_skin_free(NULL);
  free_rig(&made.mesh);
}

/* The outputs of a deformation. */
typedef struct output {
  double positions[2][1000][3], normals[2][1000][3], centers[1001][3];
  float palettes[2][40][16], palette_centers[2][1001][4];
  int32_t joints[1000][4];
  float weights[1000][4];
  unsigned char singular[1000];
  size_t singular_count;
  sbs_deform_report report;
} output;

enum {
  DEFORM,
  DEFORM_MANY,
  CENTERS,
  PALETTE,
  INVERSE,
  BLEND, /* from here on by two methods, which take twice the memory */
  BLEND_MANY,
  INVERSE_BLEND,
  INFLUENCES, /* without options */
  CALLS
};

static sbs_status call(int which, const subject *made, const sbs_skin *skin, const sbs_deform_options *options,
                       output *out, sbs_fault *fault) {
  transform frames[2][40];
  memcpy(frames[0], made->joints, sizeof frames[0]);
  memcpy(frames[1], made->joints, sizeof frames[1]);
  const sbs_pose pose = pose_of(frames[0]);
  sbs_deform_options chosen = options ? *options : sbs_default_deform_options();
  double amount[1000];
  for (int v = 0; v < 1000; v++) amount[v] = v / 999.0;
  if (which >= BLEND && chosen.method >= SBS_METHOD_SPHERICAL) {
    chosen.amount = amount;
    chosen.amount_scalar = SBS_FLOAT64;
  }
  switch (which) {
    case DEFORM:
    case BLEND: return sbs_skin_deform(skin, &pose, &chosen, out->positions, out->normals, &out->report, fault);
    case DEFORM_MANY:
    case BLEND_MANY:
      return sbs_skin_deform_many(skin, 2, &pose, &chosen, out->positions, out->normals, &out->report, fault);
    case CENTERS: return sbs_skin_rotation_centers(skin, &pose, options, out->centers[0], &out->report, fault);
    case PALETTE:
      return sbs_pose_palette(skin, 2, &pose, options, out->palettes[0][0], out->palette_centers[0][0], NULL, fault);
    case INFLUENCES: return sbs_skin_influences(skin, 4, out->joints[0], out->weights[0], NULL, fault);
    default:
      return sbs_skin_inverse_deform(skin, &pose, &chosen, made->mesh.positions, 0, out->positions[0], out->singular,
                                     &out->singular_count, fault);
  }
}

static void test_every_allocation_of_deform_fails_in_turn(void) {
  static output out;
  allocation_counter count = {.fail_at = SIZE_MAX};
  subject made;
  make_subject(&made, &count);
  sbs_skin *skin = NULL;
  if (!CHECK_EQUAL(sbs_skin_new(&made.desc, &made.options, &skin, NULL, NULL), SBS_OK)) return;
  for (int which = 0; which < CALLS; which++) {
    sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
    size_t failures = 0;
    for (; status && failures < 100; failures += status != 0) {
      const size_t allocated = count.allocated, held = count.allocated - count.released;
      count.fail_at = allocated + failures;
      sbs_fault fault;
      memset(&fault, untouched, sizeof fault);
      memset(&out, untouched, sizeof out);
      status = call(which, &made, skin, NULL, &out, &fault);
      CHECK_EQUAL(count.allocated - count.released, held);
      if (status == SBS_OK) {
        CHECK_EQUAL(touched(&fault, sizeof fault), 0);
        CHECK(touched(&out, sizeof out) > 0);
      } else {
        CHECK_EQUAL(status, SBS_ERROR_OUT_OF_MEMORY);
        CHECK_EQUAL(touched(&out, sizeof out), 0);
        check_out_of_memory_fault(&fault);
      }
    }
    CHECK(failures > 0 && failures < 100);
  }
  sbs_skin_free(skin);
  CHECK_EQUAL(count.bytes, 0);
  CHECK_EQUAL(count.foreign, 0);
  free_rig(&made.mesh);
}

/* With scratch of just the size that is asked for, every method runs without any allocation, and to the same bits. */
static void test_scratch_needs_no_allocation(void) {
  static output by_scratch, by_allocator;
  allocation_counter count = {.fail_at = SIZE_MAX};
  subject made;
  make_subject(&made, &count);
  sbs_skin *skin = NULL;
  if (!CHECK_EQUAL(sbs_skin_new(&made.desc, &made.options, &skin, NULL, NULL), SBS_OK)) return;
  const size_t size = sbs_skin_scratch_size(skin);
  CHECK(size > 0);
  CHECK_EQUAL(sbs_skin_scratch_size(NULL), 0);

  enum {
    GUARD = 64
  };
  unsigned char *memory = malloc(size + GUARD + 63);
  if (!memory) abort();
  unsigned char *scratch = memory + (64 - (uintptr_t)memory % 64) % 64;
  made.joints[3] = multiply(made.joints[3], scaling(1.0, 2.0, 3.0));
  for (int method = SBS_METHOD_RIGID; method <= SBS_METHOD_DUAL_QUATERNION; method++) {
    for (int truncated = 0; truncated < 2; truncated++) {
      for (int which = 0; which < INFLUENCES; which++) {
        sbs_deform_options options = sbs_default_deform_options();
        options.method = (sbs_method)method;
        options.rcond = truncated ? 1e-3 : 0.0;
        memset(&by_allocator, untouched, sizeof by_allocator);
        memset(&by_scratch, untouched, sizeof by_scratch);
        CHECK_EQUAL(call(which, &made, skin, &options, &by_allocator, NULL), SBS_OK);

        const size_t allocated = count.allocated, released = count.released;
        memset(scratch, untouched, size + GUARD);
        options.scratch = scratch;
        options.scratch_size = size;
        CHECK_EQUAL(call(which, &made, skin, &options, &by_scratch, NULL), SBS_OK);
        CHECK_EQUAL(count.allocated, allocated);
        CHECK_EQUAL(count.released, released);
        CHECK_EQUAL(touched(scratch + size, GUARD), 0);
        CHECK(memcmp(&by_scratch, &by_allocator, sizeof by_scratch) == 0);
      }
    }
  }
  free(memory);
  sbs_skin_free(skin);
  CHECK_EQUAL(count.bytes, 0);
  free_rig(&made.mesh);
}

int main(void) {
  RUN(test_every_allocation_of_new_fails_in_turn);
  RUN(test_info_tells_the_memory);
  RUN(test_every_allocation_of_deform_fails_in_turn);
  RUN(test_scratch_needs_no_allocation);
  return harness_result();
}
