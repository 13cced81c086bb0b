/* SPDX-License-Identifier: MIT */
#ifndef SBS_MESH_VEC3_H
#define SBS_MESH_VEC3_H

#include <math.h>

typedef struct sbs_vec3 {
  double x, y, z;
} sbs_vec3;

static inline sbs_vec3 sbs_vec3_read(const double *from) {
  return (sbs_vec3){from[0], from[1], from[2]};
}

static inline void sbs_vec3_write(sbs_vec3 from, double *to) {
  to[0] = from.x, to[1] = from.y, to[2] = from.z;
}

static inline sbs_vec3 sbs_vec3_subtract(sbs_vec3 a, sbs_vec3 b) {
  return (sbs_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

/* a + t b */
static inline sbs_vec3 sbs_vec3_along(sbs_vec3 a, double t, sbs_vec3 b) {
  return (sbs_vec3){a.x + t * b.x, a.y + t * b.y, a.z + t * b.z};
}

static inline double sbs_vec3_dot(sbs_vec3 a, sbs_vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline double sbs_vec3_length(sbs_vec3 a) {
  return sqrt(sbs_vec3_dot(a, a));
}

static inline sbs_vec3 sbs_vec3_cross(sbs_vec3 a, sbs_vec3 b) {
  return (sbs_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

#endif
