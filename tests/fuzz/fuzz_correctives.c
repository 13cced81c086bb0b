/* SPDX-License-Identifier: MIT */
/* Drivers of any joints and poses: finite weights, or none. Shapes of any skin: as deform and gradient without them. */
#include <math.h>
#include <sbs/correctives.h>
#include <sbs/gradient.h>
#include <string.h>

#include "things.h"

#define DRIVER_ERRORS \
  (FUZZ_ERROR(EMPTY) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(NOT_FINITE) | FUZZ_ERROR(JOINT_INDEX) | FUZZ_ERROR(PARENT) | \
   FUZZ_ERROR(OPTION) | FUZZ_ERROR(OUT_OF_MEMORY))
#define SHAPE_ERRORS \
  (FUZZ_ERROR(EMPTY) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(NOT_FINITE) | FUZZ_ERROR(VERTEX_INDEX) | \
   FUZZ_ERROR(OPTION) | FUZZ_ERROR(OUT_OF_MEMORY))

/* ------------------------------------------------------------------------------------------------------ drivers -- */

/* Where each of some lists starts; mostly ascending. Arrays have to be as long as the last number says. */
static size_t *make_offsets(fuzz_input *in, size_t count, size_t least, size_t most) {
  size_t *offsets = fuzz_room(in, (count + 1) * sizeof *offsets);
  offsets[0] = fuzz_rarely(in) ? 1 : 0;
  for (size_t i = 0; i < count; i++) {
    offsets[i + 1] = fuzz_rarely(in) ? fuzz_below(in, 12) : offsets[i] + least + fuzz_below(in, most);
  }
  return offsets;
}

static sbs_drivers *make_drivers(fuzz_input *in, size_t joint_count, size_t *driving) {
  sbs_drivers_desc desc = sbs_default_drivers_desc();
  desc.joint_count = joint_count;
  desc.driver_count = fuzz_rarely(in) ? 0 : 1 + fuzz_below(in, 3);
  const size_t *offsets = make_offsets(in, desc.driver_count, 1, 3);
  const size_t count = offsets[desc.driver_count];
  *driving = count;
  desc.driver_offsets = offsets;
  desc.joints = fuzz_indices(in, count, 0, joint_count);
  desc.parents = fuzz_indices(in, count, -1, joint_count);
  desc.axes = fuzz_reals(in, 3 * count, SBS_FLOAT64, -fuzz_size(in), 1.0);
  sbs_driver_part *parts = fuzz_room(in, desc.driver_count * sizeof *parts);
  for (size_t d = 0; d < desc.driver_count; d++) parts[d] = (sbs_driver_part)(fuzz_byte(in) % 3);
  desc.parts = fuzz_byte(in) & 1 ? parts : NULL;
  desc.pose_count = fuzz_rarely(in) ? 0 : 1 + fuzz_below(in, 6);
  int32_t *drivers = fuzz_indices(in, desc.pose_count, 0, desc.driver_count ? desc.driver_count : 1);
  size_t coordinates = 0;
  for (size_t k = 0; k < desc.pose_count; k++) {
    const size_t d = (size_t)drivers[k];
    if (drivers[k] >= 0 && d < desc.driver_count && offsets[d + 1] > offsets[d]) {
      coordinates += 3 * (offsets[d + 1] - offsets[d]);
    }
  }
  desc.pose_drivers = drivers;
  desc.coordinates = fuzz_reals(in, coordinates, SBS_FLOAT64, -3.0 * fuzz_size(in), 3.0);
  const sbs_allocator allocator = fuzz_allocator(in);
  sbs_drivers *made = NULL;
  sbs_fault fault = {0};
  fuzz_fail_soon(in);
  const sbs_status status = sbs_drivers_new(&desc, &allocator, &made, &fault);
  in->fail_at = SIZE_MAX;
  fuzz_check_status(status, DRIVER_ERRORS, &fault);
  FUZZ_CHECK((status == SBS_OK) == (made != NULL));
  FUZZ_CHECK(sbs_drivers_pose_count(made) == (made ? desc.pose_count : 0));
  return made;
}

