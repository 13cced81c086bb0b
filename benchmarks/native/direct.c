/* SPDX-License-Identifier: MIT */
#include "direct.h"

#include <string.h>

#include "deform/items.h"

size_t direct_constants_size(const sbs_skin *skin) {
  return DIRECT_SIZE * (skin->pivot_count + skin->row_count);
}

static float *constants_of(const sbs_skin *skin, const float *constants, size_t group) {
  return (float *)constants + sbs_constants_offset(skin->pivots, group, DIRECT_SIZE, DIRECT_SIZE);
}

static void put(float *at, sbs_vec4 value) {
  for (int i = 0; i < 4; i++) at[i] = (float)value[i];
}

/* What a joint contributes to the sums over the joints of its set; sign as the pivot's quaternion has it. */
static void put_joint(const sbs_frame *frame, size_t set, const sbs_joint *joint, sbs_vec4 pivot, float *at) {
  const double *c0 = frame->skin->set_centroids + 3 * set;
  const sbs_vec4 centroid = {c0[0], c0[1], c0[2], 0.0};
  const sbs_vec4 moved = sbs_vec4_apply(joint->given, centroid) + joint->translation;
  if (frame->layout.linear) {
    for (int j = 0; j < 3; j++) put(at + DIRECT_LINEAR_MATRIX + 4 * j, joint->given[j]);
    put(at + DIRECT_LINEAR_OFFSET, moved);
    return;
  }
  sbs_vec4 q = joint->quaternion;
  const double cosine = q[0] * pivot[0] + q[1] * pivot[1] + q[2] * pivot[2] + q[3] * pivot[3];
  if (cosine < 0.0) q = -q;
  put(at + DIRECT_ROTATION_QUATERNION, q);
  if (frame->options->method == SBS_METHOD_SPHERICAL) {
    put(at + DIRECT_ROTATION_OFFSET, moved + sbs_vec4_apply(joint->moving, frame->scratch.centers[set]));
  } else {
    put(at + DIRECT_ROTATION_OFFSET, 0.5 * sbs_quaternion_multiply(sbs_quaternion_from_vector(moved), q));
  }
}

void direct_prepare(const sbs_frame *frame, float *constants) {
  const sbs_skin *skin = frame->skin;
  const int spherical = frame->options->method == SBS_METHOD_SPHERICAL;
  memset(constants, 0, direct_constants_size(skin) * sizeof *constants);
  for (size_t g = 0; g < skin->group_count; g++) {
    const size_t set = (size_t)skin->groups[g].set, size = sbs_set_size(skin, set),
                 pivot_at = (size_t)skin->pivots[g].joint;
    const int32_t *joints = skin->set_joints + skin->set_offsets[set];
    float *head = constants_of(skin, constants, g), *row = head + DIRECT_SIZE;
    if (!size) continue;
    const sbs_joint *pivot = frame->scratch.joints + joints[pivot_at];
    put_joint(frame, set, pivot, pivot->quaternion, head);
    for (size_t i = 0; i < size; i++) {
      if (i == pivot_at) continue;
      put_joint(frame, set, frame->scratch.joints + joints[i], pivot->quaternion, row);
      for (size_t k = 0; k < DIRECT_SIZE; k++) row[k] -= head[k];
      row += DIRECT_SIZE;
    }
    if (spherical && size > 1) put(head + DIRECT_ROTATION_CENTER, frame->scratch.centers[set]);
  }
}

static const direct_kernels *choose_kernels(const sbs_skin *skin) {
#ifdef SBS_HAVE_X86_KERNELS
  if (skin->isa == SBS_ISA_AVX512) return &direct_kernels_avx512;
  if (skin->isa == SBS_ISA_AVX2) return &direct_kernels_avx2;
#endif
  return &direct_kernels_baseline;
}

void direct_run(const sbs_frame *frame, const float *constants, size_t begin, size_t end) {
  static const sbs_formula formulas[] = {
      [SBS_METHOD_RIGID] = SBS_FORMULA_LINEAR,
      [SBS_METHOD_LINEAR] = SBS_FORMULA_LINEAR,
      [SBS_METHOD_SPHERICAL] = SBS_FORMULA_SPHERICAL,
      [SBS_METHOD_DUAL_QUATERNION] = SBS_FORMULA_DUAL_QUATERNION,
  };
  const sbs_skin *skin = frame->skin;
  const direct_kernels *kernels = choose_kernels(skin);
  const sbs_formula formula = formulas[frame->options->method];
  sbs_kernel_args args = sbs_describe_items(frame, NULL, NULL, 1);
  args.constants = constants;
  args.head_size = args.row_size = DIRECT_SIZE;
  for (args.items = skin->items + begin; args.items < skin->items + end; args.items += args.item_count) {
    const size_t others = (size_t)skin->groups[args.items->group].others;
    args.item_count = 1;
    while (args.items + args.item_count < skin->items + end &&
           (size_t)skin->groups[args.items[args.item_count].group].others == others) {
      args.item_count++;
    }
    const size_t variant = others < SBS_KERNEL_INFLUENCES ? others : SBS_KERNEL_INFLUENCES;
    kernels->table[formula][frame->normals != NULL][variant](&args);
  }
}
