/* SPDX-License-Identifier: MIT */
#include "base/fault.h"
#include "base/progress.h"
#include "skin/bind.h"
#include "skin/validate.h"

sbs_status sbs_skin_check(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_weight_report *report,
                          sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  const sbs_skin_options defaults = sbs_default_skin_options();
  if (!options) options = &defaults;
  sbs_status status = sbs_validate_desc(desc, options, fault);
  if (status) return status;

  sbs_influences influences = sbs_influences_new(&options->allocator, desc);
  sbs_weight_report found = {0};
  if (!influences.joints || !influences.weights) status = sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  for (size_t v = 0; v < desc->vertex_count && !status; v++) {
    if ((status = sbs_tell_some(v, desc->vertex_count))) {
      sbs_fault_in(fault, status, NULL);
      break;
    }
    sbs_influences_read(desc, options->sum_tolerance, v, &influences);
    sbs_influences_count_repairs(influences.repairs, &found);
    if (influences.repairs && options->strict) status = sbs_strict_fault(desc, &influences, v, fault);
  }
  sbs_influences_free(&options->allocator, &influences);
  if (!status && report) *report = found;
  return status;
}
