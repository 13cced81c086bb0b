/* SPDX-License-Identifier: MIT */
#include "deform/amounts.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "kernels/formulas.h"

/* ------------------------------------------------------------------------------------------------------- numbers -- */

/* What is found of amounts: first what all of them can have in common. */
enum {
  ALL_0,
  ALL_1,
  BETWEEN,
  UNIFORM, /* how many these are */
  MIXED = UNIFORM,
  DUBIOUS /* some may not be in [0, 1]; or it is -0 */
};
static const unsigned bits_of_uniform[UNIFORM] = {SBS_AMOUNTS_0, SBS_AMOUNTS_1, SBS_AMOUNTS_BETWEEN};

/*
 * Amounts are looked at in every call, so as unsigned integers, without a branch: in [0, 1] they go from 0 to `one`,
 * that of 1. Of what is not, the highest bit is set, or is in one - bits; of 0 it is in bits - 1, and of 1 in one - 1 -
 * bits.
 */
#define DEFINE_SCAN(type, bits_type, one) \
  static inline bits_type bits_of_##type(const type *amount) { \
    bits_type bits; \
    memcpy(&bits, amount, sizeof bits); \
    return bits; \
  } \
  static inline int scan_some_##type##s(const type *amounts, size_t count) { \
    bits_type any = 0, every = one, outside = 0, exact = 0; \
    for (size_t i = 0; i < count; i++) { \
      any |= bits_of_##type(amounts + i); \
      every &= bits_of_##type(amounts + i); \
    } \
    if (!any) return ALL_0; \
    if (any == (one) && every == (one)) return ALL_1; \
    for (size_t i = 0; i < count; i++) { \
      outside |= bits_of_##type(amounts + i) | ((one) - bits_of_##type(amounts + i)); \
      exact |= (bits_of_##type(amounts + i) - 1) | ((one) - 1 - bits_of_##type(amounts + i)); \
    } \
    if (outside >> (8 * sizeof outside - 1)) return DUBIOUS; \
    return exact >> (8 * sizeof exact - 1) ? MIXED : BETWEEN; \
  } \
  static int scan_##type##s(const void *amounts, size_t first, size_t count) { \
    const type *from = (const type *)amounts + first; \
    return count == SBS_AMOUNTS_CHUNK ? scan_some_##type##s(from, SBS_AMOUNTS_CHUNK) \
                                      : scan_some_##type##s(from, count); \
  } \
  static unsigned bits_of_block_of_##type##s(const void *amounts, const int32_t *vertices) { \
    const type *from = amounts; \
    unsigned exact = 0; \
    for (int i = 0; i < SBS_BLOCK; i++) exact |= bits_of_##type(from + vertices[i]) - 1 >= (one) - 1; \
    if (!exact) return SBS_AMOUNTS_BETWEEN; \
    unsigned found = 0; \
    for (int i = 0; i < SBS_BLOCK; i++) { /* -0 is 0 */ \
      const bits_type bits = bits_of_##type(from + vertices[i]); \
      found |= !(bits_type)(bits << 1) ? SBS_AMOUNTS_0 : bits == (one) ? SBS_AMOUNTS_1 : SBS_AMOUNTS_BETWEEN; \
    } \
    return found; \
  }
DEFINE_SCAN(float, uint32_t, UINT32_C(0x3f800000))
DEFINE_SCAN(double, uint64_t, UINT64_C(0x3ff0000000000000))

/* --------------------------------------------------------------------------------------- chunks, and then items -- */

typedef struct scan {
  const sbs_skin *skin;
  const void *amounts;
  sbs_scalar scalar;
  sbs_amounts_use *use;
  atomic_int dubious; /* added to, as is the following */
  atomic_uint all;
} scan;

enum {
  CHUNKS_AT_ONCE = SBS_TILE / SBS_AMOUNTS_CHUNK, /* no item reaches from one tile into another */
  ITEMS_AT_ONCE = 64
};

/* Fills uniform_since. */
static sbs_status scan_chunks(void *context, sbs_share chunks, int worker) {
  scan *s = context;
  (void)worker;
  int previous = MIXED, dubious = 0;
  for (size_t chunk = chunks.begin; chunk < chunks.end; chunk++) {
    const size_t first = chunk * SBS_AMOUNTS_CHUNK, remaining = s->skin->vertex_count - first,
                 count = remaining < SBS_AMOUNTS_CHUNK ? remaining : SBS_AMOUNTS_CHUNK;
    const int found =
        s->scalar == SBS_FLOAT32 ? scan_floats(s->amounts, first, count) : scan_doubles(s->amounts, first, count);
    int32_t *since = s->use->uniform_since + chunk;
    *since = found < UNIFORM ? (int32_t)(UNIFORM * chunk) + found : INT32_MAX;
    if (found < UNIFORM && found == previous) *since = since[-1];
    dubious |= found == DUBIOUS;
    previous = found;
  }
  if (dubious) atomic_store(&s->dubious, 1);
  return SBS_OK;
}

