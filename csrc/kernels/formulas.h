/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_FORMULAS_H
#define SBS_KERNELS_FORMULAS_H

#include "sbs/sbs.h"

/*
 * THE FORMULAS, AS THE KERNELS HAVE THEM
 *
 * Symbols, of one group of vertices:
 *
 *   c0         the centroid of its joint set; kernels have positions x = v - c0
 *   p          the pivot, one of the joints
 *   A_i, t_i   C_i = [A_i | t_i], the skinning matrix of joint i. In the rotation methods A_i is R_i where the joint is
 *              rigid, else A_i = R_i S_i
 *   q_i        the quaternion of R_i
 *   c, z       the rotation center, c = c0 + z
 *
 * Far centers, and scenes far from the origin, would cost float32 its last digits in the formulas as printed. So each
 * is computed as what the pivot alone does to the vertex, C_p v, and how much the other joints change of it. Sums below
 * are over the joints that are not the pivot, and Q^ and d^_i are rotations and dual quaternions relative to the
 * pivot's: q^_i = q_i q_p*. With D_i = A_i - A_p and e_i = C_i c0 - C_p c0,
 *
 *   linear           v' = C_p v + sum w_i (D_i x + e_i)
 *   spherical        v' = C_p v + (Q^ - I) y + sum w_i (C_i c - C_p c)         y = A_p (x - z)
 *   dual quaternion  v' = C_p v + (Q^ - I) y + the translation of sum w_i d^_i    y = A_p x
 *   weighted         v' = C_p v + (Q^ - I) y + sum w_i (D_i z + e_i)           y = A_p (x - z), z of the vertex
 *
 * Where centers are near, nothing is lost by the formula itself, which takes fewer operations:
 *
 *   spherical, near  v' = Q (x - z) + C_p c + sum w_i (C_i c - C_p c)
 *   optimized        v' = Q (x - z) + C_p c + sum w_i (D_i z + e_i)            z of the vertex
 *
 * C_p v itself is computed as anchor + residual + A_p x, where the anchor is C_p c0 rounded to the skin's type, and is
 * added last.
 *
 * Where a joint is not rigid, f is the fixed point of the stretches (pose/center.h):
 *
 *   spherical        C_i c becomes C_i f + R_i z, and e = R_p [sum w_i (S_i - S_p)] (v - f) is added to v' and to y
 *   optimized        v' = Q^ y + C_p c + sum w_i (D_i z + e_i)                 y = A_p (x - z) + e, f = c
 *   weighted         f is the vertex: v' = C_p v - (Q^ - I) z + sum w_i (D_i x + e_i + (R_i R_p^T - I) z), where z is
 *                    from the vertex on and turned by R_p
 *   dual quaternion  about the vertex: v' = C_p v + the translation of sum w_i d^_i, that of d^_i being D_i x + e_i
 *
 * THE CONSTANTS OF A GROUP
 *
 * They are in the skin's type: a head, then a row for each joint that is not the pivot. Vectors and quaternions take 4
 * numbers, the fourth of a vector being 0; matrices are 3 columns. The numbers in parentheses are how many.
 */
enum {
  SBS_CONSTANT_MATRIX = 0,    /* (12) A_p */
  SBS_CONSTANT_RESIDUAL = 12, /* (4) C_p c0 - anchor; with a near center C_p c - anchor */
  SBS_CONSTANT_ANCHOR = 16,   /* (4) */
  SBS_CONSTANT_SHIFT = 20,    /* (4) -A_p z: C_p c0 - C_p c. Spherical, and average; weighted: y - Y x, of two joints */
  SBS_CONSTANT_HEAD = 24,     /* the size where all joints are rigid */
  SBS_CONSTANT_POINT = 24,    /* (4) f - c0; spherical */
  SBS_CONSTANT_NORMAL = 28,   /* (12) what the pivot does to normals */
  SBS_CONSTANT_GENERAL_HEAD = 40,

