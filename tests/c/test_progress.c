/* SPDX-License-Identifier: MIT */
/*
 * Every call that may take long can be given up at any look (sbs_set_progress), and runs out of memory at any
 * allocation: it leaves objects and outputs as they were, and leaks nothing.
 */
#include <sbs/brush.h>
#include <sbs/capsules.h>
#include <sbs/centers.h>
#include <sbs/heat.h>
#include <sbs/subdivision.h>
#include <sbs/surface.h>

#include "counting_allocator.h"
#include "rig.h"

enum {
  SIDE = 40,
  VERTICES = SIDE * SIDE,
  TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1),
  JOINTS = 8,
  INFLUENCES = 4
};

static rig made;
static int32_t triangles[TRIANGLES][3];
static allocation_counter counter = {.fail_at = SIZE_MAX};
static sbs_allocator allocator;
static sbs_mesh_desc mesh;
static sbs_influences_table given;
static sbs_skin_desc desc;
static sbs_skin_options skin_options;

/* A sheet of quads with random influences. */
static void make_sheet(void) {
  made = new_rig(7, VERTICES, JOINTS, INFLUENCES);
  allocator = counting_allocator(&counter);
  mesh = (sbs_mesh_desc){VERTICES, SBS_FLOAT64, made.positions, 0, TRIANGLES, triangles[0]};
  given = (sbs_influences_table){VERTICES, JOINTS, INFLUENCES, made.joint_indices, SBS_FLOAT64, made.joint_weights};
  desc = describe_rig(&made);
  skin_options = sbs_default_skin_options();
  skin_options.allocator = allocator;
  for (int v = 0; v < VERTICES; v++) {
    made.positions[3 * v] = v % SIDE;
    made.positions[3 * v + 1] = v / SIDE;
    made.positions[3 * v + 2] = 0.0;
  }
  int t = 0;
  for (int row = 0; row < SIDE - 1; row++) {
    for (int column = 0; column < SIDE - 1; column++) {
      const int32_t a = row * SIDE + column, b = a + 1, c = a + SIDE, d = c + 1;
      const int32_t corners[2][3] = {{a, b, c}, {b, d, c}};
      memcpy(triangles[t], corners, sizeof corners);
      t += 2;
    }
  }
}

/* ----------------------------------------------------------------------------------------------------- the calls -- */

static int32_t indices[VERTICES * INFLUENCES];
static double weights[VERTICES * INFLUENCES]; /* the first stays where a call that `writes` fails */

/* An object is made or not. */
#define RETURN_MADE(object, release) \
  CHECK_EQUAL((object) != NULL, status == SBS_OK); \
  release(object); \
  return status

static sbs_status new_skin(void) {
  sbs_skin *skin = NULL;
  const sbs_status status = sbs_skin_new(&desc, &skin_options, &skin, NULL, NULL);
  RETURN_MADE(skin, sbs_skin_free);
}

static sbs_skin *bound;

static sbs_status update_skin(void) {
  static int32_t all[VERTICES];
  for (int v = 0; v < VERTICES; v++) all[v] = v;
  sbs_skin *skin = NULL;
  const sbs_status status = sbs_skin_update(bound, &desc, all, VERTICES, &skin_options, &skin, NULL, NULL);
  RETURN_MADE(skin, sbs_skin_free);
}

static sbs_status deform_many(void) {
  enum {
    FRAMES = 8
  };
  static transform joints[FRAMES * JOINTS];
  static double positions[FRAMES * VERTICES * 3];
  for (int i = 0; i < FRAMES * JOINTS; i++) joints[i] = identity();
  const sbs_pose poses = pose_of(joints);
  sbs_deform_options options = sbs_default_deform_options();
  options.threads = 1;
  return sbs_skin_deform_many(bound, FRAMES, &poses, &options, positions, NULL, NULL, NULL);
}

static sbs_status find_centers(void) {
  sbs_centers_options options = sbs_default_centers_options();
  options.allocator = allocator;
  options.refinement = INFINITY;
  options.threads = 1;
  return sbs_centers_optimized(&desc, TRIANGLES, triangles[0], &options, weights, NULL, NULL);
}

