/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_AMOUNTS_H
#define SBS_DEFORM_AMOUNTS_H

#include <stdatomic.h>

#include "skin/skin.h"

/* Which of two methods amounts ask for, as bits. */
enum {
  SBS_USES_BASE = 1,   /* some amount is below 1 */
  SBS_USES_METHOD = 2, /* some amount is above 0 */
  SBS_USES_BOTH = SBS_USES_BASE | SBS_USES_METHOD
};

/* Consecutive vertices whose amounts are looked at together first: where all are 0, or 1, as in most of most maps. */
#define SBS_AMOUNTS_CHUNK 64

static inline size_t sbs_amounts_chunk_count(const sbs_skin *skin) {
  return (skin->vertex_count + SBS_AMOUNTS_CHUNK - 1) / SBS_AMOUNTS_CHUNK;
}

/* What a map of amounts asks for: found once in a call, then the same for all its frames. */
typedef struct sbs_amounts_use {
  atomic_uchar (*sets)[2];  /* (set_count) whether a vertex of a joint set uses the base, and the method */
  unsigned char *items;     /* (item_count) SBS_USES_ bits */
  unsigned char *blocks;    /* (block_count) only of items that use both */
  int32_t *solve_orders[2]; /* of skin->solve_order, the sets that use the base, and those that use the method; only
                               where that has centers of joint sets */
  size_t solve_counts[2];
  int32_t *uniform_since; /* (chunk_count) from which chunk on, up to this one, amounts are all 0, or all 1, which is
                             twice its number, plus 1 for the latter; INT32_MAX where those of this chunk are not */
  unsigned all;           /* what the whole mesh uses */
} sbs_amounts_use;

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
