/* SPDX-License-Identifier: MIT */
/* Optimized centers: by one thread as by two, given up at any time, and within the box around the mesh. */
#include <math.h>
#include <sbs/centers.h>
#include <string.h>

#include "things.h"

#define CENTERS_ERRORS (FUZZ_MESH_ERRORS | FUZZ_ERROR(JOINT_INDEX) | FUZZ_ERROR(CANCELLED))

typedef struct patience {
  size_t calls, most;
  double before;
} patience;

static int tell(double fraction, void *user) {
  patience *told = user;
  FUZZ_CHECK(fraction >= told->before && fraction <= 1.0);
  told->before = fraction;
  return told->calls++ == told->most;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const sbs_skin_desc desc = fuzz_skin_desc(&in);
  const sbs_mesh_desc mesh = fuzz_mesh(&in, desc.vertex_count);
  sbs_centers_options options = sbs_default_centers_options();
  if (fuzz_byte(&in) & 1) options.sigma = fuzz_rarely(&in) ? fuzz_number(&in) : (1 + fuzz_byte(&in)) / 64.0;
  options.refinement = fuzz_rarely(&in) ? fuzz_number(&in) : fuzz_byte(&in) & 1 ? INFINITY : 0.25;
  if (fuzz_byte(&in) & 1) options.tolerance = fuzz_fraction(&in) / 16.0;
  options.threads = fuzz_threads(&in);
  patience told = {.most = fuzz_rarely(&in) ? fuzz_below(&in, 64) : SIZE_MAX};
  options.progress = fuzz_byte(&in) & 1 ? NULL : tell;
  options.progress_user = &told;
  options.allocator = fuzz_allocator(&in);

  /* No part of a triangle is smaller than this: with a hundred times a hundred of them an input takes too long. */
  if (options.refinement < 0.05 && options.refinement >= 0.01) options.refinement = 0.05;

  const size_t count = 3 * desc.vertex_count;
  double *centers = fuzz_room(&in, count * sizeof *centers), *again = fuzz_room(&in, count * sizeof *again);
  sbs_centers_report report = {0}, report_again = {0};
  sbs_fault fault = {0};
  sbs_status status =
      sbs_centers_optimized(&desc, mesh.triangle_count, mesh.triangles, &options, centers, &report, &fault);
  fuzz_check_status(status, CENTERS_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(centers, count * sizeof *centers));
  } else {
    FUZZ_CHECK(report.rigid + report.dissimilar <= desc.vertex_count);
    for (size_t i = 0; i < count; i++) FUZZ_CHECK(isfinite(centers[i]));
    in.fail_at = SIZE_MAX;
    options.threads = 1 + options.threads % 2;
    options.progress = NULL;
    status = sbs_centers_optimized(&desc, mesh.triangle_count, mesh.triangles, &options, again, &report_again, NULL);
    FUZZ_CHECK(status == SBS_OK && !memcmp(&report, &report_again, sizeof report));
    FUZZ_CHECK(!memcmp(centers, again, count * sizeof *centers));
  }
  fuzz_close(&in);
  return 0;
}
