/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_INTEGRALS_H
#define SBS_MUSCLES_INTEGRALS_H

#include "base/isa.h"

/* Where integrals along a path are evaluated: a multiple of the longest vectors. */
#define SBS_PATH_NODES 16

/*
 * sum_i weights[i] |c'(start + span nodes[i])| over SBS_PATH_NODES, with |c'|^2 a polynomial with the coefficients
 * `squares`. Compiled for each instruction set from muscles/integrals.c.
 */
typedef double sbs_sum_speeds(const double squares[5], double start, double span, const double *nodes,
                              const double *weights);

#define SBS_DECLARE_SUM(constant, name) sbs_sum_speeds sbs_sum_speeds_##name;
SBS_EACH_ISA(SBS_DECLARE_SUM)
#undef SBS_DECLARE_SUM

#endif
