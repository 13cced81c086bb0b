/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_SCRATCH_H
#define SBS_DEFORM_SCRATCH_H

#include "deform/amounts.h"
#include "kernels/kernels.h"
#include "pose/joint.h"
#include "skin/skin.h"

/* The memory of one frame on its way through. */
typedef struct sbs_scratch {
  sbs_joint *joints;      /* (joint_count) */
  unsigned char *kinds;   /* (joint_count) SBS_JOINT_ bits */
  sbs_stretch *stretches; /* (joint_count) */
  sbs_vec4 *centers;      /* (set_count) */
  unsigned char *by_svd;  /* (set_count) whether the SVD is to solve the center */
  double *center_work;    /* (sbs_center_work_size) */
  sbs_vec4 (*slots)[3];   /* (sbs_slots_count) */
  void *constants;        /* (sbs_constants_capacity) of the skin's type */
  void *anchors;          /* (group_count, 4) of the skin's type; of the inverse */
  sbs_way *ways;          /* (group_count) */
  sbs_amounts_use use;    /* arrays only, of a call's first frame */
} sbs_scratch;

/* Lays a scratch out over memory that is aligned to SBS_ALIGNMENT; with NULL it only tells the size. */
size_t sbs_lay_out_scratch(const sbs_skin *skin, void *memory, sbs_scratch *scratch);

#endif
