/* SPDX-License-Identifier: MIT */
/* The kernels of all instruction sets that this machine has give the same, but for rounding. */
#include <float.h>

#include "base/scalar.h"
#include "rig.h"

enum {
  VERTICES = 300,
  JOINTS = 9,
  MOST_INFLUENCES = 9
};

static int available[INSTRUCTION_SETS];

static const char *set_of(const sbs_skin *skin) {
  sbs_skin_info info;
  CHECK_EQUAL(sbs_skin_get_info(skin, &info), SBS_OK);
  return info.instruction_set;
}

static sbs_skin *bind_with(const char *name, const rig *made, sbs_scalar scalar, int with_normals) {
  if (setenv("SBS_ISA", name, 1)) abort();
  return bind_rig(made, scalar, with_normals);
}

static void test_names(void) {
  rig made = new_rig(1, 1, 1, 1);
  const char *best = NULL;
  for (int i = 0; i < INSTRUCTION_SETS; i++) {
    sbs_skin *skin = bind_with(instruction_sets[i], &made, SBS_FLOAT32, 0);
    available[i] = strcmp(set_of(skin), instruction_sets[i]) == 0;
    printf("     %s is %s\n", instruction_sets[i], available[i] ? "available" : "not available on this machine");
    if (available[i]) best = instruction_sets[i];
    sbs_skin_free(skin);
  }
  CHECK(available[0]); /* plain arithmetic is everywhere */

  /* a name that isn't one, and none, are the best that there is */
  static const char *const unknown[] = {"", "AVX2", "sse9"};
  for (int i = 0; i < 4; i++) {
    if (i == 3 && unsetenv("SBS_ISA")) abort();
    sbs_skin *skin = i < 3 ? bind_with(unknown[i], &made, SBS_FLOAT32, 0) : bind_rig(&made, SBS_FLOAT32, 0);
    CHECK_STRING(set_of(skin), best);
    sbs_skin_free(skin);
  }
  free_rig(&made);
}

/*
 * The machine's best instruction set by the system, another source than the processor, which the library asks. Or the
 * least that it can be; or NULL, if the system does not say.
 */
static const char *best_by_system(int *is_least) {
  *is_least = 0;
#if !defined(__x86_64__) && !defined(_M_X64)
  return "baseline";
#elif defined(__linux__)
  static const char *const avx512[] = {" avx2 ", " fma ", " avx512f ", " avx512dq ", " avx512bw ", " avx512vl "};
  static char line[1 << 14];
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file) return NULL;
  while (fgets(line, sizeof line, file) && strncmp(line, "flags", 5) != 0) line[0] = '\0';
  fclose(file);
  if (!line[0]) return NULL;
  line[strcspn(line, "\n")] = ' ';
  int has = 0;
  while (has < 6 && strstr(line, avx512[has])) has++;
  return has == 6 ? "avx512" : has >= 2 ? "avx2" : "baseline";
#elif defined(_WIN32)
  *is_least = 1; /* by parts of AVX-512 and versions of Windows */
  return IsProcessorFeaturePresent(40) ? "avx2" : NULL;
#else
  return NULL;
#endif
}

static void test_best_of_the_machine(void) {
  int is_least;
  const char *best = sbs_isa_name(sbs_choose_isa()), *expected = best_by_system(&is_least);
  printf("     the best is %s, the system says %s\n", best, expected ? expected : "nothing");
  if (expected && !(is_least && strcmp(best, "avx512") == 0)) CHECK_STRING(best, expected);
}

static void test_build_info(void) {
  for (int i = 0; i < INSTRUCTION_SETS; i++) {
    if (setenv("SBS_ISA", instruction_sets[i], 1)) abort();
    const sbs_build_info info = sbs_get_build_info();
    int listed = 0;
    for (int k = INSTRUCTION_SETS - 1; k >= 0; k--) { /* best first */
      if (available[k]) CHECK_STRING(info.instruction_sets[listed++], instruction_sets[k]);
    }
    CHECK(info.instruction_sets[listed] == NULL);
    CHECK_STRING(info.instruction_set, available[i] ? instruction_sets[i] : info.instruction_sets[0]);
    CHECK_STRING(info.version, sbs_version());
    CHECK(!strcmp(info.lapack, "system") || !strcmp(info.lapack, "none"));
  }
}

/* A skin keeps the kernels that it was made with. */
static void test_chosen_when_the_skin_is_made(void) {
  rig made = new_rig(1, 1, 1, 1);
  sbs_skin *skin = bind_with("plain", &made, SBS_FLOAT32, 0);
  if (unsetenv("SBS_ISA")) abort();
  CHECK_STRING(set_of(skin), "plain");
  sbs_skin_free(skin);
  free_rig(&made);
}

