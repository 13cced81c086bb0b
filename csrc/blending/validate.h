/* SPDX-License-Identifier: MIT */
#ifndef SBS_BLENDING_VALIDATE_H
#define SBS_BLENDING_VALIDATE_H

#include "sbs/blending.h"

/* Checks a description, and that there is room for all that is found. */
sbs_status sbs_blending_validate(const sbs_blending_desc *desc, const sbs_blending *binding,
                                 const sbs_allocator *allocator, sbs_fault *fault);

#endif