static unsigned scan_blocks(const scan *s, const sbs_item *item) {
  const int32_t *vertices = s->skin->vertices + item->first_block * SBS_BLOCK;
  unsigned char *blocks = s->use->blocks + item->first_block;
  unsigned any = 0;
  for (size_t block = 0; block < sbs_item_blocks(item); block++, vertices += SBS_BLOCK) {
    const unsigned bits = s->scalar == SBS_FLOAT32 ? bits_of_block_of_floats(s->amounts, vertices)
                                                   : bits_of_block_of_doubles(s->amounts, vertices);
    blocks[block] = (unsigned char)bits;
    any |= bits;
  }
  return any;
}

/* Threads may write the same at once, but never anything else. */
static void add_to_set(atomic_uchar set[2], unsigned bits) {
  if (bits & SBS_AMOUNTS_OF_BASE) atomic_store_explicit(set, 1, memory_order_relaxed);
  if (bits & SBS_AMOUNTS_OF_METHOD) atomic_store_explicit(set + 1, 1, memory_order_relaxed);
}

/* Items that lie among chunks of which all amounts have the same in common have that; of others each is looked at. */
static sbs_status scan_items(void *context, sbs_share items, int worker) {
  scan *s = context;
  (void)worker;
  const sbs_skin *skin = s->skin;
  unsigned all = 0;
  for (size_t i = items.begin; i < items.end; i++) {
    const sbs_item *item = skin->items + i;
    const int32_t since = s->use->uniform_since[item->highest / SBS_AMOUNTS_CHUNK];
    const int is_uniform = since / UNIFORM <= item->lowest / SBS_AMOUNTS_CHUNK;
    const unsigned bits = is_uniform ? bits_of_uniform[since % UNIFORM] : scan_blocks(s, item);
    s->use->items[i] = (unsigned char)bits;
    add_to_set(s->use->sets[skin->groups[item->group].set], bits);
    all |= bits;
  }
  atomic_fetch_or(&s->all, all);
  return SBS_OK;
}

/* -------------------------------------------------------------------------------------------------------- public -- */

/* The sets of skin->solve_order that use one of the methods. */
static void order_solves(const sbs_skin *skin, sbs_amounts_use *use, int method) {
  size_t count = 0;
  for (size_t i = 0; i < skin->solve_count; i++) {
    const int32_t set = skin->solve_order[i];
    use->solve_orders[method][count] = set;
    count += use->sets[set][method];
  }
  use->solve_counts[method] = count;
}

sbs_status sbs_check_amounts(const sbs_deform_options *options, size_t begin, size_t end, sbs_fault *fault) {
  for (size_t v = begin; v < end; v++) {
    const double amount = sbs_scalar_get(options->amount, options->amount_scalar, v);
    if (!isfinite(amount)) return sbs_fault_row(fault, SBS_ERROR_NOT_FINITE, "amount", v, amount, 1.0);
    if (amount < 0.0 || amount > 1.0) return sbs_fault_row(fault, SBS_ERROR_OPTION, "amount", v, amount, 1.0);
  }
  return SBS_OK;
}

sbs_status sbs_find_amounts_use(const sbs_skin *skin, const sbs_deform_options *const options[2], int threads,
                                sbs_amounts_use *use, sbs_fault *fault) {
  scan s = {.skin = skin, .amounts = options[1]->amount, .scalar = options[1]->amount_scalar, .use = use};
  memset(use->sets, 0, skin->set_count * sizeof *use->sets);
  sbs_status status = sbs_share_work(threads, sbs_amounts_chunk_count(skin), CHUNKS_AT_ONCE, scan_chunks, &s);
  if (!status) status = sbs_share_work(threads, skin->item_count, ITEMS_AT_ONCE, scan_items, &s);
  if (!status && atomic_load(&s.dubious)) status = sbs_check_amounts(options[1], 0, skin->vertex_count, fault);
  if (status) return status;
  use->all = atomic_load(&s.all);
  for (int method = 0; method < 2; method++) {
    if (sbs_formula_has_set_centers(sbs_choose_formula(options[method]))) order_solves(skin, use, method);
  }
  return SBS_OK;
}
