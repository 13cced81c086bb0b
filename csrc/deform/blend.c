/* SPDX-License-Identifier: MIT */
#include "deform/blend.h"

#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "base/memory.h"
#include "base/scalar.h"

/* Blocks that are evaluated by both methods before they are blended: few enough to stay in the nearest cache. */
enum {
  BLENDED_BLOCKS = 8,
  BLENDED = BLENDED_BLOCKS * SBS_BLOCK
};

/* x y z x y z ... of the vertices of such blocks, in the skin's type. */
typedef union numbers {
  alignas(SBS_ALIGNMENT) float of_float[3 * BLENDED];
  alignas(SBS_ALIGNMENT) double of_double[3 * BLENDED];
} numbers;

/* What the methods make of them, base first; and as which vertices, one after the other. */
typedef struct aside {
  numbers positions[2], normals[2];
  int32_t vertices[BLENDED];
  uint16_t runs[BLENDED_BLOCKS];
} aside;

static void number_vertices(aside *to, size_t blocks) {
  for (size_t i = 0; i < blocks * SBS_BLOCK; i++) to->vertices[i] = (int32_t)i;
  for (size_t i = 0; i < blocks; i++) to->runs[i] = 0;
}

/* Deforms blocks, all their lanes, in place of the output of the mesh. */
static void deform_aside(const sbs_frame *frame, const sbs_item *item, size_t first, size_t count, aside *to) {
  const int method = !frame->is_base;
  const sbs_item part = sbs_part_of_item(frame->skin, item, first, count);
  sbs_kernel_args args = sbs_describe_items(frame, &part, 1);
  args.vertices = to->vertices;
  args.runs = to->runs;
  args.first_block = part.first_block;
  args.positions_out = to->positions + method;
  args.normals_out = frame->normals ? to->normals + method : NULL;
  args.positions_stride = args.normals_stride = 3 * sbs_scalar_size(frame->skin->scalar);
  sbs_kernel_of(frame, (size_t)item->group)(&args);
}

static void blend_blocks(const sbs_frame *frame, const sbs_item *item, size_t first, size_t count, aside *to) {
  const sbs_skin *skin = frame->skin;
  const size_t block = item->first_block + first;
  deform_aside(frame->base, item, first, count, to);
  deform_aside(frame, item, first, count, to);
  const sbs_blend_args args = {
      .positions = {to->positions, to->positions + 1},
      .normals = {to->normals, to->normals + 1},
      .amount = frame->options->amount,
      .amount_scalar = frame->options->amount_scalar,
      .vertices = skin->vertices + block * SBS_BLOCK,
      .runs = skin->runs + block,
      .copies = &skin->copies,
      .first_block = block,
      .block_count = (count + SBS_BLOCK - 1) / SBS_BLOCK,
      .positions_out = frame->positions,
      .positions_stride = frame->positions_stride,
      .normals_out = frame->normals,
      .normals_stride = frame->normals_stride,
  };
  sbs_kernels_of(skin->isa, skin->scalar)->mix(&args);
}

/*
 * The kernel that deforms a group by both methods at once, or NULL if there is none: if the base is not linear, or one
 * of the two is not plain, or few ask for the method. Compilers may round otherwise in it than in the kernels of the
 * methods: so all amounts between 0 and 1 of the group have it, whoever else is in their blocks.
 */
static sbs_kernel *find_kernel_in_part(const sbs_frame *frame, size_t group) {
  const sbs_frame *base = frame->base;
  const sbs_way way = frame->scratch.ways[group], of_base = base->scratch.ways[group];
  const int is_plain = way.form == SBS_FORM_PLAIN && of_base.form == SBS_FORM_PLAIN && of_base.linear;
  const int is_rigid = frame->options->method == SBS_METHOD_RIGID || base->options->method == SBS_METHOD_RIGID;
  return is_plain && !is_rigid ? sbs_kernel_of_form(frame, group, SBS_FORM_IN_PART) : NULL;
}

