/* SPDX-License-Identifier: MIT */
/* The patch of a relaxation, made ready for its energy. All lengths are in units of the patch's size. */
#ifndef SBS_CORRECTIVES_PATCH_H
#define SBS_CORRECTIVES_PATCH_H

#include "base/algebra.h"
#include "base/arena.h"
#include "sbs/relaxation.h"

/* A triangle with a free vertex. */
typedef struct sbs_patch_triangle {
  size_t corners[3];
  int32_t part;      /* -1: none */
  double share;      /* of the area of the patch at rest; 0 of a triangle without area, which has no strain */
  double inverse[3]; /* of the edges from the first corner at rest, in the triangle's plane: 00, 01, 11 */
} sbs_patch_triangle;

/* Two triangles at an edge, which turn the same way. */
typedef struct sbs_patch_hinge {
  size_t ends[2], corners[2]; /* the first triangle is ends[0], ends[1], corners[0] */
  double weight, angle;       /* 3 l^2 / (A1 + A2), and the angle at rest */
} sbs_patch_hinge;

typedef struct sbs_patch_part {
  sbs_vec3 apex;
  double volume, rest_volume, held_volume; /* volume: at the positions; rest_volume 0: left out */
} sbs_patch_part;

typedef struct sbs_patch {
  sbs_relaxation_options options;
  size_t vertex_count, triangle_count, hinge_count, part_count;
  const unsigned char *free_vertices;
  sbs_patch_triangle *triangles;
  sbs_patch_hinge *hinges;
  sbs_patch_part *parts;
  double *shares;    /* (V) of the area of the patch */
  double *planes;    /* (V, 4) or NULL */
  double *bones;     /* (B, 6) or NULL */
  double *distances; /* (V) or NULL */
  const int32_t *vertex_bones;
} sbs_patch;

/* Makes a patch; arrays are taken from the arena. x (V, 3) receives the positions that it begins at. */
sbs_status sbs_patch_init(const sbs_relaxation_desc *desc, const sbs_relaxation_options *options, sbs_arena *arena,
                          sbs_patch *patch, double *x, sbs_fault *fault);

/* The energy of a patch at positions x (V, 3), and its gradient (V, 3), which is 0 of held vertices. */
double sbs_patch_energy(sbs_patch *patch, const double *x, double *gradient);

#endif
