/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/arguments.h"
#include "base/fault.h"
#include "base/progress.h"
#include "blending/bind.h"
#include "mesh/positions.h"
#include "weights/row.h"

sbs_blending_desc sbs_default_blending_desc(void) {
  return (sbs_blending_desc){.scalar = SBS_FLOAT32};
}

sbs_deform_options sbs_blending_deform_options(void) {
  sbs_deform_options options = sbs_default_deform_options();
  options.method = SBS_METHOD_SPHERICAL;
  options.rotation = SBS_ROTATION_AVERAGE;
  options.center = SBS_CENTER_OPTIMIZED;
  return options;
}

static int may_keep(const sbs_blending_desc *desc) {
  return desc->blended && desc->influences;
}

size_t sbs_blending_width(const sbs_blending_desc *desc) {
  if (!desc) return 0;
  const size_t given = may_keep(desc) ? desc->influences->influences_per_vertex : 0;
  return given > 2 ? given : 2;
}

static sbs_mesh_desc mesh_of(const sbs_blending_desc *desc) {
  return (sbs_mesh_desc){.vertex_count = desc->vertex_count,
                         .scalar = desc->scalar,
                         .positions = desc->rest_positions,
                         .positions_stride = desc->rest_positions_stride};
}

/* Finds the joints (J) that are blended. Joints that the caller names must have a parent and a bone. */
static sbs_status choose_joints(const sbs_blending_desc *desc, const sbs_bone *bones, unsigned char *active,
                                sbs_fault *fault) {
  for (size_t j = 0; j < desc->joint_count; j++) {
    const int is_meant = !desc->blended || desc->blended[j];
    active[j] = is_meant && bones[j].blendable;
    if (desc->blended && is_meant && !active[j]) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "blended", j, 1.0, 0.0);
    }
  }
  return SBS_OK;
}

/* Checks the zones of the blended joints; others have none. */
static sbs_status check_zones(const unsigned char *active, size_t joint_count, double *t_min, double *t_max,
                              sbs_fault *fault) {
  for (size_t j = 0; j < joint_count; j++) {
    if (active[j] && !(t_min[j] < t_max[j])) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "t_min", j, t_min[j], t_max[j]);
    }
  }
  for (size_t j = 0; j < joint_count; j++) {
    if (!active[j]) t_min[j] = t_max[j] = (double)NAN;
  }
  return SBS_OK;
}

/* Attaches vertices to joints, before joints take over from their parents. */
static sbs_status attach(const sbs_blending_desc *desc, const sbs_bone *bones, const sbs_allocator *allocator,
                         int32_t *attachment, sbs_fault *fault) {
  const sbs_mesh_desc mesh = mesh_of(desc);
  if (desc->attachment) {
    memmove(attachment, desc->attachment, desc->vertex_count * sizeof *attachment);
    return SBS_OK;
  }
  const sbs_status status = desc->influences ? sbs_attach_heaviest(desc->influences, allocator, attachment)
                                             : sbs_attach_nearest(bones, desc->joint_count, &mesh, attachment);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}

/* Finds attachments and zones; `radii` (J) is scratch. */
static sbs_status place(const sbs_blending_desc *desc, const sbs_bone *bones, const unsigned char *active,
                        const sbs_allocator *allocator, double *radii, const sbs_blending *binding, sbs_fault *fault) {
  const sbs_mesh_desc mesh = mesh_of(desc);
  sbs_status status = attach(desc, bones, allocator, binding->attachment, fault);
  if (status) return status;
  status = sbs_zones_radii(desc, bones, &mesh, binding->attachment, allocator, radii);
  if (status) return sbs_fault_in(fault, status, NULL);
  sbs_zones_ends(desc, bones, radii, binding->t_min, binding->t_max);
  status = check_zones(active, desc->joint_count, binding->t_min, binding->t_max, fault);
  if (status || desc->attachment) return status;
  status = sbs_attach_onward(bones, desc->parents, desc->joint_count, active, binding->t_min, radii, &mesh, allocator,
                             binding->attachment);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}

/* t = (t' - t_min) / (t_max - t_min), clamped to [0, 1]: Kavan & Zara 2003, section 3. Then by the profile. */
static double find_share(double along, double t_min, double t_max, sbs_blending_profile profile) {
  const double evenly = (along - t_min) / (t_max - t_min);
  const double t = evenly > 0.0 ? fmin(evenly, 1.0) : 0.0;
  return profile == SBS_BLENDING_PROFILE_SMOOTHSTEP ? t * t * (3.0 - 2.0 * t) : t;
}

/* The influences (parent, 1 - t) and (joint, t), in this order, weights of 0 included. */
static sbs_row make_pair(int32_t parent, int32_t joint, double t, sbs_row pair) {
  pair.joints[0] = parent, pair.weights[0] = 1.0 - t;
  pair.joints[1] = joint, pair.weights[1] = t;
  pair.count = 2;
  for (size_t i = 0; i < 2; i++) pair.joints[i] = pair.weights[i] > 0.0 ? pair.joints[i] : 0;
  return pair;
}

