/* SPDX-License-Identifier: MIT */
#include "fit/search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "fit/descend.h"
#include "fit/hull.h"
#include "fit/spread.h"
#include "skin/influences.h"

/* Joints with which other methods than the linear one begin, beyond those that are kept. */
#define MORE_CANDIDATES 12

/* How often joints are added to them that would lower the error. */
#define MORE_TURNS 4

/* Steps with them, before the heaviest are chosen. */
#define FIRST_STEPS 6

/* Joints, the nearest ones, with which as the heaviest a search begins again. */
#define MORE_STARTS 8

/* Squares of distances, relative to the least that was found by any number of joints. Beyond the first, a search that
   begins again is given up; between the second and third it is about where the other was; below the last it gains.
   Exchanges go on as long as one comes below the third. */
#define FAR_OFF 4.0
#define NO_FARTHER 1.2
#define NO_NEARER 0.99
#define GAIN 0.999

/* A distance from the examples that counts as none, relative to that of the farthest joint; squared. */
#define EXACT 1e-18
#define FOUND 1e-12

/* Exchanges of joints that are gone on with, about centers of joint sets and else. */
enum {
  SET_EXCHANGES = 6,
  OTHER_EXCHANGES = 2
};

/* The memory of a thread. */
typedef struct workspace {
  double *points;                     /* (J, 3) from the example to where each joint takes the vertex, in a frame */
  double *gram;                       /* (J, J) */
  double *weights;                    /* (J) */
  double *linear;                     /* (J) the weights of linear blending by any number of joints */
  double *by;                         /* (J, 3) */
  sbs_spread spread;                  /* of J joints */
  sbs_descent descent;                /* of `most` joints; its hull has room for J */
  double *all_weights, *best_weights; /* (most) */
  int32_t *indices, *all_indices, *best_indices, *order, *chosen; /* (most) */
  double *toward;       /* (J) what the weights of these joints are drawn to */
  double toward_square; /* of its length */
  int32_t *everyone;    /* (J) the joints that the vertex may use */
  size_t usable;        /* how many these are */
} workspace;

/* Joints of which some are to stay, with the weights that all of them have. */
typedef struct candidates {
  size_t count;
  const int32_t *indices;
  const double *weights;
} candidates;

/* The best that has been found of them. */
typedef struct choice {
  size_t count;
  int32_t *indices;
  double *weights;
  double error;
} choice;

static workspace lay_out(const sbs_fit *of, sbs_arena *arena) {
  const size_t joints = of->desc->joint_count, most = of->most;
  workspace made = {0};
  made.points = sbs_arena_take(arena, joints, 3 * sizeof(double));
  made.gram = sbs_arena_take(arena, joints * joints, sizeof(double));
  made.weights = sbs_arena_take(arena, joints, sizeof(double));
  made.linear = sbs_arena_take(arena, joints, sizeof(double));
  made.descent.hull = sbs_arena_take(arena, sbs_hull_work_size(joints), sizeof(double));
  made.by = sbs_arena_take(arena, joints, 3 * sizeof(double));
  made.spread = sbs_new_spread(arena, joints);
  made.toward = sbs_arena_take(arena, joints, sizeof(double));
  made.descent.squares = sbs_arena_take(arena, most * most, sizeof(double));
  made.descent.tried = sbs_arena_take(arena, most * most, sizeof(double));
  made.descent.damped = sbs_arena_take(arena, most * most, sizeof(double));
  double **const numbers[] = {&made.descent.now, &made.descent.next, &made.all_weights, &made.best_weights};
  int32_t **const integers[] = {&made.indices, &made.all_indices, &made.best_indices, &made.order, &made.chosen};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    *numbers[i] = sbs_arena_take(arena, most, sizeof(double));
  for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
    *integers[i] = sbs_arena_take(arena, most, sizeof(int32_t));
  }
  made.everyone = sbs_arena_take(arena, joints, sizeof(int32_t));
  return made;
}

