/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "deform/job.h"
#include "deform/options.h"
#include "pose/center.h"
#include "pose/check.h"

sbs_deform_options sbs_default_deform_options(void) {
  return (sbs_deform_options){
      .method = SBS_METHOD_SPHERICAL, .rotation = SBS_ROTATION_QLERP, .center = SBS_CENTER_JOINT_SET, .damping = 1e-8};
}

/* ----------------------------------------------------------------------------------------------------- the work -- */

/* All that is to be done by one call. */
typedef struct deform_job {
  sbs_frame common;               /* what the frames share, and the first matrices and positions of all */
  const sbs_deform_options *base; /* the method that the frames are blended with, or NULL */
  sbs_amounts_use use;            /* where there is one */
  size_t frame_count;
  int threads;
  int frames_at_once; /* each by one thread with a scratch of its own; 1: one after the other, by all threads */
  char *scratch;      /* (frames_at_once, scratch_size) */
  size_t scratch_size;
  atomic_size_t solves;
  atomic_size_t nonrigid_joints;
  atomic_size_t singular_count;
} deform_job;

/* What a vertex and a joint set take one thread, about, in nanoseconds. */
enum {
  VERTEX_TIME = 2,
  INVERSE_TIME = 16,
  SET_TIME = 60
};

static void choose_threads(deform_job *job) {
  const sbs_skin *skin = job->common.skin;
  const int option = job->common.options->threads;
  const double vertex_time = job->common.posed.positions ? INVERSE_TIME : VERTEX_TIME;
  const double method_time = (double)skin->vertex_count * vertex_time + (double)skin->set_count * SET_TIME;
  const double frame_time = method_time * (job->base ? 2 : 1);
  const int by_frames = sbs_choose_threads(option, frame_time * (double)job->frame_count);
  const int has_enough = job->frame_count >= (size_t)by_frames; /* else there would be threads with nothing to do */
  job->threads = has_enough ? by_frames : sbs_choose_threads(option, frame_time);
  job->frames_at_once = has_enough ? by_frames : 1;
}

/*
 * Frame `number`, made of what all have in common, and after it its base, if there is one; with a scratch of their own
 * where several frames are worked on at once.
 */
static void make_frame(const deform_job *job, size_t number, int worker, sbs_frame frames[2]) {
  sbs_frame *frame = frames;
  *frame = job->common;
  const sbs_skin *skin = frame->skin;
  const size_t matrices = skin->joint_count * 4 * frame->matrix_rows * sbs_scalar_size(frame->matrix_scalar);
  char *scratch = job->scratch + (size_t)worker * job->scratch_size;
  frame->matrices = (const char *)frame->matrices + number * matrices;
  if (frame->positions) {
    frame->positions = (char *)frame->positions + number * skin->vertex_count * frame->positions_stride;
  }
  if (frame->normals) frame->normals = (char *)frame->normals + number * skin->vertex_count * frame->normals_stride;
  const size_t used = sbs_lay_out_scratch(skin, scratch, &frame->scratch);
  if (!job->base) return;
  frames[1] = *frame;
  frames[1].options = job->base;
  sbs_lay_out_scratch(skin, scratch + used, &frames[1].scratch);
  frames[1].scratch.joints = frame->scratch.joints;
  frames[1].scratch.kinds = frame->scratch.kinds;
  frames[1].scratch.stretches = frame->scratch.stretches;
  frames[1].is_base = 1;
  frame->base = frames + 1;
}

static sbs_status run_frame(deform_job *job, size_t number, int threads, int worker) {
  sbs_frame frames[2];
  make_frame(job, number, worker, frames);
  const sbs_status status = sbs_run_frame(frames, threads);
  size_t solves = atomic_load(&frames->solves);
  if (frames->base) solves += atomic_load(&frames->base->solves);
  atomic_fetch_add(&job->solves, solves);
  atomic_fetch_add(&job->nonrigid_joints, frames->nonrigid_joints);
  atomic_fetch_add(&job->singular_count, atomic_load(&frames->singular_count));
  return status;
}

