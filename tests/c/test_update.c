/* SPDX-License-Identifier: MIT */
/* A skin whose weights were updated deforms as that which is bound anew, bit for bit. */
#include "counting_allocator.h"
#include "rig.h"
#include "skin/skin.h"

enum {
  VERTICES = 20000,
  JOINTS = 12
};

/* All that a skin tells of itself but for the memory, of which an edit may take more. */
static void check_same_answers(const sbs_skin *a, const sbs_skin *b) {
  static int32_t sets[2][VERTICES], joints[2][4 * VERTICES];
  static size_t offsets[2][VERTICES + 1];
  const sbs_skin *skins[2] = {a, b};
  sbs_skin_info info[2];
  for (int i = 0; i < 2; i++) {
    memset(&info[i], 0, sizeof info[i]);
    CHECK_EQUAL(sbs_skin_get_info(skins[i], &info[i]), SBS_OK);
    info[i].memory = 0;
    CHECK_EQUAL(sbs_skin_joint_sets(skins[i], offsets[i], joints[i]), SBS_OK);
    CHECK_EQUAL(sbs_skin_joint_set_of_vertex(skins[i], sets[i]), SBS_OK);
  }
  CHECK(memcmp(&info[0], &info[1], sizeof *info) == 0);
  CHECK(memcmp(offsets[0], offsets[1], (info[0].joint_set_count + 1) * sizeof **offsets) == 0);
  CHECK(memcmp(joints[0], joints[1], info[0].joint_set_size_sum * sizeof **joints) == 0);
  CHECK(memcmp(sets[0], sets[1], info[0].vertex_count * sizeof **sets) == 0);
}

/* In poses that are rigid and that are not, by all methods that the skins have arrays for. */
static void check_same_results(const sbs_skin *a, const sbs_skin *b) {
  static double results[2][2][3 * VERTICES];
  uint64_t seed = 6;
  transform joints[2][JOINTS];
  sbs_skin_info info;
  CHECK_EQUAL(sbs_skin_get_info(a, &info), SBS_OK);
  for (int j = 0; j < JOINTS; j++) {
    joints[0][j] = random_rigid(&seed, 100.0);
    joints[1][j] = multiply(joints[0][j], scaling(1.5, 0.5, 1.0));
  }
  for (int which = 0; which < 2 * ALL_VARIANTS; which++) {
    const sbs_pose pose = pose_of(joints[which / ALL_VARIANTS]);
    const sbs_deform_options options = options_of_variant(which % ALL_VARIANTS);
    if (options.center == SBS_CENTER_OPTIMIZED && !a->centers) continue;
    for (int i = 0; i < 2; i++) {
      double *normals = info.has_normals ? results[i][1] : NULL;
      CHECK_EQUAL(sbs_skin_deform(i ? b : a, &pose, &options, results[i][0], normals, NULL, NULL), SBS_OK);
    }
    CHECK(memcmp(results[0], results[1], sizeof results[0]) == 0);
  }
}

/* A mesh with all that a description can have, some of its vertices unweighted. */
typedef struct subject {
  rig mesh;
  int32_t parents[JOINTS];
  double joint_positions[JOINTS][3];
  sbs_skin_desc desc;
} subject;

static subject new_subject(size_t vertices) {
  subject made = {.mesh = new_rig(3, vertices, JOINTS, 3)};
  for (size_t v = 0; v < vertices; v++) {
    for (size_t k = v % 3; k < 2; k++) made.mesh.joint_weights[3 * v + k] = 0.0;
    if (v % 1000 == 5) made.mesh.joint_weights[3 * v + 2] = 0.0;
  }
  return made;
}

static void describe(subject *made) {
  made->desc = describe_rig(&made->mesh);
  for (int j = 0; j < JOINTS; j++) {
    made->parents[j] = j - 1;
    for (int axis = 0; axis < 3; axis++) made->joint_positions[j][axis] = j + 0.1 * axis;
  }
  made->desc.parents = made->parents;
  made->desc.joint_positions = made->joint_positions[0];
}

/* Other influences for a vertex. */
static void change(subject *made, uint64_t *seed, int32_t vertex) {
  for (int k = 0; k < 3; k++) {
    made->mesh.joint_indices[3 * vertex + k] = (int32_t)random_below(seed, JOINTS);
    made->mesh.joint_weights[3 * vertex + k] = random_below(seed, 4) ? random_float32(seed, 0.0, 1.0) : 0.0;
  }
}

static void check_update(sbs_skin **skin, const subject *made, const int32_t *vertices, size_t count) {
  sbs_skin *updated = NULL, *fresh = NULL;
  sbs_weight_report updated_report, fresh_report;
  memset(&updated_report, 0, sizeof updated_report);
  memset(&fresh_report, 0, sizeof fresh_report);
  if (!CHECK_EQUAL(sbs_skin_update(*skin, &made->desc, vertices, count, NULL, &updated, &updated_report, NULL),
                   SBS_OK)) {
    return;
  }
  if (!CHECK_EQUAL(sbs_skin_new(&made->desc, NULL, &fresh, &fresh_report, NULL), SBS_OK)) return;
  check_same_answers(updated, fresh);
  check_same_results(updated, fresh);
  CHECK(memcmp(&updated_report, &fresh_report, sizeof fresh_report) == 0);
  sbs_skin_free(fresh);
  sbs_skin_free(*skin);
  *skin = updated;
}

