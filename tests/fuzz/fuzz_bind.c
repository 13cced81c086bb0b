/* SPDX-License-Identifier: MIT */
/* sbs_skin_new, what a skin tells of itself, and sbs_skin_update, which is held against a skin made anew. */
#include <math.h>
#include <string.h>

#include "things.h"

static void ask_skin(fuzz_input *in, const sbs_skin *skin, const sbs_skin_desc *desc) {
  sbs_skin_info info;
  FUZZ_CHECK(sbs_skin_get_info(skin, &info) == SBS_OK);
  FUZZ_CHECK(info.vertex_count == desc->vertex_count && info.joint_count == desc->joint_count);
  FUZZ_CHECK(info.max_influences <= desc->influences_per_vertex);
  FUZZ_CHECK(info.joint_set_count >= 1 && info.joint_set_count <= info.vertex_count);

  size_t *offsets = fuzz_room(in, (info.joint_set_count + 1) * sizeof *offsets);
  int32_t *joints = fuzz_room(in, info.joint_set_size_sum * sizeof *joints);
  int32_t *sets = fuzz_room(in, info.vertex_count * sizeof *sets);
  FUZZ_CHECK(sbs_skin_joint_sets(skin, offsets, joints) == SBS_OK);
  FUZZ_CHECK(sbs_skin_joint_set_of_vertex(skin, sets) == SBS_OK);
  FUZZ_CHECK(offsets[0] == 0 && offsets[info.joint_set_count] == info.joint_set_size_sum);
  for (size_t s = 0; s < info.joint_set_count; s++) {
    FUZZ_CHECK(offsets[s] < offsets[s + 1] || (s == 0 && info.unweighted_vertex_count));
    for (size_t i = offsets[s]; i < offsets[s + 1]; i++) {
      FUZZ_CHECK(joints[i] >= 0 && (size_t)joints[i] < info.joint_count);
      FUZZ_CHECK(i == offsets[s] || joints[i - 1] < joints[i]);
    }
  }
  for (size_t v = 0; v < info.vertex_count; v++) {
    FUZZ_CHECK(sets[v] >= 0 && (size_t)sets[v] < info.joint_set_count);
    for (size_t i = offsets[sets[v]]; i < offsets[sets[v] + 1]; i++) {
      int is_among = 0;
      for (size_t k = 0; k < desc->influences_per_vertex; k++) {
        is_among |= desc->joint_indices[v * desc->influences_per_vertex + k] == joints[i];
      }
      FUZZ_CHECK(is_among);
    }
  }
}

/* Positions by every method, one after the other, where the pose is as at rest but for joints that step aside. */
static void *positions_of(fuzz_input *in, const sbs_skin *skin, const sbs_skin_desc *desc) {
  const size_t size = fuzz_extent(skin, 0, 1);
  char *all = fuzz_room(in, 4 * size);
  float (*matrices)[3][4] = fuzz_room(in, desc->joint_count * sizeof *matrices);
  memset(matrices, 0, desc->joint_count * sizeof *matrices);
  for (size_t j = 0; j < desc->joint_count; j++) {
    const unsigned byte = (unsigned)(j * 37 % 256);
    for (int i = 0; i < 3; i++) matrices[j][i][i] = 1.0f;
    matrices[j][byte % 3][3] = (float)byte / 64.0f;
  }
  const sbs_pose pose = {.skinning_matrices = matrices, .scalar = SBS_FLOAT32, .rows = 3};
  sbs_deform_options options = sbs_default_deform_options();
  for (int method = 0; method < 4; method++) {
    options.method = (sbs_method)method;
    FUZZ_CHECK(sbs_skin_deform(skin, &pose, &options, all + (size_t)method * size, NULL, NULL, NULL) == SBS_OK);
  }
  return all;
}

