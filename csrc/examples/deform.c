/* SPDX-License-Identifier: MIT */
/*
 * Twists the forearm of a tube by 170 degrees and prints how thin the elbow gets by each method. With libsbs installed:
 *
 *     cc deform.c $(pkg-config --cflags --libs sbs) -lm -o deform && ./deform
 */
#include <math.h>
#include <sbs/sbs.h>
#include <stdio.h>

enum {
  RINGS = 41,
  SIDES = 24,
  VERTICES = RINGS * SIDES
};

static float rest[VERTICES][3];
static float deformed[VERTICES][3];
static int32_t joints[VERTICES][2];
static float weights[VERTICES][2];

/*
 * A tube of radius 1/4 along x from 0 to 2; the weights pass from the upper arm to the forearm around the elbow, x = 1.
 */
static void make_arm(void) {
  for (int v = 0; v < VERTICES; v++) {
    float x = 2.0f * (float)(v / SIDES) / (RINGS - 1);
    float angle = 6.2831853f * (float)(v % SIDES) / SIDES;
    rest[v][0] = x;
    rest[v][1] = 0.25f * cosf(angle);
    rest[v][2] = 0.25f * sinf(angle);
    joints[v][0] = 0;
    joints[v][1] = 1;
    weights[v][1] = fminf(fmaxf(2.0f * x - 1.5f, 0.0f), 1.0f);
    weights[v][0] = 1.0f - weights[v][1];
  }
}

static double smallest_radius(void) {
  double smallest = INFINITY;
  for (int v = 0; v < VERTICES; v++) {
    smallest = fmin(smallest, hypot(deformed[v][1], deformed[v][2]));
  }
  return smallest;
}

static int fail(sbs_status status, const sbs_fault *fault) {
  fprintf(stderr, "%s (%s)\n", sbs_status_string(status), fault->argument ? fault->argument : "no argument");
  return 1;
}

int main(void) {
  static const int32_t parents[2] = {-1, 0};
  static const double joint_positions[2][3] = {{0, 0, 0}, {1, 0, 0}};
  make_arm();

  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = VERTICES;
  desc.joint_count = 2;
  desc.influences_per_vertex = 2;
  desc.scalar = SBS_FLOAT32;
  desc.rest_positions = rest;
  desc.joint_indices = joints[0];
  desc.weight_scalar = SBS_FLOAT32;
  desc.joint_weights = weights;
  desc.parents = parents;
  desc.joint_positions = joint_positions[0];

  sbs_fault fault;
  sbs_skin *skin;
  sbs_status status = sbs_skin_new(&desc, NULL, &skin, NULL, &fault);
  if (status != SBS_OK) {
    return fail(status, &fault);
  }

  /* Skinning matrices: the upper arm rests, the forearm turns about the axis of the tube. */
  double c = cos(170.0 / 180.0 * 3.14159265358979), s = sin(170.0 / 180.0 * 3.14159265358979);
  double matrices[2][3][4] = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, {{1, 0, 0, 0}, {0, c, -s, 0}, {0, s, c, 0}}};
  sbs_pose pose = {.skinning_matrices = matrices, .scalar = SBS_FLOAT64, .rows = 3};

  static const char *const names[] = {"rigid", "linear", "spherical", "dual quaternion"};
  for (int method = SBS_METHOD_RIGID; status == SBS_OK && method <= SBS_METHOD_DUAL_QUATERNION; method++) {
    sbs_deform_options options = sbs_default_deform_options();
    options.method = (sbs_method)method;
    status = sbs_skin_deform(skin, &pose, &options, deformed, NULL, NULL, &fault);
    if (status == SBS_OK) {
      printf("%-16s smallest radius %.4f of 0.25\n", names[method], smallest_radius());
    }
  }
  sbs_skin_free(skin);
  return status == SBS_OK ? 0 : fail(status, &fault);
}
