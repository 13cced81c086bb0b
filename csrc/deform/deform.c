/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "deform/frame.h"
#include "deform/threads.h"
#include "fault.h"
#include "memory.h"
#include "pose/check.h"
#include "scalar.h"

sbs_deform_options sbs_default_deform_options(void) {
  return (sbs_deform_options){
      .method = SBS_METHOD_SPHERICAL, .rotation = SBS_ROTATION_QLERP, .center = SBS_CENTER_JOINT_SET, .damping = 1e-8};
}

/* ------------------------------------------------------------------------------------------------------- checks -- */

static sbs_status check_stride(const sbs_skin *skin, size_t stride, const char *name, sbs_fault *fault) {
  const size_t size = sbs_scalar_size(skin->scalar);
  if (stride && (stride < 3 * size || stride % size)) {
    return sbs_fault_number(fault, SBS_ERROR_STRIDE, name, (double)stride, (double)(3 * size));
  }
  return SBS_OK;
}

static sbs_status check_options(const sbs_skin *skin, const sbs_deform_options *options, sbs_fault *fault) {
  if ((int)options->method < SBS_METHOD_RIGID || options->method > SBS_METHOD_DUAL_QUATERNION) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "method", (double)options->method, SBS_METHOD_DUAL_QUATERNION);
  }
  if (options->rotation != SBS_ROTATION_QLERP) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "rotation", (double)options->rotation, SBS_ROTATION_QLERP);
  }
  if (options->center != SBS_CENTER_JOINT_SET) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "center", (double)options->center, SBS_CENTER_JOINT_SET);
  }
  if (!(options->damping > 0.0) || isinf(options->damping)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "damping", options->damping, 0.0);
  }
  if (!(options->rcond >= 0.0 && options->rcond < 1.0)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "rcond", options->rcond, 1.0);
  }
  if (options->threads < 0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options->threads, 0.0);
  sbs_status status = check_stride(skin, options->positions_stride, "positions_stride", fault);
  return status ? status : check_stride(skin, options->normals_stride, "normals_stride", fault);
}

/* ----------------------------------------------------------------------------------------------------- the work -- */

/* All that is to be done by one call. */
typedef struct deform_job {
  sbs_frame common; /* what the frames share, and the first matrices and positions of all */
  size_t frame_count;
  int threads;
  int frames_at_once; /* each by one thread with a scratch of its own; 1: one after the other, by all threads */
  char *scratch;      /* (frames_at_once, scratch_size) */
  size_t scratch_size;
  size_t solves;
  size_t nonrigid_joints;
  int status; /* a sbs_status; the failure of any frame */
} deform_job;

/*
 * What a thread must have to do, in nanoseconds, before it is worth waking it up: the team meets four times, at up to 1
 * to 2 microseconds each. A vertex and a joint set take about this long.
 */
enum {
  WORTH_A_THREAD = 8000,
  VERTEX_TIME = 2,
  SET_TIME = 60
};

static void choose_threads(deform_job *job) {
  const sbs_skin *skin = job->common.skin;
  const size_t wanted = (size_t)sbs_wanted_threads(job->common.options->threads);
  const size_t frame_time = skin->vertex_count * VERTEX_TIME + skin->set_count * SET_TIME;
  const int by_frames = job->frame_count >= wanted; /* else there would be threads with nothing to do */
  size_t worth = (by_frames ? frame_time * job->frame_count : frame_time) / WORTH_A_THREAD;
  if (worth > wanted) worth = wanted;
  job->threads = worth > 1 ? (int)worth : 1;
  job->frames_at_once = by_frames ? job->threads : 1;
}

/* Frame `number`, made of what all have in common; a scratch of its own where several are worked on at once. */
static sbs_frame make_frame(const deform_job *job, size_t number, int thread) {
  sbs_frame frame = job->common;
  const sbs_skin *skin = frame.skin;
  const size_t matrices = skin->joint_count * 4 * frame.matrix_rows * sbs_scalar_size(frame.matrix_scalar);
  frame.matrices = (const char *)frame.matrices + number * matrices;
  if (frame.positions) frame.positions = (char *)frame.positions + number * skin->vertex_count * frame.positions_stride;
  if (frame.normals) frame.normals = (char *)frame.normals + number * skin->vertex_count * frame.normals_stride;
  sbs_lay_out_scratch(skin, job->scratch + (size_t)thread * job->scratch_size, &frame.scratch);
  return frame;
}

static void add_report(deform_job *job, const sbs_frame *frame) {
#pragma omp atomic
  job->solves += frame->solves;
#pragma omp atomic
  job->nonrigid_joints += frame->nonrigid_joints;
  if (frame->status) {
#pragma omp atomic write
    job->status = frame->status;
  }
}

/* One frame, by all threads. */
static void work_together(void *context, int thread, int team) {
  sbs_run_frame(context, thread, team);
}

/* Some of the frames, each by one thread. */
static void work_apart(void *context, int thread, int team) {
  deform_job *job = context;
  const sbs_share frames = sbs_share_of(job->frame_count, thread, team);
  for (size_t i = frames.begin; i < frames.end; i++) {
    sbs_frame frame = make_frame(job, i, thread);
    sbs_run_frame(&frame, 0, 1);
    add_report(job, &frame);
  }
}

