/* SPDX-License-Identifier: MIT */
#include "things.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../c/system.h"

sbs_scalar fuzz_scalar(fuzz_input *in) {
  const unsigned byte = fuzz_byte(in);
  return byte < 250 ? (byte & 1 ? SBS_FLOAT64 : SBS_FLOAT32) : (sbs_scalar)2;
}

static size_t bytes_of(sbs_scalar scalar) {
  return scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double);
}

size_t fuzz_count(fuzz_input *in, size_t most) {
  const unsigned byte = fuzz_byte(in);
  if (byte < 224) return 1 + byte % (most < 24 ? most : 24);
  if (byte < 250) return 1 + fuzz_below(in, most);
  return 0;
}

int fuzz_threads(fuzz_input *in) {
  const unsigned byte = fuzz_byte(in);
  return byte < 240 ? 1 + (int)(byte & 1) : (int)fuzz_word(in) >> 16;
}

size_t fuzz_gap(fuzz_input *in, sbs_scalar scalar) {
  const size_t each = scalar == SBS_FLOAT64 ? 8 : 4;
  return fuzz_byte(in) % 3 * each;
}

/* 0 for packed where there is no gap, or else the stride; rarely not a good one, of which nothing is then read. */
static size_t stride_of(fuzz_input *in, size_t gap, sbs_scalar scalar) {
  const size_t each = scalar == SBS_FLOAT64 ? 8 : 4;
  if (fuzz_rarely(in)) return 1 + fuzz_below(in, 3 * each - 1);
  return gap || fuzz_byte(in) & 1 ? 3 * each + gap : 0;
}

void fuzz_choose_instruction_set(fuzz_input *in) {
  static const char *const names[] = {"baseline", "plain", "avx2", "avx512"};
  if (setenv("SBS_ISA", names[fuzz_below(in, 4)], 1)) abort();
}

/* Mostly a tree with parents before children, though in no order that must be so. */
static int32_t *parents_or_null(fuzz_input *in, size_t joint_count) {
  const unsigned byte = fuzz_byte(in);
  if (byte & 1) return NULL;
  if (byte >= 240) return fuzz_indices(in, joint_count, -1, joint_count);
  int32_t *parents = fuzz_room(in, joint_count * sizeof *parents);
  for (size_t j = 0; j < joint_count; j++) parents[j] = (int32_t)fuzz_below(in, j + 1) - 1;
  return parents;
}

sbs_skin_desc fuzz_skin_desc(fuzz_input *in) {
  sbs_skin_desc desc = sbs_default_skin_desc();
  const size_t vertices = desc.vertex_count = fuzz_count(in, 200), joints = desc.joint_count = fuzz_count(in, 40);
  const size_t width = desc.influences_per_vertex = fuzz_count(in, fuzz_rarely(in) ? 40 : 6);
  desc.scalar = fuzz_scalar(in);
  size_t gap = fuzz_gap(in, desc.scalar);
  desc.rest_positions = fuzz_rows(in, vertices, 3, gap, desc.scalar, -4.0, 4.0);
  desc.rest_positions_stride = stride_of(in, gap, desc.scalar);
  if (fuzz_byte(in) & 1) {
    gap = fuzz_gap(in, desc.scalar);
    desc.rest_normals = fuzz_rows(in, vertices, 3, gap, desc.scalar, -1.0, 1.0);
    desc.rest_normals_stride = stride_of(in, gap, desc.scalar);
  }
  desc.joint_indices = fuzz_indices(in, vertices * width, 0, joints ? joints : 1);
  desc.weight_scalar = fuzz_scalar(in);
  desc.joint_weights = fuzz_reals(in, vertices * width, desc.weight_scalar, fuzz_rarely(in) ? -0.25 : 0.0, 1.0);
  desc.parents = parents_or_null(in, joints);
  if (fuzz_byte(in) & 1) desc.joint_positions = fuzz_reals(in, joints * 3, SBS_FLOAT64, -4.0, 4.0);
  if (fuzz_byte(in) & 1) desc.centers = fuzz_reals(in, vertices * 3, SBS_FLOAT64, -4.0, 4.0);
  return desc;
}

