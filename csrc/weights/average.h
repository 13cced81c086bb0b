/* SPDX-License-Identifier: MIT */
/*
 * The mean of rows, as a move of one row towards that of others: w + s (mean - w), for every joint. What is added up
 * are differences, so that equal rows move nothing, to the last bit.
 */
#ifndef SBS_WEIGHTS_AVERAGE_H
#define SBS_WEIGHTS_AVERAGE_H

#include "weights/row.h"

typedef struct sbs_average {
  double *own;     /* (J) weights of the row that moves, all zero between two uses */
  double *change;  /* (J) sum of the differences, all zero between two uses */
  int32_t *hits;   /* (J) rows that have the joint, and one: of the row that moves, all zero between two uses */
  int32_t *joints; /* (J) the joints that occurred */
  size_t joint_count;
  size_t row_count; /* rows added */
} sbs_average;

/* Where memory is short, returns SBS_ERROR_OUT_OF_MEMORY, and sbs_average_free must be called all the same. */
sbs_status sbs_average_init(sbs_average *average, size_t joint_count, const sbs_allocator *allocator);

void sbs_average_free(sbs_average *average, const sbs_allocator *allocator);

/* Starts with the row that is to move. */
void sbs_average_begin(sbs_average *average, const int32_t *joints, const double *weights, size_t count);

/* Adds one of those to move towards. */
void sbs_average_add(sbs_average *average, const int32_t *joints, const double *weights, size_t count);

/* Ends: `moved`, with room for J influences, receives the row, in order. Locked joints do not move. */
void sbs_average_end(sbs_average *average, double strength, const unsigned char *locked, sbs_row *moved);

#endif
