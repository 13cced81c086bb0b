/* SPDX-License-Identifier: MIT */
/*
 * libsbs: correctives, shapes that a pose drives. Where a bent joint looks wrong by every method, a shape that
 * was sculpted in that pose is added to the mesh before it is skinned, the more, the nearer the joint is to the pose.
 *
 * They have two parts, and either can be used without the other: sbs/drivers.h finds weights of poses from skinning
 * matrices, sbs/shapes.h adds shapes with these weights.
 */
#ifndef SBS_CORRECTIVES_H
#define SBS_CORRECTIVES_H

#include <sbs/drivers.h>
#include <sbs/shapes.h>

#endif