/* Items by both methods at once, straight to the output. */
static void run_in_part(const sbs_frame *frame, const sbs_item *items, size_t count, sbs_kernel *kernel) {
  const sbs_frame *base = frame->base;
  sbs_kernel_args args = sbs_describe_items(frame, items, count);
  args.amount = frame->options->amount;
  args.amount_scalar = frame->options->amount_scalar;
  args.linear_constants = base->scratch.constants;
  args.linear_head_size = base->layout.head_size;
  args.linear_row_size = base->layout.row_size;
  kernel(&args);
}

/* Items of which all amounts are 0, or 1, by one kernel. */
static void run_exactly(const sbs_frame *frame, const sbs_item *items, size_t count, unsigned bits) {
  const sbs_frame *only = bits == SBS_AMOUNTS_0 ? frame->base : frame;
  const sbs_kernel_args args = sbs_describe_items(only, items, count);
  sbs_kernel_of(only, (size_t)items->group)(&args);
}

static double amount_of(const sbs_frame *frame, int32_t vertex) {
  return sbs_scalar_get(frame->options->amount, frame->options->amount_scalar, (size_t)vertex);
}

/* Writes those of some vertices whose amount is 0, by the base, or those whose amount is 1, by the method. */
static void put_exactly(const sbs_frame *frame, const sbs_item *item, size_t first, size_t count, double amount,
                        aside *to) {
  const int method = amount == 1.0;
  const int32_t *vertices = frame->skin->vertices + (item->first_block + first) * SBS_BLOCK;
  const size_t size = 3 * sbs_scalar_size(frame->skin->scalar);
  const char *positions = (const char *)(to->positions + method), *normals = (const char *)(to->normals + method);
  deform_aside(method ? frame : frame->base, item, first, count, to);
  for (size_t i = 0; i < count; i++) {
    const size_t vertex = (size_t)vertices[i];
    if (amount_of(frame, vertices[i]) != amount) continue;
    memcpy((char *)frame->positions + vertex * frame->positions_stride, positions + i * size, size);
    if (!frame->normals) continue;
    memcpy((char *)frame->normals + vertex * frame->normals_stride, normals + i * size, size);
  }
}

/* An item block by block. Where an amount is 0 or 1 the methods are evaluated apart, so that no bit is lost of them. */
static void blend_item(const sbs_frame *frame, const sbs_item *item, unsigned bits) {
  const size_t blocks = sbs_item_blocks(item), most = blocks < BLENDED_BLOCKS ? blocks : BLENDED_BLOCKS;
  const unsigned char *of_blocks = bits == SBS_AMOUNTS_BETWEEN ? NULL : frame->use->blocks + item->first_block;
  sbs_kernel *const in_part = find_kernel_in_part(frame, (size_t)item->group);
  aside to;
  number_vertices(&to, most);
  for (size_t first = 0, end; first < blocks; first = end) {
    const unsigned some = of_blocks ? of_blocks[first] : bits;
    const int by_both = some & SBS_AMOUNTS_BETWEEN && in_part;
    const int at_once = some == SBS_AMOUNTS_0 || some == SBS_AMOUNTS_1 || (some == SBS_AMOUNTS_BETWEEN && in_part);
    for (end = first + 1; end < blocks && (!of_blocks || of_blocks[end] == some);) {
      if (!at_once && end - first == most) break;
      end++;
    }
    const size_t count = (end == blocks ? (size_t)item->vertex_count : end * SBS_BLOCK) - first * SBS_BLOCK;
    const sbs_item part = sbs_part_of_item(frame->skin, item, first, count);
    if (by_both) {
      run_in_part(frame, &part, 1, in_part);
      if (some & SBS_AMOUNTS_0) put_exactly(frame, item, first, count, 0.0, &to);
      if (some & SBS_AMOUNTS_1) put_exactly(frame, item, first, count, 1.0, &to);
    } else if (at_once) {
      run_exactly(frame, &part, 1, some);
    } else {
      blend_blocks(frame, item, first, count, &to);
    }
  }
}

