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
 *     INLINED          one for any number of influences and pivots, with normals or without; in float32 the formula is
 *                      inlined in the loop. So it is for any number beside FROM_1 and the like
 *     ANY              the same, but the loop calls the formula, by one function for all forms; it is the same loop for
 *                      all formulas (kernels/called.c)
 *     NONE             the form does not occur: only centers of joint sets can be far
 *   in_part            the same of the kernels that blend the formula with the linear one (SBS_FORM_IN_PART); NONE:
 *                      both are evaluated one after the other, and then blended
 *   constants          ALONE: poses of it are so usual that its constants are written by code of their own;
 *                      FLOAT_ALONE: in float32 alone; SHARED
 *
 * A kernel of its own for each number of influences pays where frames consist of it: without, whole frames of
 * characters took 1.06 to 1.10 times as long by AVX2 (13,380 vertices: linear 1.10, spherical 1.09, weighted 1.08,
 * optimized and dual quaternions 1.06), and by AVX-512 1.02 to 1.16 times (linear 1.10, spherical 1.07, weighted 1.11,
 * optimized 1.12, dual quaternions 1.06). In float64, by calls, linear and spherical frames took 1.5 to 2.0 times as
 * long. One kernel for positions with normals and without, in place of two, took 1.02 times by AVX2 and 1.06 by
 * AVX-512. It pays for far centers, too, which up to a quarter of a character's blocks have (rat: 0.86 of the time).
 * Slerp of two (AVERAGE_OPTIMIZED: 1.00 to 1.04) has none. Averages are inlined as frames would take 1.05 to 1.2 times
 * as long by calls. Their iteration is one function: others for three and for four quaternions gained 0 to 3 %.
 * In part, kernels for each number made frames 1.05 times as fast for positions, and with normals 1.08 times
 * (spherical) and 1.15 times (optimized).
 * Constants that are SHARED cost frames in float64 up to 1.15 times (linear) and 1.08 times (spherical),
 * AVERAGE_OPTIMIZED 1.03 times.
 *
 * A kernel is called name_form_influences_normals_type: spherical_plain_4_normals_float32, average_far_float64.
 */
#define SBS_LINEAR_FORMULAS(FORMULA) \
  FORMULA(LINEAR, linear, LINEAR, ANY, ANY, SBS_LINEAR_ROW, FROM_1, NONE, ANY, NONE, ALONE)
#define SBS_SPHERICAL_FORMULAS(FORMULA) \
  FORMULA(SPHERICAL, spherical, SPHERICAL, QLERP, JOINT_SET, SBS_ROTATION_ROW, FROM_2, FLOAT_FROM_3, ANY, INLINED, \
          ALONE)
#define SBS_DUAL_QUATERNION_FORMULAS(FORMULA) \
  FORMULA(DUAL_QUATERNION, dual_quaternion, DUAL_QUATERNION, ANY, ANY, SBS_ROTATION_ROW, FLOAT_FROM_2, NONE, ANY, \
          NONE, SHARED)
#define SBS_OPTIMIZED_FORMULAS(FORMULA) \
  FORMULA(OPTIMIZED, optimized, SPHERICAL, QLERP, OPTIMIZED, SBS_OPTIMIZED_ROW, FLOAT_FROM_2, NONE, ANY, FLOAT_FROM_2, \
          FLOAT_ALONE)
#define SBS_WEIGHTED_FORMULAS(FORMULA) \
  FORMULA(WEIGHTED, weighted, SPHERICAL, QLERP, WEIGHTED, SBS_WEIGHTED_ROW, FLOAT_FROM_3, NONE, ANY, INLINED, SHARED)
#define SBS_AVERAGE_FORMULAS(FORMULA) \
  FORMULA(AVERAGE, average, SPHERICAL, AVERAGE, JOINT_SET, SBS_ROTATION_ROW, INLINED, ANY, ANY, NONE, SHARED)
#define SBS_AVERAGE_OPTIMIZED_FORMULAS(FORMULA) \
  FORMULA(AVERAGE_OPTIMIZED, average_optimized, SPHERICAL, AVERAGE, OPTIMIZED, SBS_OPTIMIZED_ROW, INLINED, NONE, ANY, \
          NONE, SHARED)
#define SBS_AVERAGE_WEIGHTED_FORMULAS(FORMULA) \
  FORMULA(AVERAGE_WEIGHTED, average_weighted, SPHERICAL, AVERAGE, WEIGHTED, SBS_WEIGHTED_ROW, INLINED, NONE, ANY, \
          NONE, SHARED)

#define SBS_EACH_FORMULA(FORMULA) \
  SBS_LINEAR_FORMULAS(FORMULA) \
  SBS_SPHERICAL_FORMULAS(FORMULA) \
  SBS_DUAL_QUATERNION_FORMULAS(FORMULA) \
  SBS_OPTIMIZED_FORMULAS(FORMULA) \
  SBS_WEIGHTED_FORMULAS(FORMULA) \
  SBS_AVERAGE_FORMULAS(FORMULA) \
  SBS_AVERAGE_OPTIMIZED_FORMULAS(FORMULA) \
  SBS_AVERAGE_WEIGHTED_FORMULAS(FORMULA)

#endif
