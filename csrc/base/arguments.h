/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_ARGUMENTS_H
#define SBS_BASE_ARGUMENTS_H

/* Checks of arguments that occur in several parts of the library. */

#include "sbs/sbs.h"

/* Checks that vectors (count, 3), `stride` bytes apart (0: packed), are finite. Faults have the given names. */
sbs_status sbs_validate_vectors(const void *vectors, size_t stride, sbs_scalar scalar, size_t count, const char *name,
                                const char *stride_name, sbs_fault *fault);

/* Checks that a number is finite and not beyond `largest`. */
sbs_status sbs_validate_number(double number, double largest, const char *name, size_t row, size_t column,
                               sbs_fault *fault);

/* Checks that numbers (rows, columns) are finite and not beyond SBS_LARGEST. */
sbs_status sbs_validate_numbers(const double *numbers, size_t rows, size_t columns, const char *name, sbs_fault *fault);

/* Checks that parents are in range and form trees. */
sbs_status sbs_validate_parents(const int32_t *parents, size_t joint_count, const sbs_allocator *allocator,
                                sbs_fault *fault);

/* The given allocator, or the default for NULL. Checks that it has both functions. */
sbs_status sbs_choose_allocator(const sbs_allocator *given, sbs_allocator *chosen, sbs_fault *fault);

#endif
