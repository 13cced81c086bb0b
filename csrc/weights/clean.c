/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/progress.h"
#include "mesh/validate.h"
#include "weights/row.h"

sbs_influences_clean_options sbs_default_influences_clean_options(void) {
  return (sbs_influences_clean_options){.normalize = 1, .allocator = sbs_default_allocator()};
}

static void clean_row(sbs_row *row, const sbs_influences_clean_options *options, sbs_scalar scalar) {
  if (options->normalize) sbs_row_normalize(row, options->locked, scalar);
  if (options->limit) sbs_row_limit(row, options->limit, options->locked);
  if (options->threshold > 0.0) sbs_row_prune(row, options->threshold, options->locked);
  if (options->normalize) sbs_row_normalize(row, options->locked, scalar);
}

static void count_row(const sbs_row *row, int changed, sbs_scalar scalar, sbs_influences_clean_report *report) {
  report->changed += changed != 0;
  if (!row->count) {
    report->unweighted++;
  } else {
    report->off_sum += !(fabs(sbs_row_sum(row) - 1.0) <= sbs_row_tolerance(row, scalar));
  }
  if (row->count > report->max_influences) report->max_influences = row->count;
}

sbs_status sbs_influences_clean(const sbs_influences_table *table, const sbs_influences_clean_options *options,
                                int32_t *joint_indices, void *joint_weights, sbs_influences_clean_report *report,
                                sbs_fault *fault) {
  if (!table) return sbs_fault_in(fault, SBS_ERROR_NULL, "table");
  if (!joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  const sbs_influences_clean_options defaults = sbs_default_influences_clean_options();
  if (!options) options = &defaults;
  sbs_allocator allocator;
  sbs_status status = sbs_choose_allocator(&options->allocator, &allocator, fault);
  if (!status && !(options->threshold >= 0.0 && options->threshold <= 1.0)) {
    status = sbs_fault_number(fault, SBS_ERROR_OPTION, "threshold", options->threshold, 1.0);
  }
  if (!status) status = sbs_influences_validate_table(table, fault);
  if (!status) status = sbs_influences_validate_joints(table, fault);
  if (status) return status;

  /* In place the old influences are overwritten, so the call cannot be cancelled halfway. */
  const int in_place = joint_indices == table->joint_indices || joint_weights == table->joint_weights;
  const size_t width = table->influences_per_vertex;
  sbs_arena arena = sbs_arena_from(&allocator);
  sbs_row row = sbs_row_new(&arena, width), before = sbs_row_new(&arena, width);
  sbs_influences_clean_report found = {0};
  if (!arena.failed) {
    for (size_t v = 0; v < table->vertex_count; v++) {
      if (!in_place && (status = sbs_tell_some(v, table->vertex_count))) break;
      sbs_row_read(table, v, &row);
      sbs_row_copy(&row, &before);
      clean_row(&row, options, table->scalar);
      sbs_row_write(&row, width, table->scalar, v, joint_indices, joint_weights);
      count_row(&row, sbs_row_differs(&row, &before), table->scalar, &found);
    }
    if (status) sbs_fault_in(fault, status, NULL);
    if (!status && report) *report = found;
  } else {
    status = sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  sbs_arena_release(&arena);
  return status;
}
