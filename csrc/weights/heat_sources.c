/* SPDX-License-Identifier: MIT */
#include "weights/heat_sources.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

/* Bones are equally near if their distances differ by at most this share. */
#define TIE 1e-4

enum {
  CHUNK = 256,    /* vertices whose bones are found at once */
  BONE_TIME = 10, /* nanoseconds per distance, about */
  SLICE = 4096    /* sources checked for visibility between reports of progress */
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

typedef struct search {
  const sbs_heat_surface *surface;
  const bone *bones;
  size_t bone_count;
  size_t *firsts;           /* (W + 1) the first source of each vertex; in the first pass entry v + 1 is their number */
  sbs_heat_source *sources; /* NULL in the first pass */
} search;

static sbs_status search_chunk(void *context, sbs_share vertices, int worker) {
  const search *in = context;
  double place[3];
  (void)worker;
  for (size_t v = vertices.begin; v < vertices.end; v++) {
    const double *point = in->surface->positions + 3 * v;
    double least = INFINITY;
    for (size_t b = 0; b < in->bone_count; b++) least = fmin(least, find_nearest_place(in->bones + b, point, place));
    size_t at = in->sources ? in->firsts[v] : 0;
    for (size_t b = 0; b < in->bone_count; b++) {
      const double square = find_nearest_place(in->bones + b, point, place);
      if (square > (1.0 + TIE) * (1.0 + TIE) * least) continue;
      if (in->sources) in->sources[at] = (sbs_heat_source){(int32_t)v, (int32_t)b, sqrt(square)};
      at++;
    }
    if (!in->sources) in->firsts[v + 1] = at;
  }
  return SBS_OK;
}

/* Lists the nearest bones of each vertex, visible or not. */
static sbs_status find_nearest(sbs_heat_sources *found, const sbs_heat_surface *surface, const bone *bones, int threads,
                               const sbs_allocator *allocator) {
  const size_t count = surface->vertex_count;
  const int chosen = sbs_choose_threads(threads, 2.0 * BONE_TIME * (double)count * (double)found->bone_count);
  search in = {.surface = surface, .bones = bones, .bone_count = found->bone_count};
  in.firsts = sbs_allocate(allocator, count + 1, sizeof *in.firsts);
  if (!in.firsts) return SBS_ERROR_OUT_OF_MEMORY;
  in.firsts[0] = 0;
  sbs_status status = sbs_share_work(chosen, count, CHUNK, search_chunk, &in);
  if (!status) {
    for (size_t v = 0; v < count; v++) in.firsts[v + 1] += in.firsts[v];
    found->count = in.firsts[count];
    in.sources = found->sources = sbs_allocate(allocator, found->count, sizeof *found->sources);
    status = in.sources ? sbs_share_work(chosen, count, CHUNK, search_chunk, &in) : SBS_ERROR_OUT_OF_MEMORY;
  }
  sbs_release(allocator, in.firsts);
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
    status = find_nearest(sources, surface, segments, threads, allocator);
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
