/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_OPTIONS_H
#define SBS_DEFORM_OPTIONS_H

#include "skin/skin.h"

/* Checks the options of a call for some frames, but for the amounts. */
sbs_status sbs_check_deform_options(const sbs_skin *skin, const sbs_deform_options *options, size_t frame_count,
                                    sbs_fault *fault);

/* Checks the amounts of vertices [begin, end): all finite and in [0, 1]. Errors: OPTION, NOT_FINITE. */
sbs_status sbs_check_amounts(const sbs_deform_options *options, size_t begin, size_t end, sbs_fault *fault);

/* Whether the method takes the nearest rotation of a joint in place of its matrix. */
static inline int sbs_has_rotations(const sbs_deform_options *options) {
  return options->method == SBS_METHOD_SPHERICAL || options->method == SBS_METHOD_DUAL_QUATERNION;
}

/* Whether vertices turn about the centers of joint sets. */
static inline int sbs_has_set_centers(const sbs_deform_options *options) {
  return options->method == SBS_METHOD_SPHERICAL && options->center == SBS_CENTER_JOINT_SET;
}

/* Whether rotations are averaged on the sphere. */
static inline int sbs_has_averages(const sbs_deform_options *options) {
  return options->method == SBS_METHOD_SPHERICAL && options->rotation == SBS_ROTATION_AVERAGE;
}

/* The damping of weighted centers: with less, rounding would decide in float32. Both types take the same, to agree. */
static inline double sbs_weighted_damping(const sbs_deform_options *options) {
  return options->damping > SBS_WEIGHTED_DAMPING ? options->damping : SBS_WEIGHTED_DAMPING;
}

#endif
