/* SPDX-License-Identifier: MIT */
/* The surface of a belly, as rings of points. */
#include <math.h>

#include "base/algebra.h"
#include "base/fault.h"
#include "muscles/bound.h"
#include "muscles/path.h"

#define PI 3.14159265358979323846

static void normalize(double v[3]) {
  const double length = sqrt(sbs_dot(v, v));
  for (int i = 0; i < 3; i++) v[i] = length > 0.0 ? v[i] / length : 0.0;
}

/* Directions across the path: the thin one, and the wide one. */
static void find_axes(const double along[3], const double near[3], double thin[3], double wide[3]) {
  const double off = sbs_dot(near, along);
  for (int i = 0; i < 3; i++) thin[i] = near[i] - off * along[i];
  normalize(thin);
  sbs_cross(along, thin, wide);
}

/* A direction that is not along the path anywhere; rings of round sections may begin in any. */
static void choose_direction(const sbs_posed_muscle *posed, double direction[3]) {
  double chord[3], end[3];
  sbs_path_at(&posed->path, 1.0, end);
  for (int i = 0; i < 3; i++) chord[i] = fabs(end[i] - posed->path.by_power[0][i]);
  for (int i = 0; i < 3; i++) direction[i] = posed->flattening == 1.0 ? 0.0 : posed->thin_direction[i];
  if (posed->flattening == 1.0) {
    direction[chord[0] <= chord[1] && chord[0] <= chord[2] ? 0 : chord[1] <= chord[2] ? 1 : 2] = 1.0;
  }
}

sbs_status sbs_muscles_surface(const sbs_muscles *muscles, const sbs_pose *pose, const double *activations,
                               size_t muscle, size_t rings, size_t sides, double *positions, sbs_fault *fault) {
  const sbs_status status = sbs_check_muscle_pose(muscles, pose, activations, fault);
  if (status) return status;
  if (muscle >= muscles->muscle_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "muscle", (double)muscle, (double)muscles->muscle_count);
  }
  if (rings < 2) return sbs_fault_number(fault, SBS_ERROR_OPTION, "rings", (double)rings, 2.0);
  if (sides < 3) return sbs_fault_number(fault, SBS_ERROR_OPTION, "sides", (double)sides, 3.0);
  if (!positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "positions");

  sbs_posed_muscle posed;
  double direction[3];
  const double activation = activations ? activations[muscle] : 0.0, size = sbs_size_in(muscles, pose);
  sbs_pose_muscle(muscles->muscles + muscle, pose, size, activation, &posed, NULL);
  choose_direction(&posed, direction);
  for (size_t ring = 0; ring < rings; ring++) {
    const double u = (double)ring / (double)(rings - 1), x = posed.start + u * (posed.end - posed.start);
    const double radius = posed.growth * sbs_radius_at(posed.profile, u), flat = sqrt(posed.flattening);
    double center[3], along[3], thin[3], wide[3];
    sbs_path_at(&posed.path, x, center);
    sbs_path_speed(&posed.path, x, along);
    normalize(along);
    find_axes(along, direction, thin, wide);
    for (size_t side = 0; side < sides; side++) {
      const double angle = 2.0 * PI * (double)side / (double)sides;
      const double across = radius * flat * sin(angle), up = radius / flat * cos(angle);
      double *to = positions + 3 * (ring * sides + side);
      for (int i = 0; i < 3; i++) to[i] = size * (center[i] + up * thin[i] + across * wide[i]);
    }
  }
  return SBS_OK;
}
