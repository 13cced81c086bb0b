/* SPDX-License-Identifier: MIT */
/*
 * The contract of a function of sbs._core: a table with a row for each argument and result. It parses and checks the
 * arguments, makes the results and writes the docstring. `tools/core_stub.py` writes `python/sbs/_core.pyi` from the
 * docstrings.
 *
 * A call fills a structure of the function's own, which starts with a `core_call`. A row says where in that structure
 * its value goes, as a PyMemberDef does. The place may be a field of a structure of the C library, such as a
 * sbs_skin_desc, which the function then hands to the library as it is. A structure starts with all bytes 0, and these
 * are the defaults of a description (sbs_..._desc).
 */
#ifndef SBS_EXTENSION_FUNCTION_H
#define SBS_EXTENSION_FUNCTION_H

#include <stddef.h>

#include "interrupts.h"

typedef enum core_kind {
  /* Arrays: a pointer to what they hold, C-contiguous, aligned, in native byte order. NULL for None. */
  CORE_REALS,    /* float32 and float64 as they are, float16 as float32, integers and bool as float64 */
  CORE_MATRICES, /* the same, of skinning matrices: into a sbs_pose */
  CORE_SAME,     /* the same, cast to the type of the call: that of its object, or of its first CORE_REALS */
  CORE_DOUBLES,  /* the same, always as float64 */
  CORE_INT32,    /* integers of any type; one that does not fit is a ValueError */
  CORE_FLAGS,    /* bool */
  CORE_OUTPUT,   /* to write to: an ndarray of the type of the call, which is never copied */
  CORE_INTP,     /* of results alone */
  /* Numbers, words and others. */
  CORE_REAL,    /* double; where None is allowed, 0 stands for it as in the library, and is refused as a number */
  CORE_COUNT,   /* size_t: from 1; None leaves the default */
  CORE_THREADS, /* int: from 1, cut off at INT_MAX; None leaves the default, 0 */
  CORE_INDEX,   /* Py_ssize_t, whose range the function checks; -1 for None */
  CORE_FLAG,    /* int: true or false */
  CORE_WORD,    /* int: the place among `words`; -1 for None */
  CORE_OBJECT,  /* PyObject *, borrowed, or what `convert` makes of it */
  /* No argument: the length of the letter that is its name, a size_t, once the arguments have given it. */
  CORE_LENGTH
} core_kind;

typedef struct core_call core_call;

typedef struct core_row {
  const char *name;
  core_kind kind;
  size_t at; /* where the value is in the structure that the part is about */
  /*
   * Of an array, such as "(V, 3)", "(V, 2 K)" or "(J, 4, 4) or (J, 3, 4)". A letter is the same length in all arguments
   * and results of a call. Of a count: the letter that it gives the length of.
   */
  const char *shape;
  const char *const *words; /* end with NULL */
  const char *type;         /* of a CORE_OBJECT, for the docstring: what Python calls its type */
  const char *standard;     /* and its default, if it is not None */
  const char *hint;         /* added to messages about the shape */
  size_t scalar;            /* of CORE_REALS: where the type of the array goes, a sbs_scalar; 0: nowhere */
  char result;              /* whether it is a new array that is returned, unless an output has the same place */
  char optional;            /* whether it may be left out; arrays and objects are None then */
  char none;                /* whether None is allowed, though it is not left out or has another default */
  char in_place;            /* whether an output may be the same array */
  /* Of a CORE_OBJECT: puts what it is into the field. Raises and returns 0 if that fails. */
  int (*convert)(core_call *call, PyObject *object, void *field);
} core_row;

/* Rows that follow each other; several functions may have them in common. */
typedef struct core_part {
  const core_row *rows;
  size_t count;
  size_t at; /* where the structure that they are about is in that of a call */
} core_part;

enum {
  CORE_PARTS = 7,
  CORE_MOST_ROWS = 32,
  CORE_MOST_DIMENSIONS = 4,
  CORE_MOST_HELD = 4
};

typedef struct core_function core_function;

/* A row in a call. */
typedef struct core_value {
  const core_row *row;
  char *field;
  PyObject *object;     /* what was given, borrowed; NULL: nothing */
  PyArrayObject *array; /* what that was converted to, or the result */
} core_value;

/* What every call has. */
struct core_call {
  const core_function *function;
  PyObject *self;       /* the object whose method is called, the type that is called, or the module */
  int type;             /* NPY_FLOAT or NPY_DOUBLE: that of CORE_SAME and CORE_OUTPUT */
  const char *typed_by; /* which argument has that type; NULL while none has */
  unsigned int skipped; /* bits of the results that are not wanted, and will be None */
  npy_intp lengths[26]; /* of the letters of shapes; -1 while unknown */
  PyObject *progress;   /* NULL, or a function that is told how far the call is; borrowed */
  core_unlocked unlocked;
  PyObject *held[CORE_MOST_HELD];    /* what else is released with the call; see core_hold */
  core_value values[CORE_MOST_ROWS]; /* the arguments in their order, then the other rows */
  size_t argument_count, count;
};

