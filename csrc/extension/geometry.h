/* SPDX-License-Identifier: MIT */
/* Meshes and influences as arguments. */
#ifndef SBS_EXTENSION_GEOMETRY_H
#define SBS_EXTENSION_GEOMETRY_H

#include "function.h"

#include <sbs/influences.h>
#include <sbs/mesh.h>

/* "positions" (V, 3) and "triangles" (T, 3), about a sbs_mesh_desc. */
extern const core_row core_mesh_rows[4];

/* "joint_indices" and "joint_weights", both (V, K), about a sbs_influences_table. It lacks the number of joints. */
extern const core_row core_influences_rows[4];

/*
 * Part of `prepare`: makes a mask (joint_count), which is released with the call, from joint numbers; NULL of NULL.
 * letter: counts the numbers; name: of the argument. Raises and returns 0 if a joint is out of range.
 */
int core_new_mask(void *call, const int32_t *joints, char letter, const char *name, size_t joint_count,
                  const unsigned char **mask);

/*
 * Part of `prepare`: offsets (count + 1) of lists that follow each other, from their ends; released with the call.
 * name: of the ends, for messages; least: the least length of a list; letter, nouns: of the elements, their number and
 * their noun for messages. Raises and returns NULL if the ends do not ascend to that length.
 */
const size_t *core_new_offsets(void *call, const int32_t *ends, size_t count, const char *name, size_t least,
                               char letter, const char *nouns);

#endif
