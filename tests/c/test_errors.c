/* SPDX-License-Identifier: MIT */
/*
 * Every error of binding and deforming with its fault: argument, place, value and limit. Outputs stay untouched.
 */
#include "rig.h"

enum {
  VERTICES = 3,
  JOINTS = 4,
  INFLUENCES = 2
};

static const sbs_fault no_fault = {"untouched", {77, 77}, 2, 77.0, 77.0};

/* Faults: an argument, one with a number and a limit, a row of it, and a number in a row. */
#define NAMED(name) {.argument = name}
#define NUMBER(name, number, most) {.argument = name, .value = number, .limit = most}
#define ROW(name, row, number, most) {name, {row, 0}, 1, number, most}
#define PLACE(name, row, column, number, most) {name, {row, column}, 2, number, most}

static void check_fault(const sbs_fault *fault, const sbs_fault *expected) {
  if (expected->argument) {
    CHECK_STRING(fault->argument, expected->argument);
  } else {
    CHECK(fault->argument == NULL);
  }
  CHECK_EQUAL(fault->index_count, expected->index_count);
  for (int i = 0; i < expected->index_count; i++) CHECK_EQUAL(fault->index[i], expected->index[i]);
  CHECK((isnan(expected->value) && isnan(fault->value)) || fault->value == expected->value);
  CHECK(fault->limit == expected->limit);
}

/* A description without fault, and the arrays behind it to put faults into. */
typedef struct subject {
  float positions[VERTICES][4], normals[VERTICES][3]; /* positions with a stride */
  int32_t joint_indices[VERTICES][INFLUENCES];
  float weights[VERTICES][INFLUENCES];
  int32_t parents[JOINTS];
  double joint_positions[JOINTS][3], centers[VERTICES][3];
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
  made.desc.centers = made.centers[0];
  made.options = sbs_default_skin_options();
  return &made;
}

/* ------------------------------------------------------------------------------------------------------ binding -- */

/* Binds and checks, which say the same: status, fault and report. Errors leave outputs as they were. */
static sbs_fault bind(const subject *made, sbs_status expected) {
  sbs_skin *const before = (sbs_skin *)(void *)&before;
  sbs_skin *skin = before;
  const sbs_weight_report unwritten = {7, 7, 7, 7, 7, 7};
  sbs_weight_report bound = unwritten, checked = unwritten;
  sbs_fault fault = no_fault, of_check = no_fault;
  CHECK_STRING(sbs_status_string(sbs_skin_new(&made->desc, &made->options, &skin, &bound, &fault)),
               sbs_status_string(expected));
  CHECK_EQUAL(sbs_skin_check(&made->desc, &made->options, &checked, &of_check), expected);
  CHECK_EQUAL(sbs_skin_check(&made->desc, &made->options, NULL, NULL), expected);
  CHECK(memcmp(&bound, &checked, sizeof bound) == 0);
  check_fault(&of_check, &fault);
  if (expected == SBS_OK) {
    CHECK(skin != before);
    check_fault(&fault, &no_fault);
    sbs_skin_free(skin);
    return fault;
  }
  CHECK(memcmp(&bound, &unwritten, sizeof bound) == 0);
  CHECK_EQUAL(sbs_skin_new(&made->desc, &made->options, &skin, NULL, NULL), expected);
  CHECK(skin == before);
  return fault;
}

/* Binds a description after a change, and checks the answer. */
#define BOUND(change, status, ...) \
  do { \
    subject *changed = new_subject(); \
    changed->change; \
    const sbs_fault expected = __VA_ARGS__, found = bind(changed, status); \
    check_fault(&found, &expected); \
  } while (0)

