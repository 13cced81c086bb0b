/* SPDX-License-Identifier: MIT */
/* Vertices packed in blocks: each exactly once, in the right group, with its own position, weights and normal. */
#include <float.h>

#include "base/scalar.h"
#include "rig.h"
#include "skin/skin.h"

/* The heaviest joint of a vertex, ties to the lowest; -1 if it has none. */
static int32_t heaviest_joint(const rig *made, size_t vertex) {
  int32_t heaviest = -1;
  double most = 0.0;
  for (size_t k = 0; k < made->influences; k++) {
    const int32_t joint = made->joint_indices[vertex * made->influences + k];
    const double weight = made->joint_weights[vertex * made->influences + k];
    if (weight > most || (weight == most && weight > 0.0 && joint < heaviest)) {
      heaviest = joint;
      most = weight;
    }
  }
  return heaviest;
}

static double weight_of_joint(const rig *made, size_t vertex, int32_t joint) {
  double weight = 0.0, sum = 0.0;
  for (size_t k = 0; k < made->influences; k++) {
    sum += made->joint_weights[vertex * made->influences + k];
    if (made->joint_indices[vertex * made->influences + k] == joint) {
      weight = made->joint_weights[vertex * made->influences + k];
    }
  }
  return sum > 0.0 ? weight / sum : 0.0;
}

/* How many of the numbers of one lane are wrong. */
static size_t wrong_in_lane(const sbs_skin *skin, const rig *made, const sbs_item *item, size_t block, size_t lane) {
  const sbs_group *group = skin->groups + item->group;
  const size_t set = (size_t)group->set, size = sbs_set_size(skin, set);
  const size_t at = item->stream + block * sbs_block_size(group) + lane;
  const size_t of_all = (item->first_block + block) * SBS_BLOCK + lane, vertex = (size_t)skin->vertices[of_all];
  const int32_t *joints = skin->set_joints + skin->set_offsets[set];
  const double rounding = sbs_scalar_epsilon(skin->scalar);
  size_t wrong = 0;

  for (size_t axis = 0; axis < 3; axis++) {
    const double origin = size ? skin->set_centroids[3 * set + axis] : 0.0;
    const double packed = sbs_scalar_get(skin->stream, skin->scalar, at + axis * SBS_BLOCK);
    wrong += !(fabs(packed - (made->positions[3 * vertex + axis] - origin)) <= rounding);
  }
  const int32_t pivot = size ? joints[skin->pivots[item->group].joint] : -1;
  wrong += heaviest_joint(made, vertex) != (size ? joints[skin->heaviest[of_all]] : -1);
  wrong += size && !(fabs(sbs_scalar_get(skin->pivot_weights, skin->scalar, of_all) -
                          weight_of_joint(made, vertex, pivot)) <= rounding);
  double left = 1.0;
  for (size_t i = 0, row = 3; i < size; i++) {
    const double expected = weight_of_joint(made, vertex, joints[i]);
    wrong += !(expected > 0.0);
    left -= expected;
    if (joints[i] == pivot) continue;
    wrong += !(fabs(sbs_scalar_get(skin->stream, skin->scalar, at + row++ * SBS_BLOCK) - expected) <= rounding);
  }
  wrong += size && !(fabs(left) <= 1e-14); /* the set has all the vertex's joints */

  if (skin->normals) {
    const double *n = made->normals + 3 * vertex;
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (size_t axis = 0; axis < 3; axis++) {
      const size_t index = ((item->first_block + block) * 3 + axis) * SBS_BLOCK + lane;
      wrong += !(fabs(sbs_scalar_get(skin->normals, skin->scalar, index) - n[axis] / length) <= rounding);
    }
  }
  return wrong;
}

/* How many vertices of a group have a joint as their heaviest. */
static size_t count_heaviest(const sbs_skin *skin, size_t group, int32_t joint) {
  size_t count = 0;
  for (size_t i = 0; i < skin->item_count; i++) {
    const sbs_item *item = skin->items + i;
    for (size_t k = 0; k < (size_t)item->vertex_count && (size_t)item->group == group; k++) {
      count += skin->heaviest[item->first_block * SBS_BLOCK + k] == joint;
    }
  }
  return count;
}

