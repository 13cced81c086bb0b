/* SPDX-License-Identifier: MIT */
#include "skin/joint_sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
  FIRST_SETS = 64,
  FIRST_JOINTS = 256
};

sbs_status sbs_joint_sets_init(sbs_joint_sets *sets, const sbs_allocator *allocator) {
  *sets = (sbs_joint_sets){.allocator = allocator,
                           .set_capacity = FIRST_SETS,
                           .joint_capacity = FIRST_JOINTS,
                           .bucket_count = 2 * FIRST_SETS};
  sets->offsets = sbs_allocate(allocator, FIRST_SETS + 1, sizeof *sets->offsets);
  sets->joints = sbs_allocate(allocator, FIRST_JOINTS, sizeof *sets->joints);
  sets->buckets = sbs_allocate(allocator, sets->bucket_count, sizeof *sets->buckets);
  if (!sets->offsets || !sets->joints || !sets->buckets) return SBS_ERROR_OUT_OF_MEMORY;
  sets->offsets[0] = 0;
  memset(sets->buckets, -1, sets->bucket_count * sizeof *sets->buckets);
  return SBS_OK;
}

void sbs_joint_sets_free(sbs_joint_sets *sets) {
  sbs_release(sets->allocator, sets->offsets);
  sbs_release(sets->allocator, sets->joints);
  sbs_release(sets->allocator, sets->buckets);
}

/* FNV-1a over the joints, with a final mix, since only the low bits choose the bucket. */
static size_t hash_joints(const int32_t *joints, size_t joint_count) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < joint_count; i++) hash = (hash ^ (uint32_t)joints[i]) * 1099511628211u;
  return (size_t)(hash ^ (hash >> 32));
}

/* The bucket that holds the set, or the free one where it belongs. */
static size_t find_bucket(const sbs_joint_sets *sets, const int32_t *joints, size_t joint_count) {
  const size_t mask = sets->bucket_count - 1;
  for (size_t bucket = hash_joints(joints, joint_count) & mask;; bucket = (bucket + 1) & mask) {
    int32_t set = sets->buckets[bucket];
    if (set < 0) return bucket;
    size_t begin = sets->offsets[set], size = sets->offsets[set + 1] - begin;
    if (size == joint_count && (!size || !memcmp(sets->joints + begin, joints, size * sizeof *joints))) return bucket;
  }
}

/* Moves *array to a new one of `capacity` elements. */
static sbs_status grow(const sbs_allocator *allocator, void **array, size_t used, size_t capacity, size_t size) {
  void *larger = sbs_allocate(allocator, capacity, size);
  if (!larger) return SBS_ERROR_OUT_OF_MEMORY;
  memcpy(larger, *array, used * size);
  sbs_release(allocator, *array);
  *array = larger;
  return SBS_OK;
}

static sbs_status rehash(sbs_joint_sets *sets, size_t bucket_count) {
  int32_t *buckets = sbs_allocate(sets->allocator, bucket_count, sizeof *buckets);
  if (!buckets) return SBS_ERROR_OUT_OF_MEMORY;
  memset(buckets, -1, bucket_count * sizeof *buckets);
  sbs_release(sets->allocator, sets->buckets);
  sets->buckets = buckets;
  sets->bucket_count = bucket_count;
  for (size_t set = 0; set < sets->count; set++) {
    size_t begin = sets->offsets[set];
    buckets[find_bucket(sets, sets->joints + begin, sets->offsets[set + 1] - begin)] = (int32_t)set;
  }
  return SBS_OK;
}

static sbs_status reserve(sbs_joint_sets *sets, size_t joint_count) {
  sbs_status status = SBS_OK;
  if (sets->count == sets->set_capacity) {
    size_t capacity = 2 * sets->set_capacity;
    status = grow(sets->allocator, (void **)&sets->offsets, sets->count + 1, capacity + 1, sizeof *sets->offsets);
    if (status) return status;
    sets->set_capacity = capacity;
    status = rehash(sets, 2 * capacity);
    if (status) return status;
  }
  size_t used = sets->offsets[sets->count];
  if (used + joint_count > sets->joint_capacity) {
    size_t capacity = 2 * (used + joint_count);
    status = grow(sets->allocator, (void **)&sets->joints, used, capacity, sizeof *sets->joints);
    if (status) return status;
    sets->joint_capacity = capacity;
  }
  return SBS_OK;
}

sbs_status sbs_joint_sets_find(sbs_joint_sets *sets, const int32_t *joints, size_t joint_count, int32_t *number) {
  size_t bucket = find_bucket(sets, joints, joint_count);
  if (sets->buckets[bucket] < 0) {
    sbs_status status = reserve(sets, joint_count);
    if (status) return status;
    size_t begin = sets->offsets[sets->count];
    if (joint_count) memcpy(sets->joints + begin, joints, joint_count * sizeof *joints);
    bucket = find_bucket(sets, joints, joint_count);
    sets->buckets[bucket] = (int32_t)sets->count++;
    sets->offsets[sets->count] = begin + joint_count;
  }
  *number = sets->buckets[bucket];
  return SBS_OK;
}

typedef struct set_key {
  const int32_t *joints;
  size_t count;
  int32_t number;
} set_key;

static int compare_keys(const void *left, const void *right) {
  const set_key *a = left, *b = right;
  for (size_t i = 0; i < a->count && i < b->count; i++) {
    if (a->joints[i] != b->joints[i]) return a->joints[i] < b->joints[i] ? -1 : 1;
  }
  return (a->count > b->count) - (a->count < b->count);
}

sbs_status sbs_joint_sets_sort(sbs_joint_sets *sets, int32_t *ranks) {
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  const sbs_allocator *allocator = sets->allocator;
  set_key *keys = sbs_allocate(allocator, sets->count, sizeof *keys);
  size_t *offsets = sbs_allocate(allocator, sets->count + 1, sizeof *offsets);
  int32_t *joints = sbs_allocate(allocator, sets->offsets[sets->count], sizeof *joints);
  if (!keys || !offsets || !joints) goto cleanup;

  for (size_t set = 0; set < sets->count; set++) {
    size_t begin = sets->offsets[set];
    keys[set] = (set_key){sets->joints + begin, sets->offsets[set + 1] - begin, (int32_t)set};
  }
  qsort(keys, sets->count, sizeof *keys, compare_keys);

  offsets[0] = 0;
  for (size_t rank = 0; rank < sets->count; rank++) {
    const set_key *key = keys + rank;
    ranks[key->number] = (int32_t)rank;
    memcpy(joints + offsets[rank], key->joints, key->count * sizeof *joints);
    offsets[rank + 1] = offsets[rank] + key->count;
  }
  sbs_release(allocator, sets->offsets);
  sbs_release(allocator, sets->joints);
  sbs_release(allocator, sets->buckets);
  sets->offsets = offsets;
  sets->joints = joints;
  sets->buckets = NULL;
  sets->bucket_count = 0;
  offsets = NULL;
  joints = NULL;
  status = SBS_OK;

cleanup:
  sbs_release(allocator, keys);
  sbs_release(allocator, offsets);
  sbs_release(allocator, joints);
  return status;
}
