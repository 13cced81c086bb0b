/* SPDX-License-Identifier: MIT */
/* The joints and weights of a vertex: steps that lower its error, and searches for joints that steps do not find. */
#include "solve/search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "solve/descend.h"
#include "solve/hull.h"
#include "solve/vertex.h"
#include "weights/row.h"

/* Joints that a search has beyond the influences. */
#define MORE_CANDIDATES 12

/* Steps with all candidates, before the heaviest are chosen. */
#define FIRST_STEPS 6

/* How often joints are added to the candidates. */
#define TURNS 4

/* Joints, the nearest ones, that a search begins with as the heaviest. */
#define STARTS 16

/* Exchanges of joints that are tried by steps, the nearest ones. */
#define EXCHANGES 6

/* An error below this share of another one is lower. */
#define GAIN 0.99

/* A squared distance from the examples that is 0, relative to that of the farthest joint. */
#define FOUND 1e-12

/* The search for the weights of a vertex, in the memory of a thread. */
typedef struct vertex_search {
  const sbs_fit *fit;
  size_t vertex;
  const double *rest;        /* (3) its position */
  const double *center;      /* (3) or NULL */
  sbs_fit_formula formula;   /* that is fitted */
  sbs_fit_formula smooth;    /* of first steps: its error does not jump where joints come and go */
  const sbs_fit_formula *by; /* that of the present steps */
  double enough;             /* errors above this need not be exact where no products are asked for */

  size_t usable_count;
  int32_t *usable;      /* (J) the joints that the vertex may use, in ascending order */
  double *toward;       /* (J) the weights that are pulled towards */
  double toward_square; /* of their length */
  double *gram;         /* (J, J) products of the ways from the examples to where usable joints take the vertex */
  double *linear;       /* (J) weights of linear blending by all usable joints */

  size_t count;        /* of the present influences */
  int32_t *joints;     /* (most) */
  sbs_descent descent; /* of `most` joints, with the present weights; its hull has room for J */
  sbs_row all, best;   /* (most) candidates, and the best that was found */
  double best_error;   /* the sum of squares that is left in all frames, and the pull */

  /* For one function at a time. */
  double *points, *derivatives; /* (J, 3) */
  double *scores;               /* (J) */
  int32_t *order;               /* (most) places among the usable joints or the candidates */
  sbs_spread spread;            /* of J joints */
} vertex_search;

static vertex_search lay_out(const sbs_fit *fit, sbs_arena *arena) {
  const size_t joints = fit->desc->joint_count, most = fit->most;
  const sbs_fit_options *options = fit->options;
  vertex_search made = {.fit = fit, .formula = {options->method, options->center, options->damping, NULL}};
  made.smooth = made.formula;
  if (sbs_has_set_center(&made.formula)) made.smooth.center = SBS_CENTER_WEIGHTED;
  made.usable = sbs_arena_take(arena, joints, sizeof *made.usable);
  made.toward = sbs_arena_take(arena, joints, sizeof *made.toward);
  made.gram = sbs_arena_take(arena, joints * joints, sizeof *made.gram);
  made.linear = sbs_arena_take(arena, joints, sizeof *made.linear);
  made.joints = sbs_arena_take(arena, most, sizeof *made.joints);
  made.descent = sbs_new_descent(arena, most, joints);
  made.all = sbs_row_new(arena, most);
  made.best = sbs_row_new(arena, most);
  made.points = sbs_arena_take(arena, joints, 3 * sizeof *made.points);
  made.derivatives = sbs_arena_take(arena, joints, 3 * sizeof *made.derivatives);
  made.scores = sbs_arena_take(arena, joints, sizeof *made.scores);
  made.order = sbs_arena_take(arena, most, sizeof *made.order);
  made.spread = sbs_new_spread(arena, joints);
  return made;
}

/* ------------------------------------------------------------------------------------------------------- linear -- */

