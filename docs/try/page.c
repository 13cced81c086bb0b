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
  SMOOTH_TWIST,
  SBS,
  DQS,
  OPTIMIZED,
  TWIST
};

static sbs_skin_desc desc, desc_with_twist;
static sbs_skin *skin, *skin_with_centers, *skin_with_twist, *skin_with_both;
static sbs_twist *twist;
static float *amounts; /* of smooth twist, (V) */

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
  sbs_skin_free(skin), sbs_skin_free(skin_with_centers), sbs_skin_free(skin_with_twist), sbs_skin_free(skin_with_both);
  skin = skin_with_centers = skin_with_twist = skin_with_both = NULL;
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

static sbs_status bind_with_centers(sbs_skin_desc bound, double sigma, size_t triangle_count, const int32_t *triangles,
                                    sbs_skin **out) {
  double *centers = malloc(bound.vertex_count * 3 * sizeof *centers);
  if (!centers) return SBS_ERROR_OUT_OF_MEMORY;
  sbs_centers_options options = sbs_default_centers_options();
  options.sigma = sigma;
  sbs_status status = sbs_centers_optimized(&bound, triangle_count, triangles, &options, centers, NULL, NULL);
  bound.centers = centers;
  if (status == SBS_OK) status = sbs_skin_new(&bound, NULL, out, NULL, NULL);
  free(centers);
  return status;
}

/* Finds the optimized centers that a method needs, if any, which takes longer than a frame; triangles (T, 3). */
int PAGE(find_centers)(int method, size_t triangle_count, const int32_t *triangles) {
  if (method == OPTIMIZED && !skin_with_centers) {
    double sigma = sbs_default_centers_options().sigma;
    return bind_with_centers(desc, sigma, triangle_count, triangles, &skin_with_centers);
  }
  /* Centers that need not serve twists are better with a larger sigma: docs/twist.md. */
  if (method == SMOOTH_TWIST && !skin_with_both) {
    return bind_with_centers(desc_with_twist, 1.0, triangle_count, triangles, &skin_with_both);
  }
  return SBS_OK;
}

/* The amount of a vertex by smooth twist: all along one of the limbs, 0.35 across joints (docs/twist.md). */
static float amount_at(size_t vertex, size_t limb_count, const int32_t *limbs) {
  const int32_t *joints = (const int32_t *)desc.joint_indices + vertex * desc.influences_per_vertex;
  const float *weights = (const float *)desc.joint_weights + vertex * desc.influences_per_vertex;
  float all = 0, largest = 0;
  for (size_t k = 0; k < desc.influences_per_vertex; k++) all += weights[k];
  for (size_t limb = 0; limb < limb_count; limb++) {
    float share = 0;
    for (size_t k = 0; k < desc.influences_per_vertex; k++) {
      if (joints[k] == limbs[limb]) share += weights[k];
    }
    if (share > largest) largest = share;
  }
  const float elsewhere = all > 0 ? 3 * (1 - largest / all) : 0;
  return 1 - 0.65f * (elsewhere < 1 ? elsewhere : 1);
}

/*
 * Spreads the twists of limbs along their bones, in place of those before: of the joints of the limbs relative to their
 * parents, and of their children, or -1; heads and tails (N, 3).
 */
int PAGE(spread_twists)(size_t limb_count, const int32_t *joints, const int32_t *parents, const int32_t *children,
                        const double *heads, const double *tails) {
  sbs_skin_free(skin_with_twist), sbs_skin_free(skin_with_both);
  skin_with_twist = skin_with_both = NULL;
  sbs_twist_free(twist);
  twist = NULL;
  sbs_twist_desc limbs = sbs_default_twist_desc();
  limbs.joint_count = desc.joint_count;
  limbs.bone_count = limb_count;
  limbs.joints = joints, limbs.parents = parents, limbs.children = children;
  limbs.heads = heads, limbs.tails = tails;
  sbs_status status = sbs_twist_new(&limbs, NULL, &twist, NULL);
  if (status != SBS_OK) return status;

  free(amounts);
  amounts = malloc(desc.vertex_count * sizeof *amounts);
  if (!amounts) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t v = 0; v < desc.vertex_count; v++) amounts[v] = amount_at(v, limb_count, joints);
  desc_with_twist = desc;
  desc_with_twist.twist = twist;
  return sbs_skin_new(&desc_with_twist, NULL, &skin_with_twist, NULL, NULL);
}

/* Deforms by one of the methods above: pose (J, 3, 4) to positions and normals (V, 3). */
int PAGE(deform)(int method, const double *pose, float *positions, float *normals) {
  const sbs_pose posed = {.skinning_matrices = pose, .scalar = SBS_FLOAT64, .rows = 3};
  sbs_deform_options options = sbs_default_deform_options();
  const sbs_skin *used = skin;
  switch (method) {
    case LBS: options.method = SBS_METHOD_LINEAR; break;
    case SMOOTH_TWIST:
      used = skin_with_both;
      options.center = SBS_CENTER_OPTIMIZED;
      options.amount = amounts;
      break;
    case SBS: break;
    case DQS: options.method = SBS_METHOD_DUAL_QUATERNION; break;
    case OPTIMIZED:
      used = skin_with_centers;
      options.center = SBS_CENTER_OPTIMIZED;
      break;
    case TWIST:
      used = skin_with_twist;
      options.center = SBS_CENTER_WEIGHTED;
      break;
    default: return SBS_ERROR_OPTION;
  }
  return sbs_skin_deform(used, &posed, &options, positions, normals, NULL, NULL);
}
