/* SPDX-License-Identifier: MIT */
#include "definitions.h"

#include <string.h>

/* Appends one text to another, and takes the reference to the first; the other becomes NULL if that fails. */
static void append(PyObject **text, PyObject *more) {
  PyObject *longer = *text != NULL && more != NULL ? PyUnicode_Concat(*text, more) : NULL;

  Py_XDECREF(*text);
  Py_XDECREF(more);
  *text = longer;
}

static void append_words(PyObject **text, const char *words) {
  append(text, PyUnicode_FromString(words));
}

/* ---------------------------------------------------------------------------------------------------- signature -- */

/* The default of an argument, as Python writes it; field: its value in a call that was given nothing. */
static PyObject *default_text(const core_row *row, const void *field) {
  PyObject *number, *result;

  switch (row->kind) {
    case CORE_REAL:
      if (row->none && *(const double *)field == 0.0) break;
      number = PyFloat_FromDouble(*(const double *)field);
      result = number != NULL ? PyObject_Repr(number) : NULL;
      Py_XDECREF(number);
      return result;
    case CORE_COUNT:
      if (*(const size_t *)field == 0) break;
      return PyUnicode_FromFormat("%zu", *(const size_t *)field);
    case CORE_FLAG: return PyUnicode_FromString(*(const int *)field ? "True" : "False");
    case CORE_WORD:
      if (*(const int *)field < 0) break;
      return PyUnicode_FromFormat("'%s'", row->words[*(const int *)field]);
    default: break;
  }
  return PyUnicode_FromString("None");
}

static void append_signature(PyObject **text, const core_function *function, const char *self, const char *call) {
  const char *comma = self != NULL ? ", " : "";
  size_t number = 0;

  append(text, PyUnicode_FromFormat("%s(%s", function->name, self != NULL ? self : ""));
  for (const core_part *part = function->parts; part < function->parts + CORE_PARTS; part++) {
    for (size_t i = 0; i < part->count; i++) {
      const core_row *row = &part->rows[i];
      if (!core_is_argument(row)) continue;
      if (number++ == function->positional) {
        append(text, PyUnicode_FromFormat("%s*", comma));
        comma = ", ";
      }
      append(text, PyUnicode_FromFormat("%s%s", comma, row->name));
      comma = ", ";
      if (!row->optional) continue;
      append_words(text, "=");
      append(text, default_text(row, call + part->at + row->at));
    }
  }
  append_words(text, ")\n--\n\n");
}

/* -------------------------------------------------------------------------------------------------------- types -- */

static const char *const kind_words[] = {
    [CORE_REALS] = "reals", [CORE_MATRICES] = "reals", [CORE_SAME] = "reals", [CORE_DOUBLES] = "float64",
    [CORE_INT32] = "int32", [CORE_FLAGS] = "bool",     [CORE_INTP] = "intp",  [CORE_OUTPUT] = "output",
    [CORE_REAL] = "float",  [CORE_COUNT] = "int",      [CORE_INDEX] = "int",  [CORE_THREADS] = "int",
    [CORE_FLAG] = "bool",   [CORE_FLOATS] = "float32",
};

static void append_type(PyObject **text, const core_row *row) {
  const int is_count = row->kind == CORE_COUNT || row->kind == CORE_THREADS;
  const int may_be_none = row->none || is_count || (core_is_array(row) && row->optional);

  append(text, PyUnicode_FromFormat("%s : ", row->name));
  if (row->kind == CORE_WORD) {
    for (int i = 0; row->words[i] != NULL; i++)
      append(text, PyUnicode_FromFormat("%s'%s'", i > 0 ? ", " : "{", row->words[i]));
    append_words(text, "}");
  } else {
    append_words(text, row->type != NULL ? row->type : kind_words[row->kind]);
  }
  if (row->kind == CORE_INSTANCE && row->optional) append_words(text, " | None");
  if (core_is_array(row)) append(text, PyUnicode_FromFormat(" %s", row->shape));
  append_words(text, may_be_none ? ", or None\n" : "\n");
}

/* The types of the arguments or of the results, below a headline that comes with the first. */
static void append_section(PyObject **text, const core_function *function, const char *headline, int results) {
  for (const core_part *part = function->parts; part < function->parts + CORE_PARTS; part++) {
    for (size_t i = 0; i < part->count; i++) {
      const core_row *row = &part->rows[i];
      if (row->kind == CORE_LENGTH || row->result != results) continue;
      append_words(text, headline);
      append_type(text, row);
      headline = "";
    }
  }
  if (results && function->returns != NULL) append(text, PyUnicode_FromFormat("%s%s\n", headline, function->returns));
}

/* -------------------------------------------------------------------------------------------------- docstrings -- */

/* A copy of a text, to be freed by PyMem_Free; takes the reference. */
static char *copy_text(PyObject *text) {
  Py_ssize_t size;
  const char *utf8 = text != NULL ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
  char *copy = NULL;

  if (utf8 != NULL) {
    copy = PyMem_Malloc((size_t)size + 1);
    if (copy != NULL)
      memcpy(copy, utf8, (size_t)size + 1);
    else
      PyErr_NoMemory();
  }
  Py_XDECREF(text);
  return copy;
}

