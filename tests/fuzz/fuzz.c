/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  PATTERN = 0xa5
};

typedef struct fuzz_memory {
  struct fuzz_memory *next;
  void *room;
} fuzz_memory;

fuzz_input fuzz_open(const uint8_t *bytes, size_t size) {
  return (fuzz_input){.bytes = bytes, .left = size, .fail_at = SIZE_MAX};
}

void fuzz_close(fuzz_input *in) {
  while (in->memory) {
    fuzz_memory *first = in->memory;
    in->memory = first->next;
    free(first->room);
    free(first);
  }
  FUZZ_CHECK(in->allocated == in->released);
}

/* ------------------------------------------------------------------------------------------------------- reading -- */

unsigned fuzz_byte(fuzz_input *in) {
  if (!in->left) return 0;
  in->left--;
  return *in->bytes++;
}

uint32_t fuzz_word(fuzz_input *in) {
  uint32_t word = 0;
  for (int i = 0; i < 4; i++) word = word << 8 | fuzz_byte(in);
  return word;
}

size_t fuzz_below(fuzz_input *in, size_t count) {
  if (count <= 256) return fuzz_byte(in) % count;
  return fuzz_word(in) % count;
}

int fuzz_rarely(fuzz_input *in) {
  return fuzz_byte(in) >= 240;
}

static double any_number(fuzz_input *in) {
  static const double special[] = {
      INFINITY, -INFINITY, NAN,   0.0,  -0.0,  1e300, -1e300, 1.7e308, 5e-324, 1e-310, 1e-300,      1e38,
      -3.4e38,  1e-45,     1e-38, 1e20, -1e20, 1e10,  1e-10,  1e-16,   -1e-16, 65536., 2147483648., 1.0,
  };
  enum {
    SPECIALS = sizeof special / sizeof *special
  };
  const size_t which = fuzz_below(in, SPECIALS + 4);
  if (which < SPECIALS) return special[which];
  uint64_t bits = (uint64_t)fuzz_word(in) << 32;
  bits |= fuzz_word(in);
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

double fuzz_number(fuzz_input *in) {
  const unsigned byte = fuzz_byte(in);
  if (byte >= 240) return any_number(in);
  return byte < 120 ? byte / 16.0 : (byte - 120) / -16.0;
}

double fuzz_fraction(fuzz_input *in) {
  const unsigned byte = fuzz_byte(in);
  return byte < 240 ? byte % 65 / 64.0 : any_number(in);
}

/* -------------------------------------------------------------------------------------------------------- arrays -- */

void *fuzz_room(fuzz_input *in, size_t size) {
  fuzz_memory *made = malloc(sizeof *made);
  if (!made || !(made->room = malloc(size))) abort();
  made->next = in->memory;
  in->memory = made;
  memset(made->room, PATTERN, size);
  return made->room;
}

int fuzz_is_untouched(const void *room, size_t size) {
  const unsigned char *bytes = room;
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != PATTERN) return 0;
  }
  return 1;
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static double next_between(uint64_t *state, double low, double high) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return low + (high - low) * ldexp((double)((z ^ (z >> 31)) >> 11), -53);
}

/* An array is of one sort: coarse, so that much coincides, or fine; of one byte each, or all from one. */
static double *numbers_of_one_sort(fuzz_input *in, size_t count, double low, double high) {
  double *numbers = fuzz_room(in, count * sizeof *numbers);
  const size_t sort = fuzz_below(in, 4);
  uint64_t seed = sort > 1 ? fuzz_byte(in) : 0;
  for (size_t i = 0; i < count; i++) {
    switch (sort) {
      case 0: numbers[i] = low + (high - low) * (double)(fuzz_byte(in) % 9) / 8.0; break;
      case 1: numbers[i] = low + (high - low) * (double)fuzz_byte(in) / 255.0; break;
      case 2: numbers[i] = low + (high - low) * floor(next_between(&seed, 0.0, 4.0)) / 4.0; break;
      default: numbers[i] = (double)(float)next_between(&seed, low, high);
    }
  }
  if (count && fuzz_rarely(in)) {
    const size_t odd = 1 + fuzz_below(in, 3);
    for (size_t i = 0; i < odd; i++) {
      const size_t at = fuzz_below(in, count); /* by itself: compilers evaluate in different orders */
      numbers[at] = any_number(in);
    }
  }
  return numbers;
}

