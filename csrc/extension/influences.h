/* SPDX-License-Identifier: MIT */
/* Influences and locked joints, for the functions that change weights. */
#ifndef SBS_EXTENSION_INFLUENCES_H
#define SBS_EXTENSION_INFLUENCES_H

#include "function.h"

#include <sbs/influences.h>

/* Describes influences (V, K). */
sbs_influences_table core_influences_of(PyArrayObject *joint_indices, PyArrayObject *joint_weights, size_t joint_count);

/*
 * Makes a mask (joint_count), which is released with the call, from joint numbers; NULL of NULL. name: what messages
 * call them. Raises and returns 0 if a joint is out of range.
 */
int core_new_mask(void *call, PyArrayObject *joints, const char *name, size_t joint_count, const unsigned char **mask);

#endif
