/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_DRAG_VERTEX_H
#define SBS_SOLVE_DRAG_VERTEX_H

#include "sbs/drag.h"
#include "solve/descend.h"
#include "solve/joints.h"
#include "solve/vertex.h"
#include "weights/row.h"

/* A drag, the same for all vertices. */
typedef struct sbs_drag {
  const sbs_drag_options *options;
  sbs_fit_formula method;
  sbs_frame_joints views[2]; /* the pose, and its mirror image */
  size_t view_count;
  double ways[2][3];         /* how far the vertex itself is dragged, in each */
  const int32_t *allowed[2]; /* the joints that may get weight in each view, none of them locked */
  size_t allowed_counts[2];
  size_t limit; /* the most influences of a vertex */
} sbs_drag;

/* A vertex that goes along. */
typedef struct sbs_dragged {
  size_t vertex;
  double position[3]; /* at rest */
  double shares[2];   /* of the way, in each view; 0: the view does not matter */
} sbs_dragged;

/* The memory of a thread. */
typedef struct sbs_drag_work {
  sbs_descent descent;
  double *start; /* (n) weights to begin with; n as of sbs_drag_most */
  double *best;  /* (n) the best that were found */
  double *kept;  /* (n) of locked joints */
  double *full;  /* (n) weights of all joints */
  double *by;    /* (n, 3) derivatives by them */
  double *part;  /* (n, 3) derivatives of one formula */
  sbs_spread spread;
  int32_t *joints; /* (n) locked ones first */
  sbs_row row;     /* receives the new weights */
} sbs_drag_work;

/* The most joints that a vertex is looked at with. */
size_t sbs_drag_most(const sbs_drag *drag);

/* Takes the memory of a thread from an arena. */
sbs_drag_work sbs_drag_lay_out(size_t most, sbs_arena *arena);

/* Where a vertex is in a view with the influences that it has. */
void sbs_drag_where(const sbs_drag *drag, const sbs_dragged *dragged, size_t view, sbs_row own, sbs_drag_work *work,
                    double moved[3]);

/* Finds the new weights of a vertex, as a row. Returns whether they differ from its own, else there is no row. */
int sbs_drag_solve(const sbs_drag *drag, const sbs_dragged *dragged, sbs_row own, sbs_drag_work *work);

#endif
