/* SPDX-License-Identifier: MIT */
/* Every error with its fault: which argument, where, what value against what limit; and outputs that stay untouched. */
#include "rig.h"

enum {
  VERTICES = 3,
  JOINTS = 4,
  INFLUENCES = 2
};

/* ------------------------------------------------------------------------------------------------------------ faults -- */

static const sbs_fault no_fault = {"untouched", {77, 77}, 2, 77.0, 77.0};

static void check_fault(const sbs_fault *fault, const char *argument, int index_count, size_t row, size_t column,
                        double value, double limit) {
  if (argument) {
    CHECK_STRING(fault->argument, argument);
  } else {
    CHECK(fault->argument == NULL);
  }
  CHECK_EQUAL(fault->index_count, index_count);
  if (index_count > 0) CHECK_EQUAL(fault->index[0], row);
  if (index_count > 1) CHECK_EQUAL(fault->index[1], column);
  CHECK((isnan(value) && isnan(fault->value)) || fault->value == value);
  CHECK(fault->limit == limit);
}

static void check_untouched_fault(const sbs_fault *fault) {
  check_fault(fault, "untouched", 2, 77, 77, 77.0, 77.0);
}

/* -------------------------------------------------------------------------------------------------------------- bind -- */

/* A description without fault, and the arrays behind it to put faults into. */
typedef struct subject {
  float positions[VERTICES][4], normals[VERTICES][3]; /* positions with a stride */
  int32_t joint_indices[VERTICES][INFLUENCES];
  float weights[VERTICES][INFLUENCES];
  int32_t parents[JOINTS];
  double joint_positions[JOINTS][3];
  sbs_skin_desc desc;
  sbs_skin_options options;
} subject;

static subject *new_subject(void) {
  static subject made;
  made = (subject){
      .positions = {{1.0f, 2.0f, 3.0f, NAN}, {4.0f, 5.0f, 6.0f, NAN}, {7.0f, 8.0f, 9.0f, NAN}},
      .normals = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 0.0f}},
      .joint_indices = {{0, 1}, {3, 0}, {2, 3}},
      .weights = {{0.5f, 0.5f}, {1.0f, 0.0f}, {0.25f, 0.75f}},
      .parents = {-1, 0, 1, 1},
  };
  made.desc = sbs_default_skin_desc();
  made.desc.vertex_count = VERTICES;
  made.desc.joint_count = JOINTS;
  made.desc.influences_per_vertex = INFLUENCES;
  made.desc.rest_positions = made.positions;
  made.desc.rest_positions_stride = sizeof made.positions[0];
  made.desc.rest_normals = made.normals;
  made.desc.joint_indices = made.joint_indices[0];
  made.desc.joint_weights = made.weights;
  made.desc.parents = made.parents;
  made.desc.joint_positions = made.joint_positions[0];
  made.options = sbs_default_skin_options();
  return &made;
}

/* Binds, and sees to it that errors leave the outputs as they were, with or without a fault to write to. */
static sbs_fault bind(const subject *made, sbs_status expected) {
  sbs_skin *const before = (sbs_skin *)(void *)&before;
  sbs_skin *skin = before;
  sbs_weight_report report = {7, 7, 7, 7, 7, 7};
  const sbs_weight_report report_before = report;
  sbs_fault fault = no_fault;
  CHECK_STRING(sbs_status_string(sbs_skin_new(&made->desc, &made->options, &skin, &report, &fault)),
               sbs_status_string(expected));
  if (expected == SBS_OK) {
    CHECK(skin != before);
    check_untouched_fault(&fault);
    sbs_skin_free(skin);
    return fault;
  }
  CHECK(skin == before);
  CHECK(memcmp(&report, &report_before, sizeof report) == 0);
  CHECK_EQUAL(sbs_skin_new(&made->desc, &made->options, &skin, NULL, NULL), expected);
  CHECK(skin == before);
  return fault;
}

static void check_bind(const subject *made, sbs_status expected, const char *argument) {
  const sbs_fault fault = bind(made, expected);
  check_fault(&fault, argument, 0, 0, 0, 0.0, 0.0);
}

static void check_bind_number(const subject *made, sbs_status expected, const char *argument, double value,
                              double limit) {
  const sbs_fault fault = bind(made, expected);
  check_fault(&fault, argument, 0, 0, 0, value, limit);
}

static void check_bind_at(const subject *made, sbs_status expected, const char *argument, size_t row, size_t column,
                          double value, double limit) {
  const sbs_fault fault = bind(made, expected);
  check_fault(&fault, argument, 2, row, column, value, limit);
}

