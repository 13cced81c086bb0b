/* SPDX-License-Identifier: MIT */
/* The library, loaded from the path that is given, takes its threads along when it is unloaded. */
#include <dirent.h>
#include <dlfcn.h>
#include <sbs/sbs.h>

#include "harness.h"

enum {
  VERTICES = 100000
};

static float rest[VERTICES][3], weights[VERTICES], positions[VERTICES][3];
static int32_t joints[VERTICES];

static int count_threads(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return -1;
  for (const struct dirent *task; (task = readdir(tasks));) count += task->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* Functions by name; ISO C knows no other way from a pointer to data. */
#define FIND(library, name) \
  __typeof__(name) *name##_found; \
  *(void **)&name##_found = dlsym(library, #name); \
  CHECK(name##_found != NULL)

static void load_deform_unload(const char *path) {
  const int before = count_threads();
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!CHECK(library != NULL)) return;
  const int with_library = count_threads(); /* LAPACK may have some, too */
  FIND(library, sbs_default_skin_desc);
  FIND(library, sbs_default_deform_options);
  FIND(library, sbs_skin_new);
  FIND(library, sbs_skin_deform);
  FIND(library, sbs_skin_free);

  sbs_skin_desc desc = sbs_default_skin_desc_found();
  desc.vertex_count = VERTICES, desc.joint_count = 1, desc.influences_per_vertex = 1;
  desc.rest_positions = rest, desc.joint_indices = joints, desc.joint_weights = weights;
  sbs_deform_options options = sbs_default_deform_options_found();
  options.threads = 4;
  const float matrix[3][4] = {{1, 0, 0, 5}, {0, 1, 0, 0}, {0, 0, 1, 0}};
  const sbs_pose pose = {.skinning_matrices = matrix, .scalar = SBS_FLOAT32, .rows = 3};
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new_found(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_deform_found(skin, &pose, &options, positions, NULL, NULL, NULL), SBS_OK);
  CHECK(positions[VERTICES - 1][0] == 5.0f);
  CHECK_EQUAL(count_threads(), with_library + 3);
  sbs_skin_free_found(skin);

  CHECK_EQUAL(dlclose(library), 0);
  CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);
  CHECK(count_threads() <= with_library);
  CHECK(count_threads() >= before);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  for (int v = 0; v < VERTICES; v++) weights[v] = 1.0f;
  for (int i = 0; i < 20; i++) load_deform_unload(argv[1]);
  return harness_result();
}
