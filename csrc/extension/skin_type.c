/* SPDX-License-Identifier: MIT */
#include "skin.h"

#include "definitions.h"
#include "functions.h"

#include <sbs/twist.h>

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

int core_complete_skin(core_call *call, sbs_skin_desc *desc, const core_object *twist) {
  if (desc->twist_positions != NULL && twist == NULL) {
    PyErr_SetString(PyExc_ValueError, "twist_positions has no effect without twist");
    return 0;
  }
  desc->twist = twist != NULL ? twist->made : NULL;
  if (!core_has_length(call, 'J'))
    desc->joint_count = (size_t)core_largest(desc->joint_indices, desc->vertex_count * desc->influences_per_vertex) + 1;
  return 1;
}

/*
 * With shapes of all vertices, with normals; where that is not enough, the library allocates. Pages that are never
 * touched cost no memory.
 */
static size_t most_scratch(const sbs_skin *skin, const sbs_skin_info *info) {
  const size_t vector_size = 3 * (info->scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double));
  return sbs_skin_scratch_size(skin) + 1024 + 2 * info->vertex_count * vector_size + info->vertex_count;
}

PyObject *core_wrap_skin(const core_call *call, sbs_skin *skin, const sbs_weight_report *report,
                         const sbs_skin_desc *desc, const npy_intp *lengths, PyObject *const *kept) {
  PyObject *type = core_get_state(call)->types[CORE_SKIN];
  core_skin *self = (core_skin *)core_new_object(&core_skin_class, (PyTypeObject *)type, skin, lengths);
  const size_t frame_joints = sbs_twist_joint_count(desc->twist);

  if (self == NULL) return NULL;
  self->report = *report;
  self->desc = *desc;
  sbs_skin_get_info(skin, &self->info); /* fails only for NULL, like the functions below */
  self->scratch.size = most_scratch(skin, &self->info);
  for (int i = 0; i <= CORE_KEPT_TWIST; i++) self->object.kept[i] = Py_XNewRef(kept[i]);
  for (int i = 0; i < CORE_ARRAY_COUNT; i++)
    if (kept[i] != NULL) PyArray_CLEARFLAGS((PyArrayObject *)kept[i], NPY_ARRAY_WRITEABLE);
  self->object.type = self->info.scalar == SBS_FLOAT32 ? NPY_FLOAT : NPY_DOUBLE;
  self->object.typed_by = "rest_positions";
  self->object.lengths['J' - 'A'] = (npy_intp)self->info.joint_count;
  self->object.lengths['K' - 'A'] = (npy_intp)desc->influences_per_vertex;
  self->object.lengths['N' - 'A'] = (npy_intp)self->info.joint_set_count;
  self->object.lengths['P' - 'A'] = (npy_intp)(frame_joints > 0 ? frame_joints : self->info.joint_count);
  return (PyObject *)self;
}

static void release(void *skin) {
  sbs_skin_free(skin);
}

static void clear(core_object *object) {
  core_skin *self = (core_skin *)object;

  core_empty_scratch_pool(&self->scratch);
  sbs_gradient_free(atomic_load(&self->gradient));
}

typedef struct skin_call {
  core_call call;
  sbs_skin_desc desc;
  const core_object *twist; /* NULL for None */
  sbs_skin_options options;
  sbs_weight_report report;
  sbs_skin *skin;
} skin_call;

#define AT(field) .at = offsetof(skin_call, field)

static const core_row rows[] = {
    {"rest_positions", CORE_REALS, AT(desc.rest_positions), "(V, 3)", .scalar = offsetof(skin_call, desc.scalar)},
    {"joint_indices", CORE_INT32, AT(desc.joint_indices), "(V, K)"},
    {"joint_weights", CORE_REALS, AT(desc.joint_weights), "(V, K)", .scalar = offsetof(skin_call, desc.weight_scalar)},
    {"parents", CORE_INT32, AT(desc.parents), "(J,)", .optional = 1},
    {"joint_positions", CORE_DOUBLES, AT(desc.joint_positions), "(J, 3)", .optional = 1},
    {"rest_normals", CORE_SAME, AT(desc.rest_normals), "(V, 3)", .optional = 1},
    {"centers", CORE_DOUBLES, AT(desc.centers), "(V, 3)", .optional = 1},
    {"twist_positions", CORE_SAME, AT(desc.twist_positions), "(V, 3)", .optional = 1},
    {"joint_count", CORE_COUNT, AT(desc.joint_count), "J", .optional = 1},
    {"twist", CORE_INSTANCE, AT(twist), "JB", .type = "Twist", .type_number = CORE_TWIST, .optional = 1},
    {"strict", CORE_FLAG, AT(options.strict), .optional = 1},
    {"V", CORE_LENGTH, AT(desc.vertex_count)},
    {"J", CORE_LENGTH, AT(desc.joint_count)},
    {"K", CORE_LENGTH, AT(desc.influences_per_vertex)},
};

