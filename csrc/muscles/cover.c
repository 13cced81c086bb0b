/* SPDX-License-Identifier: MIT */
/* Moves deformed skin so that it covers the muscles, block after block, shared by threads. */
#include "muscles/cover.h"

#include "base/arena.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "base/threads.h"
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

static void read_block(const skin_array *array, const sbs_cover_block *block, const double origin[3], double per_size,
                       float to[3][SBS_COVER_BLOCK]) {
  for (size_t i = 0; i < SBS_COVER_BLOCK; i++) {
    const char *row = (const char *)array->vectors + (size_t)block->vertices[i] * array->stride;
    for (size_t axis = 0; axis < 3; axis++) {
      to[axis][i] = (float)(per_size * (sbs_scalar_get(row, array->scalar, axis) - origin[axis]));
    }
  }
}

/* Adds to the vectors of the vertices whose first pairs are in a block, numbered from `number`. 0 leaves all bits. */
static void add_block(const skin_array *array, const sbs_cover_block *block, int32_t number,
                      float by[3][SBS_COVER_BLOCK]) {
  for (size_t i = 0; i < block->count; i++) {
    char *row = (char *)array->vectors + (size_t)block->vertices[i] * array->stride;
    if (block->firsts[i] != number + (int32_t)i) continue;
    for (size_t axis = 0; axis < 3; axis++) {
      const double now = sbs_scalar_get(row, array->scalar, axis);
      if (by[axis][i] != 0.0f) sbs_scalar_put(row, array->scalar, axis, now + (double)by[axis][i]);
    }
  }
}

static sbs_status cover_blocks(void *context, sbs_share blocks, int worker) {
  const cover_job *job = context;
  const double zero[3] = {0.0, 0.0, 0.0};
  const int normals = job->normals.vectors != NULL;
  (void)worker;
  for (size_t i = blocks.begin; i < blocks.end; i++) {
    const sbs_cover_block *block = job->cover->blocks + i;
    read_block(&job->positions, block, job->origin, 1.0 / job->size, job->skin[i].positions);
    if (normals) read_block(&job->normals, block, zero, 1.0, job->skin[i].normals);
    job->functions.cover_pairs(job->posed + block->muscle, block, normals, job->skin + i);
  }
  return SBS_OK;
}

/* Means over several muscles: brings moves and turns of a vertex nearer to those by the next muscle, by weights. */
static void blend_further_pairs(const cover_job *job) {
  for (size_t b = 0; b < job->cover->block_count; b++) {
    const sbs_cover_block *block = job->cover->blocks + b;
    const sbs_skin_block *from = job->skin + b;
    for (size_t i = 0; i < block->count; i++) {
      if ((size_t)block->firsts[i] == SBS_COVER_BLOCK * b + i) continue;
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
    const int32_t number = (int32_t)(SBS_COVER_BLOCK * i);
    add_block(&job->positions, block, number, skin->moves);
    if (job->normals.vectors) add_block(&job->normals, block, number, skin->turns);
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
  if (!status) status = sbs_share_work(used, cover->block_count, SHARE_BLOCKS, write_blocks, &job);
  sbs_arena_release(&arena);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}
