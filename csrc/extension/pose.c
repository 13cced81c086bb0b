/* SPDX-License-Identifier: MIT */
#include "pose.h"

#include "skin.h"

const char *const core_method_words[] = {"rigid", "linear", "spherical", "dual_quaternion", NULL};
const char *const core_rotation_words[] = {"qlerp", "average", NULL};
const char *const core_center_words[] = {"joint_set", "weighted", "optimized", NULL};

#define AT(field) .at = offsetof(core_pose_call, field)

const core_row core_matrices_row[1] = {
    {"skinning_matrices", CORE_MATRICES, AT(pose), "(J, 4, 4) or (J, 3, 4)"},
};

const core_row core_matrices_of_frames_row[1] = {
    {"skinning_matrices", CORE_MATRICES, AT(pose), "(F, J, 4, 4) or (F, J, 3, 4)"},
};

const core_row core_method_rows[CORE_METHOD_ROWS] = {
    {"method", CORE_WORD, AT(options.method), .words = core_method_words, .optional = 1},
    {"rotation", CORE_WORD, AT(options.rotation), .words = core_rotation_words, .optional = 1},
    {"center", CORE_WORD, AT(options.center), .words = core_center_words, .optional = 1},
    {"damping", CORE_REAL, AT(options.damping), .optional = 1},
    {"rcond", CORE_REAL, AT(options.rcond), .optional = 1, .none = 1},
    {"amount", CORE_REALS, AT(options.amount), "(V,)", .scalar = offsetof(core_pose_call, options.amount_scalar),
     .optional = 1},
};

#define TWISTS(shape_text) \
  {"twists",     CORE_DOUBLES, AT(pose.twist_angles), shape_text, .fault = "twist_angles", .rows_in_faults = 1, \
   .optional = 1}

const core_row core_twists_row[1] = {TWISTS("(B, 2)")};
const core_row core_twists_of_frames_row[1] = {TWISTS("(F, B, 2)")};

#define SHAPES_ROW \
  {"shapes", CORE_INSTANCE, AT(shapes), "S", .type = "Shapes", .type_number = CORE_SHAPES, .optional = 1}
#define SHAPE_WEIGHTS(shape_text) \
  {"shape_weights", CORE_DOUBLES, AT(options.shape_weights), shape_text, .rows_in_faults = 1, .optional = 1}

const core_row core_shapes_rows[2] = {SHAPES_ROW, SHAPE_WEIGHTS("(S,)")};
const core_row core_shapes_of_frames_rows[2] = {SHAPES_ROW, SHAPE_WEIGHTS("(F, S)")};

void core_set_method_defaults(void *call) {
  ((core_pose_call *)call)->options = sbs_default_deform_options();
}

int core_check_twists(core_call *call, sbs_pose *pose, const core_object *twist) {
  if (pose->twist_angles != NULL && twist == NULL) {
    PyErr_SetString(PyExc_ValueError, "twists has no effect on a skin that was made without twist");
    return 0;
  }
  if (twist != NULL && core_length(call, 'B') == 0) pose->twist_angles = NULL; /* a twist of no bones has no angles */
  return 1;
}

int core_prepare_pose(void *address) {
  core_pose_call *given = address;
  const core_skin *self = core_self(given);

  if (!core_check_twists(&given->call, &given->pose, core_skin_twist(self))) return 0;
  if ((given->shapes == NULL) != (given->options.shape_weights == NULL)) {
    PyErr_SetString(PyExc_ValueError, given->shapes != NULL ? "shapes needs shape_weights"
                                                            : "shape_weights has no effect without shapes");
    return 0;
  }
  if (given->shapes == NULL) return 1;
  if (given->shapes->kept[0] != given->call.self) {
    PyErr_SetString(PyExc_ValueError, "shapes are of another skin");
    return 0;
  }
  given->options.shapes = given->shapes->made;
  return 1;
}
