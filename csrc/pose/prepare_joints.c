/* SPDX-License-Identifier: MIT */
/* All joints of a pose, LANES of them at once: whether they are rigid, their rotations and quaternions. */
#include <string.h>

#include "pose/batches.h"
#include "pose/lanes.h"

/* The columns of a batch of matrices: m[3 j + i] is row i of column j. */

/* Rows as they are given, in either type. */
typedef double given_doubles __attribute__((vector_size(32), aligned(8), may_alias));
typedef float given_floats __attribute__((vector_size(16), aligned(4), may_alias));

/* Reads matrices as they are given, row-major. */
SBS_INLINE void gather_matrices(const sbs_joints_args *args, size_t begin, size_t count, lanes m[12]) {
  const size_t size = 4 * args->rows;
  for (size_t i = 0; i < 3; i++) {
    sbs_vec4 rows[LANES];
    for (size_t l = 0; l < LANES; l++) {
      const size_t at = (begin + (l < count ? l : count - 1)) * size + 4 * i;
      if (args->scalar == SBS_FLOAT32) {
        rows[l] = __builtin_convertvector(*(const given_floats *)((const float *)args->matrices + at), sbs_vec4);
      } else {
        rows[l] = *(const given_doubles *)((const double *)args->matrices + at);
      }
    }
    lanes columns[4];
    transpose_to_lanes(rows, columns);
    for (int j = 0; j < 4; j++) m[3 * j + (int)i] = columns[j];
  }
}

/* |A^T A - I| <= SBS_RIGID_TOLERANCE and det A > 0 */
SBS_INLINE lane_mask find_rigid(const lanes a[9], const lanes gram[6]) {
  const lanes d0 = gram[0] - 1.0, d1 = gram[3] - 1.0, d2 = gram[5] - 1.0;
  const lanes defect = d0 * d0 + d1 * d1 + d2 * d2 + 2.0 * (gram[1] * gram[1] + gram[2] * gram[2] + gram[4] * gram[4]);
  const lanes det =
      a[0] * (a[4] * a[8] - a[5] * a[7]) + a[1] * (a[5] * a[6] - a[3] * a[8]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
  return (defect <= SBS_RIGID_TOLERANCE * SBS_RIGID_TOLERANCE) & (det > 0.0);
}

/*
 * The nearest rotation of a nearly orthonormal matrix by Newton-Schulz, X <- X + X (I - X^T X) / 2, which squares the
 * error: from SBS_RIGID_TOLERANCE two steps are more than double holds.
 */
SBS_INLINE void nearest_rotation(const lanes gram_of_a[6], lanes x[9]) {
  lanes gram[6];
  memcpy(gram, gram_of_a, sizeof gram);
  for (int step = 0; step < 2; step++) {
    if (step) gram_matrix(x, gram);
    for (int i = 0; i < 3; i++) {
      const lanes r0 = x[i], r1 = x[3 + i], r2 = x[6 + i]; /* a row */
      x[i] = r0 + 0.5 * (r0 * (1.0 - gram[0]) - r1 * gram[1] - r2 * gram[2]);
      x[3 + i] = r1 + 0.5 * (r1 * (1.0 - gram[3]) - r0 * gram[1] - r2 * gram[4]);
      x[6 + i] = r2 + 0.5 * (r2 * (1.0 - gram[5]) - r0 * gram[2] - r1 * gram[4]);
    }
  }
}

/* Quaternions (w, x, y, z) from their largest component (Shepperd 1978). */
SBS_INLINE void find_quaternions(const lanes r[9], lanes q[4]) {
  const lanes xx = r[0], yy = r[4], zz = r[8], trace = xx + yy + zz;
  const lanes wx = r[5] - r[7], wy = r[6] - r[2], wz = r[1] - r[3]; /* 4 w x, 4 w y, 4 w z */
  const lanes xy = r[3] + r[1], xz = r[6] + r[2], yz = r[7] + r[5];
  lanes most = trace;
  q[0] = 1.0 + trace, q[1] = wx, q[2] = wy, q[3] = wz;
  const lanes candidates[3][4] = {
      {wx, 1.0 + 2.0 * xx - trace, xy, xz},
      {wy, xy, 1.0 + 2.0 * yy - trace, yz},
      {wz, xz, yz, 1.0 + 2.0 * zz - trace},
  };
  const lanes diagonal[3] = {xx, yy, zz};
  for (int i = 0; i < 3; i++) {
    const lane_mask better = diagonal[i] > most;
    most = select_lanes(better, diagonal[i], most);
    for (int k = 0; k < 4; k++) q[k] = select_lanes(better, candidates[i][k], q[k]);
  }
  const lanes scale = 1.0 / lane_square_root(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int k = 0; k < 4; k++) q[k] *= scale;
}

/* The vectors of the lanes, to the same place in so many joints that follow each other. */
SBS_INLINE void put_vectors(const lanes x, const lanes y, const lanes z, const lanes w, size_t count, sbs_vec4 *at) {
  sbs_vec4 vectors[LANES];
  transpose_from_lanes((const lanes[4]){x, y, z, w}, vectors);
  for (size_t l = 0; l < count; l++) at[l * (sizeof(sbs_joint) / sizeof *at)] = vectors[l];
}

void SBS_FOR_ISA(sbs_prepare_joints)(const sbs_joints_args *args, size_t begin, size_t end) {
  const lanes zero = NO_LANES;
  for (; begin < end; begin += LANES) {
    const size_t count = end - begin < LANES ? end - begin : LANES;
    lanes m[12], r[9], gram[6], q[4], back[3];
    gather_matrices(args, begin, count, m);
    gram_matrix(m, gram);
    const lane_mask rigid = find_rigid(m, gram);
    memcpy(r, m, sizeof r);
    nearest_rotation(gram, r);
    find_quaternions(r, q);
    for (int j = 0; j < 3; j++) back[j] = dot_lanes(r + 3 * j, m + 9);

    lanes farthest = absolute_lanes(m[0] - r[0]);
    for (int k = 1; k < 9; k++) farthest = larger_lanes(farthest, absolute_lanes(m[k] - r[k]));
    const lane_mask straight = rigid & (farthest <= args->normal_tolerance);
    for (size_t l = 0; l < count; l++) {
      args->kinds[begin + l] =
          (unsigned char)((LANE(rigid, l) ? 0 : SBS_JOINT_NONRIGID) | (LANE(straight, l) ? 0 : SBS_JOINT_SKEWED));
    }

    sbs_joint *joints = args->joints + begin;
    for (int k = 0; k < 9; k++) r[k] = select_lanes(rigid, r[k], m[k]);
    for (int j = 0; j < 3; j++) {
      put_vectors(m[3 * j], m[3 * j + 1], m[3 * j + 2], zero, count, joints->given + j);
      put_vectors(r[3 * j], r[3 * j + 1], r[3 * j + 2], zero, count, joints->moving + j);
    }
    put_vectors(m[9], m[10], m[11], zero, count, &joints->translation);
    put_vectors(q[0], q[1], q[2], q[3], count, &joints->quaternion);
    put_vectors(back[0], back[1], back[2], zero, count, &joints->turned_back);
  }
}
