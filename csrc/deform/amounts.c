/* SPDX-License-Identifier: MIT */
#include "deform/amounts.h"

#include <math.h>

#include "base/fault.h"
#include "base/scalar.h"
#include "base/threads.h"

typedef struct scan {
  const sbs_skin *skin;
  sbs_amounts amounts;
  sbs_amounts_use *use;
  atomic_uint needs; /* of the whole mesh */
  atomic_int bad;    /* whether an amount is not in [0, 1] */
} scan;

enum {
  VERTICES_AT_ONCE = 16384,
  ITEMS_AT_ONCE = 64
};

/* ------------------------------------------------------------------------------------------------- all vertices -- */

/* Without a branch, so that compilers make vectors of it: all amounts are looked at in every call. */
#define DEFINE_SCAN(type) \
  static void scan_##type##s(const type *amounts, size_t count, unsigned *needs, int *bad) { \
    int below_1 = 0, above_0 = 0, inside = 1; \
    for (size_t i = 0; i < count; i++) { \
      below_1 |= amounts[i] < 1; \
      above_0 |= amounts[i] > 0; \
      inside &= (amounts[i] >= 0) & (amounts[i] <= 1); \
    } \
    *needs = (below_1 ? SBS_NEEDS_BASE : 0) | (above_0 ? SBS_NEEDS_METHOD : 0); \
    *bad = !inside; \
  }
DEFINE_SCAN(float)
DEFINE_SCAN(double)

static sbs_status scan_vertices(void *context, sbs_share share, int worker) {
  scan *s = context;
  const size_t count = share.end - share.begin;
  unsigned needs;
  int bad;
  (void)worker;
  if (s->amounts.scalar == SBS_FLOAT32) {
    scan_floats((const float *)s->amounts.numbers + share.begin, count, &needs, &bad);
  } else {
    scan_doubles((const double *)s->amounts.numbers + share.begin, count, &needs, &bad);
  }
  atomic_fetch_or(&s->needs, needs);
  if (bad) atomic_store(&s->bad, 1);
  return SBS_OK;
}

sbs_status sbs_check_amounts(sbs_amounts amounts, size_t begin, size_t end, sbs_fault *fault) {
  for (size_t v = begin; v < end; v++) {
    const double amount = sbs_scalar_get(amounts.numbers, amounts.scalar, v);
    if (!isfinite(amount)) return sbs_fault_row(fault, SBS_ERROR_NOT_FINITE, "amount", v, amount, 1.0);
    if (amount < 0.0 || amount > 1.0) return sbs_fault_row(fault, SBS_ERROR_OPTION, "amount", v, amount, 1.0);
  }
  return SBS_OK;
}

sbs_status sbs_find_needs(const sbs_skin *skin, sbs_amounts amounts, int threads, unsigned *needs, sbs_fault *fault) {
  scan s = {.skin = skin, .amounts = amounts};
  sbs_status status = sbs_share_work(threads, skin->vertex_count, VERTICES_AT_ONCE, scan_vertices, &s);
  if (!status && atomic_load(&s.bad)) status = sbs_check_amounts(amounts, 0, skin->vertex_count, fault);
  *needs = atomic_load(&s.needs);
  return status;
}

/* ------------------------------------------------------------------------------------------------------- groups -- */

#define DEFINE_ITEM_SCAN(type) \
  static unsigned needs_by_##type##s(const type *amounts, const int32_t *vertices, size_t count) { \
    int below_1 = 0, above_0 = 0; \
    for (size_t i = 0; i < count; i++) { \
      below_1 |= amounts[vertices[i]] < 1; \
      above_0 |= amounts[vertices[i]] > 0; \
    } \
    return (below_1 ? SBS_NEEDS_BASE : 0u) | (above_0 ? SBS_NEEDS_METHOD : 0u); \
  }
DEFINE_ITEM_SCAN(float)
DEFINE_ITEM_SCAN(double)

/* Groups of one joint are not looked at: both methods move them alike, mostly (deform/blend.c). */
static sbs_status scan_items(void *context, sbs_share share, int worker) {
  scan *s = context;
  const sbs_skin *skin = s->skin;
  (void)worker;
  for (const sbs_item *item = skin->items + share.begin; item < skin->items + share.end; item++) {
    atomic_uchar *group = s->use->groups + item->group;
    if (atomic_load_explicit(group, memory_order_relaxed) == SBS_NEEDS_BOTH) continue;
    const int32_t *vertices = skin->vertices + item->first_block * SBS_BLOCK;
    const size_t count = (size_t)item->vertex_count;
    unsigned needs = SBS_NEEDS_BOTH;
    if (skin->groups[item->group].others) {
      needs = s->amounts.scalar == SBS_FLOAT32 ? needs_by_floats(s->amounts.numbers, vertices, count)
                                               : needs_by_doubles(s->amounts.numbers, vertices, count);
    }
    atomic_fetch_or_explicit(group, (unsigned char)needs, memory_order_relaxed);
  }
  return SBS_OK;
}

/* The sets with a group that needs one of the methods. Groups stand in the order of their sets, those to solve last. */
static void order_solves(const sbs_skin *skin, sbs_amounts_use *use, int method) {
  const unsigned needed = method ? SBS_NEEDS_METHOD : SBS_NEEDS_BASE;
  int32_t *order = use->solve_orders[method];
  size_t count = 0;
  for (size_t g = 0; g < skin->group_count; g++) {
    const int32_t set = skin->groups[g].set;
    if (!skin->groups[g].others || !(atomic_load(use->groups + g) & needed)) continue;
    if (!count || order[count - 1] != set) order[count++] = set;
  }
  use->solve_counts[method] = count;
}

sbs_status sbs_find_amounts_use(const sbs_skin *skin, sbs_amounts amounts, int threads, sbs_amounts_use *use) {
  scan s = {.skin = skin, .amounts = amounts, .use = use};
  for (size_t g = 0; g < skin->group_count; g++) atomic_init(use->groups + g, 0);
  const sbs_status status = sbs_share_work(threads, skin->item_count, ITEMS_AT_ONCE, scan_items, &s);
  for (int method = 0; method < 2 && !status; method++) order_solves(skin, use, method);
  return status;
}
