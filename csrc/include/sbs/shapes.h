/* SPDX-License-Identifier: MIT */
/*
 * libsbs: shapes, which are sparse changes of the rest pose. sbs_deform_options takes them with a weight of each, and
 * adds them to the mesh before it is skinned. Conventions, threads and errors are as in sbs.h.
 */
#ifndef SBS_SHAPES_H
#define SBS_SHAPES_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sparse changes of the rest pose. M is shape_offsets[S], the number of vertices of all shapes. */
typedef struct sbs_shapes_desc {
  size_t shape_count;          /* S; 0 is SBS_ERROR_EMPTY */
  const size_t *shape_offsets; /* (S + 1) where the vertices of each shape start; from 0 on, ascending */
  const int32_t *vertices;     /* (M) in [0, V); a vertex that a shape has twice gets the sum */
  sbs_scalar scalar;           /* of both of the following */
  const void *deltas;          /* (M, 3) finite; added to rest positions of vertices */
  const void *normal_deltas;   /* (M, 3) or NULL, finite; to the rest normal, whose sum is made a unit vector again */
} sbs_shapes_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_shapes_desc sbs_default_shapes_desc(void);

/* Shapes of a skin. Immutable; the skin must outlive them. */
typedef struct sbs_shapes sbs_shapes;

/*
 * Arranges shapes for the blocks of a skin, for sbs_deform_options.
 *
 *   desc       may be released afterwards
 *   allocator  or NULL for malloc and free
 *   shapes     receives the result; release it by sbs_shapes_free
 *   fault      or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, NOT_FINITE, VERTEX_INDEX, OPTION (offsets that descend; normal_deltas where the skin
 * has no normals), OUT_OF_MEMORY.
 */
SBS_API sbs_status sbs_shapes_new(const sbs_skin *skin, const sbs_shapes_desc *desc, const sbs_allocator *allocator,
                                  sbs_shapes **shapes, sbs_fault *fault);

/* Releases shapes. NULL does nothing. No other thread may be using them. */
SBS_API void sbs_shapes_free(sbs_shapes *shapes);

/* S; 0 for NULL. */
SBS_API size_t sbs_shapes_count(const sbs_shapes *shapes);

/* Bytes of scratch that a frame needs with shapes beside sbs_skin_scratch_size. 0 for NULL. */
SBS_API size_t sbs_shapes_scratch_size(const sbs_shapes *shapes);

#ifdef __cplusplus
}
#endif

#endif
