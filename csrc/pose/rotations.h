/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_ROTATIONS_H
#define SBS_POSE_ROTATIONS_H

#include "base/algebra.h"
#include "base/isa.h"
#include "sbs/sbs.h"

/* The most joints that rotations are found of at once. */
#define SBS_MOST_ROTATIONS 24

/*
 * Finds the rotations R of some joints, in a pose that was checked, as unit quaternions of either sign. Matrices that
 * are off by 1e-8, as products of float32 matrices are, have the exact nearest one.
 *
 *   joints  (count) at most SBS_MOST_ROTATIONS
 *
 * Errors: NO_CONVERGENCE, INTERNAL.
 */
sbs_status sbs_find_rotations(sbs_isa isa, const sbs_pose *pose, const int32_t *joints, size_t count,
                              sbs_vec4 *quaternions);

/* Reads the matrices of joints [first, first + count) of a pose, as (count, 3, 4). */
void sbs_read_matrices(const sbs_pose *pose, size_t first, size_t count, double *matrices);

#endif
