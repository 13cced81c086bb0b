/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_EXACT_H
#define SBS_KERNELS_EXACT_H

#include "base/isa.h"
#include "kernels/rest.h"
#include "pose/posed.h"

/*
 * All methods once more, in double, for vertices for which sums of rows are not enough: about centers far
 * away, of joints that stretch, of quaternions whose signs depend on the vertex, of spherical averages, of numbers
 * too large for the type to multiply, and without weights. The inverse is found here for all vertices.
 */
typedef struct sbs_exact_args {
  const sbs_posed *posed;
  sbs_rest rest;
  sbs_method method;
  sbs_rotation rotation;
  sbs_center center;
  double damping;          /* of weighted centers */
  const uint16_t *wanted;  /* (block_count) a bit for each vertex that is wanted */
  const void *amounts;     /* (block_count, SBS_BLOCK) of the skin's type, or NULL: all 1 */
  void *positions;         /* of the mesh, as are the following */
  size_t positions_stride; /* bytes */
  void *normals;           /* or NULL */
  size_t normals_stride;

  const void *posed_positions; /* or NULL; if given, `positions` receives the rest positions that they come of */
  size_t posed_stride;
  unsigned char *singular; /* (vertex_count) or NULL; whether a vertex has no inverse */
} sbs_exact_args;

/* Doubles of workspace for sets of up to so many joints. */
enum {
  SBS_EXACT_WORK = 6 * 8 /* for each influence, six vectors of eight lanes at most */
};
static inline size_t sbs_exact_work_size(size_t max_influences) {
  return SBS_EXACT_WORK * (max_influences + SBS_MORE_JOINTS);
}

/*
 * The wanted vertices of blocks [begin, end). Returns how many have no inverse.
 *
 *   work  (sbs_exact_work_size) aligned to SBS_ALIGNMENT
 */
typedef size_t sbs_exact(const sbs_exact_args *args, double *work, size_t begin, size_t end);

sbs_exact *sbs_choose_exact(sbs_isa isa);

#endif
