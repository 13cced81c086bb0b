/* SPDX-License-Identifier: MIT */
/* Vertices dragged to anywhere: weights stay weights, a drag that fails changes none, a change is undone. */
#include <sbs/drag.h>
#include <string.h>

#include "things.h"

#define NEW_ERRORS (FUZZ_MESH_ERRORS | FUZZ_ERROR(JOINT_INDEX))
#define DRAG_ERRORS (FUZZ_POSE_ERRORS | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(JOINT_INDEX) | FUZZ_ERROR(VERTEX_INDEX))

enum {
  DRAGS = 3
};

static sbs_deform_options *choose_method(fuzz_input *in, size_t vertices) {
  sbs_deform_options *options = fuzz_room(in, sizeof *options);
  *options = sbs_default_deform_options();
  options->method = (sbs_method)(fuzz_rarely(in) ? fuzz_byte(in) : 1 + fuzz_byte(in) % 3);
  options->center = (sbs_center)(fuzz_rarely(in) ? fuzz_byte(in) : fuzz_byte(in) % 3);
  if (fuzz_byte(in) & 1) options->damping = fuzz_size(in);
  if (fuzz_byte(in) & 1) {
    options->amount_scalar = fuzz_scalar(in);
    options->amount = fuzz_reals(in, vertices, options->amount_scalar, 0.0, 1.0);
  }
  return options;
}

static void drag(fuzz_input *in, sbs_brush *brush, size_t vertices, size_t joints, size_t width) {
  const double size = fuzz_size(in);
  sbs_drag_options options = sbs_default_drag_options();
  options.deform = choose_method(in, vertices);
  if (fuzz_byte(in) & 1) options.centers = fuzz_reals(in, 3 * vertices, SBS_FLOAT64, -2.0 * size, 2.0 * size);
  const unsigned twisted = fuzz_byte(in);
  sbs_twist *twist = twisted & 1 ? fuzz_twist_of_a_bone(in, joints, size) : NULL;
  options.twist = twist;
  if (twist && twisted & 2) options.twist_positions = fuzz_reals(in, 3 * vertices, SBS_FLOAT64, -size, size);
  const double *angles = twist && fuzz_byte(in) & 1 ? fuzz_reals(in, 2, SBS_FLOAT64, -4.0, 4.0) : NULL;
  options.radius = fuzz_rarely(in) ? fuzz_number(in) : (1 + fuzz_byte(in)) / 64.0;
  options.distance = (sbs_brush_distance)(fuzz_byte(in) & 1);
  options.joints = fuzz_flags_or_null(in, joints);
  options.locked = fuzz_flags_or_null(in, joints);
  options.mirror_axis = fuzz_rarely(in) ? (int)fuzz_byte(in) - 128 : (int)(fuzz_byte(in) % 4) - 1;
  if (options.mirror_axis >= 0 && fuzz_byte(in) & 1) options.mirror_position = fuzz_number(in);
  if (options.mirror_axis >= 0 && fuzz_byte(in) & 1) options.mirror_joints = fuzz_indices(in, joints, 0, joints);
  options.threads = fuzz_threads(in);
  sbs_pose pose = fuzz_extreme_pose(in, joints, 1);
  pose.twist_angles = angles;
  const double *target = fuzz_reals(in, 3, SBS_FLOAT64, -2.0 * size, 2.0 * size);
  const size_t vertex = fuzz_below(in, vertices + (size_t)fuzz_rarely(in)), count = vertices * width;

  int32_t *indices[2] = {fuzz_room(in, count * sizeof **indices), fuzz_room(in, count * sizeof **indices)};
  double *weights[2] = {fuzz_room(in, count * sizeof **weights), fuzz_room(in, count * sizeof **weights)};
  FUZZ_CHECK(sbs_brush_get_influences(brush, indices[0], weights[0]) == SBS_OK);
  sbs_brush_change change = {0};
  sbs_fault fault = {0};
  fuzz_fail_soon(in);
  const sbs_status status = sbs_drag_vertex(brush, &options, &pose, vertex, target, &change, &fault);
  in->fail_at = SIZE_MAX;
  fuzz_check_status(status, DRAG_ERRORS, &fault);
  FUZZ_CHECK(sbs_brush_get_influences(brush, indices[1], weights[1]) == SBS_OK);
  if (status == SBS_OK) {
    fuzz_check_pairs(indices[1], weights[1], SBS_FLOAT64, vertices, width, joints, 0);
    if (fuzz_byte(in) & 1) {
      FUZZ_CHECK(sbs_brush_restore(brush, change.vertices, change.old_joint_indices, change.old_joint_weights,
                                   change.vertex_count, NULL) == SBS_OK);
      FUZZ_CHECK(sbs_brush_get_influences(brush, indices[1], weights[1]) == SBS_OK);
      FUZZ_CHECK(!memcmp(indices[0], indices[1], count * sizeof **indices));
      FUZZ_CHECK(!memcmp(weights[0], weights[1], count * sizeof **weights));
    }
  } else {
    FUZZ_CHECK(!memcmp(indices[0], indices[1], count * sizeof **indices));
    FUZZ_CHECK(!memcmp(weights[0], weights[1], count * sizeof **weights));
  }
  sbs_twist_free(twist);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const size_t vertices = 1 + fuzz_byte(&in) % 12;
  const sbs_influences_table table = fuzz_table(&in, vertices);
  const sbs_mesh_desc mesh = fuzz_mesh(&in, vertices);
  const size_t width = table.influences_per_vertex + fuzz_below(&in, 3);
  const sbs_allocator allocator = fuzz_allocator(&in);
  sbs_brush *brush = NULL;
  sbs_fault fault = {0};
  const sbs_status status = sbs_brush_new(&table, &mesh, width, &allocator, &brush, &fault);
  fuzz_check_status(status, NEW_ERRORS, &fault);
  in.fail_at = SIZE_MAX;
  for (int i = 0; brush && i < DRAGS && in.left; i++) drag(&in, brush, vertices, table.joint_count, width);
  sbs_brush_free(brush);
  fuzz_close(&in);
  return 0;
}
