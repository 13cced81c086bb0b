/* SPDX-License-Identifier: MIT */
/*
 * Includes SBS_SOURCE, an *.inc, for float and then for double, in a source that is compiled for an instruction set:
 *
 *   SCALAR          the type; SCALAR_BITS, SCALAR_TINY, SCALAR_EPSILON and SCALAR_SQRT belong to it
 *   NAME(name)      name_float32, name_float64
 *   LANES           numbers in a vector, 1 without vectors
 *   LANE_LIST(f, r) f(r, 0), f(r, 1), ... for all lanes
 *   VEC, VEC3       kernels/vectors.inc, which is included before
 */
#include <float.h>
#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "base/compiled_for_isa.h"
#include "base/lane_lists.h"
#include "base/scalar.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

/*
 * Where size counts more than speed, loops over influences are not unrolled: in code without vectors, and for SSE2, as
 * hardly any x86 processor without AVX2 is left in use.
 */
#ifdef __x86_64__
#define FEW_KERNELS (SBS_SCALAR_ONLY || SBS_VECTOR_BYTES == 16)
#else
#define FEW_KERNELS SBS_SCALAR_ONLY
#endif

#if SBS_VECTOR_BYTES == 16
#define LIST_OF_FLOATS(f, r) SBS_LIST_4(f, r)
#define LIST_OF_DOUBLES(f, r) SBS_LIST_2(f, r)
#elif SBS_VECTOR_BYTES == 32
#define LIST_OF_FLOATS(f, r) SBS_LIST_8(f, r)
#define LIST_OF_DOUBLES(f, r) SBS_LIST_4(f, r)
#elif SBS_VECTOR_BYTES == 64
#define LIST_OF_FLOATS(f, r) SBS_LIST_16(f, r)
#define LIST_OF_DOUBLES(f, r) SBS_LIST_8(f, r)
#endif

/* NAME of a macro's value. */
#define NAME_OF(macro) NAME(macro)

#define VEC NAME(vec)
#define VEC3 NAME(vec3)

#define SCALAR float
#define SCALAR_BITS 32
#define SCALAR_TINY FLT_MIN
#define SCALAR_EPSILON FLT_EPSILON
#define SCALAR_SQRT sqrtf
#define LANES (SBS_SCALAR_ONLY ? 1 : SBS_VECTOR_BYTES / 4)
#define NAME(name) name##_float32
#define LANE_LIST LIST_OF_FLOATS
#include "kernels/vectors.inc"
#include SBS_SOURCE
#undef SCALAR
#undef SCALAR_BITS
#undef SCALAR_TINY
#undef SCALAR_EPSILON
#undef SCALAR_SQRT
#undef LANES
#undef NAME
#undef LANE_LIST

#ifndef SBS_FLOAT32_ONLY
#define SCALAR double
#define SCALAR_BITS 64
#define SCALAR_TINY DBL_MIN
#define SCALAR_EPSILON DBL_EPSILON
#define SCALAR_SQRT sqrt
#define LANES (SBS_SCALAR_ONLY ? 1 : SBS_VECTOR_BYTES / 8)
#define NAME(name) name##_float64
#define LANE_LIST LIST_OF_DOUBLES
#include "kernels/vectors.inc"
#include SBS_SOURCE
#endif
