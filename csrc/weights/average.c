/* SPDX-License-Identifier: MIT */
#include "weights/average.h"

#include <string.h>

#include "base/arena.h"

sbs_status sbs_average_init(sbs_average *average, size_t joint_count, sbs_arena *arena) {
  *average = (sbs_average){.own = sbs_arena_take(arena, joint_count, sizeof *average->own),
                           .change = sbs_arena_take(arena, joint_count, sizeof *average->change),
                           .hits = sbs_arena_take(arena, joint_count, sizeof *average->hits),
                           .joints = sbs_arena_take(arena, joint_count, sizeof *average->joints)};
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  memset(average->own, 0, joint_count * sizeof *average->own);
  memset(average->change, 0, joint_count * sizeof *average->change);
  memset(average->hits, 0, joint_count * sizeof *average->hits);
  return SBS_OK;
}

void sbs_average_begin(sbs_average *average, const sbs_row *row) {
  average->row_count = 0;
  average->joint_count = row->count;
  for (size_t i = 0; i < row->count; i++) {
    average->joints[i] = row->joints[i];
    average->own[row->joints[i]] = row->weights[i];
    average->hits[row->joints[i]] = 1;
  }
}

void sbs_average_add(sbs_average *average, const sbs_row *row) {
  average->row_count++;
  for (size_t i = 0; i < row->count; i++) {
    const int32_t joint = row->joints[i];
    if (!average->hits[joint]) {
      average->joints[average->joint_count++] = joint;
      average->hits[joint] = 1;
    }
    average->hits[joint]++;
    average->change[joint] += row->weights[i] - average->own[joint];
  }
}

void sbs_average_end(sbs_average *average, double strength, const unsigned char *locked, sbs_row *moved) {
  moved->count = 0;
  for (size_t i = 0; i < average->joint_count; i++) {
    const int32_t joint = average->joints[i];
    double weight = average->own[joint];
    if (average->row_count && !sbs_is_locked(locked, joint)) {
      const double absent = (double)average->row_count - (double)(average->hits[joint] - 1);
      const double change = average->change[joint] - absent * weight;
      weight += strength * (change / (double)average->row_count);
    }
    average->own[joint] = 0.0;
    average->change[joint] = 0.0;
    average->hits[joint] = 0;
    if (!(weight > 0.0)) continue;
    moved->joints[moved->count] = joint;
    moved->weights[moved->count++] = weight;
  }
  sbs_row_sort(moved);
}
