/* SPDX-License-Identifier: MIT */
/* Which joint each vertex belongs to, unless the caller says. */
#ifndef SBS_BLENDING_ATTACH_H
#define SBS_BLENDING_ATTACH_H

#include "blending/bones.h"
#include "sbs/mesh.h"

/* The heaviest joint among the influences of each vertex, of equal ones the lowest; -1 if it has none. */
sbs_status sbs_attach_heaviest(const sbs_influences_table *influences, const sbs_allocator *allocator,
                               int32_t *attachment);

/* The joint whose bone is nearest to each vertex, of equal ones the lowest. */
sbs_status sbs_attach_nearest(const sbs_bone *bones, size_t joint_count, const sbs_mesh_desc *mesh,
                              int32_t *attachment);

/*
 * Moves vertices around a joint from its parent to the joint, in place.
 *
 *   parents  (J)
 *   active   (J) whether a joint is blended
 *   t_min    (J) where zones begin
 *   radii    (J) of the limbs
 */
sbs_status sbs_attach_onward(const sbs_bone *bones, const int32_t *parents, size_t joint_count,
                             const unsigned char *active, const double *t_min, const double *radii,
                             const sbs_mesh_desc *mesh, const sbs_allocator *allocator, int32_t *attachment);

#endif
