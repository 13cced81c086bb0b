/* SPDX-License-Identifier: MIT */
#include "solve/drag_vertex.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/scalar.h"

/* The most steps from one set of joints; a handful is usual. */
#define STEPS 30

/* How far weights may be apart by rounding alone. */
#define ROUNDING 1e-12

/* The weight that another joint gets for a start where one joint has all (see leave_corner). */
#define ASIDE 1e-3

/* The search for the weights of a vertex; its locked joints come first. */
typedef struct drag_search {
  const sbs_drag *drag;
  const sbs_dragged *dragged;
  sbs_drag_work *work;
  size_t locked, movable; /* how many joints keep their weight, and how many share the rest */
  double rest;            /* the sum of weights of movable joints, of a sum of 1 */
  double amount;          /* of the method, the rest being linear */
  sbs_fit_formula method;
  double targets[2][3]; /* where the vertex should be in each view */
} drag_search;

size_t sbs_drag_most(const sbs_drag *drag) {
  return drag->limit + drag->allowed_counts[0] + drag->allowed_counts[1];
}

sbs_drag_work sbs_drag_lay_out(size_t most, sbs_arena *arena) {
  sbs_drag_work made = {.descent = sbs_new_descent(arena, most, most)};
  made.start = sbs_arena_take(arena, most, sizeof(double));
  made.best = sbs_arena_take(arena, most, sizeof(double));
  made.kept = sbs_arena_take(arena, most, sizeof(double));
  made.full = sbs_arena_take(arena, most, sizeof(double));
  made.by = sbs_arena_take(arena, most, 3 * sizeof(double));
  made.part = sbs_arena_take(arena, most, 3 * sizeof(double));
  made.spread = sbs_new_spread(arena, most);
  made.joints = sbs_arena_take(arena, most, sizeof(int32_t));
  made.row = sbs_row_new(arena, most);
  return made;
}

/* --------------------------------------------------------------------------------------------- where a vertex is -- */

/* Finds the frames of a twist in place of the joints of the search. */
static void spread_joints(const drag_search *search) {
  const double *positions = search->drag->options->twist_positions;
  sbs_spread_joints(search->drag->options->twist, search->work->joints, search->locked + search->movable,
                    positions ? positions + 3 * search->dragged->vertex : search->dragged->position,
                    &search->work->spread);
}

/* Adds `amount` of where one formula takes the vertex, and of the derivatives by the weights of all joints. */
static void add_moved(const drag_search *search, const sbs_fit_formula *formula, size_t view, double amount,
                      double moved[3]) {
  const sbs_drag_work *work = search->work;
  const double *centers = search->drag->options->centers;
  const sbs_fit_joints joints = sbs_joints_of_frame(search->drag->views + view, 0);
  double to[3];
  sbs_move_spread(formula, &joints, &work->spread, search->dragged->position,
                  centers ? centers + 3 * search->dragged->vertex : NULL, work->full, to, work->part);
  for (size_t k = 0; k < 3; k++) moved[k] += amount * to[k];
  for (size_t i = 0; i < 3 * (search->locked + search->movable); i++) work->by[i] += amount * work->part[i];
}

static const sbs_fit_formula linear = {.method = SBS_METHOD_LINEAR};

/* Where the vertex is in a view with such shares of the movable joints; and the derivatives by all weights. */
static void move(const drag_search *search, const double *w, size_t view, double moved[3]) {
  const sbs_drag_work *work = search->work;
  const size_t count = search->locked + search->movable;
  memcpy(work->full, work->kept, search->locked * sizeof *work->full);
  for (size_t i = 0; i < search->movable; i++) work->full[search->locked + i] = search->rest * w[i];
  memset(work->by, 0, 3 * count * sizeof *work->by);
  memset(moved, 0, 3 * sizeof *moved);
  if (search->amount > 0.0) add_moved(search, &search->method, view, search->amount, moved);
  if (search->amount < 1.0) add_moved(search, &linear, view, 1.0 - search->amount, moved);
}

/* The squared distance from the targets of all views: a sbs_left_over. */
static double measure(void *context, const double *w, size_t count, double *squares) {
  const drag_search *search = context;
  double *by = search->work->by + 3 * search->locked, sum = 0.0;
  if (squares) memset(squares, 0, count * count * sizeof *squares);
  for (size_t view = 0; view < search->drag->view_count; view++) {
    if (!(search->dragged->shares[view] > 0.0)) continue;
    double moved[3], left[3];
    move(search, w, view, moved);
    for (size_t k = 0; k < 3; k++) {
      left[k] = moved[k] - search->targets[view][k];
      sum += left[k] * left[k];
    }
    if (!squares) continue;
    for (size_t i = 0; i < 3 * count; i++) by[i] *= search->rest;
    sbs_add_corners(count, w, left, by, squares);
  }
  if (squares) sbs_fill_upper(count, squares);
  return sum;
}

