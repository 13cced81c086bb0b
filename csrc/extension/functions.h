/* SPDX-License-Identifier: MIT */
/* The types of sbs._core, and its functions that are no methods, by their sources. */
#ifndef SBS_EXTENSION_FUNCTIONS_H
#define SBS_EXTENSION_FUNCTIONS_H

#include "function.h"

/* brush_type.c and others */
extern const core_class core_brush_class, core_drivers_class, core_flesh_class, core_muscles_class, core_shapes_class,
    core_skin_class, core_twist_class;

/* blending_functions.c */
extern const core_function core_bone_tails, core_blend_bones;

/* capsule_functions.c */
extern const core_function core_check_capsules, core_capsule_weights, core_capsule_weights_dense, core_count_outside;

/* centers_functions.c */
extern const core_function core_optimized_centers;

/* fit_functions.c */
extern const core_function core_check_fit, core_fit_weights, core_fit_centers, core_fit_matrices;

/* heat_functions.c */
extern const core_function core_heat_weights;

/* mesh_functions.c */
extern const core_function core_weld, core_adjacency, core_islands, core_curvature, core_subdivide;

/* owned.c */
extern const core_function core_owned;

/* relaxation_functions.c */
extern const core_function core_relax;

/* skin_type.c */
extern const core_function core_check_skin;

/* surface_functions.c */
extern const core_function core_nearest_on_surface, core_segments_blocked, core_triangles_crossing;

/* weights_tools.c */
extern const core_function core_tidy_weights, core_clean_weights, core_smooth_weights, core_diffuse_weights;

#endif
