/* SPDX-License-Identifier: MIT */
#include "pose.h"
#include "skin.h"

typedef struct inverse_call {
  core_pose_call posed;
  const void *posed_positions;
  void *positions;
  unsigned char *singular;
} inverse_call;

static const core_row posed_row[] = {
    {"posed_positions", CORE_SAME, .at = offsetof(inverse_call, posed_positions), "(V, 3)", .in_place = 1},
};

static const core_row rows[] = {
    {"out", CORE_OUTPUT, .at = offsetof(inverse_call, positions), "(V, 3)", .optional = 1},
    {"threads", CORE_THREADS, .at = offsetof(inverse_call, posed.options.threads), .optional = 1},
    {"rest_positions", CORE_SAME, .at = offsetof(inverse_call, positions), "(V, 3)", .result = 1},
    {"singular", CORE_FLAGS, .at = offsetof(inverse_call, singular), "(V,)", .result = 1},
};

static sbs_status run(void *address, sbs_fault *fault) {
  inverse_call *given = address;

  return sbs_skin_inverse_deform(core_made(given), &given->posed.pose, &given->posed.options, given->posed_positions, 0,
                                 given->positions, given->singular, NULL, fault);
}

CORE_FUNCTION(core_inverse_deform, inverse_call, .name = "inverse_deform",
              .summary = "Rest positions from posed ones, and which vertices have no inverse.",
              .parts = {CORE_PART(posed_row), CORE_PART(core_matrices_row), CORE_METHOD_PART(CORE_METHOD, CORE_AMOUNT),
                        CORE_PART(core_twists_row), CORE_PART(core_shapes_rows), CORE_PART(rows)},
              .positional = 2, .set_defaults = core_set_method_defaults, .prepare = core_prepare_pose, .run = run)
