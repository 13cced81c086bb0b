/* SPDX-License-Identifier: MIT */
/* Prepares a frame for all its vertices: joints and centers, tables of rows, and the vertices that need double. */
#include "deform/pose.h"

#include <math.h>
#include <string.h>

#include "base/scalar.h"
#include "base/threads.h"
#include "deform/options.h"
#include "deform/palette.h"
#include "pose/center.h"

/* The least work that is worth another thread. */
enum {
  JOINTS_CHUNK = 64,
  SETS_CHUNK = 64,
  SHAPES_CHUNK = 256 /* blocks */
};

static sbs_status sum_shapes(void *context, sbs_share blocks, int worker) {
  const sbs_frame *frame = context;
  (void)worker;
  sbs_sum_shapes(&frame->rest, frame->shape_weights, blocks.begin, blocks.end);
  return SBS_OK;
}

/* ----------------------------------------------------------------------------------------------------- in double -- */

/* Marks a vertex for which sums of rows are not precise enough, or wrong. */
static void mark_vertex(sbs_frame *frame, size_t vertex) {
  frame->exact[vertex / SBS_BLOCK] |= (uint16_t)(1u << vertex % SBS_BLOCK);
}

static void mark_set(sbs_frame *frame, size_t set) {
  const sbs_skin *skin = frame->skin;
  for (size_t i = skin->set_starts[set]; i < skin->set_starts[set + 1]; i++) {
    mark_vertex(frame, (size_t)skin->set_vertices[i]);
  }
}

/* Whether linear blending alone moves a vertex: its amount is 0, or it is its own center. */
static int moves_linearly(const sbs_frame *frame, size_t vertex) {
  const sbs_skin *skin = frame->skin;
  if (frame->amounts && sbs_scalar_get(frame->amounts, skin->scalar, vertex) == 0.0) return 1;
  return frame->options->center == SBS_CENTER_OPTIMIZED &&
         isnan(sbs_scalar_get(skin->centers, skin->scalar, sbs_vector_index(vertex, 0)));
}

/* Marks the vertices that turn by an average of three rotations or more. */
static void mark_averages(sbs_frame *frame) {
  const sbs_skin *skin = frame->skin;
  for (size_t set = 0; set < skin->set_count; set++) {
    if (sbs_set_size(skin, set) < 3) continue;
    for (size_t i = skin->set_starts[set]; i < skin->set_starts[set + 1]; i++) {
      const size_t vertex = (size_t)skin->set_vertices[i];
      if (!moves_linearly(frame, vertex)) mark_vertex(frame, vertex);
    }
  }
}

/* Chooses the vertices that are computed in double: all, or the marked ones. */
static void choose_exact(sbs_frame *frame) {
  const sbs_skin *skin = frame->skin;
  const sbs_posed *posed = &frame->posed;
  const sbs_pose_request *request = &posed->request;
  const double far = SBS_FAR_CENTER * skin->size * posed->scale;
  frame->is_exact = frame->undone.positions || posed->is_extreme;
  memset(frame->exact, frame->is_exact ? 0xff : 0, skin->block_count * sizeof *frame->exact);
  if (frame->is_exact) return;
  if (skin->unweighted_vertex_count) mark_set(frame, 0);
  if (!request->rotations) return;
  if (sbs_has_averages(frame->options)) mark_averages(frame);
  for (size_t set = 0; set < skin->set_count && posed->has_unlike_signs; set++) {
    if (sbs_set_size(skin, set) > 1 && sbs_set_has_unlike_signs(posed, set)) mark_set(frame, set);
  }
  for (size_t i = 0; i < request->set_count; i++) {
    const size_t set = (size_t)request->sets[i];
    if (!(sbs_vec4_dot(posed->centers[set], posed->centers[set]) <= far * far)) mark_set(frame, set);
  }
}

/* -------------------------------------------------------------------------------------------------------- tables -- */

/* Whether joints stretch, some more than others, and the method has rotations. */
static int has_stretches(const sbs_frame *frame) {
  return sbs_has_rotations(frame->options) && !frame->posed.is_scaled_alike;
}

static sbs_formula choose_formula(const sbs_frame *frame) {
  const sbs_deform_options *options = frame->options;
  if (options->method == SBS_METHOD_DUAL_QUATERNION) return SBS_FORMULA_DUAL_QUATERNION;
  if (options->method != SBS_METHOD_SPHERICAL) return SBS_FORMULA_LINEAR;
  if (options->center == SBS_CENTER_WEIGHTED) return SBS_FORMULA_WEIGHTED;
  const int in_part = frame->amounts != NULL;
  if (sbs_has_set_centers(options) && !in_part && !has_stretches(frame) && !sbs_has_averages(options)) {
    return SBS_FORMULA_SETS;
  }
  return SBS_FORMULA_CENTERS;
}

