/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_PACK_H
#define SBS_SKIN_PACK_H

#include "skin/skin.h"

/* A skin of the same mesh whose vertices had the same influences, but for some. */
typedef struct sbs_pack_previous {
  const sbs_skin *skin;
  const unsigned char *changed; /* (vertex_count) 1: the vertex has other influences now, else 0 */
  const unsigned char
      *moved_sets; /* (set_count of the new skin) 1: the centroid is not what it was, or the set is new */
} sbs_pack_previous;

/* Packs the positions anew, in the items as they are: those of desc, and the centroids, have changed. */
void sbs_pack_positions(sbs_skin *skin, const sbs_skin_desc *desc);

/*
 * Packs vertices in blocks: fills items, vertices, stream and normals of a skin whose sets and groups are known.
 *
 *   group_of_vertex  (vertex_count) the number of its group
 *   heaviest         (vertex_count) its heaviest joint, as an index within its set
 *   previous         or NULL; what is the same there is copied: tiles without a changed vertex as they are
 */
sbs_status sbs_pack(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *group_of_vertex, const int32_t *heaviest,
                    const sbs_pack_previous *previous);

#endif
