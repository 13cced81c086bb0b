/* SPDX-License-Identifier: MIT */
#include "weights/heat_sources.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* Bones are equally near if their distances differ by at most this share. */
#define TIE 1e-4

enum {
  SLICE = 4096 /* sources checked for visibility between reports of progress */
};

typedef struct bone {
  double head[3], axis[3];
  double offset; /* of the head along the axis */
  double square; /* of the axis; 1 where it has no length */
} bone;

static bone make_bone(const sbs_heat_surface *surface, const double *head, const double *tail) {
  bone made = {.square = 0.0};
  double scaled[3];
  sbs_heat_surface_scale(surface, head, made.head);
  sbs_heat_surface_scale(surface, tail, scaled);
  for (size_t i = 0; i < 3; i++) {
    made.axis[i] = scaled[i] - made.head[i];
    made.offset += made.head[i] * made.axis[i];
    made.square += made.axis[i] * made.axis[i];
  }
  if (made.square == 0.0) made.square = 1.0;
  return made;
}

/* Finds the point of a bone that is nearest to a point; returns the square of the distance. */
static double find_nearest_place(const bone *to, const double *point, double place[3]) {
  double along = 0.0, square = 0.0;
  for (size_t i = 0; i < 3; i++) along += point[i] * to->axis[i];
  along -= to->offset;
  along = fmin(fmax(along / to->square, 0.0), 1.0);
  for (size_t i = 0; i < 3; i++) {
    place[i] = to->head[i] + along * to->axis[i];
    square += (point[i] - place[i]) * (point[i] - place[i]);
  }
  return square;
}

/* ------------------------------------------------------------------------------------------------- nearest bones -- */

/* Makes room for more sources, if all is taken. */
static sbs_status make_room(sbs_heat_sources *found, size_t *room, const sbs_allocator *allocator) {
  if (found->count < *room) return SBS_OK;
  sbs_heat_source *sources = sbs_allocate(allocator, 2 * *room, sizeof *sources);
  if (!sources) return SBS_ERROR_OUT_OF_MEMORY;
  memcpy(sources, found->sources, found->count * sizeof *sources);
  sbs_release(allocator, found->sources);
  found->sources = sources;
  *room *= 2;
  return SBS_OK;
}

/* Lists the nearest bones of each vertex, visible or not. */
static sbs_status find_nearest(sbs_heat_sources *found, const sbs_heat_surface *surface, const bone *bones,
                               const sbs_allocator *allocator) {
  const size_t count = surface->vertex_count;
  size_t room = count; /* mostly one bone is the nearest */
  double place[3];
  found->sources = sbs_allocate(allocator, room, sizeof *found->sources);
  sbs_status status = found->sources ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  for (size_t v = 0; !status && v < count; v++) {
    const double *point = surface->positions + 3 * v;
    double least = INFINITY;
    if ((status = sbs_tell_some(v, count))) break;
    for (size_t b = 0; b < found->bone_count; b++) least = fmin(least, find_nearest_place(bones + b, point, place));
    for (size_t b = 0; b < found->bone_count && !status; b++) {
      const double square = find_nearest_place(bones + b, point, place);
      if (square > (1.0 + TIE) * (1.0 + TIE) * least) continue;
      status = make_room(found, &room, allocator);
      if (!status) found->sources[found->count++] = (sbs_heat_source){(int32_t)v, (int32_t)b, sqrt(square)};
    }
  }
  return status;
}

/* --------------------------------------------------------------------------------------------------------- sight -- */

/* The segments that the tree is asked about at once. */
typedef struct sight {
  double starts[SLICE][3], ends[SLICE][3];
  int32_t vertices[SLICE];
  unsigned char blocked[SLICE];
} sight;

static sbs_status look(sight *at, const sbs_heat_surface *surface, const sbs_surface *tree, const bone *bones,
                       const sbs_heat_source *sources, size_t count, int threads) {
  for (size_t i = 0; i < count; i++) {
    const double *point = surface->positions + 3 * (size_t)sources[i].vertex;
    memcpy(at->starts[i], point, sizeof at->starts[i]);
    find_nearest_place(bones + sources[i].bone, point, at->ends[i]);
    at->vertices[i] = sources[i].vertex;
  }
  return sbs_surface_blocked(tree, at->starts[0], at->ends[0], count, at->vertices, threads, at->blocked, NULL);
}

/* Keeps the sources that are visible. */
static sbs_status keep_seen(sbs_heat_sources *found, const sbs_heat_surface *surface, const sbs_surface *tree,
                            const bone *bones, int threads, const sbs_heat_progress *progress,
                            const sbs_allocator *allocator) {
  const size_t count = found->count;
  sight *at = sbs_allocate(allocator, 1, sizeof *at);
  sbs_status status = at ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  size_t kept = 0;
  for (size_t first = 0; !status && first < count; first += SLICE) {
    const size_t size = count - first < SLICE ? count - first : SLICE;
    status = sbs_heat_tell(progress, (double)first / (double)count);
    if (!status) status = look(at, surface, tree, bones, found->sources + first, size, threads);
    for (size_t i = 0; !status && i < size; i++) {
      if (!at->blocked[i]) found->sources[kept++] = found->sources[first + i];
    }
  }
  found->count = kept;
  sbs_release(allocator, at);
  return status;
}

/* ------------------------------------------------------------------------------------------------------- sources -- */

sbs_status sbs_heat_sources_init(sbs_heat_sources *sources, const sbs_heat_surface *surface, const sbs_surface *tree,
                                 const sbs_heat_bones *bones, int threads, const sbs_heat_progress *progress,
                                 const sbs_allocator *allocator) {
  *sources = (sbs_heat_sources){.bone_count = 0};
  sources->joints = sbs_allocate(allocator, bones->joint_count, sizeof *sources->joints);
  sources->seen = sbs_allocate(allocator, surface->vertex_count, sizeof *sources->seen);
  bone *segments = sbs_allocate(allocator, bones->joint_count, sizeof *segments);
  sbs_status status = sources->joints && sources->seen && segments ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  if (!status) {
    for (size_t j = 0; j < bones->joint_count; j++) {
      if (bones->enabled && !bones->enabled[j]) continue;
      segments[sources->bone_count] = make_bone(surface, bones->heads + 3 * j, bones->tails + 3 * j);
      sources->joints[sources->bone_count++] = (int32_t)j;
    }
    status = find_nearest(sources, surface, segments, allocator);
  }
  if (!status && tree) status = keep_seen(sources, surface, tree, segments, threads, progress, allocator);
  if (!status) {
    memset(sources->seen, 0, surface->vertex_count);
    for (size_t i = 0; i < sources->count; i++) sources->seen[sources->sources[i].vertex] = 1;
  }
  sbs_release(allocator, segments);
  return status;
}

void sbs_heat_sources_free(sbs_heat_sources *sources, const sbs_allocator *allocator) {
  sbs_release(allocator, sources->joints);
  sbs_release(allocator, sources->sources);
  sbs_release(allocator, sources->seen);
}
