/* SPDX-License-Identifier: MIT */
/*
 * Every error of deforming with its fault: which argument, where, what value against what limit; outputs stay
 * untouched.
 */
#include "faults.h"

/* A skin of the mesh without fault, with matrices and options without fault. */
typedef struct deformation {
  sbs_skin *skin;
  double matrices[2][JOINTS][4][4];
  sbs_pose pose;
  sbs_deform_options options;
} deformation;

static deformation *new_deformation(int with_normals) {
  static deformation made;
  subject *mesh = new_subject();
  if (!with_normals) mesh->desc.rest_normals = NULL;
  sbs_skin_free(made.skin);
  made = (deformation){.options = sbs_default_deform_options()};
  CHECK_EQUAL(sbs_skin_new(&mesh->desc, NULL, &made.skin, NULL, NULL), SBS_OK);
  for (int i = 0; i < 2 * JOINTS * 4; i++) made.matrices[i / (4 * JOINTS)][i / 4 % JOINTS][i % 4][i % 4] = 1.0;
  made.pose = (sbs_pose){.skinning_matrices = made.matrices, .scalar = SBS_FLOAT64, .rows = 4};
  return &made;
}

/* All that a deformation may write, before and after. */
typedef struct output {
  float positions[2][VERTICES][4], normals[2][VERTICES][4];
  double centers[3][3]; /* of three joint sets */
  sbs_deform_report report;
} output;

static const float unwritten = -77.0f;

static output new_output(void) {
  output out = {.report = {7, 7, 7}};
  for (int i = 0; i < 2 * VERTICES * 4; i++) {
    out.positions[i / (4 * VERTICES)][i / 4 % VERTICES][i % 4] = unwritten;
    out.normals[i / (4 * VERTICES)][i / 4 % VERTICES][i % 4] = unwritten;
  }
  for (int i = 0; i < 9; i++) out.centers[i / 3][i % 3] = (double)unwritten;
  return out;
}

/* The three ways to pose a skin, or the two that give normals; they must all say the same. */
static sbs_fault deform(const deformation *made, sbs_status expected, int with_normals) {
  const output before = new_output();
  sbs_fault first = no_fault;
  for (int way = 0; way < (with_normals ? 2 : 3); way++) {
    output out = before;
    void *normals = with_normals ? out.normals : NULL;
    sbs_fault fault = no_fault;
    sbs_status status;
    if (way == 0) {
      status = sbs_skin_deform(made->skin, &made->pose, &made->options, out.positions, normals, &out.report, &fault);
    } else if (way == 1) {
      status =
          sbs_skin_deform_many(made->skin, 2, &made->pose, &made->options, out.positions, normals, &out.report, &fault);
    } else {
      status = sbs_skin_rotation_centers(made->skin, &made->pose, &made->options, out.centers[0], &out.report, &fault);
    }
    CHECK_STRING(sbs_status_string(status), sbs_status_string(expected));
    if (way == 0) first = fault;
    check_fault(&fault, first.argument, first.index_count, first.index[0], first.index[1], first.value, first.limit);
    if (expected == SBS_OK) {
      check_untouched_fault(&fault);
    } else {
      CHECK(memcmp(&out, &before, sizeof out) == 0);
      CHECK_EQUAL(sbs_skin_deform(made->skin, &made->pose, &made->options, out.positions, normals, NULL, NULL),
                  expected);
    }
  }
  return first;
}

static void check_deform(const deformation *made, sbs_status expected, const char *argument, double value,
                         double limit) {
  const sbs_fault fault = deform(made, expected, 0);
  check_fault(&fault, argument, 0, 0, 0, value, limit);
}

static void test_null(void) {
  deformation *made = new_deformation(1);
  output out = new_output();
  sbs_fault fault = no_fault;
  CHECK_EQUAL(sbs_skin_deform(NULL, &made->pose, NULL, out.positions, NULL, NULL, &fault), SBS_ERROR_NULL);
  check_fault(&fault, "skin", 0, 0, 0, 0.0, 0.0);
  CHECK_EQUAL(sbs_skin_deform(made->skin, NULL, NULL, out.positions, NULL, NULL, &fault), SBS_ERROR_NULL);
  check_fault(&fault, "pose", 0, 0, 0, 0.0, 0.0);
  CHECK_EQUAL(sbs_skin_deform(made->skin, &made->pose, NULL, NULL, out.normals, NULL, &fault), SBS_ERROR_NULL);
  check_fault(&fault, "positions", 0, 0, 0, 0.0, 0.0);
  CHECK_EQUAL(sbs_skin_rotation_centers(made->skin, &made->pose, NULL, NULL, NULL, &fault), SBS_ERROR_NULL);
  check_fault(&fault, "centers", 0, 0, 0, 0.0, 0.0);
  CHECK_EQUAL(sbs_skin_deform_many(made->skin, 2, &made->pose, NULL, NULL, NULL, NULL, &fault), SBS_ERROR_NULL);
  check_fault(&fault, "positions", 0, 0, 0, 0.0, 0.0);

  made->pose.skinning_matrices = NULL;
  check_deform(made, SBS_ERROR_NULL, "skinning_matrices", 0.0, 0.0);
}

