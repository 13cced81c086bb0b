/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_FORMULA_LIST_H
#define SBS_KERNELS_FORMULA_LIST_H

/*
 * All formulas (kernels/formulas.h), one row each: what it is, and which kernels are compiled for it. A list for each
 * file that compiles some, kernels/linear.c and so on; SBS_EACH_FORMULA has all.
 *
 *   constant, name     SBS_FORMULA_constant; the functions of the formula have names that begin with `name`
 *   method             SBS_METHOD_ of sbs.h; RIGID is linear with one joint
 *   rotation, center   SBS_ROTATION_ and SBS_CENTER_ of sbs.h that it is for; ANY where it takes no such option
 *   row                numbers of a row of its constants where all joints are rigid
 *   plain, far, general  the kernels of each form (sbs_form):
 *     FROM_1, FROM_2, FROM_3  one for each number of influences from that to 4, once for positions and once for
 *                      positions and normals; and that of ANY
 *     FLOAT_FROM_2, FLOAT_FROM_3  the same in float32; in float64 that of ANY alone
 *     ANY              one for any number of influences and pivots, with normals or without
 *     NONE             the form does not occur: only centers of joint sets can be far
 *   constants          ALONE: poses of it are so usual that its constants are written by code of their own; SHARED
 *
 * A kernel of its own for each number of influences pays where frames consist of it: without, whole frames of a
 * character of 13,380 vertices took 1.06 to 1.10 times as long by AVX2 (linear 1.10, spherical 1.09, weighted 1.08,
 * optimized and dual quaternions 1.06), 0.96 to 1.01 by AVX-512. Slerp of two (AVERAGE_OPTIMIZED: 1.00 to 1.04) and far
 * centers, which few groups have, have none.
 *
 * A kernel is called name_form_influences_normals_type: spherical_plain_4_normals_float32, average_far_float64.
 */
#define SBS_LINEAR_FORMULAS(FORMULA) FORMULA(LINEAR, linear, LINEAR, ANY, ANY, SBS_LINEAR_ROW, FROM_1, NONE, ANY, ALONE)
#define SBS_SPHERICAL_FORMULAS(FORMULA) \
  FORMULA(SPHERICAL, spherical, SPHERICAL, QLERP, JOINT_SET, SBS_ROTATION_ROW, FROM_2, ANY, ANY, ALONE)
#define SBS_DUAL_QUATERNION_FORMULAS(FORMULA) \
  FORMULA(DUAL_QUATERNION, dual_quaternion, DUAL_QUATERNION, ANY, ANY, SBS_ROTATION_ROW, FLOAT_FROM_2, NONE, ANY, \
          SHARED)
#define SBS_OPTIMIZED_FORMULAS(FORMULA) \
  FORMULA(OPTIMIZED, optimized, SPHERICAL, QLERP, OPTIMIZED, SBS_OPTIMIZED_ROW, FLOAT_FROM_2, NONE, ANY, ALONE)
#define SBS_WEIGHTED_FORMULAS(FORMULA) \
  FORMULA(WEIGHTED, weighted, SPHERICAL, QLERP, WEIGHTED, SBS_WEIGHTED_ROW, FLOAT_FROM_3, NONE, ANY, SHARED)
#define SBS_AVERAGE_FORMULAS(FORMULA) \
  FORMULA(AVERAGE, average, SPHERICAL, AVERAGE, JOINT_SET, SBS_ROTATION_ROW, ANY, ANY, ANY, SHARED) \
  FORMULA(AVERAGE_OPTIMIZED, average_optimized, SPHERICAL, AVERAGE, OPTIMIZED, SBS_OPTIMIZED_ROW, ANY, NONE, ANY, \
          ALONE) \
  FORMULA(AVERAGE_WEIGHTED, average_weighted, SPHERICAL, AVERAGE, WEIGHTED, SBS_WEIGHTED_ROW, ANY, NONE, ANY, SHARED)

#define SBS_EACH_FORMULA(FORMULA) \
  SBS_LINEAR_FORMULAS(FORMULA) \
  SBS_SPHERICAL_FORMULAS(FORMULA) \
  SBS_DUAL_QUATERNION_FORMULAS(FORMULA) \
  SBS_OPTIMIZED_FORMULAS(FORMULA) \
  SBS_WEIGHTED_FORMULAS(FORMULA) \
  SBS_AVERAGE_FORMULAS(FORMULA)

#endif
