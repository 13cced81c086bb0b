/* SPDX-License-Identifier: MIT */
/* Functions and types as Python wants them defined, with docstrings that are written from their contracts. */
#ifndef SBS_EXTENSION_DEFINITIONS_H
#define SBS_EXTENSION_DEFINITIONS_H

#include "function.h"

/* Adds functions, a list that ends with NULL, to the module. 0, or -1 with an exception set. */
int core_add_functions(PyObject *module, const core_function *const *functions);

/* Makes a type and adds it to the module. 0, or -1 with an exception set. */
int core_add_class(PyObject *module, const core_class *class);

/* A getter of a size_t in the object; its closure is the offset. */
PyObject *core_get_size(PyObject *object, void *offset);

/* A getter of the length of a letter; its closure is the letter. */
PyObject *core_get_length(PyObject *object, void *letter);

/* Frees the definitions of a module, when nothing of it is left. */
void core_free_definitions(core_state *state);

#endif
