/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_SIGNS_H
#define SBS_SKIN_SIGNS_H

#include "skin/skin.h"

/*
 * Finds the pairs of a skin whose sets, vertices and heaviest joints are known. The trees are of the pairs that occur
 * at most vertices. Errors: OUT_OF_MEMORY, TOO_LARGE.
 */
sbs_status sbs_find_signs(sbs_skin *skin);

#endif
