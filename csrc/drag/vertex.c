/* SPDX-License-Identifier: MIT */
#include "drag/vertex.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/scalar.h"
#include "fit/hull.h"

/* The most steps from one set of joints; a handful is usual. */
#define STEPS 30

/* How far weights may be apart by rounding alone. */
#define ROUNDING 1e-12

/* The weight that another joint gets for a start where one joint has all (see leave_corner). */
#define ASIDE 1e-3

/* A vertex on its way: its joints, first those that are locked, and where it should be. */
typedef struct search {
  const sbs_drag *drag;
  const sbs_dragged *dragged;
  sbs_drag_work *work;
  size_t locked, movable; /* how many joints keep their weight, and how many share the rest */
  double rest;            /* what the movable ones share, of a sum of 1 */
  double amount;          /* of the method, the rest being linear */
  sbs_fit_formula method;
  double targets[2][3];
} search;

size_t sbs_drag_most(const sbs_drag *drag) {
  return drag->limit + drag->allowed_counts[0] + drag->allowed_counts[1];
}

sbs_drag_work sbs_drag_lay_out(size_t most, sbs_arena *arena) {
  sbs_drag_work made;
  double **const squares[] = {&made.descent.squares, &made.descent.tried, &made.descent.damped};
  double **const vectors[] = {&made.descent.now, &made.descent.next, &made.start, &made.kept, &made.full, &made.best};
  for (size_t i = 0; i < sizeof squares / sizeof *squares; i++) {
    *squares[i] = sbs_arena_take(arena, most * most, sizeof(double));
  }
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    *vectors[i] = sbs_arena_take(arena, most, sizeof(double));
  made.descent.hull = sbs_arena_take(arena, sbs_hull_work_size(most), sizeof(double));
  made.by = sbs_arena_take(arena, most, 3 * sizeof(double));
  made.part = sbs_arena_take(arena, most, 3 * sizeof(double));
  made.spread = sbs_new_spread(arena, most);
  made.joints = sbs_arena_take(arena, most, sizeof(int32_t));
  made.row = sbs_row_new(arena, most);
  return made;
}

/* --------------------------------------------------------------------------------------------- where a vertex is -- */

/* Finds the frames of a twist in place of the joints of the search. */
static void spread_joints(const search *of) {
  const double *positions = of->drag->options->twist_positions;
  sbs_spread_joints(of->drag->options->twist, of->work->joints, of->locked + of->movable,
                    positions ? positions + 3 * of->dragged->vertex : of->dragged->position, &of->work->spread);
}

/* Adds `amount` of where one formula takes the vertex, and of the derivatives by the weights of all joints. */
static void add_moved(const search *of, const sbs_fit_formula *formula, size_t view, double amount, double moved[3]) {
  const sbs_drag_work *work = of->work;
  const sbs_view *seen = of->drag->views + view;
  const double *centers = of->drag->options->centers;
  const sbs_fit_joints joints = {seen->joints, seen->kinds, seen->stretches, NULL, 0};
  double to[3];
  sbs_move_spread(formula, &joints, &work->spread, of->dragged->position,
                  centers ? centers + 3 * of->dragged->vertex : NULL, work->full, to, work->part);
  for (size_t k = 0; k < 3; k++) moved[k] += amount * to[k];
  for (size_t i = 0; i < 3 * (of->locked + of->movable); i++) work->by[i] += amount * work->part[i];
}

static const sbs_fit_formula linear = {.method = SBS_METHOD_LINEAR};

/* Where the vertex is in a view with such shares of the movable joints; and the derivatives by all weights. */
static void move(const search *of, const double *w, size_t view, double moved[3]) {
  const sbs_drag_work *work = of->work;
  const size_t count = of->locked + of->movable;
  memcpy(work->full, work->kept, of->locked * sizeof *work->full);
  for (size_t i = 0; i < of->movable; i++) work->full[of->locked + i] = of->rest * w[i];
  memset(work->by, 0, 3 * count * sizeof *work->by);
  memset(moved, 0, 3 * sizeof *moved);
  if (of->amount > 0.0) add_moved(of, &of->method, view, of->amount, moved);
  if (of->amount < 1.0) add_moved(of, &linear, view, 1.0 - of->amount, moved);
}

