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

#define ADD_PAIRS(constant, name) sbs_add_cover_pairs_##name,
#define MEASURE_PAIRS(constant, name) sbs_measure_cover_pairs_##name,

#define FINISH(constant, name) sbs_finish_cover_##name,

static sbs_finish_cover *finish_cover_of(sbs_isa isa) {
  static sbs_finish_cover *const of[] = {SBS_EACH_ISA(FINISH)};
  return of[isa];
}

static sbs_add_cover_pairs *add_cover_pairs_of(sbs_isa isa) {
  static sbs_add_cover_pairs *const of[] = {SBS_EACH_ISA(ADD_PAIRS)};
  return of[isa];
}

sbs_measure_cover_pairs *sbs_measure_cover_pairs_of(sbs_isa isa) {
  static sbs_measure_cover_pairs *const of[] = {SBS_EACH_ISA(MEASURE_PAIRS)};
  return of[isa];
}

typedef struct cover_job {
  const sbs_muscles *muscles;
  const sbs_posed_muscle *posed;
  sbs_scalar scalar;
  void *positions, *normals;
  size_t positions_stride, normals_stride;
} cover_job;

void sbs_read_vector(const void *vectors, size_t stride, sbs_scalar scalar, size_t vertex, double v[3]) {
  const char *row = (const char *)vectors + vertex * (stride ? stride : 3 * sbs_scalar_size(scalar));
  for (size_t i = 0; i < 3; i++) v[i] = sbs_scalar_get(row, scalar, i);
}

void sbs_bring_near(const sbs_posed_muscle *posed, const double origin[3], sbs_cover_muscle *muscle) {
  *muscle = (sbs_cover_muscle){
      .is_straight = posed->is_straight,
      .start = (float)posed->start,
      .per_span = (float)(1.0 / (posed->end - posed->start)),
      .growth = (float)posed->growth,
      .per_stretch = (float)posed->per_stretch,
      .flattening = (float)posed->flattening,
      .profile = posed->profile,
      .step_squared = (float)posed->step_squared,
      .rounding = (float)posed->rounding,
  };
  for (int axis = 0; axis < 3; axis++) {
    for (int power = 0; power < 4; power++) {
      const double from = power ? 0.0 : origin[axis];
      muscle->path[power][axis] = (float)(posed->path.by_power[power][axis] - from);
    }
    muscle->thin_direction[axis] = (float)posed->thin_direction[axis];
  }
}

/* Reading and writing of a chunk, for both types of numbers. */
#define DEFINE_CHUNK_FUNCTIONS(type) \
  static void read_##type##s(const void *vectors, size_t stride, const int32_t *vertices, size_t count, \
                             const double origin[3], float to[3][SBS_COVER_CHUNK]) { \
    for (size_t i = 0; i < count; i++) { \
      const type *row = (const void *)((const char *)vectors + (size_t)vertices[i] * stride); \
      for (int axis = 0; axis < 3; axis++) to[axis][i] = (float)((double)row[axis] - origin[axis]); \
    } \
  } \
  static void move_##type##s(void *vectors, size_t stride, const int32_t *vertices, const float *shares, size_t count, \
                             const sbs_cover_scratch *scratch) { \
    for (size_t i = 0; i < count; i++) { \
      if (!(shares[i] > 0.0f)) continue; \
      type *row = (void *)((char *)vectors + (size_t)vertices[i] * stride); \
      for (int axis = 0; axis < 3; axis++) row[axis] += (type)scratch->moves[axis][i]; \
    } \
  } \
  static void turn_##type##s(void *vectors, size_t stride, const int32_t *vertices, const float *shares, size_t count, \
                             const sbs_cover_scratch *scratch) { \
    for (size_t i = 0; i < count; i++) { \
      const int turns = scratch->turns[0][i] != 0.0f || scratch->turns[1][i] != 0.0f || scratch->turns[2][i] != 0.0f; \
      if (!(shares[i] > 0.0f) || !turns) continue; \
      type *row = (void *)((char *)vectors + (size_t)vertices[i] * stride); \
      for (int axis = 0; axis < 3; axis++) row[axis] = (type)scratch->normals[axis][i]; \
    } \
  }
