/* SPDX-License-Identifier: MIT */
#include "sbs/relaxation.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/progress.h"
#include "correctives/patch.h"
#include "mesh/edges.h"

sbs_relaxation_desc sbs_default_relaxation_desc(void) {
  return (sbs_relaxation_desc){0};
}

sbs_relaxation_options sbs_default_relaxation_options(void) {
  return (sbs_relaxation_options){.bending = 0.0013,
                                  .volume = 30.0,
                                  .crease = 75.0,
                                  .thinner = 3.0,
                                  .thicker = 60.0,
                                  .iterations = 150,
                                  .allocator = sbs_default_allocator()};
}

/* -------------------------------------------------------------------------------------------------------- checks -- */

static sbs_status check_options(const sbs_relaxation_options *options, sbs_fault *fault) {
  const struct {
    double factor;
    const char *name;
  } factors[] = {{options->bending, "bending"},
                 {options->volume, "volume"},
                 {options->crease, "crease"},
                 {options->thinner, "thinner"},
                 {options->thicker, "thicker"}};
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
    const double factor = factors[i].factor;
    if (factor >= 0.0 && factor <= SBS_LARGEST) continue;
    return sbs_fault_number(fault, SBS_ERROR_OPTION, factors[i].name, factor, 0.0);
  }
  return SBS_OK;
}

static sbs_status check_mesh(const sbs_relaxation_desc *desc, sbs_fault *fault) {
  if (!desc->vertex_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "vertex_count");
  if (!desc->triangle_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "triangle_count");
  if (!desc->rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (!desc->positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "positions");
  if (!desc->free_vertices) return sbs_fault_in(fault, SBS_ERROR_NULL, "free_vertices");
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  mesh.vertex_count = desc->vertex_count;
  mesh.triangle_count = desc->triangle_count;
  mesh.triangles = desc->triangles;
  sbs_status status = sbs_edges_validate(&mesh, NULL, fault);
  if (!status) status = sbs_validate_numbers(desc->rest_positions, desc->vertex_count, 3, "rest_positions", fault);
  if (!status) status = sbs_validate_numbers(desc->positions, desc->vertex_count, 3, "positions", fault);
  if (status) return status;
  if (desc->size >= 1.0 / SBS_LARGEST && desc->size <= SBS_LARGEST) return SBS_OK;
  return sbs_fault_number(fault, SBS_ERROR_OPTION, "size", desc->size, 0.0);
}

static sbs_status check_parts(const sbs_relaxation_desc *desc, sbs_fault *fault) {
  const size_t parts = desc->part_count;
  if (parts > INT32_MAX) return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "part_count", (double)parts, INT32_MAX);
  if (parts && !desc->apexes) return sbs_fault_in(fault, SBS_ERROR_NULL, "apexes");
  if (parts && !desc->rest_volumes) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_volumes");
  for (size_t t = 0; t < desc->triangle_count && desc->triangle_parts; t++) {
    const int32_t part = desc->triangle_parts[t];
    if (part < -1 || (part >= 0 && (size_t)part >= parts)) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "triangle_parts", t, part, (double)parts);
    }
  }
  sbs_status status = sbs_validate_numbers(desc->apexes, parts, 3, "apexes", fault);
  if (!status) status = sbs_validate_numbers(desc->rest_volumes, parts, 1, "rest_volumes", fault);
  if (status || !desc->held_volumes) return status;
  return sbs_validate_numbers(desc->held_volumes, parts, 1, "held_volumes", fault);
}

static sbs_status check_bones(const sbs_relaxation_desc *desc, sbs_fault *fault) {
  const size_t bones = desc->bone_count;
  if (!desc->distances) return SBS_OK;
  if (bones > INT32_MAX) return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "bone_count", (double)bones, INT32_MAX);
  if (bones && !desc->bones) return sbs_fault_in(fault, SBS_ERROR_NULL, "bones");
  if (!desc->vertex_bones) return sbs_fault_in(fault, SBS_ERROR_NULL, "vertex_bones");
  for (size_t i = 0; i < 2 * desc->vertex_count; i++) {
    const int32_t bone = desc->vertex_bones[i];
    if (bone < -1 || (bone >= 0 && (size_t)bone >= bones)) {
      return sbs_fault_at(fault, SBS_ERROR_OPTION, "vertex_bones", i / 2, i % 2, bone, (double)bones);
    }
  }
  const sbs_status status = sbs_validate_numbers(desc->bones, bones, 6, "bones", fault);
  return status ? status : sbs_validate_numbers(desc->distances, desc->vertex_count, 1, "distances", fault);
}

