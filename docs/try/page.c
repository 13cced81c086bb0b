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
static sbs_skin *skin, *skin_with_centers, *skin_with_twist;

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

/*
 * Takes a character in place of the one before. All arrays have to stay: positions (V, 3), normals (V, 3), joints
 * (V, K), weights (V, K), parents (J), joint_positions (J, 3).
 */
int PAGE(bind)(size_t vertex_count, size_t influences_per_vertex, size_t joint_count, const float *positions,
               const float *normals, const int32_t *joints, const float *weights, const int32_t *parents,
               const double *joint_positions) {
  sbs_skin_free(skin), sbs_skin_free(skin_with_centers), sbs_skin_free(skin_with_twist);
  skin = skin_with_centers = skin_with_twist = NULL;
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
  sbs_skin_free(skin_with_twist);
  skin_with_twist = NULL;
  sbs_twist *twist = NULL;
  sbs_twist_desc bone = sbs_default_twist_desc();
  bone.joint_count = desc.joint_count;
  bone.bone_count = 1;
  bone.joints = &joint, bone.parents = &parent, bone.children = &child;
  bone.heads = head, bone.tails = tail;
  sbs_status status = sbs_twist_new(&bone, NULL, &twist, NULL);
  if (status != SBS_OK) return status;

  sbs_skin_desc with_twist = desc;
  with_twist.twist = twist;
  status = sbs_skin_new(&with_twist, NULL, &skin_with_twist, NULL, NULL);
  sbs_twist_free(twist);
  return status;
}

/* Deforms by one of the methods above: pose (J, 3, 4) to positions and normals (V, 3). */
int PAGE(deform)(int method, const double *pose, float *positions, float *normals) {
  const sbs_pose posed = {.skinning_matrices = pose, .scalar = SBS_FLOAT64, .rows = 3};
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
    case TWIST:
      if (!skin_with_twist) return SBS_ERROR_OPTION;
      used = skin_with_twist;
      options.center = SBS_CENTER_WEIGHTED;
      break;
    default: return SBS_ERROR_OPTION;
  }
  return sbs_skin_deform(used, &posed, &options, positions, normals, NULL, NULL);
}