/* Groups go by the size of their sets; the first pivot is the heaviest joint of most vertices, the others ascend. */
static void check_groups(const sbs_skin *skin) {
  size_t row = 0, more = skin->group_count, more_row = 0, wrong = 0;
  for (size_t group = 0; group < skin->group_count; group++) more_row += (size_t)skin->groups[group].others;
  for (size_t group = 0; group < skin->group_count; group++) {
    const sbs_group *found = skin->groups + group;
    const size_t size = sbs_set_size(skin, (size_t)found->set), count = (size_t)found->pivot_count;
    wrong += (size_t)found->others != (size ? size - 1 : 0);
    wrong += group &&
             !(found[-1].others < found->others || (found[-1].others == found->others && found[-1].set < found->set));
    wrong += skin->pivots[group].first_row != row || found->more_pivots != more;
    row += (size_t)found->others;
    size_t left = 0; /* vertices, few as they are */
    const size_t most = skin->group_count < 100 ? count_heaviest(skin, group, skin->pivots[group].joint) : 0;
    for (size_t k = 0; k < count; k++) {
      const sbs_pivot *pivot = skin->pivots + sbs_group_pivot(skin, group, k);
      wrong += pivot->joint < 0 || (size_t)pivot->joint >= (size ? size : 1);
      if (!k) continue;
      wrong += pivot->joint == skin->pivots[group].joint || (k > 1 && pivot->joint <= pivot[-1].joint);
      wrong += pivot->first_row != more_row;
      more_row += (size_t)found->others;
      if (most) left = count_heaviest(skin, group, pivot->joint);
      wrong += most && (left > most || (left == most && pivot->joint < skin->pivots[group].joint));
    }
    more += count - 1;
  }
  CHECK_EQUAL(wrong, 0);
  CHECK_EQUAL(skin->pivot_count, more);
  CHECK_EQUAL(skin->row_count, more_row);
}

static int contains(const int32_t *vertices, size_t count, int32_t vertex) {
  for (size_t i = 0; i < count; i++) {
    if (vertices[i] == vertex) return 1;
  }
  return 0;
}

/* Where runs begin in a block, of so many vertices. */
static unsigned find_runs(const int32_t *vertices, size_t count) {
  unsigned runs = 1;
  for (size_t i = 1; i < SBS_BLOCK && i < count; i++) {
    if (vertices[i] != vertices[i - 1] + 1) runs |= 1u << i;
  }
  return runs;
}

/*
 * Whether all lanes of a block may be stored: the numbers after its last are of items that the same thread does later.
 */
static int is_straight(const sbs_skin *skin, size_t number, const int32_t *vertices, size_t count,
                       const size_t *item_of_vertex) {
  const size_t chunk = sbs_chunk_blocks(skin);
  if (find_runs(vertices, count) != 1) return 0;
  for (size_t i = count; i < SBS_BLOCK; i++) {
    const size_t vertex = (size_t)vertices[0] + i;
    if (vertex >= skin->vertex_count || item_of_vertex[vertex] <= number) return 0;
    if (skin->items[item_of_vertex[vertex]].first_block / chunk != skin->items[number].first_block / chunk) return 0;
  }
  return 1;
}

/* A block of which lanes are stored that are none of its vertices must be straight; a full one that is, is known. */
static size_t count_wrong_runs(const sbs_skin *skin) {
  size_t *item_of_vertex = calloc(skin->vertex_count, sizeof *item_of_vertex), wrong = 0;
  if (!item_of_vertex) abort();
  for (size_t i = 0; i < skin->item_count; i++) {
    const sbs_item *item = skin->items + i;
    for (size_t k = 0; k < (size_t)item->vertex_count; k++) {
      item_of_vertex[skin->vertices[item->first_block * SBS_BLOCK + k]] = i;
    }
  }
  for (size_t i = 0; i < skin->item_count; i++) {
    const sbs_item *item = skin->items + i;
    for (size_t block = 0; block < sbs_item_blocks(item); block++) {
      const int32_t *vertices = skin->vertices + (item->first_block + block) * SBS_BLOCK;
      const size_t left = (size_t)item->vertex_count - block * SBS_BLOCK, count = left < SBS_BLOCK ? left : SBS_BLOCK;
      const unsigned runs = skin->runs[item->first_block + block];
      if (runs) {
        wrong += runs != find_runs(vertices, count) || (runs == 1 && count == SBS_BLOCK);
      } else {
        wrong += !is_straight(skin, i, vertices, count, item_of_vertex);
      }
    }
  }
  free(item_of_vertex);
  return wrong;
}

