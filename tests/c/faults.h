/* SPDX-License-Identifier: MIT */
/*
 * What tests of errors share: a small mesh without fault to put faults into, and how a sbs_fault is held against them.
 */
#ifndef SBS_TESTS_FAULTS_H
#define SBS_TESTS_FAULTS_H

#include "rig.h"

enum {
  VERTICES = 3,
  JOINTS = 4,
  INFLUENCES = 2
};

static const sbs_fault no_fault = {"untouched", {77, 77}, 2, 77.0, 77.0};

static inline void check_fault(const sbs_fault *fault, const char *argument, int index_count, size_t row, size_t column,
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

static inline void check_untouched_fault(const sbs_fault *fault) {
  check_fault(fault, "untouched", 2, 77, 77, 77.0, 77.0);
}

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

static inline subject *new_subject(void) {
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

#endif
