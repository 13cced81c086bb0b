/* SPDX-License-Identifier: MIT */
/* Bellies of muscles, from C: volumes by hand, tendons and tension. */
#include "muscle_limb.h"

static void test_it_stops_to_swell(void) {
  const sbs_muscle muscle = make_muscle();
  sbs_muscles *muscles = new_muscles(&muscle, NULL);
  const double shorter[4] = {-7.6, -9.99, -10, -25};
  for (int i = 0; i < 4; i++) {
    matrix joints[JOINTS];
    sbs_muscle_state state;
    const sbs_pose pose = move_insertion(shorter[i], joints);
    CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, &state, NULL), SBS_OK);
    CHECK_EQUAL(state.is_limited, i < 3); /* -25 is as long as 15 the other way */
    CHECK(state.growth > 0 && state.growth <= 2);
  }
  sbs_muscles_free(muscles);
}

/* Tendons keep their length, 2 and 1; full tension takes a fifth of the belly, and they give way. */
static void test_tendons_and_tension(void) {
  sbs_muscle muscle = make_muscle();
  muscle.tendons[0] = 0.2;
  muscle.tendons[1] = 0.1;
  sbs_muscles *muscles = new_muscles(&muscle, NULL);
  matrix joints[JOINTS];
  sbs_muscle_state rest, moved, tense;
  const sbs_pose still = move_insertion(0.0, joints);
  const double full = 1.0;
  CHECK_EQUAL(sbs_muscles_measure(muscles, &still, NULL, &rest, NULL), SBS_OK);
  CHECK_EQUAL(sbs_muscles_measure(muscles, &still, &full, &tense, NULL), SBS_OK);
  CHECK_NEAR(rest.belly_length, 7.0, 1e-13);
  CHECK(rest.growth == 1.0);
  CHECK_NEAR(tense.length, 10.0, 1e-13);
  CHECK_NEAR(tense.belly_length, 5.6, 1e-13);
  CHECK_NEAR(tense.growth, sqrt(1.25), 1e-14);
  CHECK_NEAR(tense.volume, rest.volume, 1e-12);
  double belly[2][3][3];
  CHECK_EQUAL(sbs_muscles_surface(muscles, &still, &full, 0, 2, 3, belly[0][0], NULL), SBS_OK);
  CHECK_NEAR(belly[0][0][0], 4.4 * 2 / 3, 1e-13);
  CHECK_NEAR(belly[1][0][0], 4.4 * 2 / 3 + 5.6, 1e-13);
  const sbs_pose bent = move_insertion(-2.0, joints);
  CHECK_EQUAL(sbs_muscles_measure(muscles, &bent, NULL, &moved, NULL), SBS_OK);
  CHECK_NEAR(moved.belly_length, 5.0, 1e-13);
  CHECK_NEAR(moved.growth, sqrt(1.4), 1e-14);
  sbs_muscles_free(muscles);
}

/* A path that turns by a right angle; volume measured by another rule, with many sections. */
static void test_a_curved_belly_keeps_its_volume(void) {
  const double profile[3] = {0.25, 1.0, 0.5};
  sbs_muscle muscle = make_muscle();
  muscle.point_count = 4;
  const double points[4][3] = {{0, 0, 0}, {4, 1, 0}, {8, 2, 1}, {9, 6, 0}};
  memcpy(muscle.points, points, sizeof points);
  muscle.joints[3] = 1;
  muscle.profile = profile;
  muscle.profile_count = 3;
  muscle.flattening = 1.5;
  muscle.thin_direction[2] = 3.0;
  sbs_muscles *muscles = new_muscles(&muscle, NULL);
  double first = 0.0;
  for (int step = 0; step < 20; step++) {
    enum {
      MANY = 2001
    };
    static double rings[MANY][4][3];
    matrix joints[JOINTS];
    const sbs_pose pose = move_insertion(-0.25 * step, joints);
    sbs_muscle_state state;
    CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, &state, NULL), SBS_OK);
    CHECK_EQUAL(sbs_muscles_surface(muscles, &pose, NULL, 0, MANY, 4, rings[0][0], NULL), SBS_OK);
    double volume = 0.0, before[3] = {0, 0, 0}, area_before = 0.0;
    for (int r = 0; r < MANY; r++) {
      double center[3], thin = 0.0, wide = 0.0, length = 0.0;
      for (int i = 0; i < 3; i++) {
        center[i] = (rings[r][0][i] + rings[r][2][i]) / 2;
        thin += pow(rings[r][0][i] - center[i], 2);
        wide += pow(rings[r][1][i] - center[i], 2);
        length += pow(center[i] - before[i], 2);
      }
      CHECK_NEAR(sqrt(wide / thin), 1.5, 1e-9);
      const double area = PI * sqrt(thin * wide);
      if (r) volume += sqrt(length) * (area + area_before) / 2;
      memcpy(before, center, sizeof before);
      area_before = area;
    }
    if (!step) first = volume;
    CHECK_NEAR(volume, first, 2e-6 * first); /* of trapezoids and chords */
    CHECK_NEAR(volume, state.volume, 2e-6 * first);
  }
  sbs_muscles_free(muscles);
}

int main(void) {
  RUN(test_it_stops_to_swell);
  RUN(test_tendons_and_tension);
  RUN(test_a_curved_belly_keeps_its_volume);
  return harness_result();
}
