/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_FORMULAS_H
#define SBS_KERNELS_FORMULAS_H

#include "sbs/sbs.h"

/*
 * What a kernel needs beside the vertices: the constants of a group, in the skin's scalar type. With p the pivot,
 * c0 the centroid that the packed positions x are relative to, and M the matrix that moves p ([R|t] for rigid joints in
 * the rotation methods, else C), every method is evaluated relative to what the pivot alone would do:
 *
 *   linear     v' = M v + [sum w_i (A_i - A_p)] x + sum w_i (C_i c0 - C_p c0)
 *   spherical  v' = M v + (Q^ - I) y + e + sum w_i (c_i - c_p)          y = M v + e - c_p
 *   dual q.    v' = M v + (Q^ - I) y + the translation of sum w_i d^_i  y = A_p x
 *
 * where a spherical center is near, so that nothing is lost, it is in fewer operations
 *
 *   spherical  v' = Q (x - z) + C_p c + sum w_i (C_i c - C_p c)         c = c0 + z
 *
 *   Q^, d^_i   rotations and dual quaternions relative to the pivot's; Q is blended from the quaternions themselves
 *   c_i        C_i f + R_i z, where joint i takes the center (pose/center.h): C_i c where the joints are rigid
 *   e          R_p [sum w_i (S_i - S_p)] (v - f): zero where the joints are rigid
 *
 * with the sums over the joints that are not the pivot. M v = anchor + residual + A_p x, where the anchor is M c0
 * rounded: it is added last, so that a scene far from the origin loses no more than the rounding of the output.
 *
 * Where every vertex has a center c = c0 + z of its own, C_i c - C_p c is D_i z + e_i with D_i = A_i - A_p and e_i =
 * C_i c0 - C_p c0, which are the rows of the linear method:
 *
 *   optimized  v' = Q (x - z) + M c + sum w_i (D_i z + e_i), or where there is e by way of the pivot:
 *              v' = Q^ y + M c + sum w_i (D_i z + e_i)      y = A_p (x - z) + e, f = c
 *   weighted   v' = M v + (Q^ - I) y + sum w_i (D_i z + e_i)     y = A_p (x - z)
 *
 * The reference point of weighted centers is the vertex itself, so that they depend on nothing but its own weights.
 * Then nothing is left of the stretches but where they take the vertex, and with z turned by R_p and from the vertex on
 *
 *   weighted   v' = M v - (Q^ - I) z + sum w_i (D_i x + e_i + (R_i R_p^T - 1) z)
 *
 * and the translations of d^_i, about M v in place of the anchor, are D_i x + e_i:
 *
 *   dual q.    v' = M v + the translation of sum w_i d^_i
 */
/* Vectors and quaternions take 4 numbers, the fourth of a vector being 0; matrices are 3 columns. */
enum {
  SBS_CONSTANT_MATRIX = 0,    /* (12) A_p */
  SBS_CONSTANT_CENTER = 0,    /* (4) in its place z; spherical, plain */
  SBS_CONSTANT_RESIDUAL = 12, /* (4) M c0 - anchor */
  SBS_CONSTANT_ANCHOR = 16,   /* (4) */
  SBS_CONSTANT_SHIFT = 20,    /* (4) C_p c0 - c_p, which is A_p (c0 - c) where all is rigid; spherical */
  SBS_CONSTANT_ROTATION = 20, /* (4) in its place q_p; optimized, and spherical, plain */
  SBS_CONSTANT_HEAD = 24,     /* the size where all is rigid */
  SBS_CONSTANT_POINT = 24,    /* (4) f - c0, the fixed point of the stretches; spherical */
  SBS_CONSTANT_NORMAL = 28,   /* (12) what the pivot does to normals, where A_p does not */
  SBS_CONSTANT_GENERAL_HEAD = 40
};

/* A row of the linear method: one for each joint that is not the pivot, behind the head. */
enum {
  SBS_LINEAR_MATRIX = 0,  /* (12) A_i - A_p */
  SBS_LINEAR_OFFSET = 12, /* (4) C_i c0 - C_p c0 */
  SBS_LINEAR_ROW = 16,    /* the size where A_p moves the normals as well */
  SBS_LINEAR_NORMAL = 16, /* (12) difference to the pivot's */
  SBS_LINEAR_GENERAL_ROW = 28
};

/* A row of the rotation methods. */
enum {
  SBS_ROTATION_QUATERNION = 0, /* (4) q^_i - 1; or q_i - q_p, q_i in the hemisphere of q_p, where Q is absolute; or
                                  |log q^_i|^2 and log q^_i, for the average of two */
  SBS_ROTATION_OFFSET = 4,     /* (4) c_i - c_p, or the dual part of d^_i */
  SBS_ROTATION_TURN = 8, /* (4) u_i x the shift of the head; spherical, where the center is far or the form general */
  SBS_ROTATION_ROW = 12  /* the size where all joints are rigid */
};

/* A row of the formulas in which every vertex has a center of its own. */
enum {
  SBS_OWN_MATRIX = 4,  /* (12) D_i; behind the quaternion, as above */
  SBS_OWN_OFFSET = 16, /* (4) e_i */
  SBS_OPTIMIZED_ROW = 20,
  SBS_WEIGHTED_GRAM = 20,             /* (6) D_i^T D_i as (00, 01, 02, 11, 12, 22); general: of R_i R_p^T - 1 */
  SBS_WEIGHTED_DAMPING_OF = 26,       /* half the damping times |R_i|^2 / 3 */
  SBS_WEIGHTED_DAMPING_OF_PIVOT = 27, /* the same of the pivot */
  SBS_WEIGHTED_MOMENT = 28,           /* (4) D_i^T e_i; not where the form is general */
  SBS_WEIGHTED_ARM = 20, /* (12) in place of both, for two rigid joints: Y, where y = Y x + the shift of the head */
  SBS_WEIGHTED_ROW = 32
};