static void check_bind_row(const subject *made, sbs_status expected, const char *argument, size_t row, double value,
                           double limit) {
  const sbs_fault fault = bind(made, expected);
  check_fault(&fault, argument, 1, row, 0, value, limit);
}

static void test_no_error(void) {
  subject *made = new_subject();
  bind(made, SBS_OK);
  made->desc.rest_normals = NULL;
  made->desc.parents = NULL;
  made->desc.joint_positions = NULL;
  bind(made, SBS_OK);
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&made->desc, NULL, &skin, NULL, NULL), SBS_OK);
  sbs_skin_free(skin);
}

static void test_new_null(void) {
  subject *made = new_subject();
  sbs_skin *skin = NULL;
  sbs_fault fault = no_fault;
  CHECK_EQUAL(sbs_skin_new(NULL, &made->options, &skin, NULL, &fault), SBS_ERROR_NULL);
  check_fault(&fault, "desc", 0, 0, 0, 0.0, 0.0);
  CHECK_EQUAL(sbs_skin_new(&made->desc, &made->options, NULL, NULL, &fault), SBS_ERROR_NULL);
  check_fault(&fault, "skin", 0, 0, 0, 0.0, 0.0);
  CHECK_EQUAL(sbs_skin_new(NULL, NULL, NULL, NULL, NULL), SBS_ERROR_NULL);

  (made = new_subject())->desc.rest_positions = NULL;
  check_bind(made, SBS_ERROR_NULL, "rest_positions");
  (made = new_subject())->desc.joint_indices = NULL;
  check_bind(made, SBS_ERROR_NULL, "joint_indices");
  (made = new_subject())->desc.joint_weights = NULL;
  check_bind(made, SBS_ERROR_NULL, "joint_weights");
  (made = new_subject())->options.allocator.allocate = NULL;
  check_bind(made, SBS_ERROR_NULL, "allocator.allocate");
  (made = new_subject())->options.allocator.release = NULL;
  check_bind(made, SBS_ERROR_NULL, "allocator.release");
}

static void test_new_empty(void) {
  subject *made = new_subject();
  made->desc.vertex_count = 0;
  check_bind(made, SBS_ERROR_EMPTY, "vertex_count");
  (made = new_subject())->desc.joint_count = 0;
  check_bind(made, SBS_ERROR_EMPTY, "joint_count");
  (made = new_subject())->desc.influences_per_vertex = 0;
  check_bind(made, SBS_ERROR_EMPTY, "influences_per_vertex");
  made->desc = sbs_default_skin_desc();
  bind(made, SBS_ERROR_NULL);
}

static void test_new_too_large(void) {
  const size_t most = INT32_MAX - 16;
  const size_t counts[] = {most + 1, INT32_MAX, (size_t)INT32_MAX + 1, SIZE_MAX};
  for (int i = 0; i < 4; i++) {
    subject *made = new_subject();
    made->desc.vertex_count = counts[i];
    check_bind_number(made, SBS_ERROR_TOO_LARGE, "vertex_count", (double)counts[i], (double)most);
    (made = new_subject())->desc.joint_count = counts[i];
    check_bind_number(made, SBS_ERROR_TOO_LARGE, "joint_count", (double)counts[i], (double)most);
  }
  subject *made = new_subject();
  const size_t influences = SIZE_MAX / sizeof(double) / VERTICES;
  made->desc.influences_per_vertex = influences + 1;
  check_bind_number(made, SBS_ERROR_TOO_LARGE, "influences_per_vertex", (double)influences, (double)influences);
}

static void test_new_option(void) {
  subject *made = new_subject();
  made->desc.scalar = (sbs_scalar)2;
  check_bind_number(made, SBS_ERROR_OPTION, "scalar", 2.0, 0.0);
  (made = new_subject())->desc.weight_scalar = (sbs_scalar)7;
  check_bind_number(made, SBS_ERROR_OPTION, "weight_scalar", 7.0, 0.0);
  (made = new_subject())->options.sum_tolerance = -1e-9;
  check_bind_number(made, SBS_ERROR_OPTION, "sum_tolerance", -1e-9, 0.0);
  (made = new_subject())->options.sum_tolerance = NAN;
  check_bind_number(made, SBS_ERROR_OPTION, "sum_tolerance", NAN, 0.0);
  (made = new_subject())->options.sum_tolerance = INFINITY;
  bind(made, SBS_OK);
}

static void test_new_stride(void) {
  subject *made = new_subject();
  const size_t strides[] = {1, 8, 11, 13, 14};
  for (int i = 0; i < 5; i++) {
    (made = new_subject())->desc.rest_positions_stride = strides[i];
    check_bind_number(made, SBS_ERROR_STRIDE, "rest_positions_stride", (double)strides[i], 12.0);
    (made = new_subject())->desc.rest_normals_stride = strides[i];
    check_bind_number(made, SBS_ERROR_STRIDE, "rest_normals_stride", (double)strides[i], 12.0);
  }
  (made = new_subject())->desc.rest_normals_stride = 12;
  bind(made, SBS_OK);
}

