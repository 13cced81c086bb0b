/* SPDX-License-Identifier: MIT */
/*
 * Converters for the "O&" of PyArg_ParseTupleAndKeywords: the only place where Python objects become arrays and
 * numbers.
 *
 * Each takes the object and the address of a structure that names the argument and receives its value, and returns 1,
 * or 0 with an exception set whose message names the argument.
 */
#ifndef SBS_EXTENSION_ARGUMENTS_H
#define SBS_EXTENSION_ARGUMENTS_H

#include "core.h"

#define CORE_ANY_DIMENSIONS (-1)

/* An array argument. The caller releases it by core_release, also if parsing failed. */
typedef struct core_array {
  const char *name;     /* of the argument */
  const char *shape;    /* what is expected, for messages: "(V, 3)" */
  int dimensions;       /* exactly; CORE_ANY_DIMENSIONS for any */
  int optional;         /* whether None is allowed, and leaves `array` NULL */
  int kept;             /* whether it outlives the call: then it is copied, unless nobody can write to it */
  PyArrayObject *array; /* C-contiguous, aligned, native byte order; the caller's array itself if it is like that */
} core_array;

void core_release(core_array *argument);

/* float32 and float64 as they are, float16 as float32, integers and bool as float64; anything else is a TypeError. */
int core_convert_reals(PyObject *object, void *core_array_address);

/* The same, always as float64. */
int core_convert_doubles(PyObject *object, void *core_array_address);

/* bool; anything else is a TypeError. */
int core_convert_flags(PyObject *object, void *core_array_address);

/* Integers of any type, as int32; a value that does not fit is a ValueError, a type that is no integer a TypeError. */
int core_convert_int32(PyObject *object, void *core_array_address);

/* An array to write to. It is never copied, so it must be an ndarray (TypeError) of the right layout (ValueError). */
int core_convert_output(PyObject *object, void *core_array_address);

/* Casts a converted array to float32 or float64 in place. 0, or -1 with an exception set. */
int core_cast(core_array *argument, int type);

/* Whether an axis has the right length; if not, raises "x has shape (8, 4), expected (V, 3)" and returns 0. */
int core_check_length(const core_array *argument, int axis, npy_intp length);

/* Whether two arrays agree along an axis; if not, raises "x has shape (8, 3), y (9, 4)" and returns 0. */
int core_check_agreement(const core_array *first, const core_array *second, int axis);

/* Raises ValueError "x has shape (8, 4), expected ...". */
void core_raise_shape(const core_array *argument, const char *expected);

/* A count: None, which is 0, or an integer from 1. Counts above `largest` become that. */
typedef struct core_count {
  const char *name;
  Py_ssize_t largest;
  Py_ssize_t value;
} core_count;

int core_convert_count(PyObject *object, void *core_count_address);

/* A real number. The library checks its range. */
typedef struct core_real {
  const char *name;
  int optional; /* whether None is allowed, and leaves the value as it was */
  int given;    /* whether there was a number */
  double value;
} core_real;

int core_convert_real(PyObject *object, void *core_real_address);

/* One of several words. Its value is the word's position in the list. */
typedef struct core_choice {
  const char *name;
  const char *const *words; /* ends with NULL */
  int value;
} core_choice;

int core_convert_choice(PyObject *object, void *core_choice_address);

#endif