/* Finds the joints that the vertex may use, and the weights that are pulled towards. */
static void find_usable(vertex_search *search) {
  const sbs_fit_desc *desc = search->fit->desc;
  const size_t joints = desc->joint_count, first = search->vertex * joints;
  search->usable_count = 0;
  search->toward_square = 0.0;
  for (size_t j = 0; j < joints; j++) {
    if (!desc->allowed || desc->allowed[first + j]) search->usable[search->usable_count++] = (int32_t)j;
    search->toward[j] = desc->toward ? desc->toward[first + j] : 0.0;
    search->toward_square += search->toward[j] * search->toward[j];
  }
}

/* The pull's part of the product of two corners of the simplex, seen from the weights that are pulled towards. */
static double pull_product(const vertex_search *search, int32_t i, int32_t j) {
  if (search->fit->pull == 0.0) return 0.0;
  return search->fit->pull * ((double)(i == j) - search->toward[i] - search->toward[j] + search->toward_square);
}

/* Adds the pull's part to products of joints, and copies the lower triangle to the upper one. */
static void finish_products(const vertex_search *search, const int32_t *joints, size_t count, double *products) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j <= i; j++) products[i * count + j] += pull_product(search, joints[i], joints[j]);
  }
  sbs_fill_upper(count, products);
}

/* Where the vertex is in the example of a frame. */
static const double *example_at(const vertex_search *search, size_t frame) {
  const sbs_fit_desc *desc = search->fit->desc;
  return desc->posed + 3 * (frame * desc->vertex_count + search->vertex);
}

static void find_gram(vertex_search *search) {
  const sbs_frame_joints *all = &search->fit->joints;
  const size_t usable = search->usable_count;
  const sbs_spread *spread = &search->spread;
  const sbs_vec4 rest = {search->rest[0], search->rest[1], search->rest[2], 0.0};
  double *x = search->points, *y = x + usable, *z = y + usable;
  sbs_spread_joints(search->fit->desc->twist, search->usable, usable, search->rest, &search->spread);
  memset(search->gram, 0, usable * usable * sizeof *search->gram);
  for (size_t f = 0; f < search->fit->desc->frame_count; f++) {
    const double *p = example_at(search, f);
    for (size_t j = 0; j < usable; j++) {
      x[j] = -p[0];
      y[j] = -p[1];
      z[j] = -p[2];
    }
    for (size_t e = 0; e < spread->count; e++) {
      const sbs_joint *joint = all->joints + f * all->count + (size_t)spread->frames[e];
      const sbs_vec4 to = sbs_vec4_apply(joint->given, rest) + joint->translation;
      x[spread->owners[e]] += spread->shares[e] * to[0];
      y[spread->owners[e]] += spread->shares[e] * to[1];
      z[spread->owners[e]] += spread->shares[e] * to[2];
    }
    for (size_t i = 0; i < usable; i++) {
      double *row = search->gram + i * usable;
      for (size_t j = 0; j <= i; j++) row[j] += x[i] * x[j] + y[i] * y[j] + z[i] * z[j];
    }
  }
  finish_products(search, search->usable, usable, search->gram);
}

/* The squared distance from the examples to where a usable joint, given by its place, takes the vertex. */
static double joint_distance(const vertex_search *search, size_t place) {
  return search->gram[place * search->usable_count + place];
}

/* Puts the places of the largest scores, at most so many, into `order`, the largest first. Returns how many. */
static size_t choose_largest(const double *scores, size_t count, size_t most, int32_t *order) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    size_t at = found < most ? found++ : most;
    for (; at > 0 && scores[i] > scores[order[at - 1]]; at--) {
      if (at < most) order[at] = order[at - 1];
    }
    if (at < most) order[at] = (int32_t)i;
  }
  return found;
}

/* Makes the heaviest usable joints the present ones, at most so many, with weights of sum 1. */
static void begin_with(vertex_search *search, const double *weights, size_t most) {
  const size_t found = choose_largest(weights, search->usable_count, most, search->order);
  double sum = 0.0;
  search->count = 0;
  for (size_t i = 0; i < found && weights[search->order[i]] > 0.0; i++) {
    search->joints[search->count] = search->usable[search->order[i]];
    sum += search->descent.now[search->count++] = weights[search->order[i]];
  }
  for (size_t i = 0; i < search->count; i++) search->descent.now[i] /= sum;
}

