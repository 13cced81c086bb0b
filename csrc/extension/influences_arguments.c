/* SPDX-License-Identifier: MIT */
#include "influences_arguments.h"

core_influences core_default_influences(void) {
  return (core_influences){
      .joint_indices = {.name = "joint_indices", .shape = "(V, K)", .dimensions = 2},
      .joint_weights = {.name = "joint_weights", .shape = "(V, K)", .dimensions = 2},
      .locked = {.name = "locked", .shape = "(L,)", .dimensions = 1, .optional = 1},
      .joint_count = {.name = "joint_count", .largest = NPY_MAX_INT32},
  };
}

void core_release_influences(core_influences *influences) {
  core_release(&influences->joint_indices);
  core_release(&influences->joint_weights);
  core_release(&influences->locked);
  PyMem_Free(influences->mask);
  influences->mask = NULL;
}

static npy_int32 largest_of(PyArrayObject *array) {
  const npy_int32 *joint = PyArray_DATA(array);
  const npy_intp size = PyArray_SIZE(array);
  npy_int32 largest = 0;

  for (npy_intp i = 0; i < size; i++) largest = joint[i] > largest ? joint[i] : largest;
  return largest;
}

int core_new_mask(const core_array *locked, size_t joint_count, unsigned char **mask) {
  *mask = NULL;
  if (locked->array == NULL) return 1;
  const npy_int32 *joints = PyArray_DATA(locked->array);
  const npy_intp count = PyArray_DIM(locked->array, 0);
  unsigned char *made = PyMem_Calloc(joint_count, 1);

  if (made == NULL) {
    PyErr_NoMemory();
    return 0;
  }
  for (npy_intp i = 0; i < count; i++) {
    if (joints[i] < 0 || (size_t)joints[i] >= joint_count) {
      PyErr_Format(PyExc_ValueError, "%s[%zd] = %d is out of range for %zd joints", locked->name, (Py_ssize_t)i,
                   (int)joints[i], (Py_ssize_t)joint_count);
      PyMem_Free(made);
      return 0;
    }
    made[joints[i]] = 1;
  }
  *mask = made;
  return 1;
}

int core_describe_influences(core_influences *influences, sbs_influences_table *table) {
  const core_array *indices = &influences->joint_indices, *weights = &influences->joint_weights;

  if (!core_check_agreement(indices, weights, 0) || !core_check_agreement(indices, weights, 1)) return 0;
  if (influences->joint_count.value == 0) {
    const npy_int32 joint = largest_of(indices->array);
    const npy_int32 locked = influences->locked.array != NULL ? largest_of(influences->locked.array) : 0;
    influences->joint_count.value = (Py_ssize_t)(joint > locked ? joint : locked) + 1;
  }
  if (!core_new_mask(&influences->locked, (size_t)influences->joint_count.value, &influences->mask)) return 0;
  *table = (sbs_influences_table){
      .vertex_count = (size_t)PyArray_DIM(indices->array, 0),
      .joint_count = (size_t)influences->joint_count.value,
      .influences_per_vertex = (size_t)PyArray_DIM(indices->array, 1),
      .joint_indices = PyArray_DATA(indices->array),
      .scalar = PyArray_TYPE(weights->array) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64,
      .joint_weights = PyArray_DATA(weights->array),
  };
  return 1;
}
