/* SPDX-License-Identifier: MIT */
/* Moves deformed skin so that it covers the muscles, block after block, shared by threads. */
#include "muscles/cover.h"

#include "base/arena.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "muscles/check.h"
#include "muscles/path.h"

/* The time of a pair on one thread, about, in nanoseconds. */
#define PAIR_TIME 8.0

/* Blocks that a thread takes at once. */
#define SHARE_BLOCKS 16

#define FUNCTIONS(constant, name) \
  {.cover_pairs = sbs_cover_pairs_##name, \
   .finish_block = sbs_finish_block_##name, \
   .measure_vertex = sbs_measure_vertex_##name},
#define DECLARE(constant, name) \
  sbs_cover_pairs sbs_cover_pairs_##name; \
  sbs_finish_block sbs_finish_block_##name; \
  sbs_measure_vertex sbs_measure_vertex_##name;
SBS_EACH_ISA(DECLARE)

sbs_cover_functions sbs_choose_cover_functions(sbs_isa isa) {
  static const sbs_cover_functions functions[] = {SBS_EACH_ISA(FUNCTIONS)};
  return functions[isa];
}

/* Positions or normals that are changed. */
typedef struct skin_array {
  void *vectors; /* or NULL */
  size_t stride;
  sbs_scalar scalar;
} skin_array;

typedef struct cover_job {
  const sbs_cover *cover;
  sbs_cover_functions functions;
  const sbs_cover_muscle *posed; /* relative to `origin`, in the units of the bind pose */
  double origin[3];
  double size; /* of the character, as a multiple of that in the bind pose */
  skin_array positions, normals;
  sbs_skin_block *skin; /* (block_count) */
} cover_job;

void sbs_bring_near(const sbs_posed_muscle *posed, const double origin[3], sbs_cover_muscle *muscle) {
  *muscle = (sbs_cover_muscle){
      .start = (float)posed->start,
      .span = (float)(posed->end - posed->start),
      .growth = (float)posed->growth,
      .flattening = (float)posed->flattening,
      .profile = posed->profile,
      .step_squared = (float)posed->step_squared,
      .rounding = (float)posed->rounding,
  };
  for (int axis = 0; axis < 3; axis++) {
    for (int power = 0; power < 4; power++) {
      muscle->path[power][axis] = (float)(posed->path.by_power[power][axis] - (power ? 0.0 : origin[axis]));
    }
    muscle->thin_direction[axis] = (float)posed->thin_direction[axis];
  }
}

/* Reading vectors of a block's vertices, and adding to them, for both types of numbers. */
#define DEFINE_BLOCK_FUNCTIONS(type) \
  static void read_##type##s(const skin_array *array, const sbs_cover_block *block, const double origin[3], \
                             float per_size, float to[3][SBS_COVER_BLOCK]) { \
    const type from[3] = {(type)origin[0], (type)origin[1], (type)origin[2]}; \
    for (size_t i = 0; i < SBS_COVER_BLOCK; i++) { \
      const type *row = (const void *)((const char *)array->vectors + (size_t)block->vertices[i] * array->stride); \
      for (int axis = 0; axis < 3; axis++) to[axis][i] = per_size * (float)(row[axis] - from[axis]); \
    } \
  } \
  static void add_##type##s(const skin_array *array, const sbs_cover_block *block, float by[3][SBS_COVER_BLOCK]) { \
    for (size_t i = 0; i < block->count; i++) { \
      type *row = (void *)((char *)array->vectors + (size_t)block->vertices[i] * array->stride); \
      for (int axis = 0; axis < 3; axis++) row[axis] += (type)by[axis][i]; \
    } \
  }
DEFINE_BLOCK_FUNCTIONS(float)
DEFINE_BLOCK_FUNCTIONS(double)

static void read_block(const skin_array *array, const sbs_cover_block *block, const double origin[3], float per_size,
                       float to[3][SBS_COVER_BLOCK]) {
  if (array->scalar == SBS_FLOAT32) {
    read_floats(array, block, origin, per_size, to);
  } else {
    read_doubles(array, block, origin, per_size, to);
  }
}

static void add_block(const skin_array *array, const sbs_cover_block *block, float by[3][SBS_COVER_BLOCK]) {
  if (array->scalar == SBS_FLOAT32) {
    add_floats(array, block, by);
  } else {
    add_doubles(array, block, by);
  }
}