sbs_skin_options fuzz_skin_options(fuzz_input *in) {
  sbs_skin_options options = sbs_default_skin_options();
  options.strict = fuzz_rarely(in);
  if (fuzz_byte(in) & 1) options.sum_tolerance = fuzz_fraction(in);
  options.allocator = fuzz_allocator(in);
  return options;
}

sbs_skin *fuzz_skin(fuzz_input *in, sbs_skin_desc *desc) {
  sbs_skin *skin = NULL;
  sbs_fault fault = {0};
  fuzz_choose_instruction_set(in);
  *desc = fuzz_skin_desc(in);
  const sbs_skin_options options = fuzz_skin_options(in);
  fuzz_check_status(sbs_skin_new(desc, &options, &skin, NULL, &fault), FUZZ_BIND_ERRORS, &fault);
  return skin;
}

/* -------------------------------------------------------------------------------------------------------- poses -- */

/* Rows of a turn about an axis of the coordinates, by as many eighths as a byte says. */
static void turn(double m[3][4], unsigned axis, double angle) {
  const unsigned i = (axis + 1) % 3, j = (axis + 2) % 3;
  for (int column = 0; column < 4; column++) {
    const double a = m[i][column], b = m[j][column];
    m[i][column] = cos(angle) * a - sin(angle) * b;
    m[j][column] = sin(angle) * a + cos(angle) * b;
  }
}

static void make_joint(fuzz_input *in, double m[4][4]) {
  static const double sizes[] = {1.0, 1.0, 2.0, 0.5, 1e-3, 0.0, -1.0, 1.01};
  const unsigned kind = fuzz_byte(in);
  memset(m, 0, 16 * sizeof **m);
  for (int i = 0; i < 4; i++) m[i][i] = 1.0;
  if (kind & 1) {
    const unsigned bits = fuzz_byte(in);
    turn(m, bits % 3, (double)(bits >> 2) * (acos(-1.0) / 16.0));
  }
  if (kind & 2) turn(m, kind >> 5 & 1, 0.01 * (double)fuzz_byte(in));
  if (kind & 4) {
    for (int i = 0; i < 3; i++) m[i][3] = fuzz_number(in);
  }
  if ((kind & 24) == 24) {
    for (int i = 0; i < 3; i++) {
      const double size = sizes[fuzz_below(in, 8)];
      for (int j = 0; j < 3; j++) m[j][i] *= size;
    }
  }
  if (kind >= 252) {
    const size_t at = fuzz_below(in, 16);
    m[at / 4][at % 4] = fuzz_number(in);
  }
}

sbs_pose fuzz_pose(fuzz_input *in, size_t joint_count, size_t frame_count) {
  const sbs_scalar scalar = fuzz_scalar(in);
  const size_t rows = fuzz_rarely(in) ? fuzz_byte(in) : 3 + (fuzz_byte(in) & 1), count = joint_count * frame_count;
  const size_t made_rows = rows == 4 ? 4 : 3, each = scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double);
  char *matrices = fuzz_room(in, count * made_rows * 4 * each);
  for (size_t j = 0; j < count; j++) {
    double m[4][4];
    make_joint(in, m);
    for (size_t i = 0; i < made_rows * 4; i++) {
      const float narrow = (float)(fabs(m[i / 4][i % 4]) > 3.4e38 ? INFINITY : m[i / 4][i % 4]);
      memcpy(matrices + (j * made_rows * 4 + i) * each, scalar == SBS_FLOAT32 ? (void *)&narrow : &m[i / 4][i % 4],
             each);
    }
  }
  return (sbs_pose){.skinning_matrices = matrices, .scalar = scalar, .rows = rows};
}

