/* SPDX-License-Identifier: MIT */
#include "pose.h"
#include "skin.h"

#include <sbs/shapes.h>

/* ------------------------------------------------------------------------------------------------------- deform -- */

typedef struct deform_call {
  core_pose_call posed;
  void *positions, *normals;
  int with_normals;
} deform_call;

#define AT(field) .at = offsetof(deform_call, field)

static const core_row deform_matrices_row[] = {
    {"skinning_matrices", CORE_MATRICES, AT(posed.pose), "(J, 4, 4) or (J, 3, 4)",
     .hint = ", as Character.skinning_matrices makes them; deform_many takes frames"}};

static const core_row deform_rows[] = {
    {"rest_positions", CORE_SAME, AT(posed.options.rest_positions), "(V, 3)", .optional = 1},
    {"normals", CORE_FLAG, AT(with_normals), .optional = 1},
    {"out", CORE_OUTPUT, AT(positions), "(V, 3)", .optional = 1},
    {"out_normals", CORE_OUTPUT, AT(normals), "(V, 3)", .optional = 1},
    {"threads", CORE_THREADS, AT(posed.options.threads), .optional = 1},
};

static const core_row deform_results[] = {
    {"positions", CORE_SAME, AT(positions), "(V, 3)", .result = 1},
    {"normals", CORE_SAME, AT(normals), "(V, 3)", .result = 1, .none = 1},
};

static int prepare_deform(void *address) {
  deform_call *given = address;
  const core_skin *self = core_self(given);

  if (given->with_normals && !self->info.has_normals) {
    PyErr_SetString(PyExc_ValueError, "normals=True needs a skin that was made with rest_normals");
    return 0;
  }
  if (given->normals != NULL && !given->with_normals) {
    PyErr_SetString(PyExc_ValueError, "out_normals needs normals=True");
    return 0;
  }
  if (!given->with_normals) given->posed.call.skipped = 1u << 1;
  return core_prepare_pose(given);
}

static sbs_status run_deform(void *address, sbs_fault *fault) {
  deform_call *given = address;
  core_skin *self = core_self(given);
  sbs_deform_options *options = &given->posed.options;

  if (sbs_skin_scratch_size(core_made(given)) + sbs_shapes_scratch_size(options->shapes) <= self->scratch.size) {
    options->scratch = core_take_scratch(&self->scratch);
    options->scratch_size = self->scratch.size;
  }
  const sbs_status status =
      sbs_skin_deform(core_made(given), &given->posed.pose, options, given->positions, given->normals, NULL, fault);
  core_give_scratch(&self->scratch, options->scratch);
  return status;
}

static PyObject *finish_deform(void *address) {
  const deform_call *given = address;

  if (!given->with_normals) return Py_NewRef(core_result(given, 0));
  return PyTuple_Pack(2, core_result(given, 0), core_result(given, 1));
}

CORE_FUNCTION(core_deform, deform_call, .name = "deform",
              .summary = "Positions of the mesh in a pose, and normals if they are wanted.",
              .parts = {CORE_PART(deform_matrices_row), CORE_METHOD_PART(CORE_METHOD, CORE_AMOUNT),
                        CORE_PART(core_twists_row), CORE_PART(core_shapes_rows), CORE_PART(deform_rows),
                        CORE_PART(deform_results)},
              .positional = 1, .returns = "_Floats | tuple[_Floats, _Floats]", .set_defaults = core_set_method_defaults,
              .prepare = prepare_deform, .run = run_deform, .finish = finish_deform)

/* -------------------------------------------------------------------------------------------------- deform_many -- */

static const core_row many_matrices_row[] = {{"skinning_matrices", CORE_MATRICES, AT(posed.pose),
                                              "(F, J, 4, 4) or (F, J, 3, 4)", .hint = "; deform takes one frame"}};

static const core_row many_rows[] = {
    {"normals", CORE_FLAG, AT(with_normals), .optional = 1},
    {"out", CORE_OUTPUT, AT(positions), "(F, V, 3)", .optional = 1},
    {"out_normals", CORE_OUTPUT, AT(normals), "(F, V, 3)", .optional = 1},
    {"threads", CORE_THREADS, AT(posed.options.threads), .optional = 1},
};

static const core_row many_results[] = {
    {"positions", CORE_SAME, AT(positions), "(F, V, 3)", .result = 1},
    {"normals", CORE_SAME, AT(normals), "(F, V, 3)", .result = 1, .none = 1},
};

/* The library allocates memory for each of the frames that it goes through at once. */
static sbs_status run_deform_many(void *address, sbs_fault *fault) {
  deform_call *given = address;

  return sbs_skin_deform_many(core_made(given), core_length(given, 'F'), &given->posed.pose, &given->posed.options,
                              given->positions, given->normals, NULL, fault);
}

CORE_FUNCTION(core_deform_many, deform_call, .name = "deform_many", .summary = "The same for several poses.",
              .parts = {CORE_PART(many_matrices_row), CORE_METHOD_PART(CORE_METHOD, CORE_AMOUNT),
                        CORE_PART(core_twists_of_frames_row), CORE_PART(core_shapes_of_frames_rows),
                        CORE_PART(many_rows), CORE_PART(many_results)},
              .positional = 1, .returns = "_Floats | tuple[_Floats, _Floats]", .set_defaults = core_set_method_defaults,
              .prepare = prepare_deform, .run = run_deform_many, .finish = finish_deform)

/* ---------------------------------------------------------------------------------------------- rotation_centers -- */

typedef struct centers_call {
  core_pose_call posed;
  double *centers;
  sbs_deform_report report;
} centers_call;

static const core_row centers_results[] = {
    {"centers", CORE_DOUBLES, .at = offsetof(centers_call, centers), "(N, 3)", .result = 1},
};

static sbs_status run_centers(void *address, sbs_fault *fault) {
  centers_call *given = address;

  return sbs_skin_rotation_centers(core_made(given), &given->posed.pose, &given->posed.options, given->centers,
                                   &given->report, fault);
}

static PyObject *finish_centers(void *address) {
  const sbs_deform_report *report = &((const centers_call *)address)->report;

  return Py_BuildValue("O(nnn)", core_result(address, 0), (Py_ssize_t)report->nontrivial_joint_sets,
                       (Py_ssize_t)report->solves, (Py_ssize_t)report->nonrigid_joints);
}

CORE_FUNCTION(core_rotation_centers, centers_call, .name = "rotation_centers",
              .summary = "Rotation centers of the joint sets in a pose, and the counts (nontrivial_joint_sets, solves, "
                         "nonrigid_joints).",
              .parts = {CORE_PART(core_matrices_row), CORE_METHOD_PART(CORE_DAMPING, CORE_RCOND),
                        CORE_PART(centers_results)},
              .positional = 1, .returns = "tuple[NDArray[np.float64], tuple[int, int, int]]",
              .set_defaults = core_set_method_defaults, .run = run_centers, .finish = finish_centers)
