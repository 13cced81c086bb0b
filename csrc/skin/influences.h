/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_INFLUENCES_H
#define SBS_SKIN_INFLUENCES_H

#include "sbs/sbs.h"

/* The kinds of repair of sbs_weight_report, as bits. */
enum {
  SBS_WEIGHT_NAN = 1,
  SBS_WEIGHT_INFINITE = 2,
  SBS_WEIGHT_NEGATIVE = 4,
  SBS_WEIGHT_UNWEIGHTED = 8,
  SBS_WEIGHT_OFF_SUM = 16,
  SBS_WEIGHT_DUPLICATE = 32
};

/*
 * The influences of one vertex as the library uses them: distinct joints in ascending order with positive weights that
 * sum to 1 in double. No choice here depends on the order in which influences were given.
 */
typedef struct sbs_influences {
  int32_t *joints;  /* room for `room` of them, and for as many pairs where a twist spreads them */
  double *weights;  /* likewise */
  size_t room;      /* influences_per_vertex; with a twist twice as many */
  size_t count;     /* 0: unweighted */
  size_t heaviest;  /* index; ties go to the lowest joint */
  unsigned repairs; /* SBS_WEIGHT_ bits */
  size_t fault;     /* the influence that the first repair is about */
} sbs_influences;

/* How much a weight counts: not at all unless it is a positive finite number. All that reads weights reads them so. */
double sbs_usable_weight(double weight);

/*
 * Room for the influences of a vertex of the mesh; both pointers may be NULL, and sbs_influences_free be called all the
 * same.
 */
sbs_influences sbs_influences_new(const sbs_allocator *allocator, const sbs_skin_desc *desc);

void sbs_influences_free(const sbs_allocator *allocator, sbs_influences *influences);

/* Pairs of joint and weight of one vertex as a caller gives them, from number `first` of arrays. */
typedef struct sbs_influence_pairs {
  const int32_t *joints;
  const void *weights;
  sbs_scalar scalar;
  size_t first;
  size_t count;
} sbs_influence_pairs;

/*
 * Merges pairs, and notes their faults: distinct joints in ascending order, their weights times `scale`,
 * added up in an order of their values. Weights that are no positive numbers are left out. Nothing is normalized.
 */
void sbs_influences_merge(const sbs_influence_pairs *pairs, double scale, sbs_influences *influences);

/* Merges and normalizes. A sum that is farther than the tolerance from 1 is a repair. */
void sbs_influences_normalize(const sbs_influence_pairs *pairs, double sum_tolerance, sbs_influences *influences);

/*
 * Reads and repairs the influences of a vertex whose joint indices are in range. With a twist they are influences of
 * the frames of bones; `fault` is that of the influences as given all the same.
 */
void sbs_influences_read(const sbs_skin_desc *desc, double sum_tolerance, size_t vertex, sbs_influences *influences);

/* Counts a vertex's repairs. */
void sbs_influences_count_repairs(unsigned repairs, sbs_weight_report *report);

#endif
