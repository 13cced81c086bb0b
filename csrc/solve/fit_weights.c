/* SPDX-License-Identifier: MIT */
#include "sbs/fit.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/arguments.h"
#include "base/fault.h"
#include "base/threads.h"
#include "solve/check.h"
#include "solve/search.h"

/* Vertices of a chunk, and the time of a product, about, in nanoseconds. */
enum {
  VERTICES_CHUNK = 8,
  PRODUCT_TIME = 1
};

sbs_fit_desc sbs_default_fit_desc(void) {
  return (sbs_fit_desc){0};
}

sbs_fit_options sbs_default_fit_options(void) {
  return (sbs_fit_options){.method = SBS_METHOD_SPHERICAL,
                           .center = SBS_CENTER_WEIGHTED,
                           .damping = 1e-8,
                           .influences = 4,
                           .iterations = 30,
                           .allocator = sbs_default_allocator()};
}

static sbs_status check_options(const sbs_fit_desc *desc, const sbs_fit_options *options, sbs_fault *fault) {
  const sbs_fit_formula formula = {options->method, options->center, options->damping, NULL};
  const sbs_status status = sbs_check_formula(&formula, desc->centers != NULL, fault);
  if (status) return status;
  if (!(options->pull >= 0.0 && options->pull <= SBS_LARGEST)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "pull", options->pull, 0.0);
  }
  if (options->threads < 0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options->threads, 0.0);
  return SBS_OK;
}

/* Of each vertex, initial weights are of as many joints as may be kept, each once, and one that may be used. */
static sbs_status check_initial(const sbs_fit_desc *desc, size_t most, sbs_fault *fault) {
  const size_t width = desc->initial_influences;
  if (!desc->initial_indices) return SBS_OK;
  if (!desc->initial_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "initial_weights");
  if (!width || width > SIZE_MAX / 64 / desc->vertex_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "initial_influences", (double)width, 1.0);
  }
  for (size_t v = 0; v < desc->vertex_count; v++) {
    const int32_t *indices = desc->initial_indices + v * width;
    const double *weights = desc->initial_weights + v * width;
    size_t count = 0;
    for (size_t i = 0; i < width; i++) {
      const double weight = weights[i], joint = indices[i];
      if (!isfinite(weight)) return sbs_fault_at(fault, SBS_ERROR_NOT_FINITE, "initial_weights", v, i, weight, 0.0);
      if (weight < 0.0) return sbs_fault_at(fault, SBS_ERROR_NEGATIVE, "initial_weights", v, i, weight, 0.0);
      if (weight > SBS_LARGEST) {
        return sbs_fault_at(fault, SBS_ERROR_TOO_LARGE, "initial_weights", v, i, weight, SBS_LARGEST);
      }
      if (indices[i] < 0 || (size_t)indices[i] >= desc->joint_count) {
        return sbs_fault_at(fault, SBS_ERROR_JOINT_INDEX, "initial_indices", v, i, joint, (double)desc->joint_count);
      }
      if (weight == 0.0) continue;
      int is_refused = ++count > most;
      if (desc->allowed) is_refused |= !desc->allowed[v * desc->joint_count + (size_t)indices[i]];
      for (size_t k = 0; k < i; k++) is_refused |= weights[k] > 0.0 && indices[k] == indices[i];
      if (is_refused) return sbs_fault_at(fault, SBS_ERROR_OPTION, "initial_indices", v, i, joint, (double)most);
    }
  }
  return SBS_OK;
}

sbs_status sbs_fit_check(const sbs_fit_desc *desc, const sbs_fit_options *given, sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  const sbs_fit_options options = given ? *given : sbs_default_fit_options();
  sbs_status status = check_options(desc, &options, fault);
  if (!status) status = sbs_check_fit(desc, fault);
  if (!status) status = sbs_check_fit_width(desc, options.influences, fault);
  return status ? status : check_initial(desc, options.influences, fault);
}

sbs_status sbs_fit_weights(const sbs_fit_desc *desc, const sbs_fit_options *given, int32_t *joint_indices,
                           double *joint_weights, double *errors, sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  sbs_fit_options options = given ? *given : sbs_default_fit_options();
  sbs_status status = sbs_choose_allocator(&options.allocator, &options.allocator, fault);
  if (!status) status = sbs_fit_check(desc, &options, fault);
  if (status) return status;

  const size_t all = desc->vertex_count * options.influences;
  const size_t joints = desc->joint_count;
  sbs_arena arena = sbs_arena_from(&options.allocator);
  sbs_fit fit = {.desc = desc,
                 .options = &options,
                 .joint_indices = sbs_arena_take(&arena, all, sizeof *joint_indices),
                 .joint_weights = sbs_arena_take(&arena, all, sizeof *joint_weights),
                 .errors = sbs_arena_take(&arena, desc->vertex_count, sizeof *errors),
                 .pull = desc->toward ? options.pull * (double)desc->frame_count : 0.0,
                 .most = sbs_fit_most(joints, options.influences)};
  fit.work_size = sbs_fit_work_size(&fit);
  const double frames = (double)desc->frame_count;
  const double products = frames * ((double)joints * (double)joints + 100.0 * (double)fit.most * (double)fit.most);
  const int threads = sbs_choose_threads(options.threads, (double)desc->vertex_count * products * PRODUCT_TIME);
  fit.work = fit.work_size ? sbs_arena_take(&arena, (size_t)threads, fit.work_size) : NULL;
  status = fit.work ? sbs_frame_joints_new(desc, threads, &arena, &fit.joints) : SBS_ERROR_OUT_OF_MEMORY;
  if (!status) status = sbs_share_work(threads, desc->vertex_count, VERTICES_CHUNK, sbs_fit_vertices, &fit);
  if (!status) {
    memcpy(joint_indices, fit.joint_indices, all * sizeof *joint_indices);
    memcpy(joint_weights, fit.joint_weights, all * sizeof *joint_weights);
    if (errors) memcpy(errors, fit.errors, desc->vertex_count * sizeof *errors);
  }
  sbs_arena_release(&arena);
  return sbs_end_fit(status, fault);
}
