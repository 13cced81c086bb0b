/* SPDX-License-Identifier: MIT */
/* sbs_skin_deform and its like, inverse, rotation centers, palettes: of any options, by one thread as by several. */
#include <math.h>
#include <string.h>

#include "things.h"

/* One frame by one call, and by a call for many: the same bits. */
static void deform(fuzz_input *in, const sbs_skin *skin, size_t joint_count) {
  const size_t frames = 1 + fuzz_byte(in) % 3;
  const sbs_pose pose = fuzz_pose(in, joint_count, frames);
  sbs_deform_options options = fuzz_deform_options(in, skin);
  const size_t size = fuzz_extent(skin, options.positions_stride, frames);
  const size_t normals_size = fuzz_extent(skin, options.normals_stride, frames);
  const int with_normals = fuzz_byte(in) & 1;
  char *positions = fuzz_room(in, size), *normals = with_normals ? fuzz_room(in, normals_size) : NULL;
  sbs_deform_report report = {0};
  sbs_fault fault = {0};
  sbs_status status = sbs_skin_deform_many(skin, frames, &pose, &options, positions, normals, &report, &fault);
  fuzz_check_status(status, FUZZ_POSE_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(positions, size) && (!normals || fuzz_is_untouched(normals, normals_size)));
    return;
  }
  options.threads = 1;
  const size_t one = fuzz_extent(skin, options.positions_stride, 1);
  char *first = fuzz_room(in, one);
  char *first_normals = normals ? fuzz_room(in, fuzz_extent(skin, options.normals_stride, 1)) : NULL;
  fault = (sbs_fault){0};
  status = sbs_skin_deform(skin, &pose, &options, first, first_normals, NULL, &fault);
  fuzz_check_status(status, FUZZ_ERROR(OUT_OF_MEMORY), &fault);
  if (status != SBS_OK) return;
  FUZZ_CHECK(!memcmp(first, positions, one));
  if (normals) FUZZ_CHECK(!memcmp(first_normals, normals, fuzz_extent(skin, options.normals_stride, 1)));
}

static void undo(fuzz_input *in, const sbs_skin *skin, const sbs_skin_desc *desc) {
  const sbs_pose pose = fuzz_pose(in, desc->joint_count, 1);
  const sbs_deform_options options = fuzz_deform_options(in, skin);
  const size_t gap = fuzz_gap(in, desc->scalar), size = fuzz_extent(skin, options.positions_stride, 1);
  const void *posed = fuzz_rows(in, desc->vertex_count, 3, gap, desc->scalar, -4.0, 4.0);
  const size_t posed_stride = gap ? (desc->scalar == SBS_FLOAT64 ? 24 : 12) + gap : 0;
  char *rest = fuzz_room(in, size);
  unsigned char *singular = fuzz_byte(in) & 1 ? NULL : fuzz_room(in, desc->vertex_count);
  size_t singular_count = SIZE_MAX;
  sbs_fault fault = {0};
  const sbs_status status =
      sbs_skin_inverse_deform(skin, &pose, &options, posed, posed_stride, rest, singular, &singular_count, &fault);
  fuzz_check_status(status, FUZZ_POSE_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(rest, size) && singular_count == SIZE_MAX);
    FUZZ_CHECK(!singular || fuzz_is_untouched(singular, desc->vertex_count));
    return;
  }
  size_t counted = 0;
  for (size_t v = 0; singular && v < desc->vertex_count; v++) {
    FUZZ_CHECK(singular[v] <= 1);
    counted += singular[v];
  }
  FUZZ_CHECK(!singular || counted == singular_count);
}

/* What shaders need: a palette has the centers, rounded. */
static void make_palette(fuzz_input *in, const sbs_skin *skin, const sbs_pose *pose, const sbs_deform_options *options,
                         const double *centers) {
  sbs_skin_info info;
  FUZZ_CHECK(sbs_skin_get_info(skin, &info) == SBS_OK);
  const size_t width = 1 + fuzz_below(in, 6);
  int32_t *joints = fuzz_room(in, info.vertex_count * width * sizeof *joints);
  float *weights = fuzz_room(in, info.vertex_count * width * sizeof *weights);
  double lost = -1.0;
  sbs_fault fault = {0};
  sbs_status status = sbs_skin_influences(skin, width, joints, weights, &lost, &fault);
  fuzz_check_status(status, FUZZ_ERROR(OUT_OF_MEMORY), &fault);
  for (size_t i = 0; i < info.vertex_count * width && status == SBS_OK; i++) {
    FUZZ_CHECK(joints[i] >= 0 && (size_t)joints[i] < info.joint_count && weights[i] >= 0.0F && weights[i] <= 1.0F);
    FUZZ_CHECK(i % width == 0 || weights[i] <= weights[i - 1]);
  }
  FUZZ_CHECK(status != SBS_OK || (lost >= 0.0 && lost < 1.0));

  const size_t center_count = info.joint_set_count * 4, size = center_count * sizeof(float);
  float *palette = fuzz_room(in, info.joint_count * 16 * sizeof *palette), *rounded = fuzz_room(in, size);
  fault = (sbs_fault){0};
  status = sbs_pose_palette(skin, 1, pose, options, palette, rounded, NULL, &fault);
  fuzz_check_status(status, FUZZ_ERROR(OUT_OF_MEMORY), &fault);
  for (size_t i = 0; i < center_count && status == SBS_OK; i++) {
    FUZZ_CHECK(rounded[i] == (i % 4 < 3 ? (float)centers[i / 4 * 3 + i % 4] : 0.0F));
  }
}

static void find_centers(fuzz_input *in, const sbs_skin *skin, size_t joint_count) {
  sbs_skin_info info;
  FUZZ_CHECK(sbs_skin_get_info(skin, &info) == SBS_OK);
  const sbs_pose pose = fuzz_pose(in, joint_count, 1);
  const sbs_deform_options options = fuzz_deform_options(in, skin);
  double *centers = fuzz_room(in, info.joint_set_count * 3 * sizeof *centers);
  sbs_fault fault = {0};
  const sbs_status status = sbs_skin_rotation_centers(skin, &pose, &options, centers, NULL, &fault);
  fuzz_check_status(status, FUZZ_POSE_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(centers, info.joint_set_count * 3 * sizeof *centers));
  } else {
    make_palette(in, skin, &pose, &options, centers);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const unsigned what = fuzz_byte(&in) % 4;
  sbs_skin_desc desc;
  sbs_skin *skin = fuzz_skin(&in, &desc);
  if (skin) {
    if (fuzz_byte(&in) & 1) in.fail_at = in.allocated + fuzz_below(&in, 16);
    switch (what) {
      case 2: undo(&in, skin, &desc); break;
      case 3: find_centers(&in, skin, desc.joint_count); break;
      default: deform(&in, skin, desc.joint_count);
    }
  }
  sbs_skin_free(skin);
  fuzz_close(&in);
  return 0;
}