/* ------------------------------------------------------------------------------------------------------- linear -- */

/* The joints that a vertex may use, and what the weights are drawn to. */
static void find_usable(const sbs_fit *of, size_t vertex, workspace *work) {
  const sbs_fit_desc *desc = of->desc;
  const size_t joints = desc->joint_count;
  work->usable = 0;
  for (size_t j = 0; j < joints; j++) {
    if (!desc->allowed || desc->allowed[vertex * joints + j]) work->everyone[work->usable++] = (int32_t)j;
  }
  work->toward_square = 0.0;
  for (size_t j = 0; j < joints; j++) {
    work->toward[j] = desc->toward ? desc->toward[vertex * joints + j] : 0.0;
    work->toward_square += work->toward[j] * work->toward[j];
  }
}

/* What the pull adds to the product of two corners: those of the simplex, from what the weights are drawn to. */
static double pull_product(const sbs_fit *of, const workspace *work, size_t i, size_t j) {
  if (of->pull == 0.0) return 0.0;
  return of->pull * ((double)(i == j) - work->toward[i] - work->toward[j] + work->toward_square);
}

/* Products, over all frames, of the ways from the example to where each usable joint takes a vertex. */
static void sum_products(const sbs_fit *of, size_t vertex, workspace *work) {
  const size_t usable = work->usable;
  const sbs_spread *spread = &work->spread;
  const double *v = of->desc->rest_positions + 3 * vertex;
  const sbs_vec4 at = {v[0], v[1], v[2], 0.0};
  sbs_spread_joints(of->desc->twist, work->everyone, usable, v, &work->spread);
  memset(work->gram, 0, usable * usable * sizeof *work->gram);
  for (size_t f = 0; f < of->desc->frame_count; f++) {
    const double *p = of->desc->posed + 3 * (f * of->desc->vertex_count + vertex);
    double *x = work->points, *y = x + usable, *z = y + usable;
    for (size_t j = 0; j < usable; j++) {
      x[j] = -p[0];
      y[j] = -p[1];
      z[j] = -p[2];
    }
    for (size_t e = 0; e < spread->count; e++) {
      const sbs_joint *joint = of->joints.joints + f * of->joints.count + (size_t)spread->frames[e];
      const sbs_vec4 to = sbs_vec4_apply(joint->given, at) + joint->translation;
      x[spread->owners[e]] += spread->shares[e] * to[0];
      y[spread->owners[e]] += spread->shares[e] * to[1];
      z[spread->owners[e]] += spread->shares[e] * to[2];
    }
    for (size_t i = 0; i < usable; i++) {
      double *row = work->gram + i * usable;
      for (size_t j = 0; j <= i; j++) row[j] += x[i] * x[j] + y[i] * y[j] + z[i] * z[j];
    }
  }
  for (size_t i = 0; i < usable; i++) {
    for (size_t j = 0; j <= i; j++) {
      work->gram[i * usable + j] += pull_product(of, work, (size_t)work->everyone[i], (size_t)work->everyone[j]);
      work->gram[j * usable + i] = work->gram[i * usable + j];
    }
  }
}

static void sort_joints(int32_t *joints, size_t count) {
  for (size_t i = 1; i < count; i++) {
    const int32_t joint = joints[i];
    size_t at = i;
    for (; at > 0 && joints[at - 1] > joint; at--) joints[at] = joints[at - 1];
    joints[at] = joint;
  }
}

/* The heaviest joints, at most so many, in ascending order; others are not. Returns how many. */
static size_t choose_heaviest(const double *weights, size_t count, size_t most, int32_t *chosen) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    if (weights[i] <= 0.0) continue;
    size_t at = found < most ? found++ : most;
    for (; at > 0 && weights[i] > weights[chosen[at - 1]]; at--) {
      if (at < most) chosen[at] = chosen[at - 1];
    }
    if (at < most) chosen[at] = (int32_t)i;
  }
  sort_joints(chosen, found);
  return found;
}

