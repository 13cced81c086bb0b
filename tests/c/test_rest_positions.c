/* SPDX-License-Identifier: MIT */
/* Rest positions as an option: with them a skin deforms as one whose positions are those. */
#include "base/scalar.h"
#include "rig.h"

enum {
  VERTICES = 2000,
  JOINTS = 9,
  STRIDE = 5 /* numbers from vertex to vertex */
};

static rig mesh, moved;
static transform joints[2][JOINTS];

/* Numbers of the type, a vertex every STRIDE of them; none behind the last. */
static void *strided(const double *vectors, sbs_scalar scalar) {
  static double spread[STRIDE * VERTICES];
  for (size_t i = 0; i < 3 * VERTICES; i++) spread[i / 3 * STRIDE + i % 3] = vectors[i];
  return numbers_of(spread, STRIDE * (VERTICES - 1) + 3, scalar);
}

/* Compares positions and normals of two skins in both poses, the first with positions as an option. */
static void compare(const sbs_skin *skin, const sbs_skin *expected, sbs_scalar scalar, const void *positions,
                    size_t stride, int with_set_centers) {
  static double results[2][2][VERTICES * 3];
  const double tolerance = scalar == SBS_FLOAT32 ? 4e-6 : 1e-13; /* for meshes of size 5 */
  for (int which = 0; which < 2 * ALL_VARIANTS; which++) {
    sbs_deform_options options = options_of_variant(which % ALL_VARIANTS);
    const sbs_pose pose = pose_of(joints[which / ALL_VARIANTS]);
    if (all_variants[which % ALL_VARIANTS].center == SBS_CENTER_JOINT_SET && !with_set_centers &&
        options.method == SBS_METHOD_SPHERICAL) {
      continue;
    }
    CHECK_EQUAL(sbs_skin_deform(expected, &pose, &options, results[0][0], results[0][1], NULL, NULL), SBS_OK);
    options.rest_positions = positions;
    options.rest_positions_stride = stride;
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, results[1][0], results[1][1], NULL, NULL), SBS_OK);
    for (size_t i = 0; i < 2; i++) {
      for (size_t k = 0; k < 3 * VERTICES; k++) {
        CHECK_NEAR(sbs_scalar_get(results[1][i], scalar, k), sbs_scalar_get(results[0][i], scalar, k), tolerance);
      }
    }
  }
}

/* Centers of joint sets depend on where their vertices are at rest, which a skin is bound with. */
static void test_as_bound_with_them(void) {
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    const size_t size = scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double);
    sbs_skin *skin = bind_rig(&mesh, scalar, 1), *with_them = bind_rig(&moved, scalar, 1);
    void *spread = strided(moved.positions, scalar);
    compare(skin, with_them, scalar, spread, STRIDE * size, 0);
    free(spread);
    sbs_skin_free(with_them);
    sbs_skin_free(skin);
  }
}

static void test_own_positions(void) {
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    sbs_skin *skin = bind_rig(&mesh, scalar, 1);
    void *same = numbers_of(mesh.positions, 3 * VERTICES, scalar);
    compare(skin, skin, scalar, same, 0, 1);
    free(same);
    sbs_skin_free(skin);
  }
}

static void test_errors(void) {
  static double out[VERTICES * 3], untouched[VERTICES * 3];
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 0);
  const sbs_pose pose = pose_of(joints[0]);
  sbs_deform_options options = sbs_default_deform_options();
  sbs_fault fault;
  const double kept = moved.positions[3 * 7 + 1];
  options.rest_positions = moved.positions;
  moved.positions[3 * 7 + 1] = NAN;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, NULL, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_STRING(fault.argument, "rest_positions");
  CHECK_EQUAL(fault.index[0], 7);
  CHECK_EQUAL(fault.index[1], 1);
  moved.positions[3 * 7 + 1] = kept;
  options.rest_positions_stride = 20;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, NULL, &fault), SBS_ERROR_STRIDE);
  CHECK_STRING(fault.argument, "rest_positions_stride");
  options.rest_positions = NULL;
  options.rest_positions_stride = 24; /* would be ignored */
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, NULL, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "rest_positions_stride");
  options.rest_positions = moved.positions;
  options.rest_positions_stride = 0;
  CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, &options, mesh.positions, 0, out, NULL, NULL, &fault),
              SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "rest_positions");
  CHECK(memcmp(out, untouched, sizeof out) == 0);
  sbs_skin_free(skin);
}

int main(void) {
  uint64_t seed = 3;
  mesh = new_rig(5, VERTICES, JOINTS, 3);
  for (size_t v = 0; v < VERTICES; v += 3) memcpy(mesh.centers + 3 * v, mesh.positions + 3 * v, 3 * sizeof(double));
  int32_t order[VERTICES];
  for (int32_t v = 0; v < VERTICES; v++) order[v] = v;
  moved = reorder_rig(&mesh, order);
  for (size_t i = 0; i < 3 * VERTICES; i++) {
    moved.positions[i] = (double)(float)(moved.positions[i] + random_float32(&seed, -0.5, 0.5));
  }
  for (size_t v = 0; v < VERTICES; v += 3) memcpy(moved.centers + 3 * v, moved.positions + 3 * v, 3 * sizeof(double));
  for (int j = 0; j < JOINTS; j++) {
    joints[0][j] = random_rigid(&seed, 90.0);
    joints[1][j] = multiply(joints[0][j], scaling(1.5, 1.0, j % 2 ? 1.0 : 0.5));
  }
  RUN(test_as_bound_with_them);
  RUN(test_own_positions);
  RUN(test_errors);
  free_rig(&moved);
  free_rig(&mesh);
  return harness_result();
}
