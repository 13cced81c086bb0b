/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_PALETTE_H
#define SBS_DEFORM_PALETTE_H

#include "deform/frame.h"

/* Numbers of a joint in a palette: three rows of its matrix, and a quaternion. */
enum {
  SBS_PALETTE_ROW = 16
};

/* Writes a frame that is posed to its palette, and counts what joints there are. */
void sbs_write_palette(sbs_frame *frame);

#endif
