/* SPDX-License-Identifier: MIT */
/*
 * Characters small enough to make in a test: matrices in double, repeatable random numbers, random meshes; and a way to
 * test every instruction set.
 */
#ifndef SBS_TESTS_RIG_H
#define SBS_TESTS_RIG_H

#include <sbs/sbs.h>
#include <stdlib.h>

#include "base/isa.h"
#include "harness.h"
#include "system.h"

/* ------------------------------------------------------------------------------------------------------ matrices -- */

/* A (3, 4) skinning matrix; a sbs_pose of three rows points to an array of them. */
typedef struct transform {
  double m[3][4];
} transform;

static inline transform identity(void) {
  return (transform){{{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}}};
}

static inline transform translation(double x, double y, double z) {
  return (transform){{{1.0, 0.0, 0.0, x}, {0.0, 1.0, 0.0, y}, {0.0, 0.0, 1.0, z}}};
}

static inline transform scaling(double x, double y, double z) {
  return (transform){{{x, 0.0, 0.0, 0.0}, {0.0, y, 0.0, 0.0}, {0.0, 0.0, z, 0.0}}};
}

/*
 * About an axis through the origin, of any length, by Rodrigues' formula. Exact for the axes and multiples of 90
 * degrees.
 */
static inline transform rotation(double x, double y, double z, double degrees) {
  const double length = sqrt(x * x + y * y + z * z), angle = degrees * (acos(-1.0) / 180.0);
  double sine = sin(angle), cosine = cos(angle);
  if (fmod(degrees, 90.0) == 0.0) {
    sine = nearbyint(sine);
    cosine = nearbyint(cosine);
  }
  x /= length;
  y /= length;
  z /= length;
  const double rest = 1.0 - cosine;
  return (transform){{{cosine + rest * x * x, rest * x * y - sine * z, rest * x * z + sine * y, 0.0},
                      {rest * x * y + sine * z, cosine + rest * y * y, rest * y * z - sine * x, 0.0},
                      {rest * x * z - sine * y, rest * y * z + sine * x, cosine + rest * z * z, 0.0}}};
}

/* a b: first b, then a */
static inline transform multiply(transform a, transform b) {
  transform product;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 4; j++) {
      product.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    }
    product.m[i][3] += a.m[i][3];
  }
  return product;
}

/* t that turns and scales about (x, y, z) in place of the origin */
static inline transform about(transform t, double x, double y, double z) {
  return multiply(multiply(translation(x, y, z), t), translation(-x, -y, -z));
}

static inline void move_point(const transform *t, const double v[3], double moved[3]) {
  for (int i = 0; i < 3; i++) moved[i] = t->m[i][0] * v[0] + t->m[i][1] * v[1] + t->m[i][2] * v[2] + t->m[i][3];
}

static inline sbs_pose pose_of(const transform *joints) {
  return (sbs_pose){.skinning_matrices = joints, .scalar = SBS_FLOAT64, .rows = 3};
}

/* ------------------------------------------------------------------------------------------------ random numbers -- */

