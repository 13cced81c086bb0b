/* SPDX-License-Identifier: MIT */
/* What shaders need: influences as bound, and palettes of poses, from which a shader's arithmetic finds the same. */
#include <string.h>

#include "rig.h"

enum {
  VERTICES = 500,
  JOINTS = 9,
  INFLUENCES = 4,
  FRAMES = 5
};

/* A random mesh; some vertices have fewer influences, one has none. */
static rig new_mesh(void) {
  rig made = new_rig(11, VERTICES, JOINTS, INFLUENCES);
  uint64_t seed = 12;
  for (size_t v = 0; v < VERTICES; v++) {
    for (size_t k = random_below(&seed, INFLUENCES) + 1; k < INFLUENCES; k++) {
      made.joint_weights[INFLUENCES * v + k] = 0.0;
    }
  }
  for (size_t k = 0; k < INFLUENCES; k++) made.joint_weights[INFLUENCES * 7 + k] = 0.0;
  return made;
}

/* |q|^2 R(q) v */
static void turn(const double q[4], const double v[3], double turned[3]) {
  const double along = q[0] * v[0] + q[1] * v[1] + q[2] * v[2];
  const double same = q[3] * q[3] - q[0] * q[0] - q[1] * q[1] - q[2] * q[2];
  const double cross[3] = {q[1] * v[2] - q[2] * v[1], q[2] * v[0] - q[0] * v[2], q[0] * v[1] - q[1] * v[0]};
  for (int i = 0; i < 3; i++) turned[i] = same * v[i] + 2.0 * (along * q[i] + q[3] * cross[i]);
}

/*
 * What a shader computes of a palette, but in double: v' = sum w_i C_i v + sigma (Q - sum w_i R_i) (v - c) with the
 * quaternions' scales; without a center linear blending.
 */
static void shade(const float *palette, const int32_t *joints, const float *weights, const double v[3],
                  const double *center, double moved[3]) {
  double blend[4] = {0.0}, scale = 0.0, linear[3] = {0.0}, given[3] = {0.0}, turned[3];
  const double zero[3] = {0.0};
  const float *first = palette + 16 * joints[0] + 12;
  for (int k = 0; k < INFLUENCES; k++) {
    const float *row = palette + 16 * joints[k];
    double w = (double)weights[k], square = 0.0, dot = 0.0;
    for (int i = 0; i < 4; i++) {
      square += (double)row[12 + i] * (double)row[12 + i];
      dot += (double)row[12 + i] * (double)first[i];
    }
    for (int i = 0; i < 4; i++) blend[i] += (dot < 0.0 ? -w : w) / sqrt(square) * (double)row[12 + i];
    scale += w * square;
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        linear[i] += w * (double)row[4 * i + j] * v[j];
        given[i] += w * (double)row[4 * i + j] * (v[j] - (center ? center : zero)[j]);
      }
      linear[i] += w * (double)row[4 * i + 3];
    }
  }
  const double arm[3] = {v[0] - (center ? center : zero)[0], v[1] - (center ? center : zero)[1],
                         v[2] - (center ? center : zero)[2]};
  turn(blend, arm, turned);
  const double square = blend[0] * blend[0] + blend[1] * blend[1] + blend[2] * blend[2] + blend[3] * blend[3];
  for (int i = 0; i < 3; i++) moved[i] = linear[i] + (center ? scale / square * turned[i] - given[i] : 0.0);
}

static void make_poses(transform *joints, double least_scale, double most_scale) {
  uint64_t seed = 13;
  for (size_t i = 0; i < (size_t)FRAMES * JOINTS; i++) {
    const double s = random_between(&seed, least_scale, most_scale);
    joints[i] = multiply(random_rigid(&seed, 170.0), scaling(s, s, s));
  }
}

static float palettes[FRAMES][JOINTS][16], centers[FRAMES][VERTICES][4];
static double deformed[FRAMES][VERTICES][3];