  /* Two more, in the same places, of formulas that blend the q_i themselves. */
  SBS_CONSTANT_CENTER = SBS_CONSTANT_MATRIX, /* (4) z; with a near center, which takes no A_p */
  SBS_CONSTANT_ROTATION = SBS_CONSTANT_SHIFT /* (4) q_p; with a near center, and optimized */
};

/* A row of the linear formula. */
enum {
  SBS_LINEAR_MATRIX = 0,  /* (12) D_i */
  SBS_LINEAR_OFFSET = 12, /* (4) e_i */
  SBS_LINEAR_ROW = 16,    /* the size where A_i moves normals as well */
  SBS_LINEAR_NORMAL = 16, /* (12) what the joint does to normals, less what the pivot does */
  SBS_LINEAR_GENERAL_ROW = 28
};

/* A row of the formulas with one center for all vertices, and of dual quaternions. */
enum {
  SBS_ROTATION_QUATERNION = 0, /* (4) q^_i - 1; with a near center q_i - q_p; for the average of two |log q^_i|^2 and
                                  log q^_i */
  SBS_ROTATION_OFFSET = 4,     /* (4) C_i c - C_p c; or the dual part of d^_i */
  SBS_ROTATION_TURN = 8, /* (4) u_i x the shift of the head, u_i the vector part of q^_i; where the center is far */
  SBS_ROTATION_ROW = 12
};

/* A row of the formulas in which every vertex has a center of its own. The quaternion is as above. */
enum {
  SBS_OWN_MATRIX = 4,  /* (12) D_i */
  SBS_OWN_OFFSET = 16, /* (4) e_i */
  SBS_OPTIMIZED_ROW = 20,

  SBS_WEIGHTED_GRAM = 20,         /* (6) D_i^T D_i as (00, 01, 02, 11, 12, 22); general: of R_i R_p^T - I */
  SBS_WEIGHTED_HALF_DAMPING = 26, /* (2) and 0 */
  SBS_WEIGHTED_MOMENT = 28,       /* (4) D_i^T e_i; general: nothing */
  SBS_WEIGHTED_ROW = 32,

  /*
   * Of two rigid joints, whose center moves by f D_i x + e' further by the joint than by the pivot. The fourth numbers
   * of D_i are e_i, the offset is e'.
   */
  SBS_WEIGHTED_DAMPED = SBS_OWN_OFFSET + 3, /* f, the share of damping: 0 but for rounding, if the joint turns */
  SBS_WEIGHTED_ARM = SBS_WEIGHTED_GRAM      /* (12) Y, where y = Y x + the shift of the head */
};

/* Behind a row of any formula but the linear one, where there is a joint that is not rigid. */
enum {
  SBS_GENERAL_STRETCH = 0, /* (12) R_p (S_i - S_p); spherical, optimized, and their averages */
  SBS_GENERAL_TURNING = 0, /* (12) R_i R_p^T - I; weighted */
  SBS_GENERAL_DUAL = 0,    /* (12) the dual parts that x adds to d^_i, D_i q^_i / 2, a column each; dual quaternions */
  SBS_GENERAL_NORMAL = 12, /* (12) what the joint does to normals, less what the pivot does */
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

/* Whether vertices have centers of their own, about which the formula takes the linear one in part as well. */
static inline int sbs_formula_has_own_centers(sbs_formula formula) {
  return sbs_formula_is_optimized(formula) || sbs_formula_is_weighted(formula);
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
 * How a formula is evaluated for a group:
 *
 *   plain    all joints are rigid, and move normals as they move points. The center of a spherical group is near
 *   far      the same, but the center is so far away that float32 would lose more than it may in u x y, where y has
 *            the shift of the head: the rows have u_i x the shift, computed in double. Of averages only where the
 *            joints also turn a lot against each other
 *   general  a joint is not rigid, or moves normals by a matrix of their own
 *   in part  not a form of a group, but of a kernel: plain, and blended by amounts with the plain linear formula. Of
 *            formulas in which vertices have centers of their own: v' = the linear v' + amount (Q - M) (v - c), so that
 *            the center moves towards the vertex, c + (1 - amount) (v - c), and nothing else changes
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
