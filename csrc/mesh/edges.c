/* SPDX-License-Identifier: MIT */
#include "mesh/edges.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/progress.h"
#include "mesh/validate.h"

sbs_status sbs_edges_validate(const sbs_mesh_desc *mesh, const int32_t *representatives, sbs_fault *fault) {
  const sbs_status status = sbs_mesh_validate_triangles(mesh, fault);
  if (status) return status;
  if (mesh->triangle_count > SBS_MOST_TRIANGLES) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "triangle_count", (double)mesh->triangle_count,
                            (double)SBS_MOST_TRIANGLES);
  }
  return representatives ? sbs_mesh_validate_representatives(representatives, mesh->vertex_count, fault) : SBS_OK;
}

typedef struct edge_ends {
  int32_t low, high;
} edge_ends;

static size_t hash_ends(edge_ends ends) {
  uint64_t hash = ((uint64_t)(uint32_t)ends.high << 32 | (uint32_t)ends.low) * 0x9e3779b97f4a7c15u;
  return (size_t)(hash ^ (hash >> 32));
}

static edge_ends side_ends(const int32_t *triangles, size_t side, const int32_t *representatives) {
  const size_t triangle = side / 3, corner = side % 3;
  int32_t from = triangles[side], to = triangles[3 * triangle + (corner + 1) % 3];
  if (representatives) {
    from = representatives[from];
    to = representatives[to];
  }
  return from < to ? (edge_ends){from, to} : (edge_ends){to, from};
}

sbs_status sbs_edges_find(const int32_t *triangles, size_t triangle_count, const int32_t *representatives,
                          const sbs_allocator *allocator, sbs_edges *edges) {
  const size_t side_count = 3 * triangle_count;
  size_t bucket_count = 2;
  while (bucket_count < 2 * side_count) bucket_count *= 2;
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  *edges = (sbs_edges){0};
  edges->of_sides = sbs_allocate(allocator, side_count, sizeof *edges->of_sides);
  int32_t *buckets = sbs_allocate(allocator, bucket_count, sizeof *buckets); /* edges, -1: free */
  edge_ends *ends = sbs_allocate(allocator, side_count, sizeof *ends);       /* of each edge */
  if (!edges->of_sides || !buckets || !ends) goto cleanup;
  memset(buckets, -1, bucket_count * sizeof *buckets);

  for (size_t side = 0; side < side_count; side++) {
    if ((status = sbs_tell_some(side, side_count))) goto cleanup;
    const edge_ends own = side_ends(triangles, side, representatives);
    if (own.low == own.high) {
      edges->of_sides[side] = -1;
      continue;
    }
    size_t bucket = hash_ends(own) & (bucket_count - 1);
    for (;; bucket = (bucket + 1) & (bucket_count - 1)) {
      if (buckets[bucket] < 0) {
        buckets[bucket] = (int32_t)edges->count;
        ends[edges->count++] = own;
        break;
      }
      const edge_ends other = ends[buckets[bucket]];
      if (other.low == own.low && other.high == own.high) break;
    }
    edges->of_sides[side] = buckets[bucket];
  }
  status = SBS_OK;

cleanup:
  sbs_release(allocator, buckets);
  sbs_release(allocator, ends);
  if (status) sbs_edges_free(edges, allocator);
  return status;
}

void sbs_edges_pair_sides(const sbs_edges *edges, size_t side_count, int32_t *firsts, int32_t *seconds) {
  for (size_t e = 0; e < edges->count; e++) firsts[e] = seconds[e] = SBS_NO_SIDE;
  for (size_t side = 0; side < side_count; side++) {
    const int32_t e = edges->of_sides[side];
    if (e < 0) continue;
    if (firsts[e] == SBS_NO_SIDE) {
      firsts[e] = (int32_t)side;
    } else {
      seconds[e] = seconds[e] == SBS_NO_SIDE ? (int32_t)side : SBS_MANY_SIDES;
    }
  }
}

void sbs_edges_free(sbs_edges *edges, const sbs_allocator *allocator) {
  sbs_release(allocator, edges->of_sides);
  edges->of_sides = NULL;
}
