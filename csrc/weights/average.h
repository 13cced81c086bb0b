/* SPDX-License-Identifier: MIT */
/*
 * Moves a row towards the mean of others: w + s (mean - w), for every joint. It sums differences, so that equal rows
 * change no bit.
 */
#ifndef SBS_WEIGHTS_AVERAGE_H
#define SBS_WEIGHTS_AVERAGE_H

#include "weights/row.h"

typedef struct sbs_average {
  double *own;    /* (J) weights of the row that moves; zero between uses */
  double *change; /* (J) sum of the differences; zero between uses */
  int32_t
      *hits; /* (J) how many of the other rows have the joint, plus 1 if the row that moves has it; zero between uses */
  int32_t *joints; /* (J) the joints that occurred */
  size_t joint_count;
  size_t row_count; /* rows added */
} sbs_average;

/* Takes its arrays from an arena. Errors: OUT_OF_MEMORY. */
sbs_status sbs_average_init(sbs_average *average, size_t joint_count, sbs_arena *arena);

/* Starts with the row that is to move. */
void sbs_average_begin(sbs_average *average, const sbs_row *row);

/* Adds one of the rows to move towards. */
void sbs_average_add(sbs_average *average, const sbs_row *row);

/* Writes the moved row to `moved`, which has room for J influences, in order. Locked joints do not move. */
void sbs_average_end(sbs_average *average, double strength, const unsigned char *locked, sbs_row *moved);

#endif
