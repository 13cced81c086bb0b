/* SPDX-License-Identifier: MIT */
/*
 * A mesh, its weights and some poses, as benchmarks/workloads.py writes them: a header, then the arrays in the order of
 * the fields below, in the machine's own byte order. C and C++.
 */
#ifndef BENCHMARKS_WORKLOAD_H
#define BENCHMARKS_WORKLOAD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct workload {
  size_t vertex_count, joint_count, influences, frame_count;
  double *skinning_matrices; /* (frame_count, joint_count, 3, 4) */
  double *joint_positions;   /* (joint_count, 3) */
  float *rest_positions;     /* (vertex_count, 3) */
  float *rest_normals;       /* (vertex_count, 3) */
  float *joint_weights;      /* (vertex_count, influences) descending, their sum is 1 */
  int32_t *joint_indices;    /* (vertex_count, influences) */
  int32_t *parents;          /* (joint_count) */
} workload;

static inline void *checked_malloc(size_t size) {
  void *memory = malloc(size ? size : 1);
  if (!memory) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return memory;
}

static inline void *read_array(FILE *file, size_t count, size_t size) {
  void *array = checked_malloc(count * size);
  if (fread(array, size, count, file) != count) {
    fprintf(stderr, "the workload is too short\n");
    exit(1);
  }
  return array;
}

/* Reads a workload, or ends the program. */
static inline workload read_workload(const char *path) {
  struct {
    char magic[8];
    uint64_t vertex_count, joint_count, influences, frame_count;
  } header;
  workload load;
  FILE *file = fopen(path, "rb");
  if (!file || fread(&header, sizeof header, 1, file) != 1 || memcmp(header.magic, "SBSLOAD1", 8)) {
    fprintf(stderr, "%s is no workload\n", path);
    exit(1);
  }
  load.vertex_count = (size_t)header.vertex_count;
  load.joint_count = (size_t)header.joint_count;
  load.influences = (size_t)header.influences;
  load.frame_count = (size_t)header.frame_count;
  load.skinning_matrices = (double *)read_array(file, 12 * load.frame_count * load.joint_count, sizeof(double));
  load.joint_positions = (double *)read_array(file, 3 * load.joint_count, sizeof(double));
  load.rest_positions = (float *)read_array(file, 3 * load.vertex_count, sizeof(float));
  load.rest_normals = (float *)read_array(file, 3 * load.vertex_count, sizeof(float));
  load.joint_weights = (float *)read_array(file, load.influences * load.vertex_count, sizeof(float));
  load.joint_indices = (int32_t *)read_array(file, load.influences * load.vertex_count, sizeof(int32_t));
  load.parents = (int32_t *)read_array(file, load.joint_count, sizeof(int32_t));
  fclose(file);
  return load;
}

#endif
