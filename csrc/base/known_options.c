/* SPDX-License-Identifier: MIT */
#include "base/known_options.h"

#include <stddef.h>
#include <string.h>

#include "base/fault.h"

/* Each by its name, its place and its size in bytes. */
static const struct {
  const char *name;
  size_t offset, size;
} all_options[] = {
#define OPTION(name) {#name, offsetof(sbs_deform_options, name), sizeof((sbs_deform_options){0}.name)}
    OPTION(method),           OPTION(rotation),       OPTION(center),
    OPTION(damping),          OPTION(rcond),          OPTION(amount),
    OPTION(amount_scalar),    OPTION(rest_positions), OPTION(rest_positions_stride),
    OPTION(shapes),           OPTION(shape_weights),  OPTION(threads),
    OPTION(positions_stride), OPTION(normals_stride), OPTION(scratch),
    OPTION(scratch_size),
#undef OPTION
};

sbs_status sbs_refuse_options(const sbs_deform_options *options, const char *const *known, size_t count,
                              sbs_fault *fault) {
  if (options->method != SBS_METHOD_RIGID && options->method != SBS_METHOD_LINEAR &&
      options->method != SBS_METHOD_SPHERICAL && options->method != SBS_METHOD_DUAL_QUATERNION) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "method", (double)options->method, SBS_METHOD_DUAL_QUATERNION);
  }
  const sbs_deform_options defaults = sbs_default_deform_options();
  for (size_t i = 0; i < sizeof all_options / sizeof *all_options; i++) {
    const size_t at = all_options[i].offset;
    int is_known = 0;
    for (size_t k = 0; k < count; k++) is_known |= !strcmp(known[k], all_options[i].name);
    if (!is_known && memcmp((const char *)options + at, (const char *)&defaults + at, all_options[i].size)) {
      return sbs_fault_in(fault, SBS_ERROR_OPTION, all_options[i].name);
    }
  }
  return SBS_OK;
}
