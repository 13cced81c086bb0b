/* SPDX-License-Identifier: MIT */
/* The library, loaded from a path while the program runs, and made to start threads. */
#ifndef SBS_TESTS_LOADED_LIBRARY_H
#define SBS_TESTS_LOADED_LIBRARY_H

#include <sbs/sbs.h>

#include "harness.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

typedef HMODULE loaded_library;

static inline loaded_library load_library(const char *path) {
  return LoadLibraryA(path);
}

static inline void *find_function(loaded_library library, const char *name) {
  const FARPROC found = GetProcAddress(library, name);
  void *function;
  memcpy(&function, &found, sizeof function);
  return function;
}
#else
#include <dlfcn.h>

typedef void *loaded_library;

static inline loaded_library load_library(const char *path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static inline void *find_function(loaded_library library, const char *name) {
  return dlsym(library, name);
}
#endif

/* Functions by name; ISO C knows no other way from a pointer to data. */
#define FIND(library, name) \
  __typeof__(name) *name##_found; \
  *(void **)&name##_found = find_function(library, #name); \
  CHECK(name##_found != NULL)

/* Deforms enough vertices, by a translation of 5 along x, for so many threads. */
static inline void deform_by_loaded(loaded_library library, int threads) {
  enum {
    VERTICES = 100000
  };
  static float rest[VERTICES][3], weights[VERTICES], positions[VERTICES][3];
  static int32_t joints[VERTICES];
  FIND(library, sbs_default_skin_desc);
  FIND(library, sbs_default_deform_options);
  FIND(library, sbs_skin_new);
  FIND(library, sbs_skin_deform);
  FIND(library, sbs_skin_free);

  for (int v = 0; v < VERTICES; v++) weights[v] = 1.0f;
  memset(positions, 0, sizeof positions);
  sbs_skin_desc desc = sbs_default_skin_desc_found();
  desc.vertex_count = VERTICES, desc.joint_count = 1, desc.influences_per_vertex = 1;
  desc.rest_positions = rest, desc.joint_indices = joints, desc.joint_weights = weights;
  sbs_deform_options options = sbs_default_deform_options_found();
  options.threads = threads;
  const float matrix[3][4] = {{1, 0, 0, 5}, {0, 1, 0, 0}, {0, 0, 1, 0}};
  const sbs_pose pose = {.skinning_matrices = matrix, .scalar = SBS_FLOAT32, .rows = 3};
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new_found(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_deform_found(skin, &pose, &options, positions, NULL, NULL, NULL), SBS_OK);
  CHECK(positions[VERTICES - 1][0] == 5.0f);
  sbs_skin_free_found(skin);
}

#endif
