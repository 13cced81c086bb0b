/* SPDX-License-Identifier: MIT */
#include "shapes.h"

/* One length of a text: a number, or a multiple of a letter. */
typedef struct length_text {
  npy_intp number; /* the number, or the factor of the letter */
  char letter;     /* 0: none */
} length_text;

/* Reads a length, which starts after "(" or ", "; returns the rest, or NULL where the shape ends. */
static const char *read_length(const char *text, length_text *length) {
  while (*text == '(' || *text == ',' || *text == ' ') text++;
  if (*text == ')' || *text == '\0') return NULL;
  *length = (length_text){0};
  for (; *text >= '0' && *text <= '9'; text++) length->number = 10 * length->number + (*text - '0');
  if (*text == ' ' && text[1] >= 'A' && text[1] <= 'Z') text++;
  if (*text >= 'A' && *text <= 'Z') {
    length->letter = *text++;
    if (length->number == 0) length->number = 1;
  }
  return text;
}

/* The text of the next shape of several; NULL if there is none. */
static const char *next_shape(const char *text) {
  while (*text != ')' && *text != '\0') text++;
  if (*text == ')') text++;
  return *text == ' ' ? text + sizeof " or " - 1 : NULL;
}

/* As core_match_shape, for one shape. */
static int match_one(const char *text, PyArrayObject *array, npy_intp *lengths, char *letter) {
  const npy_intp *shape = PyArray_DIMS(array);
  npy_intp found[26];
  length_text length;
  int count = 0, result = CORE_SHAPE_FITS;

  for (int i = 0; i < 26; i++) found[i] = lengths[i];
  for (const char *rest = read_length(text, &length); rest != NULL; rest = read_length(rest, &length), count++) {
    if (count == PyArray_NDIM(array)) return CORE_SHAPE_OTHER;
    if (length.letter == 0) {
      if (shape[count] != length.number) return CORE_SHAPE_OTHER;
      continue;
    }
    npy_intp *known = &found[length.letter - 'A'];
    if (*known < 0 && shape[count] % length.number == 0) *known = shape[count] / length.number;
    if (shape[count] != length.number * *known && result == CORE_SHAPE_FITS) {
      *letter = length.letter;
      result = CORE_SHAPE_LENGTHS;
    }
  }
  if (count != PyArray_NDIM(array)) return CORE_SHAPE_OTHER;
  for (int i = 0; i < 26 && result == CORE_SHAPE_FITS; i++) lengths[i] = found[i];
  return result;
}

int core_match_shape(const char *text, PyArrayObject *array, npy_intp *lengths, char *letter) {
  int result = CORE_SHAPE_OTHER;

  for (; text != NULL; text = next_shape(text)) {
    const int match = match_one(text, array, lengths, letter);
    if (match == CORE_SHAPE_FITS) return match;
    if (match == CORE_SHAPE_LENGTHS) result = match;
  }
  return result;
}

void core_write_shape(const char *text, const npy_intp *lengths, char *to, size_t size) {
  size_t used = 0;

  to[0] = '\0';
  while (*text != '\0' && used + 24 < size) {
    length_text length;
    const char *rest =
        (*text >= '0' && *text <= '9') || (*text >= 'A' && *text <= 'Z') ? read_length(text, &length) : NULL;
    if (rest != NULL && (length.letter == 0 || lengths[length.letter - 'A'] >= 0)) {
      const npy_intp number = length.number * (length.letter == 0 ? 1 : lengths[length.letter - 'A']);
      PyOS_snprintf(to + used, size - used, "%zd", (Py_ssize_t)number);
      while (to[used] != '\0') used++;
      text = rest;
    } else {
      to[used++] = *text++;
      to[used] = '\0';
    }
  }
}

int core_read_shape(const char *text, const npy_intp *lengths, npy_intp *shape) {
  length_text length;
  int count = 0;

  for (const char *rest = read_length(text, &length); rest != NULL; rest = read_length(rest, &length))
    shape[count++] = length.number * (length.letter == 0 ? 1 : lengths[length.letter - 'A']);
  return count;
}