static sbs_status weigh(void) {
  static double ends[JOINTS][3];
  static double radii[JOINTS][2];
  for (int j = 0; j < JOINTS; j++) ends[j][0] = 8.0 * j, radii[j][0] = radii[j][1] = 10.0;
  const sbs_capsules capsules = {
      .capsule_count = JOINTS, .heads = ends[0], .tails = ends[0], .inner_radii = radii[0], .outer_radii = radii[0]};
  const sbs_capsules_points points = {VERTICES, SBS_FLOAT64, made.positions, 0};
  sbs_capsules_options options = sbs_default_capsules_options();
  options.allocator = allocator;
  options.threads = 1;
  static double dense[VERTICES * JOINTS];
  const sbs_status status =
      sbs_capsules_weights(&capsules, &points, &options, INFLUENCES, indices, weights, NULL, NULL);
  return status ? status : sbs_capsules_weights_dense(&capsules, &points, &options, 0, dense, NULL, NULL);
}

static sbs_status check_skin(void) {
  return sbs_skin_check(&desc, &skin_options, NULL, NULL);
}

static sbs_status heat(void) {
  static double heads[JOINTS][3], tails[JOINTS][3];
  for (int j = 0; j < JOINTS; j++) {
    heads[j][0] = tails[j][0] = 8.0 * j;
    tails[j][1] = 8.0;
  }
  const sbs_heat_bones bones = {.joint_count = JOINTS, .heads = heads[0], .tails = tails[0]};
  sbs_heat_options options = sbs_default_heat_options();
  sbs_heat_report report;
  options.allocator = allocator;
  options.threads = 1;
  return sbs_heat_weights(&mesh, &bones, &options, INFLUENCES, indices, weights, NULL, NULL, &report, NULL);
}

static sbs_status clean(void) {
  sbs_influences_clean_options options = sbs_default_influences_clean_options();
  options.allocator = allocator;
  return sbs_influences_clean(&given, &options, indices, weights, NULL, NULL);
}

static sbs_status tidy(void) {
  return sbs_influences_tidy(&given, indices, weights, NULL, NULL);
}

static sbs_status smooth(void) {
  sbs_influences_smooth_options options = sbs_default_influences_smooth_options();
  options.allocator = allocator;
  options.iterations = 2;
  return sbs_influences_smooth(&given, &mesh, &options, INFLUENCES, indices, weights, NULL);
}

static sbs_status diffuse(void) {
  sbs_influences_diffuse_options options = sbs_default_influences_diffuse_options();
  static double lengths[VERTICES];
  for (size_t v = 0; v < VERTICES; v++) lengths[v] = 1.0;
  options.allocator = allocator;
  return sbs_influences_diffuse(&given, &mesh, lengths, &options, INFLUENCES, indices, weights, NULL);
}

static sbs_status new_brush(void) {
  sbs_brush *brush = NULL;
  const sbs_status status = sbs_brush_new(&given, &mesh, INFLUENCES, &allocator, &brush, NULL);
  RETURN_MADE(brush, sbs_brush_free);
}

static sbs_brush *painting;

/* Dabs that were made are undone. */
static sbs_status stroke(void) {
  static int32_t before[VERTICES * INFLUENCES], after[VERTICES * INFLUENCES];
  static double weights_before[VERTICES * INFLUENCES], weights_after[VERTICES * INFLUENCES];
  double centers[6][3] = {{0.0}};
  for (int i = 0; i < 6; i++) centers[i][0] = centers[i][1] = 5.0 * i;
  sbs_brush_options options = sbs_default_brush_options();
  options.radius = 6.0;
  options.joint = 1;
  sbs_brush_get_influences(painting, before, weights_before);
  const sbs_status status = sbs_brush_stroke(painting, &options, centers[0], 6, NULL, NULL);
  sbs_brush_get_influences(painting, after, weights_after);
  const int same =
      !memcmp(before, after, sizeof before) && !memcmp(weights_before, weights_after, sizeof weights_before);
  CHECK_EQUAL(same, status != SBS_OK);
  return status;
}

static sbs_status weld(void) {
  return sbs_mesh_weld(&mesh, &allocator, indices, NULL);
}

static sbs_status find_neighbors(void) {
  static size_t offsets[VERTICES + 1];
  static int32_t neighbors[6 * TRIANGLES];
  return sbs_mesh_adjacency(&mesh, NULL, &allocator, offsets, neighbors, NULL);
}

static sbs_status divide_by(sbs_subdivision_scheme scheme) {
  static unsigned char chosen[TRIANGLES];
  memset(chosen, 1, sizeof chosen);
  const sbs_subdivision *subdivision = NULL;
  const sbs_status status = sbs_subdivision_new(&mesh, NULL, chosen, scheme, 2, &allocator, &subdivision, NULL);
  RETURN_MADE(subdivision, sbs_subdivision_free);
}

static sbs_status divide_in_3(void) {
  return divide_by(SBS_SUBDIVISION_1_TO_3);
}

