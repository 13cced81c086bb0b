/* SPDX-License-Identifier: MIT */
/*
 * On Windows the library, loaded from the path that is given, stays loaded with the threads that it has started: it can
 * be unloaded while they are awake, or asleep, and loaded again, and lets the process end.
 */
#include "loaded_library.h"
#include "system.h"

static int is_loaded(const char *path) {
  HMODULE module;
  return GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, path, &module) != 0;
}

static void load_deform_unload(const char *path, int threads, int sleeps) {
  const loaded_library library = load_library(path);
  if (!CHECK(library != NULL)) return;
  deform_by_loaded(library, threads);
  if (sleeps) sleep_milliseconds(20);
  CHECK(FreeLibrary(library));
  CHECK_EQUAL(is_loaded(path), threads > 1);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  load_deform_unload(argv[1], 1, 0); /* without threads there is nothing to stay for */
  for (int i = 0; i < 20; i++) load_deform_unload(argv[1], 4, i % 2);
  const loaded_library library = load_library(argv[1]);
  deform_by_loaded(library, 4); /* and ends beside threads that are awake */
  return harness_result();
}
