/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_ISA_H
#define SBS_BASE_ISA_H

/*
 * Instruction sets. Code that has to be fast is compiled once for each of them, from one source
 * (base/compiled_for_isa.h). A skin chooses one when it is made. `baseline` has the vectors of 128 bits that every
 * machine of the target supports (SSE2 on x86-64, NEON on arm64, SIMD of WebAssembly if compiled for it). `plain`
 * has none: it is for targets that have none, and elsewhere for the tests of a build with tests. A module of
 * WebAssembly has one set alone: it is to be small, and loads only where the set that it uses is there.
 */
#if defined(__SSE2__) || defined(__ARM_NEON) || defined(__wasm_simd128__)
#define SBS_ISA_IF_BASELINE(F) F(BASELINE, baseline)
#else
#define SBS_ISA_IF_BASELINE(F)
#endif
#ifdef SBS_HAVE_X86_KERNELS
#define SBS_ISA_IF_X86(F) F(AVX2, avx2) F(AVX512, avx512)
#else
#define SBS_ISA_IF_X86(F)
#endif

#ifdef SBS_HAVE_PLAIN_KERNELS
#define SBS_ISA_IF_PLAIN(F) F(PLAIN, plain)
#else
#define SBS_ISA_IF_PLAIN(F)
#endif

/* F(constant, name) for each instruction set of this build, the simplest first. */
#define SBS_EACH_ISA(F) SBS_ISA_IF_PLAIN(F) SBS_ISA_IF_BASELINE(F) SBS_ISA_IF_X86(F)

#define SBS_ISA_CONSTANT(constant, name) SBS_ISA_##constant,
typedef enum sbs_isa {
  SBS_EACH_ISA(SBS_ISA_CONSTANT) SBS_ISA_COUNT
} sbs_isa;
#undef SBS_ISA_CONSTANT

/* The best that this machine supports, or the one in the environment variable SBS_ISA if the machine supports it. */
sbs_isa sbs_choose_isa(void);

const char *sbs_isa_name(sbs_isa isa);

#endif
