/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_JOINT_SETS_H
#define SBS_SKIN_JOINT_SETS_H

#include "sbs/sbs.h"

/* The distinct joint sets seen so far, each ascending, numbered as they came; found again by hashing. */
typedef struct sbs_joint_sets {
  const sbs_allocator *allocator;
  size_t count;
  size_t *offsets; /* (count + 1) into joints */
  int32_t *joints;
  size_t set_capacity;   /* of offsets, less one */
  size_t joint_capacity; /* of joints */
  int32_t *buckets;      /* (bucket_count) set numbers, -1 where free */
  size_t bucket_count;   /* a power of two */
} sbs_joint_sets;

/* An empty table. Even where this fails, sbs_joint_sets_free may be called. */
sbs_status sbs_joint_sets_init(sbs_joint_sets *sets, const sbs_allocator *allocator);

void sbs_joint_sets_free(sbs_joint_sets *sets);

/* Finds a set of ascending joints, or adds it. */
sbs_status sbs_joint_sets_find(sbs_joint_sets *sets, const int32_t *joints, size_t joint_count, int32_t *number);

/*
 * Renumbers the sets in lexicographic order; ranks (count) receives the new number of each old one. Afterwards nothing
 * can be found or added any more.
 */
sbs_status sbs_joint_sets_sort(sbs_joint_sets *sets, int32_t *ranks);

#endif
