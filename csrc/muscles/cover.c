/* SPDX-License-Identifier: MIT */
/* Moves deformed skin so that it covers the muscles: chunks of vertices, shared by threads. */
#include "muscles/cover.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "muscles/check.h"
#include "muscles/path.h"

/* What a pair takes one thread, about, in nanoseconds. */
#define PAIR_TIME 8.0

#define COVER(constant, name) sbs_cover_pairs_##name,
#define TURN(constant, name) sbs_turn_normals_##name,
#define MEASURE(constant, name) sbs_measure_cover_pairs_##name,

static sbs_cover_pairs *choose_cover_pairs(sbs_isa isa) {
  static sbs_cover_pairs *const of[] = {SBS_EACH_ISA(COVER)};
  return of[isa];
}

static sbs_turn_normals *choose_turn_normals(sbs_isa isa) {
  static sbs_turn_normals *const of[] = {SBS_EACH_ISA(TURN)};
  return of[isa];
}

sbs_measure_cover_pairs *sbs_choose_measure_cover_pairs(sbs_isa isa) {
  static sbs_measure_cover_pairs *const of[] = {SBS_EACH_ISA(MEASURE)};
  return of[isa];
}

typedef struct cover_job {
  const sbs_muscles *muscles;
  const sbs_cover_muscle *posed; /* relative to `origin`, in the units of the bind pose */
  double origin[3];
  double size; /* of the character, as a multiple of that in the bind pose */
  sbs_scalar scalar;
  int are_plain; /* whether all muscles are round spindles */
  void *positions, *normals;
  size_t positions_stride, normals_stride;
} cover_job;

void sbs_read_vector(const void *vectors, size_t stride, sbs_scalar scalar, size_t vertex, double v[3]) {
  const char *row = (const char *)vectors + vertex * (stride ? stride : 3 * sbs_scalar_size(scalar));
  for (size_t i = 0; i < 3; i++) v[i] = sbs_scalar_get(row, scalar, i);
}

void sbs_bring_near(const sbs_posed_muscle *posed, const double origin[3], sbs_cover_muscle *muscle) {
  const double span = posed->end - posed->start;
  *muscle = (sbs_cover_muscle){
      .start = (float)posed->start,
      .span = (float)span,
      .per_span = (float)(1.0 / span),
      .growth = (float)posed->growth,
      .flattening = (float)posed->flattening,
      .profile = posed->profile,
      .step_squared = (float)posed->step_squared,
      .rounding = (float)posed->rounding,
  };
  const double by_x = posed->growth / span, radius = (double)posed->profile->radius;
  muscle->spindle[0] = (float)(posed->growth * radius);
  muscle->spindle[1] = (float)(6.0 * by_x * radius);
  muscle->spindle[2] = (float)(12.0 * by_x * radius / span);
  for (int axis = 0; axis < 3; axis++) {
    for (int power = 0; power < 4; power++) {
      const double along = posed->path.by_power[power][axis];
      muscle->path[power][axis] = (float)(along - (power ? 0.0 : origin[axis]));
      if (power) muscle->path_slopes[power - 1][axis] = (float)(power * along);
    }
    muscle->path_bends[axis] = 2.0f * muscle->path_slopes[2][axis];
    muscle->thin_direction[axis] = (float)posed->thin_direction[axis];
  }
}

/* The most that skin is moved, squared: what was found in single precision is less, but where it overflowed. */
#define MOST_SQUARED 1e30f

static int is_small(float by[3][SBS_COVER_CHUNK], size_t slot, float size) {
  const float x = size * by[0][slot], y = size * by[1][slot], z = size * by[2][slot];
  return x * x + y * y + z * z <= MOST_SQUARED;
}

/* Whether all of a block are, in a few vector operations; no if some may not be. */
static int are_small(float by[3][SBS_COVER_CHUNK], size_t slot, float size) {
  float sums[SBS_COVER_BLOCK];
  for (size_t i = 0; i < SBS_COVER_BLOCK; i++) {
    const float x = by[0][slot + i], y = by[1][slot + i], z = by[2][slot + i];
    sums[i] = x * x + y * y + z * z;
  }
  for (size_t half = SBS_COVER_BLOCK / 2; half; half /= 2) {
    for (size_t i = 0; i < half; i++) sums[i] += sums[i + half];
  }
  return size * size * sums[0] <= MOST_SQUARED;
}

