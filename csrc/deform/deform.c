/* SPDX-License-Identifier: MIT */
/*
 * The entry points. A call goes one way: it is checked (here and in deform/options.c), planned (deform/plan.c), and
 * each frame is posed (deform/pose.c) and run (deform/run.c).
 */
#include <math.h>

#include "base/fault.h"
#include "base/known_options.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "deform/options.h"
#include "deform/plan.h"
#include "deform/pose.h"
#include "deform/run.h"
#include "pose/twist.h"

sbs_deform_options sbs_default_deform_options(void) {
  return (sbs_deform_options){
      .method = SBS_METHOD_SPHERICAL, .rotation = SBS_ROTATION_QLERP, .center = SBS_CENTER_JOINT_SET, .damping = 1e-8};
}

/* ----------------------------------------------------------------------------------------------------- the work -- */

/* A plan that is carried out, and its counts. */
typedef struct work {
  sbs_plan plan;
  atomic_size_t solves;
  atomic_size_t nonrigid_joints;
  atomic_size_t singular_count;
  atomic_size_t scaled_joints;
} work;

static sbs_status deform_frame(work *w, size_t number, int threads, int worker) {
  sbs_frame frame;
  sbs_make_frame(&w->plan, number, worker, &frame);
  sbs_status status = sbs_pose_frame(&frame, threads);
  if (!status) status = sbs_run_frame(&frame, threads);
  atomic_fetch_add(&w->solves, atomic_load(&frame.posed.solves));
  atomic_fetch_add(&w->nonrigid_joints, frame.posed.nonrigid_joints);
  atomic_fetch_add(&w->singular_count, atomic_load(&frame.singular_count));
  atomic_fetch_add(&w->scaled_joints, frame.palette.scaled_joints);
  return status;
}

/* Some of the frames, each by one thread. */
static sbs_status deform_some(void *context, sbs_share share, int worker) {
  sbs_status status = SBS_OK;
  for (size_t i = share.begin; i < share.end && !status; i++) status = deform_frame(context, i, 1, worker);
  return status;
}

static sbs_status deform_frames(work *w) {
  const sbs_plan *plan = &w->plan;
  if (plan->frames_at_once > 1) return sbs_share_work(plan->frames_at_once, plan->frame_count, 1, deform_some, w);
  sbs_status status = SBS_OK;
  for (size_t i = 0; i < plan->frame_count && !status; i++) status = deform_frame(w, i, plan->threads, 0);
  return status;
}

/* The parts of a pose that a call needs. */
typedef struct request {
  void *positions;       /* of all frames; NULL where only centers or palettes are asked for */
  void *normals;         /* the same, or NULL */
  double *centers;       /* (set_count, 3) of the only frame, or NULL */
  sbs_undone undone;     /* of the only frame, checked */
  size_t singular_count; /* receives how many vertices have no inverse */
  sbs_palette palette;   /* of all frames; receives the count */
} request;

static sbs_frame describe_frames(const sbs_skin *skin, const sbs_deform_options *options, const request *wanted) {
  const size_t packed = 3 * sbs_scalar_size(skin->scalar);
  return (sbs_frame){
      .skin = skin,
      .options = options,
      .positions = wanted->positions,
      .positions_stride = options->positions_stride ? options->positions_stride : packed,
      .normals = wanted->normals,
      .normals_stride = options->normals_stride ? options->normals_stride : packed,
      .centers = wanted->centers,
      .undone = wanted->undone,
      .palette = wanted->palette,
      .rest = {.skin = skin,
               .positions = options->rest_positions,
               .stride = options->rest_positions_stride ? options->rest_positions_stride : packed,
               .shapes = options->shapes},
  };
}

/* Checks a request and carries it out. The options may be NULL. */
static sbs_status deform(const sbs_skin *skin, size_t frame_count, const sbs_pose *poses,
                         const sbs_deform_options *options, request *wanted, sbs_deform_report *report,
                         sbs_fault *fault) {
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!poses) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  const int is_posed_alone = wanted->centers || wanted->palette.joints;
  if (!wanted->positions && !is_posed_alone && frame_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "positions");
  const sbs_deform_options defaults = sbs_default_deform_options();
  if (!options) options = &defaults;
  sbs_status status = sbs_check_deform_options(skin, options, frame_count, fault);
  if (status) return status;
  if (wanted->normals && !skin->normals) return sbs_fault_in(fault, SBS_ERROR_OPTION, "normals");
  status = sbs_check_skin_poses(skin, poses, frame_count, fault);
  if (status) return status;

  work w = {.plan = {.common = describe_frames(skin, options, wanted), .poses = *poses, .frame_count = frame_count}};
  status = sbs_make_plan(&w.plan, fault);
  if (!status) {
    status = deform_frames(&w);
    if (status) sbs_fault_in(fault, status, "skinning_matrices");
  }
  if (!status && report) {
    *report = (sbs_deform_report){.nontrivial_joint_sets = skin->nontrivial_set_count,
                                  .solves = atomic_load(&w.solves),
                                  .nonrigid_joints = atomic_load(&w.nonrigid_joints)};
  }
  wanted->singular_count = atomic_load(&w.singular_count);
  wanted->palette.scaled_joints = atomic_load(&w.scaled_joints);
  sbs_release_plan(&w.plan);
  return status;
}

/* ------------------------------------------------------------------------------------------------------- public -- */

sbs_status sbs_skin_deform(const sbs_skin *skin, const sbs_pose *pose, const sbs_deform_options *options,
                           void *positions, void *normals, sbs_deform_report *report, sbs_fault *fault) {
  return sbs_skin_deform_many(skin, 1, pose, options, positions, normals, report, fault);
}

