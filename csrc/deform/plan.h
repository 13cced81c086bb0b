/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_PLAN_H
#define SBS_DEFORM_PLAN_H

#include "deform/frame.h"
#include "deform/options.h"

/* How the frames of a call are worked on: by which methods, which threads, and in which memory. */
typedef struct sbs_plan {
  sbs_frame common;               /* what the frames share, and the first matrices and positions of all */
  const sbs_deform_options *base; /* the method that the frames are blended with, or NULL */
  sbs_amounts_use use;            /* where there is one */
  size_t frame_count;
  int threads;
  int frames_at_once; /* each by one thread with a scratch of its own; 1: one after the other, by all threads */
  char *scratch;      /* (frames_at_once, scratch_size) */
  size_t scratch_size;
  void *owned; /* memory to be released, or NULL: the caller's is used */
} sbs_plan;

/*
 * Plans a call, of which all but the amounts is checked. `common` and `frame_count` are filled, all else is zero. A
 * method that no amount asks for is left out. Release the plan even where this fails.
 *
 * Errors: OPTION, NOT_FINITE, SCRATCH, OUT_OF_MEMORY.
 */
sbs_status sbs_make_plan(sbs_plan *plan, const sbs_methods *methods, sbs_fault *fault);
void sbs_release_plan(sbs_plan *plan);

/* Frame `number`, and after it its base, if there is one; in the scratch of a worker. */
void sbs_make_frame(const sbs_plan *plan, size_t number, int worker, sbs_frame frames[2]);

#endif
