/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_AVERAGE_H
#define SBS_KERNELS_AVERAGE_H

/*
 * The spherical weighted average of quaternions (Buss and Fillmore 2001): the point q of the unit sphere that makes the
 * sum of w_i d(q, q_i)^2 least, d being the angle between two, where sum w_i log_q(q_i) = 0. For pose/lanes.h.
 */
#include "kernels/series.h"
#include "pose/lanes.h"

/*
 * The iteration ends after a step of at most this angle (squared): the error then is less than the square of that
 * angle, or where it converges linearly, as between quaternions that are more than 90 degrees apart, less than the
 * angle. Or it ends after so many steps: see SBS_ROTATION_AVERAGE in sbs.h.
 */
#define LAST_STEP 0x1p-56
#define LAST_LINEAR_STEP 0x1p-100
#define MOST_STEPS 12
#define MOST_LINEAR_STEPS 40

/* Polynomials, lowest power first. */

/* f = a / sin(a) in x = 1 - cos(a), up to 90 degrees, where x is 1: the least greatest relative error, 3.1e-17 */
static const double angle_over_sine_series[] = {
    1.000000000000000031,     0.3333333333333066166,    0.1333333333372093677,   0.05714285691984116402,
    0.02539683217958748797,   0.01154388552835810569,   0.005329564150187402833, 0.002472823519229912297,
    0.001256622986180366771,  0.0001396473484595850736, 0.001784338248644474702, -0.004194426801705445988,
    0.009639578676532278695,  -0.01656682040880129923,  0.02240191389784513433,  -0.02327374611005406663,
    0.01832024985826509563,   -0.01055981664335896728,  0.00422145001473901016,  -0.001048793651530929555,
    0.0001235004119612468858,
};

/* Its derivative by x, (1 - a / tan(a)) / sin(a)^2, to 3.3e-8: it decides how fast iterations converge, no more. */
static const double slope_series[] = {
    0.33333334415974873,  0.26666397723896029,   0.17153762002620782,  0.099884392810033785,
    0.071173801430666824, -0.029056855594683797, 0.18647156718254207,  -0.28284867012779383,
    0.31474715985544688,  -0.18418310286531248,  0.052276733404937489,
};

#define SERIES(x, coefficients) sum_series(x, coefficients, sizeof(coefficients) / sizeof *(coefficients))
SBS_INLINE lanes sum_series(lanes x, const double *coefficients, size_t count) {
  lanes sum = NO_LANES + coefficients[count - 1];
  for (size_t i = count - 1; i > 0; i--) sum = sum * x + coefficients[i - 1];
  return sum;
}

/* a / sin(a), given the cosine; above 90 degrees by the half: a / sin(a) = (a / 2) / (sin(a / 2) cos(a / 2)) */
SBS_INLINE lanes angle_over_sine(lanes cosine) {
  const lane_mask is_obtuse = (lane_mask)(cosine < NO_LANES);
  const lanes acute = SERIES(1.0 - larger_lanes(cosine, NO_LANES), angle_over_sine_series);
  if (!any_lane(is_obtuse)) return acute;
  const lanes half = lane_square_root(larger_lanes(0.5 * (cosine + 1.0), NO_LANES + DBL_EPSILON));
  return select_lanes(is_obtuse, SERIES(1.0 - half, angle_over_sine_series) / half, acute);
}

/* The product of quaternions a* b. */
SBS_INLINE void multiply_conjugate(const lanes a[4], const lanes b[4], lanes out[4]) {
  lanes across[3];
  cross_lanes(b + 1, a + 1, across);
  out[0] = a[0] * b[0] + dot_lanes(a + 1, b + 1);
  for (int i = 0; i < 3; i++) out[1 + i] = a[0] * b[1 + i] - b[0] * a[1 + i] + across[i];
}

/* sum w_i f_i t_i, and its derivative, sum w_i (f_i cos(a_i) + k_i t_i t_i^T): t is the logarithm's direction times
 * sin(a), k how fast f grows with 1 - cos(a). */
