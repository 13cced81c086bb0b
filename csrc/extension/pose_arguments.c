/* SPDX-License-Identifier: MIT */
#include "pose_arguments.h"

#include "errors.h"

/* ------------------------------------------------------------------------------------------------------- method -- */

/* In the order of sbs_method, sbs_rotation and sbs_center. */
static const char *const method_words[] = {"rigid", "linear", "spherical", "dual_quaternion", NULL};
static const char *const rotation_words[] = {"qlerp", "average", NULL};
static const char *const center_words[] = {"joint_set", "weighted", "optimized", NULL};

core_method core_default_method(void) {
  const sbs_deform_options defaults = sbs_default_deform_options();

  return (core_method){
      .method = {"method", method_words, (int)defaults.method},
      .rotation = {"rotation", rotation_words, (int)defaults.rotation},
      .center = {"center", center_words, (int)defaults.center},
      .damping = {.name = "damping", .value = defaults.damping},
      .rcond = {.name = "rcond", .optional = 1},
  };
}

int core_set_method(const core_method *method, sbs_deform_options *options) {
  if (method->rcond.given && method->rcond.value == 0.0) {
    PyErr_Format(PyExc_ValueError, "%s must be None or between 0 and 1, not 0.0", method->rcond.name);
    return 0;
  }
  options->method = (sbs_method)method->method.value;
  options->rotation = (sbs_rotation)method->rotation.value;
  options->center = (sbs_center)method->center.value;
  options->damping = method->damping.value;
  options->rcond = method->rcond.value;
  return 1;
}

int core_convert_base(PyObject *object, void *core_base_address) {
  static char *keywords[] = {"method", "rotation", "center", "damping", "rcond", NULL};
  core_base *argument = core_base_address;
  core_method base = core_default_method();
  PyObject *nothing;
  int parsed;

  base.method.name = "base['method']";
  base.rotation.name = "base['rotation']";
  base.center.name = "base['center']";
  base.damping.name = "base['damping']";
  base.rcond.name = "base['rcond']";
  if (PyUnicode_Check(object)) {
    base.method.name = "base";
    parsed = core_convert_choice(object, &base.method);
  } else if (PyDict_Check(object)) {
    nothing = PyTuple_New(0);
    if (nothing == NULL) return 0;
    parsed =
        PyArg_ParseTupleAndKeywords(nothing, object, "|$O&O&O&O&O&:base", keywords, core_convert_choice, &base.method,
                                    core_convert_choice, &base.rotation, core_convert_choice, &base.center,
                                    core_convert_real, &base.damping, core_convert_real, &base.rcond);
    Py_DECREF(nothing);
  } else {
    PyErr_Format(PyExc_TypeError, "base must be a str or a dict of options, not %R", (PyObject *)Py_TYPE(object));
    parsed = 0;
  }
  argument->set = sbs_default_deform_options();
  return parsed && core_set_method(&base, &argument->set);
}

/* ----------------------------------------------------------------------------------------------------- matrices -- */

core_array core_matrices_argument(int many) {
  return (core_array){.name = "skinning_matrices",
                      .shape = many ? "(F, J, 4, 4) or (F, J, 3, 4)" : "(J, 4, 4) or (J, 3, 4)",
                      .dimensions = many ? 4 : 3};
}

int core_check_matrices(const core_skin *self, const core_array *matrices) {
  const npy_intp *shape = PyArray_DIMS(matrices->array) + matrices->dimensions - 3;

  if (shape[2] != 4 || (shape[1] != 4 && shape[1] != 3)) {
    core_raise_shape(matrices, matrices->shape);
    return 0;
  }
  if ((size_t)shape[0] != self->info.joint_count) {
    char expected[80];
    const char *frames = matrices->dimensions == 4 ? "F, " : "";
    PyOS_snprintf(expected, sizeof expected, "(%s%zu, 4, 4) or (%s%zu, 3, 4)", frames, self->info.joint_count, frames,
                  self->info.joint_count);
    core_raise_shape(matrices, expected);
    return 0;
  }
  return 1;
}