/* Some of the frames, each by one thread. */
static sbs_status run_some(void *context, sbs_share share, int worker) {
  sbs_status status = SBS_OK;
  for (size_t i = share.begin; i < share.end && !status; i++) status = run_frame(context, i, 1, worker);
  return status;
}

static sbs_status run(deform_job *job) {
  if (job->frames_at_once > 1) return sbs_share_work(job->frames_at_once, job->frame_count, 1, run_some, job);
  sbs_status status = SBS_OK;
  for (size_t i = 0; i < job->frame_count && !status; i++) status = run_frame(job, i, job->threads, 0);
  return status;
}

/* Takes the caller's memory, if it is enough for one method, or allocates; *owned receives what is to be released. */
static sbs_status get_scratch(deform_job *job, void **owned, sbs_fault *fault) {
  const sbs_deform_options *options = job->common.options;
  const sbs_skin *skin = job->common.skin;
  const size_t size = sbs_skin_scratch_size(skin);
  *owned = NULL;
  job->scratch_size = size * (job->base ? 2 : 1);
  if (options->scratch) {
    if (options->scratch_size < size) {
      return sbs_fault_number(fault, SBS_ERROR_SCRATCH, "scratch_size", (double)options->scratch_size, (double)size);
    }
    if ((uintptr_t)options->scratch % SBS_ALIGNMENT) return sbs_fault_in(fault, SBS_ERROR_SCRATCH, "scratch");
    job->scratch = options->scratch;
  } else {
    job->scratch = *owned = sbs_allocate(&skin->allocator, (size_t)job->frames_at_once, job->scratch_size);
    if (!job->scratch) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  return SBS_OK;
}

/*
 * Checks the amounts, and leaves out a method that no vertex asks for. The result stands in the first frame's scratch.
 */
static sbs_status use_amounts(deform_job *job, sbs_fault *fault) {
  const sbs_skin *skin = job->common.skin;
  sbs_scratch scratch;
  sbs_lay_out_scratch(skin, job->scratch, &scratch);
  job->use = scratch.use;
  unsigned needs;
  const sbs_status status = sbs_find_amounts_use(skin, job->common.options, job->threads, &job->use, &needs, fault);
  if (status) return status;
  if (needs == SBS_NEEDS_BOTH) {
    if (!job->common.posed.positions) job->common.use = &job->use; /* the inverse takes both methods everywhere */
  } else {
    if (needs == SBS_NEEDS_BASE) job->common.options = job->base;
    job->base = NULL;
    job->scratch_size = sbs_skin_scratch_size(skin);
  }
  return SBS_OK;
}

/* Works on as many frames at once as the caller's memory is enough for. */
static sbs_status share_scratch(deform_job *job, sbs_fault *fault) {
  const sbs_deform_options *options = job->common.options;
  if (!options->scratch) return SBS_OK;
  if (options->scratch_size < job->scratch_size) {
    return sbs_fault_number(fault, SBS_ERROR_SCRATCH, "scratch_size", (double)options->scratch_size,
                            (double)job->scratch_size);
  }
  const size_t room = options->scratch_size / job->scratch_size;
  if ((size_t)job->frames_at_once > room) job->frames_at_once = job->threads = (int)room;
  return SBS_OK;
}

/* The centers of the only frame, whose scratch is the job's. */
static void write_centers(const deform_job *job, double *centers) {
  const sbs_skin *skin = job->common.skin;
  sbs_scratch scratch;
  sbs_lay_out_scratch(skin, job->scratch, &scratch);
  for (size_t set = 0; set < skin->set_count; set++) {
    if (sbs_set_size(skin, set) > 1) {
      sbs_rest_center(skin, set, scratch.joints, scratch.kinds, scratch.centers + set, centers + 3 * set);
    } else {
      memcpy(centers + 3 * set, skin->set_centroids + 3 * set, 3 * sizeof *centers);
    }
  }
}

/* ------------------------------------------------------------------------------------------------------- public -- */

sbs_status sbs_run_job(const sbs_skin *skin, size_t frame_count, const sbs_pose *poses,
                       const sbs_deform_options *options, sbs_request *request, sbs_deform_report *report,
                       sbs_fault *fault) {
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!poses) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  if (!request->positions && !request->centers && frame_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "positions");
  const sbs_deform_options defaults = sbs_default_deform_options();
  if (!options) options = &defaults;
  sbs_methods methods;
  sbs_status status = sbs_choose_methods(skin, options, &methods, fault);
  if (status) return status;
  if (request->normals && !skin->normals) return sbs_fault_in(fault, SBS_ERROR_OPTION, "normals");
  status = sbs_check_poses(poses, frame_count, skin->joint_count, fault);
  if (status) return status;

  const size_t packed = 3 * sbs_scalar_size(skin->scalar);
  deform_job job = {
      .common = {.skin = skin,
                 .options = methods.options,
                 .matrices = poses->skinning_matrices,
                 .matrix_scalar = poses->scalar,
                 .matrix_rows = poses->rows,
                 .positions = request->positions,
                 .positions_stride = options->positions_stride ? options->positions_stride : packed,
                 .normals = request->normals,
                 .normals_stride = options->normals_stride ? options->normals_stride : packed,
                 .posed = request->posed},
      .base = methods.base,
      .frame_count = frame_count,
  };
  void *owned;
  choose_threads(&job);
  status = get_scratch(&job, &owned, fault);
  if (!status && job.base) status = use_amounts(&job, fault);
  if (!status) status = share_scratch(&job, fault);
  if (!status) {
    status = run(&job);
    if (status) sbs_fault_in(fault, status, "skinning_matrices");
  }
  if (!status && request->centers) write_centers(&job, request->centers);
  if (!status && report) {
    *report = (sbs_deform_report){.nontrivial_joint_sets = skin->nontrivial_set_count,
                                  .solves = atomic_load(&job.solves),
                                  .nonrigid_joints = atomic_load(&job.nonrigid_joints)};
  }
  request->posed.singular_count = atomic_load(&job.singular_count);
  sbs_release(&skin->allocator, owned);
  return status;
}

