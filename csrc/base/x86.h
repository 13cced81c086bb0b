/* SPDX-License-Identifier: MIT */
/*
 * The intrinsics of x86 that are used here, for sources that are compiled for each instruction set. immintrin.h takes
 * gcc 0.2 to 0.3 s to read, as long as all else of many a source. So where gcc has the built-in functions that they are
 * made of there, they are made of them here.
 */
#ifndef SBS_BASE_X86_H
#define SBS_BASE_X86_H

#include "base/compiled_for_isa.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__has_builtin)
#if SBS_VECTOR_BYTES == 32
#define HAVE_BUILTINS __has_builtin(__builtin_ia32_maxps256)
#elif SBS_VECTOR_BYTES == 64
#define HAVE_BUILTINS __has_builtin(__builtin_ia32_maxps512_mask) && __has_builtin(__builtin_ia32_ptestmd512)
#endif
#endif
#ifndef HAVE_BUILTINS
#define HAVE_BUILTINS 0
#endif

#if SBS_VECTOR_BYTES <= 16
#include <emmintrin.h>
#elif !HAVE_BUILTINS
#include <immintrin.h>
#else
typedef float __m256 __attribute__((vector_size(32), may_alias));
typedef double __m256d __attribute__((vector_size(32), may_alias));
#if SBS_VECTOR_BYTES == 32
#define _mm256_max_ps __builtin_ia32_maxps256
#define _mm256_max_pd __builtin_ia32_maxpd256
#define _mm256_min_ps __builtin_ia32_minps256
#define _mm256_min_pd __builtin_ia32_minpd256
#define _mm256_rcp_ps __builtin_ia32_rcpps256
#define _mm256_rsqrt_ps __builtin_ia32_rsqrtps256
#define _mm256_movemask_ps __builtin_ia32_movmskps256
#else
typedef float __m512 __attribute__((vector_size(64), may_alias));
typedef double __m512d __attribute__((vector_size(64), may_alias));
typedef int __m512i __attribute__((vector_size(64), may_alias));
typedef unsigned char __mmask8;
/* With all lanes in masks, which gcc takes with a sign or without one, and rounded as usual. */
#define _mm512_max_ps(a, b) __builtin_ia32_maxps512_mask(a, b, a, -1, 4)
#define _mm512_max_pd(a, b) __builtin_ia32_maxpd512_mask(a, b, a, 255, 4)
#define _mm512_min_ps(a, b) __builtin_ia32_minps512_mask(a, b, a, -1, 4)
#define _mm512_min_pd(a, b) __builtin_ia32_minpd512_mask(a, b, a, 255, 4)
#define _mm512_rcp14_ps(a) __builtin_ia32_rcp14ps512_mask(a, a, 65535)
#define _mm512_rsqrt14_ps(a) __builtin_ia32_rsqrt14ps512_mask(a, a, 65535)
#define _mm512_test_epi32_mask(a, b) __builtin_ia32_ptestmd512(a, b, 65535)
#define _mm256_maskz_loadu_ps(mask, from) __builtin_ia32_loadups256_mask(from, (__m256){0}, mask)
#define _mm256_mask_storeu_ps(to, mask, a) __builtin_ia32_storeups256_mask(to, a, mask)
#endif
#endif
#undef HAVE_BUILTINS

#endif
