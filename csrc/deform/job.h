/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_JOB_H
#define SBS_DEFORM_JOB_H

#include "deform/frame.h"

/* What a call wants of its poses. */
typedef struct sbs_request {
  void *positions; /* of all frames; NULL where only centers are asked for */
  void *normals;   /* the same, or NULL */
  double *centers; /* (set_count, 3) of the only frame, or NULL */
  sbs_posed posed; /* of the only frame; receives the count */
} sbs_request;

/* Checks a request, but not the positions that are to be undone, and carries it out. The options may be NULL. */
sbs_status sbs_run_job(const sbs_skin *skin, size_t frame_count, const sbs_pose *poses,
                       const sbs_deform_options *options, sbs_request *request, sbs_deform_report *report,
                       sbs_fault *fault);

#endif
