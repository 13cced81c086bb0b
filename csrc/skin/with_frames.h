/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_WITH_FRAMES_H
#define SBS_SKIN_WITH_FRAMES_H

#include "sbs/sbs.h"

/* A description with the joints of the skeleton and then the frames of its twist. */
typedef struct sbs_desc_with_frames {
  sbs_skin_desc desc; /* influences are as given: sbs_influences_read spreads them */
  double *positions;
  int32_t *parents;
} sbs_desc_with_frames;

/*
 * Adds the frames to a description whose form was checked; without a twist it stays as it is. To be released even where
 * it fails.
 *
 * Errors: NOT_FINITE, TOO_LARGE, PARENT, OUT_OF_MEMORY.
 */
sbs_status sbs_add_frames(const sbs_skin_desc *desc, const sbs_allocator *allocator, sbs_desc_with_frames *with,
                          sbs_fault *fault);

void sbs_release_frames(const sbs_allocator *allocator, const sbs_desc_with_frames *with);

#endif
