/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_VALIDATE_H
#define SBS_SKIN_VALIDATE_H

#include "sbs/sbs.h"

/* Checks pointers, types and counts. */
sbs_status sbs_validate_desc_form(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_fault *fault);

/* Checks everything about a description but its weights. */
sbs_status sbs_validate_desc(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_fault *fault);

#endif