/* Reading and changing what a chunk has of an array, for both types of numbers. */
#define DEFINE_CHUNK_FUNCTIONS(type) \
  static void read_##type##s(const void *vectors, size_t stride, const int32_t *vertices, size_t count, \
                             const double origin[3], float per_size, float to[3][SBS_COVER_CHUNK]) { \
    const type from[3] = {(type)origin[0], (type)origin[1], (type)origin[2]}; \
    for (size_t i = 0; i < count; i++) { \
      const type *row = (const void *)((const char *)vectors + (size_t)vertices[i] * stride); \
      for (int axis = 0; axis < 3; axis++) to[axis][i] = per_size * (float)(row[axis] - from[axis]); \
    } \
  } \
  static void add_##type##s(void *vectors, size_t stride, const int32_t *vertices, size_t count, \
                            float by[3][SBS_COVER_CHUNK], size_t slot, float size) { \
    const int are_ordinary = are_small(by, slot, size); \
    for (size_t i = 0; i < count; i++) { \
      type *row = (void *)((char *)vectors + (size_t)vertices[i] * stride); \
      if (!are_ordinary && !is_small(by, slot + i, size)) continue; \
      for (int axis = 0; axis < 3; axis++) row[axis] += (type)(size * by[axis][slot + i]); \
    } \
  }
DEFINE_CHUNK_FUNCTIONS(float)
DEFINE_CHUNK_FUNCTIONS(double)

static void read_chunk(const cover_job *job, const int32_t *vertices, size_t count, sbs_cover_scratch *scratch) {
  const double zero[3] = {0.0, 0.0, 0.0};
  const float per_size = (float)(1.0 / job->size);
  if (job->scalar == SBS_FLOAT32) {
    read_floats(job->positions, job->positions_stride, vertices, count, job->origin, per_size, scratch->positions);
    if (job->normals) read_floats(job->normals, job->normals_stride, vertices, count, zero, 1.0f, scratch->normals);
  } else {
    read_doubles(job->positions, job->positions_stride, vertices, count, job->origin, per_size, scratch->positions);
    if (job->normals) read_doubles(job->normals, job->normals_stride, vertices, count, zero, 1.0f, scratch->normals);
  }
  memset(scratch->is_moved, 0, sizeof scratch->is_moved);
  memset(scratch->is_turned, 0, sizeof scratch->is_turned);
}

/* Adds movements to positions and turns to normals. Those of blocks that do not move keep their bits. */
static void write_chunk(const cover_job *job, size_t first, size_t count, sbs_cover_scratch *scratch) {
  void (*const add)(void *, size_t, const int32_t *, size_t, float (*)[SBS_COVER_CHUNK], size_t, float) =
      job->scalar == SBS_FLOAT32 ? add_floats : add_doubles;
  const sbs_cover *cover = &job->muscles->cover;
  for (size_t slot = 0; slot < count; slot += SBS_COVER_BLOCK) {
    const int32_t *vertices = cover->vertices + first + slot;
    const size_t block = slot / SBS_COVER_BLOCK, filled = cover->blocks[first / SBS_COVER_BLOCK + block].count;
    if (scratch->is_moved[block]) {
      add(job->positions, job->positions_stride, vertices, filled, scratch->moves, slot, (float)job->size);
    }
    if (scratch->is_turned[block]) add(job->normals, job->normals_stride, vertices, filled, scratch->turns, slot, 1.0f);
  }
}

