/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_TABLES_H
#define SBS_KERNELS_TABLES_H

#include "pose/posed.h"

/*
 * The rows of a pose, the form in which kernels take its joints: computed in double and rounded to the skin's type.
 * Rest positions x are relative to the skin's origin, results to the anchor of the pose. With the scale s of all
 * joints, a joint moves x to s (A x + p).
 *
 *   JOINTS     16  the columns of (A, p), then the quaternion with its sign
 *   STRETCHES  16  where joints stretch, A = R S, and some more than others: the columns of R, then S (00, 01, 02, 11,
 *                  12, 22)
 *   NORMALS    16  where normals need it: the columns of R S^-1, then S^-1
 *   DUAL        8  the quaternion, and the dual part p q / 2
 *   PRODUCTS   16  where joints stretch: the columns of (A, p) / 2, each times the quaternion
 *   CENTERS     4  for each joint set its rotation center; where joints stretch f (pose/center.h)
 *   ARMS        4  and z
 *   ARCS        4  for each set of two joints half the angle between their quaternions, times the unit quaternion along
 *                  their difference; 0 for others
 *   SETS        8  for each joint of each set, as skin->set_joints: the quaternion, and where it takes the center
 */
typedef enum sbs_table {
  SBS_TABLE_JOINTS,
  SBS_TABLE_STRETCHES,
  SBS_TABLE_NORMALS,
  SBS_TABLE_DUAL,
  SBS_TABLE_PRODUCTS,
  SBS_TABLE_CENTERS,
  SBS_TABLE_ARMS,
  SBS_TABLE_ARCS
} sbs_table;

enum {
  SBS_ROW = 16, /* numbers of a row */
  SBS_HALF_ROW = 8,
  SBS_ROW_QUATERNION = 12, /* where the quaternion is in JOINTS */
  SBS_ROW_SYMMETRIC = 9    /* where the symmetric matrix is in STRETCHES and NORMALS */
};

/* Writes the rows of joints, or of sets, [begin, end). */
typedef void sbs_write_rows(const sbs_posed *posed, sbs_table table, void *rows, size_t begin, size_t end);

/* Writes the rows of SETS of the sets [begin, end), from the rows of joints and of centers. */
typedef void sbs_write_set_rows(const sbs_skin *skin, const void *joints, const void *centers, void *rows, size_t begin,
                                size_t end);

#endif