static void update_skin(fuzz_input *in, const sbs_skin *skin, const sbs_skin_desc *desc,
                        const sbs_skin_options *options) {
  sbs_skin_desc changed = *desc;
  const size_t vertices = desc->vertex_count, width = fuzz_rarely(in) ? fuzz_count(in, 8) : desc->influences_per_vertex;
  const size_t count = fuzz_below(in, vertices + 1);
  const int32_t *which = fuzz_indices(in, count, 0, vertices);
  const int32_t *new_joints = fuzz_indices(in, vertices * width, 0, desc->joint_count);
  const double *new_weights = fuzz_reals(in, vertices * width, SBS_FLOAT64, 0.0, 1.0);
  int32_t *joints = fuzz_room(in, vertices * width * sizeof *joints);
  double *weights = fuzz_room(in, vertices * width * sizeof *weights);

  /* The old influences, padded or, if there is no room for them, all new. */
  const int is_narrower = width < desc->influences_per_vertex;
  for (size_t v = 0; v < vertices; v++) {
    int is_new = is_narrower;
    for (size_t i = 0; i < count; i++) is_new |= which[i] == (int32_t)v;
    for (size_t k = 0; k < width; k++) {
      const size_t to = v * width + k, from = v * desc->influences_per_vertex + k;
      const int is_padding = !is_new && k >= desc->influences_per_vertex;
      joints[to] = is_new ? new_joints[to] : is_padding ? 0 : desc->joint_indices[from];
      weights[to] = is_new                               ? new_weights[to]
                    : is_padding                         ? 0.0
                    : desc->weight_scalar == SBS_FLOAT32 ? (double)((const float *)desc->joint_weights)[from]
                                                         : ((const double *)desc->joint_weights)[from];
    }
  }
  changed.joint_indices = joints;
  changed.joint_weights = weights;
  changed.weight_scalar = SBS_FLOAT64;
  changed.influences_per_vertex = width;

  sbs_skin *updated = NULL, *anew = NULL;
  sbs_weight_report report = {0}, report_anew = {0};
  sbs_fault fault = {0};
  int32_t *all = fuzz_room(in, vertices * sizeof *all);
  for (size_t v = 0; v < vertices; v++) all[v] = (int32_t)v;
  const sbs_status status = sbs_skin_update(skin, &changed, is_narrower ? all : which, is_narrower ? vertices : count,
                                            options, &updated, &report, &fault);
  fuzz_check_status(status, FUZZ_BIND_ERRORS | FUZZ_ERROR(VERTEX_INDEX), &fault);
  FUZZ_CHECK((status == SBS_OK) == (updated != NULL));
  in->fail_at = SIZE_MAX;
  if (updated) {
    FUZZ_CHECK(sbs_skin_new(&changed, options, &anew, &report_anew, NULL) == SBS_OK);
    FUZZ_CHECK(!memcmp(&report, &report_anew, sizeof report));
    ask_skin(in, updated, &changed);
    const size_t size = 4 * fuzz_extent(anew, 0, 1);
    FUZZ_CHECK(!memcmp(positions_of(in, updated, &changed), positions_of(in, anew, &changed), size));
  }
  sbs_skin_free(updated);
  sbs_skin_free(anew);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  sbs_skin *skin = NULL;
  sbs_weight_report report = {0};
  sbs_fault fault = {0};
  fuzz_choose_instruction_set(&in);
  const sbs_skin_desc desc = fuzz_skin_desc(&in);
  const sbs_skin_options options = fuzz_skin_options(&in);
  const sbs_status status = sbs_skin_new(&desc, &options, &skin, &report, &fault);
  fuzz_check_status(status, FUZZ_BIND_ERRORS, &fault);
  FUZZ_CHECK((status == SBS_OK) == (skin != NULL));
  if (skin) {
    ask_skin(&in, skin, &desc);
    in.fail_at = SIZE_MAX;
    positions_of(&in, skin, &desc);
    if (fuzz_byte(&in) & 1) in.fail_at = in.allocated + fuzz_below(&in, 64);
    update_skin(&in, skin, &desc, &options);
  } else {
    const sbs_weight_report none = {0};
    FUZZ_CHECK(!memcmp(&report, &none, sizeof none));
  }
  sbs_skin_free(skin);
  fuzz_close(&in);
  return 0;
}
