/* SPDX-License-Identifier: MIT */
/* Weights that spread over the surface as heat does, as far as the caller says. */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "weights/heat_surface.h"
#include "weights/laplacian.h"
#include "weights/row.h"

sbs_influences_diffuse_options sbs_default_influences_diffuse_options(void) {
  return (sbs_influences_diffuse_options){.threshold = 0.01, .allocator = sbs_default_allocator()};
}

/* Vertices at one point are one if their weights differ by no more. Others are of parts that only touch. */
#define SAME_WEIGHT 1e-3

/* A vertex whose weights change by no more than this keeps them, bit for bit. */
#define NO_CHANGE 1e-6

/* A shorter length counts as this share of the mesh's size. */
#define LEAST_LENGTH 1e-5

/* The least hold of a vertex, as a share of the pull of its neighbors: rounding must not make the matrix singular. */
#define LEAST_HOLD 1e-9

/* The vertex after the last of a list. */
#define NONE (-1)

/* Tells progress of a loop over vertices that do something for each joint. */
static sbs_status tell_joints(size_t vertex, size_t count) {
  return vertex % 64 ? SBS_OK : sbs_tell((double)vertex / (double)count);
}

typedef struct diffusion {
  const sbs_influences_table *table;
  const double *lengths; /* (V) */
  const sbs_influences_diffuse_options *options;
  sbs_allocator allocator;
  sbs_arena arena;  /* of the arrays that `allocate` makes */
  int32_t *groups;  /* (V) the lowest vertex of those at the same point with the same weights */
  int32_t *next;    /* (V) from one such lowest vertex to the next at the same point, or NONE */
  sbs_row row, old; /* room for as many influences as joints or columns */
  sbs_heat_surface surface;
  int32_t *first;    /* (W) the lowest vertex of the mesh of each of the surface */
  int32_t *only;     /* (W) the joint of a vertex that follows one joint; NONE: several joints, or none */
  int32_t *columns;  /* (J) the column of each joint that spreads, or NONE */
  size_t sides;      /* how many spread */
  int32_t *unknowns; /* (W) the vertices with a weight that spreads */
  size_t unknown_count;
  sbs_laplacian laplacian;
  double *holds;  /* (W) M / t */
  double *values; /* (W, sides) */
} diffusion;

/* ------------------------------------------------------------------------------------------- vertices at one point */

static void read_normalized(const diffusion *work, size_t vertex, sbs_row *row) {
  sbs_row_read(work->table, vertex, row);
  sbs_row_normalize(row, work->options->locked, SBS_FLOAT64);
}

static double find_weight(const sbs_row *row, int32_t joint) {
  for (size_t i = 0; i < row->count; i++) {
    if (row->joints[i] == joint) return row->weights[i];
  }
  return 0.0;
}

/* The largest difference of a weight in two rows. */
static double measure_difference(const sbs_row *one, const sbs_row *other) {
  double largest = 0.0;
  for (size_t i = 0; i < one->count; i++) {
    largest = fmax(largest, fabs(one->weights[i] - find_weight(other, one->joints[i])));
  }
  for (size_t i = 0; i < other->count; i++) {
    largest = fmax(largest, fabs(other->weights[i] - find_weight(one, other->joints[i])));
  }
  return largest;
}

static int has_other_weights(diffusion *work, int32_t leader) {
  read_normalized(work, (size_t)leader, &work->old);
  return measure_difference(&work->row, &work->old) > SAME_WEIGHT;
}

