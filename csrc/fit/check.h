/* SPDX-License-Identifier: MIT */
#ifndef SBS_FIT_CHECK_H
#define SBS_FIT_CHECK_H

#include "sbs/fit.h"

/* Checks all that a description holds. */
sbs_status sbs_check_fit(const sbs_fit_desc *desc, sbs_fault *fault);

/* Checks influences (V, K) of a description that is checked: joints in range, weights finite and not negative. */
sbs_status sbs_check_fit_influences(const sbs_fit_desc *desc, size_t width, const int32_t *indices,
                                    const double *weights, sbs_fault *fault);

#endif
