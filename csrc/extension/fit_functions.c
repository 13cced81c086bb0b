/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "pose.h"

#include <sbs/fit.h>

/* How the structure of a call that fits to examples starts. */
typedef struct fit_call {
  core_call call;
  sbs_fit_desc desc;
  const core_object *twist; /* NULL for None */
  int32_t *joint_indices;
  double *joint_weights, *fitted, *errors;
  sbs_fit_options options;
} fit_call;

#define AT(field) .at = offsetof(fit_call, field)

static const core_row examples[] = {
    {"rest_positions", CORE_DOUBLES, AT(desc.rest_positions), "(V, 3)"},
    {"posed", CORE_DOUBLES, AT(desc.posed), "(F, V, 3)", .rows_in_faults = 1},
    {"skinning_matrices", CORE_MATRICES, AT(desc.poses), "(F, J, 4, 4) or (F, J, 3, 4)"},
    {"V", CORE_LENGTH, AT(desc.vertex_count)},
    {"F", CORE_LENGTH, AT(desc.frame_count)},
    {"J", CORE_LENGTH, AT(desc.joint_count)},
};

static const core_row influences[] = {
    {"joint_indices", CORE_INT32, AT(joint_indices), "(V, K)"},
    {"joint_weights", CORE_DOUBLES, AT(joint_weights), "(V, K)"},
};

static const core_row centers[] = {
    {"centers", CORE_DOUBLES, AT(desc.centers), "(V, 3)", .optional = 1},
};

static const core_row twist_rows[] = {
    {"twist", CORE_INSTANCE, AT(twist), "JB", .type = "Twist", .type_number = CORE_TWIST, .optional = 1},
    {"twists", CORE_DOUBLES, AT(desc.poses.twist_angles), "(F, B, 2)", .fault = "twist_angles", .rows_in_faults = 1,
     .optional = 1},
};

static const core_row threads[] = {
    {"threads", CORE_THREADS, AT(options.threads), .optional = 1},
};

static void set_defaults(void *address) {
  ((fit_call *)address)->options = sbs_default_fit_options();
}

static int prepare_twist(void *address) {
  fit_call *given = address;

  given->desc.twist = given->twist != NULL ? given->twist->made : NULL;
  return core_check_twists(&given->call, &given->desc.poses, given->twist);
}

/* ------------------------------------------------------------------------------------------------------ weights -- */

static const core_row weights_method[] = {
    {"method", CORE_WORD, AT(options.method), .words = core_method_words, .optional = 1},
    {"center", CORE_WORD, AT(options.center), .words = core_center_words, .optional = 1},
    {"damping", CORE_REAL, AT(options.damping), .optional = 1},
    {"influences", CORE_COUNT, AT(options.influences), .optional = 1},
    {"iterations", CORE_COUNT, AT(options.iterations), .optional = 1},
};

static const core_row weights_rows[] = {
    {"allowed", CORE_FLAGS, AT(desc.allowed), "(V, J)", .optional = 1},
    {"toward", CORE_DOUBLES, AT(desc.toward), "(V, J)", .optional = 1},
    {"pull", CORE_REAL, AT(options.pull), .optional = 1},
    {"initial_indices", CORE_INT32, AT(desc.initial_indices), "(V, N)", .optional = 1},
    {"initial_weights", CORE_DOUBLES, AT(desc.initial_weights), "(V, N)", .optional = 1},
    {"N", CORE_LENGTH, AT(desc.initial_influences)},
};

static const core_row weights_results[] = {
    {"joint_indices", CORE_INT32, AT(joint_indices), "(V, K)", .result = 1},
    {"joint_weights", CORE_DOUBLES, AT(joint_weights), "(V, K)", .result = 1},
    {"errors", CORE_DOUBLES, AT(errors), "(V,)", .result = 1},
};

enum {
  MOST_INFLUENCES = 256
};

static int prepare_weights(void *address) {
  fit_call *given = address;

  if (given->options.influences > MOST_INFLUENCES) given->options.influences = MOST_INFLUENCES;
  core_set_length(given, 'K', given->options.influences);
  return prepare_twist(given);
}

