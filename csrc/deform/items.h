/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_ITEMS_H
#define SBS_DEFORM_ITEMS_H

#include "deform/frame.h"

/* What deforms a group of a posed frame: in the form that its constants have, or in another, if there is one. */
sbs_kernel *sbs_choose_kernel(const sbs_frame *frame, size_t group);
sbs_kernel *sbs_choose_kernel_by_form(const sbs_frame *frame, size_t group, sbs_form form);

/* Rest positions, in the layout of the stream, and normals of some blocks, in place of the skin's. */
typedef struct sbs_rest {
  const void *positions;
  size_t first_position; /* the number of the stream that they begin with */
  const void *normals;
  size_t first_block;
} sbs_rest;

/*
 * What a kernel needs for items of the skin, or parts of them (sbs_item_part), to write to the output. `rest` may be
 * NULL.
 */
sbs_kernel_args sbs_describe_items(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *items, size_t count);

/* Blocks of an item as one, `first` counted from its own first. */
sbs_item sbs_item_part(const sbs_skin *skin, const sbs_item *item, size_t first, size_t vertex_count);

#endif
