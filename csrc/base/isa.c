/* SPDX-License-Identifier: MIT */
#include "base/isa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef SBS_HAVE_X86_KERNELS
#include <cpuid.h>
#endif

#include "base/lapack.h"
#include "sbs/sbs.h"

#define NAME_OF(constant, name) #name,
static const char *const names[] = {SBS_EACH_ISA(NAME_OF)};
#undef NAME_OF

const char *sbs_isa_name(sbs_isa isa) {
  return names[isa];
}

#ifdef SBS_HAVE_X86_KERNELS
/*
 * Asked of the processor itself: __builtin_cpu_supports asks the compiler's run-time library, which has no answer in
 * zig's, and is not there with clang-cl. The bits are from Intel's manual, volume 2, CPUID and XGETBV.
 */
static int processor_has(sbs_isa isa) {
  enum {
    FMA = 1 << 12, /* of leaf 1, ecx */
    XGETBV = 1 << 27,
    VECTORS_256 = 0x06, /* bits of the registers that the system saves: SSE, AVX */
    VECTORS_512 = 0xe0  /* masks, upper halves, upper registers */
  };
  const unsigned avx2 = 1u << 5, avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* of leaf 7, ebx: F, DQ, BW, VL */
  unsigned a, b, c, d, saved, saved_high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & FMA) || !(c & XGETBV)) return 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  __asm__ __volatile__("xgetbv" : "=a"(saved), "=d"(saved_high) : "c"(0));
#ifdef __APPLE__
  saved |= VECTORS_512; /* from the first use by a thread on; until then it says no */
#endif
  const unsigned wanted = isa == SBS_ISA_AVX512 ? avx512 | avx2 : avx2;
  const unsigned registers = isa == SBS_ISA_AVX512 ? VECTORS_512 | VECTORS_256 : VECTORS_256;
  return (b & wanted) == wanted && (saved & registers) == registers;
}
#endif

/*
 * Asks the processor once: CPUID takes some 30 microseconds on a virtual machine. Threads that ask at the same time
 * find the same answers.
 */
static int machine_has(sbs_isa isa) {
#ifdef SBS_HAVE_X86_KERNELS
  static atomic_char answers[SBS_ISA_COUNT]; /* 0: not asked, 1: no, 2: yes */
  if (isa == SBS_ISA_AVX2 || isa == SBS_ISA_AVX512) {
    if (!atomic_load(&answers[isa])) atomic_store(&answers[isa], (char)(1 + processor_has(isa)));
    return atomic_load(&answers[isa]) == 2;
  }
#endif
  (void)isa;
  return 1;
}

/* The instruction sets that this machine can run, best first; returns how many there are. */
static int find_isas(sbs_isa found[SBS_ISA_COUNT]) {
  int count = 0;
  for (int isa = SBS_ISA_COUNT; isa-- > 0;) {
    if (machine_has((sbs_isa)isa)) found[count++] = (sbs_isa)isa;
  }
  return count;
}

sbs_isa sbs_choose_isa(void) {
  sbs_isa found[SBS_ISA_COUNT];
  const int count = find_isas(found);
  const char *wanted = getenv("SBS_ISA");
  for (int i = 0; wanted && i < count; i++) {
    if (!strcmp(names[found[i]], wanted)) return found[i];
  }
  return found[0];
}

sbs_build_info sbs_get_build_info(void) {
  sbs_build_info info = {.version = sbs_version(), .instruction_set = sbs_isa_name(sbs_choose_isa())};
  sbs_isa found[SBS_ISA_COUNT];
  const int count = find_isas(found);
  for (int i = 0; i < count; i++) info.instruction_sets[i] = sbs_isa_name(found[i]);
  info.lapack = sbs_lapack_name();
  return info;
}
