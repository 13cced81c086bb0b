/* SPDX-License-Identifier: MIT */
#include "skin/signs.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "mesh/union_find.h"

/* A pair and how many vertices have it. */
typedef struct counted_pair {
  sbs_joint_pair pair; /* a < b */
  int64_t count;
} counted_pair;

typedef struct pair_finder {
  const sbs_skin *skin;
  size_t *heaviest_counts; /* (set_offsets[set_count]) how many vertices of the set have the joint as their heaviest */
  counted_pair *all;       /* the pairs of each set */
  size_t all_count;
  size_t *starts;         /* (joint_count + 1) where those with joint a start in `by_joint` */
  counted_pair *by_joint; /* the same pairs, by a; later each of them once */
  int32_t *places;        /* (joint_count) where the pair with joint b is */
  int32_t *trees;         /* (joint_count) union-find */
} pair_finder;

static void count_heaviest(const pair_finder *finder) {
  const sbs_skin *skin = finder->skin;
  memset(finder->heaviest_counts, 0, skin->set_offsets[skin->set_count] * sizeof *finder->heaviest_counts);
  for (size_t v = 0; v < skin->vertex_count; v++) {
    size_t slot = skin->set_offsets[skin->set_of_vertex[v]];
    if (slot == skin->set_offsets[skin->set_of_vertex[v] + 1]) continue;
    while (skin->set_joints[slot] != skin->heaviest[v]) slot++;
    finder->heaviest_counts[slot]++;
  }
}

/* The pairs of all sets; only counts them if there is no array. */
static void list_pairs(pair_finder *finder) {
  const sbs_skin *skin = finder->skin;
  finder->all_count = 0;
  for (size_t set = 0; set < skin->set_count; set++) {
    for (size_t i = skin->set_offsets[set]; i < skin->set_offsets[set + 1]; i++) {
      for (size_t k = skin->set_offsets[set]; k < i; k++) {
        const size_t count = finder->heaviest_counts[i] + finder->heaviest_counts[k];
        if (!count) continue;
        if (finder->all) {
          finder->all[finder->all_count] = (counted_pair){{skin->set_joints[k], skin->set_joints[i]}, (int64_t)count};
        }
        finder->all_count++;
      }
    }
  }
}

/* Sorts pairs by their first joint and adds up the counts of equal ones. Returns how many are left. */
static size_t merge_pairs(const pair_finder *finder) {
  const size_t joint_count = finder->skin->joint_count;
  size_t *starts = finder->starts, kept = 0;
  memset(starts, 0, (joint_count + 1) * sizeof *starts);
  for (size_t i = 0; i < finder->all_count; i++) starts[finder->all[i].pair.a + 1]++;
  for (size_t j = 0; j < joint_count; j++) starts[j + 1] += starts[j];
  for (size_t i = 0; i < finder->all_count; i++) finder->by_joint[starts[finder->all[i].pair.a]++] = finder->all[i];
  memset(finder->places, -1, joint_count * sizeof *finder->places);
  for (size_t i = 0, first = 0; i < finder->all_count; i++) {
    const counted_pair found = finder->by_joint[i];
    int32_t *place = finder->places + found.pair.b;
    if (i && finder->by_joint[i - 1].pair.a != found.pair.a) first = kept;
    if (*place >= 0 && (size_t)*place >= first) {
      finder->all[*place].count += found.count;
    } else {
      *place = (int32_t)kept;
      finder->all[kept++] = found;
    }
  }
  return kept;
}

static int compare_counts(const void *left, const void *right) {
  const counted_pair *a = left, *b = right;
  if (a->count != b->count) return a->count > b->count ? -1 : 1;
  if (a->pair.a != b->pair.a) return a->pair.a < b->pair.a ? -1 : 1;
  return (a->pair.b > b->pair.b) - (a->pair.b < b->pair.b);
}

/* Brings the pairs that join two trees to the front, the most frequent first. Returns how many they are. */
static size_t choose_trees(const pair_finder *finder, sbs_joint_pair *pairs, size_t count) {
  size_t tree_count = 0, rest = count;
  sbs_groups_init(finder->trees, finder->skin->joint_count);
  for (size_t i = 0; i < count; i++) {
    const sbs_joint_pair pair = finder->all[i].pair;
    if (sbs_groups_find(finder->trees, pair.a) == sbs_groups_find(finder->trees, pair.b)) {
      pairs[--rest] = pair;
    } else {
      sbs_groups_unite(finder->trees, pair.a, pair.b);
      pairs[tree_count++] = pair;
    }
  }
  return tree_count;
}

/*
 * Orders the pairs of trees so that each continues one before it, or starts a tree: from the joints that are known,
 * one step after the other. `known` is 1 for joints of the pairs so far.
 */
static void order_trees(sbs_joint_pair *pairs, size_t count, int32_t *known, size_t joint_count) {
  memset(known, 0, joint_count * sizeof *known);
  for (size_t done = 0; done < count;) {
    const size_t before = done;
    for (size_t i = done; i < count; i++) {
      const sbs_joint_pair pair = pairs[i];
      if (!known[pair.a] == !known[pair.b]) continue;
      pairs[i] = pairs[done];
      pairs[done++] = known[pair.a] ? pair : (sbs_joint_pair){pair.b, pair.a};
      known[pair.a] = known[pair.b] = 1;
    }
    if (done > before) continue;
    known[pairs[done].a] = known[pairs[done].b] = 1;
    done++;
  }
}

sbs_status sbs_find_signs(sbs_skin *skin) {
  sbs_arena arena = sbs_arena_from(&skin->allocator);
  pair_finder finder = {.skin = skin};
  sbs_signs *signs = &skin->signs;
  finder.heaviest_counts = sbs_arena_take(&arena, skin->set_offsets[skin->set_count], sizeof *finder.heaviest_counts);
  finder.starts = sbs_arena_take(&arena, skin->joint_count + 1, sizeof *finder.starts);
  finder.places = sbs_arena_take(&arena, skin->joint_count, sizeof *finder.places);
  finder.trees = sbs_arena_take(&arena, skin->joint_count, sizeof *finder.trees);
  if (!arena.failed) {
    count_heaviest(&finder);
    list_pairs(&finder);
    finder.by_joint = sbs_arena_take(&arena, finder.all_count, sizeof *finder.by_joint);
    finder.all = sbs_arena_take(&arena, finder.all_count, sizeof *finder.all);
  }
  sbs_status status = arena.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
  if (!status && finder.all_count > INT32_MAX) status = SBS_ERROR_TOO_LARGE;
  if (!status) {
    list_pairs(&finder);
    signs->pair_count = merge_pairs(&finder);
    qsort(finder.all, signs->pair_count, sizeof *finder.all, compare_counts);
    signs->pairs = sbs_skin_allocate(skin, signs->pair_count, sizeof *signs->pairs);
    if (!signs->pairs) status = SBS_ERROR_OUT_OF_MEMORY;
  }
  if (!status) {
    signs->tree_count = choose_trees(&finder, signs->pairs, signs->pair_count);
    order_trees(signs->pairs, signs->tree_count, finder.places, skin->joint_count);
  }
  sbs_arena_release(&arena);
  return status;
}