/* Splits the vertices at each point by their weights. */
static sbs_status split_by_weights(diffusion *work) {
  const size_t count = work->table->vertex_count;
  for (size_t v = 0; v < count; v++) {
    sbs_status status = sbs_tell_some(v, count);
    if (status) return status;
    work->next[v] = NONE;
    int32_t leader = work->groups[v], last = NONE;
    if (leader == (int32_t)v) continue;
    read_normalized(work, v, &work->row);
    for (size_t looks = 1; leader != NONE && has_other_weights(work, leader); looks++) {
      if (looks % 1024 == 0) status = sbs_tell((double)v / (double)count);
      if (status) return status;
      last = leader;
      leader = work->next[leader];
    }
    if (leader == NONE) work->next[last] = (int32_t)v;
    work->groups[v] = leader == NONE ? (int32_t)v : leader;
  }
  return SBS_OK;
}

/* ---------------------------------------------------------------------------------------------------- the equations */

/* Finds which joints spread, and for each vertex of the surface where its weights are and whether it has any. */
static sbs_status find_unknowns(diffusion *work) {
  for (size_t j = 0; j < work->table->joint_count; j++) work->columns[j] = NONE;
  for (size_t v = work->table->vertex_count; v-- > 0;) work->first[work->surface.vertex_of[v]] = (int32_t)v;
  work->sides = 0;
  work->unknown_count = 0;
  for (size_t w = 0; w < work->surface.vertex_count; w++) {
    const sbs_status status = sbs_tell_some(w, work->surface.vertex_count);
    if (status) return status;
    size_t spreading = 0;
    read_normalized(work, (size_t)work->first[w], &work->row);
    for (size_t i = 0; i < work->row.count; i++) {
      const int32_t joint = work->row.joints[i];
      if (sbs_is_locked(work->options->locked, joint)) continue;
      spreading++;
      if (work->columns[joint] == NONE) work->columns[joint] = (int32_t)work->sides++;
    }
    work->only[w] = work->row.count == 1 ? work->row.joints[0] : NONE;
    if (spreading) work->unknowns[work->unknown_count++] = (int32_t)w;
  }
  return SBS_OK;
}

/* Whether heat passes between two vertices: not where one hard part meets another, nor to where nothing spreads. */
static int passes(const diffusion *work, const unsigned char *is_unknown, size_t from, size_t to) {
  const int are_hard = work->only[from] != NONE && work->only[to] != NONE;
  return is_unknown[from] && is_unknown[to] && !(are_hard && work->only[from] != work->only[to]);
}

/* Leaves out the edges that heat does not pass. */
static void cut(diffusion *work, const unsigned char *is_unknown) {
  sbs_laplacian *graph = &work->laplacian;
  size_t kept = 0, begin = 0;
  for (size_t w = 0; w < work->surface.vertex_count; w++) {
    const size_t end = graph->offsets[w + 1];
    for (size_t e = begin; e < end; e++) {
      if (!passes(work, is_unknown, w, (size_t)graph->neighbors[e])) continue;
      graph->neighbors[kept] = graph->neighbors[e];
      graph->weights[kept++] = graph->weights[e];
    }
    begin = end;
    graph->offsets[w + 1] = kept;
  }
}

/* (M / t - L) w = M / t times the old weights, where t is the square of the length. */
static sbs_status assemble(diffusion *work) {
  const sbs_laplacian *graph = &work->laplacian;
  for (size_t w = 0; w < work->surface.vertex_count; w++) {
    const sbs_status status = tell_joints(w, work->surface.vertex_count);
    if (status) return status;
    double *values = work->values + w * work->sides;
    memset(values, 0, work->sides * sizeof *values);
    const double length = fmax(work->lengths[work->first[w]] / work->surface.size, LEAST_LENGTH);
    double pull = 0.0;
    for (size_t e = graph->offsets[w]; e < graph->offsets[w + 1]; e++) pull += graph->weights[e];
    const double hold = fmax(work->surface.masses[w] / (length * length), LEAST_HOLD * pull);
    work->holds[w] = hold;
    read_normalized(work, (size_t)work->first[w], &work->row);
    for (size_t i = 0; i < work->row.count; i++) {
      const int32_t column = work->columns[work->row.joints[i]];
      if (column != NONE) values[column] = hold * work->row.weights[i];
    }
  }
  return SBS_OK;
}