double fuzz_size(fuzz_input *in) {
  static const double sizes[] = {1e30,   1e31,  1e-30, 1e200,   1e-200, 1.7e308, 5e-324, 1e150, 1e-150,
                                 1e-160, 1e100, 1e7,   1.01e30, 1e15,   1e-15,   1e38,   1e-38, 1e-310};
  const unsigned byte = fuzz_byte(in);
  return byte < 160 ? 1.0 : sizes[byte % (sizeof sizes / sizeof *sizes)];
}

sbs_pose fuzz_extreme_pose(fuzz_input *in, size_t joint_count, size_t frame_count) {
  const sbs_pose pose = fuzz_pose(in, joint_count, frame_count);
  const double size = fuzz_size(in);
  const size_t all = joint_count * frame_count, numbers = pose.rows == 4 ? 16 : 12;
  if (size == 1.0 || !all || (int)pose.scalar > SBS_FLOAT64) return pose;
  const size_t one = fuzz_below(in, 2 * all), begin = one < all ? one : 0, end = one < all ? one + 1 : all;
  const size_t columns = fuzz_byte(in) & 1 ? 4 : 3; /* with the translation, or without */
  sbs_pose scaled = pose;
  char *matrices = fuzz_room(in, all * numbers * bytes_of(pose.scalar));
  scaled.skinning_matrices = matrices;
  memcpy(matrices, pose.skinning_matrices, all * numbers * bytes_of(pose.scalar));
  for (size_t i = begin * numbers; i < end * numbers; i++) {
    if (i % numbers >= 12 || i % 4 >= columns) continue;
    if (pose.scalar == SBS_FLOAT64) {
      ((double *)(void *)matrices)[i] *= size;
    } else {
      const double number = (double)((float *)(void *)matrices)[i] * size;
      ((float *)(void *)matrices)[i] = (float)(fabs(number) > 3.4e38 ? copysign(3.4e38, number) : number);
    }
  }
  return scaled;
}

void fuzz_fail_soon(fuzz_input *in) {
  if (fuzz_byte(in) & 1) in->fail_at = in->allocated + fuzz_below(in, 40);
}

size_t fuzz_count_not_finite(const void *numbers, size_t count, sbs_scalar scalar) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    const double number = scalar == SBS_FLOAT32 ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
    found += isfinite(number) ? 0 : 1;
  }
  return found;
}

static void choose_method(fuzz_input *in, sbs_deform_options *options) {
  const unsigned byte = fuzz_byte(in);
  options->method = (sbs_method)(byte < 240 ? (byte & 7) < 4 ? SBS_METHOD_SPHERICAL : byte & 3 : byte);
  options->rotation = (sbs_rotation)(byte >> 3 & 1);
  options->center = (sbs_center)(fuzz_rarely(in) ? 3 : (byte >> 4) % 3);
  if (fuzz_byte(in) & 1) options->damping = fuzz_fraction(in);
  if (options->center == SBS_CENTER_JOINT_SET && fuzz_byte(in) & 1) options->rcond = 0.5 * fuzz_fraction(in);
}

sbs_deform_options fuzz_deform_options(fuzz_input *in, const sbs_skin *skin) {
  sbs_deform_options options = sbs_default_deform_options();
  sbs_skin_info info;
  FUZZ_CHECK(sbs_skin_get_info(skin, &info) == SBS_OK);
  choose_method(in, &options);
  options.threads = fuzz_threads(in);
  size_t gap = fuzz_gap(in, info.scalar);
  options.positions_stride = stride_of(in, gap, info.scalar);
  gap = fuzz_gap(in, info.scalar);
  options.normals_stride = stride_of(in, gap, info.scalar);
  const unsigned byte = fuzz_byte(in);
  if (byte & 1) {
    options.amount_scalar = fuzz_scalar(in);
    options.amount = fuzz_reals(in, info.vertex_count, options.amount_scalar, 0.0, 1.0);
  }
  if (byte & 2) {
    gap = fuzz_gap(in, info.scalar);
    options.rest_positions_stride = stride_of(in, gap, info.scalar);
    options.rest_positions = fuzz_rows(in, info.vertex_count, 3, gap, info.scalar, -2.0, 2.0);
  }
  if (byte & 4) {
    const size_t exact = sbs_skin_scratch_size(skin);
    options.scratch_size = byte & 8 ? exact : byte & 16 ? 3 * exact : fuzz_below(in, exact + 1);
    char *room = fuzz_room(in, options.scratch_size + 64 + 64);
    options.scratch = room + (64 - (uintptr_t)room % 64) % 64 + (fuzz_rarely(in) ? 8 : 0);
  }
  return options;
}

