/* SPDX-License-Identifier: MIT */
#include "convert.h"
#include "functions.h"

typedef struct owned_call {
  core_call call;
  PyObject *array, *name, *dtype;
} owned_call;

static const core_row rows[] = {
    {"array", CORE_OBJECT, .at = offsetof(owned_call, array), .type = "ArrayLike"},
    {"name", CORE_OBJECT, .at = offsetof(owned_call, name), .type = "str"},
    {"dtype", CORE_OBJECT, .at = offsetof(owned_call, dtype), .type = "DTypeLike | None", .optional = 1},
};

static PyObject *finish(void *address) {
  const owned_call *given = address;
  const char *name = given->name != NULL ? PyUnicode_AsUTF8AndSize(given->name, NULL) : "array";
  PyArray_Descr *dtype = NULL;
  PyArrayObject *array;

  if (name == NULL || (given->dtype != NULL && !PyArray_DescrConverter2(given->dtype, &dtype))) return NULL;
  array = core_find_array(given->array != NULL ? given->array : Py_None, name, 1, dtype);
  Py_XDECREF((PyObject *)dtype);
  if (array != NULL) PyArray_CLEARFLAGS(array, NPY_ARRAY_WRITEABLE);
  return (PyObject *)array;
}

CORE_FUNCTION(
    core_owned, owned_call, .name = "owned",
    .summary = "The array that an object keeps of one that it is given: C-contiguous, of a type, and read-only. It is "
               "the array itself\nif nobody can write to that, neither through it nor through its base, "
               "and else a copy.",
    .parts = {CORE_PART(rows)}, .positional = 3, .returns = "NDArray[Any]", .finish = finish)
