/* SPDX-License-Identifier: MIT */
#include "pose.h"

#include <string.h>

#include "convert.h"

const char *const core_method_words[] = {"rigid", "linear", "spherical", "dual_quaternion", NULL};
const char *const core_rotation_words[] = {"qlerp", "average", NULL};
const char *const core_center_words[] = {"joint_set", "weighted", "optimized", NULL};

/* What a base may have: the options of a method, in a sbs_deform_options. */
static const core_argument base_arguments[] = {
    {"method", CORE_WORD, .at = offsetof(sbs_deform_options, method), .words = core_method_words},
    {"rotation", CORE_WORD, .at = offsetof(sbs_deform_options, rotation), .words = core_rotation_words},
    {"center", CORE_WORD, .at = offsetof(sbs_deform_options, center), .words = core_center_words},
    {"damping", CORE_REAL, .at = offsetof(sbs_deform_options, damping)},
    {"rcond", CORE_REAL, .at = offsetof(sbs_deform_options, rcond), .none = 1},
};

/* A str, the method, or a dict of its options. */
static int convert_base(core_call *Py_UNUSED(call), PyObject *object, void *options) {
  static const core_part part = CORE_PART(base_arguments);

  *(sbs_deform_options *)options = sbs_default_deform_options();
  if (PyUnicode_Check(object)) return core_convert(NULL, base_arguments, "base", object, options);
  if (PyDict_Check(object)) return core_convert_dict(object, &part, "base", options);
  PyErr_Format(PyExc_TypeError, "base must be a str or a dict of options, not %R", (PyObject *)Py_TYPE(object));
  return 0;
}

const core_argument core_method_arguments[CORE_METHOD_ARGUMENTS] = {
    {"method", CORE_WORD, .at = offsetof(core_pose_call, by.options.method), .words = core_method_words, .optional = 1},
    {"rotation", CORE_WORD, .at = offsetof(core_pose_call, by.options.rotation), .words = core_rotation_words,
     .optional = 1},
    {"center", CORE_WORD, .at = offsetof(core_pose_call, by.options.center), .words = core_center_words, .optional = 1},
    {"damping", CORE_REAL, .at = offsetof(core_pose_call, by.options.damping), .optional = 1},
    {"rcond", CORE_REAL, .at = offsetof(core_pose_call, by.options.rcond), .optional = 1, .none = 1},
    {"amount", CORE_REALS, .at = offsetof(core_pose_call, by.amount), "(V,)", .optional = 1},
    {"base", CORE_OBJECT, .at = offsetof(core_pose_call, by.base), .type = "str | Mapping[str, object]",
     .standard = "'linear'", .optional = 1, .convert = convert_base},
};

void core_set_method_defaults(void *address) {
  core_method *by = &((core_pose_call *)address)->by;

  by->options = sbs_default_deform_options();
  by->base = sbs_default_deform_options();
  by->base.method = SBS_METHOD_LINEAR;
}

const sbs_deform_options *core_method_options(core_method *method) {
  if (method->amount != NULL) {
    method->options.amount = PyArray_DATA(method->amount);
    method->options.amount_scalar = core_scalar(method->amount);
    method->options.base = &method->base;
  }
  return &method->options;
}

sbs_pose core_one_pose(PyArrayObject *matrices) {
  return (sbs_pose){
      .skinning_matrices = PyArray_DATA(matrices),
      .scalar = core_scalar(matrices),
      .rows = (size_t)PyArray_DIM(matrices, PyArray_NDIM(matrices) - 2),
  };
}

const core_argument core_twists_argument[1] = {
    {"twists", CORE_DOUBLES, .at = offsetof(core_pose_call, twists), "(B, 2)", .optional = 1}};

const core_argument core_twists_of_frames_argument[1] = {
    {"twists", CORE_DOUBLES, .at = offsetof(core_pose_call, twists), "(F, B, 2)", .optional = 1}};

int core_check_twists(const core_pose_call *given, PyObject *twist) {
  if (given->twists == NULL || twist != NULL) return 1;
  PyErr_SetString(PyExc_ValueError, "twists has no effect on a skin that was made without twist");
  return 0;
}

sbs_pose core_pose_with_twists(const core_pose_call *given) {
  sbs_pose pose = core_one_pose(given->matrices);

  /* of no bones there are none */
  if (given->twists != NULL && PyArray_SIZE(given->twists) > 0) pose.twist_angles = PyArray_DATA(given->twists);
  return pose;
}

void core_place_in_twists(sbs_fault *fault, const core_pose_call *given) {
  if (fault->argument == NULL || strcmp(fault->argument, "twist_angles") != 0) return;
  fault->argument = "twists";
  if (PyArray_NDIM(given->twists) == 2) return;
  fault->index[1] = fault->index[0] % core_length(&given->call, 'B');
  fault->index[0] /= core_length(&given->call, 'B');
}

sbs_pose core_frame_pose(PyArrayObject *matrices, size_t frame) {
  sbs_pose pose = core_one_pose(matrices);

  pose.skinning_matrices = PyArray_BYTES(matrices) + frame * (size_t)PyArray_STRIDE(matrices, 0);
  return pose;
}

void core_place_in_frame(sbs_fault *fault, PyArrayObject *matrices, size_t frame) {
  if (fault->argument != NULL && strcmp(fault->argument, "skinning_matrices") == 0)
    fault->index[0] += frame * (size_t)PyArray_DIM(matrices, 1);
}
