/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_RUN_H
#define SBS_DEFORM_RUN_H

#include "deform/frame.h"

/* Deforms all vertices by a frame that is posed, or undoes that, by so many threads. Errors: CANCELLED. */
sbs_status sbs_run_frame(sbs_frame *frame, int threads);

#endif
