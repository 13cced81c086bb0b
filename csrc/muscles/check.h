/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_CHECK_H
#define SBS_MUSCLES_CHECK_H

#include "sbs/muscles.h"

sbs_status sbs_check_muscles_desc(const sbs_muscles_desc *desc, sbs_fault *fault);

/* Checks the arguments of all functions with a pose. */
sbs_status sbs_check_muscle_pose(const sbs_muscles *muscles, const sbs_pose *pose, const double *activations,
                                 sbs_fault *fault);

#endif