/* The linear weights of chosen joints alone, given by their places among the usable ones; then by their numbers. */
static sbs_status fit_chosen_linearly(workspace *work, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count; j++) {
      work->descent.damped[i * count + j] =
          work->gram[(size_t)work->indices[i] * work->usable + (size_t)work->indices[j]];
    }
  }
  for (size_t i = 0; i < count; i++) work->indices[i] = work->everyone[work->indices[i]];
  return sbs_nearest_in_hull(count, work->descent.damped, NULL, work->descent.now, work->descent.hull);
}

/* ------------------------------------------------------------------------------------------------ other methods -- */

/* A vertex, by a formula, in the memory of a thread. */
typedef struct vertex_fit {
  const sbs_fit *of;
  const sbs_fit_formula *formula;
  size_t vertex;
  const workspace *work;
  double enough; /* errors above this need not be exact; not read where products are asked for */
} vertex_fit;

/* What is left in all frames together, and the pull: a sbs_left_over. */
static double evaluate(void *context, const double *w, size_t count, double *squares) {
  const vertex_fit *one = context;
  const sbs_fit *of = one->of;
  const workspace *work = one->work;
  const sbs_fit_desc *desc = of->desc;
  const double *v = desc->rest_positions + 3 * one->vertex;
  sbs_spread spread = work->spread;
  double error = 0.0;
  if (squares) memset(squares, 0, count * count * sizeof *squares);
  sbs_spread_joints(desc->twist, work->indices, count, v, &spread);
  for (size_t f = 0; f < desc->frame_count && (squares || error <= one->enough); f++) {
    const sbs_fit_joints joints = sbs_joints_of_frame(&of->joints, f);
    const double *p = desc->posed + 3 * (f * desc->vertex_count + one->vertex);
    double moved[3], left[3];
    sbs_move_spread(one->formula, &joints, &spread, v, desc->centers ? desc->centers + 3 * one->vertex : NULL, w, moved,
                    squares ? work->by : NULL);
    for (int k = 0; k < 3; k++) {
      left[k] = moved[k] - p[k];
      error += left[k] * left[k];
    }
    if (squares) sbs_add_corners(count, w, left, work->by, squares);
  }
  for (size_t i = 0; squares && i < count; i++) {
    for (size_t j = 0; j <= i; j++) {
      squares[i * count + j] += pull_product(of, work, (size_t)work->indices[i], (size_t)work->indices[j]);
      squares[j * count + i] = squares[i * count + j];
    }
  }
  if (of->pull == 0.0) return error;
  double apart = work->toward_square;
  for (size_t i = 0; i < count; i++) apart += w[i] * (w[i] - 2.0 * work->toward[work->indices[i]]);
  return error + of->pull * apart;
}

/* Gauss-Newton steps from the weights of now, at most so many. */
static double descend(const sbs_fit *of, const sbs_fit_formula *formula, size_t vertex, size_t count, size_t steps,
                      workspace *work) {
  vertex_fit context = {of, formula, vertex, work, DBL_MAX};
  return sbs_descend(&work->descent, count, steps, evaluate, &context);
}

/* ----------------------------------------------------------------------------------------------------- a vertex -- */

static void write_vertex(const sbs_fit *of, const sbs_fit_formula *formula, size_t vertex, size_t count,
                         const workspace *work) {
  const size_t width = of->options->influences;
  int32_t *indices = of->joint_indices + vertex * width;
  double *weights = of->joint_weights + vertex * width;
  memset(indices, 0, width * sizeof *indices);
  memset(weights, 0, width * sizeof *weights);
  size_t put = 0;
  for (size_t i = 0; i < count; i++) {
    if (work->descent.now[i] <= 0.0) continue;
    size_t at = put++;
    for (; at > 0 && weights[at - 1] < work->descent.now[i]; at--) {
      weights[at] = weights[at - 1];
      indices[at] = indices[at - 1];
    }
    weights[at] = work->descent.now[i];
    indices[at] = work->indices[i];
  }
  sbs_fit examples_alone = *of;
  examples_alone.pull = 0.0;
  vertex_fit context = {&examples_alone, formula, vertex, work, DBL_MAX};
  const double error = evaluate(&context, work->descent.now, count, NULL);
  of->errors[vertex] = sqrt(error / (double)of->desc->frame_count);
}