/* The best linear weights of the heaviest joints alone, which become the present ones. */
static sbs_status begin_linearly(vertex_search *search, size_t most) {
  const size_t usable = search->usable_count;
  sbs_status status = sbs_nearest_in_hull(usable, search->gram, search->linear, search->descent.hull);
  if (status) return status;
  begin_with(search, search->linear, most);
  for (size_t i = 0; i < search->count; i++) {
    for (size_t j = 0; j < search->count; j++) {
      search->descent.damped[i * search->count + j] =
          search->gram[(size_t)search->order[i] * usable + (size_t)search->order[j]];
    }
  }
  return sbs_nearest_in_hull(search->count, search->descent.damped, search->descent.now, search->descent.hull);
}

/* -------------------------------------------------------------------------------------------------------- steps -- */

/* The error of the present joints with some weights, without the pull: the sum of squares over all frames. */
static double measure_examples(const vertex_search *search, const double *w, double *products) {
  const sbs_fit *fit = search->fit;
  const size_t count = search->count;
  sbs_spread spread = search->spread;
  double error = 0.0;
  sbs_spread_joints(fit->desc->twist, search->joints, count, search->rest, &spread);
  for (size_t f = 0; f < fit->desc->frame_count && (products || error <= search->enough); f++) {
    const sbs_fit_joints joints = sbs_joints_of_frame(&fit->joints, f);
    const double *p = example_at(search, f);
    double moved[3], left[3];
    sbs_move_spread(search->by, &joints, &spread, search->rest, search->center, w, moved,
                    products ? search->derivatives : NULL);
    for (int k = 0; k < 3; k++) {
      left[k] = moved[k] - p[k];
      error += left[k] * left[k];
    }
    if (products) sbs_add_corners(count, w, left, search->derivatives, products);
  }
  return error;
}

/* The error with the pull: a sbs_left_over, whose context is a vertex_search. */
static double measure(void *context, const double *w, size_t count, double *products) {
  const vertex_search *search = context;
  if (products) memset(products, 0, count * count * sizeof *products);
  const double error = measure_examples(search, w, products);
  if (products) finish_products(search, search->joints, count, products);
  if (search->fit->pull == 0.0) return error;
  double apart = search->toward_square;
  for (size_t i = 0; i < count; i++) apart += w[i] * (w[i] - 2.0 * search->toward[search->joints[i]]);
  return error + search->fit->pull * apart;
}

/* Makes Gauss-Newton steps from the present weights, at most so many. */
static double descend(vertex_search *search, const sbs_fit_formula *formula, size_t steps) {
  search->by = formula;
  search->enough = DBL_MAX;
  return sbs_descend(&search->descent, search->count, steps, measure, search);
}

/* Leaves out joints without weight, which would still count for the center of their set. Returns whether there are. */
static int drop_idle(vertex_search *search) {
  size_t kept = 0;
  for (size_t i = 0; i < search->count; i++) {
    if (search->descent.now[i] <= 0.0) continue;
    search->descent.now[kept] = search->descent.now[i];
    search->joints[kept++] = search->joints[i];
  }
  const int any = kept < search->count;
  search->count = kept;
  return any;
}

/* Sorts the present joints, for sums that do not depend on how they were found. */
static void sort_joints(vertex_search *search) {
  double *now = search->descent.now;
  for (size_t i = 1; i < search->count; i++) {
    const int32_t joint = search->joints[i];
    const double weight = now[i];
    size_t at = i;
    for (; at > 0 && search->joints[at - 1] > joint; at--) {
      search->joints[at] = search->joints[at - 1];
      now[at] = now[at - 1];
    }
    search->joints[at] = joint;
    now[at] = weight;
  }
}

/*
 * Makes steps from the present weights, and keeps the result if it is the best so far. Where signs are relative to a
 * given joint, steps with these signs are made first.
 */
static void try_weights(vertex_search *search, size_t steps) {
  sort_joints(search);
  if (search->smooth.signs_by) {
    sbs_fit_formula with_signs = search->formula;
    with_signs.signs_by = search->smooth.signs_by;
    descend(search, &with_signs, steps);
  }
  double error = descend(search, &search->formula, steps);
  const int has_sets = sbs_has_set_center(&search->formula);
  while (has_sets && drop_idle(search)) error = descend(search, &search->formula, steps);
  if (search->best.count && !(error < search->best_error)) return;
  const sbs_row present = {search->joints, search->descent.now, search->count};
  search->best_error = error;
  sbs_row_copy(&present, &search->best);
}

