/* SPDX-License-Identifier: MIT */
#include "fit/spread.h"

#include <string.h>

sbs_spread sbs_new_spread(sbs_arena *arena, size_t most) {
  sbs_spread made = {0};
  made.shares = sbs_arena_take(arena, most, 2 * sizeof *made.shares);
  made.weights = sbs_arena_take(arena, most, 2 * sizeof *made.weights);
  made.by = sbs_arena_take(arena, most, 6 * sizeof *made.by);
  made.frames = sbs_arena_take(arena, most, 2 * sizeof *made.frames);
  made.owners = sbs_arena_take(arena, most, 2 * sizeof *made.owners);
  return made;
}

void sbs_spread_joints(const sbs_twist *twist, const int32_t *joints, size_t count, const double point[3],
                       sbs_spread *spread) {
  spread->joint_count = count;
  spread->count = 0;
  for (size_t i = 0; i < count; i++) {
    int32_t frames[2] = {joints[i], 0};
    double shares[2] = {1.0, 0.0};
    if (twist) sbs_twist_spread(twist, joints[i], 1.0, sbs_vec3_read(point), frames, shares);
    for (size_t side = 0; side < 2; side++) {
      if (shares[side] == 0.0) continue;
      spread->frames[spread->count] = frames[side];
      spread->owners[spread->count] = (int32_t)i;
      spread->shares[spread->count++] = shares[side];
    }
  }
}

void sbs_move_spread(const sbs_fit_formula *formula, const sbs_fit_joints *of, const sbs_spread *spread,
                     const double v[3], const double *center, const double *w, double moved[3], double *by) {
  sbs_fit_joints frames = *of;
  frames.indices = spread->frames;
  frames.count = spread->count;
  for (size_t e = 0; e < spread->count; e++) spread->weights[e] = spread->shares[e] * w[spread->owners[e]];
  sbs_move_with_derivatives(formula, &frames, v, center, spread->weights, moved, by ? spread->by : NULL);
  if (!by) return;
  memset(by, 0, 3 * spread->joint_count * sizeof *by);
  for (size_t e = 0; e < spread->count; e++) {
    double *by_joint = by + 3 * (size_t)spread->owners[e];
    for (size_t k = 0; k < 3; k++) by_joint[k] += spread->shares[e] * spread->by[3 * e + k];
  }
}