/* Leaves out joints without weight, which would still count for the center of their set. Returns whether there are. */
static int drop_idle(workspace *work, size_t *count) {
  size_t kept = 0;
  for (size_t i = 0; i < *count; i++) {
    if (work->descent.now[i] <= 0.0) continue;
    work->descent.now[kept] = work->descent.now[i];
    work->indices[kept++] = work->indices[i];
  }
  const int any = kept < *count;
  *count = kept;
  return any;
}

/* The square of the distance from the examples to where the farthest joint takes a vertex, over all frames. */
static double farthest(const workspace *work) {
  double most = 0.0;
  for (size_t j = 0; j < work->usable; j++) most = fmax(most, work->gram[j * work->usable + j]);
  return most;
}

/*
 * Adds those joints without weight whose growth lowers the error most, as long as there is room; joints that were added
 * before and have gained no weight make room. Returns how many were added. Linear blending alone does not tell which
 * joints matter. With `any`, those that lower it least fill the room that is left.
 */
static size_t add_promising(const sbs_fit *of, const sbs_fit_formula *formula, size_t vertex, int any, size_t *count,
                            workspace *work) {
  const sbs_fit_desc *desc = of->desc;
  const size_t usable = work->usable;
  const int32_t *everyone = work->everyone;
  double *slopes = work->points, *w = work->weights, mean = 0.0;
  drop_idle(work, count);
  for (size_t j = 0; j < usable; j++) {
    slopes[j] = w[j] = 0.0;
    for (size_t i = 0; i < *count; i++) {
      if (work->indices[i] == everyone[j]) w[j] = work->descent.now[i];
    }
    if (of->pull != 0.0) slopes[j] = of->pull * (w[j] - work->toward[everyone[j]]);
  }
  const double *v = desc->rest_positions + 3 * vertex;
  sbs_spread_joints(desc->twist, everyone, usable, v, &work->spread);
  for (size_t f = 0; f < desc->frame_count; f++) {
    const sbs_fit_joints joints = sbs_joints_of_frame(&of->joints, f);
    const double *p = desc->posed + 3 * (f * desc->vertex_count + vertex);
    double moved[3];
    sbs_move_spread(formula, &joints, &work->spread, v, desc->centers ? desc->centers + 3 * vertex : NULL, w, moved,
                    work->by);
    for (size_t j = 0; j < usable; j++) {
      for (size_t k = 0; k < 3; k++) slopes[j] += (moved[k] - p[k]) * work->by[3 * j + k];
    }
  }
  for (size_t j = 0; j < usable; j++) mean += w[j] * slopes[j];
  size_t added = 0;
  while (*count < of->most) {
    size_t steepest = usable;
    for (size_t j = 0; j < usable; j++) {
      if (w[j] == 0.0 && (steepest == usable || slopes[j] < slopes[steepest])) steepest = j;
    }
    if (steepest == usable || (!any && !(slopes[steepest] < mean))) break;
    w[steepest] = -1.0; /* is among them now */
    work->indices[*count] = everyone[steepest];
    work->descent.now[(*count)++] = 0.0;
    added++;
  }
  return added;
}

static int has_set_center(const sbs_fit_formula *formula) {
  return formula->method == SBS_METHOD_SPHERICAL && formula->center == SBS_CENTER_JOINT_SET;
}

