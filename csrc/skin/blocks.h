/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_BLOCKS_H
#define SBS_SKIN_BLOCKS_H

#include "skin/binding.h"

/* Arranges the influences of a skin whose sets are known in blocks. Errors: OUT_OF_MEMORY, CANCELLED. */
sbs_status sbs_arrange_influences(sbs_skin *skin, const sbs_binding *binding);

/* Packs the rest positions and normals of a description in blocks. Errors: OUT_OF_MEMORY. */
sbs_status sbs_pack_positions(sbs_skin *skin, const sbs_skin_desc *desc);
sbs_status sbs_pack_normals(sbs_skin *skin, const sbs_skin_desc *desc);

/*
 * Packs the centers of a description. Vertices whose center is their rest position are their own centers. Errors:
 * OUT_OF_MEMORY.
 */
sbs_status sbs_pack_centers(sbs_skin *skin, const sbs_skin_desc *desc);

#endif