/* Chooses the tables that the formula reads. */
static void choose_tables(sbs_frame *frame) {
  const sbs_frame_tables *tables = &frame->tables;
  const int moves_linearly = frame->formula == SBS_FORMULA_LINEAR, stretches = has_stretches(frame);
  sbs_rows *rows = &frame->rows;
  *rows = (sbs_rows){0};
  if (frame->formula != SBS_FORMULA_DUAL_QUATERNION || frame->amounts) rows->joints = tables->joints;
  if (frame->formula == SBS_FORMULA_DUAL_QUATERNION) rows->dual = tables->dual;
  if (frame->formula == SBS_FORMULA_SETS) rows->sets = tables->sets;
  if (stretches) rows->stretches = tables->stretches;
  if (frame->normals && (stretches || (moves_linearly && frame->posed.has_skewed))) rows->normals = tables->normals;
  if (sbs_has_averages(frame->options)) rows->set_arcs = tables->arcs;
  if (!sbs_has_set_centers(frame->options)) return;
  rows->set_centers = tables->centers;
  if (stretches) rows->set_arms = tables->arms;
}

static void write(const sbs_frame *frame, sbs_table table, const void *rows, sbs_share share) {
  sbs_write_rows *write_rows = sbs_choose_kernels(frame->skin->isa, frame->skin->scalar)->write_rows;
  if (rows) write_rows(&frame->posed, table, (void *)(uintptr_t)rows, share.begin, share.end);
}

static sbs_status write_joints(void *context, sbs_share joints, int worker) {
  const sbs_frame *frame = context;
  const sbs_rows *rows = &frame->rows;
  (void)worker;
  write(frame, SBS_TABLE_JOINTS, rows->joints, joints);
  write(frame, rows->dual ? SBS_TABLE_PRODUCTS : SBS_TABLE_STRETCHES, rows->stretches, joints);
  write(frame, SBS_TABLE_NORMALS, rows->normals, joints);
  write(frame, SBS_TABLE_DUAL, rows->dual, joints);
  return SBS_OK;
}

static sbs_status write_sets(void *context, sbs_share sets, int worker) {
  const sbs_frame *frame = context;
  const sbs_rows *rows = &frame->rows;
  const sbs_kernels *kernels = sbs_choose_kernels(frame->skin->isa, frame->skin->scalar);
  (void)worker;
  write(frame, SBS_TABLE_CENTERS, rows->set_centers, sets);
  write(frame, SBS_TABLE_ARMS, rows->set_arms, sets);
  write(frame, SBS_TABLE_ARCS, rows->set_arcs, sets);
  if (rows->sets) {
    kernels->write_set_rows(frame->skin, rows->joints, rows->set_centers, frame->tables.sets, sets.begin, sets.end);
  }
  return SBS_OK;
}

static sbs_status write_tables(sbs_frame *frame, int threads) {
  if (frame->is_exact) return SBS_OK; /* nothing is read */
  choose_tables(frame);
  sbs_status status = sbs_share_work(threads, frame->skin->joint_count, JOINTS_CHUNK, write_joints, frame);
  if (!status && (frame->rows.set_centers || frame->rows.set_arcs)) {
    status = sbs_share_work(threads, frame->skin->set_count, SETS_CHUNK, write_sets, frame);
  }
  return status;
}

/* --------------------------------------------------------------------------------------------------------- frame -- */

static void write_centers(const sbs_frame *frame) {
  const sbs_posed *posed = &frame->posed;
  for (size_t set = 0; set < frame->skin->set_count; set++) {
    sbs_rest_center(frame->skin, set, posed->joints, posed->kinds, posed->centers, frame->centers + 3 * set);
  }
}

sbs_status sbs_pose_frame(sbs_frame *frame, int threads) {
  sbs_posed *posed = &frame->posed;
  sbs_status status = SBS_OK;
  if (frame->rest.shapes && frame->positions) {
    status = sbs_share_work(threads, frame->rest.shapes->changed_count, SHAPES_CHUNK, sum_shapes, frame);
  }
  if (posed->request.set_count < frame->skin->solve_count) {
    /* the centers of other sets are written, too */
    memset(posed->centers, 0, frame->skin->set_count * sizeof *posed->centers);
    memset(posed->references, 0, frame->skin->set_count * sizeof *posed->references);
  }
  if (!status) status = sbs_pose_skin(posed, threads);
  if (!status && frame->centers) write_centers(frame);
  if (!status && frame->palette.joints) sbs_write_palette(frame);
  if (status || !frame->positions) return status;
  frame->formula = choose_formula(frame);
  choose_exact(frame);
  return write_tables(frame, threads);
}