/*
 * Makes at most so many steps from the weights of now, and keeps the result if it is the best so far. Where the formula
 * says what signs are relative to, as many are made with these signs first.
 */
static void try_weights(const sbs_fit *of, const sbs_fit_formula *formula, size_t vertex, size_t count, size_t steps,
                        workspace *work, choice *best) {
  if (formula->signs_by) descend(of, formula, vertex, count, steps, work);
  sbs_fit_formula exact = *formula;
  exact.signs_by = NULL;
  double error = descend(of, &exact, vertex, count, steps, work);
  while (has_set_center(formula) && drop_idle(work, &count)) {
    error = descend(of, &exact, vertex, count, steps, work);
  }
  if (best->count && !(error < best->error)) return;
  best->error = error;
  best->count = count;
  memcpy(best->weights, work->descent.now, count * sizeof *work->descent.now);
  memcpy(best->indices, work->indices, count * sizeof *work->indices);
}

/* Fits with some of the candidates alone, from the weights that they have. */
static void try_choice(const sbs_fit *of, const sbs_fit_formula *formula, size_t vertex, const candidates *all,
                       const int32_t *chosen, size_t count, workspace *work, choice *best) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) sum += all->weights[chosen[i]];
  for (size_t i = 0; i < count; i++) {
    work->indices[i] = all->indices[chosen[i]];
    work->descent.now[i] = sum > 0.0 ? all->weights[chosen[i]] / sum : 1.0 / (double)count;
  }
  try_weights(of, formula, vertex, count, of->options->iterations, work, best);
}

/*
 * Chooses among more candidates than may stay: the heaviest; then each of those that are not much lighter is tried in
 * place of the lightest, because weights alone do not tell which joints matter.
 */
static void choose_joints(const sbs_fit *of, const sbs_fit_formula *formula, size_t vertex, const candidates *all,
                          workspace *work, choice *best) {
  const size_t width = of->options->influences;
  const double exact = EXACT * farthest(work);
  int32_t *order = work->order, *chosen = work->chosen;
  for (size_t i = 0; i < all->count; i++) { /* by decreasing weight; those without any stay in their order */
    size_t at = i;
    for (; at > 0 && all->weights[order[at - 1]] < all->weights[i]; at--) order[at] = order[at - 1];
    order[at] = (int32_t)i;
  }
  const size_t kept = all->count < width ? all->count : width;
  for (size_t fewer = 1; has_set_center(formula) && fewer < kept; fewer++) { /* each has another center */
    memcpy(chosen, order, fewer * sizeof *order);
    sort_joints(chosen, fewer);
    try_choice(of, formula, vertex, all, chosen, fewer, work, best);
    if (best->error <= exact) return;
  }
  for (size_t other = kept - 1; other < all->count; other++) {
    const int is_idle = other >= kept && all->weights[order[other]] <= 0.0;
    if (is_idle && !has_set_center(formula)) return; /* its growth does not lower the error */
    memcpy(chosen, order, kept * sizeof *order);
    chosen[kept - 1] = order[other];
    sort_joints(chosen, kept);
    try_choice(of, formula, vertex, all, chosen, kept, work, best);
    if (best->error <= exact) return;
  }
}

/* Joints of which one leaves a set, or one joins it, or both: -1 is none. */
typedef struct exchange {
  int32_t leaves, joins;
  double error; /* before any step */
} exchange;

static int is_among(const int32_t *joints, size_t count, int32_t joint) {
  for (size_t i = 0; i < count; i++) {
    if (joints[i] == joint) return 1;
  }
  return 0;
}

/* Puts the best weights with an exchange into those of now; a joint that joins takes the weight of the one that leaves.
   Returns how many there are. */