/* Each vertex of a block that is not straight is copied once, with those that follow it in the mesh as well. */
static size_t count_wrong_copies(const sbs_skin *skin) {
  unsigned char *copied = calloc(skin->vertex_count, 1);
  size_t wrong = 0;
  if (!copied) abort();
  for (size_t block = 0; block < skin->block_count; block++) {
    for (size_t list = 0; list < SBS_COPY_SIZES; list++) {
      const uint32_t *starts = skin->copies.starts[list];
      for (uint32_t i = starts[block]; i < starts[block + 1]; i++) {
        const size_t lane = skin->copies.lanes[list][i], end = lane + sbs_copy_size(list);
        wrong += !skin->runs[block] || lane < block * SBS_BLOCK || end > (block + 1) * SBS_BLOCK;
        for (size_t k = lane; k < end; k++) {
          wrong += skin->vertices[k] != skin->vertices[lane] + (int32_t)(k - lane);
          wrong += copied[skin->vertices[k]]++ != 0;
        }
      }
    }
    for (size_t lane = block * SBS_BLOCK; lane < (block + 1) * SBS_BLOCK && skin->runs[block]; lane++) {
      wrong += !copied[skin->vertices[lane]];
    }
  }
  free(copied);
  return wrong;
}

static void check_packing(const rig *made, sbs_scalar scalar, int with_normals) {
  sbs_skin *skin = bind_rig(made, scalar, with_normals);
  unsigned char *seen = calloc(made->vertex_count, 1);
  if (!seen) abort();
  check_groups(skin);
  CHECK_EQUAL((uintptr_t)skin->stream % 64, 0);
  CHECK_EQUAL((uintptr_t)skin->normals % 64, 0);
  CHECK_EQUAL(skin->normals != NULL, with_normals);

  size_t blocks = 0, stream = 0, wrong_items = 0, wrong_lanes = 0;
  for (size_t i = 0; i < skin->item_count; i++) {
    const sbs_item *item = skin->items + i;
    const size_t count = (size_t)item->vertex_count, item_blocks = (count + SBS_BLOCK - 1) / SBS_BLOCK;
    const int32_t *vertices = skin->vertices + item->first_block * SBS_BLOCK;
    wrong_items += item->first_block != blocks || item->stream != stream;
    wrong_items += count == 0 || item_blocks > SBS_ITEM_BLOCKS;
    wrong_items += !contains(vertices, count, item->lowest);
    wrong_items += item->group < 0 || (size_t)item->group >= skin->group_count;
    for (size_t k = 0; k < item_blocks * SBS_BLOCK; k++) {
      const int32_t vertex = vertices[k];
      if (k < count) seen[vertex]++;
      const int32_t *heaviest = skin->heaviest + item->first_block * SBS_BLOCK + k;
      if (k && k < count)
        wrong_lanes += heaviest[-1] > *heaviest || (heaviest[-1] == *heaviest && vertices[k - 1] >= vertex);
      if (k < count) wrong_lanes += vertex < item->lowest || vertex / SBS_TILE != item->lowest / SBS_TILE;
      if (k >= count) wrong_lanes += vertex != vertices[count - 1];
      wrong_lanes += wrong_in_lane(skin, made, item, k / SBS_BLOCK, k % SBS_BLOCK);
    }
    blocks += item_blocks;
    stream += item_blocks * sbs_block_size(skin->groups + item->group);
  }
  size_t not_once = 0;
  for (size_t v = 0; v < made->vertex_count; v++) not_once += seen[v] != 1;
  CHECK_EQUAL(not_once, 0);
  CHECK_EQUAL(count_wrong_runs(skin), 0);
  CHECK_EQUAL(count_wrong_copies(skin), 0);
  CHECK_EQUAL(wrong_items, 0);
  CHECK_EQUAL(wrong_lanes, 0);
  CHECK_EQUAL(skin->block_count, blocks);
  free(seen);
  sbs_skin_free(skin);
}