static sbs_status divide_in_4(void) {
  return divide_by(SBS_SUBDIVISION_1_TO_4);
}

static sbs_status measure_curvature(void) {
  static double curvatures[TRIANGLES];
  return sbs_mesh_curvature(&mesh, NULL, &allocator, curvatures, NULL);
}

static sbs_status new_surface(void) {
  sbs_surface *surface = NULL;
  const sbs_status status = sbs_surface_new(&mesh, &allocator, &surface, NULL);
  RETURN_MADE(surface, sbs_surface_free);
}

static sbs_surface *asked;

static sbs_status find_nearest(void) {
  static double barycentric[VERTICES * 3], distances[VERTICES];
  return sbs_surface_nearest(asked, made.positions, VERTICES, NULL, NULL, 1, indices, barycentric, distances, NULL);
}

static sbs_status find_blocked(void) {
  static unsigned char blocked[VERTICES];
  return sbs_surface_blocked(asked, made.positions, made.centers, VERTICES, NULL, 1, blocked, NULL);
}

static sbs_status find_crossing(void) {
  static unsigned char crossing[TRIANGLES];
  return sbs_surface_crossing(asked, NULL, 1, crossing, NULL);
}

/* --------------------------------------------------------------------------------------------------------- tests -- */

typedef struct patience {
  size_t calls, most;
} patience;

static int lose_patience(double fraction, void *user) {
  patience *told = user;
  CHECK(fraction >= 0.0 && fraction <= 1.0);
  return told->calls++ == told->most;
}

typedef struct long_call {
  const char *name;
  sbs_status (*call)(void);
  size_t allocations; /* at least; 0: by no allocator of a call, or in a test of its own */
  int writes;         /* weights, at the end alone */
} long_call;

static sbs_status make(const long_call *made_by) {
  counter.allocated = counter.released = 0;
  weights[0] = -7.0;
  const sbs_status status = made_by->call();
  if (made_by->writes) CHECK_EQUAL(weights[0] == -7.0, status != SBS_OK);
  CHECK_EQUAL(counter.released, counter.allocated);
  return status;
}

/* Makes each allocation of a call fail in turn. */
static void run_out_of_memory(const long_call *made_by) {
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  for (counter.fail_at = 0; status && counter.fail_at < 1000; counter.fail_at += status != SBS_OK) {
    status = make(made_by);
    CHECK_EQUAL(status, status ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK);
  }
  if (!CHECK(!status && counter.fail_at >= made_by->allocations)) fprintf(stderr, "    of %s\n", made_by->name);
  counter.fail_at = SIZE_MAX;
}

/* Gives a call up at each of its looks in turn, or at 40 of them; by one thread they are the same each time. */
static void give_up_everywhere(const long_call *made_by) {
  patience told = {.most = SIZE_MAX};
  sbs_set_progress(lose_patience, &told);
  CHECK_EQUAL(make(made_by), SBS_OK);
  const size_t looks = told.calls, step = looks / 40 + 1;
  if (!CHECK(looks > 1)) fprintf(stderr, "    %s tells nothing\n", made_by->name);
  for (size_t most = 0; most < looks; most += step) {
    told = (patience){.most = most};
    CHECK_EQUAL(make(made_by), SBS_ERROR_CANCELLED);
    CHECK_EQUAL(told.calls, most + 1);
  }
  sbs_set_progress(NULL, NULL);
  CHECK_EQUAL(make(made_by), SBS_OK);
}

static void test_every_call_can_fail_anywhere(void) {
  static const long_call calls[] = {
      {"skin_new", new_skin, 30, 0},
      {"skin_check", check_skin, 1, 0},
      {"skin_update", update_skin, 25, 0},
      {"deform_many", deform_many, 0, 0},
      {"optimized_centers", find_centers, 8, 1},
      {"capsule_weights", weigh, 2, 0},
      {"heat_weights", heat, 0, 1},
      {"weights_clean", clean, 1, 0},
      {"weights_smooth", smooth, 5, 1},
      {"weights_diffuse", diffuse, 0, 0},
      {"influences_tidy", tidy, 0, 0},
      {"brush_new", new_brush, 10, 0},
      {"brush_stroke", stroke, 0, 0},
      {"mesh_weld", weld, 1, 0},
      {"adjacency", find_neighbors, 1, 0},
      {"subdivision 1 to 3", divide_in_3, 5, 0},
      {"1 to 4", divide_in_4, 5, 0},
      {"curvature", measure_curvature, 1, 0},
      {"surface_new", new_surface, 1, 0},
      {"surface_nearest", find_nearest, 0, 0},
      {"surface_blocked", find_blocked, 0, 0},
      {"surface_crossing", find_crossing, 0, 0},
  };
  make_sheet();
  bound = bind_rig(&made, SBS_FLOAT64, 1);
  CHECK_EQUAL(sbs_brush_new(&given, &mesh, INFLUENCES, NULL, &painting, NULL), SBS_OK);
  CHECK_EQUAL(sbs_surface_new(&mesh, NULL, &asked, NULL), SBS_OK);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    give_up_everywhere(calls + i);
    if (calls[i].allocations > 0) run_out_of_memory(calls + i);
  }
  sbs_surface_free(asked);
  sbs_brush_free(painting);
  sbs_skin_free(bound);
  free_rig(&made);
}