static size_t make_exchange(const choice *best, exchange given, workspace *work) {
  size_t count = 0;
  double moved = 0.0;
  for (size_t i = 0; i < best->count; i++) {
    if (best->indices[i] == given.leaves) {
      moved = best->weights[i];
    } else {
      work->indices[count++] = best->indices[i];
    }
  }
  if (given.joins >= 0) work->indices[count++] = given.joins;
  sort_joints(work->indices, count);
  const double scale = given.joins < 0 ? 1.0 / (1.0 - moved) : 1.0;
  for (size_t n = 0; n < count; n++) {
    work->descent.now[n] = moved;
    for (size_t i = 0; i < best->count; i++) {
      if (best->indices[i] == work->indices[n]) work->descent.now[n] = scale * best->weights[i];
    }
  }
  return count;
}

/* Those that are nearest before any step, nearest first, at most `most`. Returns how many. */
static size_t find_exchanges(const sbs_fit *of, const sbs_fit_formula *formula, size_t vertex, size_t most,
                             workspace *work, const choice *best, exchange *found) {
  vertex_fit context = {of, formula, vertex, work, DBL_MAX};
  size_t count = 0;
  for (size_t out = 0; out <= best->count; out++) {
    for (size_t in = 0; in <= work->usable; in++) {
      exchange next = {out < best->count ? best->indices[out] : -1, in < work->usable ? work->everyone[in] : -1, 0.0};
      if (next.leaves < 0 && (next.joins < 0 || best->count == of->options->influences)) continue;
      if (next.joins < 0 ? best->count == 1 : is_among(best->indices, best->count, next.joins)) continue;
      if (count == most) context.enough = found[count - 1].error;
      next.error = evaluate(&context, work->descent.now, make_exchange(best, next, work), NULL);
      size_t at = count < most ? count++ : most;
      for (; at > 0 && next.error < found[at - 1].error; at--) {
        if (at < most) found[at] = found[at - 1];
      }
      if (at < most) found[at] = next;
    }
  }
  return count;
}

/*
 * Exchanges joints for any other usable ones as long as that lowers the error. Where all joints of a vertex are found
 * but one of little weight, the error is least near by, and its slopes do not tell which one is missed; about centers
 * of joint sets, which jump, not even the joints that would be found about weighted centers do.
 */
static void exchange_joints(const sbs_fit *of, const sbs_fit_formula *formula, size_t vertex, workspace *work,
                            choice *best) {
  const size_t most = has_set_center(formula) ? SET_EXCHANGES : OTHER_EXCHANGES;
  double before = DBL_MAX;
  while (best->error < NO_NEARER * before && best->error > FOUND * farthest(work)) {
    exchange found[SET_EXCHANGES];
    const size_t count = find_exchanges(of, formula, vertex, most, work, best, found);
    before = best->error;
    for (size_t i = 0; i < count && best->error == before; i++) { /* they are exchanges with the best */
      try_weights(of, formula, vertex, make_exchange(best, found[i], work), of->options->iterations, work, best);
    }
  }
}

/* Whether quaternions of usable joints have other signs relative to each other by one joint than by another. */
static int has_other_signs(const sbs_fit *of, const workspace *work, int32_t one, int32_t other) {
  for (size_t f = 0; f < of->desc->frame_count; f++) {
    const sbs_joint *joints = of->joints.joints + f * of->joints.count;
    const sbs_vec4 a = joints[one].quaternion, b = joints[other].quaternion;
    const int apart = sbs_vec4_dot(a, b) < 0.0;
    for (size_t j = 0; j < work->usable; j++) {
      const sbs_vec4 q = joints[work->everyone[j]].quaternion;
      if ((sbs_vec4_dot(q, a) < 0.0) != ((sbs_vec4_dot(q, b) < 0.0) != apart)) return 1;
    }
  }
  return 0;
}

static int32_t heaviest_joint(const int32_t *joints, const double *weights, size_t count) {
  size_t heaviest = 0;
  for (size_t i = 1; i < count; i++) {
    if (weights[i] > weights[heaviest]) heaviest = i;
  }
  return joints[heaviest];
}

