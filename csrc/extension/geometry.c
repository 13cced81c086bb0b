/* SPDX-License-Identifier: MIT */
#include "geometry.h"

#include <string.h>

const core_row core_mesh_rows[4] = {
    {"positions", CORE_REALS, .at = offsetof(sbs_mesh_desc, positions), "(V, 3)",
     .scalar = offsetof(sbs_mesh_desc, scalar)},
    {"triangles", CORE_INT32, .at = offsetof(sbs_mesh_desc, triangles), "(T, 3)"},
    {"V", CORE_LENGTH, .at = offsetof(sbs_mesh_desc, vertex_count)},
    {"T", CORE_LENGTH, .at = offsetof(sbs_mesh_desc, triangle_count)},
};

const core_row core_influences_rows[4] = {
    {"joint_indices", CORE_INT32, .at = offsetof(sbs_influences_table, joint_indices), "(V, K)"},
    {"joint_weights", CORE_REALS, .at = offsetof(sbs_influences_table, joint_weights), "(V, K)",
     .scalar = offsetof(sbs_influences_table, scalar)},
    {"V", CORE_LENGTH, .at = offsetof(sbs_influences_table, vertex_count)},
    {"K", CORE_LENGTH, .at = offsetof(sbs_influences_table, influences_per_vertex)},
};

int core_new_mask(void *call, const int32_t *joints, char letter, const char *name, size_t joint_count,
                  const unsigned char **mask) {
  unsigned char *made;

  if (joints == NULL) return 1;
  made = core_hold_memory(call, joint_count);
  if (made == NULL) return 0;
  *mask = memset(made, 0, joint_count);
  for (size_t i = 0; i < core_length(call, letter); i++) {
    if (joints[i] < 0 || (size_t)joints[i] >= joint_count) {
      PyErr_Format(PyExc_ValueError, "%s[%zd] = %d is out of range for %zd joints", name, (Py_ssize_t)i, (int)joints[i],
                   (Py_ssize_t)joint_count);
      return 0;
    }
    made[joints[i]] = 1;
  }
  return 1;
}

const size_t *core_new_offsets(void *call, const int32_t *ends, size_t count, const char *name, size_t least,
                               char letter, const char *nouns) {
  size_t *offsets = core_hold_memory(call, (count + 1) * sizeof *offsets);

  if (offsets == NULL) return NULL;
  offsets[0] = 0;
  for (size_t i = 0; i < count; i++) {
    if (ends[i] < 0 || (size_t)ends[i] < offsets[i] + least) {
      PyErr_Format(PyExc_ValueError, "%s[%zu] = %d: it must be at least %zu", name, i, (int)ends[i],
                   offsets[i] + least);
      return NULL;
    }
    offsets[i + 1] = (size_t)ends[i];
  }
  if (offsets[count] == core_length(call, letter)) return offsets;
  PyErr_Format(PyExc_ValueError, "%s ends at %zu, where there are %zu %s", name, offsets[count],
               core_length(call, letter), nouns);
  return NULL;
}
