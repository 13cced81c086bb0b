/* SPDX-License-Identifier: MIT */
#include "pose/center.h"

#include <math.h>

#include "base/lapack.h"

/* Singular values of the equations up to this are dropped before the relative cut-off of rcond. */
#define ABSOLUTE_CUT 1e-5

size_t sbs_center_work_size(size_t max_influences) {
  const size_t rows = 3 * (max_influences > 1 ? max_influences : 1);
  return 4 * rows + sbs_svd_work_size(rows);
}

static sbs_vec4 move_reference(const sbs_joint *joint, sbs_vec4 reference) {
  return sbs_vec4_apply(joint->moving, reference) + joint->translation;
}

static const sbs_vec4 *joint_rotation(const sbs_centers_args *args, int32_t joint) {
  const sbs_joint *at = args->joints + joint;
  return args->stretches ? sbs_turning(at, args->kinds[joint], args->stretches + joint) : at->moving;
}

/* The factor in place of 1 / s in the pseudo-inverse. */
static double filter(double s, double largest, double damping, double rcond) {
  if (rcond == 0.0) return s / (s * s + damping);
  return s > ABSOLUTE_CUT && s > rcond * largest ? 1.0 / s : 0.0;
}

/* Kavan & Zara 2005, section 4: the least squares D r_c = e by its singular values, z = V diag(filter) U^T e */
sbs_status sbs_solve_center(const sbs_centers_args *args, size_t set, double rcond, double *work, sbs_vec4 *z) {
  const sbs_skin *skin = args->skin;
  const int32_t *set_joints = skin->set_joints + skin->set_offsets[set];
  const double *c0 = skin->set_centroids + 3 * set;
  const size_t size = sbs_set_size(skin, set), rows = 3 * size;
  sbs_vec4 reference = {c0[0], c0[1], c0[2]};
  if (sbs_is_stretched(skin, set, args->kinds)) reference += sbs_reference_point(skin, set);

  sbs_vec4 mean[4] = {{0.0}};
  for (size_t k = 0; k < size; k++) {
    const sbs_vec4 *turning = joint_rotation(args, set_joints[k]);
    for (int j = 0; j < 3; j++) mean[j] += turning[j] / (double)size;
    mean[3] += move_reference(args->joints + set_joints[k], reference) / (double)size;
  }
  double *u = work, *right = u + 3 * rows, *svd_work = right + rows;
  const double root = sqrt(2.0 / ((double)size - 1.0));
  for (size_t k = 0; k < size; k++) {
    const sbs_vec4 *turning = joint_rotation(args, set_joints[k]);
    const sbs_vec4 e = root * (mean[3] - move_reference(args->joints + set_joints[k], reference));
    for (size_t j = 0; j < 3; j++) {
      const sbs_vec4 d = root * (turning[j] - mean[j]);
      for (size_t i = 0; i < 3; i++) u[j * rows + 3 * k + i] = d[i];
    }
    for (size_t i = 0; i < 3; i++) right[3 * k + i] = e[i];
  }
  double s[3], vt[9];
  sbs_status status = sbs_svd(rows, u, s, vt, svd_work);
  if (status) return status;

  *z = (sbs_vec4){0.0};
  for (size_t j = 0; j < 3; j++) {
    double amount = 0.0;
    for (size_t row = 0; row < rows; row++) amount += u[j * rows + row] * right[row];
    *z += (sbs_vec4){vt[3 * j], vt[3 * j + 1], vt[3 * j + 2]} * (amount * filter(s[j], s[0], args->damping, rcond));
  }
  return SBS_OK;
}

void sbs_rest_center(const sbs_skin *skin, size_t set, const sbs_joint *joints, const unsigned char *kinds,
                     const sbs_vec4 *centers, double center[3]) {
  const size_t size = sbs_set_size(skin, set);
  sbs_vec4 from_centroid = {0.0};
  if (size > 1) from_centroid = centers[set];
  if (size > 1 && sbs_is_stretched(skin, set, kinds)) {
    double square = 0.0;
    for (size_t k = skin->set_offsets[set]; k < skin->set_offsets[set + 1]; k++) {
      const sbs_vec4 *matrix = joints[skin->set_joints[k]].moving;
      for (int i = 0; i < 9; i++) square += matrix[i / 3][i % 3] * matrix[i / 3][i % 3];
    }
    const double scale = sqrt(square / (3.0 * (double)size));
    from_centroid = sbs_reference_point(skin, set);
    if (scale > 0.0) from_centroid += centers[set] / scale;
  }
  for (size_t i = 0; i < 3; i++) center[i] = skin->set_centroids[3 * set + i] + from_centroid[i];
}
