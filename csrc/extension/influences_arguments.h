/* SPDX-License-Identifier: MIT */
/* Influences and locked joints as arguments, for the tools that change weights. */
#ifndef SBS_EXTENSION_INFLUENCES_ARGUMENTS_H
#define SBS_EXTENSION_INFLUENCES_ARGUMENTS_H

#include "arguments.h"

#include <sbs/influences.h>

/*
 * Makes a mask (joint_count) of joints that are given by their numbers, to be freed by PyMem_Free; NULL where there is
 * no array. Raises and returns 0 where a joint is out of range.
 */
int core_new_mask(const core_array *locked, size_t joint_count, unsigned char **mask);

typedef struct core_influences {
  core_array joint_indices;
  core_array joint_weights;
  core_array locked; /* joints, or None */
  core_count
      joint_count; /* 0 until described: then one more than the largest joint that occurs, if the caller did not say */
  unsigned char *mask; /* (joint_count) of the locked joints, or NULL */
} core_influences;

core_influences core_default_influences(void);

void core_release_influences(core_influences *influences);

/* Checks shapes and locked joints, and describes the table; raises and returns 0 where they are wrong. */
int core_describe_influences(core_influences *influences, sbs_influences_table *table);

#endif