/* What is left to the targets of all views: a sbs_left_over. */
static double left_over(void *context, const double *w, size_t count, double *squares) {
  const search *of = context;
  double *by = of->work->by + 3 * of->locked, sum = 0.0;
  if (squares) memset(squares, 0, count * count * sizeof *squares);
  for (size_t view = 0; view < of->drag->view_count; view++) {
    if (!(of->dragged->shares[view] > 0.0)) continue;
    double moved[3], left[3];
    move(of, w, view, moved);
    for (size_t k = 0; k < 3; k++) {
      left[k] = moved[k] - of->targets[view][k];
      sum += left[k] * left[k];
    }
    if (!squares) continue;
    for (size_t i = 0; i < 3 * count; i++) by[i] *= of->rest;
    sbs_add_corners(count, w, left, by, squares);
  }
  if (squares) sbs_fill_upper(count, squares);
  return sum;
}

/* Sets where the vertex should be in each view: its share of the way from where its first weights take it. */
static void set_targets(search *of) {
  for (size_t view = 0; view < of->drag->view_count; view++) {
    move(of, of->work->start, view, of->targets[view]);
    for (size_t k = 0; k < 3; k++) of->targets[view][k] += of->dragged->shares[view] * of->drag->ways[view][k];
  }
}

/* ---------------------------------------------------------------------------------------------------- its joints -- */

/* Begins with the joints that a vertex has. Returns the sum of its weights; 0 if there is none to share. */
static double begin(search *of, const sbs_drag *drag, const sbs_dragged *dragged, const int32_t *joints,
                    const double *weights, size_t count, sbs_drag_work *work) {
  const unsigned char *locked = drag->options->locked;
  const sbs_deform_options *deform = drag->options->deform;
  double sum = 0.0, movable = 0.0;
  *of = (search){.drag = drag, .dragged = dragged, .work = work, .amount = 1.0};
  if (deform->amount) of->amount = sbs_scalar_get(deform->amount, deform->amount_scalar, dragged->vertex);
  for (size_t k = 0; k < count; k++) {
    sum += weights[k];
    if (!sbs_is_locked(locked, joints[k])) movable += weights[k];
  }
  if (!(movable > 0.0 && sum <= DBL_MAX)) return 0.0;
  for (size_t k = 0; k < count; k++) {
    if (!sbs_is_locked(locked, joints[k])) continue;
    work->joints[of->locked] = joints[k];
    work->kept[of->locked++] = weights[k] / sum;
  }
  for (size_t k = 0; k < count; k++) {
    if (sbs_is_locked(locked, joints[k])) continue;
    work->joints[of->locked + of->movable] = joints[k];
    work->start[of->movable++] = weights[k] / movable;
  }
  of->rest = movable / sum;
  of->method = drag->method;
  spread_joints(of);
  return sum;
}

/* Adds the joints that the vertex may get, without weight as yet. */
static void add_allowed(search *of) {
  const sbs_drag_work *work = of->work;
  for (size_t view = 0; view < of->drag->view_count; view++) {
    if (!(of->dragged->shares[view] > 0.0)) continue;
    for (size_t a = 0; a < of->drag->allowed_counts[view]; a++) {
      const int32_t joint = of->drag->allowed[view][a];
      const size_t count = of->locked + of->movable;
      size_t at = 0;
      while (at < count && work->joints[at] != joint) at++;
      if (at < count) continue;
      work->joints[count] = joint;
      work->start[of->movable++] = 0.0;
    }
  }
  spread_joints(of);
}

/* Takes out the movable joints without weight. Returns whether there are. */
static int drop_idle(search *of) {
  int32_t *joints = of->work->joints + of->locked;
  double *now = of->work->descent.now;
  size_t kept = 0;
  for (size_t i = 0; i < of->movable; i++) {
    if (!(now[i] > 0.0)) continue;
    now[kept] = now[i];
    joints[kept++] = joints[i];
  }
  const int any = kept < of->movable;
  of->movable = kept;
  if (any) spread_joints(of);
  return any;
}

/* Takes out the lightest movable joints until so many are left. Returns whether there were more. */
static int drop_lightest(search *of, size_t room) {
  double *now = of->work->descent.now, sum = 0.0;
  if (of->movable <= room) return 0;
  for (size_t excess = of->movable - room; excess; excess--) {
    size_t least = of->movable;
    for (size_t i = 0; i < of->movable; i++) {
      if (now[i] > 0.0 && (least == of->movable || now[i] <= now[least])) least = i;
    }
    now[least] = 0.0;
  }
  drop_idle(of);
  for (size_t i = 0; i < of->movable; i++) sum += now[i];
  for (size_t i = 0; i < of->movable; i++) now[i] /= sum;
  return 1;
}

/* ---------------------------------------------------------------------------------------------------- the search -- */

static int is_about_sets(const sbs_fit_formula *formula) {
  return formula->method == SBS_METHOD_SPHERICAL && formula->center == SBS_CENTER_JOINT_SET;
}

