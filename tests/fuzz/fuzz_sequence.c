/* SPDX-License-Identifier: MIT */
/*
 * Calls in any order, of which each gets what others made: weights by capsules become a skin, a brush paints them, the
 * skin is updated, deformed and undone, what came out becomes a surface or is divided. Objects live as long as the
 * bytes want, and any pointer may be NULL.
 */
#include <math.h>
#include <sbs/brush.h>
#include <sbs/capsules.h>
#include <sbs/centers.h>
#include <sbs/subdivision.h>
#include <sbs/surface.h>
#include <string.h>

#include "things.h"

enum {
  CALLS = 24,
  JOINTS = 6,
  LIMIT = 4
};

#define ANY_ERROR \
  (FUZZ_BIND_ERRORS | FUZZ_POSE_ERRORS | FUZZ_MESH_ERRORS | FUZZ_ERROR(NULL) | FUZZ_ERROR(NEGATIVE) | \
   FUZZ_ERROR(RADIUS) | FUZZ_ERROR(UNWEIGHTED) | FUZZ_ERROR(CANCELLED))

typedef struct world {
  fuzz_input *in;
  size_t vertices;
  sbs_mesh_desc mesh;     /* float64, packed */
  int32_t *joint_indices; /* (V, LIMIT) */
  double *joint_weights;  /* (V, LIMIT) */
  int32_t *touched;       /* (V) the vertices that were painted since the skin was made or updated */
  size_t touched_count;
  sbs_skin *skin;
  sbs_brush *brush;
  sbs_surface *surface;
  const sbs_subdivision *subdivision;
  sbs_allocator allocator;
} world;

/* The pointer, or rarely NULL. */
static void *or_null(fuzz_input *in, const void *pointer) {
  void *same;
  memcpy(&same, &pointer, sizeof same);
  return fuzz_rarely(in) ? NULL : same;
}

static sbs_skin_desc describe(const world *all) {
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = all->vertices;
  desc.joint_count = JOINTS;
  desc.influences_per_vertex = LIMIT;
  desc.scalar = SBS_FLOAT64;
  desc.rest_positions = all->mesh.positions;
  desc.joint_indices = all->joint_indices;
  desc.weight_scalar = SBS_FLOAT64;
  desc.joint_weights = all->joint_weights;
  return desc;
}

static sbs_influences_table table_of(const world *all) {
  return (sbs_influences_table){all->vertices, JOINTS, LIMIT, all->joint_indices, SBS_FLOAT64, all->joint_weights};
}

static void touch_all(world *all) {
  all->touched_count = all->vertices;
  for (size_t v = 0; v < all->vertices; v++) all->touched[v] = (int32_t)v;
}

static sbs_status weigh(world *all) {
  fuzz_input *in = all->in;
  sbs_capsules capsules = {.capsule_count = JOINTS};
  capsules.heads = fuzz_reals(in, 3 * JOINTS, SBS_FLOAT64, -2.0, 2.0);
  capsules.tails = fuzz_reals(in, 3 * JOINTS, SBS_FLOAT64, -2.0, 2.0);
  capsules.inner_radii = fuzz_reals(in, 2 * JOINTS, SBS_FLOAT64, 0.0, 0.5);
  capsules.outer_radii = fuzz_reals(in, 2 * JOINTS, SBS_FLOAT64, 0.5, 2.0);
  const sbs_capsules_points points = {all->vertices, SBS_FLOAT64, all->mesh.positions, 0};
  const sbs_status status = sbs_capsules_weights(or_null(in, &capsules), &points, NULL, LIMIT, all->joint_indices,
                                                 all->joint_weights, NULL, NULL);
  if (!status) touch_all(all);
  return status;
}

static sbs_status clean_or_smooth(world *all) {
  fuzz_input *in = all->in;
  const sbs_influences_table table = table_of(all);
  int32_t *joints = fuzz_room(in, all->vertices * LIMIT * sizeof *joints);
  double *weights = fuzz_room(in, all->vertices * LIMIT * sizeof *weights);
  sbs_influences_smooth_options options = sbs_default_influences_smooth_options();
  options.iterations = fuzz_below(in, 4);
  options.allocator = all->allocator;
  sbs_status status;
  if (fuzz_byte(in) & 1) {
    status = sbs_influences_clean(or_null(in, &table), NULL, joints, weights, NULL, NULL);
  } else {
    status = sbs_influences_smooth(&table, or_null(in, &all->mesh), &options, LIMIT, joints, weights, NULL);
  }
  if (!status) {
    all->joint_indices = joints;
    all->joint_weights = weights;
    touch_all(all);
  }
  return status;
}

