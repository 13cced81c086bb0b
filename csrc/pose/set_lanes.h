/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_SET_LANES_H
#define SBS_POSE_SET_LANES_H

/* Joint sets of one size in lanes, with the joints that their centers follow from: for pose/lanes.h. */
#include "pose/center.h"
#include "pose/lanes.h"

/* LANES joint sets of the same size. */
typedef struct set_lanes {
  size_t set[LANES];
  const int32_t *members[LANES]; /* the joints of each set */
  size_t size, count;            /* joints of each set; lanes in use, the others repeat the last */
  int stretched;                 /* whether one of the sets has a joint that is not rigid */
  sbs_vec4 origins[LANES];       /* f (pose/center.h) */
  lanes point[3];                /* the same */
} set_lanes;

/* The next of order[begin] to [end - 1] that have one size, at most LANES of them. kinds: NULL if all are rigid. */
SBS_INLINE void next_sets(const sbs_skin *skin, const unsigned char *kinds, const int32_t *order, size_t begin,
                          size_t end, set_lanes *sets) {
  sets->stretched = 0;
  sets->size = sbs_set_size(skin, (size_t)order[begin]);
  sets->count = 0;
  for (size_t l = 0; l < LANES; l++) {
    if (begin + l < end && sets->count == l && sbs_set_size(skin, (size_t)order[begin + l]) == sets->size) {
      sets->count = l + 1;
    }
    const size_t set = (size_t)order[begin + (l < sets->count ? l : sets->count - 1)];
    sets->set[l] = set;
    sets->members[l] = skin->set_joints + skin->set_offsets[set];
    const double *c0 = skin->set_centroids + 3 * set;
    sets->origins[l] = (sbs_vec4){c0[0], c0[1], c0[2], 0.0};
    if (kinds && sbs_is_stretched(skin, set, kinds)) {
      sets->stretched = 1;
      sets->origins[l] += sbs_reference_point(skin, set);
    }
  }
  transpose_vectors(sets->origins, sets->point);
}

#endif
