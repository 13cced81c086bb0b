/* SPDX-License-Identifier: MIT */
/* Spherical blending by the spherical average of rotations (Buss & Fillmore 2001), about any centers. */
#define FORMULAS SBS_AVERAGE_FORMULAS
#define CALLED_BY_AVERAGES static SBS_CALLED
#define CALLED_BY_WEIGHTED static SBS_CALLED
#define MOVE(head, in, formula, form, v, n) \
  (sbs_formula_is_optimized(formula)  ? NAME(rotate_about_given)(head, in, formula, form, v, n) \
   : sbs_formula_is_weighted(formula) ? NAME(rotate_about_weighted)(head, in, formula, form, v, n) \
                                      : NAME(rotate)(head, in, formula, form, v, n))
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
