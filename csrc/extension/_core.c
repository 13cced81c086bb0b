/* SPDX-License-Identifier: MIT */
/* sbs._core: libsbs for Python. Users read the documentation of the package around it. */
#define SBS_EXTENSION_IMPORTS_NUMPY
#include "core.h"

#include "convert.h"
#include "definitions.h"
#include "functions.h"

static PyObject *get_build_info(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
  const sbs_build_info info = sbs_get_build_info();
  PyObject *instruction_sets = PyList_New(0), *result = NULL;

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

static PyObject *set_threads(PyObject *Py_UNUSED(module), PyObject *object) {
  static const core_row row = {"threads", CORE_THREADS, .at = 0};
  int threads = 0;

  if (!core_convert(NULL, &row, object, &threads)) return NULL;
  sbs_set_threads(threads);
  Py_RETURN_NONE;
}

static PyObject *get_threads(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
  return PyLong_FromLong(sbs_get_threads());
}

static PyMethodDef functions[] = {
    {"build_info", get_build_info, METH_NOARGS,
     "build_info()\n--\n\n"
     "How the C library was built, and which kernels it chooses on this machine.\n\n"
     "Returns\n-------\ndict\n"
     "    ``version``; ``instruction_set``, the set of new skins: the best of ``instruction_sets``, which "
     "this\n"
     "    machine can run, or the one that the environment variable ``SBS_ISA`` names; ``lapack``,\n"
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
    {NULL, NULL, 0, NULL}};

static const core_function *const contracts[] = {
    &core_owned,
    &core_weld,
    &core_adjacency,
    &core_subdivide,
    &core_curvature,
    &core_check_skin,
    &core_tidy_weights,
    &core_clean_weights,
    &core_smooth_weights,
    &core_diffuse_weights,
    &core_islands,
    &core_nearest_on_surface,
    &core_segments_blocked,
    &core_triangles_crossing,
    &core_check_capsules,
    &core_capsule_weights,
    &core_capsule_weights_dense,
    &core_count_outside,
    &core_bone_tails,
    &core_blend_bones,
    &core_optimized_centers,
    &core_check_fit,
    &core_fit_centers,
    &core_fit_matrices,
    &core_fit_weights,
    &core_heat_weights,
    &core_relax,
    NULL,
};

static const core_class *const classes[] = {
    &core_skin_class,    &core_brush_class,  &core_twist_class, &core_muscles_class,
    &core_drivers_class, &core_shapes_class, &core_flesh_class,
};

static int execute(PyObject *module) {
  core_state *state = PyModule_GetState(module);

  if (PyArray_ImportNumPyAPI() < 0 || core_add_functions(module, contracts) < 0) return -1;
  for (size_t i = 0; i < CORE_TABLE_LENGTH(classes); i++)
    if (core_add_class(module, classes[i]) < 0) return -1;
  state->linalg_error = PyErr_NewExceptionWithDoc(
      "sbs.LinAlgError", "A decomposition of linear algebra did not converge.", PyExc_RuntimeError, NULL);
  if (state->linalg_error == NULL || PyModule_AddObjectRef(module, "LinAlgError", state->linalg_error) < 0) return -1;
  return PyModule_AddStringConstant(module, "version", sbs_version());
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
  core_state *state = PyModule_GetState(module);

  for (int i = 0; i < CORE_TYPE_COUNT; i++) Py_VISIT(state->types[i]);
  Py_VISIT(state->linalg_error);
  return 0;
}

static int clear(PyObject *module) {
  core_state *state = PyModule_GetState(module);

  for (int i = 0; i < CORE_TYPE_COUNT; i++) Py_CLEAR(state->types[i]);
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