/* Behind a row of any formula but the linear one, where the form is general. */
enum {
  SBS_GENERAL_STRETCH = 0, /* (12) R_p (S_i - S_p) */
  SBS_GENERAL_TURNING = 0, /* (12) in its place R_i R_p^T - 1; weighted */
  SBS_GENERAL_DUAL = 0,    /* (12) in its place the dual parts that come of x, D_i q^_i / 2, a column each; dual q. */
  SBS_GENERAL_NORMAL = 12, /* (12) difference to the pivot's */
  SBS_GENERAL_PART = 24
};

/*
 * All formulas: F(SBS_FORMULA_ constant, name, method, rotation, center, numbers of a row where all joints are rigid).
 * The method, rotation and center of sbs.h that it is for; ANY where it takes no such option; RIGID is linear with one
 * joint. The source of a formula, such as kernels/linear.c, says which kernels are compiled for it.
 */
#define SBS_EACH_FORMULA(F) \
  F(LINEAR, linear, LINEAR, ANY, ANY, SBS_LINEAR_ROW) \
  F(SPHERICAL, spherical, SPHERICAL, QLERP, JOINT_SET, SBS_ROTATION_ROW) \
  F(DUAL_QUATERNION, dual_quaternion, DUAL_QUATERNION, ANY, ANY, SBS_ROTATION_ROW) \
  F(OPTIMIZED, optimized, SPHERICAL, QLERP, OPTIMIZED, SBS_OPTIMIZED_ROW) \
  F(WEIGHTED, weighted, SPHERICAL, QLERP, WEIGHTED, SBS_WEIGHTED_ROW) \
  F(AVERAGE, average, SPHERICAL, AVERAGE, JOINT_SET, SBS_ROTATION_ROW) \
  F(AVERAGE_OPTIMIZED, average_optimized, SPHERICAL, AVERAGE, OPTIMIZED, SBS_OPTIMIZED_ROW) \
  F(AVERAGE_WEIGHTED, average_weighted, SPHERICAL, AVERAGE, WEIGHTED, SBS_WEIGHTED_ROW)

#define SBS_FORMULA_CONSTANT(constant, ...) SBS_FORMULA_##constant,
typedef enum sbs_formula {
  SBS_EACH_FORMULA(SBS_FORMULA_CONSTANT) SBS_FORMULA_COUNT
} sbs_formula;
#undef SBS_FORMULA_CONSTANT

/* What a formula is, as in the list. */
typedef struct sbs_formula_traits {
  int method, rotation, center; /* SBS_METHOD_, SBS_ROTATION_ and SBS_CENTER_; -1 for ANY */
  size_t row;
} sbs_formula_traits;

enum {
  SBS_ROTATION_ANY = -1,
  SBS_CENTER_ANY = -1
};
#define SBS_FORMULA_TRAITS(constant, name, method, rotation, center, row) \
  {SBS_METHOD_##method, SBS_ROTATION_##rotation, SBS_CENTER_##center, row},
static const sbs_formula_traits sbs_traits[SBS_FORMULA_COUNT] = {SBS_EACH_FORMULA(SBS_FORMULA_TRAITS)};
#undef SBS_FORMULA_TRAITS

static inline int sbs_formula_is_average(sbs_formula formula) {
  return sbs_traits[formula].rotation == SBS_ROTATION_AVERAGE;
}

static inline int sbs_formula_is_optimized(sbs_formula formula) {
  return sbs_traits[formula].center == SBS_CENTER_OPTIMIZED;
}

static inline int sbs_formula_is_weighted(sbs_formula formula) {
  return sbs_traits[formula].center == SBS_CENTER_WEIGHTED;
}

/* Whether joint sets have centers. */
static inline int sbs_formula_has_set_centers(sbs_formula formula) {
  return sbs_traits[formula].center == SBS_CENTER_JOINT_SET;
}

/* Whether Q is blended from the quaternions q_i themselves: centers are near, so that it loses nothing. */
static inline int sbs_formula_is_absolute(sbs_formula formula) {
  return sbs_formula_is_optimized(formula) && !sbs_formula_is_average(formula);
}

/* Numbers of a row where all joints are rigid. */
static inline size_t sbs_formula_row(sbs_formula formula) {
  return sbs_traits[formula].row;
}

/* The same where there is room for a general form. */
static inline size_t sbs_formula_general_row(sbs_formula formula) {
  return formula == SBS_FORMULA_LINEAR ? SBS_LINEAR_GENERAL_ROW : sbs_formula_row(formula) + SBS_GENERAL_PART;
}

/*
 * How a formula is evaluated, by group:
 *
 *   plain    the joints are rigid, and move normals as they move points; of the spherical formula, with a center that
 *            is near
 *   far      so are they, but the center is far away; of averages, along a common axis of joints that turn a lot
 *            against each other. Then in u x y, y = A_p x + A_p (c0 - c), float32 would lose more than it may: the rows
 *            bring u_i x A_p (c0 - c).
 *   general  joints that are not rigid, or normals that have a matrix of their own
 *   in part  no form of a group, but of its kernel: plain, and blended by amounts with what the plain linear formula
 *            makes of the same vertices
 */
typedef enum sbs_form {
  SBS_FORM_PLAIN,
  SBS_FORM_FAR,
  SBS_FORM_GENERAL,
  SBS_FORM_IN_PART,
  SBS_FORM_COUNT
} sbs_form;

/* The formula of a method and its options. */
sbs_formula sbs_choose_formula(const sbs_deform_options *options);

#endif
