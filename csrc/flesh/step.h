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
  float *guard_strengths;     /* (guard_count) in the pose */
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

/* A pose of flesh: from rest positions in units of the mesh's size to deformed ones in those of the pose. */
typedef struct sbs_flesh_posed {
  const sbs_pose *pose;
  double size, middle[3]; /* of deformed positions */
} sbs_flesh_posed;

/* How much joints scale the mesh: the median of their determinants' roots. `scales` (J) is overwritten. */
double sbs_flesh_find_scale(const sbs_flesh *flesh, const sbs_pose *pose, double *scales);

/* Puts apexes of pieces to the mean of their vertices. */
void sbs_flesh_place_pieces(sbs_flesh_state *state);

/* Brings bones, planes and apexes into the pose of `start`. */
void sbs_flesh_set_pose(sbs_flesh_state *state, const sbs_flesh_posed *in);

/* Solves for `right`, in place. */
sbs_status sbs_flesh_solve(const sbs_flesh_state *state, int threads);

/* Adds to the pressure of each part, by the volume that it has lost. */
void sbs_flesh_add_to_pressures(const sbs_flesh_state *state);

/* Vectors of the mesh's vertices that are changed. */
typedef struct sbs_flesh_vectors {
  char *first; /* or NULL */
  size_t stride;
  sbs_scalar scalar;
} sbs_flesh_vectors;

/* `stride` 0: packed. */
sbs_flesh_vectors sbs_flesh_make_vectors(void *first, size_t stride, sbs_scalar scalar);
void sbs_flesh_read_vector(const sbs_flesh_vectors *in, size_t vertex, double out[3]);

/* Writes the vertices that moved. */
void sbs_flesh_write_results(sbs_flesh_state *state, double size, double amount, const unsigned char *is_moved,
                             const sbs_flesh_vectors *positions, const sbs_flesh_vectors *normals);

#endif
