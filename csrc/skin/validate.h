/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_VALIDATE_H
#define SBS_SKIN_VALIDATE_H

#include "sbs/sbs.h"

/* Checks pointers, types and counts. */
sbs_status sbs_validate_desc_form(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_fault *fault);

/* Checks everything about a description but its weights. */
sbs_status sbs_validate_desc(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_fault *fault);

/* Checks vectors (count, 3): finite, and `stride` bytes apart, 0 for packed. The names are those of the arguments. */
sbs_status sbs_validate_vectors(const void *vectors, size_t stride, sbs_scalar scalar, size_t count, const char *name,
                                const char *stride_name, sbs_fault *fault);

/* Checks that parents are in range and form trees. */
sbs_status sbs_validate_parents(const int32_t *parents, size_t joint_count, const sbs_allocator *allocator,
                                sbs_fault *fault);

#endif
