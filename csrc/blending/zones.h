/* SPDX-License-Identifier: MIT */
/* Where on the bones t goes from 0 to 1. */
#ifndef SBS_BLENDING_ZONES_H
#define SBS_BLENDING_ZONES_H

#include "blending/bones.h"
#include "sbs/mesh.h"

/*
 * How thick the limb is at each joint, (J): the median distance from the line of its bone of what is attached to the
 * joint or its parent, as far as the middles of their bones; a quarter of the bone where that is nothing, or 0.
 */
sbs_status sbs_zones_radii(const sbs_blending_desc *desc, const sbs_bone *bones, const sbs_mesh_desc *mesh,
                           const int32_t *attachment, const sbs_allocator *allocator, double *radii);

/* The ends of the zones, (J) each: given ones, or those that go by the radii. They may be those of the description. */
void sbs_zones_ends(const sbs_blending_desc *desc, const sbs_bone *bones, const double *radii, double *t_min,
                    double *t_max);

#endif
