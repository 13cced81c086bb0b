/* SPDX-License-Identifier: MIT */
/* Where on the bones t goes from 0 to 1. */
#ifndef SBS_BLENDING_ZONES_H
#define SBS_BLENDING_ZONES_H

#include "blending/bones.h"
#include "sbs/mesh.h"

/*
 * The radius of the limb at each joint, (J): the median distance from the bone's line of the vertices that are attached
 * to the joint or its parent and lie between the middles of their bones. A quarter of the bone if there are none, or if
 * the median is 0.
 */
sbs_status sbs_zones_radii(const sbs_blending_desc *desc, const sbs_bone *bones, const sbs_mesh_desc *mesh,
                           const int32_t *attachment, const sbs_allocator *allocator, double *radii);

/* The ends of the zones, (J) each: the given ones, or by the radii. They may be the arrays of the description. */
void sbs_zones_ends(const sbs_blending_desc *desc, const sbs_bone *bones, const double *radii, double *t_min,
                    double *t_max);

#endif
