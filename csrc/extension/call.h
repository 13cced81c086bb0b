/* SPDX-License-Identifier: MIT */
/* Calls from Python: rows of contracts (function.h), the values that they have in a call, and objects of the module. */
#ifndef SBS_EXTENSION_CALL_H
#define SBS_EXTENSION_CALL_H

#include <stdatomic.h>
#include <stddef.h>

#include "interrupts.h"

typedef enum core_kind {
  /* Arrays: a pointer to their numbers, C-contiguous, aligned, in native byte order. NULL for None. */
  CORE_REALS,    /* float32 and float64 as they are, float16 as float32, integers and bool as float64 */
  CORE_MATRICES, /* the same for skinning matrices, into a sbs_pose */
  CORE_SAME,     /* the same, cast to the type of the call: that of its object, or of its first CORE_REALS */
  CORE_DOUBLES,  /* the same, always as float64 */
  CORE_INT32,    /* integers of any type; one that does not fit is a ValueError */
  CORE_FLAGS,    /* bool */
  CORE_OUTPUT,   /* to write to: an ndarray of the type of the call, which is never copied */
  CORE_INTP,     /* of results alone */
  CORE_FLOATS,   /* float32; of results alone */
  /* Numbers, words and objects. */
  CORE_REAL,     /* double; where None is allowed, 0 stands for it as in the library, and is refused as a number */
  CORE_COUNT,    /* size_t: from 1; None leaves the default */
  CORE_THREADS,  /* int: from 1, cut off at INT_MAX; None leaves the default, 0 */
  CORE_INDEX,    /* Py_ssize_t, whose range the function checks; -1 for None */
  CORE_FLAG,     /* int: true or false */
  CORE_WORD,     /* int: the place among `words`; -1 for None */
  CORE_OBJECT,   /* PyObject *, borrowed; NULL for None */
  CORE_CALLABLE, /* the same, refused if it cannot be called */
  CORE_INSTANCE, /* core_object *, borrowed, of the type `type_number`; NULL for None */
  /* No argument: the length of the letter that is its name, a size_t, once the arguments have given it. */
  CORE_LENGTH
} core_kind;

typedef struct core_class core_class;

typedef struct core_row {
  const char *name;
  core_kind kind;
  size_t at; /* offset of the value in the structure that the part is about */
  /*
   * Of an array, such as "(V, 3)", "(V, 2 K)" or "(J, 4, 4) or (J, 3, 4)". A letter is the same length in all arguments
   * and results of a call. Of a count: the letter that it gives the length of. Of an instance: the letters whose
   * lengths the call shares with it.
   */
  const char *shape;
  const char *const *words; /* end with NULL */
  const char *type;         /* of objects: Python's name of their type */
  const char *hint;         /* added to messages about the shape */
  const char *fault;        /* the name of the argument in faults of the library, if it is another */
  size_t scalar;            /* of CORE_REALS: where the type of the array goes, a sbs_scalar; 0: nowhere */
  int type_number;          /* of a CORE_INSTANCE */
  char result;              /* whether it is a new array that is returned, unless an output has the same place */
  char optional;            /* whether it may be left out; arrays and objects are None then */
  char none;                /* whether None is allowed, though it is not left out or has another default */
  char in_place;            /* whether an output may be the same array */
  char rows_in_faults;      /* whether a fault has 2 indices: of a row, through all frames, and in its last axis */
} core_row;

/* A row in a call. */
typedef struct core_value {
  const core_row *row;
  char *field;
  PyObject *object;     /* the argument, borrowed; NULL: not given */
  PyArrayObject *array; /* the array that it was converted to, or the result */
} core_value;

enum {
  CORE_MOST_ROWS = 32,
  CORE_MOST_DIMENSIONS = 4,
  CORE_MOST_HELD = 4,
  CORE_MOST_KEPT = 9,
  CORE_LETTERS = 26
};

/* The start of the structure of every call. */
typedef struct core_call {
  const struct core_function *function;
  PyObject *self;                 /* the object whose method is called, the type that is called, or the module */
  int type;                       /* NPY_FLOAT or NPY_DOUBLE: that of CORE_SAME and CORE_OUTPUT */
  const char *typed_by;           /* the argument that has that type; NULL while none has */
  char keeps;                     /* whether arrays outlive the call: they are copied unless nobody can write to them */
  unsigned int skipped;           /* bits of the results that are not wanted, and will be None */
  size_t frame;                   /* the frame that a fault is in */
  npy_intp lengths[CORE_LETTERS]; /* of the letters of shapes; -1 while unknown */
  PyObject *progress;             /* NULL, or a function that is told how far the call is; borrowed */
  core_unlocked unlocked;
  PyObject *held[CORE_MOST_HELD];    /* more objects to release with the call; see core_hold */
  core_value values[CORE_MOST_ROWS]; /* the arguments in their order, then the other rows */
  size_t argument_count, count;
} core_call;

/* An object of the module. It is made last, so nobody ever sees one without its object of the library. */
typedef struct core_object {
  PyObject_HEAD
  const core_class *class;
  void *made;                     /* the object of the library */
  npy_intp lengths[CORE_LETTERS]; /* calls of its methods start with these lengths, */
  int type;                       /* this type, and the name of the array that has it */
  const char *typed_by;
  atomic_flag busy;               /* while a method runs, if one thread alone may use it at a time */
  PyObject *kept[CORE_MOST_KEPT]; /* objects that live as long; NULL for none */
} core_object;

/* The state of the module that a call belongs to. */
static inline const core_state *core_get_state(const core_call *call) {
  if (PyModule_Check(call->self)) return PyModule_GetState(call->self);
  return PyType_GetModuleState(PyType_Check(call->self) ? (PyTypeObject *)call->self : Py_TYPE(call->self));
}

/* The object whose method is called. */
static inline void *core_self(const void *call) {
  return ((const core_call *)call)->self;
}

/* Its object of the library. */
static inline void *core_made(const void *call) {
  return ((const core_object *)core_self(call))->made;
}

/* The length of a letter of shapes, which an argument has given. */
static inline size_t core_length(const void *call, char letter) {
  return (size_t)((const core_call *)call)->lengths[letter - 'A'];
}

static inline int core_has_length(const void *call, char letter) {
  return ((const core_call *)call)->lengths[letter - 'A'] >= 0;
}

static inline void core_set_length(void *call, char letter, size_t length) {
  ((core_call *)call)->lengths[letter - 'A'] = (npy_intp)length;
}

/* The array of an argument, by its number; NULL for None. */
static inline PyArrayObject *core_array(const void *call, size_t number) {
  return ((const core_call *)call)->values[number].array;
}

/* Whether the value of a row is an array. */
static inline int core_is_array(const core_row *row) {
  return row->kind <= CORE_FLOATS;
}

/* Whether a row is an argument, not a result or a length. */
static inline int core_is_argument(const core_row *row) {
  return !row->result && row->kind != CORE_LENGTH;
}

#endif