/* Within 3e-6: the palette is in float32, and centers are up to some sizes away. */
static void check_shader(const sbs_skin *skin, const rig *mesh, const transform *joints, sbs_deform_options options) {
  static float again[FRAMES][JOINTS][16], centers_again[FRAMES][VERTICES][4];
  int32_t indices[VERTICES][INFLUENCES], sets[VERTICES];
  float weights[VERTICES][INFLUENCES];
  sbs_skin_info info;
  const sbs_pose pose = pose_of(joints);
  CHECK_EQUAL(sbs_skin_get_info(skin, &info), SBS_OK);
  CHECK_EQUAL(sbs_skin_joint_set_of_vertex(skin, sets), SBS_OK);
  CHECK_EQUAL(sbs_skin_influences(skin, INFLUENCES, indices[0], weights[0], NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_deform_many(skin, FRAMES, &pose, &options, deformed, NULL, NULL, NULL), SBS_OK);
  const int has_sets = options.method == SBS_METHOD_SPHERICAL && options.center == SBS_CENTER_JOINT_SET;
  CHECK_EQUAL(
      sbs_pose_palette(skin, FRAMES, &pose, &options, palettes[0][0], has_sets ? centers[0][0] : NULL, NULL, NULL),
      SBS_OK);
  memcpy(centers_again, centers, sizeof centers);
  options.threads = 4;
  CHECK_EQUAL(
      sbs_pose_palette(skin, FRAMES, &pose, &options, again[0][0], has_sets ? centers_again[0][0] : NULL, NULL, NULL),
      SBS_OK);
  CHECK(memcmp(palettes, again, sizeof again) == 0 && memcmp(centers, centers_again, sizeof centers) == 0);
  double most = 0.0;
  for (size_t f = 0; f < FRAMES; f++) {
    for (size_t v = 0; v < VERTICES; v++) {
      double moved[3], center[3];
      if (v == 7) continue; /* nothing moves it */
      for (size_t i = 0; i < 3; i++) {
        const float (*of_frame)[4] = (const float (*)[4])(centers[0][0] + f * info.joint_set_count * 4);
        center[i] = has_sets ? (double)of_frame[sets[v]][i] : mesh->centers[3 * v + i];
      }
      shade(palettes[f][0], indices[v], weights[v], mesh->positions + 3 * v,
            options.method == SBS_METHOD_LINEAR ? NULL : center, moved);
      for (size_t i = 0; i < 3; i++) most = fmax(most, fabs(moved[i] - deformed[f][v][i]));
    }
  }
  CHECK_NEAR(most, 0.0, 3e-6);
}

static void test_shader_finds_the_same(void) {
  rig mesh = new_mesh();
  transform joints[FRAMES * JOINTS];
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 0);
  sbs_deform_options options = sbs_default_deform_options();
  make_poses(joints, 1.0, 1.0);
  check_shader(skin, &mesh, joints, options);
  options.center = SBS_CENTER_OPTIMIZED;
  check_shader(skin, &mesh, joints, options);
  make_poses(joints, 0.8, 1.25);
  check_shader(skin, &mesh, joints, options);
  options.method = SBS_METHOD_LINEAR;
  check_shader(skin, &mesh, joints, options);
  /* rigid joints that rounding, or a little more, has scaled: linear blending scales by them, the others do not */
  make_poses(joints, 1.0 + 1e-6, 1.0 + 2e-6);
  check_shader(skin, &mesh, joints, options);
  options.method = SBS_METHOD_SPHERICAL;
  check_shader(skin, &mesh, joints, options);
  sbs_skin_free(skin);
  free_rig(&mesh);
}

static void test_bad_input(void) {
  rig mesh = new_mesh();
  transform joints[JOINTS];
  for (int j = 0; j < JOINTS; j++) joints[j] = identity();
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT32, 0);
  const sbs_pose pose = pose_of(joints);
  sbs_fault fault;
  int32_t indices[VERTICES];
  float weights[VERTICES];
  CHECK_EQUAL(sbs_skin_influences(skin, 0, indices, weights, NULL, NULL), SBS_ERROR_EMPTY);
  CHECK_EQUAL(sbs_skin_influences(NULL, 1, indices, weights, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_influences(skin, 1, NULL, weights, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_influences(skin, 1, indices, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_REFUSED(sbs_pose_palette(skin, 1, &pose, NULL, NULL, NULL, NULL, &fault), SBS_ERROR_NULL, "joints");
  CHECK_EQUAL(sbs_pose_palette(NULL, 1, &pose, NULL, palettes[0][0], NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_pose_palette(skin, 1, NULL, NULL, palettes[0][0], NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_pose_palette(skin, 0, &pose, NULL, palettes[0][0], NULL, NULL, NULL), SBS_OK);
  sbs_deform_options unknown = sbs_default_deform_options();
  unknown.method = (sbs_method)57;
  CHECK_REFUSED(sbs_pose_palette(skin, 1, &pose, &unknown, palettes[0][0], NULL, NULL, &fault), SBS_ERROR_OPTION,
                "method");
  joints[3].m[1][2] = NAN;
  CHECK_REFUSED(sbs_pose_palette(skin, 1, &pose, NULL, palettes[0][0], NULL, NULL, &fault), SBS_ERROR_NOT_FINITE,
                "skinning_matrices");
  CHECK_EQUAL(fault.index[0], 3);
  sbs_skin_free(skin);
  free_rig(&mesh);
}

int main(void) {
  RUN(test_shader_finds_the_same);
  RUN(test_bad_input);
  return harness_result();
}
