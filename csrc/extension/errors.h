/* SPDX-License-Identifier: MIT */
/* The one place where a status of libsbs becomes a Python exception. */
#ifndef SBS_EXTENSION_ERRORS_H
#define SBS_EXTENSION_ERRORS_H

#include "core.h"

/*
 * Raises the fault of a call that failed:
 *
 *   ValueError       the values of an argument
 *   MemoryError      no memory
 *   sbs.LinAlgError  a decomposition or an iteration did not converge
 *   none             SBS_ERROR_CANCELLED: the exception that cancelled the call is raised already
 *   SystemError      everything else: this module passed something wrong, which is a defect
 *
 * array: the argument at fault, if the library counts its rows through all outer axes, and the elements of a row
 * through `inner_axes`; else NULL.
 */
void core_raise(const core_state *state, sbs_status status, const sbs_fault *fault, PyArrayObject *array,
                int inner_axes);

#endif