/* Sets where the vertex should be in each view: its share of the way from where its first weights take it. */
static void set_targets(drag_search *search) {
  for (size_t view = 0; view < search->drag->view_count; view++) {
    move(search, search->work->start, view, search->targets[view]);
    for (size_t k = 0; k < 3; k++)
      search->targets[view][k] += search->dragged->shares[view] * search->drag->ways[view][k];
  }
}

/* ---------------------------------------------------------------------------------------------------- its joints -- */

/* Begins with the joints that a vertex has. Returns the sum of its weights; 0 if there is none to share. */
static double begin(drag_search *search, const sbs_drag *drag, const sbs_dragged *dragged, sbs_row own,
                    sbs_drag_work *work) {
  const unsigned char *locked = drag->options->locked;
  const sbs_deform_options *deform = drag->options->deform;
  double sum = 0.0, movable = 0.0;
  *search = (drag_search){.drag = drag, .dragged = dragged, .work = work, .amount = 1.0};
  if (deform->amount) search->amount = sbs_scalar_get(deform->amount, deform->amount_scalar, dragged->vertex);
  for (size_t k = 0; k < own.count; k++) {
    sum += own.weights[k];
    if (!sbs_is_locked(locked, own.joints[k])) movable += own.weights[k];
  }
  if (!(movable > 0.0 && sum <= DBL_MAX)) return 0.0;
  for (size_t k = 0; k < own.count; k++) {
    if (!sbs_is_locked(locked, own.joints[k])) continue;
    work->joints[search->locked] = own.joints[k];
    work->kept[search->locked++] = own.weights[k] / sum;
  }
  for (size_t k = 0; k < own.count; k++) {
    if (sbs_is_locked(locked, own.joints[k])) continue;
    work->joints[search->locked + search->movable] = own.joints[k];
    work->start[search->movable++] = own.weights[k] / movable;
  }
  search->rest = movable / sum;
  search->method = drag->method;
  spread_joints(search);
  return sum;
}

/* Adds the joints that the vertex may get, without weight as yet. */
static void add_allowed(drag_search *search) {
  const sbs_drag_work *work = search->work;
  for (size_t view = 0; view < search->drag->view_count; view++) {
    if (!(search->dragged->shares[view] > 0.0)) continue;
    for (size_t a = 0; a < search->drag->allowed_counts[view]; a++) {
      const int32_t joint = search->drag->allowed[view][a];
      const size_t count = search->locked + search->movable;
      size_t at = 0;
      while (at < count && work->joints[at] != joint) at++;
      if (at < count) continue;
      work->joints[count] = joint;
      work->start[search->movable++] = 0.0;
    }
  }
  spread_joints(search);
}

/* Takes out the movable joints without weight. Returns whether there are. */
static int drop_idle(drag_search *search) {
  int32_t *joints = search->work->joints + search->locked;
  double *now = search->work->descent.now;
  size_t kept = 0;
  for (size_t i = 0; i < search->movable; i++) {
    if (!(now[i] > 0.0)) continue;
    now[kept] = now[i];
    joints[kept++] = joints[i];
  }
  const int any = kept < search->movable;
  search->movable = kept;
  if (any) spread_joints(search);
  return any;
}

/* Takes out the lightest movable joints until so many are left. Returns whether there were more. */
static int drop_lightest(drag_search *search, size_t room) {
  double *now = search->work->descent.now, sum = 0.0;
  if (search->movable <= room) return 0;
  for (size_t excess = search->movable - room; excess; excess--) {
    size_t least = search->movable;
    for (size_t i = 0; i < search->movable; i++) {
      if (now[i] > 0.0 && (least == search->movable || now[i] <= now[least])) least = i;
    }
    now[least] = 0.0;
  }
  drop_idle(search);
  for (size_t i = 0; i < search->movable; i++) sum += now[i];
  for (size_t i = 0; i < search->movable; i++) now[i] /= sum;
  return 1;
}

/* ---------------------------------------------------------------------------------------------------- the search -- */

