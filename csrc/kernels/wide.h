/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_WIDE_H
#define SBS_KERNELS_WIDE_H

/*
 * Vertices of a block in double, a lane each, whatever the type of the skin: where the precision is needed, or the
 * formula is no sum of rows. All that is read of joints is of the pose itself. For pose/lanes.h.
 */
#include "kernels/rest.h"
#include "pose/lanes.h"
#include "pose/posed.h"

typedef struct wide {
  const sbs_posed *posed;
  size_t first; /* lane l is number first + l of the lanes of all blocks */
  size_t count; /* influences of each vertex, as of the block */
  int is_shared;
  int32_t *joints; /* (count), or where vertices have joints of their own (count, LANES) */
  lanes *weights;  /* (count) sum to 1 */
} wide;

/* Doubles of room for the influences of vertices. */
static inline size_t wide_influences_size(const sbs_skin *skin) {
  return (skin->max_influences + SBS_MORE_JOINTS) * 2 * 8; /* 8: the most lanes */
}

/* Reads LANES numbers of the skin's type. */
SBS_INLINE lanes read_lanes(const void *from, sbs_scalar scalar, size_t first) {
#if SBS_SCALAR_ONLY
  return sbs_scalar_get(from, scalar, first);
#else
  typedef float floats __attribute__((vector_size(LANES * sizeof(float)), may_alias, aligned(sizeof(float))));
  typedef double doubles __attribute__((vector_size(LANES * sizeof(double)), may_alias, aligned(sizeof(double))));
  if (scalar == SBS_FLOAT64) return (lanes) * (const doubles *)(const void *)((const double *)from + first);
  return __builtin_convertvector(*(const floats *)(const void *)((const float *)from + first), lanes);
#endif
}

SBS_INLINE lanes splat_lanes(double number) {
  return number - NO_LANES;
}

/* The weight of the heaviest joint is 1, and others are 0. */
SBS_INLINE void keep_heaviest(wide *v) {
  const int32_t *heaviest = v->posed->skin->heaviest + v->first;
  for (size_t k = 0; k < v->count; k++) {
    for (size_t l = 0; l < LANES; l++) {
      const size_t at = v->is_shared ? k : k * LANES + l;
      const int before =
          k && !v->is_shared && v->joints[l] == v->joints[at]; /* behind the last comes the first again */
      LANE(v->weights[k], l) = !before && v->joints[at] == heaviest[l];
    }
  }
}

/*
 * Finds the influences of vertices.
 *
 *   shares  whether joints of the block that do not move a vertex may have a weight of 0: not if they might be infinite
 *   room    (wide_influences_size) aligned to SBS_ALIGNMENT
 */
SBS_INLINE void begin_wide(wide *v, const sbs_posed *posed, size_t first, int shares, double *room) {
  const sbs_skin *skin = posed->skin;
  const sbs_block *block = skin->blocks + first / SBS_BLOCK;
  lanes sum = NO_LANES;
  *v = (wide){.posed = posed,
              .first = first,
              .count = block->influences,
              .is_shared = block->is_shared && shares,
              .weights = (lanes *)(void *)room};
  v->joints = (int32_t *)(void *)(v->weights + v->count);
  if (v->is_shared) {
    memcpy(v->joints, skin->joints + block->first, v->count * sizeof *v->joints);
    for (size_t k = 0; k < v->count; k++) {
      v->weights[k] = read_lanes(skin->weights, skin->scalar, block->first + SBS_BLOCK * k + first % SBS_BLOCK);
    }
  } else {
    memset(v->weights, 0, v->count * sizeof *v->weights);
    for (size_t l = 0; l < LANES; l++) {
      const size_t set = (size_t)skin->set_of_vertex[first + l], size = sbs_set_size(skin, set);
      const int32_t *joints = skin->set_joints + skin->set_offsets[set];
      sbs_get_weights(skin, first + l, (double *)(void *)v->weights + l, LANES);
      for (size_t k = 0; k < v->count; k++) v->joints[k * LANES + l] = size ? joints[k < size ? k : 0] : 0;
    }
  }
  for (size_t k = 0; k < v->count; k++) sum += v->weights[k];
  sum = select_lanes((lane_mask)(sum > NO_LANES), sum, splat_lanes(1.0));
  for (size_t k = 0; k < v->count; k++) v->weights[k] /= sum;
}

/*
 * Reads `count` vectors of influence k, of a table that has `stride` vectors for each joint: numbers x, y and z of
 * each.
 */
SBS_INLINE void read_vectors(const wide *v, size_t k, const sbs_vec4 *table, size_t stride, size_t count, lanes *out) {
  for (size_t c = 0; c < count; c++) {
    if (v->is_shared) {
      const sbs_vec4 vector = table[stride * (size_t)v->joints[k] + c];
      for (int i = 0; i < 3; i++) out[3 * c + (size_t)i] = splat_lanes(vector[i]);
    } else {
      sbs_vec4 vectors[LANES];
      for (size_t l = 0; l < LANES; l++) vectors[l] = table[stride * (size_t)v->joints[k * LANES + l] + c];
      transpose_vectors(vectors, out + 3 * c);
    }
  }
}