static void test_no_frames(void) {
  deformation *made = new_deformation(0);
  sbs_fault fault = no_fault;
  sbs_deform_report report = {7, 7, 7};
  made->pose.skinning_matrices = NULL;
  CHECK_EQUAL(sbs_skin_deform_many(made->skin, 0, &made->pose, NULL, NULL, NULL, &report, &fault), SBS_OK);
  check_untouched_fault(&fault);
  CHECK_EQUAL(report.solves, 0);
  CHECK_EQUAL(report.nonrigid_joints, 0);
}

static void test_questions_null(void) {
  deformation *made = new_deformation(0);
  sbs_skin_info info;
  size_t offsets[8];
  int32_t joints[8];
  CHECK_EQUAL(sbs_skin_get_info(NULL, &info), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_get_info(made->skin, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_joint_sets(NULL, offsets, joints), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_joint_sets(made->skin, NULL, joints), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_joint_sets(made->skin, offsets, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_joint_set_of_vertex(NULL, joints), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_joint_set_of_vertex(made->skin, NULL), SBS_ERROR_NULL);
}

static void test_option(void) {
  deformation *made = new_deformation(0);
  made->pose.scalar = (sbs_scalar)2;
  check_deform(made, SBS_ERROR_OPTION, "scalar", 2.0, 0.0);
  const size_t rows[] = {0, 2, 5};
  for (int i = 0; i < 3; i++) {
    (made = new_deformation(0))->pose.rows = rows[i];
    check_deform(made, SBS_ERROR_OPTION, "rows", (double)rows[i], 4.0);
  }
  (made = new_deformation(0))->options.rotation = (sbs_rotation)2;
  check_deform(made, SBS_ERROR_OPTION, "rotation", 2.0, SBS_ROTATION_AVERAGE);
  (made = new_deformation(0))->options.center = (sbs_center)3;
  check_deform(made, SBS_ERROR_OPTION, "center", 3.0, SBS_CENTER_OPTIMIZED);
  (made = new_deformation(0))->options.center =
      SBS_CENTER_OPTIMIZED; /* the skin has none, and those of sets need none */
  output unset = new_output();
  sbs_fault found = no_fault;
  CHECK_EQUAL(sbs_skin_deform(made->skin, &made->pose, &made->options, unset.positions, NULL, NULL, &found),
              SBS_ERROR_OPTION);
  check_fault(&found, "centers", 0, 0, 0, 0.0, 0.0);
  CHECK_EQUAL(sbs_skin_rotation_centers(made->skin, &made->pose, &made->options, unset.centers[0], NULL, NULL), SBS_OK);
  const double damping[] = {0.0, -1e-8, NAN, INFINITY};
  for (int i = 0; i < 4; i++) {
    (made = new_deformation(0))->options.damping = damping[i];
    check_deform(made, SBS_ERROR_OPTION, "damping", damping[i], 0.0);
  }
  const double rcond[] = {1.0, -1e-3, NAN, INFINITY};
  for (int i = 0; i < 4; i++) {
    (made = new_deformation(0))->options.rcond = rcond[i];
    check_deform(made, SBS_ERROR_OPTION, "rcond", rcond[i], 1.0);
  }
  (made = new_deformation(0))->options.threads = -1;
  check_deform(made, SBS_ERROR_OPTION, "threads", -1.0, 0.0);
  (made = new_deformation(0))->options.threads = 1000;
  deform(made, SBS_OK, 0);

  /* the centers are those of the spherical method, whatever the options say */
  (made = new_deformation(0))->options.method = (sbs_method)4;
  output out = new_output();
  sbs_fault fault = no_fault;
  CHECK_EQUAL(sbs_skin_deform(made->skin, &made->pose, &made->options, out.positions, NULL, NULL, &fault),
              SBS_ERROR_OPTION);
  check_fault(&fault, "method", 0, 0, 0, 4.0, SBS_METHOD_DUAL_QUATERNION);
  CHECK_EQUAL(sbs_skin_rotation_centers(made->skin, &made->pose, &made->options, out.centers[0], NULL, NULL), SBS_OK);
}

static void test_normals_of_a_skin_without(void) {
  deformation *made = new_deformation(0);
  const sbs_fault fault = deform(made, SBS_ERROR_OPTION, 1);
  check_fault(&fault, "normals", 0, 0, 0, 0.0, 0.0);
  deform(new_deformation(1), SBS_OK, 1);
}

static void test_too_large(void) {
  deformation *made = new_deformation(0);
  float positions[1];
  sbs_fault fault = no_fault;
  CHECK_EQUAL(sbs_skin_deform_many(made->skin, SIZE_MAX / 2, &made->pose, NULL, positions, NULL, NULL, &fault),
              SBS_ERROR_TOO_LARGE);
  check_fault(&fault, "frame_count", 0, 0, 0, (double)(SIZE_MAX / 2), fault.limit);
}

static void test_stride(void) {
  const size_t strides[] = {1, 8, 11, 13, 14};
  for (int i = 0; i < 5; i++) {
    deformation *made = new_deformation(0);
    made->options.positions_stride = strides[i];
    check_deform(made, SBS_ERROR_STRIDE, "positions_stride", (double)strides[i], 12.0);
    (made = new_deformation(0))->options.normals_stride = strides[i];
    check_deform(made, SBS_ERROR_STRIDE, "normals_stride", (double)strides[i], 12.0);
  }
}

static void test_not_finite(void) {
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) {
    for (size_t element = 0; element < 16; element++) {
      deformation *made = new_deformation(0);
      made->matrices[0][2][element / 4][element % 4] = bad[i];
      const sbs_fault fault = deform(made, SBS_ERROR_NOT_FINITE, 0);
      check_fault(&fault, "skinning_matrices", 2, 2, element, bad[i], 0.0);
    }
  }
  /* frames are checked before the first is written; their joints are counted on */
  deformation *made = new_deformation(0);
  made->matrices[1][2][1][3] = NAN;
  const output before = new_output();
  output out = before;
  sbs_fault fault = no_fault;
  CHECK_EQUAL(sbs_skin_deform_many(made->skin, 2, &made->pose, NULL, out.positions, NULL, &out.report, &fault),
              SBS_ERROR_NOT_FINITE);
  check_fault(&fault, "skinning_matrices", 2, JOINTS + 2, 7, NAN, 0.0);
  CHECK(memcmp(&out, &before, sizeof out) == 0);
}

static void test_not_affine(void) {
  for (size_t element = 12; element < 16; element++) {
    deformation *made = new_deformation(0);
    const double is = element == 15 ? 1.0 : 0.0;
    made->matrices[0][1][3][element % 4] = is + 2e-5;
    const sbs_fault fault = deform(made, SBS_ERROR_NOT_AFFINE, 0);
    check_fault(&fault, "skinning_matrices", 2, 1, element, is + 2e-5, is);
    made->matrices[0][1][3][element % 4] = is - 0.5e-5; /* rounding of a product in float32 */
    deform(made, SBS_OK, 0);
  }
  /* row vectors: the translation stands in the last row */
  deformation *made = new_deformation(0);
  made->matrices[0][3][3][1] = 2.0;
  const sbs_fault fault = deform(made, SBS_ERROR_NOT_AFFINE, 0);
  check_fault(&fault, "skinning_matrices", 2, 3, 13, 2.0, 0.0);
}

static void test_scratch(void) {
  static _Alignas(64) unsigned char memory[1 << 16];
  deformation *made = new_deformation(0);
  const size_t size = sbs_skin_scratch_size(made->skin);
  if (!CHECK(size < sizeof memory)) return;
  const size_t too_small[] = {0, 1, size - 1};
  made->options.scratch = memory;
  for (int i = 0; i < 3; i++) {
    made->options.scratch_size = too_small[i];
    check_deform(made, SBS_ERROR_SCRATCH, "scratch_size", (double)too_small[i], (double)size);
  }
  made->options.scratch_size = size;
  deform(made, SBS_OK, 0);
  const size_t misaligned[] = {1, 8, 16, 32};
  for (int i = 0; i < 4; i++) {
    made->options.scratch = memory + misaligned[i];
    check_deform(made, SBS_ERROR_SCRATCH, "scratch", 0.0, 0.0);
  }
  made->options.scratch = NULL; /* a size without memory means nothing */
  made->options.scratch_size = 1;
  deform(made, SBS_OK, 0);
}

int main(void) {
  RUN(test_null);
  RUN(test_no_frames);
  RUN(test_questions_null);
  RUN(test_option);
  RUN(test_normals_of_a_skin_without);
  RUN(test_too_large);
  RUN(test_stride);
  RUN(test_not_finite);
  RUN(test_not_affine);
  RUN(test_scratch);
  sbs_skin_free(new_deformation(0)->skin);
  return harness_result();
}
