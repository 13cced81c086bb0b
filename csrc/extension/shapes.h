/* SPDX-License-Identifier: MIT */
/* Shapes as text: "(V, 3)", "(V, 2 K)", "(J, 4, 4) or (J, 3, 4)". */
#ifndef SBS_EXTENSION_SHAPES_H
#define SBS_EXTENSION_SHAPES_H

#include "core.h"

enum {
  CORE_SHAPE_FITS,
  CORE_SHAPE_OTHER,  /* other dimensions, or other numbers than the text has */
  CORE_SHAPE_LENGTHS /* other lengths than its letters have */
};

/*
 * Whether an array has a shape, or one of several. If it does, letters without a length get one from the array. letter:
 * receives the letter at fault if lengths are.
 */
int core_match_shape(const char *text, PyArrayObject *array, npy_intp *lengths, char *letter);

/* The text with numbers in place of letters whose length is known; writes at most `size` characters. */
void core_write_shape(const char *text, const npy_intp *lengths, char *to, size_t size);

/* The lengths of a shape all of whose letters are known; returns how many. */
int core_read_shape(const char *text, const npy_intp *lengths, npy_intp *shape);

#endif
