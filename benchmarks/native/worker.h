/* SPDX-License-Identifier: MIT */
/*
 * The dialogue of a program that times something with benchmarks/systems.py, so that all systems take turns whatever
 * process they live in. The program prints a line of JSON when it is ready, then answers each line of its standard
 * input
 *
 *     part method attributes threads repetitions          alone spherical pn 1 20
 *
 * by a line of that many times in nanoseconds per frame, until its input ends. C and C++.
 */
#ifndef BENCHMARKS_WORKER_H
#define BENCHMARKS_WORKER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct request {
  char part[16], method[24];
  int normals; /* whether the attributes are "pn", positions and normals; else "p" */
  int threads, repetitions;
} request;

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Returns 0 at the end of the input. */
static inline int read_request(request *r) {
  char attributes[4];
  const int fields = scanf("%15s %23s %3s %d %d", r->part, r->method, attributes, &r->threads, &r->repetitions);
  if (fields == EOF) return 0;
  if (fields != 5 || r->threads < 1 || r->repetitions < 1) {
    fprintf(stderr, "expected: part method attributes threads repetitions\n");
    exit(1);
  }
  r->normals = !strcmp(attributes, "pn");
  return 1;
}

static inline void answer(const double *nanoseconds, int count) {
  for (int i = 0; i < count; i++) printf("%.1f%c", nanoseconds[i], i + 1 < count ? ' ' : '\n');
  fflush(stdout);
}

/* Writes deformed positions (count, 3), for a comparison with other systems. */
static inline void write_positions(const char *path, const float *positions, size_t count) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(positions, 3 * sizeof(float), count, file) != count || fclose(file)) {
    fprintf(stderr, "can't write %s\n", path);
    exit(1);
  }
}

#endif