sbs_status sbs_skin_deform(const sbs_skin *skin, const sbs_pose *pose, const sbs_deform_options *options,
                           void *positions, void *normals, sbs_deform_report *report, sbs_fault *fault) {
  return sbs_skin_deform_many(skin, 1, pose, options, positions, normals, report, fault);
}

sbs_status sbs_skin_deform_many(const sbs_skin *skin, size_t frame_count, const sbs_pose *poses,
                                const sbs_deform_options *options, void *positions, void *normals,
                                sbs_deform_report *report, sbs_fault *fault) {
  sbs_request request = {.positions = positions, .normals = normals};
  return sbs_run_job(skin, frame_count, poses, options, &request, report, fault);
}

sbs_status sbs_skin_rotation_centers(const sbs_skin *skin, const sbs_pose *pose, const sbs_deform_options *options,
                                     double *centers, sbs_deform_report *report, sbs_fault *fault) {
  if (!centers) return sbs_fault_in(fault, SBS_ERROR_NULL, "centers");
  sbs_deform_options spherical = options ? *options : sbs_default_deform_options();
  spherical.method = SBS_METHOD_SPHERICAL;
  if (spherical.center == SBS_CENTER_WEIGHTED || spherical.center == SBS_CENTER_OPTIMIZED) {
    spherical.center = SBS_CENTER_JOINT_SET;
  }
  spherical.amount = NULL;
  sbs_request request = {.centers = centers};
  return sbs_run_job(skin, 1, pose, &spherical, &request, report, fault);
}
