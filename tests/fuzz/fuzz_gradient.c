/* SPDX-License-Identifier: MIT */
/* Gradients of skins: nothing written where they fail, and the same bits by one thread as by two. */
#include <sbs/gradient.h>
#include <string.h>

#include "things.h"

enum {
  RESULTS = 6
};

/* Where results go. Some are not asked for. */
typedef struct results {
  sbs_gradient_result result;
  void *rooms[RESULTS];
  size_t sizes[RESULTS];
} results;

static results make_room(fuzz_input *in, const sbs_skin_desc *desc, unsigned asked) {
  const size_t size = desc->scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double), V = desc->vertex_count;
  results made = {.sizes = {3 * V * size, 3 * V * size, V * desc->influences_per_vertex * size,
                            12 * desc->joint_count * sizeof(double), 3 * V * size, V * size}};
  for (int i = 0; i < RESULTS; i++) made.rooms[i] = asked >> i & 1 ? fuzz_room(in, made.sizes[i]) : NULL;
  made.result = (sbs_gradient_result){.rest_positions = made.rooms[0],
                                      .rest_normals = made.rooms[1],
                                      .joint_weights = made.rooms[2],
                                      .skinning_matrices = made.rooms[3],
                                      .centers = made.rooms[4],
                                      .amount = made.rooms[5]};
  return made;
}

static void differentiate(fuzz_input *in, const sbs_gradient *gradient, const sbs_skin *skin,
                          const sbs_skin_desc *desc) {
  const sbs_pose pose = fuzz_extreme_pose(in, desc->joint_count, 1);
  sbs_deform_options options = fuzz_deform_options(in, skin);
  sbs_gradient_upstream upstream = {0};
  if (!fuzz_rarely(in)) upstream.positions = fuzz_reals(in, 3 * desc->vertex_count, desc->scalar, -1.0, 1.0);
  if (fuzz_byte(in) & 1) upstream.normals = fuzz_reals(in, 3 * desc->vertex_count, desc->scalar, -1.0, 1.0);
  unsigned asked = ~fuzz_byte(in);
  if (!options.amount) asked &= ~(1u << 5);
  const results made = make_room(in, desc, asked), again = make_room(in, desc, asked);
  sbs_fault fault = {0};
  fuzz_fail_soon(in);
  sbs_status status = sbs_gradient_deform(gradient, skin, desc, &pose, &options, &upstream, &made.result, &fault);
  fuzz_check_status(status, FUZZ_POSE_ERRORS, &fault);
  if (status != SBS_OK) {
    for (int i = 0; i < RESULTS; i++) FUZZ_CHECK(!made.rooms[i] || fuzz_is_untouched(made.rooms[i], made.sizes[i]));
    return;
  }
  in->fail_at = SIZE_MAX;
  options.threads = 1 + options.threads % 2;
  status = sbs_gradient_deform(gradient, skin, desc, &pose, &options, &upstream, &again.result, NULL);
  FUZZ_CHECK(status == SBS_OK);
  for (int i = 0; i < RESULTS; i++) FUZZ_CHECK(!made.rooms[i] || !memcmp(made.rooms[i], again.rooms[i], made.sizes[i]));
}

static void find_jacobian(fuzz_input *in, const sbs_gradient *gradient, const sbs_skin *skin,
                          const sbs_skin_desc *desc) {
  const sbs_pose pose = fuzz_extreme_pose(in, desc->joint_count, 1);
  const sbs_deform_options options = fuzz_deform_options(in, skin);
  const size_t vertex = fuzz_below(in, desc->vertex_count + (size_t)fuzz_rarely(in));
  const size_t size = 3 * desc->influences_per_vertex * sizeof(double);
  double *jacobian = fuzz_room(in, size);
  sbs_fault fault = {0};
  fuzz_fail_soon(in);
  const sbs_status status =
      sbs_gradient_weight_jacobian(gradient, skin, desc, &pose, &options, vertex, jacobian, &fault);
  fuzz_check_status(status, FUZZ_POSE_ERRORS, &fault);
  if (status != SBS_OK) FUZZ_CHECK(fuzz_is_untouched(jacobian, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const unsigned what = fuzz_byte(&in) % 4;
  sbs_skin_desc desc;
  sbs_skin *skin = fuzz_skin(&in, &desc);
  sbs_gradient *gradient = NULL;
  if (skin) {
    const sbs_allocator allocator = fuzz_allocator(&in);
    sbs_fault fault = {0};
    fuzz_fail_soon(&in);
    const sbs_status status = sbs_gradient_new(skin, &desc, &allocator, &gradient, &fault);
    fuzz_check_status(status, FUZZ_ERROR(OUT_OF_MEMORY), &fault);
    FUZZ_CHECK((status == SBS_OK) == (gradient != NULL));
    in.fail_at = SIZE_MAX;
  }
  if (gradient && what) differentiate(&in, gradient, skin, &desc);
  if (gradient && !what) find_jacobian(&in, gradient, skin, &desc);
  sbs_gradient_free(gradient);
  sbs_skin_free(skin);
  fuzz_close(&in);
  return 0;
}