static sbs_status run_check(void *address, sbs_fault *fault) {
  fit_call *given = address;
  return sbs_fit_check(&given->desc, &given->options, fault);
}

CORE_FUNCTION(core_check_fit, fit_call, .name = "check_fit", .summary = "Raises as fit_weights does, without fitting.",
              .parts = {CORE_PART(examples), CORE_PART(weights_method), CORE_PART(centers), CORE_PART(twist_rows),
                        CORE_PART(weights_rows)},
              .positional = 3, .set_defaults = set_defaults, .prepare = prepare_weights, .run = run_check)

static sbs_status run_weights(void *address, sbs_fault *fault) {
  fit_call *given = address;

  return sbs_fit_weights(&given->desc, &given->options, given->joint_indices, given->joint_weights, given->errors,
                         fault);
}

CORE_FUNCTION(core_fit_weights, fit_call, .name = "fit_weights", .summary = "Weights fitted to examples.",
              .parts = {CORE_PART(examples), CORE_PART(weights_method), CORE_PART(centers), CORE_PART(twist_rows),
                        CORE_PART(weights_rows), CORE_PART(weights_results), CORE_PART(threads)},
              .positional = 3, .set_defaults = set_defaults, .prepare = prepare_weights, .run = run_weights)

/* ------------------------------------------------------------------------------------------------------ centers -- */

static const core_row centers_results[] = {
    {"centers", CORE_DOUBLES, AT(fitted), "(V, 3)", .result = 1},
    {"errors", CORE_DOUBLES, AT(errors), "(V,)", .result = 1},
};

static sbs_status run_centers(void *address, sbs_fault *fault) {
  fit_call *given = address;

  return sbs_fit_centers(&given->desc, core_length(given, 'K'), given->joint_indices, given->joint_weights,
                         &given->options, given->fitted, given->errors, fault);
}

CORE_FUNCTION(core_fit_centers, fit_call, .name = "fit_centers",
              .summary = "Centers of spherical blending fitted to examples.",
              .parts = {CORE_PART(examples), CORE_PART(influences), CORE_PART(centers), CORE_PART(twist_rows),
                        CORE_PART(threads), CORE_PART(centers_results)},
              .positional = 5, .set_defaults = set_defaults, .prepare = prepare_twist, .run = run_centers)

/* ----------------------------------------------------------------------------------------------------- matrices -- */

typedef struct matrices_call {
  fit_call in;
  const unsigned char *fixed;
  sbs_fit_matrices_options options;
} matrices_call;

static const core_row matrices_rows[] = {
    {"fixed", CORE_FLAGS, .at = offsetof(matrices_call, fixed), "(J,)", .optional = 1},
    {"sweeps", CORE_COUNT, .at = offsetof(matrices_call, options.sweeps), .optional = 1},
    {"threads", CORE_THREADS, .at = offsetof(matrices_call, options.threads), .optional = 1},
    {"skinning_matrices", CORE_DOUBLES, .at = offsetof(matrices_call, in.fitted), "(F, J, 3, 4)", .result = 1},
    {"errors", CORE_DOUBLES, .at = offsetof(matrices_call, in.errors), "(F,)", .result = 1},
};

static void set_matrices_defaults(void *address) {
  ((matrices_call *)address)->options = sbs_default_fit_matrices_options();
}

static sbs_status run_matrices(void *address, sbs_fault *fault) {
  matrices_call *given = address;

  return sbs_fit_matrices(&given->in.desc, core_length(given, 'K'), given->in.joint_indices, given->in.joint_weights,
                          given->fixed, &given->options, given->in.fitted, given->in.errors, fault);
}

CORE_FUNCTION(core_fit_matrices, matrices_call, .name = "fit_matrices",
              .summary = "Matrices of linear blending fitted to examples.",
              .parts = {CORE_PART(examples), CORE_PART(influences), CORE_PART(matrices_rows)}, .positional = 5,
              .set_defaults = set_matrices_defaults, .run = run_matrices)
