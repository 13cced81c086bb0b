/* SPDX-License-Identifier: MIT */
/* A skin whose weights were updated deforms as that which is bound anew, bit for bit. */
#include "counting_allocator.h"
#include "rig.h"

enum {
  VERTICES = 20000,
  JOINTS = 12
};

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

/* Changes in one region, anywhere, and of one vertex; of a mesh with many blocks. */
static void test_updates_are_binds(void) {
  static double results[2][2][3 * VERTICES];
  static int32_t vertices[1000];
  subject made = new_subject(VERTICES);
  describe(&made);
  uint64_t seed = 11;
  transform joints[JOINTS];
  for (int j = 0; j < JOINTS; j++) joints[j] = random_rigid(&seed, 100.0);
  const sbs_pose pose = pose_of(joints);
  sbs_skin *skin = NULL, *updated = NULL, *fresh = NULL;
  if (!CHECK_EQUAL(sbs_skin_new(&made.desc, NULL, &skin, NULL, NULL), SBS_OK)) return;
  for (int round = 0; round < 13; round++) {
    const size_t count = round == 12 ? 0 : round % 3 == 2 ? 1 : 1000, from = round % 3 ? 0 : VERTICES / 2;
    for (size_t i = 0; i < count; i++) {
      vertices[i] = (int32_t)(from + random_below(&seed, round % 3 ? VERTICES : 2000)); /* some twice */
      change(&made, &seed, vertices[i]);
    }
    sbs_weight_report reports[2];
    CHECK_EQUAL(sbs_skin_update(skin, &made.desc, vertices, count, NULL, &updated, reports, NULL), SBS_OK);
    CHECK_EQUAL(sbs_skin_new(&made.desc, NULL, &fresh, reports + 1, NULL), SBS_OK);
    CHECK(memcmp(reports, reports + 1, sizeof *reports) == 0);
    for (int which = 0; which < ALL_VARIANTS; which++) {
      const sbs_deform_options options = options_of_variant(which);
      CHECK_EQUAL(sbs_skin_deform(updated, &pose, &options, results[0][0], results[0][1], NULL, NULL), SBS_OK);
      CHECK_EQUAL(sbs_skin_deform(fresh, &pose, &options, results[1][0], results[1][1], NULL, NULL), SBS_OK);
      CHECK(memcmp(results[0], results[1], sizeof results[0]) == 0);
    }
    sbs_skin_free(fresh);
    sbs_skin_free(skin);
    skin = updated;
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