static sbs_status bind(world *all) {
  fuzz_input *in = all->in;
  sbs_skin_desc desc = describe(all);
  sbs_skin_options options = sbs_default_skin_options();
  sbs_skin *made = NULL;
  options.allocator = all->allocator;
  desc.joint_indices = or_null(in, desc.joint_indices);
  const sbs_status status = sbs_skin_new(or_null(in, &desc), &options, &made, NULL, NULL);
  FUZZ_CHECK((status == SBS_OK) == (made != NULL));
  if (made) {
    sbs_skin_free(all->skin);
    all->skin = made;
    all->touched_count = 0;
  }
  return status;
}

static sbs_status update(world *all) {
  const sbs_skin_desc desc = describe(all);
  sbs_skin_options options = sbs_default_skin_options();
  sbs_skin *made = NULL;
  options.allocator = all->allocator;
  const sbs_status status =
      sbs_skin_update(all->skin, &desc, all->touched, all->touched_count, &options, &made, NULL, NULL);
  FUZZ_CHECK((status == SBS_OK) == (made != NULL));
  if (made) {
    sbs_skin_free(all->skin);
    all->skin = made;
    all->touched_count = 0;
  }
  return status;
}

/* Deformed positions may be the mesh's from now on; the skin of the old ones is then freed, to be bound anew. */
static sbs_status deform(world *all) {
  fuzz_input *in = all->in;
  const sbs_pose pose = fuzz_pose(in, JOINTS, 1);
  sbs_deform_options options = sbs_default_deform_options();
  options.method = (sbs_method)(fuzz_byte(in) & 3);
  options.center = (sbs_center)(fuzz_byte(in) & 1);
  options.threads = fuzz_threads(in);
  double *positions = fuzz_room(in, 3 * all->vertices * sizeof *positions);
  const int is_inverse = fuzz_rarely(in);
  sbs_status status;
  if (is_inverse) {
    status = sbs_skin_inverse_deform(all->skin, &pose, &options, all->mesh.positions, 0, or_null(in, positions), NULL,
                                     NULL, NULL);
  } else {
    status = sbs_skin_deform(all->skin, or_null(in, &pose), &options, positions, NULL, NULL, NULL);
  }
  if (!status && fuzz_byte(in) & 1) {
    sbs_skin_free(all->skin);
    all->skin = NULL;
    all->mesh.positions = positions;
  }
  return status;
}

static sbs_status make_brush(world *all) {
  const sbs_influences_table table = table_of(all);
  sbs_brush *made = NULL;
  const sbs_status status = sbs_brush_new(&table, or_null(all->in, &all->mesh), LIMIT, &all->allocator, &made, NULL);
  FUZZ_CHECK((status == SBS_OK) == (made != NULL));
  if (made) {
    sbs_brush_free(all->brush);
    all->brush = made;
  }
  return status;
}

static sbs_status paint(world *all) {
  fuzz_input *in = all->in;
  sbs_brush_options options = sbs_default_brush_options();
  options.mode = (sbs_brush_mode)(fuzz_byte(in) % 5);
  options.joint = (int32_t)fuzz_below(in, JOINTS);
  options.radius = (1 + fuzz_byte(in)) / 64.0;
  options.distance = (sbs_brush_distance)(fuzz_byte(in) & 1);
  const double *center = fuzz_reals(in, 3, SBS_FLOAT64, -2.0, 2.0);
  sbs_status status = sbs_brush_stroke(all->brush, &options, or_null(in, center), 1, NULL, NULL);
  if (!status) {
    int32_t *joints = fuzz_room(in, all->vertices * LIMIT * sizeof *joints);
    double *weights = fuzz_room(in, all->vertices * LIMIT * sizeof *weights);
    status = sbs_brush_get_influences(all->brush, joints, weights);
    FUZZ_CHECK(status == SBS_OK);
    all->joint_indices = joints;
    all->joint_weights = weights;
    touch_all(all);
  }
  return status;
}

static sbs_status make_surface(world *all) {
  sbs_surface *made = NULL;
  const sbs_status status = sbs_surface_new(or_null(all->in, &all->mesh), &all->allocator, &made, NULL);
  FUZZ_CHECK((status == SBS_OK) == (made != NULL));
  if (made) {
    sbs_surface_free(all->surface);
    all->surface = made;
  }
  return status;
}

