/* SPDX-License-Identifier: MIT */
/*
 * What fuzz targets share: a reader that turns bytes into arguments, memory that ends where its array ends, and checks.
 *
 * A target is a function LLVMFuzzerTestOneInput, called by libFuzzer or by replay.c. The same bytes make the same
 * calls. Where there are no more bytes, all are 0, which always stands for something ordinary.
 */
#ifndef SBS_TESTS_FUZZ_H
#define SBS_TESTS_FUZZ_H

#include <sbs/sbs.h>
#include <stdint.h>

typedef struct fuzz_input {
  const uint8_t *bytes;
  size_t left;
  struct fuzz_memory *memory; /* all that was made for this input */
  size_t allocated, released; /* by the library, with fuzz_allocator */
  size_t fail_at;             /* the allocation that fails; SIZE_MAX: none */
} fuzz_input;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

fuzz_input fuzz_open(const uint8_t *bytes, size_t size);

/* Releases all that was made, and checks that the library released what it had allocated. */
void fuzz_close(fuzz_input *in);

/* ------------------------------------------------------------------------------------------------------- reading -- */

unsigned fuzz_byte(fuzz_input *in);
uint32_t fuzz_word(fuzz_input *in);

/* In [0, count), count from 1; of one byte if that will do. */
size_t fuzz_below(fuzz_input *in, size_t count);

/* True for one byte in 16. */
int fuzz_rarely(fuzz_input *in);

/* Mostly small and rather even; rarely of any size, infinite or NaN. */
double fuzz_number(fuzz_input *in);

/* In [0, 1] in steps of 1/64; rarely any number. */
double fuzz_fraction(fuzz_input *in);

/* -------------------------------------------------------------------------------------------------------- arrays -- */

/* Exactly so many bytes, full of 0xa5; they live until fuzz_close. */
void *fuzz_room(fuzz_input *in, size_t size);

/* Whether that is what they are still. */
int fuzz_is_untouched(const void *room, size_t size);

/* `count` numbers from low to high, all ordinary but, rarely, some. */
void *fuzz_reals(fuzz_input *in, size_t count, sbs_scalar scalar, double low, double high);

/* Rows of `width` numbers, each followed by `gap` bytes, but the last. */
void *fuzz_rows(fuzz_input *in, size_t rows, size_t width, size_t gap, sbs_scalar scalar, double low, double high);

/* `count` indices from `lowest` to below `limit`, but rarely any number. */
int32_t *fuzz_indices(fuzz_input *in, size_t count, int lowest, size_t limit);

/* `count` times 0 or 1, or NULL for a reason that the bytes know. */
unsigned char *fuzz_flags_or_null(fuzz_input *in, size_t count);

/* -------------------------------------------------------------------------------------------------------- checks -- */

/* Counts, and rarely fails. */
sbs_allocator fuzz_allocator(fuzz_input *in);

#define FUZZ_CHECK(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_fail(const char *file, int line, const char *condition);

/* A set of statuses, of the names without SBS_ERROR_. */
#define FUZZ_ERROR(name) (1u << SBS_ERROR_##name)

/* Checks that a status is OK, or one of those that the header promises, of which the fault then tells. */
void fuzz_check_status(sbs_status status, unsigned promised, const sbs_fault *fault);

/* Checks padded pairs: joints in range, weights finite, from 0 to 1 and, where they shall, with a sum of 1 or 0. */
void fuzz_check_pairs(const int32_t *joints, const void *weights, sbs_scalar scalar, size_t vertices, size_t width,
                      size_t joint_count, int is_normal);

#endif
