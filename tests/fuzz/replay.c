/* SPDX-License-Identifier: MIT */
/*
 * Runs a target without libFuzzer: replay FILE..., or replay --random COUNT SEED of inputs that are random from end to
 * end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum {
  MOST = 1 << 16, /* bytes of a file that are looked at */
  LONGEST_RANDOM = 400
};

static void run_random(unsigned long count, uint64_t state) {
  uint8_t bytes[LONGEST_RANDOM];
  for (unsigned long i = 0; i < count; i++) {
    size_t size = 0;
    for (; size < sizeof bytes; size++) {
      /* SplitMix64 (Steele, Lea and Flood 2014). */
      uint64_t z = state += 0x9e3779b97f4a7c15u;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      bytes[size] = (uint8_t)(z >> 56);
      if (size > 40 && (z & 255) == 0) break;
    }
    LLVMFuzzerTestOneInput(bytes, size);
  }
}

static int run_file(const char *path) {
  static uint8_t bytes[MOST];
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return 1;
  }
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);

  /* Of the exact size, so that reading beyond its end is seen. */
  uint8_t *exact = malloc(size + !size);
  if (!exact) abort();
  memcpy(exact, bytes, size);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  return 0;
}

int main(int argument_count, char **arguments) {
  if (argument_count == 4 && !strcmp(arguments[1], "--random")) {
    run_random(strtoul(arguments[2], NULL, 10), strtoull(arguments[3], NULL, 10));
    return 0;
  }
  int failed = argument_count < 2;
  for (int i = 1; i < argument_count; i++) failed |= run_file(arguments[i]);
  return failed;
}
