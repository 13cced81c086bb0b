/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_OPTIONS_H
#define SBS_DEFORM_OPTIONS_H

#include "skin/skin.h"

/* What is asked for: one method, or two that amounts blend. */
typedef struct sbs_methods {
  const sbs_deform_options *options; /* of the only method, or of the one that `amount` is of */
  const sbs_deform_options *base;    /* or NULL: there are no amounts */
  sbs_deform_options made;           /* what `base` points to */
} sbs_methods;

/* Checks the options for so many frames, but for the amounts themselves. `methods` must stay where it is. */
sbs_status sbs_choose_methods(const sbs_skin *skin, const sbs_deform_options *options, size_t frame_count,
                              sbs_methods *methods, sbs_fault *fault);

#endif
