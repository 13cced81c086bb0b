/* SPDX-License-Identifier: MIT */
/*
 * What the site's first page calls of libsbs, for one character at a time: functions of numbers and arrays, so that
 * JavaScript need not know the layout of structures. tools/wasm_page.py builds it. Every function that can fail returns
 * a sbs_status.
 */
#include <sbs/centers.h>
#include <sbs/sbs.h>
#include <sbs/twist.h>
#include <stdlib.h>

#define PAGE(name) __attribute__((export_name(#name))) name

/* How vertices are deformed, by the numbers of the page's buttons. */
enum {
  LBS,
  SBS,
  DQS,
  OPTIMIZED,
  TWIST
};

static sbs_skin_desc desc;
static sbs_skin *skin, *skin_with_centers, *twisted_skin;
static sbs_twist *twist;
static double *matrices; /* of the twisted skin */

void *PAGE(allocate)(size_t size) {
  return malloc(size);
}

void PAGE(release)(void *memory) {
  free(memory);
}

const char *PAGE(status_string)(int status) {
  return sbs_status_string((sbs_status)status);
}

const char *PAGE(instruction_set)(void) {
  return sbs_get_build_info().instruction_set;
}

static void forget_twist(void) {
  sbs_skin_free(twisted_skin), sbs_twist_free(twist), free(matrices);
  twisted_skin = NULL, twist = NULL, matrices = NULL;
}

/*
 * Takes a character in place of the one before. All arrays have to stay: positions (V, 3), normals (V, 3), joints
 * (V, K), weights (V, K), parents (J), joint_positions (J, 3).
 */
int PAGE(bind)(size_t vertex_count, size_t influences_per_vertex, size_t joint_count, const float *positions,
               const float *normals, const int32_t *joints, const float *weights, const int32_t *parents,
               const double *joint_positions) {
  forget_twist();
  sbs_skin_free(skin), sbs_skin_free(skin_with_centers);
  skin = skin_with_centers = NULL;
  desc = sbs_default_skin_desc();
  desc.vertex_count = vertex_count;
  desc.influences_per_vertex = influences_per_vertex;
  desc.joint_count = joint_count;
  desc.rest_positions = positions;
  desc.rest_normals = normals;
  desc.joint_indices = joints;
  desc.joint_weights = weights;
  desc.parents = parents;
  desc.joint_positions = joint_positions;
  return sbs_skin_new(&desc, NULL, &skin, NULL, NULL);
}

/* Finds the optimized centers, which takes longer than a frame; triangles (T, 3). */
int PAGE(find_centers)(size_t triangle_count, const int32_t *triangles) {
  if (skin_with_centers) return SBS_OK;
  double *centers = malloc(desc.vertex_count * 3 * sizeof *centers);
  if (!centers) return SBS_ERROR_OUT_OF_MEMORY;
  sbs_status status = sbs_centers_optimized(&desc, triangle_count, triangles, NULL, centers, NULL, NULL);
  sbs_skin_desc with_centers = desc;
  with_centers.centers = centers;
  if (status == SBS_OK) status = sbs_skin_new(&with_centers, NULL, &skin_with_centers, NULL, NULL);
  free(centers);
  return status;
}

/* Spreads the twist of a joint, relative to its parent, and that of the child along its bone. */
int PAGE(twist_along)(int32_t joint, int32_t parent, int32_t child, const double *head, const double *tail) {
  forget_twist();
  sbs_twist_desc bone = sbs_default_twist_desc();
  bone.joint_count = desc.joint_count;
  bone.bone_count = 1;
  bone.joints = &joint, bone.parents = &parent, bone.children = &child;
  bone.heads = head, bone.tails = tail;
  sbs_status status = sbs_twist_new(&bone, NULL, &twist, NULL);
  if (status != SBS_OK) return status;

  const size_t joint_count = sbs_twist_joint_count(twist), influences = 2 * desc.influences_per_vertex;
  int32_t *parents = malloc(joint_count * sizeof *parents);
  int32_t *joints = malloc(desc.vertex_count * influences * sizeof *joints);
  double *weights = malloc(desc.vertex_count * influences * sizeof *weights);
  double *joint_positions = malloc(joint_count * 3 * sizeof *joint_positions);
  matrices = malloc(joint_count * 12 * sizeof *matrices);
  if (!parents || !joints || !weights || !joint_positions || !matrices) status = SBS_ERROR_OUT_OF_MEMORY;
  if (status == SBS_OK) {
    status = sbs_twist_joints(twist, desc.parents, desc.joint_positions, parents, joint_positions, NULL);
  }
  if (status == SBS_OK) {
    status =
        sbs_twist_influences(twist, desc.vertex_count, desc.scalar, desc.rest_positions, 0, desc.influences_per_vertex,
                             desc.joint_indices, desc.weight_scalar, desc.joint_weights, NULL, joints, weights, NULL);
  }
  if (status == SBS_OK) {
    sbs_skin_desc twisted = desc;
    twisted.joint_count = joint_count;
    twisted.influences_per_vertex = influences;
    twisted.joint_indices = joints;
    twisted.joint_weights = weights, twisted.weight_scalar = SBS_FLOAT64;
    twisted.parents = parents, twisted.joint_positions = joint_positions;
    status = sbs_skin_new(&twisted, NULL, &twisted_skin, NULL, NULL);
  }
  free(parents), free(joints), free(weights), free(joint_positions);
  if (status != SBS_OK) forget_twist();
  return status;
}

/* Deforms by one of the methods above: pose (J, 3, 4) to positions and normals (V, 3). */
int PAGE(deform)(int method, const double *pose, float *positions, float *normals) {
  sbs_pose posed = {.skinning_matrices = pose, .scalar = SBS_FLOAT64, .rows = 3};
  sbs_deform_options options = sbs_default_deform_options();
  const sbs_skin *used = skin;
  switch (method) {
    case LBS: options.method = SBS_METHOD_LINEAR; break;
    case SBS: break;
    case DQS: options.method = SBS_METHOD_DUAL_QUATERNION; break;
    case OPTIMIZED:
      used = skin_with_centers;
      options.center = SBS_CENTER_OPTIMIZED;
      break;
    case TWIST: {
      if (!twisted_skin) return SBS_ERROR_OPTION;
      used = twisted_skin;
      options.center = SBS_CENTER_WEIGHTED;
      const sbs_status status = sbs_twist_pose(twist, &posed, NULL, matrices, NULL);
      if (status != SBS_OK) return status;
      posed.skinning_matrices = matrices;
      break;
    }
    default: return SBS_ERROR_OPTION;
  }
  return sbs_skin_deform(used, &posed, &options, positions, normals, NULL, NULL);
}
