/* SPDX-License-Identifier: MIT */
#include "brush_drag.h"

#include <limits.h>
#include <sbs/drag.h>

#include "brush_type.h"
#include "errors.h"
#include "influences_arguments.h"
#include "interrupts.h"
#include "pose_arguments.h"
#include "twist_type.h"

const char core_brush_drag_doc[] =
    "drag($self, vertex, target, skinning_matrices, *, radius, method='spherical', center='joint_set', damping=1e-8, "
    "amount=None,\n    base='linear', centers=None, twist=None, angles=None, falloff='smooth', distance='space', "
    "joints=None, locked=None,\n    mirror=None, mirror_position=0.0, mirror_joints=None, threads=None)\n--\n\n"
    "Drags a vertex of the posed mesh to a target (3,). What changed, as of stroke.";

/* The arrays of a call. */
typedef struct arrays {
  core_array target, matrices, amount, centers, angles, joints, locked, mirror_joints;
} arrays;

static int check_shapes(const core_brush *self, const arrays *given, PyObject *twist) {
  const npy_intp *shape = PyArray_DIMS(given->matrices.array);
  const npy_intp vertices = (npy_intp)self->vertex_count;
  if (!core_check_length(&given->target, 0, 3)) return 0;
  if (shape[2] != 4 || (shape[1] != 4 && shape[1] != 3) || (size_t)shape[0] != self->joint_count) {
    char expected[80];
    PyOS_snprintf(expected, sizeof expected, "(%zu, 4, 4) or (%zu, 3, 4)", self->joint_count, self->joint_count);
    core_raise_shape(&given->matrices, expected);
    return 0;
  }
  if (given->amount.array != NULL && !core_check_length(&given->amount, 0, vertices)) return 0;
  if (given->centers.array != NULL &&
      (!core_check_length(&given->centers, 0, vertices) || !core_check_length(&given->centers, 1, 3))) {
    return 0;
  }
  if (given->angles.array == NULL) return core_check_mirror_joints(self, &given->mirror_joints);
  if (twist == Py_None) {
    PyErr_SetString(PyExc_ValueError, "angles need a twist");
    return 0;
  }
  return core_check_length(&given->angles, 0, (npy_intp)core_twist_bone_count(twist)) &&
         core_check_length(&given->angles, 1, 2) && core_check_mirror_joints(self, &given->mirror_joints);
}

static const void *data_of(const core_array *argument) {
  return argument->array != NULL ? PyArray_DATA(argument->array) : NULL;
}

PyObject *core_brush_drag(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"vertex",        "target",   "skinning_matrices",
                             "radius",        "method",   "center",
                             "damping",       "amount",   "base",
                             "centers",       "twist",    "angles",
                             "falloff",       "distance", "joints",
                             "locked",        "mirror",   "mirror_position",
                             "mirror_joints", "threads",  NULL};
  core_brush *self = (core_brush *)object;
  const core_state *state = PyType_GetModuleState(Py_TYPE(object));
  sbs_drag_options options = sbs_default_drag_options();
  sbs_deform_options deform = sbs_default_deform_options();
  arrays given = {
      .target = {.name = "target", .shape = "(3,)", .dimensions = 1},
      .matrices = core_matrices_argument(0),
      .amount = core_amount_argument(),
      .centers = {.name = "centers", .shape = "(V, 3)", .dimensions = 2, .optional = 1},
      .angles = {.name = "angles", .shape = "(B, 2)", .dimensions = 2, .optional = 1},
      .joints = {.name = "joints", .shape = "(N,)", .dimensions = 1, .optional = 1},
      .locked = {.name = "locked", .shape = "(L,)", .dimensions = 1, .optional = 1},
      .mirror_joints = {.name = "mirror_joints", .shape = "(J,)", .dimensions = 1, .optional = 1},
  };
  core_method by = core_default_method();
  core_base base = {.set = sbs_default_deform_options()};
  core_choice falloff = {"falloff", core_falloff_words, SBS_BRUSH_FALLOFF_SMOOTH};
  core_choice distance = {"distance", core_distance_words, SBS_BRUSH_DISTANCE_SPACE};
  core_choice mirror = {"mirror", core_axis_words, -1};
  core_real radius = {.name = "radius"}, mirror_position = {.name = "mirror_position"};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  Py_ssize_t vertex;
  PyObject *twist = Py_None, *result = NULL;
  unsigned char *joints = NULL, *locked = NULL;
  sbs_brush_change change;
  sbs_pose pose;
  sbs_fault fault = {0};
  sbs_status status;

  base.set.method = SBS_METHOD_LINEAR;
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "nO&O&|$O&O&O&O&O&O&O&OO&O&O&O&O&O&O&O&O&:drag", keywords, &vertex, core_convert_doubles,
          &given.target, core_convert_reals, &given.matrices, core_convert_real, &radius, core_convert_choice,
          &by.method, core_convert_choice, &by.center, core_convert_real, &by.damping, core_convert_reals,
          &given.amount, core_convert_base, &base, core_convert_doubles, &given.centers, &twist, core_convert_doubles,
          &given.angles, core_convert_choice, &falloff, core_convert_choice, &distance, core_convert_int32,
          &given.joints, core_convert_int32, &given.locked, core_convert_axis, &mirror, core_convert_real,
          &mirror_position, core_convert_int32, &given.mirror_joints, core_convert_count, &threads)) {
    goto exit;
  }
  options.twist = core_twist_of(state, twist);
  if ((options.twist == NULL && twist != Py_None) || !check_shapes(self, &given, twist)) goto exit;
  if (!core_set_method(&by, &deform)) goto exit;
  if (!core_new_mask(&given.joints, self->joint_count, &joints) ||
      !core_new_mask(&given.locked, self->joint_count, &locked)) {
    goto exit;
  }
  if (vertex < 0 || (size_t)vertex >= self->vertex_count) {
    PyErr_Format(PyExc_ValueError, "vertex = %zd is out of range for %zd vertices", vertex,
                 (Py_ssize_t)self->vertex_count);
    goto exit;
  }
  deform.amount = data_of(&given.amount);
  if (given.amount.array != NULL)
    deform.amount_scalar = PyArray_TYPE(given.amount.array) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64;
  deform.base = &base.set;
  options.deform = &deform;
  options.centers = data_of(&given.centers);
  options.angles = data_of(&given.angles);
  options.radius = radius.value;
  options.falloff = (sbs_brush_falloff)falloff.value;
  options.distance = (sbs_brush_distance)distance.value;
  options.joints = joints;
  options.locked = locked;
  options.mirror_axis = mirror.value;
  options.mirror_position = mirror_position.value;
  options.mirror_joints = data_of(&given.mirror_joints);
  options.threads = (int)threads.value;
  pose = core_pose_of(given.matrices.array);

  if (!core_brush_take(self)) goto exit;
  CORE_BEGIN_CALL
  status =
      sbs_drag_vertex(self->brush, &options, &pose, (size_t)vertex, PyArray_DATA(given.target.array), &change, &fault);
  CORE_END_CALL
  if (status == SBS_OK)
    result = core_copy_change(self, &change);
  else
    core_raise_fault(object, status, &fault, given.matrices.array);
  core_brush_give_back(self);

exit:
  core_release(&given.target);
  core_release(&given.matrices);
  core_release(&given.amount);
  core_release(&given.centers);
  core_release(&given.angles);
  core_release(&given.joints);
  core_release(&given.locked);
  core_release(&given.mirror_joints);
  PyMem_Free(joints);
  PyMem_Free(locked);
  return result;
}
