/* SPDX-License-Identifier: MIT */
/* The library, loaded from the path that is given, takes its threads along when it is unloaded. */
#include <dirent.h>

#include "loaded_library.h"
#include "system.h"

static int count_threads(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return -1;
  for (const struct dirent *task; (task = readdir(tasks));) count += task->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* The kernel may list a thread that has been joined for a moment longer; an emulator, for some. */
static int are_threads_at_most(int count) {
  for (int i = 0; i < 1000 && count_threads() > count; i++) sleep_milliseconds(2);
  return count_threads() <= count;
}

static void load_deform_unload(const char *path) {
  const loaded_library library = load_library(path);
  if (!CHECK(library != NULL)) return;
  const int with_library = count_threads(); /* LAPACK may have some, too */
  CHECK(with_library > 0);
  deform_by_loaded(library, 4);
  CHECK_EQUAL(count_threads(), with_library + 3);

  CHECK_EQUAL(dlclose(library), 0);
  CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);
  CHECK(are_threads_at_most(with_library));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  for (int i = 0; i < 20; i++) load_deform_unload(argv[1]);
  return harness_result();
}
