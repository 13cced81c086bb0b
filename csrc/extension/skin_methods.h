/* SPDX-License-Identifier: MIT */
/* The methods of _core.Skin, each in the source of its name. */
#ifndef SBS_EXTENSION_SKIN_METHODS_H
#define SBS_EXTENSION_SKIN_METHODS_H

#include "function.h"
#include "skin_type.h"

/* skin_deform.c */
extern const core_function core_deform, core_deform_many, core_rotation_centers;

/* skin_inverse.c */
extern const core_function core_inverse_deform;

/* skin_gradient.c */
extern const core_function core_deform_vjp, core_weight_jacobian;

/* skin_palette.c */
extern const core_function core_bound_influences, core_pose_palette;

/* skin_update.c */
extern const core_function core_update_skin;

/* Rest positions of one call in place of the skin's. */
typedef struct core_positions {
  const void *rest;   /* an argument of the call; NULL: the skin's own */
  sbs_skin_desc desc; /* the skin as it is with them */
} core_positions;

/* Part of `prepare`: describes the skin. Raises and returns 0 without memory. */
int core_prepare_positions(void *call, core_positions *given);

/* A skin with these positions, to be freed; moved: NULL for the skin's own. */
sbs_status core_with_positions(const core_skin *self, const core_positions *given, sbs_skin **moved, sbs_fault *fault);

/* `begin` of these: V and J are those of the skin, and so is the type. */
void core_begin_with_skin(void *call);

#endif
