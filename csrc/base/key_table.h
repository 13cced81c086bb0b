/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_KEY_TABLE_H
#define SBS_BASE_KEY_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Numbers of keys in the order in which they first occur: a hash table with open addressing. */
typedef struct sbs_key_table {
  size_t count;
  uint64_t *keys;    /* (room) by number */
  int32_t *slots;    /* (slot_count) numbers, or -1 */
  size_t slot_count; /* from sbs_key_slots(room) */
} sbs_key_table;

/* How many slots a table needs for so many keys: a power of two, so that at least half of them are free. */
static inline size_t sbs_key_slots(size_t room) {
  size_t count = 2;
  while (count < 2 * room) count *= 2;
  return count;
}

static inline void sbs_key_clear(sbs_key_table *table) {
  table->count = 0;
  memset(table->slots, -1, table->slot_count * sizeof *table->slots);
}

/* A key of two numbers that are not negative. */
static inline uint64_t sbs_key_of_two(int32_t a, int32_t b) {
  return (uint64_t)(uint32_t)a << 32 | (uint32_t)b;
}

/* The slot of a key, or the free one for it. */
static inline int32_t *sbs_key_slot(const sbs_key_table *table, uint64_t key) {
  const uint64_t hash = key * 0x9e3779b97f4a7c15u;
  size_t at = (size_t)(hash ^ hash >> 32) & (table->slot_count - 1);
  while (table->slots[at] >= 0 && table->keys[table->slots[at]] != key) at = (at + 1) & (table->slot_count - 1);
  return table->slots + at;
}

/* The number of a key, which is a new one if the key is new. */
static inline int32_t sbs_key_enter(sbs_key_table *table, uint64_t key) {
  int32_t *slot = sbs_key_slot(table, key);
  if (*slot < 0) {
    *slot = (int32_t)table->count;
    table->keys[table->count++] = key;
  }
  return *slot;
}

#endif