static int are_finite(const diffusion *work) {
  for (size_t i = 0; i < work->surface.vertex_count * work->sides; i++) {
    if (!isfinite(work->values[i])) return 0;
  }
  return 1;
}

static sbs_status solve(diffusion *work) {
  const size_t count = work->surface.vertex_count;
  const sbs_mesh_desc mesh = sbs_heat_surface_desc(&work->surface);
  sbs_status status = sbs_laplacian_init(&work->laplacian, &mesh, &work->allocator);
  unsigned char *is_unknown = status ? NULL : sbs_allocate(&work->allocator, count, sizeof *is_unknown);
  work->values = sbs_allocate(&work->allocator, count, work->sides * sizeof *work->values);
  if (!status && (!is_unknown || !work->values)) status = SBS_ERROR_OUT_OF_MEMORY;
  if (!status) {
    memset(is_unknown, 0, count);
    for (size_t i = 0; i < work->unknown_count; i++) is_unknown[work->unknowns[i]] = 1;
    cut(work, is_unknown);
    status = assemble(work);
  }
  if (!status) {
    const sbs_heat_progress progress = {.begin = 0.0, .end = 1.0};
    status = sbs_laplacian_solve(&work->laplacian, work->holds, work->unknowns, work->unknown_count, work->sides,
                                 work->values, &progress, &work->allocator);
    if (!status && !are_finite(work)) status = SBS_ERROR_NO_CONVERGENCE;
  }
  sbs_release(&work->allocator, is_unknown);
  return status;
}

/* ------------------------------------------------------------------------------------------------------ the results */

/* Makes the new row of a vertex; its own where it hardly changes. */
static void make_row(diffusion *work, size_t vertex, size_t limit) {
  const size_t at = (size_t)work->surface.vertex_of[vertex];
  const unsigned char *locked = work->options->locked;
  sbs_row *row = &work->row;
  read_normalized(work, (size_t)work->first[at], &work->old);
  row->count = 0;
  for (size_t i = 0; i < work->old.count; i++) {
    if (!sbs_is_locked(locked, work->old.joints[i])) continue;
    row->joints[row->count] = work->old.joints[i];
    row->weights[row->count++] = work->old.weights[i];
  }
  const int has_more = work->old.count > row->count;
  const int spreads = work->unknown_count && has_more && work->lengths[work->first[at]] > 0.0;
  for (size_t j = 0; spreads && j < work->table->joint_count; j++) {
    if (work->columns[j] == NONE) continue;
    double weight = work->values[at * work->sides + (size_t)work->columns[j]];
    /* All gains are smaller by the threshold, so that no step is left where they end. */
    const double gain = weight - find_weight(&work->old, (int32_t)j);
    weight -= fmin(fmax(gain, 0.0), work->options->threshold);
    if (!(weight > 0.0)) continue;
    row->joints[row->count] = (int32_t)j;
    row->weights[row->count++] = weight;
  }
  sbs_row_sort(row);
  sbs_row_limit(row, limit, locked);
  sbs_row_normalize(row, locked, work->table->scalar);
  sbs_row_round(row, work->table->scalar);
  if (spreads && measure_difference(row, &work->old) > NO_CHANGE) return;
  sbs_row_read(work->table, vertex, row);
  if (row->count <= limit) return;
  sbs_row_limit(row, limit, locked);
  sbs_row_normalize(row, locked, work->table->scalar);
}

static void release(diffusion *work) {
  const sbs_allocator *allocator = &work->allocator;
  sbs_arena_release(&work->arena);
  sbs_heat_surface_free(&work->surface, allocator);
  sbs_laplacian_free(&work->laplacian, allocator);
  sbs_release(allocator, work->values);
}

