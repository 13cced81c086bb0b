/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "flesh/flesh.h"

sbs_flesh_desc sbs_default_flesh_desc(void) {
  return (sbs_flesh_desc){0};
}

sbs_flesh_options sbs_default_flesh_options(void) {
  return (sbs_flesh_options){
      .bending = 0.385, .hold = 0.07, .crease = 2.6, .margin = 0.42, .thinner = 2.9, .thicker = 3.8};
}

static sbs_status bind(sbs_flesh *flesh, const sbs_flesh_desc *desc) {
  sbs_arena scratch = sbs_arena_from(&flesh->allocator);
  sbs_flesh_weights weights = {0};
  sbs_status status = sbs_flesh_find_surface(flesh, desc, &weights, &scratch);
  if (!status && flesh->triangle_count) {
    status = sbs_flesh_find_limbs(flesh, desc, &weights, &scratch);
    if (!status) status = sbs_flesh_find_parts(flesh, desc, &weights, &scratch);
    if (!status && flesh->free_count) status = sbs_flesh_find_matrix(flesh, &scratch);
    if (!status && flesh->free_count) status = sbs_flesh_set_pressures(flesh);
  }
  if (!status && desc->amounts) {
    flesh->amounts = sbs_arena_take(&flesh->arena, desc->vertex_count, sizeof *flesh->amounts);
    if (flesh->amounts) memcpy(flesh->amounts, desc->amounts, desc->vertex_count * sizeof *flesh->amounts);
    if (!flesh->amounts) status = SBS_ERROR_OUT_OF_MEMORY;
  }
  sbs_arena_release(&scratch);
  return status;
}

sbs_status sbs_flesh_new(const sbs_flesh_desc *desc, const sbs_flesh_options *options, const sbs_allocator *allocator,
                         sbs_flesh **flesh, sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!flesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "flesh");
  const sbs_flesh_options chosen_options = options ? *options : sbs_default_flesh_options();
  sbs_allocator chosen;
  sbs_status status = sbs_choose_allocator(allocator, &chosen, fault);
  if (!status) status = sbs_flesh_check(desc, &chosen_options, &chosen, fault);
  if (status) return status;
  sbs_flesh *made = sbs_allocate(&chosen, 1, sizeof *made);
  if (!made) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  *made = (sbs_flesh){.allocator = chosen,
                      .options = chosen_options,
                      .isa = sbs_choose_isa(),
                      .vertex_count = desc->vertex_count,
                      .joint_count = desc->joint_count};
  made->arena = sbs_arena_from(&made->allocator);
  status = bind(made, desc);
  if (status) {
    sbs_flesh_free(made);
    return sbs_fault_in(fault, status, status == SBS_ERROR_NO_CONVERGENCE ? "rest_positions" : NULL);
  }
  *flesh = made;
  return SBS_OK;
}

void sbs_flesh_free(sbs_flesh *flesh) {
  if (!flesh) return;
  const sbs_allocator allocator = flesh->allocator;
  sbs_arena_release(&flesh->arena);
  sbs_release(&allocator, flesh);
}

size_t sbs_flesh_free_count(const sbs_flesh *flesh) {
  return flesh ? flesh->free_count : 0;
}