/* How far the rotation center of every vertex is away from the mesh. */
static void find_center_distances(const rig *made, const transform *joints, double distances[VERTICES]) {
  static double centers[VERTICES][3];
  static int32_t sets[VERTICES];
  sbs_skin *skin = bind_rig(made, SBS_FLOAT64, 0);
  const sbs_pose pose = pose_of(joints);
  CHECK_EQUAL(sbs_skin_rotation_centers(skin, &pose, NULL, centers[0], NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_joint_set_of_vertex(skin, sets), SBS_OK);
  for (size_t v = 0; v < VERTICES; v++) {
    const double *c = centers[sets[v]];
    distances[v] = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
  }
  sbs_skin_free(skin);
}

/*
 * The sets differ by fused multiply-adds, so in half a rounding of each of some 50 operations on numbers of up to 4: 16
 * roundings of the result are far more than is seen and far less than any mistake. In float64 add the cost of a center
 * that is far away. Normals are blended from turns of less than 60 degrees each way, so that they don't nearly cancel.
 * Averages end a step earlier or later, whose square is below a rounding. Weighted centers lose 1 / (2 sqrt(damping))
 * roundings of how far apart the joints move a vertex, up to 4, where damping decides.
 */
static void compare(const rig *made, sbs_scalar scalar, const sbs_deform_options *options, const transform *joints,
                    int with_normals) {
  static double results[INSTRUCTION_SETS][2][VERTICES][3], distances[VERTICES];
  find_center_distances(made, joints, distances);
  for (int i = 0; i < INSTRUCTION_SETS; i++) {
    if (!available[i]) continue;
    sbs_skin *skin = bind_with(instruction_sets[i], made, scalar, with_normals);
    const sbs_pose pose = pose_of(joints);
    void *normals = with_normals ? results[i][1] : NULL;
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, options, results[i][0], normals, NULL, NULL), SBS_OK);
    sbs_skin_free(skin);
    for (int which = 0; i > 0 && which < 1 + with_normals; which++) {
      int wrong = 0;
      for (size_t k = 0; k < 3 * VERTICES; k++) {
        const double by_plain = sbs_scalar_get(results[0][which], scalar, k);
        const double roundings =
            options->center == SBS_CENTER_WEIGHTED ? 16.0 + 2.0 / sqrt(SBS_WEIGHTED_DAMPING) : 16.0;
        const double tolerance = roundings * sbs_scalar_epsilon(scalar) + DBL_EPSILON * distances[k / 3];
        wrong += !(fabs(sbs_scalar_get(results[i][which], scalar, k) - by_plain) <= tolerance);
      }
      if (!CHECK_EQUAL(wrong, 0)) {
        printf("     %s: method %d, rotation %d, center %d, %zu influences, float%d\n", instruction_sets[i],
               options->method, options->rotation, options->center, made->influences, scalar == SBS_FLOAT32 ? 32 : 64);
      }
    }
  }
}

static void test_results(void) {
  uint64_t seed = 2;
  transform rigid[JOINTS], scaled[JOINTS];
  for (int j = 0; j < JOINTS; j++) {
    rigid[j] = random_rigid(&seed, 60.0);
    scaled[j] = multiply(rigid[j], scaling(random_between(&seed, 0.5, 1.5), random_between(&seed, 0.5, 1.5), 1.0));
  }
  static float amounts[VERTICES];
  for (int v = 0; v < VERTICES; v++) amounts[v] = v < 100 ? 0.0f : v < 200 ? 1.0f : 0.25f * (float)(v % 5);
  for (size_t influences = 1; influences <= MOST_INFLUENCES; influences++) {
    rig made = new_rig(influences, VERTICES, JOINTS, influences);
    for (int which = 0; which < 2 * ALL_VARIANTS - FIRST_TO_TURN; which++) {
      sbs_deform_options options =
          options_of_variant(which < ALL_VARIANTS ? which : which - ALL_VARIANTS + FIRST_TO_TURN);
      options.amount = which < ALL_VARIANTS ? NULL : amounts;
      for (int with_normals = 0; with_normals < 2; with_normals++) {
        for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
          compare(&made, scalar, &options, rigid, with_normals);
          compare(&made, scalar, &options, scaled, with_normals);
        }
      }
    }
    free_rig(&made);
  }
}

int main(void) {
  RUN(test_names);
  RUN(test_best_of_the_machine);
  RUN(test_build_info);
  RUN(test_chosen_when_the_skin_is_made);
  RUN(test_results);
  return harness_result();
}
