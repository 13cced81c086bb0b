/* SPDX-License-Identifier: MIT */
#ifndef SBS_BLENDING_VALIDATE_H
#define SBS_BLENDING_VALIDATE_H

#include "sbs/blending.h"

/* Checks a description, and that the result has all its arrays. */
sbs_status sbs_blending_validate(const sbs_blending_desc *desc, const sbs_blending *binding,
                                 const sbs_allocator *allocator, sbs_fault *fault);

#endif