void *fuzz_rows(fuzz_input *in, size_t rows, size_t width, size_t gap, sbs_scalar scalar, double low, double high) {
  const double *numbers = numbers_of_one_sort(in, rows * width, low, high);
  const size_t each = scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double), stride = width * each + gap;
  char *room = fuzz_room(in, rows ? rows * stride - gap : 0);
  for (size_t i = 0; i < rows * width; i++) {
    void *to = room + i / width * stride + i % width * each;
    const float narrow = fabs(numbers[i]) > 3.4e38 ? (float)copysign(INFINITY, numbers[i]) : (float)numbers[i];
    memcpy(to, scalar == SBS_FLOAT32 ? (const void *)&narrow : &numbers[i], each);
  }
  return room;
}

void *fuzz_reals(fuzz_input *in, size_t count, sbs_scalar scalar, double low, double high) {
  return fuzz_rows(in, count, 1, 0, scalar, low, high);
}

int32_t *fuzz_indices(fuzz_input *in, size_t count, int lowest, size_t limit) {
  int32_t *indices = fuzz_room(in, count * sizeof *indices);
  const size_t choices = (size_t)((long long)limit - lowest);
  const int from_seed = fuzz_byte(in) & 1;
  uint64_t seed = from_seed ? fuzz_byte(in) : 0;
  for (size_t i = 0; i < count; i++) {
    const size_t choice = from_seed ? (size_t)next_between(&seed, 0.0, (double)choices)
                          : choices ? fuzz_below(in, choices)
                                    : 0;
    indices[i] = (int32_t)choice + lowest;
  }
  if (count && fuzz_rarely(in)) {
    const size_t at = fuzz_below(in, count);
    indices[at] = (int32_t)fuzz_word(in);
  }
  return indices;
}

unsigned char *fuzz_flags_or_null(fuzz_input *in, size_t count) {
  if (!(fuzz_byte(in) & 1)) return NULL;
  unsigned char *flags = fuzz_room(in, count);
  for (size_t i = 0; i < count; i++) flags[i] = fuzz_byte(in) & 1;
  return flags;
}

/* -------------------------------------------------------------------------------------------------------- checks -- */

static void *allocate(size_t size, void *user) {
  fuzz_input *in = user;
  if (in->allocated == in->fail_at) return NULL;
  void *room = malloc(size);
  if (!room) return NULL;
  in->allocated++;
  memset(room, 0xff, size);
  return room;
}

static void release(void *room, void *user) {
  fuzz_input *in = user;
  FUZZ_CHECK(room != NULL);
  in->released++;
  free(room);
}

sbs_allocator fuzz_allocator(fuzz_input *in) {
  if (fuzz_rarely(in)) in->fail_at = in->allocated + fuzz_below(in, 32);
  return (sbs_allocator){allocate, release, in};
}

_Noreturn void fuzz_fail(const char *file, int line, const char *condition) {
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, condition);
  abort();
}

void fuzz_check_status(sbs_status status, unsigned promised, const sbs_fault *fault) {
  if ((int)status < 0 || status >= SBS_STATUS_COUNT || !((1u | promised) >> status & 1)) {
    fprintf(stderr, "status %d (%s), argument %s\n", (int)status, sbs_status_string(status),
            fault && fault->argument ? fault->argument : "-");
    fuzz_fail(__FILE__, __LINE__, "a status that the header promises");
  }
  if (!fault) return;
  if (status == SBS_OK) FUZZ_CHECK(fault->argument == NULL && fault->index_count == 0);
  FUZZ_CHECK(fault->index_count >= 0 && fault->index_count <= 2);
  if (status != SBS_OK && status != SBS_ERROR_OUT_OF_MEMORY && status != SBS_ERROR_CANCELLED) {
    FUZZ_CHECK(fault->argument && *fault->argument);
  }
}

void fuzz_check_pairs(const int32_t *joints, const void *weights, sbs_scalar scalar, size_t vertices, size_t width,
                      size_t joint_count, int is_normal) {
  const double rounding = scalar == SBS_FLOAT32 ? 1.2e-7 : 2.3e-16;
  for (size_t v = 0; v < vertices; v++) {
    double sum = 0.0, before = INFINITY;
    for (size_t k = 0; k < width; k++) {
      const size_t i = v * width + k;
      const double weight = scalar == SBS_FLOAT32 ? (double)((const float *)weights)[i] : ((const double *)weights)[i];
      FUZZ_CHECK(joints[i] >= 0 && (size_t)joints[i] < joint_count);
      FUZZ_CHECK(weight >= 0.0 && isfinite(weight));
      FUZZ_CHECK(weight > 0.0 || joints[i] == 0);
      FUZZ_CHECK(weight <= before);
      before = weight;
      sum += weight;
    }
    if (is_normal) FUZZ_CHECK(sum == 0.0 || fabs(sum - 1.0) <= 8.0 * (double)(width + 1) * rounding);
  }
}
