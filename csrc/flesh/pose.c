/* SPDX-License-Identifier: MIT */
/* Bones, planes and apexes in a pose. */
#include <float.h>
#include <math.h>

#include "base/algebra.h"
#include "base/scalar.h"
#include "flesh/step.h"

/* Planes of a hinge come in as the directions of its bones differ by the first to the second of these. */
#define BENT_FROM 0.15
#define BENT_TO 0.6

void sbs_flesh_place_pieces(sbs_flesh_state *state) {
  const sbs_flesh *flesh = state->flesh;
  for (size_t p = 0; p < flesh->part_count; p++) {
    if (flesh->parts[p].joint >= 0) continue;
    double sums[3] = {0.0};
    const size_t begin = flesh->part_starts[p], end = flesh->part_starts[p + 1];
    for (size_t i = begin; i < end; i++) {
      const int32_t *corners = flesh->triangles[flesh->part_triangles[i]].corners;
      for (size_t c = 0; c < 9; c++) sums[c % 3] += (double)state->y[corners[c / 3]][c % 3];
    }
    for (size_t axis = 0; axis < 3; axis++)
      state->apexes[p][axis] = (float)(sums[axis] / (3.0 * (double)(end - begin)));
  }
}

static void read_matrix(const sbs_pose *pose, size_t joint, double linear[9], double move[3]) {
  for (size_t i = 0; i < 12; i++) {
    const double number = sbs_scalar_get(pose->skinning_matrices, pose->scalar, joint * 4 * pose->rows + i);
    *(i % 4 < 3 ? linear + i / 4 * 3 + i % 4 : move + i / 4) = number;
  }
}

static void move_point(const sbs_flesh *flesh, const sbs_flesh_posed *in, size_t joint, const double *point,
                       double out[3]) {
  double linear[9], move[3], at[3];
  read_matrix(in->pose, joint, linear, move);
  for (int i = 0; i < 3; i++) at[i] = flesh->size * point[i] + flesh->middle[i];
  for (int i = 0; i < 3; i++) out[i] = (sbs_dot(linear + 3 * i, at) + move[i] - in->middle[i]) / in->size;
}

static void move_direction(const sbs_flesh_posed *in, size_t joint, const double *direction, double out[3]) {
  double linear[9], move[3];
  read_matrix(in->pose, joint, linear, move);
  sbs_apply(linear, direction, out);
  const double length = sqrt(sbs_dot(out, out));
  for (int i = 0; i < 3; i++) out[i] = length > 0.0 ? out[i] / length : direction[i];
}

static void set_plane(const sbs_flesh *flesh, const sbs_flesh_posed *in, const sbs_flesh_hinge *hinge,
                      sbs_flesh_plane *plane) {
  double point[3], own[3], above[3], between[3], inward[3];
  move_point(flesh, in, (size_t)hinge->joint, hinge->point, point);
  move_direction(in, (size_t)hinge->joint, hinge->along, own);
  move_direction(in, (size_t)hinge->parent, hinge->above, above);
  for (int i = 0; i < 3; i++) between[i] = own[i] + above[i], inward[i] = own[i] - above[i];
  const double length = sqrt(sbs_dot(between, between)), bent = sqrt(sbs_dot(inward, inward));
  /* Of bones that lie in each other no plane is known. */
  const double strength = sbs_smooth_step((bent - BENT_FROM) / (BENT_TO - BENT_FROM)) * sbs_smooth_step(5.0 * length);
  *plane = (sbs_flesh_plane){.strength = (float)strength};
  if (!(strength > 0.0)) return;
  for (int i = 0; i < 3; i++)
    plane->normal[i] = (float)(between[i] / length), plane->inward[i] = (float)(inward[i] / bent);
  plane->offset = (float)(-sbs_dot(between, point) / length);
  plane->inward_offset = (float)(-sbs_dot(inward, point) / bent);
}

/* A plane holds skin on the inside of the bend alone. */
static void set_guards(sbs_flesh_state *state) {
  const sbs_flesh *flesh = state->flesh;
  for (size_t g = 0; g < flesh->guard_count; g++) {
    const sbs_flesh_guard *guard = flesh->guards + g;
    const sbs_flesh_plane *plane = state->planes + guard->hinge;
    double inside = (double)plane->inward_offset;
    for (int i = 0; i < 3; i++) inside += (double)plane->inward[i] * (double)state->start[guard->vertex][i];
    const double radius = (double)flesh->vertices[guard->vertex].radius;
    state->guard_strengths[g] =
        plane->strength * guard->strength * (float)sbs_smooth_step(2.0 * (inside / radius + 0.3));
  }
}

void sbs_flesh_set_pose(sbs_flesh_state *state, const sbs_flesh_posed *in) {
  const sbs_flesh *flesh = state->flesh;
  for (size_t j = 0; j < flesh->joint_count; j++) {
    double ends[6];
    move_point(flesh, in, j, flesh->bones + 6 * j, ends);
    move_point(flesh, in, j, flesh->bones + 6 * j + 3, ends + 3);
    double along[3];
    for (size_t i = 0; i < 3; i++) {
      along[i] = ends[3 + i] - ends[i];
      state->bones[j][i] = (float)ends[i];
      state->bones[j][4 + i] = (float)along[i];
    }
    const double inverse = 1.0 / sbs_dot(along, along);
    state->bones[j][3] = isfinite(inverse) && inverse < (double)FLT_MAX ? (float)inverse : 0.0f;
    state->bones[j][7] = 0.0f;
  }
  for (size_t h = 0; h < flesh->hinge_count; h++) set_plane(flesh, in, flesh->hinges + h, state->planes + h);
  for (size_t p = 0; p < flesh->part_count; p++) {
    double apex[3] = {0.0};
    if (flesh->parts[p].joint >= 0) move_point(flesh, in, (size_t)flesh->parts[p].joint, flesh->parts[p].apex, apex);
    for (int i = 0; i < 3; i++) state->apexes[p][i] = (float)apex[i];
    state->pressures[p] = 0.0f;
  }
  sbs_flesh_place_pieces(state);
  set_guards(state);
}

double sbs_flesh_find_scale(const sbs_flesh *flesh, const sbs_pose *pose, double *scales) {
  for (size_t j = 0; j < flesh->joint_count; j++) {
    double linear[9], move[3];
    read_matrix(pose, j, linear, move);
    scales[j] = cbrt(fabs(sbs_determinant(linear)));
  }
  const double scale = sbs_flesh_median(scales, flesh->joint_count);
  return isfinite(scale) && scale > 1e-30 && fabs(scale - 1.0) > 1e-6 ? scale : 1.0;
}
