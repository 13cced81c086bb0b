/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_INVERSE_H
#define SBS_DEFORM_INVERSE_H

#include "deform/items.h"

/*
 * Undoes the deformation of an item by a frame that is posed, as its base is if it has one: from frame->posed to rest
 * positions. Returns how many vertices have no inverse.
 */
size_t sbs_invert_item(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *item);

#endif