/* The influences of a vertex, with the weight of joint `giver` moved to `taker`; giver -1: none is moved. */
static sbs_row merge_weights(const sbs_influences *influences, int32_t giver, int32_t taker, sbs_row kept) {
  kept.count = 0;
  for (size_t i = 0; i < influences->count; i++) {
    if (!(influences->weights[i] > 0.0)) continue; /* underflowed beside the others */
    const int32_t joint = influences->joints[i] == giver ? taker : influences->joints[i];
    size_t at = 0;
    while (at < kept.count && kept.joints[at] != joint) at++;
    if (at == kept.count) {
      kept.joints[kept.count] = joint;
      kept.weights[kept.count++] = influences->weights[i];
    } else {
      kept.weights[at] += influences->weights[i];
    }
  }
  sbs_row_sort(&kept);
  return kept;
}

/* Binds one vertex, which is attached to a joint or to none; `row` and `room` are scratch rows. */
static void bind_vertex(const sbs_blending_desc *desc, const sbs_bone *bones, const unsigned char *active,
                        size_t vertex, sbs_vec3 point, sbs_row room, sbs_row row, const sbs_blending *binding) {
  const int32_t joint = binding->attachment[vertex];
  const int is_blended = joint >= 0 && active[joint];
  const int32_t parent = is_blended ? desc->parents[joint] : 0;
  double t = 1.0;
  if (is_blended) {
    const double along = sbs_bone_along(&bones[joint], point);
    t = find_share(along, binding->t_min[joint], binding->t_max[joint], desc->profile);
  }
  const int keeps = may_keep(desc) && !(is_blended && t > 0.0 && t < 1.0);
  binding->t[vertex] = t;
  binding->keeps[vertex] = (unsigned char)keeps;
  sbs_vec3_write(keeps || joint < 0 ? point : bones[joint].head, binding->centers + 3 * vertex);

  row.count = 0;
  if (keeps) {
    /* outside of the zone, one of the pair gets the weight of both */
    const int32_t giver = !is_blended ? -1 : t > 0.0 ? parent : joint;
    const sbs_influences influences = sbs_row_repaired(desc->influences, vertex, room);
    row = merge_weights(&influences, giver, t > 0.0 ? joint : parent, row);
  } else if (joint >= 0) {
    row = make_pair(parent, joint, t, row);
    if (may_keep(desc)) sbs_row_sort(&row);
  }
  sbs_row_write(&row, sbs_blending_width(desc), SBS_FLOAT64, vertex, binding->joint_indices, binding->joint_weights);
}

static sbs_status bind_vertices(const sbs_blending_desc *desc, const sbs_bone *bones, const unsigned char *active,
                                const sbs_allocator *allocator, const sbs_blending *binding) {
  const sbs_mesh_desc mesh = mesh_of(desc);
  const size_t width = sbs_blending_width(desc);
  sbs_arena arena = sbs_arena_from(allocator);
  sbs_row row = sbs_row_new(&arena, width), room = sbs_row_new(&arena, width);
  sbs_status status = arena.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
  for (size_t v = 0; v < desc->vertex_count && !status; v++) {
    if ((status = sbs_tell_some(v, desc->vertex_count))) break;
    bind_vertex(desc, bones, active, v, sbs_mesh_position(&mesh, v), room, row, binding);
  }
  sbs_arena_release(&arena);
  return status;
}

sbs_status sbs_blending_bind(const sbs_blending_desc *desc, const sbs_allocator *allocator, const sbs_blending *binding,
                             sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!binding) return sbs_fault_in(fault, SBS_ERROR_NULL, "binding");
  sbs_allocator chosen;
  sbs_status status = sbs_choose_allocator(allocator, &chosen, fault);
  if (!status) status = sbs_blending_validate(desc, binding, &chosen, fault);
  if (status) return status;

  sbs_arena arena = sbs_arena_from(&chosen);
  sbs_bone *bones = sbs_arena_take(&arena, desc->joint_count, sizeof *bones);
  unsigned char *active = sbs_arena_take(&arena, desc->joint_count, sizeof *active);
  double *radii = sbs_arena_take(&arena, desc->joint_count, sizeof *radii);
  status = arena.failed ? SBS_ERROR_OUT_OF_MEMORY : sbs_bones_find(desc, &chosen, bones);
  if (status) {
    sbs_fault_in(fault, status, NULL);
  } else {
    status = choose_joints(desc, bones, active, fault);
    if (!status) status = place(desc, bones, active, &chosen, radii, binding, fault);
    if (!status && (status = bind_vertices(desc, bones, active, &chosen, binding))) sbs_fault_in(fault, status, NULL);
  }
  sbs_arena_release(&arena);
  return status;
}