/* The only movable joint that has weight, or how many there are if several have. */
static size_t find_only_joint(const drag_search *search) {
  const double *now = search->work->descent.now;
  size_t corner = search->movable;
  for (size_t i = 0; i < search->movable; i++) {
    if (!(now[i] > 0.0)) continue;
    if (corner < search->movable) return search->movable;
    corner = i;
  }
  return corner;
}

/*
 * At a corner, where one joint has all the weight, there are no derivatives: weighted centers depend on the direction
 * in which it is left. So from there it goes a little towards each of the others, and on from the best.
 */
static void leave_corner(drag_search *search) {
  sbs_drag_work *work = search->work;
  sbs_descent *descent = &work->descent;
  const size_t corner = find_only_joint(search);
  if (corner == search->movable || search->locked) return;
  double least = measure(search, descent->now, search->movable, NULL);
  memcpy(work->best, descent->now, search->movable * sizeof *work->best);
  for (size_t i = 0; i < search->movable; i++) {
    if (i == corner) continue;
    memset(descent->now, 0, search->movable * sizeof *descent->now);
    descent->now[corner] = 1.0 - ASIDE;
    descent->now[i] = ASIDE;
    const double left = sbs_descend(descent, search->movable, STEPS, measure, search);
    if (!(left < (1.0 - ROUNDING) * least)) continue;
    least = left;
    memcpy(work->best, descent->now, search->movable * sizeof *work->best);
  }
  memcpy(descent->now, work->best, search->movable * sizeof *work->best);
}

static void descend(drag_search *search) {
  if (find_only_joint(search) == search->movable)
    sbs_descend(&search->work->descent, search->movable, STEPS, measure, search);
  leave_corner(search);
}

/*
 * Which joints the vertex gets is found about its weighted center where the method has one for each joint set, for that
 * one jumps where a joint comes or goes.
 */
static void find_joints(drag_search *search) {
  sbs_drag_work *work = search->work;
  if (sbs_has_set_center(&search->method)) search->method.center = SBS_CENTER_WEIGHTED;
  set_targets(search);
  memcpy(work->descent.now, work->start, search->movable * sizeof *work->start);
  descend(search);
  search->method = search->drag->method;
}

/* Whether the found weights are the first ones. */
static int is_unchanged(const drag_search *search, sbs_row own, double sum) {
  const sbs_drag_work *work = search->work;
  size_t same = 0;
  for (size_t i = 0; i < search->movable; i++) {
    for (size_t k = 0; k < own.count; k++) {
      const double now = work->descent.now[i] * search->rest * sum;
      same += work->joints[search->locked + i] == own.joints[k] && fabs(now - own.weights[k]) <= ROUNDING * sum;
    }
  }
  return same == search->movable && search->locked + search->movable == own.count;
}

int sbs_drag_solve(const sbs_drag *drag, const sbs_dragged *dragged, sbs_row own, sbs_drag_work *work) {
  drag_search search;
  const double sum = begin(&search, drag, dragged, own, work);
  if (!(sum > 0.0) || search.locked >= drag->limit) return 0;
  double targets[2][3];
  set_targets(&search);
  memcpy(targets, search.targets, sizeof targets);
  add_allowed(&search);
  find_joints(&search);
  memcpy(search.targets, targets, sizeof targets);
  drop_idle(&search);
  const int again = drop_lightest(&search, drag->limit - search.locked);
  const int has_sets = sbs_has_set_center(&search.method);
  if (again || has_sets) descend(&search);
  while (drop_idle(&search) && has_sets) descend(&search);
  if (is_unchanged(&search, own, sum)) return 0;

  work->row.count = 0;
  for (size_t i = 0; i < search.locked + search.movable; i++) {
    const double weight = i < search.locked ? work->kept[i] : search.rest * work->descent.now[i - search.locked];
    work->row.joints[work->row.count] = work->joints[i];
    work->row.weights[work->row.count++] = weight * sum;
  }
  for (size_t i = 0; i < search.locked; i++) { /* to the last bit */
    for (size_t k = 0; k < own.count; k++) {
      if (own.joints[k] == work->row.joints[i]) work->row.weights[i] = own.weights[k];
    }
  }
  sbs_row_round(&work->row, SBS_FLOAT64);
  return 1;
}

void sbs_drag_where(const sbs_drag *drag, const sbs_dragged *dragged, size_t view, sbs_row own, sbs_drag_work *work,
                    double moved[3]) {
  drag_search search;
  if (begin(&search, drag, dragged, own, work) > 0.0) {
    move(&search, work->start, view, moved);
  } else {
    memcpy(moved, dragged->position, 3 * sizeof *moved);
  }
}