/* Checks everything, and makes the patch and the positions that it begins at. */
static sbs_status begin(const sbs_relaxation_desc *desc, const sbs_relaxation_options *options, sbs_arena *arena,
                        sbs_patch *patch, double **x, double **gradient, double *energy, sbs_fault *fault) {
  sbs_status status = check_options(options, fault);
  if (!status) status = check_mesh(desc, fault);
  if (!status) status = check_parts(desc, fault);
  if (!status && desc->planes) status = sbs_validate_numbers(desc->planes, desc->vertex_count, 4, "planes", fault);
  if (!status) status = check_bones(desc, fault);
  if (status) return status;
  *x = sbs_arena_take(arena, desc->vertex_count, 3 * sizeof **x);
  *gradient = sbs_arena_take(arena, desc->vertex_count, 3 * sizeof **gradient);
  if (arena->failed) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  status = sbs_patch_init(desc, options, arena, patch, *x, fault);
  if (status) return status;
  *energy = sbs_patch_energy(patch, *x, *gradient);
  int is_finite = isfinite(*energy) != 0;
  for (size_t i = 0; i < 3 * desc->vertex_count; i++) is_finite &= isfinite((*gradient)[i]) != 0;
  return is_finite ? SBS_OK : sbs_fault_in(fault, SBS_ERROR_TOO_LARGE, "positions");
}

sbs_status sbs_relaxation_energy(const sbs_relaxation_desc *desc, const sbs_relaxation_options *given, double *energy,
                                 double *gradient, sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!energy) return sbs_fault_in(fault, SBS_ERROR_NULL, "energy");
  sbs_relaxation_options options = given ? *given : sbs_default_relaxation_options();
  sbs_status status = sbs_choose_allocator(&options.allocator, &options.allocator, fault);
  if (status) return status;
  sbs_arena arena = sbs_arena_from(&options.allocator);
  sbs_patch patch;
  double *x, *found, value;
  status = begin(desc, &options, &arena, &patch, &x, &found, &value, fault);
  if (!status) {
    *energy = value;
    if (gradient) memcpy(gradient, found, desc->vertex_count * 3 * sizeof *gradient);
  }
  sbs_arena_release(&arena);
  return status;
}

/* -------------------------------------------------------------------------------------------------------- L-BFGS -- */

enum {
  PAIRS = 20,
  MOST_TRIALS = 30 /* of a line search */
};

/* It ends where the energy falls by less than this share of it, or no component of the gradient is larger. */
#define LEAST_DECREASE 1e-8
#define LEAST_SLOPE 1e-10

typedef struct descent {
  sbs_patch *patch;
  size_t size;                         /* of x: 3 V */
  double *x, *gradient, energy;        /* where it is */
  double *next, *next_gradient, *step; /* (3 V) */
  double *moves, *changes;             /* (PAIRS, 3 V) of x and of the gradient in the last iterations */
  double inverses[PAIRS];              /* 1 / (move change) */
  size_t pair_count, newest;
} descent;

static double product(const double *a, const double *b, size_t size) {
  double sum = 0.0;
  for (size_t i = 0; i < size; i++) sum += a[i] * b[i];
  return sum;
}

static void add_times(double factor, const double *vector, size_t size, double *to) {
  for (size_t i = 0; i < size; i++) to[i] += factor * vector[i];
}

static double largest(const double *vector, size_t size) {
  double most = 0.0;
  for (size_t i = 0; i < size; i++) most = fmax(most, fabs(vector[i]));
  return most;
}

/* step = -H gradient, H being the inverse Hessian that the pairs make; the slope along it. */
static double find_step(descent *at) {
  const size_t size = at->size;
  double factors[PAIRS];
  for (size_t i = 0; i < size; i++) at->step[i] = -at->gradient[i];
  for (size_t k = 0; k < at->pair_count; k++) {
    const size_t pair = (at->newest + PAIRS - k) % PAIRS;
    factors[pair] = at->inverses[pair] * product(at->moves + pair * size, at->step, size);
    add_times(-factors[pair], at->changes + pair * size, size, at->step);
  }
  /* The first step moves no vertex by more than a hundredth of the patch's size. */
  double scale = 0.01 / fmax(largest(at->gradient, size), 0.01);
  if (at->pair_count) {
    const double *change = at->changes + at->newest * size;
    scale = 1.0 / (at->inverses[at->newest] * product(change, change, size));
  }
  for (size_t i = 0; i < size; i++) at->step[i] *= scale;
  for (size_t k = at->pair_count; k--;) {
    const size_t pair = (at->newest + PAIRS - k) % PAIRS;
    const double back = at->inverses[pair] * product(at->changes + pair * size, at->step, size);
    add_times(factors[pair] - back, at->moves + pair * size, size, at->step);
  }
  return product(at->gradient, at->step, size);
}

