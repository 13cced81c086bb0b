/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_CENTER_SAMPLES_H
#define SBS_SOLVE_CENTER_SAMPLES_H

#include <stdatomic.h>

#include "solve/add_similarities.h"
#include "solve/center_patches.h"

typedef struct sbs_sampling {
  const sbs_patches *patches;
  const sbs_pairs *pairs;
  const sbs_rows *rows;
  atomic_int given_up;                    /* not 0: cancelled; counts and samples from now on are invalid */
  sbs_similarity_batch *add_similarities; /* of the instruction set */

  double cell;     /* the side of a cell of the grid over x and y; 0: nothing is merged */
  size_t *counts;  /* (pairs) of samples; until they are counted, an upper bound */
  size_t *offsets; /* (pairs + 1) the blocks of pair i are blocks[offsets[i]] to blocks[offsets[i + 1] - 1] */
  sbs_samples *blocks;

  /* For each thread, where samples are merged. */
  size_t cell_limit; /* no pair has more cells */
  size_t slot_limit; /* a power of two */
  uint64_t *cells;   /* (threads, cell_limit) their coordinates, in the order in which they occur */
  int32_t *slots;    /* (threads, slot_limit) their numbers by hash, or -1 */
} sbs_sampling;

/*
 * Samples are made in four steps: room for the counts (sbs_sampling_new), each pair counted, room for the samples, each
 * pair filled. Different threads may count and fill different pairs. The last block of a pair is filled up with samples
 * without mass.
 *
 * If the progress function cancels, `given_up` is set.
 *
 * Errors: OUT_OF_MEMORY.
 */
sbs_status sbs_sampling_new(sbs_sampling *sampling, const sbs_patches *patches, const sbs_pairs *pairs,
                            const sbs_rows *rows, double cell, int threads, sbs_arena *arena);

void sbs_sampling_count(sbs_sampling *sampling, size_t pair, int thread);

sbs_status sbs_sampling_make_room(sbs_sampling *sampling, sbs_arena *arena);

void sbs_sampling_fill(sbs_sampling *sampling, size_t pair, int thread);

#endif
