/* SPDX-License-Identifier: MIT */
/* A skin with other rest positions is the skin that is bound with them: every result, every bit. */
#include "rig.h"

enum {
  VERTICES = 20000, /* more than a tile */
  JOINTS = 12
};

/* Positions that all differ from those of the rig; vertices that were their own centers still are. */
static double *move(rig *mesh) {
  uint64_t seed = 17;
  double *moved = malloc(3 * VERTICES * sizeof *moved);
  if (!moved) abort();
  for (size_t i = 0; i < 3 * VERTICES; i++) {
    moved[i] = (double)(float)(mesh->positions[i] + random_between(&seed, 0.1, 0.5));
  }
  for (size_t v = 0; v < VERTICES; v++) {
    double *center = mesh->centers + 3 * v;
    if (memcmp(center, mesh->positions + 3 * v, 3 * sizeof *center) == 0) {
      memcpy(center, moved + 3 * v, 3 * sizeof *center);
    }
  }
  return moved;
}

static void check_same_deformation(const sbs_skin *a, const sbs_skin *b, sbs_scalar scalar, sbs_center center) {
  static transform matrices[JOINTS];
  const size_t size = 3 * VERTICES * (scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double));
  for (int j = 0; j < JOINTS; j++) matrices[j] = about(rotation(1, j, 2, 15 * j), j, 1, 0);
  const sbs_pose pose = {.skinning_matrices = matrices, .scalar = SBS_FLOAT64, .rows = 3};
  sbs_deform_options options = sbs_default_deform_options();
  options.center = center;
  void *ours = malloc(size), *theirs = malloc(size);
  CHECK_EQUAL(sbs_skin_deform(a, &pose, &options, ours, NULL, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_deform(b, &pose, &options, theirs, NULL, NULL, NULL), SBS_OK);
  CHECK(memcmp(ours, theirs, size) == 0);
  free(ours);
  free(theirs);
}

static void test_moved_skins_are_binds(void) {
  for (int scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    rig mesh = new_rig(5, VERTICES, JOINTS, 3);
    for (size_t v = 0; v < VERTICES; v += 3) {
      memcpy(mesh.centers + 3 * v, mesh.positions + 3 * v, 3 * sizeof *mesh.centers);
    }
    sbs_skin_desc desc = describe_rig(&mesh);
    void *before = numbers_of(mesh.positions, 3 * VERTICES, (sbs_scalar)scalar);
    desc.scalar = (sbs_scalar)scalar;
    desc.rest_positions = before;
    desc.rest_normals = NULL;
    sbs_skin *skin = NULL, *fresh = NULL;
    if (!CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK)) return;
    double *moved = move(&mesh);
    void *after = numbers_of(moved, 3 * VERTICES, (sbs_scalar)scalar);
    desc.rest_positions = after;
    sbs_skin *other = NULL;
    if (!CHECK_EQUAL(sbs_skin_with_positions(skin, &desc, &other, NULL), SBS_OK)) return;
    sbs_skin_free(skin); /* of which the other has nothing */
    if (!CHECK_EQUAL(sbs_skin_new(&desc, NULL, &fresh, NULL, NULL), SBS_OK)) return;
    sbs_skin_info ours, theirs;
    sbs_skin_get_info(other, &ours);
    sbs_skin_get_info(fresh, &theirs);
    CHECK_EQUAL(ours.memory, theirs.memory);
    check_same_deformation(other, fresh, (sbs_scalar)scalar, SBS_CENTER_JOINT_SET);
    check_same_deformation(other, fresh, (sbs_scalar)scalar, SBS_CENTER_WEIGHTED);
    check_same_deformation(other, fresh, (sbs_scalar)scalar, SBS_CENTER_OPTIMIZED);
    sbs_skin_free(other);
    sbs_skin_free(fresh);
    free(before);
    free(after);
    free(moved);
    free_rig(&mesh);
  }
}

static void test_bad_input(void) {
  rig mesh = new_rig(5, VERTICES, JOINTS, 3);
  sbs_skin_desc desc = describe_rig(&mesh);
  sbs_skin *skin = NULL, *fresh = NULL, *moved = NULL;
  sbs_fault fault = {0};
  if (!CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK)) return;
  CHECK_EQUAL(sbs_skin_with_positions(NULL, &desc, &moved, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "skin");
  CHECK_EQUAL(sbs_skin_with_positions(skin, NULL, &moved, &fault), SBS_ERROR_NULL);
  sbs_skin_desc other = desc;
  other.vertex_count--;
  CHECK_EQUAL(sbs_skin_with_positions(skin, &other, &moved, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "vertex_count");
  other = desc;
  other.scalar = desc.scalar == SBS_FLOAT32 ? SBS_FLOAT64 : SBS_FLOAT32;
  CHECK_EQUAL(sbs_skin_with_positions(skin, &other, &moved, &fault), SBS_ERROR_OPTION);
  other = desc;
  other.rest_positions = NULL;
  CHECK_EQUAL(sbs_skin_with_positions(skin, &other, &moved, &fault), SBS_ERROR_NULL);
  other = desc;
  other.rest_positions_stride = 5;
  CHECK_EQUAL(sbs_skin_with_positions(skin, &other, &moved, &fault), SBS_ERROR_STRIDE);
  other = desc;
  other.centers = desc.centers ? NULL : mesh.positions;
  CHECK_EQUAL(sbs_skin_with_positions(skin, &other, &moved, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "centers");
  double *bad = malloc(3 * VERTICES * sizeof *bad);
  memcpy(bad, mesh.positions, 3 * VERTICES * sizeof *bad);
  bad[3 * 7 + 1] = NAN;
  other = desc;
  other.rest_positions = bad;
  CHECK_EQUAL(sbs_skin_with_positions(skin, &other, &moved, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_EQUAL(fault.index[0], 7);
  CHECK_EQUAL(fault.index[1], 1);
  CHECK_EQUAL(sbs_skin_with_positions(skin, &desc, NULL, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "moved");
  CHECK(moved == NULL);
  /* nothing has changed */
  if (!CHECK_EQUAL(sbs_skin_new(&desc, NULL, &fresh, NULL, NULL), SBS_OK)) return;
  check_same_deformation(skin, fresh, desc.scalar, SBS_CENTER_JOINT_SET);
  sbs_skin_free(skin);
  sbs_skin_free(fresh);
  free(bad);
  free_rig(&mesh);
}

int main(void) {
  RUN(test_moved_skins_are_binds);
  RUN(test_bad_input);
  return harness_result();
}
