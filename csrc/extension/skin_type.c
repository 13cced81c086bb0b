/* SPDX-License-Identifier: MIT */
#include "skin_type.h"

#include "definitions.h"
#include "skin_methods.h"
#include "twist_type.h"

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

void core_begin_with_skin(void *address) {
  core_call *call = address;
  const core_skin *self = core_self(call);

  core_set_length(call, 'V', self->info.vertex_count);
  core_set_length(call, 'J', self->info.joint_count);
  if (self->twist != NULL) core_set_length(call, 'B', self->info.twist_bone_count);
  call->type = self->info.scalar == SBS_FLOAT32 ? NPY_FLOAT : NPY_DOUBLE;
  call->typed_by = "rest_positions";
}

int core_complete_skin(core_call *call, sbs_skin_desc *desc, PyObject *twist) {
  if (desc->twist_positions != NULL && twist == NULL) {
    PyErr_SetString(PyExc_ValueError, "twist_positions has no effect without twist");
    return 0;
  }
  desc->twist = core_get_twist(twist);
  if (call->lengths['J' - 'A'] < 0)
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

PyObject *core_wrap_skin(PyObject *type, sbs_skin *skin, const sbs_weight_report *report, const sbs_skin_desc *desc,
                         PyArrayObject *const *arrays, PyObject *twist) {
  core_skin *self = core_allocate(type);

  if (self == NULL) {
    sbs_skin_free(skin);
    return NULL;
  }
  self->skin = skin;
  self->report = *report;
  sbs_skin_get_info(skin, &self->info); /* fails only for NULL, like the two below */
  self->scratch.size = most_scratch(skin, &self->info);
  for (int i = 0; i < CORE_HELD_COUNT; i++) {
    self->held[i] = (PyArrayObject *)Py_XNewRef((PyObject *)arrays[i]);
    if (arrays[i] != NULL) PyArray_CLEARFLAGS(arrays[i], NPY_ARRAY_WRITEABLE);
  }
  self->twist = Py_XNewRef(twist);
  self->desc = *desc;
  return (PyObject *)self;
}

/* ------------------------------------------------------------------------------------------------------ making -- */

typedef struct skin_call {
  core_call call;
  sbs_skin_desc desc;
  PyObject *twist; /* NULL for None */
  sbs_skin_options options;
  sbs_weight_report report;
  sbs_skin *skin;
} skin_call;

static const core_row rows[] = {
    {"rest_positions", CORE_REALS, .at = offsetof(skin_call, desc.rest_positions), "(V, 3)",
     .scalar = offsetof(skin_call, desc.scalar)},
    {"joint_indices", CORE_INT32, .at = offsetof(skin_call, desc.joint_indices), "(V, K)"},
    {"joint_weights", CORE_REALS, .at = offsetof(skin_call, desc.joint_weights), "(V, K)",
     .scalar = offsetof(skin_call, desc.weight_scalar)},
    {"parents", CORE_INT32, .at = offsetof(skin_call, desc.parents), "(J,)", .optional = 1},
    {"joint_positions", CORE_DOUBLES, .at = offsetof(skin_call, desc.joint_positions), "(J, 3)", .optional = 1},
    {"rest_normals", CORE_SAME, .at = offsetof(skin_call, desc.rest_normals), "(V, 3)", .optional = 1},
    {"centers", CORE_DOUBLES, .at = offsetof(skin_call, desc.centers), "(V, 3)", .optional = 1},
    {"twist_positions", CORE_SAME, .at = offsetof(skin_call, desc.twist_positions), "(V, 3)", .optional = 1},
    {"joint_count", CORE_COUNT, .at = offsetof(skin_call, desc.joint_count), "J", .optional = 1},
    {"twist", CORE_OBJECT, .at = offsetof(skin_call, twist), .type = "Twist | None", .optional = 1,
     .convert = core_convert_twist},
    {"strict", CORE_FLAG, .at = offsetof(skin_call, options.strict), .optional = 1},
    {"V", CORE_LENGTH, .at = offsetof(skin_call, desc.vertex_count)},
    {"J", CORE_LENGTH, .at = offsetof(skin_call, desc.joint_count)},
    {"K", CORE_LENGTH, .at = offsetof(skin_call, desc.influences_per_vertex)},
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
  PyArrayObject *arrays[CORE_HELD_COUNT];

  for (size_t i = 0; i < CORE_HELD_COUNT; i++) arrays[i] = core_array(given, i);
  return core_wrap_skin(given->call.self, given->skin, &given->report, &given->desc, arrays, given->twist);
}

static const core_function new_skin = {
    .name = "Skin",
    .summary = "A mesh bound to its joints. It keeps the arrays, as `owned` does.",
    .parts = {CORE_PART(rows)},
    .positional = 3,
    .keeps = 1,
    .size = sizeof(skin_call),
    .set_defaults = set_defaults,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};

static PyObject *skin_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  skin_call call;
  return core_enter_new(&new_skin, type, args, kwargs, &call);
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

CORE_ENTRY(core_check_skin, skin_call)

const core_function core_check_skin = {
    .name = "check_skin",
    .summary = "Whether a skin can be made of these; what is wrong with them is raised as Skin does, and repairs are "
               "counted\nas by Skin.weight_report.",
    .parts = {CORE_PART(rows)},
    .positional = 3,
    .returns = "tuple[int, int, int, int, int, int]",
    .size = sizeof(skin_call),
    .set_defaults = set_defaults,
    .prepare = prepare,
    .run = run_check,
    .finish = finish_check,
    .entry = core_check_skin_entry,
};

/* An instance refers to its type, and so to the module. The collector must know, or the module is never freed. */
static int skin_traverse(PyObject *object, visitproc visit, void *arg) {
  core_skin *self = (core_skin *)object;

  Py_VISIT(Py_TYPE(object));
  for (int i = 0; i < CORE_HELD_COUNT; i++) Py_VISIT(self->held[i]);
  Py_VISIT(self->twist);
  return 0;
}

static void skin_dealloc(PyObject *object) {
  core_skin *self = (core_skin *)object;

  PyObject_GC_UnTrack(object);
  core_empty_scratch_pool(&self->scratch);
  sbs_gradient_free(atomic_load(&self->gradient));
  sbs_skin_free(self->skin);
  for (int i = 0; i < CORE_HELD_COUNT; i++) Py_CLEAR(self->held[i]);
  Py_CLEAR(self->twist);
  core_free_object(object);
}

/* --------------------------------------------------------------------------------------------------- properties -- */

/* A read-only view of the array whose number is the closure, or None. */
static PyObject *get_held(PyObject *object, void *number) {
  PyArrayObject *held = ((core_skin *)object)->held[(Py_ssize_t)number];
  PyObject *view;

  if (held == NULL) Py_RETURN_NONE;
  view = PyArray_View(held, NULL, NULL);
  if (view != NULL) PyArray_CLEARFLAGS((PyArrayObject *)view, NPY_ARRAY_WRITEABLE);
  return view;
}

static PyObject *get_twist(PyObject *object, void *Py_UNUSED(closure)) {
  PyObject *twist = ((core_skin *)object)->twist;

  return Py_NewRef(twist != NULL ? twist : Py_None);
}

static PyObject *get_instruction_set(PyObject *object, void *Py_UNUSED(closure)) {
  return PyUnicode_FromString(((core_skin *)object)->info.instruction_set);
}

static PyObject *get_weight_report(PyObject *object, void *Py_UNUSED(closure)) {
  return report_tuple(&((core_skin *)object)->report);
}

/* A tuple of int. */
static PyObject *joint_set_tuple(const int32_t *joints, size_t count) {
  PyObject *set = PyTuple_New((Py_ssize_t)count);

  for (size_t i = 0; set != NULL && i < count; i++) {
    PyObject *joint = PyLong_FromLong(joints[i]);
    if (joint == NULL || PyTuple_SetItem(set, (Py_ssize_t)i, joint) < 0) Py_CLEAR(set);
  }
  return set;
}

static PyObject *get_joint_sets(PyObject *object, void *Py_UNUSED(closure)) {
  const core_skin *self = (core_skin *)object;
  const size_t count = self->info.joint_set_count, size_sum = self->info.joint_set_size_sum;
  size_t *offsets = PyMem_New(size_t, count + 1);
  int32_t *joints = PyMem_New(int32_t, size_sum);
  PyObject *sets = NULL;

  if (offsets == NULL || joints == NULL) {
    PyErr_NoMemory();
    goto exit;
  }
  sbs_skin_joint_sets(self->skin, offsets, joints);
  sets = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; sets != NULL && i < count; i++) {
    PyObject *set = joint_set_tuple(joints + offsets[i], offsets[i + 1] - offsets[i]);
    if (set == NULL || PyList_SetItem(sets, (Py_ssize_t)i, set) < 0) Py_CLEAR(sets);
  }

exit:
  PyMem_Free(offsets);
  PyMem_Free(joints);
  return sets;
}

