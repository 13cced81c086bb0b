/* SPDX-License-Identifier: MIT */
#include "weights/dissect.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum {
  LEAF = 48 /* parts of at most this many unknowns are not divided */
};

/* The kinds of unknowns in a range: those of the separator come from one of its halves. */
enum {
  REST,
  SEPARATOR
};

typedef struct dissector {
  const sbs_graph *graph;
  sbs_dissection *made;
  int32_t *copy;       /* (n) scratch */
  unsigned char *kind; /* (n) by place in the order */
} dissector;

/* ------------------------------------------------------------------------------------------------------- halving -- */

static int longest_axis(const dissector *in, size_t begin, size_t end) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (size_t i = begin; i < end; i++) {
    const double *place = in->graph->places + 3 * (size_t)in->made->order[i];
    for (size_t axis = 0; axis < 3; axis++) {
      low[axis] = fmin(low[axis], place[axis]);
      high[axis] = fmax(high[axis], place[axis]);
    }
  }
  int longest = 0;
  for (int axis = 1; axis < 3; axis++) {
    if (high[axis] - low[axis] > high[longest] - low[longest]) longest = axis;
  }
  return longest;
}

/*
 * Whether one unknown comes before another along an axis. If both are at one place, the lower one does, so that the
 * halves are always of the same size.
 */
static int is_before(const dissector *in, int axis, int32_t a, int32_t b) {
  const double x = in->graph->places[3 * (size_t)a + (size_t)axis], y = in->graph->places[3 * (size_t)b + (size_t)axis];
  return x < y || (x == y && a < b);
}

static void swap(int32_t *order, size_t a, size_t b) {
  const int32_t kept = order[a];
  order[a] = order[b];
  order[b] = kept;
}

/* Quickselect: orders a range so that those before `middle` come before the others. No two unknowns are equal. */
static void select_half(const dissector *in, int axis, size_t begin, size_t end, size_t middle) {
  int32_t *order = in->made->order;
  while (end - begin > 1) {
    /* the median of three as pivot, at the front */
    const size_t center = begin + (end - begin) / 2, last = end - 1;
    if (is_before(in, axis, order[center], order[begin])) swap(order, center, begin);
    if (is_before(in, axis, order[last], order[begin])) swap(order, last, begin);
    if (is_before(in, axis, order[last], order[center])) swap(order, last, center);
    swap(order, begin, center);
    const int32_t pivot = order[begin];
    size_t before = begin + 1, after = end;
    while (before < after) {
      if (is_before(in, axis, order[before], pivot)) {
        before++;
      } else {
        swap(order, before, --after);
      }
    }
    swap(order, begin, before - 1); /* where the pivot belongs */
    if (middle == before - 1 || middle == before) return;
    if (middle < before) {
      end = before - 1;
    } else {
      begin = before;
    }
  }
}

/* ---------------------------------------------------------------------------------------------------- separation -- */

/* Marks the unknowns of one half that share an equation with the other half; returns how many. */
static size_t mark_border(const dissector *in, size_t begin, size_t end, size_t other_begin, size_t other_end) {
  const sbs_graph *graph = in->graph;
  size_t count = 0;
  for (size_t i = begin; i < end; i++) {
    const int32_t unknown = in->made->order[i];
    in->kind[i] = REST;
    for (size_t n = graph->offsets[unknown]; n < graph->offsets[unknown + 1]; n++) {
      const size_t slot = (size_t)in->made->slots[graph->neighbors[n]];
      if (slot >= other_begin && slot < other_end) {
        in->kind[i] = SEPARATOR;
        count++;
        break;
      }
    }
  }
  return count;
}

/* Moves the marked unknowns of [begin, end) to the end of [begin, last); the others keep their order. */
static void move_to_end(const dissector *in, size_t begin, size_t end, size_t last) {
  int32_t *order = in->made->order, *rest = in->copy, *moved = in->copy + (last - begin);
  for (size_t i = begin; i < last; i++) {
    if (i < end && in->kind[i] == SEPARATOR) {
      *--moved = order[i];
    } else {
      *rest++ = order[i];
    }
  }
  memcpy(order + begin, in->copy, (last - begin) * sizeof *order);
}

static void find_slots(const dissector *in, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++) in->made->slots[in->made->order[i]] = (int32_t)i;
}

/* Orders a range that shares no equation with what comes before it. Recurses once for each halving. */
static void dissect(const dissector *in, size_t begin, size_t end) {
  if (end - begin <= LEAF) {
    if (end > begin) in->made->ends[in->made->part_count++] = end;
    return;
  }
  const size_t middle = begin + (end - begin) / 2;
  select_half(in, longest_axis(in, begin, end), begin, end, middle);
  find_slots(in, begin, end);
  /* The separator comes from the half with the smaller border; that of a fan may be its hub alone. */
  const size_t first = mark_border(in, begin, middle, middle, end),
               second = mark_border(in, middle, end, begin, middle);
  const size_t separator = first <= second ? first : second;
  const size_t half = first <= second ? middle - first : middle, last = end - separator;
  if (first <= second) {
    move_to_end(in, begin, middle, end);
  } else {
    move_to_end(in, middle, end, end);
  }
  find_slots(in, begin, end);
  dissect(in, begin, half);
  dissect(in, half, last);
  if (separator) in->made->ends[in->made->part_count++] = end;
}

sbs_status sbs_dissection_init(sbs_dissection *dissection, const sbs_graph *graph, size_t size, const int32_t *unknowns,
                               size_t count, const sbs_allocator *allocator) {
  *dissection = (sbs_dissection){.count = count};
  dissection->order = sbs_allocate(allocator, count, sizeof *dissection->order);
  dissection->slots = sbs_allocate(allocator, size, sizeof *dissection->slots);
  dissection->ends = sbs_allocate(allocator, count, sizeof *dissection->ends);
  dissector in = {.graph = graph, .made = dissection};
  in.copy = sbs_allocate(allocator, count, sizeof *in.copy);
  in.kind = sbs_allocate(allocator, count, sizeof *in.kind);
  const int has_all = dissection->order && dissection->slots && dissection->ends && in.copy && in.kind;
  if (has_all) {
    memcpy(dissection->order, unknowns, count * sizeof *unknowns);
    find_slots(&in, 0, count);
    dissect(&in, 0, count);
  }
  sbs_release(allocator, in.copy);
  sbs_release(allocator, in.kind);
  return has_all ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
}

void sbs_dissection_free(sbs_dissection *dissection, const sbs_allocator *allocator) {
  sbs_release(allocator, dissection->order);
  sbs_release(allocator, dissection->slots);
  sbs_release(allocator, dissection->ends);
}