static void drive(fuzz_input *in) {
  const size_t joint_count = 1 + fuzz_below(in, 8), frames = fuzz_byte(in) % 3;
  size_t driving;
  sbs_drivers *drivers = make_drivers(in, joint_count, &driving);
  if (!drivers) return;
  const sbs_pose poses = fuzz_extreme_pose(in, joint_count, frames ? frames : 1);
  const size_t weight_count = frames * sbs_drivers_pose_count(drivers);
  double *coordinates = fuzz_room(in, 3 * driving * sizeof *coordinates);
  double *weights = fuzz_room(in, weight_count * sizeof *weights);
  sbs_fault fault = {0};
  sbs_status status = sbs_drivers_coordinates(drivers, &poses, coordinates, &fault);
  fuzz_check_status(status, FUZZ_POSE_ERRORS | FUZZ_ERROR(TOO_LARGE), &fault);
  for (size_t i = 0; status == SBS_OK && i < 3 * driving; i++) FUZZ_CHECK(fabs(coordinates[i]) < 7.0);
  fault = (sbs_fault){0};
  fuzz_fail_soon(in);
  status = sbs_drivers_weights(drivers, frames, &poses, weights, &fault);
  fuzz_check_status(status, FUZZ_POSE_ERRORS | FUZZ_ERROR(TOO_LARGE), &fault);
  if (status == SBS_OK) FUZZ_CHECK(fuzz_count_not_finite(weights, weight_count, SBS_FLOAT64) == 0);
  sbs_drivers_free(drivers);
}

/* ------------------------------------------------------------------------------------------------------- shapes -- */

static sbs_shapes *make_shapes(fuzz_input *in, const sbs_skin *skin, const sbs_skin_desc *skin_desc) {
  sbs_shapes_desc desc = sbs_default_shapes_desc();
  desc.shape_count = fuzz_rarely(in) ? 0 : 1 + fuzz_below(in, 4);
  desc.shape_offsets = make_offsets(in, desc.shape_count, 0, 6);
  const size_t count = desc.shape_offsets[desc.shape_count];
  desc.vertices = fuzz_indices(in, count, 0, skin_desc->vertex_count);
  desc.scalar = fuzz_scalar(in);
  desc.deltas = fuzz_reals(in, 3 * count, desc.scalar, -1.0, 1.0);
  const int turns = skin_desc->rest_normals ? (int)(fuzz_byte(in) & 1) : fuzz_rarely(in);
  if (turns) desc.normal_deltas = fuzz_reals(in, 3 * count, desc.scalar, -1.0, 1.0);
  const sbs_allocator allocator = fuzz_allocator(in);
  sbs_shapes *shapes = NULL;
  sbs_fault fault = {0};
  fuzz_fail_soon(in);
  const sbs_status status = sbs_shapes_new(skin, &desc, &allocator, &shapes, &fault);
  in->fail_at = SIZE_MAX;
  fuzz_check_status(status, SHAPE_ERRORS, &fault);
  FUZZ_CHECK((status == SBS_OK) == (shapes != NULL));
  FUZZ_CHECK(sbs_shapes_count(shapes) == (shapes ? desc.shape_count : 0));
  return shapes;
}

/* Weights of some frames, some of them 0. */
static const double *make_weights(fuzz_input *in, const sbs_shapes *shapes, size_t frames) {
  const size_t count = frames * sbs_shapes_count(shapes);
  double *weights = fuzz_reals(in, count, SBS_FLOAT64, -2.0, 2.0);
  for (size_t i = 0; i < count; i++) {
    if (fuzz_byte(in) % 3 == 1) weights[i] = 0.0;
  }
  return weights;
}

/* Frames at once are those one by one, bit for bit; where all weights are 0, they are those without shapes. */
static void deform(fuzz_input *in, const sbs_skin *skin, const sbs_skin_desc *desc, const sbs_shapes *shapes) {
  const size_t frames = 1 + fuzz_byte(in) % 3, joint_count = desc->joint_count;
  const sbs_pose pose = fuzz_pose(in, joint_count, frames);
  sbs_deform_options options = fuzz_deform_options(in, skin);
  options.shapes = shapes;
  options.shape_weights = make_weights(in, shapes, frames);
  const size_t size = fuzz_extent(skin, options.positions_stride, frames);
  const size_t one = fuzz_extent(skin, options.positions_stride, 1);
  char *positions = fuzz_room(in, size), *first = fuzz_room(in, one);
  sbs_fault fault = {0};
  sbs_status status = sbs_skin_deform_many(skin, frames, &pose, &options, positions, NULL, NULL, &fault);
  fuzz_check_status(status, FUZZ_POSE_ERRORS | FUZZ_ERROR(TOO_LARGE), &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(positions, size));
    return;
  }
  int any = 0;
  for (size_t s = 0; s < sbs_shapes_count(shapes); s++) any |= options.shape_weights[s] != 0.0;
  options.threads = 1;
  if (!any) options.shapes = NULL;
  if (!any) options.shape_weights = NULL;
  fault = (sbs_fault){0};
  status = sbs_skin_deform(skin, &pose, &options, first, NULL, NULL, &fault);
  fuzz_check_status(status, FUZZ_ERROR(OUT_OF_MEMORY), &fault);
  if (status == SBS_OK) FUZZ_CHECK(!memcmp(first, positions, one));
}