static PyObject *get_joint_set_of_vertex(PyObject *object, void *Py_UNUSED(closure)) {
  const core_skin *self = (core_skin *)object;
  npy_intp length = (npy_intp)self->info.vertex_count;
  PyObject *sets = PyArray_SimpleNew(1, &length, NPY_INT32);

  if (sets != NULL) sbs_skin_joint_set_of_vertex(self->skin, PyArray_DATA((PyArrayObject *)sets));
  return sets;
}

#define HELD(name, number, doc) {name, get_held, NULL, doc, (void *)(Py_ssize_t)(number)}
#define SIZE(name, doc) {#name, core_get_size, NULL, doc, (void *)offsetof(core_skin, info.name)}

static PyGetSetDef properties[] = {
    HELD("rest_positions", CORE_REST_POSITIONS, "reals (V, 3): read-only."),
    HELD("joint_indices", CORE_JOINT_INDICES, "int32 (V, K): read-only."),
    HELD("joint_weights", CORE_JOINT_WEIGHTS, "reals (V, K): read-only."),
    HELD("parents", CORE_PARENTS, "int32 (J,), or None: read-only."),
    HELD("joint_positions", CORE_JOINT_POSITIONS, "float64 (J, 3), or None: read-only."),
    HELD("rest_normals", CORE_REST_NORMALS, "reals (V, 3), or None: read-only, of the type of rest_positions."),
    HELD("centers", CORE_CENTERS, "float64 (V, 3), or None: read-only."),
    HELD("twist_positions", CORE_TWIST_POSITIONS, "reals (V, 3), or None: read-only, of the type of rest_positions."),
    {"twist", get_twist, NULL, "Twist, or None: what limbs are twisted along.", NULL},
    SIZE(vertex_count, "int: vertices."),
    SIZE(joint_count, "int: joints."),
    SIZE(nontrivial_joint_set_count, "int: joint sets of two or more joints that are not a joint and its parent."),
    SIZE(unweighted_vertex_count, "int: vertices without any influence."),
    SIZE(max_influences, "int: the size of the largest joint set."),
    SIZE(memory, "int: bytes held by the C library for this skin."),
    {"instruction_set", get_instruction_set, NULL, "str: what the kernels were compiled for.", NULL},
    {"weight_report", get_weight_report, NULL,
     "tuple[int, int, int, int, int, int]: vertices repaired: (nan, infinite, negative, unweighted, off_sum, "
     "duplicate).",
     NULL},
    {"joint_sets", get_joint_sets, NULL, "list[tuple[int, ...]]: the joint sets, new.", NULL},
    {"joint_set_of_vertex", get_joint_set_of_vertex, NULL, "int32 (V,): the joint set of every vertex, new.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* --------------------------------------------------------------------------------------------------------- type -- */

static const core_function *const methods[] = {
    &core_deform,          &core_deform_many,      &core_inverse_deform,   &core_update_skin,  &core_deform_vjp,
    &core_weight_jacobian, &core_rotation_centers, &core_bound_influences, &core_pose_palette,
};

PyObject *core_new_skin_type(PyObject *module) {
  static const core_class skin = {
      .name = "sbs._core.Skin",
      .make = &new_skin,
      .new = skin_new,
      .dealloc = skin_dealloc,
      .traverse = skin_traverse,
      .methods = methods,
      .method_count = CORE_TABLE_LENGTH(methods),
      .properties = properties,
      .size = sizeof(core_skin),
  };
  return core_add_class(module, &skin);
}