DEFINE_CHUNK_FUNCTIONS(float)
DEFINE_CHUNK_FUNCTIONS(double)

static void read_chunk(const cover_job *job, const int32_t *vertices, size_t count, double origin[3],
                       sbs_cover_scratch *scratch) {
  const double zero[3] = {0.0, 0.0, 0.0};
  sbs_read_vector(job->positions, job->positions_stride, job->scalar, (size_t)vertices[0], origin);
  if (job->scalar == SBS_FLOAT32) {
    read_floats(job->positions, job->positions_stride, vertices, count, origin, scratch->positions);
    if (job->normals) read_floats(job->normals, job->normals_stride, vertices, count, zero, scratch->normals);
  } else {
    read_doubles(job->positions, job->positions_stride, vertices, count, origin, scratch->positions);
    if (job->normals) read_doubles(job->normals, job->normals_stride, vertices, count, zero, scratch->normals);
  }
}

/* Adds movements to positions, and turns normals; those that do not move keep their bits. */
static void write_chunk(const cover_job *job, const int32_t *vertices, const float *shares, size_t count,
                        const sbs_cover_scratch *scratch) {
  if (job->scalar == SBS_FLOAT32) {
    move_floats(job->positions, job->positions_stride, vertices, shares, count, scratch);
    if (job->normals) turn_floats(job->normals, job->normals_stride, vertices, shares, count, scratch);
  } else {
    move_doubles(job->positions, job->positions_stride, vertices, shares, count, scratch);
    if (job->normals) turn_doubles(job->normals, job->normals_stride, vertices, shares, count, scratch);
  }
}

static sbs_status cover_chunks(void *context, sbs_share chunks, int worker) {
  const cover_job *job = context;
  const sbs_cover *cover = &job->muscles->cover;
  sbs_add_cover_pairs *const add_pairs = add_cover_pairs_of(job->muscles->isa);
  sbs_finish_cover *const finish = finish_cover_of(job->muscles->isa);
  (void)worker;
  for (size_t chunk = chunks.begin; chunk < chunks.end; chunk++) {
    const size_t first = chunk * SBS_COVER_CHUNK, rest = cover->slot_count - first;
    const size_t count = rest < SBS_COVER_CHUNK ? rest : SBS_COVER_CHUNK;
    sbs_cover_scratch scratch;
    double origin[3];
    read_chunk(job, cover->vertices + first, count, origin, &scratch);
    for (size_t r = chunk ? cover->run_ends[chunk - 1] : 0; r < cover->run_ends[chunk]; r++) {
      const sbs_cover_run *run = cover->runs + r;
      sbs_cover_muscle muscle;
      sbs_bring_near(job->posed + run->muscle, origin, &muscle);
      add_pairs(&(sbs_cover_args){.muscle = &muscle,
                                  .has_normals = job->normals != NULL,
                                  .is_first = run->is_first,
                                  .count = run->count,
                                  .begin = run->begin % SBS_COVER_CHUNK,
                                  .slots = cover->slots + run->begin,
                                  .feet = cover->feet + run->begin,
                                  .shares = cover->shares + run->begin,
                                  .rest = cover->rest + run->begin,
                                  .slopes = cover->slopes + run->begin,
                                  .scratch = &scratch});
    }
    finish(&scratch, job->normals != NULL, count);
    write_chunk(job, cover->vertices + first, cover->shares + first, count, &scratch);
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
  sbs_posed_muscle *posed = sbs_allocate(&muscles->allocator, muscles->muscle_count, sizeof *posed);
  if (!posed) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  for (size_t m = 0; m < muscles->muscle_count; m++) {
    sbs_pose_muscle(muscles->muscles + m, pose, activations ? activations[m] : 0.0, posed + m, NULL);
  }
  const size_t packed = 3 * sbs_scalar_size(scalar);
  cover_job job = {muscles,
                   posed,
                   scalar,
                   positions,
                   normals,
                   positions_stride ? positions_stride : packed,
                   normals_stride ? normals_stride : packed};
  const int used = sbs_choose_threads(threads, PAIR_TIME * (double)cover->pair_count);
  status = sbs_share_work(used, cover->chunk_count, 1, cover_chunks, &job);
  sbs_release(&muscles->allocator, posed);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}
