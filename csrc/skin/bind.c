/* SPDX-License-Identifier: MIT */
/* A skin is made of a mesh and its weights. skin/update.c gives it other weights. */
#include "skin/bind.h"

#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "skin/blocks.h"
#include "skin/sets.h"
#include "skin/signs.h"
#include "skin/validate.h"
#include "skin/with_frames.h"

sbs_skin_desc sbs_default_skin_desc(void) {
  return (sbs_skin_desc){.scalar = SBS_FLOAT32, .weight_scalar = SBS_FLOAT32};
}

sbs_skin_options sbs_default_skin_options(void) {
  return (sbs_skin_options){.strict = 0, .sum_tolerance = 1e-3, .allocator = sbs_default_allocator()};
}

/* --------------------------------------------------------------------------------------------------------- bind -- */

sbs_status sbs_strict_fault(const sbs_skin_desc *desc, const sbs_influences *influences, size_t vertex,
                            sbs_fault *fault) {
  /* one number is to blame for these, the vertex as a whole for the others */
  const unsigned single = SBS_WEIGHT_NAN | SBS_WEIGHT_INFINITE | SBS_WEIGHT_NEGATIVE;
  if (influences->repairs & single) {
    const size_t index = vertex * desc->influences_per_vertex + influences->fault;
    const double weight = sbs_scalar_get(desc->joint_weights, desc->weight_scalar, index);
    return sbs_fault_at(fault, SBS_ERROR_WEIGHT, "joint_weights", vertex, influences->fault, weight, 0.0);
  }
  return sbs_fault_row(fault, SBS_ERROR_WEIGHT, "joint_weights", vertex, 0.0, 0.0);
}

/* The fault of the first vertex that was repaired. */
static sbs_status check_strict(const sbs_skin *skin, const sbs_binding *binding, sbs_fault *fault) {
  size_t vertex = 0;
  while (vertex < skin->vertex_count && !skin->repairs[vertex]) vertex++;
  if (vertex == skin->vertex_count) return SBS_OK;
  sbs_influences influences = sbs_influences_new(&skin->allocator, binding->desc);
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  if (influences.joints && influences.weights) {
    sbs_influences_read(binding->desc, binding->options->sum_tolerance, vertex, &influences);
    status = sbs_strict_fault(binding->desc, &influences, vertex, fault);
  } else {
    sbs_fault_in(fault, status, NULL);
  }
  sbs_influences_free(&skin->allocator, &influences);
  return status;
}

static sbs_status copy_joint_positions(sbs_skin *skin, const double *joint_positions) {
  if (!joint_positions) return SBS_OK;
  skin->joint_positions = sbs_skin_allocate(skin, skin->joint_count, 3 * sizeof(double));
  if (!skin->joint_positions) return SBS_ERROR_OUT_OF_MEMORY;
  memcpy(skin->joint_positions, joint_positions, skin->joint_count * 3 * sizeof(double));
  return SBS_OK;
}

sbs_status sbs_bind(sbs_skin *skin, const sbs_binding *binding, sbs_weight_report *report, sbs_fault *fault) {
  const sbs_skin_desc *desc = binding->desc;
  sbs_status status = sbs_find_sets(skin, binding);
  if (status) return sbs_fault_in(fault, status, NULL);
  if (binding->options->strict) status = check_strict(skin, binding, fault);
  if (status) return status;
  sbs_skin_count_repairs(skin, report);
  if ((status = sbs_arrange_sets(skin, desc->parents)) || (status = sbs_measure_sets(skin, desc)) ||
      (status = sbs_arrange_influences(skin, binding)) || (status = sbs_pack_positions(skin, desc)) ||
      (status = sbs_pack_normals(skin, desc)) || (status = sbs_pack_centers(skin, desc)) ||
      (status = copy_joint_positions(skin, desc->joint_positions)) || (status = sbs_find_signs(skin))) {
    sbs_fault_in(fault, status, NULL);
  }
  return status;
}

sbs_status sbs_skin_new(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_skin **skin,
                        sbs_weight_report *report, sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  const sbs_skin_options defaults = sbs_default_skin_options();
  if (!options) options = &defaults;
  sbs_status status = sbs_validate_desc(desc, options, fault);
  if (status) return status;

  sbs_skin *made = sbs_skin_begin(desc, &options->allocator);
  if (!made) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  sbs_weight_report repairs = {0};
  sbs_desc_with_frames with;
  const sbs_binding binding = {.desc = &with.desc, .options = options};
  status = sbs_add_frames(desc, &options->allocator, &with, fault);
  if (!status) status = sbs_bind(made, &binding, &repairs, fault);
  sbs_release_frames(&options->allocator, &with);
  if (status) {
    sbs_skin_free(made);
    return status;
  }
  *skin = made;
  if (report) *report = repairs;
  return SBS_OK;
}
