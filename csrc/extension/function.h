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

#include "call.h"

/* Rows that follow each other; several functions may have them in common. */
typedef struct core_part {
  const core_row *rows;
  size_t count;
  size_t at; /* offset, in the structure of a call, of the structure that they are about */
} core_part;

enum {
  CORE_PARTS = 8
};

/*
 * A call goes through these steps, and stops at the first that fails. All but `name` and `summary` may be left out.
 * Whatever was converted or made is released at the end.
 */
typedef struct core_function {
  const char *name;
  const char *summary; /* the first part of the docstring */
  core_part parts[CORE_PARTS];
  size_t positional;   /* so many of the arguments may be given by place; the others by name alone */
  const char *returns; /* the type of the result if it is not the arrays of the rows */
  char keeps;          /* see core_call */

  void (*set_defaults)(void *call);                /* of arguments that have others than zero */
  int (*prepare)(void *call);                      /* further checks; raises and returns 0 */
  sbs_status (*run)(void *call, sbs_fault *fault); /* without Python's lock, so that Ctrl-C cancels it */
  /* In place of `run`: the same for each of F frames of the CORE_MATRICES, (F, J, 4, 4) or (F, J, 3, 4). */
  sbs_status (*run_frame)(void *call, size_t frame, const sbs_pose *pose, sbs_fault *fault);
  int (*raise)(void *call, sbs_status status, const sbs_fault *fault); /* faults that need own words; 0: no such */
  PyObject *(*finish)(void *call); /* the result, if it is not the tuple of arrays */

  size_t size; /* of the structure of a call */
  PyObject *(*entry)(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
} core_function;

/* The contract of a type. Its instances have the structure core_object, or one that starts with it. */
struct core_class {
  int number;                          /* CORE_SKIN */
  const char *type;                    /* "sbs._core.Skin" */
  size_t made_at;                      /* offset, in the structure of a call, of the library's new object */
  void (*release)(void *made);         /* frees that */
  void (*clear)(core_object *object);  /* frees more, of an instance of a larger structure; or NULL */
  const core_function *const *methods; /* end with NULL; NULL for none */
  PyGetSetDef *properties;
  size_t size;        /* of an instance; 0: that of a core_object */
  int exclusive;      /* whether one thread alone may use an instance at a time */
  core_function make; /* `finish` may be left out */
  newfunc new;
};

#define CORE_TABLE_LENGTH(rows) (sizeof(rows) / sizeof *(rows))
#define CORE_PART(rows) CORE_PART_AT(0, rows)
#define CORE_PART_AT(at, rows) {rows, CORE_TABLE_LENGTH(rows), at}

/* A function that is told how far the call is, from 0 to 1; see core_progress. */
#define CORE_PROGRESS_ROW \
  {"progress", CORE_CALLABLE, offsetof(core_call, progress), .type = "Callable[[float], object] | None", .optional = 1}

/* Defines the contract of a function. structure: that of its calls; then the fields. */
#define CORE_FUNCTION(function, structure, ...) \
  extern const core_function function; \
  static PyObject *function##_entry(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) { \
    structure call; \
    return core_enter(&(function), self, args, count, names, &call); \
  } \
  const core_function function = {.size = sizeof(structure), .entry = function##_entry, __VA_ARGS__};

/* Defines the contract of a type. structure: that of a call for a new instance; then the fields. */
#define CORE_CLASS(class_name, structure, ...) \
  extern const core_class class_name; \
  static PyObject *class_name##_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) { \
    structure call; \
    return core_enter_new(&(class_name), type, args, kwargs, &call); \
  } \
  const core_class class_name = {.new = class_name##_new, .make.size = sizeof(structure), __VA_ARGS__};

/*
 * Calls a function: the work of its `entry`. The arguments are as with METH_FASTCALL | METH_KEYWORDS; `call` is the
 * structure, which need not be initialized.
 */
PyObject *core_enter(const core_function *function, PyObject *self, PyObject *const *args, Py_ssize_t count,
                     PyObject *names, void *call);

/* The same for tp_new. */
PyObject *core_enter_new(const core_class *class, PyTypeObject *type, PyObject *args, PyObject *kwargs, void *call);

/*
 * An object of a type for the library's object, which it owns even if this fails and raises. lengths: for calls of
 * its methods.
 */
core_object *core_new_object(const core_class *class, PyTypeObject *type, void *made, const npy_intp *lengths);

/* Runs a step without Python's lock; raises and returns 0 if it fails. `prepare` may do so to find lengths. */
int core_run(void *call, sbs_status (*step)(void *call, sbs_fault *fault));

/* For options of the library: a function that tells progress, with its user; NULL if nobody wants to be told. */
sbs_progress *core_progress(core_call *call, void **user);

/* Releases an object at the end of the call; takes the reference. Returns 0 if it is NULL. */
int core_hold(void *call, PyObject *object);

/* Memory that is released with the call; raises and returns NULL if there is none. */
void *core_hold_memory(void *call, size_t size);

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