static void test_new_not_finite(void) {
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) {
    for (size_t axis = 0; axis < 3; axis++) {
      subject *made = new_subject();
      made->positions[2][axis] = bad[i];
      check_bind_at(made, SBS_ERROR_NOT_FINITE, "rest_positions", 2, axis, (double)bad[i], 0.0);
      (made = new_subject())->normals[1][axis] = bad[i];
      check_bind_at(made, SBS_ERROR_NOT_FINITE, "rest_normals", 1, axis, (double)bad[i], 0.0);
      (made = new_subject())->joint_positions[3][axis] = (double)bad[i];
      check_bind_at(made, SBS_ERROR_NOT_FINITE, "joint_positions", 3, axis, (double)bad[i], 0.0);
      double centers[VERTICES][3] = {{0.0}};
      (made = new_subject())->desc.centers = centers[0];
      centers[2][axis] = (double)bad[i];
      check_bind_at(made, SBS_ERROR_NOT_FINITE, "centers", 2, axis, (double)bad[i], 0.0);
    }
  }
}

static void test_new_joint_index(void) {
  const int32_t bad[] = {-1, JOINTS, INT32_MIN, INT32_MAX};
  for (int i = 0; i < 4; i++) {
    subject *made = new_subject();
    made->joint_indices[1][1] = bad[i]; /* of weight 0: padding must be in range, too */
    check_bind_at(made, SBS_ERROR_JOINT_INDEX, "joint_indices", 1, 1, (double)bad[i], JOINTS);
    made->joint_indices[0][1] = bad[i]; /* the first is told */
    check_bind_at(made, SBS_ERROR_JOINT_INDEX, "joint_indices", 0, 1, (double)bad[i], JOINTS);
  }
}

static void test_new_parent(void) {
  const int32_t out_of_range[] = {-2, JOINTS, INT32_MIN, INT32_MAX};
  for (int i = 0; i < 4; i++) {
    subject *made = new_subject();
    made->parents[2] = out_of_range[i];
    check_bind_row(made, SBS_ERROR_PARENT, "parents", 2, (double)out_of_range[i], JOINTS);
  }
  subject *made = new_subject();
  made->parents[2] = 2;
  check_bind_row(made, SBS_ERROR_PARENT, "parents", 2, 2.0, JOINTS);

  made = new_subject(); /* 3 hangs on the circle 0 -> 2 -> 1 -> 0: a member of the circle is told */
  memcpy(made->parents, (int32_t[]){2, 0, 1, 1}, sizeof made->parents);
  const sbs_fault fault = bind(made, SBS_ERROR_PARENT);
  check_fault(&fault, "parents", 1, fault.index[0], 0, (double)made->parents[fault.index[0] % JOINTS], JOINTS);
  CHECK(fault.index[0] < 3);

  made = new_subject(); /* parents may follow their children */
  memcpy(made->parents, (int32_t[]){3, 0, 1, -1}, sizeof made->parents);
  bind(made, SBS_OK);
}

/* A chain is walked once, from whichever end its numbers start; and a circle at its far end is found. */
static void test_new_deep_chains(void) {
  enum {
    CHAIN = 200000
  };
  int32_t *parents = malloc(CHAIN * sizeof *parents);
  if (!parents) abort();
  subject *made = new_subject();
  made->desc.joint_count = CHAIN;
  made->desc.parents = parents;
  made->desc.joint_positions = NULL;
  for (int32_t j = 0; j < CHAIN; j++) parents[j] = j - 1;
  bind(made, SBS_OK);
  for (int32_t j = 0; j < CHAIN; j++) parents[j] = j + 1 < CHAIN ? j + 1 : -1;
  bind(made, SBS_OK);
  parents[CHAIN - 1] = CHAIN - 1;
  check_bind_row(made, SBS_ERROR_PARENT, "parents", CHAIN - 1, CHAIN - 1, CHAIN);
  parents[CHAIN - 1] = 0;
  bind(made, SBS_ERROR_PARENT);
  free(parents);
}

