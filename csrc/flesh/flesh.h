/* SPDX-License-Identifier: MIT */
/*
 * Flesh as it was bound. Vertices are those of the mesh without seams, W of them. Lengths are in units of the mesh's
 * size at rest.
 */
#ifndef SBS_FLESH_FLESH_H
#define SBS_FLESH_FLESH_H

#include "base/arena.h"
#include "base/isa.h"
#include "flesh/panels.h"
#include "sbs/flesh.h"

enum {
  SBS_FLESH_BONES = 3 /* the most bones that a vertex keeps its distance to */
};

/* A triangle with an area. Its frame at rest has the first edge as its first axis and the normal as its third. */
typedef struct sbs_flesh_triangle {
  int32_t corners[3];
  int32_t limb, piece;   /* the parts whose volume it bounds; -1: none */
  float area;            /* at rest */
  float inverse[3];      /* of the edges from the first corner at rest, in its plane: 00, 01, 11 */
  float curvature[3][3]; /* for each corner L x in the frame, times the area */
} sbs_flesh_triangle;

/* The springs of a vertex. */
typedef struct sbs_flesh_vertex {
  float hold;                       /* the factor of its way from where skinning puts it */
  float bending;                    /* r^2 bending / a */
  float curvature;                  /* |L x| times a */
  int32_t bones[SBS_FLESH_BONES];   /* -1: none */
  float strengths[SBS_FLESH_BONES]; /* of distances, over `thinner` or `thicker` */
  float distances[SBS_FLESH_BONES]; /* at rest */
  float radius;
} sbs_flesh_vertex;

/* A plane between the two limbs of a hinge. */
typedef struct sbs_flesh_hinge {
  int32_t joint, parent;
  double point[3], along[3], above[3]; /* the joint, and directions of its bone and of the one above, at rest */
  double radius;
} sbs_flesh_hinge;

/* A vertex that is to stay on its side of a plane. */
typedef struct sbs_flesh_guard {
  int32_t vertex, hinge;
  float side;  /* 1 or -1 */
  float least; /* the distance from the plane that it keeps */
  float strength;
} sbs_flesh_guard;

/* A part of the surface whose volume is kept. It is measured from an apex, anywhere near, for the sake of rounding. */
typedef struct sbs_flesh_part {
  int32_t joint;   /* that moves the apex; -1: the apex is the mean of the triangles' corners */
  double apex[3];  /* at rest */
  double volume;   /* at rest */
  double squares;  /* of the areas of triangles, doubled: their sum at rest */
  double most;     /* the largest pressure, outward or inward */
  double strength; /* the pressure that a volume which is off by 1 asks for */
} sbs_flesh_part;

/* A closed line around a hole of a part. A fan of triangles to the middle of its corners closes it. */
typedef struct sbs_flesh_rim {
  int32_t part;
  size_t begin, end; /* its sides */
} sbs_flesh_rim;

struct sbs_flesh {
  sbs_allocator allocator;
  sbs_arena arena;
  sbs_flesh_options options;
  sbs_isa isa;
  size_t vertex_count, joint_count; /* V, J */
  double size, middle[3];           /* of the box of the triangles at rest */
  size_t count;                     /* W */
  int32_t *numbers;                 /* (V) which of them a vertex of the mesh is */
  int32_t *kept;                    /* (W) one vertex of the mesh for each */
  double *rest;                     /* (W, 3) */
  double *amounts;                  /* (V) or NULL */

  size_t triangle_count;
  sbs_flesh_triangle *triangles;
  size_t *corner_starts; /* (W + 1) where the corners of each vertex begin */
  int32_t *corners;      /* 3 triangle + corner; after those of all triangles 2 side + end of the rims */

  size_t free_count;
  int32_t *free_vertices;     /* (n) */
  sbs_flesh_vertex *vertices; /* (W) */
  size_t *offsets;            /* (W + 1) the cotangent Laplacian: neighbors */
  int32_t *neighbors;
  float *entries, *diagonal; /* beside the diagonal, and on it */

  size_t hinge_count, guard_count, part_count;
  sbs_flesh_hinge *hinges;
  sbs_flesh_guard *guards; /* ascending by vertices */
  size_t *guard_starts;    /* (W + 1) */
  sbs_flesh_part *parts;
  size_t *part_starts; /* (part_count + 1) their triangles */
  int32_t *part_triangles;
  size_t rim_count, cap_count;
  sbs_flesh_rim *rims; /* ascending by parts */
  size_t *rim_starts;  /* (part_count + 1) */
  int32_t (*caps)[2];  /* (cap_count) sides of rims, as the triangles beyond would have them */
  double *bones;       /* (J, 2, 3) heads and tails at rest */
  sbs_panels panels;
};

/* Weights of the vertices, and limbs, which only binding needs. */
typedef struct sbs_flesh_weights {
  size_t *starts; /* (W + 1) */
  int32_t *joints;
  double *weights;
  double *radii;  /* (W) of limbs */
  int32_t *limbs; /* (J) the joint whose limb the skin of a joint belongs to */
} sbs_flesh_weights;

sbs_status sbs_flesh_check(const sbs_flesh_desc *desc, const sbs_flesh_options *options, const sbs_allocator *allocator,
                           sbs_fault *fault);

/* Vertices without seams, their weights, and triangles. */
sbs_status sbs_flesh_find_surface(sbs_flesh *flesh, const sbs_flesh_desc *desc, sbs_flesh_weights *weights,
                                  sbs_arena *scratch);

/* Radii, bones and planes. */
sbs_status sbs_flesh_find_limbs(sbs_flesh *flesh, const sbs_flesh_desc *desc, sbs_flesh_weights *weights,
                                sbs_arena *scratch);

/* Parts whose volume is kept, with their rims; and which vertices are free. */
sbs_status sbs_flesh_find_parts(sbs_flesh *flesh, const sbs_flesh_desc *desc, const sbs_flesh_weights *weights,
                                sbs_arena *scratch);

/* The matrix of all steps; free vertices get its order of elimination. */
sbs_status sbs_flesh_find_matrix(sbs_flesh *flesh, sbs_arena *scratch);

/* The volumes at rest, and the pressures that parts answer with. */
sbs_status sbs_flesh_set_pressures(sbs_flesh *flesh);

/* Corners of all triangles, packed (T, 3), for functions of meshes. NULL: out of memory. */
int32_t *sbs_flesh_pack(const sbs_flesh *flesh, sbs_arena *scratch);

/* Sorts numbers; the median is the upper one of two. */
double sbs_flesh_median(double *numbers, size_t count);

#endif
