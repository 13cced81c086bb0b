/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "deform/kernels.h"

enum {
  MOST_KERNELS = 4
};

/* What this machine can run, best first. */
static int find_kernels(const sbs_kernels *found[MOST_KERNELS]) {
  int count = 0;
#ifdef SBS_HAVE_X86_KERNELS
  __builtin_cpu_init();
  const int has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
    found[count++] = &sbs_kernels_avx512;
  }
  if (has_avx2) found[count++] = &sbs_kernels_avx2;
#endif
#ifdef SBS_HAVE_BASELINE_KERNELS
  found[count++] = &sbs_kernels_baseline;
#endif
  found[count++] = &sbs_kernels_plain;
  return count;
}

const sbs_kernels *sbs_choose_kernels(void) {
  const sbs_kernels *found[MOST_KERNELS];
  const int count = find_kernels(found);
  const char *wanted = getenv("SBS_ISA");
  for (int i = 0; wanted && i < count; i++) {
    if (!strcmp(found[i]->name, wanted)) return found[i];
  }
  return found[0];
}

sbs_build_info sbs_get_build_info(void) {
  sbs_build_info info = {.version = sbs_version(), .instruction_set = sbs_choose_kernels()->name};
  const sbs_kernels *found[MOST_KERNELS];
  const int count = find_kernels(found);
  for (int i = 0; i < count; i++) info.instruction_sets[i] = found[i]->name;
#ifdef SBS_LAPACK_BUNDLED
  info.lapack = "bundled";
#else
  info.lapack = "system";
#endif
#ifdef _OPENMP
  info.openmp = 1;
#endif
  return info;
}