static void check_all_packings(const rig *made) {
  for (int with_normals = 0; with_normals < 2; with_normals++) {
    check_packing(made, SBS_FLOAT32, with_normals);
    check_packing(made, SBS_FLOAT64, with_normals);
  }
}

static void test_around_the_size_of_a_block(void) {
  static const size_t counts[] = {1, 2, 15, 16, 17, 31, 32, 33, 511, 512, 513};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    rig made = new_rig(i, counts[i], 1, 1);
    check_all_packings(&made);
    free_rig(&made);
    made = new_rig(i, counts[i], 4, 3);
    check_all_packings(&made);
    free_rig(&made);
  }
}

static void test_around_the_size_of_a_tile(void) {
  static const size_t counts[] = {SBS_TILE - 1, SBS_TILE, SBS_TILE + 1, 2 * SBS_TILE + 100};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    rig made = new_rig(i, counts[i], 5, 2);
    check_packing(&made, SBS_FLOAT32, 1);
    free_rig(&made);
  }
}

/* One group over several tiles: full items of consecutive vertices, cut where a tile ends. */
static void test_one_group_is_consecutive(void) {
  const size_t tile_items = SBS_TILE / (SBS_BLOCK * SBS_ITEM_BLOCKS);
  rig made = new_rig(1, SBS_TILE + 7, 1, 1);
  check_packing(&made, SBS_FLOAT32, 0);
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT32, 0);
  CHECK_EQUAL(skin->group_count, 1);
  CHECK_EQUAL(skin->item_count, tile_items + 1);
  CHECK_EQUAL(skin->block_count, SBS_TILE / SBS_BLOCK + 1);
  size_t wrong = 0;
  for (size_t v = 0; v < made.vertex_count; v++) wrong += (size_t)skin->vertices[v] != v;
  CHECK_EQUAL(wrong, 0);
  sbs_skin_free(skin);
  free_rig(&made);
}

static void test_many_influences(void) {
  rig made = new_rig(2, 700, 60, 40);
  check_all_packings(&made);
  free_rig(&made);
}

/* As many groups as vertices, beside vertices of no joint and of one. */
static void test_mixed_vertices(void) {
  rig made = new_rig(3, 5000, 300, 4);
  for (size_t v = 0; v < made.vertex_count; v++) {
    for (size_t k = v % 5; k < 4; k++) made.joint_weights[4 * v + k] = 0.0;
  }
  check_all_packings(&made);
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT32, 0);
  CHECK_EQUAL(skin->unweighted_vertex_count, 1000);
  CHECK_EQUAL(sbs_set_size(skin, 0), 0);
  CHECK_EQUAL(skin->groups[0].set, 0);
  sbs_skin_free(skin);
  free_rig(&made);
}

/* The vertices of one set are one group, with as many pivots as there are heaviest joints. */
static void test_pivots_by_heaviest_joint(void) {
  rig made = new_rig(4, 400, 3, 3);
  check_all_packings(&made);
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT64, 0);
  CHECK_EQUAL(skin->set_count, 1);
  CHECK_EQUAL(skin->group_count, 1);
  CHECK_EQUAL(skin->pivot_count, 3);
  CHECK_EQUAL(skin->block_count, 25);
  sbs_skin_free(skin);
  free_rig(&made);
}

/* In the order of the skin, where most blocks are straight, and not quite in it. */
static void test_vertices_in_order(void) {
  rig made = new_rig(8, 9000, 12, 3);
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT32, 0);
  int32_t *order = malloc(made.vertex_count * sizeof *order);
  if (!order) abort();
  CHECK_EQUAL(sbs_skin_vertex_order(skin, order), SBS_OK);
  for (size_t i = 0; i < 3; i++) {
    rig ordered = reorder_rig(&made, order);
    check_all_packings(&ordered);
    free_rig(&ordered);
    const int32_t moved = order[1000 * i];
    order[1000 * i] = order[1000 * i + 20];
    order[1000 * i + 20] = moved;
  }
  free(order);
  sbs_skin_free(skin);
  free_rig(&made);
}

