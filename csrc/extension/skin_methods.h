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

/* `begin` of these: V and J are those of the skin, and so is the type. */
void core_begin_with_skin(void *call);

#endif
