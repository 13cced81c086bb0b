/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_CONSTANTS_H
#define SBS_KERNELS_CONSTANTS_H

#include "kernels/formulas.h"
#include "pose/center.h"
#include "pose/joint.h"
#include "skin/skin.h"

/*
 * How the constants of a pose are laid out, the same for all pivots of all groups: a head, then rows
 * (kernels/formulas.h).
 */
typedef struct sbs_constants_layout {
  sbs_formula formula;
  int linear;  /* whether C itself is blended, as by SBS_METHOD_LINEAR and RIGID */
  int general; /* whether there is room for joints that are not rigid, and for normals that move by another matrix */
  size_t head_size; /* in numbers of the skin's type */
  size_t row_size;
} sbs_constants_layout;

/* The bits of sbs_joint kinds that ask for a general layout, and for a general kernel in the joint's groups. */
static inline unsigned sbs_general_kinds(sbs_method method, int with_normals) {
  if (method == SBS_METHOD_SPHERICAL || method == SBS_METHOD_DUAL_QUATERNION) return SBS_JOINT_NONRIGID;
  return with_normals ? SBS_JOINT_SKEWED : 0;
}

static inline sbs_constants_layout sbs_lay_out_constants(sbs_formula formula, int general) {
  return (sbs_constants_layout){
      .formula = formula,
      .linear = formula == SBS_FORMULA_LINEAR,
      .general = general,
      .head_size = general ? SBS_CONSTANT_GENERAL_HEAD : SBS_CONSTANT_HEAD,
      .row_size = general ? sbs_formula_general_row(formula) : sbs_formula_row(formula),
  };
}

/* Whether a group is moved by the linear formula: its rows are of that, with the layout's size. */
static inline int sbs_is_linear(const sbs_constants_layout *layout, const sbs_group *group) {
  return layout->linear || (group->linear && sbs_formula_is_optimized(layout->formula));
}

/* Where the head of a pivot starts; its rows follow. */
static inline size_t sbs_constants_offset(const sbs_pivot *pivots, size_t pivot, size_t head_size, size_t row_size) {
  return pivot * head_size + pivots[pivot].first_row * row_size;
}

/* One for every joint of every group. */
static inline size_t sbs_slots_count(const sbs_skin *skin) {
  const size_t last = skin->group_count - 1;
  return skin->pivots[last].first_row + (size_t)skin->groups[last].others + skin->group_count;
}

/* Numbers that the constants of any layout take: rows of weighted centers are the largest. */
static inline size_t sbs_constants_capacity(const sbs_skin *skin) {
  return skin->pivot_count * SBS_CONSTANT_GENERAL_HEAD +
         skin->row_count * sbs_formula_general_row(SBS_FORMULA_AVERAGE_WEIGHTED);
}

/* How a group is evaluated in a pose. */
typedef struct sbs_way {
  unsigned char form;   /* a sbs_form */
  unsigned char obtuse; /* whether quaternions that are to be averaged are more than 90 degrees apart */
  /* Whether each vertex is evaluated with its own heaviest joint as the pivot. If not, the constants of the group's
     first pivot alone are there. */
  unsigned char own_pivots;
  unsigned char linear;  /* whether it is moved by the linear formula */
  unsigned char blends;  /* whether its kernel does for vertices that get both methods (deform/pose.c) */
  unsigned char variant; /* which kernel of the formula and form: influences - 1, or SBS_KERNEL_INFLUENCES */
} sbs_way;

/* Up to this many influences have kernels of their own; beyond, and by several pivots, one kernel does any number. */
#define SBS_KERNEL_INFLUENCES 4

static inline int sbs_have_same_kernel(sbs_way a, sbs_way b) {
  return a.form == b.form && a.linear == b.linear && a.variant == b.variant;
}

typedef struct sbs_constants_args {
  const sbs_skin *skin;
  sbs_method method;
  unsigned general_kinds;
  sbs_constants_layout layout;
  const sbs_joint *joints;
  const unsigned char *kinds;
  const sbs_stretch *stretches; /* read where layout.general */
  const sbs_vec4 *centers;      /* (set_count) z (pose/center.h); read by formulas with one for a joint set */
  double damping;               /* of weighted centers */
  sbs_vec4 (*slots)[3];         /* (sbs_slots_count) workspace */
  void *constants;              /* (sbs_constants_capacity) of the skin's type */
  void *anchors; /* or NULL; (group_count, 4) of the skin's type: receives the anchors of the first pivots, which those
                    of the constants then are relative to */
  sbs_way *ways; /* (group_count) */
} sbs_constants_args;

/*
 * Writes the constants of groups [begin, end): kernels/constants.inc, for each instruction set and scalar type.
 */
typedef void sbs_constants_batch(const sbs_constants_args *args, size_t begin, size_t end);

#endif
