/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_SET_LANES_H
#define SBS_POSE_SET_LANES_H

/* Joint sets of one size in lanes, and what their centers are solved by: for pose/lanes.h. */
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
                          size_t end, set_lanes *of) {
  of->stretched = 0;
  of->size = sbs_set_size(skin, (size_t)order[begin]);
  of->count = 0;
  for (size_t l = 0; l < LANES; l++) {
    if (begin + l < end && of->count == l && sbs_set_size(skin, (size_t)order[begin + l]) == of->size) {
      of->count = l + 1;
    }
    const size_t set = (size_t)order[begin + (l < of->count ? l : of->count - 1)];
    of->set[l] = set;
    of->members[l] = skin->set_joints + skin->set_offsets[set];
    const double *c0 = skin->set_centroids + 3 * set;
    of->origins[l] = (sbs_vec4){c0[0], c0[1], c0[2], 0.0};
    if (kinds && sbs_is_stretched(skin, set, kinds)) {
      of->stretched = 1;
      of->origins[l] += sbs_reference_point(skin, set);
    }
  }
  transpose_vectors(of->origins, of->point);
}

/* a += m v, of columns */
SBS_INLINE void add_moved_lanes(const lanes m[9], const lanes v[3], lanes a[3]) {
  for (int i = 0; i < 3; i++) a[i] += m[i] * v[0] + m[3 + i] * v[1] + m[6 + i] * v[2];
}

/*
 * Symmetric positive definite matrices (00, 11, 22, 01, 02, 12) as L D L^T; stable without pivoting, however ill-
 * conditioned.
 */
typedef struct factors {
  lanes l10, l20, l21;
  lanes inverse[3]; /* of D */
} factors;

SBS_INLINE factors factorize(const lanes n[6]) {
  factors f;
  f.inverse[0] = 1.0 / n[0];
  f.l10 = n[3] * f.inverse[0];
  f.l20 = n[4] * f.inverse[0];
  f.inverse[1] = 1.0 / (n[1] - f.l10 * n[3]);
  const lanes rest = n[5] - f.l20 * n[3];
  f.l21 = rest * f.inverse[1];
  f.inverse[2] = 1.0 / (n[2] - f.l20 * n[4] - f.l21 * rest);
  return f;
}

SBS_INLINE void add_solution(const factors *f, const lanes right[3], lanes z[3]) {
  const lanes y1 = right[1] - f->l10 * right[0];
  const lanes y2 = right[2] - f->l20 * right[0] - f->l21 * y1;
  const lanes x2 = y2 * f->inverse[2];
  const lanes x1 = y1 * f->inverse[1] - f->l21 * x2;
  z[0] += right[0] * f->inverse[0] - f->l10 * x1 - f->l20 * x2;
  z[1] += x1;
  z[2] += x2;
}

#endif