static void undo(fuzz_input *in, const sbs_skin *skin, const sbs_skin_desc *desc, const sbs_shapes *shapes) {
  const sbs_pose pose = fuzz_pose(in, desc->joint_count, 1);
  sbs_deform_options options = fuzz_deform_options(in, skin);
  options.shapes = shapes;
  options.shape_weights = make_weights(in, shapes, 1);
  const size_t size = fuzz_extent(skin, options.positions_stride, 1);
  const void *posed = fuzz_rows(in, desc->vertex_count, 3, 0, desc->scalar, -4.0, 4.0);
  char *rest = fuzz_room(in, size);
  sbs_fault fault = {0};
  const sbs_status status = sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, rest, NULL, NULL, &fault);
  fuzz_check_status(status, FUZZ_POSE_ERRORS | FUZZ_ERROR(TOO_LARGE), &fault);
  if (status != SBS_OK) FUZZ_CHECK(fuzz_is_untouched(rest, size));
}

static void differentiate(fuzz_input *in, const sbs_skin *skin, const sbs_skin_desc *desc, const sbs_shapes *shapes) {
  const size_t size = 3 * desc->vertex_count * (desc->scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double));
  const sbs_pose pose = fuzz_pose(in, desc->joint_count, 1);
  sbs_deform_options options = fuzz_deform_options(in, skin);
  options.shapes = shapes;
  options.shape_weights = make_weights(in, shapes, 1);
  const sbs_gradient_upstream upstream = {.positions = fuzz_reals(in, 3 * desc->vertex_count, desc->scalar, -1.0, 1.0),
                                          .normals =
                                              desc->rest_normals && fuzz_byte(in) & 1
                                                  ? fuzz_reals(in, 3 * desc->vertex_count, desc->scalar, -1.0, 1.0)
                                                  : NULL};
  const unsigned wanted = fuzz_byte(in);
  const sbs_gradient_result result = {
      .rest_positions = wanted & 1 ? fuzz_room(in, size) : NULL,
      .rest_normals = wanted & 2 && desc->rest_normals ? fuzz_room(in, size) : NULL,
      .shape_weights = wanted & 4 ? fuzz_room(in, sbs_shapes_count(shapes) * sizeof(double)) : NULL,
      .shaped_positions = wanted & 8 ? fuzz_room(in, size) : NULL,
      .shaped_normals = wanted & 16 ? fuzz_room(in, size) : NULL,
  };
  const sbs_allocator allocator = fuzz_allocator(in);
  sbs_gradient *gradient = NULL;
  sbs_fault fault = {0};
  sbs_status status = sbs_gradient_new(skin, desc, &allocator, &gradient, &fault);
  fuzz_check_status(status, FUZZ_ERROR(OPTION) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(OUT_OF_MEMORY), &fault);
  if (status == SBS_OK) {
    fault = (sbs_fault){0};
    fuzz_fail_soon(in);
    status = sbs_gradient_deform(gradient, skin, desc, &pose, &options, &upstream, &result, &fault);
    fuzz_check_status(status, FUZZ_POSE_ERRORS | FUZZ_ERROR(TOO_LARGE), &fault);
    if (status != SBS_OK && result.rest_positions) FUZZ_CHECK(fuzz_is_untouched(result.rest_positions, size));
  }
  sbs_gradient_free(gradient);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const unsigned what = fuzz_byte(&in) % 4;
  if (what == 0) {
    drive(&in);
  } else {
    sbs_skin_desc desc;
    sbs_skin *skin = fuzz_skin(&in, &desc);
    sbs_shapes *shapes = skin ? make_shapes(&in, skin, &desc) : NULL;
    if (shapes && what == 1) deform(&in, skin, &desc, shapes);
    if (shapes && what == 2) undo(&in, skin, &desc, shapes);
    if (shapes && what == 3) differentiate(&in, skin, &desc, shapes);
    sbs_shapes_free(shapes);
    sbs_skin_free(skin);
  }
  fuzz_close(&in);
  return 0;
}