sbs_status sbs_skin_deform_many(const sbs_skin *skin, size_t frame_count, const sbs_pose *poses,
                                const sbs_deform_options *options, void *positions, void *normals,
                                sbs_deform_report *report, sbs_fault *fault) {
  request wanted = {.positions = positions, .normals = normals};
  return deform(skin, frame_count, poses, options, &wanted, report, fault);
}

/* Options of which only those are left that rotation centers of joint sets depend on. */
static sbs_deform_options of_joint_sets(const sbs_deform_options *options) {
  sbs_deform_options spherical = options ? *options : sbs_default_deform_options();
  spherical.method = SBS_METHOD_SPHERICAL;
  if (spherical.center == SBS_CENTER_WEIGHTED || spherical.center == SBS_CENTER_OPTIMIZED) {
    spherical.center = SBS_CENTER_JOINT_SET;
  }
  spherical.amount = NULL;
  spherical.rest_positions = NULL;
  spherical.rest_positions_stride = 0;
  spherical.shapes = NULL;
  spherical.shape_weights = NULL;
  return spherical;
}

sbs_status sbs_skin_rotation_centers(const sbs_skin *skin, const sbs_pose *pose, const sbs_deform_options *options,
                                     double *centers, sbs_deform_report *report, sbs_fault *fault) {
  if (!centers) return sbs_fault_in(fault, SBS_ERROR_NULL, "centers");
  const sbs_deform_options spherical = of_joint_sets(options);
  request wanted = {.centers = centers};
  return deform(skin, 1, pose, &spherical, &wanted, report, fault);
}

/* Refuses methods and options that palettes do not know; the options of vertices have no effect on them. */
static sbs_status check_palette(const sbs_deform_options *options, sbs_fault *fault) {
  static const char *const known[] = {"method",        "rotation",     "center",           "damping",
                                      "rcond",         "amount",       "amount_scalar",    "shapes",
                                      "shape_weights", "threads",      "positions_stride", "normals_stride",
                                      "scratch",       "scratch_size", "rest_positions",   "rest_positions_stride"};
  return options ? sbs_refuse_options(options, known, sizeof known / sizeof *known, fault) : SBS_OK;
}

sbs_status sbs_pose_palette(const sbs_skin *skin, size_t frame_count, const sbs_pose *poses,
                            const sbs_deform_options *options, float *joints, float *centers,
                            sbs_palette_report *report, sbs_fault *fault) {
  if (!joints) return sbs_fault_in(fault, SBS_ERROR_NULL, "joints");
  const sbs_status refused = check_palette(options, fault);
  if (refused) return refused;
  sbs_deform_options spherical = of_joint_sets(options);
  if (!centers) spherical.center = SBS_CENTER_WEIGHTED; /* for which nothing is solved here */
  const int as_given = options && options->method == SBS_METHOD_LINEAR;
  request wanted = {.palette = {.joints = joints, .centers = centers, .as_given = as_given}};
  sbs_deform_report counts;
  const sbs_status status = deform(skin, frame_count, poses, &spherical, &wanted, &counts, fault);
  if (!status && report) {
    const size_t scaled = wanted.palette.scaled_joints;
    *report = (sbs_palette_report){.scaled_joints = scaled, .stretched_joints = counts.nonrigid_joints - scaled};
  }
  return status;
}

static sbs_status check_posed(const sbs_skin *skin, const sbs_undone *posed, sbs_fault *fault) {
  const size_t size = sbs_scalar_size(skin->scalar);
  if (!posed->positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "posed_positions");
  if (posed->stride < 3 * size || posed->stride % size) {
    return sbs_fault_number(fault, SBS_ERROR_STRIDE, "posed_stride", (double)posed->stride, (double)(3 * size));
  }
  for (size_t v = 0; v < skin->vertex_count; v++) {
    const char *position = (const char *)posed->positions + v * posed->stride;
    for (size_t axis = 0; axis < 3; axis++) {
      const double x = sbs_scalar_get(position, skin->scalar, axis);
      if (!isfinite(x)) return sbs_fault_at(fault, SBS_ERROR_NOT_FINITE, "posed_positions", v, axis, x, 0.0);
    }
  }
  return SBS_OK;
}

/* Refuses methods and options without an inverse here. */
static sbs_status check_inverse(const sbs_deform_options *options, sbs_fault *fault) {
  static const char *const known[] = {"method",           "rotation",       "center",  "damping",       "rcond",
                                      "amount",           "amount_scalar",  "shapes",  "shape_weights", "threads",
                                      "positions_stride", "normals_stride", "scratch", "scratch_size"};
  return sbs_refuse_options(options, known, sizeof known / sizeof *known, fault);
}

sbs_status sbs_skin_inverse_deform(const sbs_skin *skin, const sbs_pose *pose, const sbs_deform_options *options,
                                   const void *posed_positions, size_t posed_stride, void *rest_positions,
                                   unsigned char *singular, size_t *singular_count, sbs_fault *fault) {
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  request wanted = {
      .positions = rest_positions,
      .undone = {.positions = posed_positions,
                 .stride = posed_stride ? posed_stride : 3 * sbs_scalar_size(skin->scalar),
                 .singular = singular},
  };
  sbs_status status = check_posed(skin, &wanted.undone, fault);
  if (!status && options) status = check_inverse(options, fault);
  if (status) return status;
  status = deform(skin, 1, pose, options, &wanted, NULL, fault);
  if (!status && singular_count) *singular_count = wanted.singular_count;
  return status;
}