/* Calls of the progress function itself tell nobody: there would be no end. */
static int call_the_library(double fraction, void *user) {
  const double positions[2][3] = {{0.0}, {1.0}};
  const sbs_mesh_desc two = {.vertex_count = 2, .scalar = SBS_FLOAT64, .positions = positions};
  int32_t representatives[2];
  (void)fraction;
  ++*(int *)user;
  CHECK_EQUAL(sbs_mesh_weld(&two, NULL, representatives, NULL), SBS_OK);
  return 0;
}

static void test_progress_may_call_the_library(void) {
  int calls = 0;
  make_sheet();
  sbs_set_progress(call_the_library, &calls);
  CHECK_EQUAL(weld(), SBS_OK);
  sbs_set_progress(NULL, NULL);
  CHECK_EQUAL(calls, (VERTICES + 1023) / 1024);
  free_rig(&made);
}

static int never(double fraction, void *user) {
  (void)fraction;
  ++*(size_t *)user;
  return 0;
}

/* Where there is nothing to divide, and where smoothing has come to rest, any number of times is soon done. */
static void test_ends_where_nothing_changes(void) {
  const double positions[3][3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
  const int32_t corners[2][3] = {{0, 1, 2}, {0, 0, 1}};
  const unsigned char chosen[2] = {0, 1}; /* of two corners at one point */
  const sbs_mesh_desc one = {
      .vertex_count = 3, .scalar = SBS_FLOAT64, .positions = positions, .triangle_count = 2, .triangles = corners[0]};
  for (int scheme = 0; scheme < 2; scheme++) {
    const sbs_subdivision *subdivision = NULL;
    CHECK_EQUAL(
        sbs_subdivision_new(&one, NULL, chosen, (sbs_subdivision_scheme)scheme, INT32_MAX, NULL, &subdivision, NULL),
        SBS_OK);
    if (subdivision) CHECK_EQUAL(subdivision->triangle_count, 2);
    sbs_subdivision_free(subdivision);
  }

  const int32_t joints[3] = {0};
  const double ones[3] = {1.0, 1.0, 1.0};
  const sbs_influences_table all_alike = {3, 1, 1, joints, SBS_FLOAT64, ones};
  sbs_influences_smooth_options options = sbs_default_influences_smooth_options();
  options.iterations = SIZE_MAX;
  int32_t found_indices[3];
  double found_weights[3];
  size_t looks = 0;
  sbs_set_progress(never, &looks);
  CHECK_EQUAL(sbs_influences_smooth(&all_alike, &one, &options, 1, found_indices, found_weights, NULL), SBS_OK);
  sbs_set_progress(NULL, NULL);
  for (int v = 0; v < 3; v++) CHECK(found_weights[v] == 1.0);
  CHECK(looks < 20);
}

static int count_restarts(double fraction, void *user) {
  double *told = user; /* the last fraction, and how often it fell */
  told[1] += fraction < told[0];
  told[0] = fraction;
  return 0;
}

/* Whatever is done for each vertex and joint tells, before the equations are solved and after. */
static void test_diffusion_tells_in_all_steps(void) {
  double told[2] = {0.0, 0.0};
  size_t looks = 0;
  make_sheet();
  sbs_set_progress(count_restarts, told);
  CHECK_EQUAL(diffuse(), SBS_OK);
  CHECK(told[0] > 0.9 && told[1] >= 4.0); /* the last look is in the results */
  sbs_set_progress(never, &looks);
  CHECK_EQUAL(diffuse(), SBS_OK);
  sbs_set_progress(NULL, NULL);
  CHECK(looks > 5 * VERTICES / 64);
  free_rig(&made);
}

int main(void) {
  RUN(test_every_call_can_fail_anywhere);
  RUN(test_progress_may_call_the_library);
  RUN(test_diffusion_tells_in_all_steps);
  RUN(test_ends_where_nothing_changes);
  return harness_result();
}
