/* SPDX-License-Identifier: MIT */
/*
 * A test program: checks that count and report, and an exit code. A failed check does not end the test.
 *
 *     static void test_something(void) { CHECK(1 + 1 == 2); }
 *     int main(void) {
 *       RUN(test_something);
 *       return harness_result();
 *     }
 */
#ifndef SBS_TESTS_HARNESS_H
#define SBS_TESTS_HARNESS_H

#include <math.h>
#include <stdio.h>
#include <string.h>

static int harness_checks;
static int harness_failures;

static inline int harness_check(int passed, const char *file, int line, const char *what) {
  harness_checks++;
  if (!passed) {
    harness_failures++;
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  }
  return passed;
}

static inline int harness_integers(long long a, long long b, const char *file, int line, const char *what) {
  int passed = harness_check(a == b, file, line, what);
  if (!passed) {
    fprintf(stderr, "    %lld is not %lld\n", a, b);
  }
  return passed;
}

static inline int harness_near(double a, double b, double tolerance, const char *file, int line, const char *what) {
  int passed = harness_check(fabs(a - b) <= tolerance, file, line, what); /* false for NaN */
  if (!passed) {
    fprintf(stderr, "    %.17g is %.3g away from %.17g, allowed are %.3g\n", a, fabs(a - b), b, tolerance);
  }
  return passed;
}

static inline int harness_strings(const char *a, const char *b, const char *file, int line, const char *what) {
  int passed = harness_check(a && b && strcmp(a, b) == 0, file, line, what);
  if (!passed) {
    fprintf(stderr, "    \"%s\" is not \"%s\"\n", a ? a : "(null)", b ? b : "(null)");
  }
  return passed;
}

/* Each evaluates to whether it passed, for a test that can't go on: if (!CHECK(pointer)) return; */
#define CHECK(condition) harness_check(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_EQUAL(a, b) harness_integers((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_NEAR(a, b, tolerance) harness_near((a), (b), (tolerance), __FILE__, __LINE__, #a " ~ " #b)
#define CHECK_STRING(a, b) harness_strings((a), (b), __FILE__, __LINE__, #a " is " #b)
/* A call that is given &fault, and names the argument to blame there. */
#define CHECK_REFUSED(call, status, name) \
  ((void)CHECK_EQUAL((call), (status)), (void)CHECK_STRING(fault.argument, (name)))

#define RUN(test) \
  do { \
    int failures_before = harness_failures; \
    test(); \
    printf("%s %s\n", harness_failures == failures_before ? "ok  " : "FAIL", #test); \
  } while (0)

static inline int harness_result(void) {
  printf("%d checks, %d failed\n", harness_checks, harness_failures);
  return harness_failures != 0 || harness_checks == 0;
}

#endif
