/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/progress.h"
#include "mesh/positions.h"
#include "mesh/validate.h"

typedef struct point {
  double x[3];
} point;

static point read_point(const sbs_mesh_desc *mesh, size_t vertex) {
  const sbs_vec3 position = sbs_mesh_position(mesh, vertex);
  /* adding zero turns -0 into 0, so that equal coordinates have equal bits */
  return (point){{position.x + 0.0, position.y + 0.0, position.z + 0.0}};
}

/* Multiplies and mixes the bits, because float32 coordinates differ only in the upper half of a double. */
static size_t hash_point(point p) {
  uint64_t hash = 0;
  for (size_t axis = 0; axis < 3; axis++) {
    uint64_t bits;
    memcpy(&bits, &p.x[axis], sizeof bits);
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return (size_t)hash;
}

sbs_status sbs_mesh_weld(const sbs_mesh_desc *mesh, const sbs_allocator *allocator, int32_t *representatives,
                         sbs_fault *fault) {
  if (!mesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "mesh");
  if (!representatives) return sbs_fault_in(fault, SBS_ERROR_NULL, "representatives");
  sbs_allocator chosen;
  sbs_status status = sbs_choose_allocator(allocator, &chosen, fault);
  if (status) return status;
  status = sbs_mesh_validate_positions(mesh, fault);
  if (status) return status;

  size_t bucket_count = 2;
  while (bucket_count < 2 * mesh->vertex_count) bucket_count *= 2;
  int32_t *buckets = sbs_allocate(&chosen, bucket_count, sizeof *buckets);
  if (!buckets) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  memset(buckets, -1, bucket_count * sizeof *buckets);

  for (size_t v = 0; v < mesh->vertex_count; v++) {
    if ((status = sbs_tell_some(v, mesh->vertex_count))) break;
    const point p = read_point(mesh, v);
    size_t bucket = hash_point(p) & (bucket_count - 1);
    for (;; bucket = (bucket + 1) & (bucket_count - 1)) {
      if (buckets[bucket] < 0) {
        buckets[bucket] = (int32_t)v;
        break;
      }
      const point other = read_point(mesh, (size_t)buckets[bucket]);
      if (memcmp(&p, &other, sizeof p) == 0) break;
    }
    representatives[v] = buckets[bucket];
  }
  sbs_release(&chosen, buckets);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}
