/* SPDX-License-Identifier: MIT */
#include "deformer.h"

#include <sbs/centers.h>
#include <stdlib.h>
#include <string.h>

/* The header of stored bytes. The arrays follow, in the order of `arrays` below. */
typedef struct header {
  uint32_t magic, version;
  uint64_t vertices, joints, influences;
  uint64_t has_centers;
} header;

enum {
  MAGIC = 0x66656473, /* "sdef" where the lowest byte comes first */
  VERSION = 1
};

/* All that was bound, and the skin made of it. */
typedef struct bound {
  header counts;
  float *positions;
  int32_t *joint_indices;
  double *weights;
  int32_t *parents;
  double *joint_positions;
  double *centers; /* or NULL */
  sbs_skin *skin;
} bound;

struct deformer {
  bound now;
};

enum {
  ARRAYS = 6
};

typedef struct array {
  void **values;
  uint64_t count;
  size_t size; /* of one */
} array;

static void list_arrays(bound *b, array arrays[ARRAYS]) {
  const header *h = &b->counts;
  arrays[0] = (array){(void **)&b->positions, h->vertices * 3, sizeof(float)};
  arrays[1] = (array){(void **)&b->joint_indices, h->vertices * h->influences, sizeof(int32_t)};
  arrays[2] = (array){(void **)&b->weights, h->vertices * h->influences, sizeof(double)};
  arrays[3] = (array){(void **)&b->parents, h->joints, sizeof(int32_t)};
  arrays[4] = (array){(void **)&b->joint_positions, h->joints * 3, sizeof(double)};
  arrays[5] = (array){(void **)&b->centers, h->has_centers ? h->vertices * 3 : 0, sizeof(double)};
}

static void release(bound *b) {
  array arrays[ARRAYS];
  list_arrays(b, arrays);
  for (int i = 0; i < ARRAYS; i++) free(*arrays[i].values);
  sbs_skin_free(b->skin);
  memset(b, 0, sizeof *b);
}

/* Room for all arrays that the counts tell of. */
static sbs_status allocate(bound *b) {
  array arrays[ARRAYS];
  list_arrays(b, arrays);
  for (int i = 0; i < ARRAYS; i++) {
    if (!arrays[i].count) continue;
    if (arrays[i].count > SIZE_MAX / arrays[i].size) return SBS_ERROR_TOO_LARGE;
    *arrays[i].values = malloc((size_t)arrays[i].count * arrays[i].size);
    if (!*arrays[i].values) return SBS_ERROR_OUT_OF_MEMORY;
  }
  return SBS_OK;
}

static sbs_skin_desc describe(const bound *b) {
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = (size_t)b->counts.vertices;
  desc.joint_count = (size_t)b->counts.joints;
  desc.influences_per_vertex = (size_t)b->counts.influences;
  desc.rest_positions = b->positions;
  desc.joint_indices = b->joint_indices;
  desc.weight_scalar = SBS_FLOAT64;
  desc.joint_weights = b->weights;
  desc.parents = b->parents;
  desc.joint_positions = b->joint_positions;
  desc.centers = b->centers;
  return desc;
}

/* Takes a newly bound mesh in place of the old one, if all is well. */
static sbs_status take(deformer *d, bound *b, sbs_status status) {
  const sbs_skin_desc desc = describe(b);
  if (status == SBS_OK) status = sbs_skin_new(&desc, NULL, &b->skin, NULL, NULL);
  if (status != SBS_OK) {
    release(b);
    return status;
  }
  release(&d->now);
  d->now = *b;
  return SBS_OK;
}

deformer *deformer_new(void) {
  return calloc(1, sizeof(deformer));
}

void deformer_free(deformer *d) {
  if (!d) return;
  release(&d->now);
  free(d);
}

sbs_status deformer_bind(deformer *d, const sbs_skin_desc *desc, int optimized, size_t triangle_count,
                         const int32_t *triangles) {
  if (!desc->parents || !desc->joint_positions) return SBS_ERROR_NULL;
  if (desc->scalar != SBS_FLOAT32 || desc->weight_scalar != SBS_FLOAT64) return SBS_ERROR_OPTION;
  bound b = {0};
  b.counts =
      (header){MAGIC, VERSION, desc->vertex_count, desc->joint_count, desc->influences_per_vertex, optimized != 0};
  sbs_status status = sbs_skin_check(desc, NULL, NULL, NULL); /* before anything of it is read */
  if (status == SBS_OK) status = allocate(&b);
  if (status == SBS_OK) {
    const void *sources[] = {desc->rest_positions, desc->joint_indices, desc->joint_weights, desc->parents,
                             desc->joint_positions};
    array arrays[ARRAYS];
    list_arrays(&b, arrays);
    for (int i = 0; i < ARRAYS - 1; i++)
      memcpy(*arrays[i].values, sources[i], (size_t)arrays[i].count * arrays[i].size);
    if (optimized) status = sbs_centers_optimized(desc, triangle_count, triangles, NULL, b.centers, NULL, NULL);
  }
  return take(d, &b, status);
}