/* Whether the best weights meet the examples. */
static int is_found(const vertex_search *search) {
  double farthest = 0.0;
  for (size_t j = 0; j < search->usable_count; j++) farthest = fmax(farthest, joint_distance(search, j));
  return search->best.count && search->best_error <= FOUND * farthest;
}

/* --------------------------------------------------------------------------------------------------- candidates -- */

/*
 * Adds joints without weight whose growth would lower the error, the steepest first, as long as there is room: linear
 * blending does not tell all joints that matter. Returns how many.
 */
static size_t add_promising(vertex_search *search) {
  const sbs_fit *fit = search->fit;
  const size_t usable = search->usable_count;
  double *slopes = search->points, *w = search->scores, mean = 0.0;
  drop_idle(search);
  for (size_t j = 0; j < usable; j++) {
    w[j] = 0.0;
    for (size_t i = 0; i < search->count; i++) {
      if (search->joints[i] == search->usable[j]) w[j] = search->descent.now[i];
    }
    slopes[j] = fit->pull * (w[j] - search->toward[search->usable[j]]);
  }
  sbs_spread_joints(fit->desc->twist, search->usable, usable, search->rest, &search->spread);
  for (size_t f = 0; f < fit->desc->frame_count; f++) {
    const sbs_fit_joints joints = sbs_joints_of_frame(&fit->joints, f);
    const double *p = example_at(search, f);
    double moved[3];
    sbs_move_spread(&search->smooth, &joints, &search->spread, search->rest, search->center, w, moved,
                    search->derivatives);
    for (size_t j = 0; j < usable; j++) {
      for (size_t k = 0; k < 3; k++) slopes[j] += (moved[k] - p[k]) * search->derivatives[3 * j + k];
    }
  }
  for (size_t j = 0; j < usable; j++) mean += w[j] * slopes[j];
  const size_t before = search->count;
  while (search->count < fit->most) {
    size_t steepest = usable;
    for (size_t j = 0; j < usable; j++) {
      if (w[j] == 0.0 && (steepest == usable || slopes[j] < slopes[steepest])) steepest = j;
    }
    if (steepest == usable || !(slopes[steepest] < mean)) break;
    w[steepest] = -1.0; /* it is taken */
    search->joints[search->count] = search->usable[steepest];
    search->descent.now[search->count++] = 0.0;
  }
  return search->count - before;
}

/*
 * Searches from the present weights: adds candidates, makes steps with all, and tries the heaviest of them alone. About
 * centers of joint sets fewer are tried, too, as they have another center.
 */
static void search_from_here(vertex_search *search) {
  const sbs_fit_options *options = search->fit->options;
  const size_t steps = options->iterations < FIRST_STEPS ? options->iterations : FIRST_STEPS;
  sbs_row *all = &search->all;
  descend(search, &search->smooth, steps);
  for (int turn = 0; turn < TURNS && add_promising(search); turn++) descend(search, &search->smooth, steps);
  drop_idle(search);
  all->count = choose_largest(search->descent.now, search->count, options->influences, search->order);
  for (size_t i = 0; i < all->count; i++) {
    all->joints[i] = search->joints[search->order[i]];
    all->weights[i] = search->descent.now[search->order[i]];
  }
  for (size_t count = sbs_has_set_center(&search->formula) ? 1 : all->count; count <= all->count; count++) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += all->weights[i];
    for (size_t i = 0; i < count; i++) {
      search->joints[i] = all->joints[i];
      search->descent.now[i] = all->weights[i] / sum;
    }
    search->count = count;
    try_weights(search, options->iterations);
    if (is_found(search)) return;
  }
}

/* ------------------------------------------------------------------------------------------------------- starts -- */

