/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_PALETTE_H
#define SBS_DEFORM_PALETTE_H

#include "deform/frame.h"

/* Numbers of a joint in a palette: three rows of its matrix, and a quaternion. */
enum {
  SBS_PALETTE_ROW = 16
};

/* Writes a posed frame to its palette, and counts joints by their kind. */
void sbs_write_palette(sbs_frame *frame);

#endif