static sbs_status cover_blocks(void *context, sbs_share blocks, int worker) {
  const cover_job *job = context;
  const double zero[3] = {0.0, 0.0, 0.0};
  const int normals = job->normals.vectors != NULL;
  (void)worker;
  for (size_t i = blocks.begin; i < blocks.end; i++) {
    const sbs_cover_block *block = job->cover->blocks + i;
    read_block(&job->positions, block, job->origin, (float)(1.0 / job->size), job->skin[i].positions);
    if (normals) read_block(&job->normals, block, zero, 1.0f, job->skin[i].normals);
  }
  for (size_t i = blocks.begin; i < blocks.end;
       i++) { /* apart, so that no vector is read while its numbers are stored */
    const sbs_cover_block *block = job->cover->blocks + i;
    job->functions.cover_pairs(job->posed + block->muscle, block, normals, job->skin + i);
  }
  return SBS_OK;
}

/* Means over several muscles: brings moves and turns of a vertex nearer to those by the next muscle, by weights. */
static void blend_further_pairs(const cover_job *job) {
  for (size_t b = job->cover->first_count; b < job->cover->block_count; b++) {
    const sbs_cover_block *block = job->cover->blocks + b;
    const sbs_skin_block *from = job->skin + b;
    for (size_t i = 0; i < block->count; i++) {
      sbs_skin_block *to = job->skin + (size_t)block->firsts[i] / SBS_COVER_BLOCK;
      const size_t first = (size_t)block->firsts[i] % SBS_COVER_BLOCK;
      const float share = from->weights[i] / (to->weights[first] + from->weights[i]);
      to->weights[first] += from->weights[i];
      for (int axis = 0; axis < 3; axis++) {
        to->moves[axis][first] += (from->moves[axis][i] - to->moves[axis][first]) * share;
        if (!job->normals.vectors) continue;
        to->turns[axis][first] += (from->turns[axis][i] - to->turns[axis][first]) * share;
      }
    }
  }
}

/* Adds moves to positions and turns to normals. */
static sbs_status write_blocks(void *context, sbs_share blocks, int worker) {
  const cover_job *job = context;
  (void)worker;
  for (size_t i = blocks.begin; i < blocks.end; i++) {
    const sbs_cover_block *block = job->cover->blocks + i;
    sbs_skin_block *skin = job->skin + i;
    job->functions.finish_block((float)job->size, job->normals.vectors != NULL, block->count, skin);
    if (skin->is_moved) add_block(&job->positions, block, skin->moves);
    if (skin->is_turned) add_block(&job->normals, block, skin->turns);
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
  if (!cover->block_count) return SBS_OK;
  sbs_arena arena = sbs_arena_from(&muscles->allocator);
  sbs_cover_muscle *posed = sbs_arena_take(&arena, muscles->muscle_count, sizeof *posed);
  sbs_skin_block *skin = sbs_arena_take(&arena, cover->block_count, sizeof *skin);
  if (arena.failed) {
    sbs_arena_release(&arena);
    return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  const size_t packed = 3 * sbs_scalar_size(scalar);
  cover_job job = {.cover = cover,
                   .functions = sbs_choose_cover_functions(muscles->isa),
                   .posed = posed,
                   .size = sbs_size_in(muscles, pose),
                   .positions = {positions, positions_stride ? positions_stride : packed, scalar},
                   .normals = {normals, normals_stride ? normals_stride : packed, scalar},
                   .skin = skin};
  const char *first = (const char *)positions + (size_t)cover->blocks[0].vertices[0] * job.positions.stride;
  double origin[3]; /* in the units of the bind pose */
  for (size_t axis = 0; axis < 3; axis++) {
    job.origin[axis] = sbs_scalar_get(first, scalar, axis);
    origin[axis] = job.origin[axis] / job.size;
  }
  for (size_t m = 0; m < muscles->muscle_count; m++) {
    sbs_posed_muscle found;
    sbs_pose_muscle(muscles->muscles + m, pose, job.size, activations ? activations[m] : 0.0, &found, NULL);
    sbs_bring_near(&found, origin, posed + m);
  }
  const int used = sbs_choose_threads(threads, PAIR_TIME * (double)(cover->block_count * SBS_COVER_BLOCK));
  status = sbs_share_work(used, cover->block_count, SHARE_BLOCKS, cover_blocks, &job);
  if (!status) blend_further_pairs(&job);
  if (!status) status = sbs_share_work(used, cover->first_count, SHARE_BLOCKS, write_blocks, &job);
  sbs_arena_release(&arena);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}