/* SplitMix64 (Steele, Lea and Flood 2014): the same numbers everywhere. */
static inline uint64_t random_bits(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline double random_between(uint64_t *state, double low, double high) {
  return low + (high - low) * ldexp((double)(random_bits(state) >> 11), -53);
}

static inline size_t random_below(uint64_t *state, size_t count) {
  return (size_t)(random_bits(state) % count);
}

/*
 * Turned by up to most_degrees about any axis through a point of the unit cube, and moved by up to 0.1 along each axis.
 */
static inline transform random_rigid(uint64_t *state, double most_degrees) {
  double r[10];
  for (int i = 0; i < 9; i++) r[i] = random_between(state, -1.0, 1.0);
  r[9] = random_between(state, -most_degrees, most_degrees);
  const transform turn = about(rotation(r[0], r[1], r[2] + 0.01, r[9]), r[3], r[4], r[5]);
  return multiply(translation(0.1 * r[6], 0.1 * r[7], 0.1 * r[8]), turn);
}

/* -------------------------------------------------------------------------------------------------------- meshes -- */

/* All numbers are such as float32 holds, so that skins of either type are the same mesh. */
typedef struct rig {
  size_t vertex_count, joint_count, influences;
  double *positions;      /* (V, 3) in the cube from -1 to 1 */
  double *normals;        /* (V, 3) not of unit length */
  int32_t *joint_indices; /* (V, K) */
  double *joint_weights;  /* (V, K), their sum is not quite 1 */
  double *centers;        /* (V, 3) in the cube */
} rig;

static inline double random_float32(uint64_t *state, double low, double high) {
  return (double)(float)random_between(state, low, high);
}

/* Every vertex has `influences` distinct joints of joint_count, all of positive weight. */
static inline rig new_rig(uint64_t seed, size_t vertex_count, size_t joint_count, size_t influences) {
  rig made = {.vertex_count = vertex_count, .joint_count = joint_count, .influences = influences};
  made.positions = malloc(vertex_count * 3 * sizeof(double));
  made.normals = malloc(vertex_count * 3 * sizeof(double));
  made.joint_indices = malloc(vertex_count * influences * sizeof(int32_t));
  made.joint_weights = malloc(vertex_count * influences * sizeof(double));
  made.centers = malloc(vertex_count * 3 * sizeof(double));
  if (!made.positions || !made.normals || !made.joint_indices || !made.joint_weights || !made.centers) abort();

  for (size_t i = 0; i < 3 * vertex_count; i++) {
    made.positions[i] = random_float32(&seed, -1.0, 1.0);
    made.normals[i] = random_float32(&seed, 0.1, 1.0) * (random_bits(&seed) & 1 ? 1.0 : -1.0);
  }
  for (size_t v = 0; v < vertex_count; v++) {
    int32_t *joints = made.joint_indices + v * influences;
    for (size_t k = 0; k < influences; k++) {
      int taken = 1;
      while (taken) {
        joints[k] = (int32_t)random_below(&seed, joint_count);
        taken = 0;
        for (size_t i = 0; i < k; i++) taken |= joints[i] == joints[k];
      }
      made.joint_weights[v * influences + k] = random_float32(&seed, 0.05, 2.0) / (double)influences;
    }
  }
  for (size_t i = 0; i < 3 * vertex_count; i++) made.centers[i] = random_float32(&seed, -1.0, 1.0);
  return made;
}

static inline void free_rig(rig *made) {
  free(made->centers);
  free(made->positions);
  free(made->normals);
  free(made->joint_indices);
  free(made->joint_weights);
}

/* The same with its vertices in an order: vertex i of it is vertex order[i]. */
static inline rig reorder_rig(const rig *old, const int32_t *order) {
  const size_t influences = old->influences;
  rig made = new_rig(0, old->vertex_count, old->joint_count, influences);
  for (size_t i = 0; i < old->vertex_count; i++) {
    const size_t v = (size_t)order[i];
    memcpy(made.positions + 3 * i, old->positions + 3 * v, 3 * sizeof(double));
    memcpy(made.normals + 3 * i, old->normals + 3 * v, 3 * sizeof(double));
    memcpy(made.centers + 3 * i, old->centers + 3 * v, 3 * sizeof(double));
    memcpy(made.joint_indices + i * influences, old->joint_indices + v * influences, influences * sizeof(int32_t));
    memcpy(made.joint_weights + i * influences, old->joint_weights + v * influences, influences * sizeof(double));
  }
  return made;
}

static inline size_t size_of(sbs_scalar scalar) {
  return scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double);
}

static inline double number_at(const void *numbers, sbs_scalar scalar, size_t i) {
  return scalar == SBS_FLOAT32 ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
}

/* A copy in a type, not a byte too long: a sanitizer sees reads beside it. */
static inline void *numbers_of(const double *numbers, size_t count, sbs_scalar scalar) {
  void *copy = malloc(count * size_of(scalar));
  if (!copy) abort();
  for (size_t i = 0; i < count; i++) {
    if (scalar == SBS_FLOAT32) {
      ((float *)copy)[i] = (float)numbers[i];
    } else {
      ((double *)copy)[i] = numbers[i];
    }
  }
  return copy;
}

