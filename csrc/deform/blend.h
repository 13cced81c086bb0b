/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_BLEND_H
#define SBS_DEFORM_BLEND_H

#include "deform/items.h"

/*
 * Deforms items by a frame and its base, both posed, and blends them by options->amount. Groups that need one of the
 * methods are deformed by that one alone.
 */
void sbs_blend_items(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *item, const sbs_item *end);

#endif