static sbs_status ask_surface(world *all) {
  int32_t *nearest = fuzz_room(all->in, all->vertices * sizeof *nearest);
  double *barycentric = fuzz_room(all->in, 3 * all->vertices * sizeof *barycentric);
  double *distances = fuzz_room(all->in, all->vertices * sizeof *distances);
  return sbs_surface_nearest(all->surface, all->mesh.positions, all->vertices, NULL, NULL, 1, nearest, barycentric,
                             distances, NULL);
}

static sbs_status divide(world *all) {
  fuzz_input *in = all->in;
  const size_t count = all->mesh.triangle_count;
  unsigned char *chosen = fuzz_room(in, count);
  for (size_t t = 0; t < count; t++) chosen[t] = fuzz_byte(in) & 1;
  const unsigned byte = fuzz_byte(in);
  const sbs_subdivision *made = NULL;
  const sbs_status status =
      sbs_subdivision_new(&all->mesh, NULL, or_null(in, chosen), (sbs_subdivision_scheme)(byte & 1),
                          1 + (int)(byte >> 1 & 1), &all->allocator, &made, NULL);
  FUZZ_CHECK((status == SBS_OK) == (made != NULL));
  if (made) {
    sbs_subdivision_free(all->subdivision);
    all->subdivision = made;
  }
  return status;
}

static sbs_status find_centers(world *all) {
  const sbs_skin_desc desc = describe(all);
  double *centers = fuzz_room(all->in, 3 * all->vertices * sizeof *centers);
  sbs_centers_options options = sbs_default_centers_options();
  options.refinement = INFINITY;
  options.threads = 1;
  options.allocator = all->allocator;
  return sbs_centers_optimized(&desc, all->mesh.triangle_count, all->mesh.triangles, &options, centers, NULL, NULL);
}

/* Objects end here: whoever still needs them gets NULL, which must be refused. */
static sbs_status discard(world *all) {
  switch (fuzz_below(all->in, 4)) {
    case 0:
      sbs_skin_free(all->skin);
      all->skin = NULL;
      break;
    case 1:
      sbs_brush_free(all->brush);
      all->brush = NULL;
      break;
    case 2:
      sbs_surface_free(all->surface);
      all->surface = NULL;
      break;
    default: sbs_subdivision_free(all->subdivision); all->subdivision = NULL;
  }
  return SBS_OK;
}

static sbs_status (*const calls[])(world *all) = {
    weigh, clean_or_smooth, bind,   bind,         update,  update, deform,     deform, deform,       paint,       paint,
    paint, divide,          divide, find_centers, discard, weigh,  make_brush, bind,   make_surface, ask_surface,
};

/* Vertices on a coarse grid, triangles between any of them, every vertex with its joint. */
static world new_world(fuzz_input *in) {
  world all = {.in = in, .vertices = 1 + fuzz_byte(in) % 40, .mesh = sbs_default_mesh_desc()};
  all.mesh.vertex_count = all.vertices;
  all.mesh.scalar = SBS_FLOAT64;
  all.mesh.positions = fuzz_reals(in, 3 * all.vertices, SBS_FLOAT64, -2.0, 2.0);
  all.mesh.triangle_count = fuzz_byte(in) % 48;
  all.mesh.triangles = fuzz_indices(in, 3 * all.mesh.triangle_count, 0, all.vertices);
  all.joint_indices = fuzz_room(in, all.vertices * LIMIT * sizeof *all.joint_indices);
  all.joint_weights = fuzz_room(in, all.vertices * LIMIT * sizeof *all.joint_weights);
  for (size_t i = 0; i < all.vertices * LIMIT; i++) {
    all.joint_indices[i] = i % LIMIT ? 0 : (int32_t)(i / LIMIT % JOINTS);
    all.joint_weights[i] = i % LIMIT ? 0.0 : 1.0;
  }
  all.touched = fuzz_room(in, all.vertices * sizeof *all.touched);
  all.allocator = fuzz_allocator(in);
  return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  world all = new_world(&in);
  for (int i = 0; i < CALLS && in.left; i++) {
    const sbs_status status = calls[fuzz_below(&in, sizeof calls / sizeof *calls)](&all);
    fuzz_check_status(status, ANY_ERROR, NULL);
    if (status == SBS_ERROR_OUT_OF_MEMORY) in.fail_at = SIZE_MAX;
  }
  sbs_skin_free(all.skin);
  sbs_brush_free(all.brush);
  sbs_surface_free(all.surface);
  sbs_subdivision_free(all.subdivision);
  fuzz_close(&in);
  return 0;
}
