/* SPDX-License-Identifier: MIT */
/* A skin with other weights at some of its vertices: bound as a new one, with the influences of others copied. */
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "skin/bind.h"
#include "skin/validate.h"
#include "skin/with_frames.h"

static sbs_status check_same_mesh(const sbs_skin *skin, const sbs_skin_desc *desc, sbs_fault *fault) {
  if (desc->vertex_count != skin->vertex_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "vertex_count", (double)desc->vertex_count,
                            (double)skin->vertex_count);
  }
  if (desc->joint_count != skin->skeleton_joint_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "joint_count", (double)desc->joint_count,
                            (double)skin->skeleton_joint_count);
  }
  if (!sbs_twist_equal(desc->twist, skin->twist)) return sbs_fault_in(fault, SBS_ERROR_OPTION, "twist");
  if (desc->scalar != skin->scalar) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)desc->scalar, (double)skin->scalar);
  }
  if (!desc->rest_normals != !skin->normals) return sbs_fault_in(fault, SBS_ERROR_OPTION, "rest_normals");
  if (!desc->centers != !skin->centers) return sbs_fault_in(fault, SBS_ERROR_OPTION, "centers");
  return sbs_validate_vectors(desc->rest_positions, desc->rest_positions_stride, desc->scalar, 0, "rest_positions",
                              "rest_positions_stride", fault);
}

static sbs_status check_vertices(const sbs_skin_desc *desc, const int32_t *vertices, size_t count, sbs_fault *fault) {
  const size_t columns = desc->influences_per_vertex;
  for (size_t i = 0; i < count; i++) {
    const int32_t vertex = vertices[i];
    if (vertex < 0 || (size_t)vertex >= desc->vertex_count) {
      return sbs_fault_row(fault, SBS_ERROR_VERTEX_INDEX, "vertices", i, vertex, (double)desc->vertex_count);
    }
    for (size_t k = 0; k < columns; k++) {
      const int32_t joint = desc->joint_indices[(size_t)vertex * columns + k];
      if (joint < 0 || (size_t)joint >= desc->joint_count) {
        return sbs_fault_at(fault, SBS_ERROR_JOINT_INDEX, "joint_indices", (size_t)vertex, k, joint,
                            (double)desc->joint_count);
      }
    }
  }
  return SBS_OK;
}

sbs_status sbs_skin_update(const sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *vertices,
                           size_t vertex_count, const sbs_skin_options *options, sbs_skin **updated,
                           sbs_weight_report *report, sbs_fault *fault) {
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!vertices && vertex_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "vertices");
  if (!updated) return sbs_fault_in(fault, SBS_ERROR_NULL, "updated");
  const sbs_skin_options defaults = sbs_default_skin_options();
  if (!options) options = &defaults;
  sbs_status status = sbs_validate_desc_form(desc, options, fault);
  if (!status) status = check_same_mesh(skin, desc, fault);
  if (!status) status = check_vertices(desc, vertices, vertex_count, fault);
  if (status) return status;

  sbs_skin *made = sbs_skin_begin(desc, &options->allocator);
  unsigned char *changed = sbs_allocate(&options->allocator, desc->vertex_count, 1);
  sbs_weight_report repairs = {0};
  sbs_desc_with_frames with = {.positions = NULL};
  const sbs_binding binding = {.desc = &with.desc, .options = options, .previous = skin, .changed = changed};
  if (!made || !changed) status = sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  if (!status) status = sbs_add_frames(desc, &options->allocator, &with, fault);
  if (!status) {
    memset(changed, 0, desc->vertex_count);
    for (size_t i = 0; i < vertex_count; i++) changed[vertices[i]] = 1;
    status = sbs_bind(made, &binding, &repairs, fault);
  }
  sbs_release_frames(&options->allocator, &with);
  sbs_release(&options->allocator, changed);
  if (status) {
    sbs_skin_free(made);
    return status;
  }
  *updated = made;
  if (report) *report = repairs;
  return SBS_OK;
}
