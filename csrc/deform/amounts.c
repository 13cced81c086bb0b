/* SPDX-License-Identifier: MIT */
#include "deform/amounts.h"

#include <math.h>

#include "base/fault.h"
#include "base/scalar.h"
#include "base/threads.h"

sbs_status sbs_check_amounts(sbs_amounts amounts, size_t begin, size_t end, sbs_fault *fault) {
  for (size_t v = begin; v < end; v++) {
    const double amount = sbs_scalar_get(amounts.numbers, amounts.scalar, v);
    if (!isfinite(amount)) return sbs_fault_row(fault, SBS_ERROR_NOT_FINITE, "amount", v, amount, 1.0);
    if (amount < 0.0 || amount > 1.0) return sbs_fault_row(fault, SBS_ERROR_OPTION, "amount", v, amount, 1.0);
  }
  return SBS_OK;
}

enum {
  VERTICES_AT_ONCE = 16384,
  ITEMS_AT_ONCE = 64
};

/* ------------------------------------------------------------------------------------------------- all vertices -- */

typedef struct scan {
  const sbs_skin *skin;
  sbs_amounts amounts;
  atomic_uint needs;
} scan;

static sbs_status scan_vertices(void *context, sbs_share share, int worker) {
  scan *s = context;
  const char *from = (const char *)s->amounts.numbers + share.begin * sbs_scalar_size(s->amounts.scalar);
  const sbs_kernels *kernels = sbs_choose_kernels(s->skin->isa, s->skin->scalar);
  (void)worker;
  atomic_fetch_or(&s->needs, kernels->scan_amounts(from, s->amounts.scalar, share.end - share.begin));
  return SBS_OK;
}

sbs_status sbs_find_needs(const sbs_skin *skin, sbs_amounts amounts, int threads, unsigned *needs, sbs_fault *fault) {
  scan s = {.skin = skin, .amounts = amounts};
  sbs_status status = sbs_share_work(threads, skin->vertex_count, VERTICES_AT_ONCE, scan_vertices, &s);
  const unsigned found = atomic_load(&s.needs);
  if (!status && (found & SBS_AMOUNT_OUTSIDE)) status = sbs_check_amounts(amounts, 0, skin->vertex_count, fault);
  *needs = found & SBS_NEEDS_BOTH;
  return status;
}

/* ------------------------------------------------------------------------------------------------------- groups -- */

typedef struct packing {
  const sbs_skin *skin;
  sbs_amounts amounts;
  sbs_amounts_use *use;
} packing;

static char *packed_amounts(const packing *p, const sbs_item *item) {
  return (char *)p->use->packed + item->first_block * SBS_BLOCK * sbs_scalar_size(p->skin->scalar);
}

/* Packs, then looks at what was packed, since a processor can not read vectors of what it has just written in parts. */
static sbs_status pack_items(void *context, sbs_share share, int worker) {
  packing *p = context;
  const sbs_skin *skin = p->skin;
  const sbs_kernels *kernels = sbs_choose_kernels(skin->isa, skin->scalar);
  const sbs_item *first = skin->items + share.begin, *end = skin->items + share.end;
  (void)worker;
  for (const sbs_item *item = first; item < end; item++) {
    if (sbs_is_moved_alike(skin, (size_t)item->group)) continue;
    kernels->pack_amounts(p->amounts.numbers, p->amounts.scalar, skin->vertices + item->first_block * SBS_BLOCK,
                          sbs_item_blocks(item) * SBS_BLOCK, packed_amounts(p, item));
  }
  for (const sbs_item *item = first; item < end; item++) {
    atomic_uchar *group = p->use->groups + item->group;
    if (atomic_load_explicit(group, memory_order_relaxed) == SBS_NEEDS_BOTH) continue;
    if (sbs_is_moved_alike(skin, (size_t)item->group)) continue;
    const size_t count = sbs_item_blocks(item) * SBS_BLOCK;
    const unsigned needs = kernels->scan_amounts(packed_amounts(p, item), skin->scalar, count) & SBS_NEEDS_BOTH;
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

sbs_status sbs_pack_amounts(const sbs_skin *skin, sbs_amounts amounts, int threads, sbs_amounts_use *use) {
  packing p = {.skin = skin, .amounts = amounts, .use = use};
  for (size_t g = 0; g < skin->group_count; g++) {
    atomic_init(use->groups + g, sbs_is_moved_alike(skin, g) ? SBS_NEEDS_METHOD : 0);
  }
  const sbs_status status = sbs_share_work(threads, skin->item_count, ITEMS_AT_ONCE, pack_items, &p);
  for (int method = 0; method < 2 && !status; method++) order_solves(skin, use, method);
  return status;
}