/* Whether quaternions of usable joints have other signs relative to each other by one joint than by another. */
static int has_other_signs(const vertex_search *search, int32_t one, int32_t other) {
  const sbs_frame_joints *all = &search->fit->joints;
  for (size_t f = 0; f < search->fit->desc->frame_count; f++) {
    const sbs_joint *joints = all->joints + f * all->count;
    const sbs_vec4 a = joints[one].quaternion, b = joints[other].quaternion;
    const int are_apart = sbs_vec4_dot(a, b) < 0.0;
    for (size_t j = 0; j < search->usable_count; j++) {
      const sbs_vec4 q = joints[search->usable[j]].quaternion;
      if ((sbs_vec4_dot(q, a) < 0.0) != ((sbs_vec4_dot(q, b) < 0.0) != are_apart)) return 1;
    }
  }
  return 0;
}

/*
 * Searches from other weights. Quaternions have their signs relative to the heaviest joint, so the error jumps where
 * another joint becomes it, and no step gets across: the nearest joints are the heaviest by turns. First steps have
 * signs relative to this joint whether it stays the heaviest or not.
 */
static void search_from_others(vertex_search *search) {
  const size_t usable = search->usable_count;
  int32_t nearest[STARTS];
  for (size_t j = 0; j < usable; j++) search->scores[j] = -joint_distance(search, j);
  const size_t starts = choose_largest(search->scores, usable, STARTS, nearest);
  for (size_t start = 0; start < starts && !is_found(search); start++) {
    const sbs_row *best = &search->best;
    const int32_t *joint = search->usable + nearest[start];
    size_t heaviest = 0;
    for (size_t i = 1; i < best->count; i++) {
      if (best->weights[i] > best->weights[heaviest]) heaviest = i;
    }
    if (!has_other_signs(search, *joint, best->joints[heaviest])) continue;
    for (size_t j = 0; j < usable; j++) {
      search->scores[j] = 0.5 * search->linear[j] + 0.5 * (double)(search->usable + j == joint);
    }
    begin_with(search, search->scores, search->fit->most);
    search->smooth.signs_by = joint;
    search_from_here(search);
    search->smooth.signs_by = NULL;
  }
}

/* Begins with the weights that are given, which are kept if no step lowers the error. */
static void search_from_given(vertex_search *search) {
  const sbs_fit_desc *desc = search->fit->desc;
  const size_t width = desc->initial_influences, first = search->vertex * width;
  search->count = sbs_read_influences(width, desc->initial_indices + first, desc->initial_weights + first,
                                      search->joints, search->descent.now);
  if (!search->count) return;
  try_weights(search, 0);
  try_weights(search, search->fit->options->iterations);
}

/* ---------------------------------------------------------------------------------------------------- exchanges -- */

/* Joints of which one leaves the best ones, or one joins them, or both: -1 is none. */
typedef struct exchange {
  int32_t leaves, joins;
  double error; /* before any step */
} exchange;

static int is_among(const sbs_row *some, int32_t joint) {
  for (size_t i = 0; i < some->count; i++) {
    if (some->joints[i] == joint) return 1;
  }
  return 0;
}

/* Makes the best weights with an exchange the present ones: the joint that joins takes the weight that leaves. */
static void make_exchange(vertex_search *search, exchange made) {
  const sbs_row *best = &search->best;
  double moved = 0.0;
  search->count = 0;
  for (size_t i = 0; i < best->count; i++) {
    if (best->joints[i] == made.leaves) {
      moved = best->weights[i];
    } else {
      search->joints[search->count] = best->joints[i];
      search->descent.now[search->count++] = best->weights[i];
    }
  }
  if (made.joins < 0) {
    for (size_t i = 0; i < search->count; i++) search->descent.now[i] /= 1.0 - moved;
  } else {
    search->joints[search->count] = made.joins;
    search->descent.now[search->count++] = moved;
  }
}

