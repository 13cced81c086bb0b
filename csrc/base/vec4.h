/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_VEC4_H
#define SBS_BASE_VEC4_H

/*
 * Four doubles at once, by the compiler's vector extension. They hold columns of 3x4 matrices, with a fourth number of
 * 0 that is not used, and quaternions (w, x, y, z). A matrix is three columns.
 */
typedef double sbs_vec4 __attribute__((vector_size(32)));

#define SBS_VEC4_INLINE static inline __attribute__((always_inline))

/* m v */
SBS_VEC4_INLINE sbs_vec4 sbs_vec4_apply(const sbs_vec4 m[3], sbs_vec4 v) {
  return m[0] * v[0] + m[1] * v[1] + m[2] * v[2];
}

/* The result of a comparison: all bits set where it is true. */
typedef long long sbs_vec4_mask __attribute__((vector_size(32)));

/* yes where the mask is set, else no */
SBS_VEC4_INLINE sbs_vec4 sbs_vec4_select(sbs_vec4_mask mask, sbs_vec4 yes, sbs_vec4 no) {
  return (sbs_vec4)(((sbs_vec4_mask)yes & mask) | ((sbs_vec4_mask)no & ~mask));
}

/* (v[i], v[j], v[k], v[l]) */
#if defined(__clang__) || __GNUC__ >= 12
#define SBS_VEC4_PICK(v, i, j, k, l) __builtin_shufflevector(v, v, i, j, k, l)
#else
#define SBS_VEC4_PICK(v, i, j, k, l) ((sbs_vec4){(v)[i], (v)[j], (v)[k], (v)[l]})
#endif

/* a x b */
SBS_VEC4_INLINE sbs_vec4 sbs_vec4_cross(sbs_vec4 a, sbs_vec4 b) {
  return SBS_VEC4_PICK(a, 1, 2, 0, 3) * SBS_VEC4_PICK(b, 2, 0, 1, 3) -
         SBS_VEC4_PICK(a, 2, 0, 1, 3) * SBS_VEC4_PICK(b, 1, 2, 0, 3);
}

/* a b */
SBS_VEC4_INLINE void sbs_vec4_multiply(const sbs_vec4 a[3], const sbs_vec4 b[3], sbs_vec4 out[3]) {
  for (int i = 0; i < 3; i++) out[i] = sbs_vec4_apply(a, b[i]);
}

/* The product of quaternions a b as a combination of these four, which depend on b alone: sum_i a[i] basis[i]. */
SBS_VEC4_INLINE void sbs_vec4_quaternion_basis(sbs_vec4 b, sbs_vec4 basis[4]) {
  basis[0] = b;
  basis[1] = (sbs_vec4){-1.0, 1.0, -1.0, 1.0} * SBS_VEC4_PICK(b, 1, 0, 3, 2);
  basis[2] = (sbs_vec4){-1.0, 1.0, 1.0, -1.0} * SBS_VEC4_PICK(b, 2, 3, 0, 1);
  basis[3] = (sbs_vec4){-1.0, -1.0, 1.0, 1.0} * SBS_VEC4_PICK(b, 3, 2, 1, 0);
}

SBS_VEC4_INLINE sbs_vec4 sbs_vec4_combine(sbs_vec4 a, const sbs_vec4 basis[4]) {
  return a[0] * basis[0] + a[1] * basis[1] + a[2] * basis[2] + a[3] * basis[3];
}

/* Column-major from and to a row-major (3, 3) matrix. */
static inline void sbs_vec4_from_rows(const double rows[9], sbs_vec4 columns[3]) {
  for (int j = 0; j < 3; j++) columns[j] = (sbs_vec4){rows[j], rows[3 + j], rows[6 + j], 0.0};
}

static inline void sbs_vec4_to_rows(const sbs_vec4 columns[3], double rows[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) rows[3 * i + j] = columns[j][i];
  }
}

#endif
