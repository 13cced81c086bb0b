/* SPDX-License-Identifier: MIT */
#include "deform/blend.h"

#include <float.h>
#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "fault.h"
#include "memory.h"
#include "scalar.h"

/* ------------------------------------------------------------------------------------------------------- checks -- */

/* Whether all amounts are in [0, 1], without a branch, so that it is vectorised: it is done in every call. */
#define DEFINE_SCAN(type) \
  static int scan_##type##s(const type *amounts, size_t count, sbs_amounts_use *use) { \
    int bad = 0, base = 0, method = 0; \
    for (size_t i = 0; i < count; i++) { \
      bad |= !(amounts[i] >= 0) | !(amounts[i] <= 1); \
      base |= amounts[i] < 1; \
      method |= amounts[i] > 0; \
    } \
    *use = (sbs_amounts_use){base, method}; \
    return !bad; \
  }
DEFINE_SCAN(float)
DEFINE_SCAN(double)

sbs_status sbs_check_amounts(const sbs_deform_options *options, size_t vertex_count, sbs_amounts_use *use,
                             sbs_fault *fault) {
  if (!sbs_scalar_is_valid(options->amount_scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "amount_scalar", (double)options->amount_scalar, 0.0);
  }
  const int fine = options->amount_scalar == SBS_FLOAT32 ? scan_floats(options->amount, vertex_count, use)
                                                         : scan_doubles(options->amount, vertex_count, use);
  for (size_t v = 0; v < vertex_count && !fine; v++) {
    const double amount = sbs_scalar_get(options->amount, options->amount_scalar, v);
    if (!isfinite(amount)) return sbs_fault_row(fault, SBS_ERROR_NOT_FINITE, "amount", v, amount, 1.0);
    if (amount < 0.0 || amount > 1.0) return sbs_fault_row(fault, SBS_ERROR_OPTION, "amount", v, amount, 1.0);
  }
  return SBS_OK;
}

/* ------------------------------------------------------------------------------------------------------ blending -- */

/* Blocks that are evaluated by both methods before they are blended: few enough to stay in the nearest cache. */
enum {
  BLENDED_BLOCKS = 8,
  BLENDED = BLENDED_BLOCKS * SBS_BLOCK
};

/* x y z x y z ... of vertices, in the skin's type. */
typedef union numbers {
  alignas(SBS_ALIGNMENT) float of_float[3 * BLENDED];
  alignas(SBS_ALIGNMENT) double of_double[3 * BLENDED];
} numbers;

/* Vertices by one method. */
typedef struct outcome {
  numbers positions, normals;
} outcome;

/*
 * a = (1 - amount) a + amount b, each number with an amount of its own; where that is 0 or 1, it is a or b to the last
 * bit. Then vectors that are a mixture are brought to unit length, if they are directions.
 */
#define DEFINE_BLEND(type, root, tiny) \
  static void blend_##type(type *a, const type *b, const type *amounts, size_t count, int directions) { \
    for (size_t i = 0; i < 3 * count; i++) { \
      const type mixed = a[i] + amounts[i] * (b[i] - a[i]); \
      a[i] = amounts[i] == 0 ? a[i] : amounts[i] == 1 ? b[i] : mixed; \
    } \
    for (type *n = a; n < a + 3 * count && directions; n += 3) { \
      const type amount = amounts[n - a], scale = 1 / root(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + tiny); \
      for (int k = 0; k < 3 && amount != 0 && amount != 1; k++) n[k] *= scale; \
    } \
  }
DEFINE_BLEND(float, sqrtf, FLT_MIN)
DEFINE_BLEND(double, sqrt, DBL_MIN)

/* The amounts of vertices of which there are at most BLENDED. */
static void read_amounts(const sbs_frame *frame, const int32_t *vertices, size_t count, double *amounts) {
  const sbs_deform_options *options = frame->options;
  if (options->amount_scalar == SBS_FLOAT32) {
    for (size_t i = 0; i < count; i++) amounts[i] = (double)((const float *)options->amount)[vertices[i]];
  } else {
    for (size_t i = 0; i < count; i++) amounts[i] = ((const double *)options->amount)[vertices[i]];
  }
}