/* From the weights of now: adds joints as long as that lowers the error, then chooses those that stay; gives up where
   that comes no nearer than `relaxed`, by any number of joints, which it lowers. */
static void search(const sbs_fit *of, const sbs_fit_formula *formula, size_t vertex, size_t count, workspace *work,
                   double *relaxed, choice *best) {
  /* the center of a joint set jumps where a joint comes or goes: which of them stay is found about weighted ones */
  sbs_fit_formula smooth = *formula;
  if (has_set_center(formula)) smooth.center = SBS_CENTER_WEIGHTED;
  const size_t steps = of->options->iterations, first_steps = steps < FIRST_STEPS ? steps : FIRST_STEPS;
  double error = descend(of, &smooth, vertex, count, first_steps, work);
  if (best->count && *relaxed < DBL_MAX) { /* back where it was, or far off */
    const int32_t here = heaviest_joint(work->indices, work->descent.now, count);
    if (error > FAR_OFF * *relaxed) return;
    const int is_near = error > NO_NEARER * *relaxed && error < NO_FARTHER * *relaxed;
    if (is_near && !has_other_signs(of, work, here, heaviest_joint(best->indices, best->weights, best->count))) return;
  }
  for (int turn = 0; turn < MORE_TURNS && error > EXACT * farthest(work); turn++) {
    if (!add_promising(of, &smooth, vertex, 0, &count, work)) break;
    error = descend(of, &smooth, vertex, count, first_steps, work);
  }
  if (error > GAIN * *relaxed) return;
  *relaxed = error;
  if (has_set_center(formula)) add_promising(of, &smooth, vertex, 1, &count, work);
  const candidates all = {count, work->all_indices, work->all_weights};
  memcpy(work->all_indices, work->indices, count * sizeof *work->indices);
  memcpy(work->all_weights, work->descent.now, count * sizeof *work->descent.now);
  choose_joints(of, formula, vertex, &all, work, best);
}

/* The usable joint, by its place, that takes a vertex nearest to its examples, of those not before `last`. */
static size_t next_nearest(const workspace *work, size_t last) {
  const size_t usable = work->usable;
  size_t next = usable;
  for (size_t j = 0; j < usable; j++) {
    const double square = work->gram[j * usable + j];
    if (last < usable) {
      const double before = work->gram[last * usable + last];
      if (square < before || (square == before && j <= last)) continue;
    }
    if (next == usable || square < work->gram[next * usable + next]) next = j;
  }
  return next;
}

/*
 * The signs of quaternions are those relative to the heaviest joint, so that the error jumps where another becomes it,
 * which no step gets across: the search begins again with others as the heaviest. At first signs are relative to this
 * joint whether it stays the heaviest or not, so that there is no jump.
 */
static void search_on(const sbs_fit *of, const sbs_fit_formula *formula, size_t vertex, workspace *work,
                      double *relaxed, choice *best) {
  size_t joint = work->usable;
  for (int start = 0; start < MORE_STARTS && best->error > FOUND * farthest(work); start++) {
    joint = next_nearest(work, joint);
    if (joint == work->usable) return;
    const int32_t best_joint = heaviest_joint(best->indices, best->weights, best->count);
    if (!has_other_signs(of, work, work->everyone[joint], best_joint)) continue;
    for (size_t j = 0; j < work->usable; j++) work->weights[j] = 0.5 * work->linear[j] + 0.5 * (double)(j == joint);
    const size_t count = choose_heaviest(work->weights, work->usable, of->most, work->indices);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += work->descent.now[i] = work->weights[work->indices[i]];
    for (size_t i = 0; i < count; i++) {
      work->descent.now[i] /= sum;
      work->indices[i] = work->everyone[work->indices[i]];
    }
    sbs_fit_formula from_here = *formula;
    from_here.signs_by = work->everyone + joint;
    search(of, &from_here, vertex, count, work, relaxed, best);
  }
}