sbs_pose core_pose_of(PyArrayObject *matrices) {
  return (sbs_pose){
      .skinning_matrices = PyArray_DATA(matrices),
      .scalar = PyArray_TYPE(matrices) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64,
      .rows = (size_t)PyArray_DIM(matrices, PyArray_NDIM(matrices) - 2),
  };
}

void core_raise_fault(PyObject *self, sbs_status status, const sbs_fault *fault, PyArrayObject *matrices) {
  const npy_intp *dims = PyArray_DIMS(matrices);
  const int many = PyArray_NDIM(matrices) == 4;
  const npy_intp shape[4] = {many ? dims[0] : 0, dims[many], dims[many + 1], dims[many + 2]};

  core_raise(PyType_GetModuleState(Py_TYPE(self)), status, fault, shape);
}

/* ------------------------------------------------------------------------------------------------------- amount -- */

core_array core_amount_argument(void) {
  return (core_array){.name = "amount", .shape = "(V,)", .dimensions = 1, .optional = 1};
}

int core_set_amount(const core_skin *self, const core_array *amount, const core_base *base,
                    sbs_deform_options *options) {
  if (amount->array == NULL) return 1;
  if ((size_t)PyArray_DIM(amount->array, 0) != self->info.vertex_count) {
    char expected[40];
    PyOS_snprintf(expected, sizeof expected, "(%zu,)", self->info.vertex_count);
    core_raise_shape(amount, expected);
    return 0;
  }
  options->amount = PyArray_DATA(amount->array);
  options->amount_scalar = PyArray_TYPE(amount->array) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64;
  options->base = &base->set;
  return 1;
}

/* ------------------------------------------------------------------------------------------------------ outputs -- */

int core_overlap(PyArrayObject *a, PyArrayObject *b) {
  const uintptr_t a_start = (uintptr_t)PyArray_DATA(a), a_end = a_start + (uintptr_t)PyArray_NBYTES(a);
  const uintptr_t b_start = (uintptr_t)PyArray_DATA(b), b_end = b_start + (uintptr_t)PyArray_NBYTES(b);

  return (a_start > b_start ? a_start : b_start) < (a_end < b_end ? a_end : b_end);
}

int core_check_no_overlap(const core_array *output, PyArrayObject *other, const char *name) {
  if (other == NULL || !core_overlap(output->array, other)) return 1;
  PyErr_Format(PyExc_ValueError, "%s shares memory with %s", output->name, name);
  return 0;
}

int core_prepare_output(const core_skin *self, core_array *output, PyArrayObject *matrices) {
  const int type = self->info.scalar == SBS_FLOAT32 ? NPY_FLOAT : NPY_DOUBLE;
  const int many = PyArray_NDIM(matrices) == 4;
  const npy_intp shape[3] = {PyArray_DIM(matrices, 0), (npy_intp)self->info.vertex_count, 3};
  const npy_intp *wanted = many ? shape : shape + 1;

  if (output->array == NULL) {
    output->array = (PyArrayObject *)PyArray_SimpleNew(many ? 3 : 2, wanted, type);
    return output->array != NULL;
  }
  if (PyArray_NDIM(output->array) != (many ? 3 : 2) ||
      !PyArray_CompareLists(PyArray_DIMS(output->array), wanted, many ? 3 : 2)) {
    char expected[80];
    if (many)
      PyOS_snprintf(expected, sizeof expected, "(%zd, %zd, 3)", (Py_ssize_t)shape[0], (Py_ssize_t)shape[1]);
    else
      PyOS_snprintf(expected, sizeof expected, "(%zd, 3)", (Py_ssize_t)shape[1]);
    core_raise_shape(output, expected);
    return 0;
  }
  if (PyArray_TYPE(output->array) != type) {
    PyErr_Format(PyExc_ValueError, "%s must be %s like rest_positions, not %S", output->name,
                 type == NPY_FLOAT ? "float32" : "float64", (PyObject *)PyArray_DESCR(output->array));
    return 0;
  }
  return core_check_no_overlap(output, matrices, "skinning_matrices");
}
