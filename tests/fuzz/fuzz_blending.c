/* SPDX-License-Identifier: MIT */
/*
 * A method that is blended with a base by amounts: where an amount is 0 or 1 it is the one or the other to the last
 * bit, and nothing else is written.
 */
#include <math.h>
#include <string.h>

#include "things.h"

static double amount_at(const sbs_deform_options *options, size_t vertex) {
  if (!options->amount) return 1.0;
  if (options->amount_scalar == SBS_FLOAT32) return (double)((const float *)options->amount)[vertex];
  return ((const double *)options->amount)[vertex];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  sbs_skin_desc desc;
  sbs_skin *skin = fuzz_skin(&in, &desc);
  if (!skin) goto done;
  in.fail_at = SIZE_MAX;
  const sbs_pose pose = fuzz_pose(&in, desc.joint_count, 1);
  sbs_deform_options options = fuzz_deform_options(&in, skin);
  const size_t row = desc.scalar == SBS_FLOAT64 ? 24 : 12;
  const size_t stride = options.positions_stride ? options.positions_stride : row;
  const size_t normals_stride = options.normals_stride ? options.normals_stride : row;
  const size_t extent = fuzz_extent(skin, stride, 1), normals_extent = fuzz_extent(skin, normals_stride, 1);
  const int with_normals = desc.rest_normals != NULL;
  char *room[3], *normals[3];
  for (int i = 0; i < 3; i++) {
    room[i] = fuzz_room(&in, extent);
    normals[i] = with_normals ? fuzz_room(&in, normals_extent) : NULL;
  }
  sbs_fault fault = {0};
  sbs_status status = sbs_skin_deform(skin, &pose, &options, room[0], normals[0], NULL, &fault);
  fuzz_check_status(status, FUZZ_POSE_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(room[0], extent) && (!with_normals || fuzz_is_untouched(normals[0], normals_extent)));
    goto done;
  }

  sbs_deform_options whole = options, base = sbs_default_deform_options();
  whole.amount = NULL;
  whole.base = NULL;
  if (options.base) base = *options.base;
  base.method = options.base ? base.method : SBS_METHOD_LINEAR;
  base.positions_stride = options.positions_stride;
  base.normals_stride = options.normals_stride;
  base.threads = options.threads;
  FUZZ_CHECK(sbs_skin_deform(skin, &pose, &whole, room[1], normals[1], NULL, NULL) == SBS_OK);
  FUZZ_CHECK(sbs_skin_deform(skin, &pose, &base, room[2], normals[2], NULL, NULL) == SBS_OK || !options.amount);
  for (size_t v = 0; v < desc.vertex_count; v++) {
    const double amount = amount_at(&options, v);
    if (amount != 0.0 && amount != 1.0) continue;
    const int which = amount == 1.0 ? 1 : 2;
    FUZZ_CHECK(!memcmp(room[0] + v * stride, room[which] + v * stride, row));
    if (with_normals) {
      FUZZ_CHECK(!memcmp(normals[0] + v * normals_stride, normals[which] + v * normals_stride, row));
    }
  }
done:
  sbs_skin_free(skin);
  fuzz_close(&in);
  return 0;
}
