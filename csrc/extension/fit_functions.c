/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "pose.h"

#include <sbs/fit.h>

/* How the structure of a call that fits to examples starts. */
typedef struct fit_call {
  core_call call;
  PyArrayObject *rest_positions, *posed, *matrices, *centers, *joint_indices, *joint_weights, *errors;
  sbs_fit_options options;
} fit_call;

static const core_argument examples[] = {
    {"rest_positions", CORE_DOUBLES, .at = offsetof(fit_call, rest_positions), "(V, 3)"},
    {"posed", CORE_DOUBLES, .at = offsetof(fit_call, posed), "(F, V, 3)"},
    {"skinning_matrices", CORE_REALS, .at = offsetof(fit_call, matrices), "(F, J, 4, 4) or (F, J, 3, 4)"},
};

static const core_argument influences[] = {
    {"joint_indices", CORE_INT32, .at = offsetof(fit_call, joint_indices), "(V, K)"},
    {"joint_weights", CORE_DOUBLES, .at = offsetof(fit_call, joint_weights), "(V, K)"},
};

static const core_argument centers[] = {
    {"centers", CORE_DOUBLES, .at = offsetof(fit_call, centers), "(V, 3)", .optional = 1},
};

static const core_argument threads[] = {
    {"threads", CORE_THREADS, .at = offsetof(fit_call, options.threads), .optional = 1},
};

static void set_defaults(void *address) {
  ((fit_call *)address)->options = sbs_default_fit_options();
}

static sbs_fit_desc describe(const fit_call *given) {
  sbs_fit_desc desc = sbs_default_fit_desc();

  desc.vertex_count = core_length(&given->call, 'V');
  desc.frame_count = core_length(&given->call, 'F');
  desc.joint_count = core_length(&given->call, 'J');
  desc.rest_positions = PyArray_DATA(given->rest_positions);
  desc.posed = PyArray_DATA(given->posed);
  desc.poses = core_one_pose(given->matrices);
  desc.centers = core_data(given->centers);
  return desc;
}

/* ------------------------------------------------------------------------------------------------------ weights -- */

typedef struct weights_call {
  fit_call fit;
  PyArrayObject *allowed, *toward;
} weights_call;

static const core_argument weights_method[] = {
    {"method", CORE_WORD, .at = offsetof(weights_call, fit.options.method), .words = core_method_words, .optional = 1},
    {"center", CORE_WORD, .at = offsetof(weights_call, fit.options.center), .words = core_center_words, .optional = 1},
    {"damping", CORE_REAL, .at = offsetof(weights_call, fit.options.damping), .optional = 1},
    {"influences", CORE_COUNT, .at = offsetof(weights_call, fit.options.influences), .optional = 1},
    {"iterations", CORE_COUNT, .at = offsetof(weights_call, fit.options.iterations), .optional = 1},
};

static const core_argument weights_options[] = {
    {"allowed", CORE_FLAGS, .at = offsetof(weights_call, allowed), "(V, J)", .optional = 1},
    {"toward", CORE_DOUBLES, .at = offsetof(weights_call, toward), "(V, J)", .optional = 1},
    {"pull", CORE_REAL, .at = offsetof(weights_call, fit.options.pull), .optional = 1},
};

static const core_argument weights_results[] = {
    {"joint_indices", CORE_INT32, .at = offsetof(weights_call, fit.joint_indices), "(V, K)"},
    {"joint_weights", CORE_DOUBLES, .at = offsetof(weights_call, fit.joint_weights), "(V, K)"},
    {"errors", CORE_DOUBLES, .at = offsetof(weights_call, fit.errors), "(V,)"},
};

enum {
  MOST_INFLUENCES = 256
};

static int prepare_weights(void *address) {
  weights_call *given = address;

  if (given->fit.options.influences > MOST_INFLUENCES) given->fit.options.influences = MOST_INFLUENCES;
  core_set_length(address, 'K', given->fit.options.influences);
  return 1;
}

static sbs_status run_weights(void *address, sbs_fault *fault) {
  weights_call *given = address;
  sbs_fit_desc desc = describe(&given->fit);

  desc.allowed = core_data(given->allowed);
  desc.toward = core_data(given->toward);
  return sbs_fit_weights(&desc, &given->fit.options, PyArray_DATA(given->fit.joint_indices),
                         PyArray_DATA(given->fit.joint_weights), PyArray_DATA(given->fit.errors), fault);
}