typedef struct tangent {
  lanes mean[3], bend, slope[6];
} tangent;

SBS_INLINE void add_tangent(tangent *sum, lanes weight, const lanes q[4]) {
  const lanes f = weight * angle_over_sine(q[0]), *t = q + 1;
  /* above 90 degrees it bends the other way: with 0 in its place steps are short, but safe */
  const lanes near = larger_lanes(q[0], NO_LANES);
  const lanes k = weight * SERIES(1.0 - near, slope_series);
  for (int i = 0; i < 3; i++) sum->mean[i] += f * t[i];
  sum->bend += f * near;
  sum->slope[0] += k * t[0] * t[0];
  sum->slope[1] += k * t[0] * t[1];
  sum->slope[2] += k * t[0] * t[2];
  sum->slope[3] += k * t[1] * t[1];
  sum->slope[4] += k * t[1] * t[2];
  sum->slope[5] += k * t[2] * t[2];
}

/* (bend + slope)^-1 mean. The slope has no negative eigenvalue, and `bend` is kept from 0. */
SBS_INLINE void newton_step(const tangent *at, lanes move[3]) {
  const lanes bend = larger_lanes(at->bend, NO_LANES + 0.1);
  lanes m[6];
  memcpy(m, at->slope, sizeof m);
  m[0] += bend, m[3] += bend, m[5] += bend;
  const factors by = factorize(m);
  move[0] = move[1] = move[2] = NO_LANES;
  add_solution(&by, at->mean, move);
}

/*
 * Buss & Fillmore 2001, algorithm A2, a Newton iteration. It starts at QLERP's quaternion s, and `turn` receives the
 * rotation from there, s* q. The loop ends when all lanes have converged; a lane that has is not changed any more, so
 * that no vertex depends on others. Of two quaternions the average is SLERP, relative to s
 * as in Kavan & Zara 2005, eq. (5), to the first.
 *
 *   quaternions  (count) s* q_i
 */
static SBS_CALLED void average_rotations(const lanes *weights, lanes (*quaternions)[4], size_t count, lanes turn[4]) {
  lane_mask moving = (lane_mask)(NO_LANES < NO_LANES + 1.0), linear = (lane_mask)(NO_LANES > NO_LANES);
  turn[0] = NO_LANES + 1.0;
  turn[1] = turn[2] = turn[3] = NO_LANES;
  for (int step = 0; step < MOST_LINEAR_STEPS && any_lane(moving); step++) {
    tangent here;
    memset(&here, 0, sizeof here);
    for (size_t i = 0; i < count; i++) {
      lanes q[4];
      multiply_conjugate(turn, quaternions[i], q);
      linear |= (lane_mask)(q[0] < NO_LANES) & (lane_mask)(weights[i] > NO_LANES);
      add_tangent(&here, weights[i], q);
    }
    lanes move[3], next[4], across[3];
    newton_step(&here, move);
    for (int i = 0; i < 3; i++) move[i] = select_lanes(moving, move[i], NO_LANES);
    const lanes square = dot_lanes(move, move), cosine = SERIES(square, sbs_cosine);
    const lanes sine = SERIES(square, sbs_sine_over_angle);
    for (int i = 0; i < 3; i++) move[i] *= sine;
    cross_lanes(turn + 1, move, across);
    next[0] = cosine * turn[0] - dot_lanes(turn + 1, move);
    for (int i = 0; i < 3; i++) next[1 + i] = cosine * turn[1 + i] + turn[0] * move[i] + across[i];
    memcpy(turn, next, 4 * sizeof *turn);
    const lanes last_step = select_lanes(linear, NO_LANES + LAST_LINEAR_STEP, NO_LANES + LAST_STEP);
    moving = (lane_mask)(square > last_step);
    if (step + 1 >= MOST_STEPS) moving &= linear;
  }
}

#endif