/* Begins with the weights that are given, which are kept if no step lowers the error. */
static void try_initial(const sbs_fit *of, const sbs_fit_formula *formula, size_t vertex, workspace *work,
                        choice *best) {
  const sbs_fit_desc *desc = of->desc;
  const size_t width = desc->initial_influences;
  const size_t steps[] = {0, of->options->iterations};
  for (int turn = 0; turn < 2; turn++) {
    size_t count = 0;
    double sum = 0.0;
    for (size_t i = vertex * width; i < (vertex + 1) * width; i++) {
      if (sbs_usable_weight(desc->initial_weights[i]) > 0.0) work->chosen[count++] = desc->initial_indices[i];
    }
    sort_joints(work->chosen, count);
    for (size_t n = 0; n < count; n++) {
      for (size_t i = vertex * width; i < (vertex + 1) * width; i++) {
        const double weight = sbs_usable_weight(desc->initial_weights[i]);
        if (weight == 0.0 || desc->initial_indices[i] != work->chosen[n]) continue;
        work->indices[n] = work->chosen[n];
        sum += work->descent.now[n] = weight;
      }
    }
    if (!count) return;
    for (size_t n = 0; n < count; n++) work->descent.now[n] /= sum;
    try_weights(of, formula, vertex, count, steps[turn], work, best);
  }
}

static sbs_status fit_vertex(const sbs_fit *of, size_t vertex, workspace *work) {
  const int linear = of->options->method == SBS_METHOD_LINEAR;
  const sbs_fit_formula formula = {of->options->method, of->options->center, of->options->damping, NULL};
  find_usable(of, vertex, work);
  sum_products(of, vertex, work);
  choice best = {.indices = work->best_indices, .weights = work->best_weights};
  if (of->desc->initial_indices) try_initial(of, &formula, vertex, work, &best);
  sbs_status status = sbs_nearest_in_hull(work->usable, work->gram, NULL, work->linear, work->descent.hull);
  if (status) return status;
  const size_t most = linear ? of->options->influences : of->most;
  const size_t count = choose_heaviest(work->linear, work->usable, most, work->indices);
  status = fit_chosen_linearly(work, count);
  if (status) return status;
  if (linear) {
    try_weights(of, &formula, vertex, count, 0, work, &best);
  } else {
    double relaxed = DBL_MAX;
    search(of, &formula, vertex, count, work, &relaxed, &best);
    double exchanged = DBL_MAX;
    if (has_set_center(&formula)) {
      exchange_joints(of, &formula, vertex, work, &best);
      exchanged = best.error;
    }
    search_on(of, &formula, vertex, work, &relaxed, &best);
    if (best.error < exchanged) exchange_joints(of, &formula, vertex, work, &best);
  }
  memcpy(work->indices, best.indices, best.count * sizeof *work->indices);
  memcpy(work->descent.now, best.weights, best.count * sizeof *work->descent.now);
  write_vertex(of, &formula, vertex, best.count, work);
  return SBS_OK;
}

size_t sbs_fit_most(size_t joints, size_t influences) {
  if (influences >= joints || joints - influences <= MORE_CANDIDATES) return joints;
  return influences + MORE_CANDIDATES;
}

size_t sbs_fit_work_size(const sbs_fit *of) {
  sbs_arena counted = sbs_arena_over(NULL);
  lay_out(of, &counted);
  return counted.failed ? 0 : counted.used;
}

sbs_status sbs_fit_vertices(void *context, sbs_share vertices, int worker) {
  const sbs_fit *of = context;
  sbs_arena memory = sbs_arena_over(of->work + (size_t)worker * of->work_size);
  workspace work = lay_out(of, &memory);
  sbs_status status = SBS_OK;
  for (size_t v = vertices.begin; v < vertices.end && !status; v++) status = fit_vertex(of, v, &work);
  return status;
}