/* The squares of these would overflow or vanish. */
static void test_normals_of_any_length(void) {
  static const double lengths[] = {DBL_MAX, 1e200, 1.0, 1e-200, 4.9e-324};
  rig made = new_rig(5, 6, 1, 1);
  for (size_t v = 0; v < 5; v++) {
    for (size_t axis = 0; axis < 3; axis++) made.normals[3 * v + axis] = axis == v % 3 ? -lengths[v] : 0.0;
  }
  for (size_t axis = 0; axis < 3; axis++) made.normals[15 + axis] = 0.0;
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT64, 1);
  const double *packed = skin->normals;
  for (size_t v = 0; v < 6; v++) {
    for (size_t axis = 0; axis < 3; axis++) {
      CHECK_NEAR(packed[axis * SBS_BLOCK + v], v < 5 && axis == v % 3 ? -1.0 : 0.0, DBL_EPSILON);
    }
  }
  sbs_skin_free(skin);
  free_rig(&made);
}

/* What the public questions say is what was packed. */
static void test_info_and_joint_sets(void) {
  rig made = new_rig(6, 3000, 9, 3);
  for (size_t v = 0; v < made.vertex_count; v += 10) {
    for (size_t k = v % 3; k < 3; k++) made.joint_weights[3 * v + k] = 0.0;
  }
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT32, 1);
  sbs_skin_info info;
  CHECK_EQUAL(sbs_skin_get_info(skin, &info), SBS_OK);
  CHECK_EQUAL(info.vertex_count, 3000);
  CHECK_EQUAL(info.joint_count, 9);
  CHECK_EQUAL(info.max_influences, 3);
  CHECK_EQUAL(info.unweighted_vertex_count, 100);
  CHECK_EQUAL(info.scalar, SBS_FLOAT32);
  CHECK_EQUAL(info.has_normals, 1);
  CHECK(info.memory > 3000 * 9 * sizeof(float));

  size_t *offsets = malloc((info.joint_set_count + 1) * sizeof *offsets);
  int32_t *joints = malloc(info.joint_set_size_sum * sizeof *joints), *sets = malloc(3000 * sizeof *sets);
  if (!offsets || !joints || !sets) abort();
  CHECK_EQUAL(sbs_skin_joint_sets(skin, offsets, joints), SBS_OK);
  CHECK_EQUAL(sbs_skin_joint_set_of_vertex(skin, sets), SBS_OK);
  CHECK_EQUAL(offsets[0], 0);
  CHECK_EQUAL(offsets[info.joint_set_count], info.joint_set_size_sum);
  size_t wrong = 0, nontrivial = 0;
  for (size_t set = 0; set < info.joint_set_count; set++) nontrivial += offsets[set + 1] - offsets[set] > 1;
  CHECK_EQUAL(info.nontrivial_joint_set_count, nontrivial); /* no parents, so no set is trivial */
  for (size_t v = 0; v < 3000; v++) {
    double sum = 0.0;
    for (size_t i = offsets[sets[v]]; i < offsets[sets[v] + 1]; i++) {
      const double weight = weight_of_joint(&made, v, joints[i]);
      wrong += !(weight > 0.0);
      wrong += i > offsets[sets[v]] && joints[i] <= joints[i - 1];
      sum += weight;
    }
    wrong += !(fabs(sum - (heaviest_joint(&made, v) < 0 ? 0.0 : 1.0)) <= 1e-15 * 4);
  }
  CHECK_EQUAL(wrong, 0);
  free(offsets);
  free(joints);
  free(sets);
  sbs_skin_free(skin);
  free_rig(&made);
}

int main(void) {
  RUN(test_around_the_size_of_a_block);
  RUN(test_around_the_size_of_a_tile);
  RUN(test_one_group_is_consecutive);
  RUN(test_many_influences);
  RUN(test_mixed_vertices);
  RUN(test_pivots_by_heaviest_joint);
  RUN(test_vertices_in_order);
  RUN(test_normals_of_any_length);
  RUN(test_info_and_joint_sets);
  return harness_result();
}
