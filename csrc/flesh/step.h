/* SPDX-License-Identifier: MIT */
/* One step of a relaxation, in parts that threads share. */
#ifndef SBS_FLESH_STEP_H
#define SBS_FLESH_STEP_H

#include "base/threads.h"
#include "flesh/flesh.h"

/* A point or a vector; the fourth number is 0. */
typedef float sbs_point4[4];

/* The parts of a force at a corner of a triangle, and of the curvature that it asks for there. */
typedef struct sbs_flesh_corner {
  sbs_point4 force, curvature;
} sbs_flesh_corner;

/* A plane of a hinge in the pose; `strength` falls to 0 as the joint becomes straight. */
typedef struct sbs_flesh_plane {
  float normal[3], offset;
  float inward[3], inward_offset; /* towards the inside of the bend */
  float strength;
} sbs_flesh_plane;

/* A relaxation in a pose, in units of the mesh's size. */
typedef struct sbs_flesh_state {
  const sbs_flesh *flesh;
  sbs_point4 *y;              /* (W) */
  sbs_point4 *start;          /* (W) where skinning puts them */
  sbs_flesh_corner *corners;  /* (3 T), then two for each side of rims */
  sbs_point4 *bent;           /* (W) bending (L y - R L x), by area */
  sbs_point4 *residual;       /* (W) */
  sbs_point4 *right;          /* (n) in the order of elimination */
  sbs_point4 *before;         /* (n) where free vertices were a step ago */
  float pace;                 /* how far a step goes from there */
  sbs_point4 *top;            /* (group_count, top_count) the sums that groups add to rows of the top */
  float (*bones)[8];          /* (J) in the pose: head, 1 over the square of the length, way to the tail */
  sbs_flesh_plane *planes;    /* (H) */
  float (*apexes)[3];         /* (P) */
  float *volumes, *pressures; /* (P) */
  float *squares;             /* (P) of the areas of triangles, doubled: their sum */
} sbs_flesh_state;

/* Whatever is done for a range of parts, triangles or vertices. */
typedef void sbs_flesh_work(const sbs_flesh_state *state, size_t begin, size_t end);

typedef struct sbs_flesh_functions {
  sbs_flesh_work *measure; /* volumes of parts */
  sbs_flesh_work *project; /* triangles to their nearest rotations */
  sbs_flesh_work *close;   /* fans over rims */
  sbs_flesh_work *gather;  /* forces at vertices */
  sbs_flesh_work *finish;  /* the rest of them, into `right` */
  sbs_flesh_work *go;      /* vertices along the solution */
  /* Adds the gradient of a part's volume, at all vertices. */
  void (*add_gradient)(const sbs_flesh_state *state, size_t part, sbs_point4 *gradient);
  /* Solves for the panels of a group, forwards or backwards. `top` (top_count): the sums for it. */
  void (*solve_forwards)(const sbs_panels *panels, size_t group, sbs_point4 *values, sbs_point4 *top);
  void (*solve_backwards)(const sbs_panels *panels, size_t group, sbs_point4 *values);
} sbs_flesh_functions;

sbs_flesh_functions sbs_flesh_choose_functions(sbs_isa isa);

/* Takes the memory of a state. */
void sbs_flesh_place_state(sbs_flesh_state *state, const sbs_flesh *flesh, sbs_arena *arena);

/* Puts apexes of pieces to the mean of their vertices. */
void sbs_flesh_place_pieces(sbs_flesh_state *state);

/* The volumes at rest, and the pressures that parts answer with. */
sbs_status sbs_flesh_set_pressures(sbs_flesh *flesh);

#endif