/* Whether the matrix of a joint is its rotation, to half a rounding: the methods that take R in its place agree. */
static int is_its_rotation(const sbs_joint *joint, double epsilon) {
  double farthest = 0.0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const double apart = fabs(joint->given[i][j] - joint->moving[i][j]);
      farthest = apart > farthest ? apart : farthest;
    }
  }
  return farthest <= epsilon / 2;
}

/*
 * Whether both methods do the same to an item, but for rounding: one influence means one rigid joint, whatever the
 * methods, and most vertices have no more.
 */
static int is_moved_alike(const sbs_frame *frame, const sbs_item *item) {
  const sbs_skin *skin = frame->skin;
  const size_t set = (size_t)skin->groups[item->group].set;
  if (sbs_set_size(skin, set) != 1) return 0;
  const int32_t joint = skin->set_joints[skin->set_offsets[set]];
  return !(frame->scratch.kinds[joint] & SBS_JOINT_NONRIGID) &&
         is_its_rotation(frame->scratch.joints + joint, sbs_scalar_epsilon(skin->scalar));
}

static int has_amount_of_0(const sbs_frame *frame, const sbs_item *item, size_t first, size_t count) {
  const int32_t *vertices = frame->skin->vertices + item->first_block * SBS_BLOCK + first;
  int any = 0;
  for (size_t i = 0; i < count; i++) any |= amount_of(frame, vertices[i]) == 0.0;
  return any;
}

/*
 * Of an item that the method alone has moved, as both move it alike: writes the vertices whose amount is 0, which get
 * the base.
 */
static void put_base_where_0(const sbs_frame *frame, const sbs_item *item) {
  const size_t all = (size_t)item->vertex_count;
  if (!has_amount_of_0(frame, item, 0, all)) return;
  aside to;
  number_vertices(&to, 1);
  for (size_t block = 0; block * SBS_BLOCK < all; block++) {
    const size_t rest = all - block * SBS_BLOCK, count = rest < SBS_BLOCK ? rest : SBS_BLOCK;
    if (has_amount_of_0(frame, item, block * SBS_BLOCK, count)) put_exactly(frame, item, block, count, 0.0, &to);
  }
}

/* What deforms a whole item. */
typedef struct whole {
  sbs_kernel *kernel; /* or NULL: there is none that does all of it */
  unsigned bits;      /* SBS_AMOUNTS_0, _1 or _BETWEEN: of what it is the kernel; or those of the item */
} whole;

static whole find_whole(const sbs_frame *frame, const sbs_item *item) {
  const size_t group = (size_t)item->group;
  const unsigned bits = frame->use->items[item - frame->skin->items];
  if (bits == SBS_AMOUNTS_0) return (whole){sbs_kernel_of(frame->base, group), bits};
  if (bits == SBS_AMOUNTS_1 || is_moved_alike(frame, item)) {
    return (whole){sbs_kernel_of(frame, group), SBS_AMOUNTS_1};
  }
  return (whole){bits == SBS_AMOUNTS_BETWEEN ? find_kernel_in_part(frame, group) : NULL, bits};
}

void sbs_blend_items(const sbs_frame *frame, const sbs_item *item, const sbs_item *end) {
  const unsigned char *of_items = frame->use->items;
  whole next = {0};
  if (item < end) next = find_whole(frame, item);
  while (item < end) {
    const whole at = next;
    const sbs_item *first = item++;
    for (; item < end; item++) { /* as many as have the same kernel */
      next = find_whole(frame, item);
      if (!at.kernel || next.kernel != at.kernel || next.bits != at.bits) break;
    }
    if (!at.kernel) {
      blend_item(frame, first, at.bits);
    } else if (at.bits == SBS_AMOUNTS_BETWEEN) {
      run_in_part(frame, first, (size_t)(item - first), at.kernel);
    } else {
      run_exactly(frame, first, (size_t)(item - first), at.bits);
    }
    for (; at.bits == SBS_AMOUNTS_1 && first < item; first++) {
      if (of_items[first - frame->skin->items] & SBS_AMOUNTS_0) put_base_where_0(frame, first);
    }
  }
}
