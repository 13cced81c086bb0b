/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_KNOWN_OPTIONS_H
#define SBS_BASE_KNOWN_OPTIONS_H

#include "sbs/sbs.h"

/*
 * Refuses unknown methods and options: all options but the named ones have to be as by default. So a new method, or a
 * new option, is an error to a gradient, say, until it is known there.
 */
sbs_status sbs_refuse_options(const sbs_deform_options *options, const char *const *known, size_t count,
                              sbs_fault *fault);

#endif