CORE_ENTRY(enter_weights, core_fit_weights, weights_call)

const core_function core_fit_weights = {
    .name = "fit_weights",
    .summary = "Weights fitted to examples.",
    .parts = {CORE_PART(examples), CORE_PART(weights_method), CORE_PART(centers), CORE_PART(weights_options),
              CORE_PART(threads)},
    .positional = 3,
    CORE_RESULTS(weights_results),
    .size = sizeof(weights_call),
    .set_defaults = set_defaults,
    .prepare = prepare_weights,
    .run = run_weights,
    .entry = enter_weights,
};

/* ------------------------------------------------------------------------------------------------------ centers -- */

typedef struct centers_call {
  fit_call fit;
  PyArrayObject *new_centers;
} centers_call;

static const core_argument centers_results[] = {
    {"centers", CORE_DOUBLES, .at = offsetof(centers_call, new_centers), "(V, 3)"},
    {"errors", CORE_DOUBLES, .at = offsetof(centers_call, fit.errors), "(V,)"},
};

static sbs_status run_centers(void *address, sbs_fault *fault) {
  centers_call *given = address;
  const sbs_fit_desc desc = describe(&given->fit);

  return sbs_fit_centers(&desc, core_length(address, 'K'), PyArray_DATA(given->fit.joint_indices),
                         PyArray_DATA(given->fit.joint_weights), &given->fit.options, PyArray_DATA(given->new_centers),
                         PyArray_DATA(given->fit.errors), fault);
}

CORE_ENTRY(enter_centers, core_fit_centers, centers_call)

const core_function core_fit_centers = {
    .name = "fit_centers",
    .summary = "Centers of spherical blending fitted to examples.",
    .parts = {CORE_PART(examples), CORE_PART(influences), CORE_PART(centers), CORE_PART(threads)},
    .positional = 5,
    CORE_RESULTS(centers_results),
    .size = sizeof(centers_call),
    .set_defaults = set_defaults,
    .run = run_centers,
    .entry = enter_centers,
};

/* ----------------------------------------------------------------------------------------------------- matrices -- */

typedef struct matrices_call {
  fit_call fit;
  PyArrayObject *fixed, *new_matrices;
  sbs_fit_matrices_options options;
} matrices_call;

static const core_argument matrices_options[] = {
    {"fixed", CORE_FLAGS, .at = offsetof(matrices_call, fixed), "(J,)", .optional = 1},
    {"sweeps", CORE_COUNT, .at = offsetof(matrices_call, options.sweeps), .optional = 1},
    {"threads", CORE_THREADS, .at = offsetof(matrices_call, options.threads), .optional = 1},
};

static const core_argument matrices_results[] = {
    {"skinning_matrices", CORE_DOUBLES, .at = offsetof(matrices_call, new_matrices), "(F, J, 3, 4)"},
    {"errors", CORE_DOUBLES, .at = offsetof(matrices_call, fit.errors), "(F,)"},
};

static void set_matrices_defaults(void *address) {
  ((matrices_call *)address)->options = sbs_default_fit_matrices_options();
}

static sbs_status run_matrices(void *address, sbs_fault *fault) {
  matrices_call *given = address;
  const sbs_fit_desc desc = describe(&given->fit);

  return sbs_fit_matrices(&desc, core_length(address, 'K'), PyArray_DATA(given->fit.joint_indices),
                          PyArray_DATA(given->fit.joint_weights), core_data(given->fixed), &given->options,
                          PyArray_DATA(given->new_matrices), PyArray_DATA(given->fit.errors), fault);
}

CORE_ENTRY(enter_matrices, core_fit_matrices, matrices_call)

const core_function core_fit_matrices = {
    .name = "fit_matrices",
    .summary = "Matrices of linear blending fitted to examples.",
    .parts = {CORE_PART(examples), CORE_PART(influences), CORE_PART(matrices_options)},
    .positional = 5,
    CORE_RESULTS(matrices_results),
    .size = sizeof(matrices_call),
    .set_defaults = set_matrices_defaults,
    .run = run_matrices,
    .entry = enter_matrices,
};
