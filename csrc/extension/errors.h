/* SPDX-License-Identifier: MIT */
/* The one place where a status of libsbs becomes a Python exception. */
#ifndef SBS_EXTENSION_ERRORS_H
#define SBS_EXTENSION_ERRORS_H

#include "core.h"

/*
 * Raises what a failed call reported:
 *
 *   ValueError       the values of an argument
 *   MemoryError      no memory
 *   sbs.LinAlgError  a singular value decomposition did not converge
 *   RuntimeError     SBS_ERROR_NO_LAPACK: what was built lacks it
 *   none             SBS_ERROR_CANCELLED: the exception that cancelled the call is raised already
 *   SystemError      everything else: this module passed something wrong, which is a defect
 *
 * The library reports a fault in a stack of matrices as (matrix, element). `shape`, 4 lengths, unravels it: (F, J,
 * rows, columns), or (0, J, rows, columns) for a single frame. NULL if the call took no matrices.
 */
void core_raise(const core_state *state, sbs_status status, const sbs_fault *fault, const npy_intp *shape);

#endif
