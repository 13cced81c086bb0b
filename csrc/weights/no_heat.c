/* SPDX-License-Identifier: MIT */
/* Weights by heat, and weights that spread as heat does, in a library that is built without LAPACK. */
#include "base/fault.h"
#include "sbs/heat.h"
#include "sbs/influences.h"

sbs_status sbs_heat_weights(const sbs_mesh_desc *mesh, const sbs_heat_bones *bones, const sbs_heat_options *options,
                            size_t influences_per_vertex, int32_t *joint_indices, double *joint_weights,
                            int32_t *island_of_vertex, sbs_heat_join *joins, sbs_heat_report *report,
                            sbs_fault *fault) {
  (void)mesh;
  (void)bones;
  (void)options;
  (void)influences_per_vertex;
  (void)joint_indices;
  (void)joint_weights;
  (void)island_of_vertex;
  (void)joins;
  (void)report;
  return sbs_fault_in(fault, SBS_ERROR_NO_LAPACK, NULL);
}

sbs_status sbs_influences_diffuse(const sbs_influences_table *table, const sbs_mesh_desc *mesh, const double *lengths,
                                  const sbs_influences_diffuse_options *options, size_t limit, int32_t *joint_indices,
                                  void *joint_weights, sbs_fault *fault) {
  (void)table;
  (void)mesh;
  (void)lengths;
  (void)options;
  (void)limit;
  (void)joint_indices;
  (void)joint_weights;
  return sbs_fault_in(fault, SBS_ERROR_NO_LAPACK, NULL);
}
