/* SPDX-License-Identifier: MIT */
/* Skins with the frames, for callers that have what a skin without them takes. */
#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "pose/check.h"
#include "twist/twist.h"

/* --------------------------------------------------------------------------------------------------------- bind -- */

/* What a description has with the frames. */
typedef struct with_frames {
  int32_t *joint_indices; /* (V, 2 K) */
  double *joint_weights;  /* (V, 2 K) */
  int32_t *parents;       /* (J') */
  double *positions;      /* (J', 3) */
} with_frames;

static void release(const sbs_allocator *allocator, const with_frames *arrays) {
  sbs_release(allocator, arrays->joint_indices);
  sbs_release(allocator, arrays->joint_weights);
  sbs_release(allocator, arrays->parents);
  sbs_release(allocator, arrays->positions);
}

/* Of a description that was checked. Parents without positions would say nothing of the frames. */
static sbs_status add_frames(const sbs_twist *twist, const sbs_skin_desc *desc, const sbs_allocator *allocator,
                             with_frames *arrays, sbs_fault *fault) {
  const size_t count = sbs_twist_joint_count(twist), columns = 2 * desc->influences_per_vertex;
  if (columns / 2 != desc->influences_per_vertex || columns > SIZE_MAX / sizeof(double) / desc->vertex_count) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "influences_per_vertex", (double)desc->influences_per_vertex,
                            (double)(SIZE_MAX / sizeof(double) / desc->vertex_count / 2));
  }
  arrays->joint_indices = sbs_allocate(allocator, desc->vertex_count * columns, sizeof(int32_t));
  arrays->joint_weights = sbs_allocate(allocator, desc->vertex_count * columns, sizeof(double));
  if (desc->joint_positions) arrays->positions = sbs_allocate(allocator, count, 3 * sizeof(double));
  if (desc->joint_positions && desc->parents) arrays->parents = sbs_allocate(allocator, count, sizeof(int32_t));
  if (!arrays->joint_indices || !arrays->joint_weights || (desc->joint_positions && !arrays->positions) ||
      (desc->joint_positions && desc->parents && !arrays->parents)) {
    return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  sbs_status status =
      sbs_twist_influences(twist, desc->vertex_count, desc->scalar, desc->rest_positions, desc->rest_positions_stride,
                           desc->influences_per_vertex, desc->joint_indices, desc->weight_scalar, desc->joint_weights,
                           NULL, arrays->joint_indices, arrays->joint_weights, fault);
  if (!status && desc->joint_positions) {
    status = sbs_twist_joints(twist, desc->parents, desc->joint_positions, arrays->parents, arrays->positions, fault);
  }
  return status;
}

sbs_status sbs_twist_skin_new(const sbs_twist *twist, const sbs_skin_desc *desc, const sbs_skin_options *options,
                              sbs_skin **skin, sbs_weight_report *report, sbs_fault *fault) {
  if (!twist) return sbs_fault_in(fault, SBS_ERROR_NULL, "twist");
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (desc->joint_count != twist->joint_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "joint_count", (double)desc->joint_count,
                            (double)twist->joint_count);
  }
  const sbs_skin_options defaults = sbs_default_skin_options();
  if (!options) options = &defaults;
  sbs_weight_report repairs;
  sbs_status status = sbs_skin_check(desc, options, &repairs, fault); /* so that faults speak of what was given */
  if (status) return status;
  with_frames arrays = {0};
  status = add_frames(twist, desc, &options->allocator, &arrays, fault);
  if (!status) {
    sbs_skin_desc with = *desc;
    with.joint_count = sbs_twist_joint_count(twist);
    with.influences_per_vertex = 2 * desc->influences_per_vertex;
    with.joint_indices = arrays.joint_indices;
    with.joint_weights = arrays.joint_weights;
    with.weight_scalar = SBS_FLOAT64;
    with.parents = arrays.parents;
    with.joint_positions = arrays.positions;
    status = sbs_skin_new(&with, options, skin, NULL, fault);
  }
  release(&options->allocator, &arrays);
  if (!status && report) *report = repairs;
  return status;
}