static void test_binding_without_error(void) {
  BOUND(options.sum_tolerance = INFINITY, SBS_OK, no_fault);
  BOUND(desc.rest_normals_stride = 12, SBS_OK, no_fault);
  BOUND(desc.rest_normals = NULL, SBS_OK, no_fault);
  BOUND(desc.joint_positions = NULL, SBS_OK, no_fault);
  BOUND(desc.parents = NULL, SBS_OK, no_fault);
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&new_subject()->desc, NULL, &skin, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_check(&new_subject()->desc, NULL, NULL, NULL), SBS_OK);
  sbs_skin_free(skin);
}

static void test_pointers_and_counts_of_binding(void) {
  const subject *good = new_subject();
  sbs_skin *skin = NULL;
  sbs_fault fault = no_fault;
  CHECK_REFUSED(sbs_skin_new(NULL, &good->options, &skin, NULL, &fault), SBS_ERROR_NULL, "desc");
  CHECK_REFUSED(sbs_skin_new(&good->desc, &good->options, NULL, NULL, &fault), SBS_ERROR_NULL, "skin");
  CHECK_EQUAL(sbs_skin_new(NULL, NULL, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_check(NULL, NULL, NULL, &fault), SBS_ERROR_NULL);
  BOUND(desc.rest_positions = NULL, SBS_ERROR_NULL, NAMED("rest_positions"));
  BOUND(desc.joint_indices = NULL, SBS_ERROR_NULL, NAMED("joint_indices"));
  BOUND(desc.joint_weights = NULL, SBS_ERROR_NULL, NAMED("joint_weights"));
  BOUND(options.allocator.allocate = NULL, SBS_ERROR_NULL, NAMED("allocator.allocate"));
  BOUND(options.allocator.release = NULL, SBS_ERROR_NULL, NAMED("allocator.release"));
  BOUND(desc.vertex_count = 0, SBS_ERROR_EMPTY, NAMED("vertex_count"));
  BOUND(desc.joint_count = 0, SBS_ERROR_EMPTY, NAMED("joint_count"));
  BOUND(desc.influences_per_vertex = 0, SBS_ERROR_EMPTY, NAMED("influences_per_vertex"));
  const double most = INT32_MAX - 16;
  const size_t counts[] = {INT32_MAX - 15, INT32_MAX, (size_t)INT32_MAX + 1, SIZE_MAX};
  for (int i = 0; i < 4; i++) {
    BOUND(desc.vertex_count = counts[i], SBS_ERROR_TOO_LARGE, NUMBER("vertex_count", (double)counts[i], most));
    BOUND(desc.joint_count = counts[i], SBS_ERROR_TOO_LARGE, NUMBER("joint_count", (double)counts[i], most));
  }
  const size_t influences = SIZE_MAX / sizeof(double) / VERTICES;
  BOUND(desc.influences_per_vertex = influences + 1, SBS_ERROR_TOO_LARGE,
        NUMBER("influences_per_vertex", (double)influences, (double)influences));
}

static void test_options_and_strides_of_binding(void) {
  BOUND(desc.scalar = (sbs_scalar)2, SBS_ERROR_OPTION, NUMBER("scalar", 2.0, 0.0));
  BOUND(desc.weight_scalar = (sbs_scalar)7, SBS_ERROR_OPTION, NUMBER("weight_scalar", 7.0, 0.0));
  BOUND(options.sum_tolerance = -1e-9, SBS_ERROR_OPTION, NUMBER("sum_tolerance", -1e-9, 0.0));
  BOUND(options.sum_tolerance = NAN, SBS_ERROR_OPTION, NUMBER("sum_tolerance", NAN, 0.0));
  const size_t strides[] = {1, 8, 11, 13, 14};
  for (int i = 0; i < 5; i++) {
    const double stride = (double)strides[i];
    BOUND(desc.rest_positions_stride = strides[i], SBS_ERROR_STRIDE, NUMBER("rest_positions_stride", stride, 12.0));
    BOUND(desc.rest_normals_stride = strides[i], SBS_ERROR_STRIDE, NUMBER("rest_normals_stride", stride, 12.0));
  }
}

static void test_numbers_of_binding(void) {
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (size_t i = 0; i < 3; i++) {
    const double value = bad[i];
    BOUND(positions[2][i] = (float)value, SBS_ERROR_NOT_FINITE, PLACE("rest_positions", 2, i, value, 0.0));
    BOUND(normals[1][i] = (float)value, SBS_ERROR_NOT_FINITE, PLACE("rest_normals", 1, i, value, 0.0));
    BOUND(joint_positions[3][i] = value, SBS_ERROR_NOT_FINITE, PLACE("joint_positions", 3, i, value, 0.0));
    BOUND(centers[2][i] = value, SBS_ERROR_NOT_FINITE, PLACE("centers", 2, i, value, 0.0));
  }
}

static void test_joints_of_binding(void) {
  const int32_t bad[] = {-1, JOINTS, INT32_MIN, INT32_MAX}, bad_parents[] = {-2, JOINTS, INT32_MIN, INT32_MAX};
  for (int i = 0; i < 4; i++) { /* of weight 0: padding must be in range, too */
    BOUND(joint_indices[1][1] = bad[i], SBS_ERROR_JOINT_INDEX, PLACE("joint_indices", 1, 1, (double)bad[i], JOINTS));
    BOUND(parents[2] = bad_parents[i], SBS_ERROR_PARENT, ROW("parents", 2, (double)bad_parents[i], JOINTS));
  }
  BOUND(parents[2] = 2, SBS_ERROR_PARENT, ROW("parents", 2, 2.0, JOINTS));
  subject *made = new_subject(); /* the first is told */
  made->joint_indices[1][1] = made->joint_indices[0][1] = JOINTS;
  const sbs_fault first = PLACE("joint_indices", 0, 1, JOINTS, JOINTS), of_first = bind(made, SBS_ERROR_JOINT_INDEX);
  check_fault(&of_first, &first);

  made = new_subject(); /* 3 hangs on the circle 0 -> 2 -> 1 -> 0: a member of the circle is told */
  memcpy(made->parents, (int32_t[]){2, 0, 1, 1}, sizeof made->parents);
  const sbs_fault fault = bind(made, SBS_ERROR_PARENT);
  if (CHECK(fault.index[0] < 3)) CHECK(fault.value == made->parents[fault.index[0]]);
  made = new_subject(); /* parents may follow their children */
  memcpy(made->parents, (int32_t[]){3, 0, 1, -1}, sizeof made->parents);
  bind(made, SBS_OK);
}

/* A chain is walked once, from whichever end its numbers start; and a circle at its far end is found. */
static void test_deep_chains(void) {
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
  CHECK_EQUAL(bind(made, SBS_ERROR_PARENT).index[0], CHAIN - 1);
  parents[CHAIN - 1] = 0;
  bind(made, SBS_ERROR_PARENT);
  free(parents);
}

static void test_weights_under_strict(void) {
  static const struct {
    float weights[INFLUENCES];
    sbs_fault fault; /* one weight is shown where it alone is to blame */
  } cases[] = {
      {{0.5f, NAN}, PLACE("joint_weights", 2, 1, NAN, 0.0)},
      {{INFINITY, 0.5f}, PLACE("joint_weights", 2, 0, INFINITY, 0.0)},
      {{1.0f, -0.5f}, PLACE("joint_weights", 2, 1, -0.5, 0.0)},
      {{0.0f, 0.0f}, ROW("joint_weights", 2, 0.0, 0.0)},
      {{0.25f, 0.5f}, ROW("joint_weights", 2, 0.0, 0.0)},
      {{0.5f, 0.5f}, ROW("joint_weights", 2, 0.0, 0.0)}, /* of one joint */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    subject *made = new_subject();
    memcpy(made->weights[2], cases[i].weights, sizeof made->weights[2]);
    if (i == 5) made->joint_indices[2][0] = made->joint_indices[2][1];
    bind(made, SBS_OK);
    made->options.strict = 1;
    const sbs_fault fault = bind(made, SBS_ERROR_WEIGHT);
    check_fault(&fault, &cases[i].fault);
  }
  subject *made = new_subject();
  made->options.strict = 1;
  made->options.sum_tolerance = 0.3;
  made->weights[2][0] = 0.0f;
  bind(made, SBS_OK); /* 0.75 is within 0.3 of 1 */

  made = new_subject();
  memcpy(made->weights, (float[VERTICES][INFLUENCES]){{NAN, -1.0f}, {1.0f, INFINITY}, {0.5f, 0.1f}},
         sizeof made->weights);
  made->joint_indices[2][0] = made->joint_indices[2][1];
  sbs_weight_report report = {7, 7, 7, 7, 7, 7};
  const sbs_weight_report each = {1, 1, 1, 1, 1, 1};
  CHECK_EQUAL(sbs_skin_check(&made->desc, &made->options, &report, NULL), SBS_OK);
  CHECK(memcmp(&report, &each, sizeof report) == 0);
}

/* ---------------------------------------------------------------------------------------------------- deforming -- */

/* A skin of the mesh without fault, with matrices and options without fault. */
typedef struct deformation {
  sbs_skin *skin;
  double matrices[2][JOINTS][4][4];
  double amounts[VERTICES], rest_positions[VERTICES][3];
  sbs_pose pose;
  sbs_deform_options options;
} deformation;

static deformation *new_deformation(int with_normals) {
  static deformation made;
  subject *mesh = new_subject();
  if (!with_normals) mesh->desc.rest_normals = NULL;
  mesh->desc.centers = NULL;
  sbs_skin_free(made.skin);
  made = (deformation){.options = sbs_default_deform_options()};
  CHECK_EQUAL(sbs_skin_new(&mesh->desc, NULL, &made.skin, NULL, NULL), SBS_OK);
  for (int i = 0; i < 2 * JOINTS * 4; i++) made.matrices[i / (4 * JOINTS)][i / 4 % JOINTS][i % 4][i % 4] = 1.0;
  made.pose = (sbs_pose){.skinning_matrices = made.matrices, .scalar = SBS_FLOAT64, .rows = 4};
  made.options.amount_scalar = SBS_FLOAT64;
  return &made;
}

/* All outputs of a deformation. */
typedef struct output {
  float positions[2][VERTICES][4], normals[2][VERTICES][4];
  double centers[3][3]; /* of three joint sets */
  sbs_deform_report report;
} output;

static output new_output(void) {
  output out;
  memset(&out, 0x5a, sizeof out);
  return out;
}

/* Ways to pose a skin. */
enum {
  ONE = 1,
  MANY = 2,
  CENTERS = 4,
  ALL = ONE | MANY | CENTERS
};

/* Poses a skin in ways that must all say the same. */
static sbs_fault deform(const deformation *made, int ways, sbs_status expected, int with_normals) {
  const output before = new_output();
  sbs_fault first = no_fault;
  for (int way = ONE; way <= CENTERS; way *= 2) {
    if (!(ways & way)) continue;
    output out = before;
    void *normals = with_normals ? out.normals : NULL;
    sbs_fault fault = no_fault;
    const sbs_status status =
        way == ONE
            ? sbs_skin_deform(made->skin, &made->pose, &made->options, out.positions, normals, &out.report, &fault)
        : way == MANY
            ? sbs_skin_deform_many(made->skin, 2, &made->pose, &made->options, out.positions, normals, &out.report,
                                   &fault)
            : sbs_skin_rotation_centers(made->skin, &made->pose, &made->options, out.centers[0], &out.report, &fault);
    CHECK_STRING(sbs_status_string(status), sbs_status_string(expected));
    if (first.argument == no_fault.argument) first = fault;
    check_fault(&fault, &first);
    if (expected) CHECK(memcmp(&out, &before, sizeof out) == 0);
  }
  return first;
}

/* Answers to poses in some ways, without normals, after a change. */
#define POSED(change, ways, status, ...) \
  do { \
    deformation *changed = new_deformation(0); \
    changed->change; \
    const sbs_fault expected = __VA_ARGS__, found = deform(changed, ways, status, 0); \
    check_fault(&found, &expected); \
  } while (0)

static void test_pointers_of_deforming(void) {
  deformation *made = new_deformation(1);
  output out = new_output();
  sbs_fault fault = no_fault;
  sbs_skin_info info;
  size_t offsets[8];
  int32_t joints[8];
  CHECK_REFUSED(sbs_skin_deform(NULL, &made->pose, NULL, out.positions, NULL, NULL, &fault), SBS_ERROR_NULL, "skin");
  CHECK_REFUSED(sbs_skin_deform(made->skin, NULL, NULL, out.positions, NULL, NULL, &fault), SBS_ERROR_NULL, "pose");
  CHECK_REFUSED(sbs_skin_deform(made->skin, &made->pose, NULL, NULL, out.normals, NULL, &fault), SBS_ERROR_NULL,
                "positions");
  CHECK_REFUSED(sbs_skin_rotation_centers(made->skin, &made->pose, NULL, NULL, NULL, &fault), SBS_ERROR_NULL,
                "centers");
  CHECK_REFUSED(sbs_skin_deform_many(made->skin, 2, &made->pose, NULL, NULL, NULL, NULL, &fault), SBS_ERROR_NULL,
                "positions");
  CHECK_REFUSED(sbs_skin_deform_many(made->skin, SIZE_MAX / 2, &made->pose, NULL, out.positions, NULL, NULL, &fault),
                SBS_ERROR_TOO_LARGE, "frame_count");
  CHECK_EQUAL(sbs_skin_get_info(NULL, &info), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_get_info(made->skin, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_joint_sets(made->skin, offsets, joints), SBS_OK); /* {0, 1}, {2, 3} and {3} */
  CHECK(offsets[3] == 5 && joints[0] == 0 && joints[1] == 1 && joints[2] == 2 && joints[3] == 3 && joints[4] == 3);
  CHECK_EQUAL(sbs_skin_joint_sets(NULL, offsets, joints), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_joint_sets(made->skin, NULL, joints), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_joint_sets(made->skin, offsets, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_joint_set_of_vertex(NULL, joints), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_joint_set_of_vertex(made->skin, NULL), SBS_ERROR_NULL);

  POSED(pose.skinning_matrices = NULL, ALL, SBS_ERROR_NULL, NAMED("skinning_matrices"));
  made = new_deformation(0); /* no frames */
  made->pose.skinning_matrices = NULL;
  fault = no_fault;
  CHECK_EQUAL(sbs_skin_deform_many(made->skin, 0, &made->pose, NULL, NULL, NULL, &out.report, &fault), SBS_OK);
  check_fault(&fault, &no_fault);
  CHECK(out.report.solves == 0 && out.report.nonrigid_joints == 0);

  const sbs_fault normals = NAMED("normals"), found = deform(new_deformation(0), ONE | MANY, SBS_ERROR_OPTION, 1);
  check_fault(&found, &normals); /* of a skin without */
  deform(new_deformation(1), ONE | MANY, SBS_OK, 1);
}

static void test_options_of_deforming(void) {
  POSED(pose.scalar = (sbs_scalar)2, ALL, SBS_ERROR_OPTION, NUMBER("scalar", 2.0, 0.0));
  POSED(pose.rows = 0, ALL, SBS_ERROR_OPTION, NUMBER("rows", 0.0, 4.0));
  POSED(pose.rows = 2, ALL, SBS_ERROR_OPTION, NUMBER("rows", 2.0, 4.0));
  POSED(pose.rows = 5, ALL, SBS_ERROR_OPTION, NUMBER("rows", 5.0, 4.0));
  POSED(options.rotation = (sbs_rotation)2, ALL, SBS_ERROR_OPTION, NUMBER("rotation", 2.0, SBS_ROTATION_AVERAGE));
  POSED(options.center = (sbs_center)3, ALL, SBS_ERROR_OPTION, NUMBER("center", 3.0, SBS_CENTER_OPTIMIZED));
  POSED(options.threads = -1, ALL, SBS_ERROR_OPTION, NUMBER("threads", -1.0, 0.0));
  POSED(options.threads = 1000, ALL, SBS_OK, no_fault);
  const double bad[] = {-1e-8, NAN, INFINITY};
  for (int i = 0; i < 3; i++) {
    POSED(options.damping = bad[i], ALL, SBS_ERROR_OPTION, NUMBER("damping", bad[i], 0.0));
    POSED(options.rcond = bad[i], ALL, SBS_ERROR_OPTION, NUMBER("rcond", bad[i], 1.0));
  }
  POSED(options.damping = 0.0, ALL, SBS_ERROR_OPTION, NUMBER("damping", 0.0, 0.0));
  POSED(options.rcond = 1.0, ALL, SBS_ERROR_OPTION, NUMBER("rcond", 1.0, 1.0));
  const size_t strides[] = {1, 8, 11, 13, 14};
  for (int i = 0; i < 5; i++) {
    const double stride = (double)strides[i];
    POSED(options.positions_stride = strides[i], ALL, SBS_ERROR_STRIDE, NUMBER("positions_stride", stride, 12.0));
    POSED(options.normals_stride = strides[i], ALL, SBS_ERROR_STRIDE, NUMBER("normals_stride", stride, 12.0));
  }
  /* The skin has no optimized centers, and centers of joint sets need neither them nor a method. */
  POSED(options.center = SBS_CENTER_OPTIMIZED, ONE | MANY, SBS_ERROR_OPTION, NAMED("centers"));
  POSED(options.center = SBS_CENTER_OPTIMIZED, CENTERS, SBS_OK, no_fault);
  POSED(options.method = (sbs_method)4, ONE | MANY, SBS_ERROR_OPTION,
        NUMBER("method", 4.0, SBS_METHOD_DUAL_QUATERNION));
  POSED(options.method = (sbs_method)4, CENTERS, SBS_OK, no_fault);
}

/* Amounts, and rest positions in place of the skin's. */
static void test_arrays_of_options(void) {
  static const struct {
    double amount;
    sbs_status status;
  } amounts[] = {{NAN, SBS_ERROR_NOT_FINITE}, {INFINITY, SBS_ERROR_NOT_FINITE}, {-INFINITY, SBS_ERROR_NOT_FINITE},
                 {-1e-300, SBS_ERROR_OPTION}, {1.0000001, SBS_ERROR_OPTION},    {1.0, SBS_OK}};
  for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
    deformation *made = new_deformation(0);
    made->options.amount = made->amounts;
    made->amounts[2] = amounts[i].amount;
    const sbs_fault fault = deform(made, ONE | MANY, amounts[i].status, 0);
    if (amounts[i].status == SBS_OK) continue;
    CHECK_STRING(fault.argument, "amount");
    CHECK(fault.index_count == 1 && fault.index[0] == 2 && memcmp(&fault.value, made->amounts + 2, 8) == 0);
  }
  deformation *made = new_deformation(0);
  made->options.amount = made->amounts;
  made->options.amount_scalar = (sbs_scalar)2;
  CHECK_STRING(deform(made, ONE | MANY, SBS_ERROR_OPTION, 0).argument, "amount_scalar");
  made->options.amount_scalar = SBS_FLOAT64;
  made->options.method = SBS_METHOD_LINEAR; /* of which there is nothing but all */
  CHECK_STRING(deform(made, ONE | MANY, SBS_ERROR_OPTION, 0).argument, "amount");

  made = new_deformation(0);
  float rest[VERTICES][3] = {{0.0f}};
  made->options.rest_positions = rest;
  deform(made, ONE | MANY, SBS_OK, 0);
  rest[1][2] = NAN;
  const sbs_fault not_finite = PLACE("rest_positions", 1, 2, NAN, 0.0);
  sbs_fault found = deform(made, ONE | MANY, SBS_ERROR_NOT_FINITE, 0);
  check_fault(&found, &not_finite);
  made->options.rest_positions_stride = 10;
  CHECK_STRING(deform(made, ONE | MANY, SBS_ERROR_STRIDE, 0).argument, "rest_positions_stride");
  made->options.rest_positions = NULL;
  made->options.rest_positions_stride = 12; /* would be ignored */
  CHECK_STRING(deform(made, ONE | MANY, SBS_ERROR_OPTION, 0).argument, "rest_positions_stride");
}

static void test_matrices_of_deforming(void) {
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) {
    for (size_t element = 0; element < 16; element++) {
      POSED(matrices[0][2][element / 4][element % 4] = bad[i], ALL, SBS_ERROR_NOT_FINITE,
            PLACE("skinning_matrices", 2, element, bad[i], 0.0));
    }
  }
  /* frames are checked before the first is written; their joints are counted on */
  POSED(matrices[1][2][1][3] = NAN, MANY, SBS_ERROR_NOT_FINITE, PLACE("skinning_matrices", JOINTS + 2, 7, NAN, 0.0));
  for (size_t element = 12; element < 16; element++) {
    const double is = element == 15 ? 1.0 : 0.0;
    POSED(matrices[0][1][3][element % 4] = is + 2e-5, ALL, SBS_ERROR_NOT_AFFINE,
          PLACE("skinning_matrices", 1, element, is + 2e-5, is));
    POSED(matrices[0][1][3][element % 4] = is - 0.5e-5, ALL, SBS_OK, no_fault); /* a product's rounding in float32 */
  }
}

static void test_scratch(void) {
  static _Alignas(64) unsigned char memory[1 << 16];
  deformation *made = new_deformation(0);
  const size_t size = sbs_skin_scratch_size(made->skin), too_small[] = {0, 1, size - 1};
  if (!CHECK(size < sizeof memory)) return;
  made->options.scratch = memory;
  for (int i = 0; i < 3; i++) {
    made->options.scratch_size = too_small[i];
    const sbs_fault expected = NUMBER("scratch_size", (double)too_small[i], (double)size),
                    found = deform(made, ALL, SBS_ERROR_SCRATCH, 0);
    check_fault(&found, &expected);
  }
  made->options.scratch_size = size;
  deform(made, ALL, SBS_OK, 0);
  for (size_t misaligned = 1; misaligned < 64; misaligned *= 2) {
    made->options.scratch = memory + misaligned;
    CHECK_STRING(deform(made, ALL, SBS_ERROR_SCRATCH, 0).argument, "scratch");
  }
  made->options.scratch = NULL; /* a size without memory means nothing */
  made->options.scratch_size = 1;
  deform(made, ALL, SBS_OK, 0);
}

int main(void) {
  RUN(test_binding_without_error);
  RUN(test_pointers_and_counts_of_binding);
  RUN(test_options_and_strides_of_binding);
  RUN(test_numbers_of_binding);
  RUN(test_joints_of_binding);
  RUN(test_deep_chains);
  RUN(test_weights_under_strict);
  RUN(test_pointers_of_deforming);
  RUN(test_options_of_deforming);
  RUN(test_arrays_of_options);
  RUN(test_matrices_of_deforming);
  RUN(test_scratch);
  sbs_skin_free(new_deformation(0)->skin);
  return harness_result();
}
