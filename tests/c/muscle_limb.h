/* SPDX-License-Identifier: MIT */
/* A limb with a muscle along its axis and a tube of skin around it. */
#ifndef SBS_TESTS_MUSCLE_LIMB_H
#define SBS_TESTS_MUSCLE_LIMB_H

#include <sbs/muscles.h>

#include "harness.h"

static const double PI = 3.14159265358979323846;

/*
 * A limb along x whose muscle lies on the axis, from 0 to 10, with joint 0 at its origin and joint 1 at its insertion,
 * and a tube of skin around it.
 */
enum {
  JOINTS = 2,
  RINGS = 41,
  SIDES = 24,
  VERTICES = RINGS * SIDES
};
#define SKIN_RADIUS 1.5

typedef double matrix[3][4];

typedef struct tube {
  double positions[VERTICES][3];
  double normals[VERTICES][3];
} tube;

static inline void make_limb(tube *limb) {
  for (int ring = 0; ring < RINGS; ring++) {
    for (int side = 0; side < SIDES; side++) {
      const double angle = 2 * PI * side / SIDES;
      const double normal[3] = {0, cos(angle), sin(angle)};
      double *position = limb->positions[ring * SIDES + side];
      memcpy(limb->normals[ring * SIDES + side], normal, sizeof normal);
      for (int i = 0; i < 3; i++) position[i] = SKIN_RADIUS * normal[i];
      position[0] = 10.0 * ring / (RINGS - 1);
    }
  }
}

static int32_t triangles[2 * (RINGS - 1) * SIDES][3];

static inline void make_triangles(void) {
  for (int i = 0; i < (RINGS - 1) * SIDES; i++) {
    const int beside = i % SIDES == SIDES - 1 ? i + 1 - SIDES : i + 1;
    const int32_t corners[2][3] = {{i, beside, i + SIDES}, {beside, beside + SIDES, i + SIDES}};
    memcpy(triangles[2 * i], corners, sizeof corners);
  }
}

static inline sbs_muscle make_muscle(void) {
  sbs_muscle muscle = sbs_default_muscle();
  muscle.joints[1] = 1;
  muscle.points[1][0] = 10.0;
  muscle.radius = 1.0;
  muscle.reach = 4.0;
  return muscle;
}

static inline sbs_muscles_desc describe(const sbs_muscle *muscle, const tube *limb) {
  sbs_muscles_desc desc = sbs_default_muscles_desc();
  desc.joint_count = JOINTS;
  desc.muscle_count = 1;
  desc.muscles = muscle;
  if (limb) {
    desc.vertex_count = VERTICES;
    desc.scalar = SBS_FLOAT64;
    desc.rest_positions = limb->positions;
    desc.rest_normals = limb->normals;
    desc.triangle_count = sizeof triangles / sizeof *triangles;
    desc.triangles = triangles[0];
  }
  return desc;
}

static inline sbs_muscles *new_muscles(const sbs_muscle *muscle, const tube *limb) {
  const sbs_muscles_desc desc = describe(muscle, limb);
  sbs_muscles *muscles = NULL;
  sbs_fault fault = {0};
  if (!CHECK_EQUAL(sbs_muscles_new(&desc, NULL, &muscles, &fault), SBS_OK)) {
    fprintf(stderr, "    %s\n", fault.argument ? fault.argument : "");
  }
  return muscles;
}

/* The insertion moved along x. */
static inline sbs_pose move_insertion(double by, matrix joints[JOINTS]) {
  for (int j = 0; j < JOINTS; j++) {
    for (int i = 0; i < 12; i++) joints[j][i / 4][i % 4] = i % 5 == 0;
  }
  joints[1][0][3] = by;
  return (sbs_pose){.skinning_matrices = joints, .scalar = SBS_FLOAT64, .rows = 3};
}

/* Lets the skin cover the muscles, and its normals follow. */
static inline void cover(const sbs_muscles *muscles, const sbs_pose *pose, tube *skin) {
  CHECK_EQUAL(sbs_muscles_cover(muscles, pose, NULL, SBS_FLOAT64, skin->positions, 0, skin->normals, 0, 0, NULL),
              SBS_OK);
}

#endif
