/* SPDX-License-Identifier: MIT */
/* Influences and locked joints as arguments, for the tools that change weights. */
#ifndef SBS_EXTENSION_INFLUENCES_ARGUMENTS_H
#define SBS_EXTENSION_INFLUENCES_ARGUMENTS_H

#include "arguments.h"

#include <sbs/influences.h>

/*
 * Makes a mask (joint_count) from joint numbers. Free it by PyMem_Free; it is NULL if there is no array. Raises and
 * returns 0 if a joint is out of range.
 */
int core_new_mask(const core_array *locked, size_t joint_count, unsigned char **mask);

typedef struct core_influences {
  core_array joint_indices;
  core_array joint_weights;
  core_array locked;      /* joints, or None */
  core_count joint_count; /* if not given, set to one more than the largest joint by core_describe_influences */
  unsigned char *mask;    /* (joint_count) of the locked joints, or NULL */
} core_influences;

core_influences core_default_influences(void);

void core_release_influences(core_influences *influences);

/* Checks shapes and locked joints, and describes the table; raises and returns 0 if they are wrong. */
int core_describe_influences(core_influences *influences, sbs_influences_table *table);

#endif