/*
 * A call goes through these steps, and stops at the first that fails. All but `name`, `summary` and `size` may be left
 * out. Whatever was converted or made is released at the end.
 */
struct core_function {
  const char *name;
  const char *summary; /* the first part of the docstring */
  core_part parts[CORE_PARTS];
  size_t positional;   /* so many of the arguments may be given by place; the others by name alone */
  const char *returns; /* the type of the result if it is not the arrays of the rows */
  int keeps;           /* whether arrays outlive the call: they are copied unless nobody can write to them */
  size_t size;         /* of the structure of a call */
  size_t busy_at;      /* where an object has an atomic_flag, if one thread alone may use it at a time; 0: nowhere */

  void (*set_defaults)(void *call);                /* of arguments that have others than zero */
  void (*begin)(void *call);                       /* lengths and the type that `self` gives */
  int (*prepare)(void *call);                      /* checks what no table can; raises and returns 0 */
  sbs_status (*run)(void *call, sbs_fault *fault); /* without Python's lock, so that Ctrl-C cancels it */
  int (*raise)(void *call, sbs_status status, const sbs_fault *fault); /* faults that need own words; 0: of none */
  PyObject *(*finish)(void *call); /* the result, if it is not the tuple of arrays */
  PyObject *(*entry)(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
};

#define CORE_TABLE_LENGTH(rows) (sizeof(rows) / sizeof *(rows))
#define CORE_PART(rows) CORE_PART_AT(0, rows)
#define CORE_PART_AT(at, rows) {rows, CORE_TABLE_LENGTH(rows), at}

/* A function that is told how far the call is, from 0 to 1; see core_progress. */
#define CORE_PROGRESS_ROW \
  {"progress", \
   CORE_OBJECT, \
   offsetof(core_call, progress), \
   .type = "Callable[[float], object] | None", \
   .optional = 1, \
   .convert = core_convert_progress}

/* Declares a contract, and defines its `entry`, function_entry. structure: that of its calls. */
#define CORE_ENTRY(function, structure) \
  extern const core_function function; \
  static PyObject *function##_entry(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) { \
    structure call; \
    return core_enter(&(function), self, args, count, names, &call); \
  }

/*
 * Calls a function: what its `entry` does. The arguments are those of METH_FASTCALL | METH_KEYWORDS; `call` is the
 * structure, which need not be initialized.
 */
PyObject *core_enter(const core_function *function, PyObject *self, PyObject *const *args, Py_ssize_t count,
                     PyObject *names, void *call);

/* The same for tp_new. */
PyObject *core_enter_new(const core_function *function, PyTypeObject *type, PyObject *args, PyObject *kwargs,
                         void *call);

/* Whether Ctrl-C cancels a call; for steps that go through frames by themselves. */
static inline int core_is_cancelled(core_call *call) {
  return core_look_for_signals(0.0, &call->unlocked);
}

/* Runs a step without Python's lock; raises and returns 0 if it fails. `prepare` may do so to find lengths. */
int core_run(void *call, sbs_status (*step)(void *call, sbs_fault *fault));

int core_convert_progress(core_call *call, PyObject *object, void *field);

/* For options of the library: what tells progress, with its user; NULL if nobody wants to be told. */
sbs_progress *core_progress(core_call *call, void **user);

/* Releases an object at the end of the call; takes the reference. Returns 0 if it is NULL. */
int core_hold(void *call, PyObject *object);

/* Memory that is released with the call; raises and returns NULL if there is none. */
void *core_hold_memory(void *call, size_t size);

/* The state of the module that the call belongs to. */
const core_state *core_get_state(const void *call);

/* The object whose method is called. */
static inline void *core_self(const void *call) {
  return ((const core_call *)call)->self;
}

/* The length of a letter of shapes, which an argument has given. */
static inline size_t core_length(const void *call, char letter) {
  return (size_t)((const core_call *)call)->lengths[letter - 'A'];
}

static inline void core_set_length(void *call, char letter, size_t length) {
  ((core_call *)call)->lengths[letter - 'A'] = (npy_intp)length;
}

/* The array of an argument, by its number; NULL for None. */
static inline PyArrayObject *core_array(const void *call, size_t number) {
  return ((const core_call *)call)->values[number].array;
}

/* The array of a result, by its number, or None; borrowed. */
PyObject *core_result(const void *call, size_t number);

/* The type of an array of reals. */
static inline sbs_scalar core_scalar(PyArrayObject *array) {
  return PyArray_TYPE(array) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64;
}

/* A new array (rows, columns), or (rows) if columns is 0, with a copy of numbers of the library. */
PyObject *core_copy(const void *numbers, size_t rows, size_t columns, int type);

/* The largest of integers, and 0 of none. */
int32_t core_largest(const int32_t *integers, size_t count);

#endif
