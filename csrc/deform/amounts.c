/* SPDX-License-Identifier: MIT */
#include "deform/amounts.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "kernels/formulas.h"

/* ------------------------------------------------------------------------------------------------------- numbers -- */

/* What is found of amounts. */
enum {
  ALL_0,
  ALL_1,
  OTHERS,
  DUBIOUS /* some may not be in [0, 1]; or it is -0 */
};

/*
 * Amounts are looked at in every call, so as unsigned integers, without a branch: in [0, 1] they go from 0 to `one`,
 * that of 1. Of what is not, the highest bit is set, or is in one - bits.
 */
#define DEFINE_SCAN(type, bits_type, one) \
  static inline bits_type bits_of_##type(const type *amount) { \
    bits_type bits; \
    memcpy(&bits, amount, sizeof bits); \
    return bits; \
  } \
  static inline int scan_some_##type##s(const type *amounts, size_t count) { \
    bits_type any = 0, every = one, outside = 0; \
    for (size_t i = 0; i < count; i++) { \
      any |= bits_of_##type(amounts + i); \
      every &= bits_of_##type(amounts + i); \
    } \
    if (!any) return ALL_0; \
    if (any == (one) && every == (one)) return ALL_1; \
    for (size_t i = 0; i < count; i++) { \
      outside |= bits_of_##type(amounts + i) | ((one) - bits_of_##type(amounts + i)); \
    } \
    return outside >> (8 * sizeof outside - 1) ? DUBIOUS : OTHERS; \
  } \
  static int scan_##type##s(const void *amounts, size_t first, size_t count) { \
    const type *from = (const type *)amounts + first; \
    return count == SBS_AMOUNTS_CHUNK ? scan_some_##type##s(from, SBS_AMOUNTS_CHUNK) \
                                      : scan_some_##type##s(from, count); \
  } \
  static unsigned use_of_block_of_##type##s(const void *amounts, const int32_t *vertices) { \
    const type *from = amounts; \
    bits_type any = bits_of_##type(from + vertices[0]), every = any; \
    if (any > 0 && any < (one)) return SBS_USES_BOTH; \
    for (int i = 1; i < SBS_BLOCK; i++) { /* lanes past the last vertex repeat it */ \
      const bits_type bits = bits_of_##type(from + vertices[i]); \
      any |= bits; \
      every &= bits; \
    } \
    return (any ? SBS_USES_METHOD : 0) | (every == (one) ? 0 : SBS_USES_BASE); \
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
  int previous = OTHERS, dubious = 0;
  for (size_t chunk = chunks.begin; chunk < chunks.end; chunk++) {
    const size_t first = chunk * SBS_AMOUNTS_CHUNK, remaining = s->skin->vertex_count - first,
                 count = remaining < SBS_AMOUNTS_CHUNK ? remaining : SBS_AMOUNTS_CHUNK;
    const int found =
        s->scalar == SBS_FLOAT32 ? scan_floats(s->amounts, first, count) : scan_doubles(s->amounts, first, count);
    int32_t *since = s->use->uniform_since + chunk;
    *since = (int32_t)(2 * chunk) + (found == ALL_1);
    if (found >= OTHERS) *since = INT32_MAX;
    if (found < OTHERS && found == previous) *since = since[-1];
    dubious |= found == DUBIOUS;
    previous = found;
  }
  if (dubious) atomic_store(&s->dubious, 1);
  return SBS_OK;
}

static unsigned scan_blocks(const scan *s, const sbs_item *item) {
  const int32_t *vertices = s->skin->vertices + item->first_block * SBS_BLOCK;
  unsigned char *uses = s->use->blocks + item->first_block;
  unsigned of_item = 0;
  for (size_t block = 0; block < sbs_item_blocks(item); block++, vertices += SBS_BLOCK) {
    const unsigned of_block = s->scalar == SBS_FLOAT32 ? use_of_block_of_floats(s->amounts, vertices)
                                                       : use_of_block_of_doubles(s->amounts, vertices);
    uses[block] = (unsigned char)of_block;
    of_item |= of_block;
  }
  return of_item;
}

/* Threads may write the same at once, but never anything else. */
static void add_to_set(atomic_uchar set[2], unsigned use) {
  if (use & SBS_USES_BASE) atomic_store_explicit(set, 1, memory_order_relaxed);
  if (use & SBS_USES_METHOD) atomic_store_explicit(set + 1, 1, memory_order_relaxed);
}

/* Items that lie among chunks of all the same amount have that; of the others each amount is looked at. */
static sbs_status scan_items(void *context, sbs_share items, int worker) {
  scan *s = context;
  (void)worker;
  const sbs_skin *skin = s->skin;
  unsigned all = 0;
  for (size_t i = items.begin; i < items.end; i++) {
    const sbs_item *item = skin->items + i;
    const int32_t since = s->use->uniform_since[item->highest / SBS_AMOUNTS_CHUNK];
    unsigned use;
    if (since / 2 <= item->lowest / SBS_AMOUNTS_CHUNK) {
      use = since % 2 ? SBS_USES_METHOD : SBS_USES_BASE;
    } else {
      use = scan_blocks(s, item);
    }
    s->use->items[i] = (unsigned char)use;
    add_to_set(s->use->sets[skin->groups[item->group].set], use);
    all |= use;
  }
  atomic_fetch_or(&s->all, all);
  return SBS_OK;
}

static sbs_status find_bad_amount(const sbs_skin *skin, const sbs_deform_options *options, sbs_fault *fault) {
  for (size_t v = 0; v < skin->vertex_count; v++) {
    const double amount = sbs_scalar_get(options->amount, options->amount_scalar, v);
    if (!isfinite(amount)) return sbs_fault_row(fault, SBS_ERROR_NOT_FINITE, "amount", v, amount, 1.0);
    if (amount < 0.0 || amount > 1.0) return sbs_fault_row(fault, SBS_ERROR_OPTION, "amount", v, amount, 1.0);
  }
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

sbs_status sbs_find_amounts_use(const sbs_skin *skin, const sbs_deform_options *const options[2], int threads,
                                sbs_amounts_use *use, sbs_fault *fault) {
  scan s = {.skin = skin, .amounts = options[1]->amount, .scalar = options[1]->amount_scalar, .use = use};
  memset(use->sets, 0, skin->set_count * sizeof *use->sets);
  sbs_status status = sbs_share_work(threads, sbs_amounts_chunk_count(skin), CHUNKS_AT_ONCE, scan_chunks, &s);
  if (!status) status = sbs_share_work(threads, skin->item_count, ITEMS_AT_ONCE, scan_items, &s);
  if (!status && atomic_load(&s.dubious)) status = find_bad_amount(skin, options[1], fault);
  if (status) return status;
  use->all = atomic_load(&s.all);
  for (int method = 0; method < 2; method++) {
    if (sbs_formula_has_set_centers(sbs_choose_formula(options[method]))) order_solves(skin, use, method);
  }
  return SBS_OK;
}
