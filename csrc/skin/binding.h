/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_BINDING_H
#define SBS_SKIN_BINDING_H

#include "skin/skin.h"

/* A description that a skin is made of, and the skin that an edit starts from. */
typedef struct sbs_binding {
  const sbs_skin_desc *desc; /* with the frames of a twist as joints */
  const sbs_skin_options *options;
  const sbs_skin *previous;     /* or NULL: the same mesh before the edit */
  const unsigned char *changed; /* (vertex_count) whether a vertex has other influences than in `previous` */
} sbs_binding;

/* Whether a vertex has the influences of the previous skin. */
static inline int sbs_is_kept(const sbs_binding *binding, size_t vertex) {
  return binding->previous && !binding->changed[vertex];
}

#endif
