/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_BLEND_H
#define SBS_DEFORM_BLEND_H

#include "deform/frame.h"

/* What a map of amounts asks for, over all vertices. */
typedef struct sbs_amounts_use {
  int base;   /* whether some amount is below 1 */
  int method; /* whether some amount is above 0 */
} sbs_amounts_use;

/* Errors: OPTION, NOT_FINITE. */
sbs_status sbs_check_amounts(const sbs_deform_options *options, size_t vertex_count, sbs_amounts_use *use,
                             sbs_fault *fault);

/*
 * Deforms an item by a frame and its base, both posed, and blends them by options->amount. Blocks that are all of one
 * method are deformed by that method alone.
 */
void sbs_blend_item(const sbs_frame *frame, const sbs_item *item);

#endif