/* How many vectors these take. */
#define JOINT_VECTORS (sizeof(sbs_joint) / sizeof(sbs_vec4))
#define STRETCH_VECTORS (sizeof(sbs_stretch) / sizeof(sbs_vec4))

/* The matrix that moves points, A of linear blending, else R in its place if the joint is rigid; and where it moves the
 * skin's origin, relative to the anchor. */
SBS_INLINE void read_moving(const wide *v, size_t k, lanes m[12]) {
  const sbs_joint *joints = v->posed->joints;
  read_vectors(v, k, v->posed->request.rotations ? joints->moving : joints->given, JOINT_VECTORS, 3, m);
  read_vectors(v, k, v->posed->places, 1, 1, m + 9);
}

/* R */
SBS_INLINE void read_rotation(const wide *v, size_t k, lanes r[9]) {
  if (v->posed->is_taken_apart) {
    read_vectors(v, k, v->posed->stretches->rotation, STRETCH_VECTORS, 3, r);
  } else {
    read_vectors(v, k, v->posed->joints->moving, JOINT_VECTORS, 3, r);
  }
}

SBS_INLINE void read_quaternion(const wide *v, size_t k, lanes q[4]) {
  const sbs_joint *joints = v->posed->joints;
  sbs_vec4 quaternions[LANES];
  if (v->is_shared) {
    for (int i = 0; i < 4; i++) q[i] = splat_lanes(joints[v->joints[k]].quaternion[i]);
    return;
  }
  for (size_t l = 0; l < LANES; l++) quaternions[l] = joints[v->joints[k * LANES + l]].quaternion;
  transpose_to_lanes(quaternions, q);
}

/* The quaternion of each vertex's heaviest joint. */
SBS_INLINE void read_heaviest(const wide *v, lanes q[4]) {
  sbs_vec4 quaternions[LANES];
  for (size_t l = 0; l < LANES; l++) {
    quaternions[l] = v->posed->joints[v->posed->skin->heaviest[v->first + l]].quaternion;
  }
  transpose_to_lanes(quaternions, q);
}

SBS_INLINE lane_mask is_in_other_hemisphere(const lanes a[4], const lanes b[4]) {
  return (lane_mask)(a[0] * b[0] + dot_lanes(a + 1, b + 1) < NO_LANES);
}

/* q, or -q where that is in the hemisphere of `to`. */
SBS_INLINE void turn_to_hemisphere(const lanes to[4], lanes q[4]) {
  const lane_mask is_other = is_in_other_hemisphere(to, q);
  for (int i = 0; i < 4; i++) q[i] = select_lanes(is_other, -q[i], q[i]);
}

/* Rest positions relative to the skin's origin, and unit normals. */
SBS_INLINE void read_rest(const sbs_rest *rest, size_t first, int with_normals, lanes x[3], lanes n[3]) {
  const sbs_skin *skin = rest->skin;
  if (!sbs_rest_differs(rest)) {
    for (size_t i = 0; i < 3; i++) {
      const size_t at = sbs_vector_index(first, i);
      x[i] = read_lanes(skin->positions, skin->scalar, at);
      if (with_normals) n[i] = read_lanes(skin->normals, skin->scalar, at);
    }
    return;
  }
  for (size_t l = 0; l < LANES; l++) {
    double position[3], normal[3] = {0.0, 0.0, 0.0};
    const size_t vertex = first + l < skin->vertex_count ? first + l : skin->vertex_count - 1;
    sbs_get_rest_position(rest, vertex, position);
    if (with_normals) sbs_get_rest_normal(rest, vertex, normal);
    for (int i = 0; i < 3; i++) LANE(x[i], l) = position[i], LANE(n[i], l) = normal[i];
  }
}

/* f and z of the joint set of each vertex (pose/center.h), f relative to the skin's origin; 0 of sets of one joint. */
SBS_INLINE void read_set_centers(const wide *v, lanes f[3], lanes z[3]) {
  const sbs_skin *skin = v->posed->skin;
  sbs_vec4 references[LANES], centers[LANES];
  for (size_t l = 0; l < LANES; l++) {
    const size_t set = (size_t)skin->set_of_vertex[v->first + l];
    const int has_center = sbs_set_size(skin, set) > 1;
    references[l] = has_center ? v->posed->references[set] : (sbs_vec4){0.0};
    centers[l] = has_center ? v->posed->centers[set] : (sbs_vec4){0.0};
  }
  transpose_vectors(references, f);
  transpose_vectors(centers, z);
}

#endif
