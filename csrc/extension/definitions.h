/* SPDX-License-Identifier: MIT */
/* Functions and types as Python wants them defined, with docstrings that are written from their contracts. */
#ifndef SBS_EXTENSION_DEFINITIONS_H
#define SBS_EXTENSION_DEFINITIONS_H

#include "function.h"

/* Adds functions to the module. 0, or -1 with an exception set. */
int core_add_functions(PyObject *module, const core_function *const *functions, size_t count);

/* A type of the module. Its instances are never seen without what they hold, for they are made last. */
typedef struct core_class {
  const char *name;          /* "sbs._core.Skin" */
  const core_function *make; /* the contract of `new` */
  newfunc new;
  destructor dealloc; /* frees what an instance holds, then calls core_free_object */
  traverseproc traverse;
  const core_function *const *methods;
  size_t method_count;
  PyGetSetDef *properties;
  size_t size;
} core_class;

/* Makes the type and adds it to the module; a new reference, or NULL with an exception set. */
PyObject *core_add_class(PyObject *module, const core_class *class);

/* A new instance, zeroed but for its head. */
void *core_allocate(PyObject *type);

/* The last step of a dealloc. The first is PyObject_GC_UnTrack. */
void core_free_object(PyObject *object);

/* `traverse` of types whose instances hold no objects. They refer to their type, and so to the module: the collector
   must know, or the module is never freed. */
int core_traverse_type(PyObject *object, visitproc visit, void *arg);

/* A getter of a size_t, whose place in the object is its closure. */
PyObject *core_get_size(PyObject *object, void *offset);

/* Frees the definitions of a module, when nothing of it is left. */
void core_free_definitions(core_state *state);

#endif
