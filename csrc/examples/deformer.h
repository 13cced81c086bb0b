/* SPDX-License-Identifier: MIT */
/*
 * The deformer node of some host, over libsbs: what a plug-in of Maya, Houdini or an engine does between its host's
 * callbacks and the library. deformer_host.c is a small host that calls it. Copy both files into a plug-in, and replace
 * parts of no use there.
 *
 * A deformer keeps a copy of all that it was bound to, so that it can be stored with the scene and bound again when the
 * scene is opened, and so that a change of some weights need not bind the whole mesh anew.
 */
#ifndef DEFORMER_H
#define DEFORMER_H

#include <sbs/sbs.h>

typedef struct deformer deformer;

/* A new node, not bound to anything. NULL: out of memory. */
deformer *deformer_new(void);
void deformer_free(deformer *d);

/*
 * BIND. The user has connected a mesh and a skeleton, or has changed one of them at rest.
 *
 *   desc       as for sbs_skin_new, of float32 positions and double weights, packed, with a skeleton. Copied; its
 *              normals and centers are not used
 *   optimized  not 0: about optimized centers, found from the triangles (T, 3), which takes longer than a frame
 *
 * After an error the deformer is bound as before.
 */
sbs_status deformer_bind(deformer *d, const sbs_skin_desc *desc, int optimized, size_t triangle_count,
                         const int32_t *triangles);

/*
 * EVALUATE. The host wants the mesh of a frame. Any number of threads may evaluate one deformer at once, each with
 * output of its own, but not while it is bound or its weights change.
 *
 *   matrices   (J, 3, 4) or (J, 4, 4) double, by `rows`; column vectors: hosts of row vectors transpose theirs
 *   envelope   how much of the deformation the node gives, as the slider of most hosts: 0 rest, 1 all
 *   positions  (V, 3)
 */
sbs_status deformer_evaluate(const deformer *d, const double *matrices, size_t rows, double envelope, float *positions);

/* WEIGHTS EDITED. The user has painted: the vertices that changed, each once, and their influences (n, K). */
sbs_status deformer_set_weights(deformer *d, size_t count, const int32_t *vertices, const int32_t *joints,
                                const double *weights);

/*
 * SERIALISE. The bound mesh, as bytes for the scene's file, and a deformer from such bytes. They are of this machine's
 * byte order, which the first number of them tells.
 *
 *   deformer_store  returns how many bytes there are, and writes them if `size` is that much; 0 if nothing is bound
 *   deformer_load   SBS_ERROR_OPTION if the bytes are of another version or byte order, cut, or not consistent
 */
size_t deformer_store(const deformer *d, void *bytes, size_t size);
sbs_status deformer_load(deformer *d, const void *bytes, size_t size);

#endif
