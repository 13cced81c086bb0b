/* SPDX-License-Identifier: MIT */
/* A pose, from matrices to joints, signs and centers of joint sets. */
#include "pose/posed.h"

#include <math.h>

#include "base/scalar.h"
#include "base/threads.h"
#include "pose/batches.h"
#include "pose/center.h"
#include "pose/twist.h"

/* The least work that is worth another thread. Joints and sets are prepared several at once, by vectors. */
enum {
  JOINTS_CHUNK = 64,
  STRETCHES_CHUNK = 8,
  SETS_CHUNK = 64
};

void sbs_place_posed(sbs_posed *posed, const sbs_skin *skin, sbs_arena *arena) {
  posed->matrices = sbs_arena_take(arena, skin->twist ? skin->joint_count : 0, 12 * sizeof *posed->matrices);
  posed->joints = sbs_arena_take(arena, skin->joint_count, sizeof *posed->joints);
  posed->kinds = sbs_arena_take(arena, skin->joint_count, sizeof *posed->kinds);
  posed->stretches = sbs_arena_take(arena, skin->joint_count, sizeof *posed->stretches);
  posed->places = sbs_arena_take(arena, skin->joint_count, sizeof *posed->places);
  posed->signs = sbs_arena_take(arena, skin->joint_count, sizeof *posed->signs);
  posed->references = sbs_arena_take(arena, skin->set_count, sizeof *posed->references);
  posed->centers = sbs_arena_take(arena, skin->set_count, sizeof *posed->centers);
  posed->by_svd = sbs_arena_take(arena, skin->set_count, sizeof *posed->by_svd);
  posed->center_work = sbs_arena_take(arena, sbs_center_work_size(skin->max_influences), sizeof(double));
}

/* ------------------------------------------------------------------------------------------------------- joints -- */

static sbs_status prepare_joints(void *context, sbs_share share, int worker) {
  const sbs_posed *posed = context;
  (void)worker;
  const sbs_joints_args args = {
      .matrices = posed->pose.skinning_matrices,
      .scalar = posed->pose.scalar,
      .rows = posed->pose.rows,
      .normal_tolerance = 2.0 * sbs_scalar_epsilon(posed->skin->scalar),
      .joints = posed->joints,
      .kinds = posed->kinds,
  };
  sbs_choose_joints_batch(posed->skin->isa)(&args, share.begin, share.end);
  return SBS_OK;
}

static sbs_status take_joints_apart(void *context, sbs_share share, int worker) {
  const sbs_posed *posed = context;
  sbs_status status = SBS_OK;
  (void)worker;
  for (size_t j = share.begin; j < share.end && !status; j++) {
    status = sbs_decompose_joint(posed->joints + j, posed->kinds[j], posed->stretches + j);
  }
  return status;
}

/* The frames of a twist come after the joints of the skeleton. */
static sbs_status pose_twist(sbs_posed *posed) {
  const sbs_twist *twist = posed->skin->twist;
  if (!twist) return SBS_OK;
  const sbs_status status = sbs_twist_pose_joints(twist, &posed->pose, posed->pose.twist_angles, posed->matrices);
  posed->pose = (sbs_pose){.skinning_matrices = posed->matrices, .scalar = SBS_FLOAT64, .rows = 3};
  return status;
}

/*
 * Numbers beyond this times each other are beyond the type, with some products of two to spare; vertices
 * with such numbers are computed in double.
 */
static double largest_number(sbs_scalar scalar) {
  return scalar == SBS_FLOAT32 ? 1e15 : 1e75;
}

static int is_extreme(const sbs_posed *posed) {
  const double most = largest_number(posed->skin->scalar);
  sbs_vec4_mask beyond = {0};
  for (size_t j = 0; j < posed->skin->joint_count; j++) {
    const sbs_joint *joint = posed->joints + j;
    for (int k = 0; k < 3; k++) beyond |= (joint->given[k] > most) | (joint->given[k] < -most);
    beyond |= (joint->translation > most) | (joint->translation < -most);
  }
  return posed->skin->largest > most || beyond[0] || beyond[1] || beyond[2];
}

