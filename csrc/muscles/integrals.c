/* SPDX-License-Identifier: MIT */
/* Integrals along a path by the nodes of muscles/profile.h, compiled for each instruction set. */
#define SBS_LANE double
#define SBS_LANE_MASK int64_t
#include "muscles/integrals.h"
#include "base/lanes.h"

double SBS_FOR_ISA(sbs_sum_speeds)(const double squares[5], double start, double span, const double *nodes,
                                   const double *weights) {
  lanes sums = NO_LANES;
  for (size_t i = 0; i < SBS_PATH_NODES; i += LANES) {
    const lanes x = start + span * load_lanes(nodes + i);
    const lanes squared = squares[0] + x * (squares[1] + x * (squares[2] + x * (squares[3] + x * squares[4])));
    sums += load_lanes(weights + i) * lane_square_root(larger_lanes(squared, NO_LANES));
  }
  double sum = 0.0;
  for (int l = 0; l < LANES; l++) sum += LANE(sums, l);
  return sum;
}