static void run(deform_job *job) {
  if (job->frames_at_once > 1) {
    sbs_run_team(job->threads, work_apart, job);
    return;
  }
  for (size_t i = 0; i < job->frame_count && !job->status; i++) {
    sbs_frame frame = make_frame(job, i, 0);
    sbs_run_team(job->threads, work_together, &frame);
    add_report(job, &frame);
  }
}

/* Takes the caller's memory, or allocates; *owned receives what is to be released. */
static sbs_status get_scratch(deform_job *job, void **owned, sbs_fault *fault) {
  const sbs_deform_options *options = job->common.options;
  const sbs_skin *skin = job->common.skin;
  job->scratch_size = sbs_skin_scratch_size(skin);
  *owned = NULL;
  if (options->scratch) {
    if (options->scratch_size < job->scratch_size) {
      return sbs_fault_number(fault, SBS_ERROR_SCRATCH, "scratch_size", (double)options->scratch_size,
                              (double)job->scratch_size);
    }
    if ((uintptr_t)options->scratch % SBS_ALIGNMENT) return sbs_fault_in(fault, SBS_ERROR_SCRATCH, "scratch");
    const size_t room = options->scratch_size / job->scratch_size;
    if ((size_t)job->frames_at_once > room) job->frames_at_once = job->threads = (int)room;
    job->scratch = options->scratch;
  } else {
    job->scratch = *owned = sbs_allocate(&skin->allocator, (size_t)job->frames_at_once, job->scratch_size);
    if (!job->scratch) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  return SBS_OK;
}

/* The centers of the only frame, whose scratch is the job's. */
static void write_centers(const deform_job *job, double *centers) {
  const sbs_skin *skin = job->common.skin;
  sbs_scratch scratch;
  sbs_lay_out_scratch(skin, job->scratch, &scratch);
  for (size_t set = 0; set < skin->set_count; set++) {
    for (size_t i = 0; i < 3; i++) {
      centers[3 * set + i] =
          skin->set_centroids[3 * set + i] + (sbs_set_size(skin, set) > 1 ? scratch.centers[set][i] : 0.0);
    }
  }
}

/* ------------------------------------------------------------------------------------------------------- public -- */

/* All of the three public functions: centers (N, 3) in place of positions where only they are asked for. */
static sbs_status deform(const sbs_skin *skin, size_t frame_count, const sbs_pose *poses,
                         const sbs_deform_options *options, void *positions, void *normals, double *centers,
                         sbs_deform_report *report, sbs_fault *fault) {
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!poses) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  if (!positions && !centers && frame_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "positions");
  const sbs_deform_options defaults = sbs_default_deform_options();
  if (!options) options = &defaults;
  sbs_status status = check_options(skin, options, fault);
  if (status) return status;
  if (normals && !skin->normals) return sbs_fault_in(fault, SBS_ERROR_OPTION, "normals");
  status = sbs_check_poses(poses, frame_count, skin->joint_count, fault);
  if (status) return status;

  const size_t packed = 3 * sbs_scalar_size(skin->scalar);
  deform_job job = {
      .common = {.skin = skin,
                 .options = options,
                 .matrices = poses->skinning_matrices,
                 .matrix_scalar = poses->scalar,
                 .matrix_rows = poses->rows,
                 .positions = positions,
                 .positions_stride = options->positions_stride ? options->positions_stride : packed,
                 .normals = normals,
                 .normals_stride = options->normals_stride ? options->normals_stride : packed},
      .frame_count = frame_count,
  };
  void *owned;
  choose_threads(&job);
  status = get_scratch(&job, &owned, fault);
  if (status) return status;
  run(&job);
  status = (sbs_status)job.status;
  if (status) sbs_fault_in(fault, status, "skinning_matrices");
  if (!status && centers) write_centers(&job, centers);
  if (!status && report) {
    *report = (sbs_deform_report){.nontrivial_joint_sets = skin->nontrivial_set_count,
                                  .solves = job.solves,
                                  .nonrigid_joints = job.nonrigid_joints};
  }
  sbs_release(&skin->allocator, owned);
  return status;
}

sbs_status sbs_skin_deform(const sbs_skin *skin, const sbs_pose *pose, const sbs_deform_options *options,
                           void *positions, void *normals, sbs_deform_report *report, sbs_fault *fault) {
  return deform(skin, 1, pose, options, positions, normals, NULL, report, fault);
}

sbs_status sbs_skin_deform_many(const sbs_skin *skin, size_t frame_count, const sbs_pose *poses,
                                const sbs_deform_options *options, void *positions, void *normals,
                                sbs_deform_report *report, sbs_fault *fault) {
  return deform(skin, frame_count, poses, options, positions, normals, NULL, report, fault);
}

sbs_status sbs_skin_rotation_centers(const sbs_skin *skin, const sbs_pose *pose, const sbs_deform_options *options,
                                     double *centers, sbs_deform_report *report, sbs_fault *fault) {
  if (!centers) return sbs_fault_in(fault, SBS_ERROR_NULL, "centers");
  sbs_deform_options spherical = options ? *options : sbs_default_deform_options();
  spherical.method = SBS_METHOD_SPHERICAL;
  return deform(skin, 1, pose, &spherical, NULL, NULL, centers, report, fault);
}
