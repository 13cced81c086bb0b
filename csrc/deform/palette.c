/* SPDX-License-Identifier: MIT */
#include "deform/palette.h"

#include <math.h>

#include "base/algebra.h"
#include "pose/center.h"

static double find_scale(const sbs_joint *joint) {
  double a[9];
  sbs_vec4_to_rows(joint->given, a);
  return cbrt(fabs(sbs_determinant(a)));
}

/* Whether A is R times one positive number. */
static int is_scaled(const sbs_stretch *stretch, double scale) {
  double defect = 0.0;
  for (int j = 0; j < 3; j++) {
    for (int i = 0; i < 3; i++) {
      const double d = stretch->stretch[j][i] - (i == j ? scale : 0.0);
      defect += d * d;
    }
  }
  return scale > 0.0 && sqrt(defect) <= SBS_RIGID_TOLERANCE * scale;
}

static void write_joint(const sbs_joint *joint, int as_given, double scale, float *row) {
  const sbs_vec4 *matrix = as_given ? joint->given : joint->moving;
  const double root = sqrt(scale);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) row[4 * i + j] = (float)matrix[j][i];
    row[4 * i + 3] = (float)joint->translation[i];
  }
  for (int k = 0; k < 4; k++) row[12 + k] = (float)(root * joint->quaternion[(k + 1) % 4]);
}

void sbs_write_palette(sbs_frame *frame) {
  const sbs_skin *skin = frame->skin;
  const sbs_posed *posed = &frame->posed;
  sbs_palette *palette = &frame->palette;
  for (size_t j = 0; j < skin->joint_count; j++) {
    double scale = 1.0;
    if (posed->kinds[j] & SBS_JOINT_NONRIGID) {
      scale = find_scale(posed->joints + j);
      palette->scaled_joints += is_scaled(posed->stretches + j, scale) != 0;
    }
    write_joint(posed->joints + j, palette->as_given, scale, palette->joints + SBS_PALETTE_ROW * j);
  }
  for (size_t set = 0; palette->centers && set < skin->set_count; set++) {
    double center[3];
    sbs_rest_center(skin, set, posed->joints, posed->kinds, posed->centers, center);
    for (size_t i = 0; i < 3; i++) palette->centers[4 * set + i] = (float)center[i];
    palette->centers[4 * set + 3] = 0.0F;
  }
}