/* The only movable joint that has weight, or how many there are if several have. */
static size_t only_joint(const search *of) {
  const double *now = of->work->descent.now;
  size_t corner = of->movable;
  for (size_t i = 0; i < of->movable; i++) {
    if (!(now[i] > 0.0)) continue;
    if (corner < of->movable) return of->movable;
    corner = i;
  }
  return corner;
}

/*
 * At a corner, where one joint has all the weight, there are no derivatives: weighted centers depend on the direction
 * in which it is left. So from there it goes a little towards each of the others, and on from the best.
 */
static void leave_corner(search *of) {
  sbs_drag_work *work = of->work;
  sbs_descent *descent = &work->descent;
  const size_t corner = only_joint(of);
  if (corner == of->movable || of->locked) return;
  double least = left_over(of, descent->now, of->movable, NULL);
  memcpy(work->best, descent->now, of->movable * sizeof *work->best);
  for (size_t i = 0; i < of->movable; i++) {
    if (i == corner) continue;
    memset(descent->now, 0, of->movable * sizeof *descent->now);
    descent->now[corner] = 1.0 - ASIDE;
    descent->now[i] = ASIDE;
    const double left = sbs_descend(descent, of->movable, STEPS, left_over, of);
    if (!(left < (1.0 - ROUNDING) * least)) continue;
    least = left;
    memcpy(work->best, descent->now, of->movable * sizeof *work->best);
  }
  memcpy(descent->now, work->best, of->movable * sizeof *work->best);
}

static void descend(search *of) {
  if (only_joint(of) == of->movable) sbs_descend(&of->work->descent, of->movable, STEPS, left_over, of);
  leave_corner(of);
}

/*
 * Which joints the vertex gets is found about its weighted center where the method has one for each joint set, for that
 * one jumps where a joint comes or goes.
 */
static void find_joints(search *of) {
  sbs_drag_work *work = of->work;
  if (is_about_sets(&of->method)) of->method.center = SBS_CENTER_WEIGHTED;
  set_targets(of);
  memcpy(work->descent.now, work->start, of->movable * sizeof *work->start);
  descend(of);
  of->method = of->drag->method;
}

/* Whether the weights that were found are those to begin with. */
static int is_unchanged(const search *of, const int32_t *joints, const double *weights, size_t count, double sum) {
  const sbs_drag_work *work = of->work;
  size_t same = 0;
  for (size_t i = 0; i < of->movable; i++) {
    for (size_t k = 0; k < count; k++) {
      const double now = work->descent.now[i] * of->rest * sum;
      same += work->joints[of->locked + i] == joints[k] && fabs(now - weights[k]) <= ROUNDING * sum;
    }
  }
  return same == of->movable && of->locked + of->movable == count;
}

int sbs_drag_solve(const sbs_drag *drag, const sbs_dragged *dragged, const int32_t *joints, const double *weights,
                   size_t count, sbs_drag_work *work) {
  search of;
  const double sum = begin(&of, drag, dragged, joints, weights, count, work);
  if (!(sum > 0.0) || of.locked >= drag->limit) return 0;
  double targets[2][3];
  set_targets(&of);
  memcpy(targets, of.targets, sizeof targets);
  add_allowed(&of);
  find_joints(&of);
  memcpy(of.targets, targets, sizeof targets);
  drop_idle(&of);
  const int again = drop_lightest(&of, drag->limit - of.locked);
  const int has_sets = is_about_sets(&of.method);
  if (again || has_sets) descend(&of);
  while (drop_idle(&of) && has_sets) descend(&of);
  if (is_unchanged(&of, joints, weights, count, sum)) return 0;

  work->row.count = 0;
  for (size_t i = 0; i < of.locked + of.movable; i++) {
    const double weight = i < of.locked ? work->kept[i] : of.rest * work->descent.now[i - of.locked];
    work->row.joints[work->row.count] = work->joints[i];
    work->row.weights[work->row.count++] = weight * sum;
  }
  for (size_t i = 0; i < of.locked; i++) { /* to the last bit */
    for (size_t k = 0; k < count; k++) {
      if (joints[k] == work->row.joints[i]) work->row.weights[i] = weights[k];
    }
  }
  sbs_row_round(&work->row, SBS_FLOAT64);
  return 1;
}

void sbs_drag_where(const sbs_drag *drag, const sbs_dragged *dragged, size_t view, const int32_t *joints,
                    const double *weights, size_t count, sbs_drag_work *work, double moved[3]) {
  search of;
  if (begin(&of, drag, dragged, joints, weights, count, work) > 0.0) {
    move(&of, work->start, view, moved);
  } else {
    memcpy(moved, dragged->position, 3 * sizeof *moved);
  }
}