static void test_new_weight_under_strict(void) {
  static const struct {
    float weights[INFLUENCES];
    int index_count;
    size_t column;
  } cases[] = {
      {{0.5f, NAN}, 2, 1},  {{INFINITY, 0.5f}, 2, 0}, {{1.0f, -0.5f}, 2, 1},
      {{0.0f, 0.0f}, 1, 0}, {{0.25f, 0.5f}, 1, 0},    {{0.5f, 0.6f}, 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    subject *made = new_subject();
    memcpy(made->weights[2], cases[i].weights, sizeof made->weights[2]);
    bind(made, SBS_OK);
    made->options.strict = 1;
    const sbs_fault fault = bind(made, SBS_ERROR_WEIGHT);
    /* one weight is shown where it alone is to blame */
    const double value = cases[i].index_count == 2 ? (double)cases[i].weights[cases[i].column] : 0.0;
    check_fault(&fault, "joint_weights", cases[i].index_count, 2, cases[i].column, value, 0.0);
  }
  subject *made = new_subject();
  made->joint_indices[2][0] = made->joint_indices[2][1];
  bind(made, SBS_OK);
  made->options.strict = 1;
  check_bind_row(made, SBS_ERROR_WEIGHT, "joint_weights", 2, 0.0, 0.0);

  made = new_subject();
  made->options.strict = 1;
  bind(made, SBS_OK);
  made->options.sum_tolerance = 0.3;
  made->weights[2][0] = 0.0f;
  bind(made, SBS_OK); /* 0.75 is within 0.3 of 1 */
}

static void test_new_counts_repairs(void) {
  subject *made = new_subject();
  memcpy(made->weights, (float[VERTICES][INFLUENCES]){{NAN, -1.0f}, {1.0f, INFINITY}, {0.5f, 0.1f}},
         sizeof made->weights);
  made->joint_indices[2][0] = made->joint_indices[2][1];
  sbs_skin *skin = NULL;
  sbs_weight_report report = {7, 7, 7, 7, 7, 7};
  CHECK_EQUAL(sbs_skin_new(&made->desc, &made->options, &skin, &report, NULL), SBS_OK);
  CHECK_EQUAL(report.nan, 1);
  CHECK_EQUAL(report.infinite, 1);
  CHECK_EQUAL(report.negative, 1);
  CHECK_EQUAL(report.unweighted, 1);
  CHECK_EQUAL(report.off_sum, 1);
  CHECK_EQUAL(report.duplicate, 1);
  sbs_skin_free(skin);
}

/* ------------------------------------------------------------------------------------------------------------ deform -- */

/* A skin of the mesh above, with matrices and options without fault. */
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

static void test_deform_null(void) {
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

static void test_deform_option(void) {
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

static void test_deform_normals_of_a_skin_without(void) {
  deformation *made = new_deformation(0);
  const sbs_fault fault = deform(made, SBS_ERROR_OPTION, 1);
  check_fault(&fault, "normals", 0, 0, 0, 0.0, 0.0);
  deform(new_deformation(1), SBS_OK, 1);
}

static void test_deform_too_large(void) {
  deformation *made = new_deformation(0);
  float positions[1];
  sbs_fault fault = no_fault;
  CHECK_EQUAL(sbs_skin_deform_many(made->skin, SIZE_MAX / 2, &made->pose, NULL, positions, NULL, NULL, &fault),
              SBS_ERROR_TOO_LARGE);
  check_fault(&fault, "frame_count", 0, 0, 0, (double)(SIZE_MAX / 2), fault.limit);
}

static void test_deform_stride(void) {
  const size_t strides[] = {1, 8, 11, 13, 14};
  for (int i = 0; i < 5; i++) {
    deformation *made = new_deformation(0);
    made->options.positions_stride = strides[i];
    check_deform(made, SBS_ERROR_STRIDE, "positions_stride", (double)strides[i], 12.0);
    (made = new_deformation(0))->options.normals_stride = strides[i];
    check_deform(made, SBS_ERROR_STRIDE, "normals_stride", (double)strides[i], 12.0);
  }
}

static void test_deform_not_finite(void) {
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

static void test_deform_not_affine(void) {
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

static void test_deform_scratch(void) {
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
  RUN(test_no_error);
  RUN(test_new_null);
  RUN(test_new_empty);
  RUN(test_new_too_large);
  RUN(test_new_option);
  RUN(test_new_stride);
  RUN(test_new_not_finite);
  RUN(test_new_joint_index);
  RUN(test_new_parent);
  RUN(test_new_deep_chains);
  RUN(test_new_weight_under_strict);
  RUN(test_new_counts_repairs);
  RUN(test_deform_null);
  RUN(test_no_frames);
  RUN(test_questions_null);
  RUN(test_deform_option);
  RUN(test_deform_normals_of_a_skin_without);
  RUN(test_deform_too_large);
  RUN(test_deform_stride);
  RUN(test_deform_not_finite);
  RUN(test_deform_not_affine);
  RUN(test_deform_scratch);
  sbs_skin_free(new_deformation(0)->skin);
  return harness_result();
}