/* In float64, as the rig has it. */
static inline sbs_skin_desc describe_rig(const rig *made) {
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = made->vertex_count;
  desc.joint_count = made->joint_count;
  desc.influences_per_vertex = made->influences;
  desc.scalar = SBS_FLOAT64;
  desc.rest_positions = made->positions;
  desc.rest_normals = made->normals;
  desc.joint_indices = made->joint_indices;
  desc.weight_scalar = SBS_FLOAT64;
  desc.joint_weights = made->joint_weights;
  desc.centers = made->centers;
  return desc;
}

static inline sbs_skin *bind_rig(const rig *made, sbs_scalar scalar, int with_normals) {
  void *positions = numbers_of(made->positions, 3 * made->vertex_count, scalar);
  void *normals = numbers_of(made->normals, 3 * made->vertex_count, scalar);
  sbs_skin_desc desc = describe_rig(made);
  desc.scalar = scalar;
  desc.rest_positions = positions;
  desc.rest_normals = with_normals ? normals : NULL;
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  free(positions);
  free(normals);
  if (!skin) abort();
  return skin;
}

/* All methods with all options that change their results. */
static const struct {
  sbs_method method;
  sbs_rotation rotation;
  sbs_center center;
} all_variants[] = {
    {SBS_METHOD_RIGID, SBS_ROTATION_QLERP, SBS_CENTER_JOINT_SET},
    {SBS_METHOD_LINEAR, SBS_ROTATION_QLERP, SBS_CENTER_JOINT_SET},
    {SBS_METHOD_DUAL_QUATERNION, SBS_ROTATION_QLERP, SBS_CENTER_JOINT_SET},
    {SBS_METHOD_SPHERICAL, SBS_ROTATION_QLERP, SBS_CENTER_JOINT_SET},
    {SBS_METHOD_SPHERICAL, SBS_ROTATION_QLERP, SBS_CENTER_WEIGHTED},
    {SBS_METHOD_SPHERICAL, SBS_ROTATION_QLERP, SBS_CENTER_OPTIMIZED},
    {SBS_METHOD_SPHERICAL, SBS_ROTATION_AVERAGE, SBS_CENTER_JOINT_SET},
    {SBS_METHOD_SPHERICAL, SBS_ROTATION_AVERAGE, SBS_CENTER_WEIGHTED},
    {SBS_METHOD_SPHERICAL, SBS_ROTATION_AVERAGE, SBS_CENTER_OPTIMIZED},
};

enum {
  ALL_VARIANTS = sizeof all_variants / sizeof *all_variants,
  FIRST_TO_TURN = 2 /* the variants before take no amount */
};

static inline sbs_deform_options options_of_variant(int which) {
  sbs_deform_options options = sbs_default_deform_options();
  options.method = all_variants[which].method;
  options.rotation = all_variants[which].rotation;
  options.center = all_variants[which].center;
  return options;
}

/* ---------------------------------------------------------------------------------------------- instruction sets -- */

static const char *const instruction_sets[] = {"plain", "baseline", "avx2", "avx512"};

enum {
  INSTRUCTION_SETS = sizeof instruction_sets / sizeof *instruction_sets
};

/* Has skins that are made from now on use an instruction set; returns whether this machine has it. */
static inline int use_instruction_set(int which) {
  if (setenv("SBS_ISA", instruction_sets[which], 1)) abort();
  return strcmp(sbs_isa_name(sbs_choose_isa()), instruction_sets[which]) == 0;
}

/* Runs tests with every instruction set that there is. */
static inline void run_with_every_instruction_set(void (*tests)(void)) {
  for (int i = 0; i < INSTRUCTION_SETS; i++) {
    const int available = use_instruction_set(i);
    printf("%s%s\n", instruction_sets[i], available ? "" : ": not available on this machine");
    if (available) tests();
  }
  if (unsetenv("SBS_ISA")) abort();
}

#endif