size_t fuzz_extent(const sbs_skin *skin, size_t stride, size_t frame_count) {
  sbs_skin_info info;
  FUZZ_CHECK(sbs_skin_get_info(skin, &info) == SBS_OK);
  const size_t row = info.scalar == SBS_FLOAT64 ? 24 : 12, rows = frame_count * info.vertex_count;
  return rows ? (rows - 1) * (stride > row ? stride : row) + row : 0;
}

/* ------------------------------------------------------------------------------------------- meshes, influences -- */

/* A strip of quads, so that many edges have two triangles; or triangles between any vertices. */
static int32_t *triangles_of(fuzz_input *in, size_t vertex_count, size_t *triangle_count) {
  const unsigned byte = fuzz_byte(in);
  *triangle_count = byte & 1 ? fuzz_below(in, 64) : 2 * vertex_count;
  if (!vertex_count) *triangle_count = 0;
  if (!*triangle_count) return NULL;
  if (byte & 1) return fuzz_indices(in, *triangle_count * 3, 0, vertex_count);
  int32_t *triangles = fuzz_room(in, *triangle_count * 3 * sizeof *triangles);
  const size_t width = 1 + (byte >> 1) % 8;
  for (size_t t = 0; t < *triangle_count; t++) {
    const size_t v = t / 2, corners[3] = {v + t % 2, v + (t % 2 ? 1 + width : 1), v + width};
    for (size_t i = 0; i < 3; i++) triangles[3 * t + i] = (int32_t)(corners[i] % vertex_count);
  }
  return triangles;
}

sbs_mesh_desc fuzz_mesh(fuzz_input *in, size_t vertex_count) {
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  mesh.vertex_count = vertex_count;
  mesh.scalar = fuzz_scalar(in);
  const size_t gap = fuzz_gap(in, mesh.scalar);
  mesh.positions = fuzz_rows(in, vertex_count, 3, gap, mesh.scalar, -2.0, 2.0);
  mesh.positions_stride = stride_of(in, gap, mesh.scalar);
  mesh.triangles = triangles_of(in, vertex_count, &mesh.triangle_count);
  return mesh;
}

sbs_influences_table fuzz_table(fuzz_input *in, size_t vertex_count) {
  sbs_influences_table table = {.vertex_count = vertex_count, .joint_count = fuzz_count(in, 40)};
  const size_t width = table.influences_per_vertex = fuzz_count(in, fuzz_rarely(in) ? 40 : 6);
  table.joint_indices = fuzz_indices(in, vertex_count * width, 0, table.joint_count ? table.joint_count : 1);
  table.scalar = fuzz_scalar(in);
  table.joint_weights = fuzz_reals(in, vertex_count * width, table.scalar, 0.0, 1.0);
  return table;
}

sbs_twist *fuzz_twist_of_a_bone(fuzz_input *in, size_t joints, double size) {
  sbs_twist_desc desc = sbs_default_twist_desc();
  sbs_twist *twist = NULL;
  static const int32_t own = 0;
  desc.joint_count = joints;
  desc.bone_count = 1;
  desc.joints = &own;
  desc.parents = fuzz_indices(in, 1, -1, joints);
  desc.children = fuzz_indices(in, 1, -1, joints);
  desc.heads = fuzz_reals(in, 3, SBS_FLOAT64, -2.0 * size, 2.0 * size);
  desc.tails = fuzz_reals(in, 3, SBS_FLOAT64, -2.0 * size, 2.0 * size);
  return sbs_twist_new(&desc, NULL, &twist, NULL) ? NULL : twist;
}