/*
 * Goes along the step to where the energy has fallen enough and the slope, too (the conditions of Wolfe, by halving and
 * doubling); puts where that is, or at least lower, into `next`. Returns the energy there, NAN if nothing is lower.
 */
static double search_line(descent *at, double slope) {
  double low = 0.0, high = INFINITY, along = 1.0, energy = NAN;
  for (int trial = 0; trial < MOST_TRIALS; trial++) {
    for (size_t i = 0; i < at->size; i++) at->next[i] = at->x[i] + along * at->step[i];
    energy = sbs_patch_energy(at->patch, at->next, at->next_gradient);
    const int is_lower = energy <= at->energy + 1e-4 * along * slope; /* false for NaN */
    if (!is_lower) {
      high = along;
    } else if (product(at->next_gradient, at->step, at->size) < 0.9 * slope) {
      low = along;
    } else {
      return energy;
    }
    along = high < INFINITY ? 0.5 * (low + high) : 2.0 * low;
  }
  return energy < at->energy ? energy : NAN;
}

/* Keeps the last move and the change of the gradient, if the energy is convex along it, and goes on from `next`. */
static void go_on(descent *at, double energy) {
  const size_t size = at->size, pair = at->pair_count ? (at->newest + 1) % PAIRS : 0;
  double *move = at->moves + pair * size, *change = at->changes + pair * size;
  for (size_t i = 0; i < size; i++) {
    move[i] = at->next[i] - at->x[i];
    change[i] = at->next_gradient[i] - at->gradient[i];
  }
  const double convexity = product(move, change, size);
  if (convexity > 1e-12 * product(change, change, size)) {
    at->inverses[pair] = 1.0 / convexity;
    at->newest = pair;
    if (at->pair_count < PAIRS) at->pair_count++;
  }
  memcpy(at->x, at->next, size * sizeof *at->x);
  memcpy(at->gradient, at->next_gradient, size * sizeof *at->gradient);
  at->energy = energy;
}

static sbs_status descend(descent *at, size_t iterations, size_t *done) {
  for (*done = 0; *done < iterations && largest(at->gradient, at->size) > LEAST_SLOPE; ++*done) {
    const sbs_status status = sbs_tell((double)*done / (double)iterations);
    if (status) return status;
    double slope = find_step(at);
    if (!(slope < 0.0)) { /* rounding has spoiled the pairs */
      at->pair_count = 0;
      slope = find_step(at);
    }
    const double energy = search_line(at, slope), before = at->energy;
    if (!isfinite(energy)) {
      if (!at->pair_count) return SBS_OK;
      at->pair_count = 0;
      continue;
    }
    go_on(at, energy);
    if (before - energy < LEAST_DECREASE * fabs(before)) {
      ++*done;
      return SBS_OK;
    }
  }
  return SBS_OK;
}

sbs_status sbs_relaxation_minimize(const sbs_relaxation_desc *desc, const sbs_relaxation_options *given,
                                   double *positions, sbs_relaxation_report *report, sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "positions");
  sbs_relaxation_options options = given ? *given : sbs_default_relaxation_options();
  sbs_status status = sbs_choose_allocator(&options.allocator, &options.allocator, fault);
  if (status) return status;
  sbs_arena arena = sbs_arena_from(&options.allocator);
  sbs_patch patch;
  descent at = {.patch = &patch, .size = 3 * desc->vertex_count};
  sbs_relaxation_report found;
  status = begin(desc, &options, &arena, &patch, &at.x, &at.gradient, &at.energy, fault);
  if (status) goto cleanup;
  at.next = sbs_arena_take(&arena, at.size, sizeof *at.next);
  at.next_gradient = sbs_arena_take(&arena, at.size, sizeof *at.next_gradient);
  at.step = sbs_arena_take(&arena, at.size, sizeof *at.step);
  at.moves = sbs_arena_take(&arena, at.size, PAIRS * sizeof *at.moves);
  at.changes = sbs_arena_take(&arena, at.size, PAIRS * sizeof *at.changes);
  if (arena.failed) {
    status = sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
    goto cleanup;
  }
  found.first_energy = at.energy;
  status = descend(&at, options.iterations, &found.iterations);
  if (status) {
    status = sbs_fault_in(fault, status, NULL);
    goto cleanup;
  }
  found.energy = at.energy;
  for (size_t v = 0; v < desc->vertex_count; v++) {
    for (size_t i = 3 * v; i < 3 * v + 3; i++) {
      positions[i] = desc->free_vertices[v] ? desc->size * at.x[i] : desc->positions[i];
    }
  }
  if (report) *report = found;

cleanup:
  sbs_arena_release(&arena);
  return status;
}