/*
 * The docstring of a function: its signature, which Python takes for `__text_signature__`, the summary, and a line for
 * each argument and result. self: the first word of the signature, "$self" of a method, or NULL. NULL with an exception
 * set.
 */
static char *new_docstring(const core_function *function, const char *self) {
  core_call *call = PyMem_Calloc(1, function->size); /* for the defaults */
  PyObject *text = PyUnicode_FromString("");

  if (call == NULL) {
    Py_XDECREF(text);
    PyErr_NoMemory();
    return NULL;
  }
  if (function->set_defaults != NULL) function->set_defaults(call);
  append_signature(&text, function, self, (const char *)call);
  append_words(&text, function->summary);
  append_section(&text, function, "\n\nParameters\n----------\n", 0);
  append_section(&text, function, "\nReturns\n-------\n", 1);
  PyMem_Free(call);
  return copy_text(text);
}

/* ------------------------------------------------------------------------------------------------- definitions -- */

static void free_definitions(PyMethodDef *definitions) {
  for (PyMethodDef *definition = definitions; definition != NULL && definition->ml_name != NULL; definition++)
    PyMem_Free((void *)(uintptr_t)definition->ml_doc);
  PyMem_Free(definitions);
}

/* Definitions for Python, which `kept`, in the state, has as long as the module lives. self: as for a docstring. */
static PyMethodDef *new_definitions(PyMethodDef **kept, const core_function *const *functions, const char *self) {
  PyMethodDef *definitions;
  size_t count = 0;

  while (functions != NULL && functions[count] != NULL) count++;
  definitions = PyMem_Calloc(count + 1, sizeof *definitions);
  if (definitions == NULL) PyErr_NoMemory();
  for (size_t i = 0; definitions != NULL && i < count; i++) {
    char *docstring = new_docstring(functions[i], self);
    definitions[i] = (PyMethodDef){.ml_name = functions[i]->name,
                                   .ml_meth = (PyCFunction)(void (*)(void))functions[i]->entry,
                                   .ml_flags = METH_FASTCALL | METH_KEYWORDS,
                                   .ml_doc = docstring};
    if (docstring == NULL) {
      free_definitions(definitions);
      definitions = NULL;
    }
  }
  *kept = definitions;
  return definitions;
}

void core_free_definitions(core_state *state) {
  for (int i = 0; i <= CORE_TYPE_COUNT; i++) free_definitions(state->definitions[i]);
}

int core_add_functions(PyObject *module, const core_function *const *functions) {
  core_state *state = PyModule_GetState(module);
  PyMethodDef *definitions = new_definitions(&state->definitions[CORE_TYPE_COUNT], functions, NULL);

  return definitions != NULL ? PyModule_AddFunctions(module, definitions) : -1;
}

/* -------------------------------------------------------------------------------------------------------- types -- */

/* Instances refer to their type, and so to the module: the collector must know, or the module is never freed. */
static int traverse(PyObject *self, visitproc visit, void *arg) {
  core_object *object = (core_object *)self;

  Py_VISIT(Py_TYPE(self));
  for (int i = 0; i < CORE_MOST_KEPT; i++) Py_VISIT(object->kept[i]);
  return 0;
}

static void dealloc(PyObject *self) {
  core_object *object = (core_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  const freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

  PyObject_GC_UnTrack(self);
  object->class->release(object->made);
  if (object->class->clear != NULL) object->class->clear(object);
  for (int i = 0; i < CORE_MOST_KEPT; i++) Py_CLEAR(object->kept[i]);
  release(self);
  Py_DECREF(type);
}

int core_add_class(PyObject *module, const core_class *class) {
  core_state *state = PyModule_GetState(module);
  PyMethodDef *methods = new_definitions(&state->definitions[class->number], class->methods, "$self");
  char *docstring = new_docstring(&class->make, NULL);
  PyType_Slot slots[] = {{Py_tp_doc, docstring},
                         {Py_tp_new, (void *)class->new},
                         {Py_tp_dealloc, (void *)dealloc},
                         {Py_tp_traverse, (void *)traverse},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, class->properties},
                         {0, NULL}};
  PyType_Spec spec = {
      .name = class->type,
      .basicsize = (int)(class->size > 0 ? class->size : sizeof(core_object)),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
      .slots = slots,
  };
  PyObject *type = NULL;

  if (methods != NULL && docstring != NULL) type = PyType_FromModuleAndSpec(module, &spec, NULL);
  PyMem_Free(docstring); /* the type has a copy */
  state->types[class->number] = type;
  return type != NULL ? PyModule_AddObjectRef(module, class->make.name, type) : -1;
}

PyObject *core_get_size(PyObject *object, void *offset) {
  return PyLong_FromSize_t(*(const size_t *)(const void *)((const char *)object + (Py_ssize_t)offset));
}

PyObject *core_get_length(PyObject *object, void *letter) {
  return PyLong_FromSsize_t(((const core_object *)object)->lengths[(Py_ssize_t)letter - 'A']);
}