static sbs_status cover_chunks(void *context, sbs_share chunks, int worker) {
  const cover_job *job = context;
  const sbs_cover *cover = &job->muscles->cover;
  sbs_cover_pairs *const cover_pairs = choose_cover_pairs(job->muscles->isa);
  sbs_turn_normals *const turn_normals = choose_turn_normals(job->muscles->isa);
  (void)worker;
  for (size_t chunk = chunks.begin; chunk < chunks.end; chunk++) {
    const size_t first = chunk * SBS_COVER_CHUNK, rest = cover->slot_count - first;
    const size_t count = rest < SBS_COVER_CHUNK ? rest : SBS_COVER_CHUNK;
    sbs_cover_scratch scratch;
    read_chunk(job, cover->vertices + first, count, &scratch);
    sbs_cover_args args = {.muscles = job->posed,
                           .has_normals = job->normals != NULL,
                           .is_first = 1,
                           .are_plain = job->are_plain,
                           .block_count = count / SBS_COVER_BLOCK,
                           .blocks = cover->blocks + first / SBS_COVER_BLOCK,
                           .scratch = &scratch};
    cover_pairs(&args);
    args.is_first = 0;
    size_t other = chunk ? cover->other_ends[chunk - 1] : cover->slot_count / SBS_COVER_BLOCK;
    for (; other < cover->other_ends[chunk]; other += args.block_count) {
      const size_t left = cover->other_ends[chunk] - other, most = SBS_COVER_CHUNK / SBS_COVER_BLOCK;
      args.block_count = left < most ? left : most;
      args.blocks = cover->blocks + other;
      cover_pairs(&args);
    }
    if (job->normals) turn_normals(&scratch, count);
    write_chunk(job, first, count, &scratch);
  }
  return SBS_OK;
}

static sbs_status check_outputs(const sbs_muscles *muscles, sbs_scalar scalar, const void *positions,
                                size_t positions_stride, const void *normals, size_t normals_stride, int threads,
                                sbs_fault *fault) {
  if (!sbs_scalar_is_valid(scalar)) return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)scalar, 0.0);
  if (!positions && muscles->vertex_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "positions");
  if (normals && !muscles->has_normals) return sbs_fault_in(fault, SBS_ERROR_OPTION, "normals");
  if (threads < 0) return sbs_fault_number(fault, SBS_ERROR_NEGATIVE, "threads", threads, 0.0);
  const size_t size = sbs_scalar_size(scalar);
  if (positions_stride && (positions_stride < 3 * size || positions_stride % size)) {
    return sbs_fault_number(fault, SBS_ERROR_STRIDE, "positions_stride", (double)positions_stride, 3.0 * (double)size);
  }
  if (normals && normals_stride && (normals_stride < 3 * size || normals_stride % size)) {
    return sbs_fault_number(fault, SBS_ERROR_STRIDE, "normals_stride", (double)normals_stride, 3.0 * (double)size);
  }
  return SBS_OK;
}

sbs_status sbs_muscles_cover(const sbs_muscles *muscles, const sbs_pose *pose, const double *activations,
                             sbs_scalar scalar, void *positions, size_t positions_stride, void *normals,
                             size_t normals_stride, int threads, sbs_fault *fault) {
  sbs_status status = sbs_check_muscle_pose(muscles, pose, activations, fault);
  if (status) return status;
  status = check_outputs(muscles, scalar, positions, positions_stride, normals, normals_stride, threads, fault);
  if (status) return status;
  const sbs_cover *cover = &muscles->cover;
  if (!cover->slot_count) return SBS_OK;
  sbs_cover_muscle *posed = sbs_allocate(&muscles->allocator, muscles->muscle_count, sizeof *posed);
  if (!posed) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  const size_t packed = 3 * sbs_scalar_size(scalar);
  cover_job job = {.muscles = muscles,
                   .posed = posed,
                   .size = sbs_size_in(muscles, pose),
                   .scalar = scalar,
                   .are_plain = 1,
                   .positions = positions,
                   .normals = normals,
                   .positions_stride = positions_stride ? positions_stride : packed,
                   .normals_stride = normals_stride ? normals_stride : packed};
  sbs_read_vector(positions, job.positions_stride, scalar, (size_t)cover->vertices[0], job.origin);
  double origin[3]; /* in the units of the bind pose */
  for (int axis = 0; axis < 3; axis++) origin[axis] = job.origin[axis] / job.size;
  for (size_t m = 0; m < muscles->muscle_count; m++) {
    sbs_posed_muscle found;
    sbs_pose_muscle(muscles->muscles + m, muscles->isa, pose, job.size, activations ? activations[m] : 0.0, &found,
                    NULL);
    sbs_bring_near(&found, origin, posed + m);
    job.are_plain = job.are_plain && found.profile->is_spindle && found.flattening == 1.0;
  }
  const int used = sbs_choose_threads(threads, PAIR_TIME * (double)(cover->block_count * SBS_COVER_BLOCK));
  status = sbs_share_work(used, cover->chunk_count, 1, cover_chunks, &job);
  sbs_release(&muscles->allocator, posed);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}