sbs_status deformer_evaluate(const deformer *d, const double *matrices, size_t rows, double envelope,
                             float *positions) {
  const bound *b = &d->now;
  if (!b->skin) return SBS_ERROR_NULL;
  const sbs_pose pose = {.skinning_matrices = matrices, .scalar = SBS_FLOAT64, .rows = rows};
  sbs_deform_options options = sbs_default_deform_options();
  options.center = b->centers ? SBS_CENTER_OPTIMIZED : SBS_CENTER_JOINT_SET;
  const sbs_status status = sbs_skin_deform(b->skin, &pose, &options, positions, NULL, NULL, NULL);
  if (status != SBS_OK || envelope == 1.0) return status;
  for (uint64_t i = 0; i < b->counts.vertices * 3; i++) {
    positions[i] = (float)(b->positions[i] + envelope * ((double)positions[i] - b->positions[i]));
  }
  return SBS_OK;
}

/*
 * Optimized centers stay: those of the painted vertices are a little stale until the host binds again, which it does
 * when the mouse button is released.
 */
sbs_status deformer_set_weights(deformer *d, size_t count, const int32_t *vertices, const int32_t *joints,
                                const double *weights) {
  bound *b = &d->now;
  if (!b->skin) return SBS_ERROR_NULL;
  const size_t k = (size_t)b->counts.influences, all = (size_t)b->counts.vertices * k;
  for (size_t i = 0; i < count; i++) {
    if (vertices[i] < 0 || (uint64_t)vertices[i] >= b->counts.vertices) return SBS_ERROR_VERTEX_INDEX;
  }
  int32_t *new_joints = malloc(all * sizeof *new_joints);
  double *new_weights = malloc(all * sizeof *new_weights);
  sbs_status status = new_joints && new_weights ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  sbs_skin *updated = NULL;
  if (status == SBS_OK) {
    memcpy(new_joints, b->joint_indices, all * sizeof *new_joints);
    memcpy(new_weights, b->weights, all * sizeof *new_weights);
    for (size_t i = 0; i < count; i++) {
      memcpy(new_joints + (size_t)vertices[i] * k, joints + i * k, k * sizeof *joints);
      memcpy(new_weights + (size_t)vertices[i] * k, weights + i * k, k * sizeof *weights);
    }
    sbs_skin_desc desc = describe(b);
    desc.joint_indices = new_joints, desc.joint_weights = new_weights;
    status = sbs_skin_update(b->skin, &desc, vertices, count, NULL, &updated, NULL, NULL);
  }
  if (status != SBS_OK) {
    free(new_joints), free(new_weights);
    return status;
  }
  free(b->joint_indices), free(b->weights);
  b->joint_indices = new_joints, b->weights = new_weights;
  sbs_skin_free(b->skin);
  b->skin = updated;
  return SBS_OK;
}

size_t deformer_store(const deformer *d, void *bytes, size_t size) {
  bound b = d->now;
  if (!b.skin) return 0;
  array arrays[ARRAYS];
  list_arrays(&b, arrays);
  size_t total = sizeof b.counts;
  for (int i = 0; i < ARRAYS; i++) total += (size_t)arrays[i].count * arrays[i].size;
  if (size < total) return total;
  char *next = bytes;
  memcpy(next, &b.counts, sizeof b.counts), next += sizeof b.counts;
  for (int i = 0; i < ARRAYS; i++) {
    const size_t length = (size_t)arrays[i].count * arrays[i].size;
    if (length) memcpy(next, *arrays[i].values, length), next += length;
  }
  return total;
}

/* Whether the counts are those of so many bytes; none of them may overflow the sum. */
static int is_consistent(bound *b, size_t size) {
  const header *h = &b->counts;
  const uint64_t most = INT32_MAX;
  if (h->magic != MAGIC || h->version != VERSION || h->has_centers > 1) return 0;
  if (h->vertices > most || h->joints > most || h->influences > most / (h->vertices + 1)) return 0;
  array arrays[ARRAYS];
  list_arrays(b, arrays);
  uint64_t total = sizeof *h;
  for (int i = 0; i < ARRAYS; i++) total += arrays[i].count * arrays[i].size;
  return total == size;
}

sbs_status deformer_load(deformer *d, const void *bytes, size_t size) {
  bound b = {0};
  if (size < sizeof b.counts) return SBS_ERROR_OPTION;
  memcpy(&b.counts, bytes, sizeof b.counts);
  if (!is_consistent(&b, size)) return SBS_ERROR_OPTION;
  const sbs_status status = allocate(&b);
  if (status == SBS_OK) {
    const char *next = (const char *)bytes + sizeof b.counts;
    array arrays[ARRAYS];
    list_arrays(&b, arrays);
    for (int i = 0; i < ARRAYS; i++) {
      const size_t length = (size_t)arrays[i].count * arrays[i].size;
      if (length) memcpy(*arrays[i].values, next, length), next += length;
    }
  }
  return take(d, &b, status); /* sbs_skin_new looks at every number of it */
}