static sbs_status allocate(diffusion *work) {
  const size_t count = work->table->vertex_count, joints = work->table->joint_count;
  const size_t columns = work->table->influences_per_vertex, most = joints > columns ? joints : columns;
  sbs_arena *arena = &work->arena;
  *arena = sbs_arena_from(&work->allocator);
  work->groups = sbs_arena_take(arena, count, sizeof *work->groups);
  work->next = sbs_arena_take(arena, count, sizeof *work->next);
  work->row = sbs_row_new(arena, most);
  work->old = sbs_row_new(arena, most);
  work->first = sbs_arena_take(arena, count, sizeof *work->first);
  work->only = sbs_arena_take(arena, count, sizeof *work->only);
  work->columns = sbs_arena_take(arena, joints, sizeof *work->columns);
  work->unknowns = sbs_arena_take(arena, count, sizeof *work->unknowns);
  work->holds = sbs_arena_take(arena, count, sizeof *work->holds);
  return arena->failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
}

static sbs_status diffuse(diffusion *work, const sbs_mesh_desc *mesh, size_t limit, int32_t *joint_indices,
                          void *joint_weights, sbs_fault *fault) {
  sbs_status status = allocate(work);
  if (status) return sbs_fault_in(fault, status, NULL);
  status = sbs_influences_validate_limit(work->table, work->options->locked, limit, &work->row, fault);
  if (!status) status = sbs_mesh_weld(mesh, &work->allocator, work->groups, fault);
  if (status) return status;
  status = split_by_weights(work);
  if (status) return sbs_fault_in(fault, status, NULL);
  status = sbs_heat_surface_init(&work->surface, mesh, work->groups, &work->allocator, fault);
  if (status) return status;
  status = find_unknowns(work);
  if (!(work->surface.masses[0] > 0.0)) work->unknown_count = 0; /* there is no area, so nothing spreads */
  if (!status && work->unknown_count) status = solve(work);
  for (size_t v = 0; v < work->table->vertex_count && !status; v++) {
    status = tell_joints(v, work->table->vertex_count);
    if (status) break;
    make_row(work, v, limit);
    sbs_row_write(&work->row, limit, work->table->scalar, v, joint_indices, joint_weights);
  }
  return status ? sbs_fault_in(fault, status, status == SBS_ERROR_NO_CONVERGENCE ? "positions" : NULL) : SBS_OK;
}

/* NaN fails too. */
static sbs_status check_options(const sbs_influences_diffuse_options *options, const double *lengths,
                                size_t vertex_count, sbs_fault *fault) {
  if (!(options->threshold >= 0.0 && options->threshold <= 1.0)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "threshold", options->threshold, 1.0);
  }
  for (size_t v = 0; v < vertex_count; v++) {
    if (!(lengths[v] >= 0.0 && isfinite(lengths[v]))) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "lengths", v, lengths[v], 0.0);
    }
  }
  return SBS_OK;
}

sbs_status sbs_influences_diffuse(const sbs_influences_table *table, const sbs_mesh_desc *mesh, const double *lengths,
                                  const sbs_influences_diffuse_options *options, size_t limit, int32_t *joint_indices,
                                  void *joint_weights, sbs_fault *fault) {
  if (!lengths) return sbs_fault_in(fault, SBS_ERROR_NULL, "lengths");
  const sbs_influences_diffuse_options defaults = sbs_default_influences_diffuse_options();
  diffusion work = {.table = table, .lengths = lengths, .options = options ? options : &defaults};
  sbs_status status = sbs_influences_validate_over_surface(table, mesh, limit, joint_indices, joint_weights, fault);
  if (!status) status = sbs_choose_allocator(&work.options->allocator, &work.allocator, fault);
  if (!status) status = check_options(work.options, lengths, table->vertex_count, fault);
  if (!status) status = sbs_influences_validate_joints(table, fault);
  if (status) return status;
  status = diffuse(&work, mesh, limit, joint_indices, joint_weights, fault);
  release(&work);
  return status;
}
