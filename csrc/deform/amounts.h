/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_AMOUNTS_H
#define SBS_DEFORM_AMOUNTS_H

#include <stdatomic.h>

#include "skin/skin.h"

/* What there is among amounts, as bits; and which of those ask for a method. */
enum {
  SBS_AMOUNTS_0 = 1,
  SBS_AMOUNTS_1 = 2,
  SBS_AMOUNTS_BETWEEN = 4,
  SBS_AMOUNTS_OF_BASE = SBS_AMOUNTS_0 | SBS_AMOUNTS_BETWEEN,
  SBS_AMOUNTS_OF_METHOD = SBS_AMOUNTS_1 | SBS_AMOUNTS_BETWEEN
};

/* Consecutive vertices whose amounts are looked at together first: where all are 0, or 1, as in most of most maps. */
#define SBS_AMOUNTS_CHUNK 64

static inline size_t sbs_amounts_chunk_count(const sbs_skin *skin) {
  return (skin->vertex_count + SBS_AMOUNTS_CHUNK - 1) / SBS_AMOUNTS_CHUNK;
}

/* What a map of amounts asks for: found once in a call, then the same for all its frames. */
typedef struct sbs_amounts_use {
  atomic_uchar (*sets)[2];  /* (set_count) whether a vertex of a joint set uses the base, and the method */
  unsigned char *items;     /* (item_count) SBS_AMOUNTS_ bits */
  unsigned char *blocks;    /* (block_count) the same; only of items with more than one bit */
  int32_t *solve_orders[2]; /* of skin->solve_order, the sets that use the base, and those that use the method; only
                               where that has centers of joint sets */
  size_t solve_counts[2];
  int32_t *uniform_since; /* (chunk_count) from which chunk on, up to this one, amounts are all 0, all 1, or all
                             between: three times its number, plus 0, 1 or 2; INT32_MAX where those of this are not */
  unsigned all;           /* the bits of the whole mesh */
} sbs_amounts_use;

/* Checks the amounts of vertices [begin, end): all finite and in [0, 1]. */
sbs_status sbs_check_amounts(const sbs_deform_options *options, size_t begin, size_t end, sbs_fault *fault);

/*
 * Checks the amounts, which are in the options of the method, and fills `use`, whose arrays are there. By up to so many
 * threads.
 *
 *   options  of the base and of the method
 *
 * Errors: OPTION, NOT_FINITE.
 */
sbs_status sbs_find_amounts_use(const sbs_skin *skin, const sbs_deform_options *const options[2], int threads,
                                sbs_amounts_use *use, sbs_fault *fault);

#endif
