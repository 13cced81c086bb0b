/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_CHECK_H
#define SBS_SOLVE_CHECK_H

#include "sbs/fit.h"
#include "solve/vertex.h"

/* Checks the formula of a fit or a drag. */
sbs_status sbs_check_formula(const sbs_fit_formula *formula, int has_centers, sbs_fault *fault);

/* Checks that there is a description, and all that it holds. */
sbs_status sbs_check_fit(const sbs_fit_desc *desc, sbs_fault *fault);

/* Checks influences (V, K) of a description that is checked: there, joints in range, weights finite, not negative. */
sbs_status sbs_check_fit_influences(const sbs_fit_desc *desc, size_t width, const int32_t *indices,
                                    const double *weights, sbs_fault *fault);

/* Checks how many influences a vertex has. */
sbs_status sbs_check_fit_width(const sbs_fit_desc *desc, size_t width, sbs_fault *fault);

/* Ends a fit with its fault: all but short memory and cancellation is a fault of the poses. */
sbs_status sbs_end_fit(sbs_status status, sbs_fault *fault);

#endif