/* Finds the exchanges that are nearest to the examples before any step, nearest first. Returns how many. */
static size_t find_exchanges(vertex_search *search, exchange found[EXCHANGES]) {
  const sbs_row *best = &search->best;
  size_t count = 0;
  search->by = &search->formula;
  search->enough = DBL_MAX;
  for (size_t out = 0; out <= best->count; out++) {
    for (size_t in = 0; in <= search->usable_count; in++) {
      exchange next = {-1, -1, 0.0};
      if (out < best->count) next.leaves = best->joints[out];
      if (in < search->usable_count) next.joins = search->usable[in];
      if (next.leaves < 0 && (next.joins < 0 || best->count == search->fit->options->influences)) continue;
      if (next.joins < 0 ? best->count == 1 : is_among(best, next.joins)) continue;
      if (count == EXCHANGES) search->enough = found[count - 1].error;
      make_exchange(search, next);
      next.error = measure(search, search->descent.now, search->count, NULL);
      size_t at = count < EXCHANGES ? count++ : EXCHANGES;
      for (; at > 0 && next.error < found[at - 1].error; at--) {
        if (at < EXCHANGES) found[at] = found[at - 1];
      }
      if (at < EXCHANGES) found[at] = next;
    }
  }
  return count;
}

/*
 * Exchanges joints for any other usable ones as long as that lowers the error. Where all joints of a vertex are found
 * but one of little weight, the error has a minimum, and its slopes do not tell which joint is missing.
 */
static void exchange_joints(vertex_search *search) {
  double before = DBL_MAX;
  while (search->best_error < GAIN * before && !is_found(search)) {
    exchange found[EXCHANGES];
    const size_t count = find_exchanges(search, found);
    before = search->best_error;
    for (size_t i = 0; i < count && search->best_error == before; i++) {
      make_exchange(search, found[i]);
      try_weights(search, search->fit->options->iterations);
    }
  }
}

/* ----------------------------------------------------------------------------------------------------- a vertex -- */

/* Writes the best weights, the heaviest first. */
static void write_vertex(vertex_search *search) {
  const sbs_fit *fit = search->fit;
  const sbs_row *best = &search->best;
  const size_t width = fit->options->influences;
  int32_t *joints = fit->joint_indices + search->vertex * width;
  double *weights = fit->joint_weights + search->vertex * width;
  memset(joints, 0, width * sizeof *joints);
  memset(weights, 0, width * sizeof *weights);
  const size_t count = choose_largest(best->weights, best->count, best->count, search->order);
  for (size_t i = 0; i < count && best->weights[search->order[i]] > 0.0; i++) {
    joints[i] = best->joints[search->order[i]];
    weights[i] = best->weights[search->order[i]];
  }
  search->count = best->count;
  memcpy(search->joints, best->joints, best->count * sizeof *best->joints);
  search->by = &search->formula;
  search->enough = DBL_MAX;
  const double error = measure_examples(search, best->weights, NULL);
  fit->errors[search->vertex] = sqrt(error / (double)fit->desc->frame_count);
}

static sbs_status fit_vertex(vertex_search *search, size_t vertex) {
  const sbs_fit *fit = search->fit;
  const int is_linear = fit->options->method == SBS_METHOD_LINEAR;
  search->vertex = vertex;
  search->rest = fit->desc->rest_positions + 3 * vertex;
  search->center = fit->desc->centers ? fit->desc->centers + 3 * vertex : NULL;
  search->best.count = 0;
  find_usable(search);
  find_gram(search);
  if (fit->desc->initial_indices) search_from_given(search);
  const sbs_status status = begin_linearly(search, is_linear ? fit->options->influences : fit->most);
  if (status) return status;
  if (is_linear) {
    try_weights(search, 0);
  } else {
    search_from_here(search);
    search_from_others(search);
    exchange_joints(search);
  }
  write_vertex(search);
  return SBS_OK;
}

size_t sbs_fit_most(size_t joints, size_t kept) {
  return kept >= joints || joints - kept <= MORE_CANDIDATES ? joints : kept + MORE_CANDIDATES;
}

size_t sbs_fit_work_size(const sbs_fit *fit) {
  sbs_arena counted = sbs_arena_over(NULL);
  lay_out(fit, &counted);
  return counted.failed ? 0 : counted.used;
}

sbs_status sbs_fit_vertices(void *context, sbs_share vertices, int worker) {
  const sbs_fit *fit = context;
  sbs_arena memory = sbs_arena_over(fit->work + (size_t)worker * fit->work_size);
  vertex_search search = lay_out(fit, &memory);
  sbs_status status = SBS_OK;
  for (size_t v = vertices.begin; v < vertices.end && !status; v++) status = fit_vertex(&search, v);
  return status;
}