static void set_defaults(void *address) {
  ((skin_call *)address)->options = sbs_default_skin_options();
}

static int prepare(void *address) {
  skin_call *given = address;
  return core_complete_skin(&given->call, &given->desc, given->twist);
}

static sbs_status run(void *address, sbs_fault *fault) {
  skin_call *given = address;
  return sbs_skin_new(&given->desc, &given->options, &given->skin, &given->report, fault);
}

static PyObject *finish(void *address) {
  skin_call *given = address;
  PyObject *kept[CORE_KEPT_TWIST + 1];

  for (size_t i = 0; i < CORE_ARRAY_COUNT; i++) kept[i] = (PyObject *)core_array(given, i);
  kept[CORE_KEPT_TWIST] = (PyObject *)given->twist;
  return core_wrap_skin(&given->call, given->skin, &given->report, &given->desc, given->call.lengths, kept);
}

/* The counts of a report, in the order of its fields. */
static PyObject *report_tuple(const sbs_weight_report *report) {
  return Py_BuildValue("nnnnnn", (Py_ssize_t)report->nan, (Py_ssize_t)report->infinite, (Py_ssize_t)report->negative,
                       (Py_ssize_t)report->unweighted, (Py_ssize_t)report->off_sum, (Py_ssize_t)report->duplicate);
}

static sbs_status run_check(void *address, sbs_fault *fault) {
  skin_call *given = address;
  return sbs_skin_check(&given->desc, &given->options, &given->report, fault);
}

static PyObject *finish_check(void *address) {
  return report_tuple(&((skin_call *)address)->report);
}

CORE_FUNCTION(core_check_skin, skin_call, .name = "check_skin",
              .summary = "Whether a skin can be made of these; a fault of them is raised as Skin does, and repairs are "
                         "counted\nas by Skin.weight_report.",
              .parts = {CORE_PART(rows)}, .positional = 3, .returns = "tuple[int, int, int, int, int, int]",
              .set_defaults = set_defaults, .prepare = prepare, .run = run_check, .finish = finish_check)

/* --------------------------------------------------------------------------------------------------- properties -- */

/* A read-only view of the array whose number is the closure, or None. */
static PyObject *get_array(PyObject *object, void *number) {
  PyObject *array = ((core_object *)object)->kept[(Py_ssize_t)number], *view;

  if (array == NULL) Py_RETURN_NONE;
  view = PyArray_View((PyArrayObject *)array, NULL, NULL);
  if (view != NULL) PyArray_CLEARFLAGS((PyArrayObject *)view, NPY_ARRAY_WRITEABLE);
  return view;
}

static PyObject *get_twist(PyObject *object, void *Py_UNUSED(closure)) {
  PyObject *twist = ((core_object *)object)->kept[CORE_KEPT_TWIST];

  return Py_NewRef(twist != NULL ? twist : Py_None);
}

static PyObject *get_instruction_set(PyObject *object, void *Py_UNUSED(closure)) {
  return PyUnicode_FromString(((core_skin *)object)->info.instruction_set);
}

static PyObject *get_weight_report(PyObject *object, void *Py_UNUSED(closure)) {
  return report_tuple(&((core_skin *)object)->report);
}

#define ARRAY(name, number, doc) {name, get_array, NULL, doc, (void *)(Py_ssize_t)(number)}
#define SIZE(name, doc) {#name, core_get_size, NULL, doc, (void *)offsetof(core_skin, info.name)}

