/* SPDX-License-Identifier: MIT */
#include "base/fault.h"
#include "base/progress.h"
#include "weights/row.h"

sbs_status sbs_influences_tidy(const sbs_influences_table *table, int32_t *joint_indices, double *joint_weights,
                               size_t *max_influences, sbs_fault *fault) {
  if (!table) return sbs_fault_in(fault, SBS_ERROR_NULL, "table");
  if (!joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  sbs_status status = sbs_influences_validate_table(table, fault);
  if (!status) status = sbs_influences_validate_joints(table, fault);
  if (status) return status;

  const size_t width = table->influences_per_vertex;
  size_t most = 0;
  for (size_t v = 0; v < table->vertex_count; v++) {
    if ((status = sbs_tell_some(v, table->vertex_count))) return sbs_fault_in(fault, status, NULL);
    sbs_row row = {.joints = joint_indices + v * width, .weights = joint_weights + v * width};
    row.count = sbs_row_repaired(table, v, row).count;
    sbs_row_round(&row, SBS_FLOAT64); /* a share that is too small for a double is none */
    sbs_row_write(&row, width, SBS_FLOAT64, v, joint_indices, joint_weights);
    if (row.count > most) most = row.count;
  }
  if (max_influences) *max_influences = most;
  return SBS_OK;
}