/* ------------------------------------------------------------------------------------------------------- deform -- */

/* Bytes of the matrices of so many frames, where that does not overflow. */
static size_t matrices_size(const sbs_twist *twist, size_t frame_count) {
  return sbs_aligned(frame_count * sbs_twist_joint_count(twist) * 12 * sizeof(double));
}

size_t sbs_twist_scratch_size(const sbs_twist *twist, const sbs_skin *skin) {
  return twist && skin ? matrices_size(twist, 1) + sbs_skin_scratch_size(skin) : 0;
}

/* Takes memory for the matrices off the caller's, which the options then no longer have, or allocates. */
static sbs_status get_matrices(const sbs_twist *twist, const sbs_skin *skin, size_t frame_count,
                               sbs_deform_options *options, double **matrices, void **owned, sbs_fault *fault) {
  const size_t size = matrices_size(twist, frame_count), needed = size + sbs_skin_scratch_size(skin);
  *owned = NULL;
  if (!options->scratch) {
    *matrices = *owned = sbs_allocate(&twist->allocator, 1, size);
    return *matrices ? SBS_OK : sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  if ((uintptr_t)options->scratch % SBS_ALIGNMENT) return sbs_fault_in(fault, SBS_ERROR_SCRATCH, "scratch");
  if (options->scratch_size < needed) {
    return sbs_fault_number(fault, SBS_ERROR_SCRATCH, "scratch_size", (double)options->scratch_size, (double)needed);
  }
  *matrices = options->scratch;
  options->scratch = (char *)options->scratch + size;
  options->scratch_size -= size;
  return SBS_OK;
}

/* The matrices of all joints in all frames, which were checked. */
static sbs_status pose_all(const sbs_twist *twist, size_t frame_count, const sbs_pose *poses, const double *angles,
                           double *matrices, sbs_fault *fault) {
  const size_t size = twist->joint_count * 4 * poses->rows * sbs_scalar_size(poses->scalar);
  sbs_status status = SBS_OK;
  for (size_t f = 0; f < frame_count && !status; f++) {
    sbs_pose pose = *poses;
    pose.skinning_matrices = (const char *)poses->skinning_matrices + f * size;
    const double *told = angles ? angles + f * 2 * twist->bone_count : NULL;
    status = sbs_twist_pose(twist, &pose, told, matrices + f * 12 * sbs_twist_joint_count(twist), fault);
    /* Only of angles are there numbers at fault. */
    if (status && fault && fault->index_count) fault->index[0] += f * twist->bone_count;
  }
  return status;
}

sbs_status sbs_twist_deform(const sbs_twist *twist, const sbs_skin *skin, size_t frame_count, const sbs_pose *poses,
                            const double *angles, const sbs_deform_options *options, void *positions, void *normals,
                            sbs_deform_report *report, sbs_fault *fault) {
  if (!twist) return sbs_fault_in(fault, SBS_ERROR_NULL, "twist");
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!poses) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  const size_t count = sbs_twist_joint_count(twist);
  sbs_skin_info info;
  sbs_status status = sbs_skin_get_info(skin, &info);
  if (!status && info.joint_count != count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "skin", (double)info.joint_count, (double)count);
  }
  status = sbs_check_bounded_poses(poses, frame_count, twist->joint_count, fault);
  if (status) return status;
  const size_t most = SIZE_MAX / count / (12 * sizeof(double)) - 1;
  if (frame_count > most) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "frame_count", (double)frame_count, (double)most);
  }
  sbs_deform_options own = options ? *options : sbs_default_deform_options();
  double *matrices;
  void *owned;
  status = get_matrices(twist, skin, frame_count, &own, &matrices, &owned, fault);
  if (!status) status = pose_all(twist, frame_count, poses, angles, matrices, fault);
  if (!status) {
    const sbs_pose all = {.skinning_matrices = matrices, .scalar = SBS_FLOAT64, .rows = 3};
    status = sbs_skin_deform_many(skin, frame_count, &all, &own, positions, normals, report, fault);
  }
  sbs_release(&twist->allocator, owned);
  return status;
}
