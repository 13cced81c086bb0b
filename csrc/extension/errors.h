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
 *   sbs.LinAlgError  LAPACK did not converge
 *   what is raised   SBS_ERROR_CANCELLED: that is why the call was given up
 *   SystemError      everything else: what this module passed on was wrong, a defect of its own
 *
 * A fault in a stack of matrices comes as (matrix, element); `shape`, of 4 lengths, unravels it: (F, J, rows, columns),
 * or (0, J, rows, columns) for a single frame. NULL where the call took no matrices.
 */
void core_raise(const core_state *state, sbs_status status, const sbs_fault *fault, const npy_intp *shape);

#endif