/* One amount for each number of the vertices. */
static void expand_amounts(const sbs_frame *frame, const int32_t *vertices, size_t count, numbers *expanded) {
  double amounts[BLENDED];
  read_amounts(frame, vertices, count, amounts);
  if (frame->skin->scalar == SBS_FLOAT32) {
    float *out = expanded->of_float;
    for (size_t i = 0; i < count; i++) out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = (float)amounts[i];
  } else {
    double *out = expanded->of_double;
    for (size_t i = 0; i < count; i++) out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = amounts[i];
  }
}

static void blend(const sbs_frame *frame, numbers *a, const numbers *b, const numbers *amounts, size_t count,
                  int directions) {
  if (frame->skin->scalar == SBS_FLOAT32) {
    blend_float(a->of_float, b->of_float, amounts->of_float, count, directions);
  } else {
    blend_double(a->of_double, b->of_double, amounts->of_double, count, directions);
  }
}

/* Rows to where their vertices stand, runs of vertices that follow each other there at once. */
static void scatter(void *out, size_t stride, size_t row, const numbers *rows, const int32_t *vertices, size_t count) {
  const char *from = (const char *)rows;
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin + 1; stride == row && end < count && vertices[end] == vertices[end - 1] + 1;) end++;
    memcpy((char *)out + (size_t)vertices[begin] * stride, from + begin * row, (end - begin) * row);
  }
}

/* Deforms blocks to an outcome in place of the output of the mesh. */
static void deform_aside(const sbs_frame *frame, const sbs_item *item, size_t first, size_t count, outcome *to) {
  int32_t places[BLENDED];
  uint16_t runs[BLENDED_BLOCKS]; /* each block is one */
  for (int32_t i = 0; i < BLENDED; i++) places[i] = i;
  for (int i = 0; i < BLENDED_BLOCKS; i++) runs[i] = 1;
  const size_t row = 3 * sbs_scalar_size(frame->skin->scalar);
  sbs_kernel_args args = sbs_describe_blocks(frame, item, first, count);
  args.vertices = places;
  args.runs = runs;
  args.positions_out = &to->positions;
  args.positions_stride = row;
  args.normals_out = frame->normals ? &to->normals : NULL;
  args.normals_stride = row;
  sbs_run_kernel(frame, item, &args);
}

static void blend_blocks(const sbs_frame *frame, const sbs_item *item, size_t first, size_t count) {
  const size_t row = 3 * sbs_scalar_size(frame->skin->scalar);
  const int32_t *vertices = frame->skin->vertices + (item->first_block + first) * SBS_BLOCK;
  outcome base, method;
  numbers amounts;
  deform_aside(frame->base, item, first, count, &base);
  deform_aside(frame, item, first, count, &method);
  expand_amounts(frame, vertices, count, &amounts);
  blend(frame, &base.positions, &method.positions, &amounts, count, 0);
  scatter(frame->positions, frame->positions_stride, row, &base.positions, vertices, count);
  if (!frame->normals) return;
  blend(frame, &base.normals, &method.normals, &amounts, count, 1);
  scatter(frame->normals, frame->normals_stride, row, &base.normals, vertices, count);
}

/* What the amounts of a block ask for. */
static sbs_amounts_use use_of_block(const sbs_frame *frame, const sbs_item *item, size_t block) {
  sbs_amounts_use use;
  double amounts[SBS_BLOCK]; /* lanes past the last vertex repeat it */
  read_amounts(frame, frame->skin->vertices + (item->first_block + block) * SBS_BLOCK, SBS_BLOCK, amounts);
  scan_doubles(amounts, SBS_BLOCK, &use);
  return use;
}

void sbs_blend_item(const sbs_frame *frame, const sbs_item *item) {
  const size_t blocks = sbs_item_blocks(item);
  for (size_t first = 0, end; first < blocks; first = end) {
    const sbs_amounts_use use = use_of_block(frame, item, first);
    const int mixed = use.base && use.method;
    for (end = first + 1; end < blocks && !(mixed && end - first == BLENDED_BLOCKS); end++) {
      const sbs_amounts_use next = use_of_block(frame, item, end);
      if (next.base != use.base || next.method != use.method) break;
    }
    const size_t count = (end == blocks ? (size_t)item->vertex_count : end * SBS_BLOCK) - first * SBS_BLOCK;
    if (mixed) {
      blend_blocks(frame, item, first, count);
    } else {
      const sbs_frame *only = use.method ? frame : frame->base;
      const sbs_kernel_args args = sbs_describe_blocks(only, item, first, count);
      sbs_run_kernel(only, item, &args);
    }
  }
}
