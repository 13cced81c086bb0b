/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_PLAN_H
#define SBS_DEFORM_PLAN_H

#include "deform/frame.h"

/* How the frames of a call are worked on: by which threads, and in which memory. */
typedef struct sbs_plan {
  sbs_frame common; /* shared by the frames, with the positions of the first */
  sbs_pose poses;   /* of all frames */
  size_t frame_count;
  int threads;
  int frames_at_once;   /* each by one thread with a scratch of its own; 1: one after the other, by all threads */
  int32_t *solved_sets; /* of the skin's solve_order, the sets about whose centers a vertex turns */
  size_t solved_count;
  char *scratch; /* (frames_at_once, scratch_size) */
  size_t scratch_size;
  void *owned; /* memory to be released, or NULL: the caller's is used */
} sbs_plan;

/*
 * Plans a call, of which all but the amounts is checked. `common`, `poses` and `frame_count` are filled, all else is
 * zero. Release the plan even where this fails.
 *
 * Errors: OPTION, NOT_FINITE, SCRATCH, OUT_OF_MEMORY.
 */
sbs_status sbs_make_plan(sbs_plan *plan, sbs_fault *fault);
void sbs_release_plan(sbs_plan *plan);

/* Frame `number`, in the scratch of a worker. */
void sbs_make_frame(const sbs_plan *plan, size_t number, int worker, sbs_frame *frame);

#endif