/* The number that scales all joints, A = scale R, or 0. */
static double find_scale(const sbs_posed *posed) {
  const double scale = posed->stretches[posed->skin->main_joint].stretch[0][0];
  const double most = SBS_RIGID_TOLERANCE * scale;
  if (!(scale > 0.0)) return 0.0;
  for (size_t j = 0; j < posed->skin->joint_count; j++) {
    const sbs_vec4 *stretch = posed->stretches[j].stretch;
    double defect = 0.0;
    for (int i = 0; i < 9; i++) {
      const double d = stretch[i / 3][i % 3] - (i % 4 ? 0.0 : scale);
      defect += d * d;
    }
    if (!(defect <= most * most)) return 0.0;
  }
  return scale;
}

static sbs_status pose_joints(sbs_posed *posed, int threads) {
  const sbs_skin *skin = posed->skin;
  unsigned kinds = 0;
  sbs_status status = sbs_share_work(threads, skin->joint_count, JOINTS_CHUNK, prepare_joints, posed);
  for (size_t j = 0; j < skin->joint_count && !status; j++) {
    kinds |= posed->kinds[j];
    posed->nonrigid_joints += (posed->kinds[j] & SBS_JOINT_NONRIGID) != 0;
  }
  posed->has_skewed = (kinds & SBS_JOINT_SKEWED) != 0;
  posed->is_taken_apart = (posed->nonrigid_joints && posed->request.rotations) ||
                          (posed->has_skewed && posed->request.normals && !posed->request.rotations);
  if (!status && posed->is_taken_apart) {
    status = sbs_share_work(threads, skin->joint_count, STRETCHES_CHUNK, take_joints_apart, posed);
  }
  posed->is_extreme = !status && is_extreme(posed);
  posed->scale = 1.0;
  posed->is_scaled_alike = !posed->nonrigid_joints;
  if (!status && posed->nonrigid_joints && posed->request.rotations) {
    const double scale = find_scale(posed);
    posed->is_scaled_alike = scale > 0.0;
    if (posed->is_scaled_alike) posed->scale = scale;
  }
  return status;
}

/* Where the joints take the origin; the main one's place is the anchor. */
static void find_places(sbs_posed *posed) {
  const sbs_skin *skin = posed->skin;
  const sbs_vec4 origin = sbs_vec4_read(skin->origin);
  for (size_t j = 0; j < skin->joint_count; j++) {
    const sbs_joint *joint = posed->joints + j;
    posed->places[j] =
        sbs_vec4_apply(posed->request.rotations ? joint->moving : joint->given, origin) + joint->translation;
  }
  posed->anchor = posed->places[skin->main_joint];
  if (skin->scalar == SBS_FLOAT32) { /* number by number gcc 12 would leave two of them as they are */
    typedef float four __attribute__((vector_size(16)));
    posed->anchor = __builtin_convertvector(__builtin_convertvector(posed->anchor, four), sbs_vec4);
  }
  for (size_t j = 0; j < skin->joint_count; j++) posed->places[j] -= posed->anchor;
}

/* Normals that are shorter than others by more than this may have squares that float32 does not hold. */
#define MOST_OF_NORMALS 1e12

/* R S^-1 makes a normal shorter by no more than S makes a point's arm longer. */
static void find_normal_scale(sbs_posed *posed) {
  double largest = 0.0, stretch = 0.0;
  for (size_t j = 0; j < posed->skin->joint_count; j++) {
    const sbs_stretch *of_joint = posed->stretches + j;
    for (int i = 0; i < 9; i++) {
      largest = fmax(largest, fabs(of_joint->normal[i / 3][i % 3]));
      stretch = fmax(stretch, fabs(of_joint->stretch[i / 3][i % 3]));
    }
  }
  posed->normal_scale = largest > 0.0 ? 1.0 / largest : 1.0;
  posed->is_extreme |= largest * stretch > MOST_OF_NORMALS;
}

/* -------------------------------------------------------------------------------------------------------- signs -- */

static double pair_cosine(const sbs_posed *posed, sbs_joint_pair pair) {
  return sbs_vec4_dot(posed->joints[pair.a].quaternion, posed->joints[pair.b].quaternion);
}

