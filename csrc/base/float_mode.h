/* SPDX-License-Identifier: MIT */
/*
 * The floating-point mode of a thread: rounding, treatment of denormal numbers, exceptions that trap. It is read from
 * the registers where they are known, because fegetenv omits bits that C does not define, such as the default NaN of
 * ARM.
 */
#ifndef SBS_BASE_FLOAT_MODE_H
#define SBS_BASE_FLOAT_MODE_H

#if defined(__SSE2__) && defined(__GNUC__)
#include <xmmintrin.h>

typedef struct sbs_float_mode {
  unsigned mxcsr;         /* with flush-to-zero and denormals-are-zero */
  unsigned short control; /* of the x87, which fegetround reads */
} sbs_float_mode;

static inline sbs_float_mode sbs_get_float_mode(void) {
  sbs_float_mode mode = {.mxcsr = _mm_getcsr()};
  __asm__ __volatile__("fnstcw %0" : "=m"(mode.control));
  return mode;
}

static inline void sbs_set_float_mode(sbs_float_mode mode) {
  _mm_setcsr(mode.mxcsr);
  __asm__ __volatile__("fldcw %0" : : "m"(mode.control));
}

#elif defined(__aarch64__)
#include <stdint.h>

typedef uint64_t sbs_float_mode; /* FPCR */

static inline sbs_float_mode sbs_get_float_mode(void) {
  sbs_float_mode mode;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(mode));
  return mode;
}

static inline void sbs_set_float_mode(sbs_float_mode mode) {
  __asm__ __volatile__("msr fpcr, %0" : : "r"(mode));
}

#else
#include <fenv.h>

typedef fenv_t sbs_float_mode;

static inline sbs_float_mode sbs_get_float_mode(void) {
  sbs_float_mode mode;
  fegetenv(&mode);
  return mode;
}

static inline void sbs_set_float_mode(sbs_float_mode mode) {
  fesetenv(&mode);
}
#endif

#endif