static PyGetSetDef properties[] = {
    ARRAY("rest_positions", CORE_REST_POSITIONS, "reals (V, 3): read-only."),
    ARRAY("joint_indices", CORE_JOINT_INDICES, "int32 (V, K): read-only."),
    ARRAY("joint_weights", CORE_JOINT_WEIGHTS, "reals (V, K): read-only."),
    ARRAY("parents", CORE_PARENTS, "int32 (J,), or None: read-only."),
    ARRAY("joint_positions", CORE_JOINT_POSITIONS, "float64 (J, 3), or None: read-only."),
    ARRAY("rest_normals", CORE_REST_NORMALS, "reals (V, 3), or None: read-only, of the type of rest_positions."),
    ARRAY("centers", CORE_CENTERS, "float64 (V, 3), or None: read-only."),
    ARRAY("twist_positions", CORE_TWIST_POSITIONS, "reals (V, 3), or None: read-only, of the type of rest_positions."),
    {"twist", get_twist, NULL, "Twist, or None: the bones that limbs are twisted along.", NULL},
    SIZE(vertex_count, "int: vertices."),
    SIZE(joint_count, "int: joints."),
    SIZE(nontrivial_joint_set_count, "int: joint sets of two or more joints that are not a joint and its parent."),
    SIZE(unweighted_vertex_count, "int: vertices without any influence."),
    SIZE(max_influences, "int: the size of the largest joint set."),
    SIZE(memory, "int: bytes held by the C library for this skin."),
    {"instruction_set", get_instruction_set, NULL, "str: the instruction set of the kernels.", NULL},
    {"weight_report", get_weight_report, NULL,
     "tuple[int, int, int, int, int, int]: vertices repaired: (nan, infinite, negative, unweighted, off_sum, "
     "duplicate).",
     NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* --------------------------------------------------------------------------------------------------- joint sets -- */

typedef struct sets_call {
  core_call call;
  size_t *offsets;
  int32_t *joints, *of_vertex;
} sets_call;

/* O is one more than the sets, S the sum of their sizes. */
static const core_row sets_results[] = {
    {"offsets", CORE_INTP, .at = offsetof(sets_call, offsets), "(O,)", .result = 1},
    {"joints", CORE_INT32, .at = offsetof(sets_call, joints), "(S,)", .result = 1},
    {"of_vertex", CORE_INT32, .at = offsetof(sets_call, of_vertex), "(V,)", .result = 1},
};

static int prepare_sets(void *given) {
  const core_skin *self = core_self(given);

  core_set_length(given, 'O', self->info.joint_set_count + 1);
  core_set_length(given, 'S', self->info.joint_set_size_sum);
  return 1;
}

static sbs_status run_sets(void *address, sbs_fault *fault) {
  sets_call *given = address;
  const sbs_status status = sbs_skin_joint_sets(core_made(given), given->offsets, given->joints);

  (void)fault;
  return status != SBS_OK ? status : sbs_skin_joint_set_of_vertex(core_made(given), given->of_vertex);
}

CORE_FUNCTION(core_joint_sets, sets_call, .name = "joint_sets",
              .summary = "The joint sets: set i is joints[offsets[i]:offsets[i + 1]]; and the set of each vertex.",
              .parts = {CORE_PART(sets_results)}, .prepare = prepare_sets, .run = run_sets)

/* --------------------------------------------------------------------------------------------------------- type -- */

static const core_function *const methods[] = {
    &core_deform,
    &core_deform_many,
    &core_inverse_deform,
    &core_update_skin,
    &core_deform_vjp,
    &core_weight_jacobian,
    &core_rotation_centers,
    &core_bound_influences,
    &core_pose_palette,
    &core_joint_sets,
    NULL,
};

CORE_CLASS(core_skin_class, skin_call, .number = CORE_SKIN, .type = "sbs._core.Skin", .release = release,
           .clear = clear, .methods = methods, .properties = properties, .size = sizeof(core_skin), .make.name = "Skin",
           .make.summary = "A mesh bound to its joints. It keeps the arrays, as `owned` does.",
           .make.parts = {CORE_PART(rows)}, .make.positional = 3, .make.keeps = 1, .make.set_defaults = set_defaults,
           .make.prepare = prepare, .make.run = run, .make.finish = finish)
