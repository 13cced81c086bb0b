/* SPDX-License-Identifier: MIT */
/* What tests of rotation centers share: skins of one joint set. */
#ifndef SBS_TESTS_ONE_SET_H
#define SBS_TESTS_ONE_SET_H

#include "rig.h"

enum {
  MOST_JOINTS = 8
};

static const double centroid[3] = {0.4, -0.3, 1.7};

/* A skin of one vertex at a place, under all of the joints. */
static inline sbs_skin *skin_of_one_set(size_t joint_count, const double place[3], const int32_t *parents,
                                        const double *joint_positions) {
  int32_t indices[MOST_JOINTS];
  double weights[MOST_JOINTS];
  for (size_t j = 0; j < joint_count; j++) {
    indices[j] = (int32_t)j;
    weights[j] = 1.0 / (double)joint_count;
  }
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = 1;
  desc.joint_count = joint_count;
  desc.influences_per_vertex = joint_count;
  desc.scalar = SBS_FLOAT64;
  desc.rest_positions = place;
  desc.joint_indices = indices;
  desc.weight_scalar = SBS_FLOAT64;
  desc.joint_weights = weights;
  desc.parents = parents;
  desc.joint_positions = joint_positions;
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  if (!skin) abort();
  return skin;
}

#endif
