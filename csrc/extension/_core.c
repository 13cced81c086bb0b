/* SPDX-License-Identifier: MIT */
/* sbs._core: libsbs for Python. Users read the documentation of the package around it. */
#define SBS_EXTENSION_IMPORTS_NUMPY
#include "core.h"

#include "blending_functions.h"
#include "brush_type.h"
#include "capsule_functions.h"
#include "centers_functions.h"
#include "definitions.h"
#include "fit_functions.h"
#include "heat_functions.h"
#include "mesh_functions.h"
#include "muscles_type.h"
#include "skin_type.h"
#include "subdivide_functions.h"
#include "surface_functions.h"
#include "twist_type.h"
#include "weights_tools.h"

static PyObject *get_build_info(PyObject *module, PyObject *unused) {
  const sbs_build_info info = sbs_get_build_info();
  PyObject *instruction_sets = PyList_New(0), *result = NULL;
  (void)module;
  (void)unused;

  for (const char *const *name = info.instruction_sets; instruction_sets != NULL && *name != NULL; name++) {
    PyObject *word = PyUnicode_FromString(*name);
    if (word == NULL || PyList_Append(instruction_sets, word) < 0) Py_CLEAR(instruction_sets);
    Py_XDECREF(word);
  }
  if (instruction_sets != NULL) {
    result = Py_BuildValue("{sssssOss}", "version", info.version, "instruction_set", info.instruction_set,
                           "instruction_sets", instruction_sets, "lapack", info.lapack);
  }
  Py_XDECREF(instruction_sets);
  return result;
}

static PyObject *set_threads(PyObject *module, PyObject *object) {
  core_count threads = {.name = "threads", .largest = INT_MAX};

  (void)module;
  if (!core_convert_count(object, &threads)) return NULL;
  sbs_set_threads((int)threads.value);
  Py_RETURN_NONE;
}

static PyObject *get_threads(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyLong_FromLong(sbs_get_threads());
}

#define FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef functions[] = {
    {"build_info", get_build_info, METH_NOARGS,
     "build_info()\n--\n\n"
     "How the C library was built, and what it does on this machine.\n\n"
     "Returns\n-------\ndict\n"
     "    ``version``; ``instruction_set``, what new skins compute with: the best of ``instruction_sets``, those that "
     "this\n"
     "    machine can run, or the one that the environment variable ``SBS_ISA`` names; ``lapack``, \"bundled\",\n"
     "    \"system\" or \"none\"."},
    {"set_threads", set_threads, METH_O,
     "set_threads(threads, /)\n--\n\n"
     "Set how many threads share the work of a call, unless its own ``threads`` says so.\n\n"
     "By default there are as many as the environment variable ``SBS_THREADS`` says, or else as there are processors "
     "that\n"
     "the process may run on. Work that takes less than about 50 microseconds is never shared. No bit of a result "
     "depends\n"
     "on the number.\n\n"
     "Parameters\n----------\nthreads : int or None\n"
     "    At most so many, from now on; beyond 256 they are 256. None: the default again.\n\n"
     "Raises\n------\nTypeError\n    If it is neither an integer nor None.\nValueError\n    If it is below 1."},
    {"get_threads", get_threads, METH_NOARGS,
     "get_threads()\n--\n\n"
     "How many threads share the work of a call, unless its own ``threads`` says so.\n\n"
     "Returns\n-------\nint"},
    {"owned", FUNCTION(core_owned), METH_VARARGS | METH_KEYWORDS, core_owned_doc},
    {"weld", FUNCTION(core_weld), METH_VARARGS | METH_KEYWORDS, core_weld_doc},
    {"adjacency", FUNCTION(core_adjacency), METH_VARARGS | METH_KEYWORDS, core_adjacency_doc},
    {"subdivide", FUNCTION(core_subdivide), METH_VARARGS | METH_KEYWORDS, core_subdivide_doc},
    {"curvature", FUNCTION(core_curvature), METH_VARARGS | METH_KEYWORDS, core_curvature_doc},
    {"tidy_weights", FUNCTION(core_tidy_weights), METH_VARARGS | METH_KEYWORDS, core_tidy_weights_doc},
    {"clean_weights", FUNCTION(core_clean_weights), METH_VARARGS | METH_KEYWORDS, core_clean_weights_doc},
    {"smooth_weights", FUNCTION(core_smooth_weights), METH_VARARGS | METH_KEYWORDS, core_smooth_weights_doc},
    {"islands", FUNCTION(core_islands), METH_VARARGS | METH_KEYWORDS, core_islands_doc},
    {"nearest_on_surface", FUNCTION(core_nearest_on_surface), METH_VARARGS | METH_KEYWORDS,
     core_nearest_on_surface_doc},
    {"segments_blocked", FUNCTION(core_segments_blocked), METH_VARARGS | METH_KEYWORDS, core_segments_blocked_doc},
    {"check_capsules", FUNCTION(core_check_capsules), METH_VARARGS | METH_KEYWORDS, core_check_capsules_doc},
    {"capsule_weights", FUNCTION(core_capsule_weights), METH_VARARGS | METH_KEYWORDS, core_capsule_weights_doc},
    {"count_outside", FUNCTION(core_count_outside), METH_VARARGS | METH_KEYWORDS, core_count_outside_doc},
    {"bone_tails", FUNCTION(core_bone_tails), METH_VARARGS | METH_KEYWORDS, core_bone_tails_doc},
    {"blend_bones", FUNCTION(core_blend_bones), METH_VARARGS | METH_KEYWORDS, core_blend_bones_doc},
    {"optimized_centers", FUNCTION(core_optimized_centers), METH_VARARGS | METH_KEYWORDS, core_optimized_centers_doc},
    {"fit_centers", FUNCTION(core_fit_centers), METH_VARARGS | METH_KEYWORDS, core_fit_centers_doc},
    {"fit_matrices", FUNCTION(core_fit_matrices), METH_VARARGS | METH_KEYWORDS, core_fit_matrices_doc},
    {"fit_weights", FUNCTION(core_fit_weights), METH_VARARGS | METH_KEYWORDS, core_fit_weights_doc},
    {"heat_weights", FUNCTION(core_heat_weights), METH_VARARGS | METH_KEYWORDS, core_heat_weights_doc},
    {NULL, NULL, 0, NULL}};

