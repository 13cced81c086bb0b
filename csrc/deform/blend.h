/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_BLEND_H
#define SBS_DEFORM_BLEND_H

#include "deform/frame.h"

/*
 * Deforms items by a frame and its base, both posed, and blends them by options->amount. Blocks that are all of one
 * method are deformed by that method alone.
 */
void sbs_blend_items(const sbs_frame *frame, const sbs_item *item, const sbs_item *end);

#endif
