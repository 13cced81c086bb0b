/* SPDX-License-Identifier: MIT */
#include "influences.h"

sbs_influences_table core_influences_of(PyArrayObject *joint_indices, PyArrayObject *joint_weights,
                                        size_t joint_count) {
  return (sbs_influences_table){
      .vertex_count = (size_t)PyArray_DIM(joint_indices, 0),
      .joint_count = joint_count,
      .influences_per_vertex = (size_t)PyArray_DIM(joint_indices, 1),
      .joint_indices = PyArray_DATA(joint_indices),
      .scalar = core_scalar(joint_weights),
      .joint_weights = PyArray_DATA(joint_weights),
  };
}

int core_new_mask(void *call, PyArrayObject *joints, const char *name, size_t joint_count, const unsigned char **mask) {
  const npy_int32 *joint = core_data(joints);
  const npy_intp count = joints != NULL ? PyArray_DIM(joints, 0) : 0, length = (npy_intp)joint_count;
  unsigned char *made;
  PyObject *array;

  *mask = NULL;
  if (joints == NULL) return 1;
  array = PyArray_ZEROS(1, &length, NPY_BOOL, 0);
  if (!core_hold(call, array)) return 0;
  *mask = made = PyArray_DATA((PyArrayObject *)array);
  for (npy_intp i = 0; i < count; i++) {
    if (joint[i] < 0 || (size_t)joint[i] >= joint_count) {
      PyErr_Format(PyExc_ValueError, "%s[%zd] = %d is out of range for %zd joints", name, (Py_ssize_t)i, (int)joint[i],
                   (Py_ssize_t)joint_count);
      return 0;
    }
    made[joint[i]] = 1;
  }
  return 1;
}
