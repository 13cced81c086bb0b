/* SPDX-License-Identifier: MIT */
#include "skin/find_sets.h"

#include "base/fault.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "skin/influences.h"

sbs_status sbs_find_sets(sbs_joint_sets *table, const sbs_skin_desc *desc, const sbs_skin_options *options,
                         const int32_t *vertices, size_t count, int32_t *sets, int32_t *heaviest,
                         unsigned char *repairs) {
  sbs_influences influences = sbs_influences_new(&options->allocator, desc);
  sbs_status status = influences.joints && influences.weights ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < count && !status; i++) {
    if ((status = sbs_tell_some(i, count))) break;
    const size_t vertex = vertices ? (size_t)vertices[i] : i;
    sbs_influences_read(desc, options->sum_tolerance, vertex, &influences);
    repairs[vertex] = (unsigned char)influences.repairs;
    heaviest[vertex] = (int32_t)influences.heaviest;
    status = sbs_joint_sets_find(table, influences.joints, influences.count, sets + vertex);
  }
  sbs_influences_free(&options->allocator, &influences);
  return status;
}

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

sbs_status sbs_check_strict(const sbs_skin_desc *desc, const sbs_skin_options *options, const unsigned char *repairs,
                            sbs_fault *fault) {
  size_t vertex = 0;
  while (vertex < desc->vertex_count && !repairs[vertex]) vertex++;
  if (vertex == desc->vertex_count) return SBS_OK;

  sbs_influences influences = sbs_influences_new(&options->allocator, desc);
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  if (influences.joints && influences.weights) {
    sbs_influences_read(desc, options->sum_tolerance, vertex, &influences);
    status = sbs_strict_fault(desc, &influences, vertex, fault);
  } else {
    sbs_fault_in(fault, status, NULL);
  }
  sbs_influences_free(&options->allocator, &influences);
  return status;
}