static const core_function *const contracts[] = {&core_check_skin};

static int execute(PyObject *module) {
  core_state *state = PyModule_GetState(module);

  if (PyArray_ImportNumPyAPI() < 0) return -1;
  if (core_add_functions(module, contracts, CORE_COUNT_OF(contracts)) < 0) return -1;
  state->skin_type = core_new_skin_type(module);
  if (state->skin_type == NULL) return -1;
  state->brush_type = core_new_brush_type(module);
  if (state->brush_type == NULL || PyModule_AddObjectRef(module, "Brush", state->brush_type) < 0) return -1;
  state->twist_type = core_new_twist_type(module);
  if (state->twist_type == NULL || PyModule_AddObjectRef(module, "Twist", state->twist_type) < 0) return -1;
  state->muscles_type = core_new_muscles_type(module);
  if (state->muscles_type == NULL || PyModule_AddObjectRef(module, "Muscles", state->muscles_type) < 0) return -1;
  state->linalg_error = PyErr_NewExceptionWithDoc(
      "sbs.LinAlgError", "A decomposition of linear algebra did not converge.", PyExc_RuntimeError, NULL);
  if (state->linalg_error == NULL || PyModule_AddObjectRef(module, "LinAlgError", state->linalg_error) < 0) return -1;
  return PyModule_AddStringConstant(module, "version", sbs_version());
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
  core_state *state = PyModule_GetState(module);

  Py_VISIT(state->skin_type);
  Py_VISIT(state->brush_type);
  Py_VISIT(state->twist_type);
  Py_VISIT(state->muscles_type);
  Py_VISIT(state->linalg_error);
  return 0;
}

static int clear(PyObject *module) {
  core_state *state = PyModule_GetState(module);

  Py_CLEAR(state->skin_type);
  Py_CLEAR(state->brush_type);
  Py_CLEAR(state->twist_type);
  Py_CLEAR(state->muscles_type);
  Py_CLEAR(state->linalg_error);
  return 0;
}

static void free_module(void *module) {
  clear(module);
  core_free_definitions(PyModule_GetState(module));
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute},
#ifdef Py_mod_gil
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, NULL}};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "sbs._core",
    .m_doc = "Skinning by libsbs.",
    .m_size = sizeof(core_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit__core(void) {
  return PyModuleDef_Init(&definition);
}