/* Kavan & Zara 2005, section 4.2: along the trees of pairs, each quaternion into the hemisphere of the one before. */
static void choose_signs(sbs_posed *posed) {
  const sbs_signs *signs = &posed->skin->signs;
  for (size_t j = 0; j < posed->skin->joint_count; j++) posed->signs[j] = 1.0;
  for (size_t i = 0; i < signs->tree_count; i++) {
    const sbs_joint_pair pair = signs->pairs[i];
    const double sign = posed->signs[pair.a];
    posed->signs[pair.b] = pair_cosine(posed, pair) < 0.0 ? -sign : sign;
  }
  for (size_t i = signs->tree_count; i < signs->pair_count && !posed->has_unlike_signs; i++) {
    const sbs_joint_pair pair = signs->pairs[i];
    posed->has_unlike_signs = posed->signs[pair.a] * posed->signs[pair.b] * pair_cosine(posed, pair) < 0.0;
  }
}

int sbs_set_has_unlike_signs(const sbs_posed *posed, size_t set) {
  const sbs_skin *skin = posed->skin;
  for (size_t i = skin->set_offsets[set]; i < skin->set_offsets[set + 1]; i++) {
    const sbs_vec4 q = sbs_posed_quaternion(posed, (size_t)skin->set_joints[i]);
    for (size_t k = skin->set_offsets[set]; k < i; k++) {
      if (sbs_vec4_dot(q, sbs_posed_quaternion(posed, (size_t)skin->set_joints[k])) < 0.0) return 1;
    }
  }
  return 0;
}

/* ------------------------------------------------------------------------------------------------------ centers -- */

static sbs_centers_args describe_centers(const sbs_posed *posed) {
  return (sbs_centers_args){
      .skin = posed->skin,
      .order = posed->request.sets,
      .joints = posed->joints,
      .kinds = posed->kinds,
      .stretches = posed->is_taken_apart ? posed->stretches : NULL,
      .damping = posed->request.damping,
      .epsilon = sbs_scalar_epsilon(posed->pose.scalar),
      .solves_all = posed->request.solves_all,
      .all_by_svd = posed->request.rcond > 0.0,
      .references = posed->references,
      .centers = posed->centers,
      .by_svd = posed->by_svd,
  };
}

static sbs_status find_some_centers(void *context, sbs_share share, int worker) {
  sbs_posed *posed = context;
  const sbs_centers_args args = describe_centers(posed);
  (void)worker;
  const sbs_centers_count count = sbs_choose_centers_batch(posed->skin->isa)(&args, share.begin, share.end);
  atomic_fetch_add(&posed->solves, count.solved);
  atomic_fetch_add(&posed->svd_centers, count.by_svd);
  return SBS_OK;
}

/* One after the other: few sets in few poses need it. */
static sbs_status find_svd_centers(sbs_posed *posed) {
  const sbs_centers_args args = describe_centers(posed);
  for (size_t i = 0; i < posed->request.set_count; i++) {
    const size_t set = (size_t)posed->request.sets[i];
    if (!posed->by_svd[set]) continue;
    const sbs_status status =
        sbs_solve_center(&args, set, posed->request.rcond, posed->center_work, posed->centers + set);
    if (status) return status;
  }
  return SBS_OK;
}

static sbs_status find_centers(sbs_posed *posed, int threads) {
  sbs_status status = sbs_share_work(threads, posed->request.set_count, SETS_CHUNK, find_some_centers, posed);
  if (!status && atomic_load(&posed->svd_centers)) status = find_svd_centers(posed);
  return status;
}

void sbs_posed_center(const sbs_posed *posed, size_t set, double center[3]) {
  sbs_rest_center(posed->skin, set, posed->joints, posed->kinds, posed->centers, center);
  for (int i = 0; i < 3; i++) center[i] -= posed->skin->origin[i];
}

sbs_status sbs_pose_skin(sbs_posed *posed, int threads) {
  sbs_status status = pose_twist(posed);
  if (!status) status = pose_joints(posed, threads);
  if (status) return status;
  find_places(posed);
  if (posed->is_taken_apart) find_normal_scale(posed);
  if (posed->request.rotations) choose_signs(posed);
  return find_centers(posed, threads);
}