static void test_updates_are_binds(void) {
  subject made = new_subject(VERTICES);
  describe(&made);
  uint64_t seed = 11;
  sbs_skin *skin = NULL;
  static int32_t vertices[1000];
  if (!CHECK_EQUAL(sbs_skin_new(&made.desc, NULL, &skin, NULL, NULL), SBS_OK)) return;
  check_update(&skin, &made, NULL, 0);
  for (int round = 0; round < 12; round++) {
    /* in one region, anywhere, or one vertex */
    const size_t count = round % 3 == 2 ? 1 : 1000, from = round % 3 ? 0 : VERTICES / 2;
    const size_t range = round % 3 ? VERTICES : 2000;
    for (size_t i = 0; i < count; i++) {
      vertices[i] = (int32_t)(from + random_below(&seed, range)); /* some twice */
      change(&made, &seed, vertices[i]);
    }
    check_update(&skin, &made, vertices, count);
  }
  sbs_skin_free(skin);
  free_rig(&made.mesh);
}

static void test_bad_input(void) {
  subject made = new_subject(100);
  describe(&made);
  const int32_t good = 4, bad[] = {4, 100};
  sbs_skin *skin = NULL, *updated = NULL;
  sbs_skin_desc desc = made.desc;
  sbs_skin_options strict = sbs_default_skin_options();
  sbs_fault fault = {0};
  if (!CHECK_EQUAL(sbs_skin_new(&made.desc, NULL, &skin, NULL, NULL), SBS_OK)) return;
#define UPDATE(skin, desc, vertices, count, options, updated) \
  sbs_skin_update(skin, desc, vertices, count, options, updated, NULL, &fault)
  CHECK_EQUAL(UPDATE(NULL, &desc, &good, 1, NULL, &updated), SBS_ERROR_NULL);
  CHECK_EQUAL(UPDATE(skin, NULL, &good, 1, NULL, &updated), SBS_ERROR_NULL);
  CHECK_EQUAL(UPDATE(skin, &desc, NULL, 1, NULL, &updated), SBS_ERROR_NULL);
  CHECK_EQUAL(UPDATE(skin, &desc, &good, 1, NULL, NULL), SBS_ERROR_NULL);
  CHECK_REFUSED(UPDATE(skin, &desc, bad, 2, NULL, &updated), SBS_ERROR_VERTEX_INDEX, "vertices");
  CHECK_EQUAL(fault.index[0], 1);
#define REFUSED(change, status, argument) \
  desc = made.desc, desc.change; \
  CHECK_REFUSED(UPDATE(skin, &desc, &good, 1, NULL, &updated), status, argument)
  REFUSED(vertex_count = 99, SBS_ERROR_OPTION, "vertex_count");
  REFUSED(joint_count = 13, SBS_ERROR_OPTION, "joint_count");
  REFUSED(scalar = SBS_FLOAT32, SBS_ERROR_OPTION, "scalar");
  REFUSED(rest_normals = NULL, SBS_ERROR_OPTION, "rest_normals");
  REFUSED(centers = NULL, SBS_ERROR_OPTION, "centers");
  REFUSED(rest_positions_stride = 5, SBS_ERROR_STRIDE, "rest_positions_stride");
  made.mesh.joint_indices[3 * 4 + 1] = JOINTS;
  REFUSED(scalar = SBS_FLOAT64, SBS_ERROR_JOINT_INDEX, "joint_indices");
  CHECK(fault.index[0] == 4 && fault.index[1] == 1);
  strict.strict = 1; /* vertex 0 is unweighted, and was not changed */
  made.mesh.joint_indices[3 * 4 + 1] = 0;
  CHECK_REFUSED(UPDATE(skin, &desc, &good, 1, &strict, &updated), SBS_ERROR_WEIGHT, "joint_weights");
#undef REFUSED
#undef UPDATE
  CHECK(updated == NULL);
  sbs_skin_free(skin);
  free_rig(&made.mesh);
}

typedef struct failing {
  subject made;
  const sbs_skin *skin;
  int32_t vertices[3];
  sbs_skin *updated;
} failing;

static sbs_status update(const sbs_allocator *allocator, void *address) {
  failing *test = address;
  sbs_skin_options options = sbs_default_skin_options();
  options.allocator = *allocator;
  return sbs_skin_update(test->skin, &test->made.desc, test->vertices, 3, &options, &test->updated, NULL, NULL);
}

static void discard(void *address) {
  sbs_skin_free(((failing *)address)->updated);
}

static void test_every_allocation_fails_in_turn(void) {
  failing test = {.made = new_subject(500), .vertices = {3, 77, 400}};
  describe(&test.made);
  uint64_t seed = 2;
  sbs_skin *skin = NULL;
  if (!CHECK_EQUAL(sbs_skin_new(&test.made.desc, NULL, &skin, NULL, NULL), SBS_OK)) return;
  for (int i = 0; i < 3; i++) change(&test.made, &seed, test.vertices[i]);
  test.skin = skin;
  CHECK(fail_each_allocation(update, discard, &test) > 25);
  sbs_skin_free(skin);
  free_rig(&test.made.mesh);
}

int main(void) {
  RUN(test_updates_are_binds);
  RUN(test_bad_input);
  RUN(test_every_allocation_fails_in_turn);
  return harness_result();
}
