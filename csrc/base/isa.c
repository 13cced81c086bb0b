/* SPDX-License-Identifier: MIT */
#include "base/isa.h"

#include <stdlib.h>
#include <string.h>

#include "sbs/sbs.h"

#define NAME_OF(constant, name) #name,
static const char *const names[] = {SBS_EACH_ISA(NAME_OF)};
#undef NAME_OF

const char *sbs_isa_name(sbs_isa isa) {
  return names[isa];
}

static int machine_has(sbs_isa isa) {
#ifdef SBS_HAVE_X86_KERNELS
  __builtin_cpu_init();
  const int has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == SBS_ISA_AVX2) return has_avx2;
  if (isa == SBS_ISA_AVX512) {
    return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  }
#endif
  (void)isa;
  return 1;
}

/* What this machine can run, best first; returns how many there are. */
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
#ifdef SBS_LAPACK_BUNDLED
  info.lapack = "bundled";
#else
  info.lapack = "system";
#endif
  return info;
}
