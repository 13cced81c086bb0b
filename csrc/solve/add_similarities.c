/* SPDX-License-Identifier: MIT */
/* Sums of similarities, the exponentials of Le & Hodgins 2016, eqs. (1) and (4); compiled for each instruction set. */
#include "solve/add_similarities.h"

#include <stdint.h>

#include "base/compiled_for_isa.h"

typedef uint64_t bits_of_vec4 __attribute__((vector_size(32)));

/*
 * exp(x) for x <= 0; below -708, near the end of the range of double, exp(-708). Computed as 2^n, n the nearest whole
 * number to x / ln 2, times the Taylor series of the rest, which is at most ln 2 / 2 = 0.347. The first term omitted,
 * x^13 / 13!, is 2e-16.
 */
SBS_INLINE sbs_vec4 exponential(sbs_vec4 x) {
  const double per_ln2 = 0x1.71547652b82fep0, ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  const double to_low_bits = 0x1.8p52; /* added to n, it leaves n in the last bits */
  for (int lane = 0; lane < SBS_SAMPLE_LANES; lane++) x[lane] = x[lane] > -708.0 ? x[lane] : -708.0;
  const sbs_vec4 shifted = x * per_ln2 + to_low_bits, n = shifted - to_low_bits;
  const sbs_vec4 r = (x - n * ln2_high) - n * ln2_low;
  sbs_vec4 sum = r * (1.0 / 479001600.0) + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  return sum * (sbs_vec4)(((bits_of_vec4)shifted + 1023u) << 52);
}

void SBS_FOR_ISA(sbs_add_similarities)(const sbs_similarity_args *args, sbs_vec4 sums[4]) {
  const double p = args->p, q = args->q;
  sbs_vec4 mass = {0.0}, x = {0.0}, y = {0.0}, z = {0.0};
  for (size_t i = 0; i < args->block_count; i++) {
    const sbs_samples *block = args->blocks + i;
    const sbs_vec4 u = p * block->y - q * block->x, similarity = exponential(args->shift - u * u);
    const sbs_vec4 along_x = 2.0 * q * u, along_y = -2.0 * p * u;
    mass += similarity * block->mass;
    x += similarity * (block->moments[0] + along_x * block->moments_x[0] + along_y * block->moments_y[0]);
    y += similarity * (block->moments[1] + along_x * block->moments_x[1] + along_y * block->moments_y[1]);
    z += similarity * (block->moments[2] + along_x * block->moments_x[2] + along_y * block->moments_y[2]);
  }
  sums[0] += args->factor * mass;
  sums[1] += args->factor * x;
  sums[2] += args->factor * y;
  sums[3] += args->factor * z;
}
