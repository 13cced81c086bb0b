/* SPDX-License-Identifier: MIT */
/*
 * Included first by sources that are compiled once for each instruction set. csrc/kernels/meson.build defines
 *
 *   SBS_ISA_SUFFIX    the name of the instruction set, as in base/isa.h
 *   SBS_VECTOR_BYTES  the length of its vectors; 0: none
 *
 * Such a source exports only names made by SBS_FOR_ISA: SBS_FOR_ISA(name) is name_avx2, for example.
 */
#ifndef SBS_BASE_COMPILED_FOR_ISA_H
#define SBS_BASE_COMPILED_FOR_ISA_H

#define SBS_PASTE_2(a, b) a##_##b
#define SBS_PASTE(a, b) SBS_PASTE_2(a, b)
#define SBS_FOR_ISA(name) SBS_PASTE(name, SBS_ISA_SUFFIX)

#if SBS_VECTOR_BYTES == 0
#define SBS_SCALAR_ONLY 1
#else
#define SBS_SCALAR_ONLY 0
#endif

#define SBS_INLINE static inline __attribute__((always_inline))
#if defined(__GNUC__) && !defined(__clang__)
#define SBS_CALLED __attribute__((noinline, noclone))
#else
#define SBS_CALLED __attribute__((noinline))
#endif

#endif
