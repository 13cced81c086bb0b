/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_BIND_H
#define SBS_SKIN_BIND_H

#include "skin/binding.h"
#include "skin/influences.h"

/*
 * Binds a skin that has nothing but its twist yet. The fault tells where a weight is wrong under `strict`.
 *
 * Errors: WEIGHT, TOO_LARGE, OUT_OF_MEMORY, CANCELLED.
 */
sbs_status sbs_bind(sbs_skin *skin, const sbs_binding *binding, sbs_weight_report *report, sbs_fault *fault);

/* SBS_ERROR_WEIGHT for a vertex whose influences were repaired, with the fault in its weights. */
sbs_status sbs_strict_fault(const sbs_skin_desc *desc, const sbs_influences *influences, size_t vertex,
                            sbs_fault *fault);

#endif
