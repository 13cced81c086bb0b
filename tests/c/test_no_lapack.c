/* SPDX-License-Identifier: MIT */
/* A library that was built without LAPACK says so, and what it cannot do. */
#include <sbs/heat.h>
#include <sbs/influences.h>

#include "harness.h"

static void test_the_build_says_so(void) {
  CHECK_STRING(sbs_get_build_info().lapack, "none");
}

static void test_weights_by_heat_are_a_status(void) {
  sbs_fault fault = {.argument = "mesh"};
  const sbs_mesh_desc mesh = {0};
  const sbs_heat_bones bones = {0};
  const sbs_heat_options options = sbs_default_heat_options();
  CHECK_NEAR(options.strength, 4.0, 0.0);
  CHECK_EQUAL(sbs_heat_weights(&mesh, &bones, &options, 4, NULL, NULL, NULL, NULL, NULL, &fault), SBS_ERROR_NO_LAPACK);
  CHECK(fault.argument == NULL);
  CHECK_STRING(sbs_status_string(SBS_ERROR_NO_LAPACK), "this needs LAPACK, which the library was built without");
}

static void test_weights_that_diffuse_are_a_status(void) {
  sbs_fault fault = {.argument = "mesh"};
  const sbs_influences_diffuse_options options = sbs_default_influences_diffuse_options();
  CHECK_NEAR(options.threshold, 0.01, 0.0);
  CHECK_EQUAL(sbs_influences_diffuse(NULL, NULL, NULL, &options, 4, NULL, NULL, &fault), SBS_ERROR_NO_LAPACK);
  CHECK(fault.argument == NULL);
}

int main(void) {
  RUN(test_the_build_says_so);
  RUN(test_weights_by_heat_are_a_status);
  RUN(test_weights_that_diffuse_are_a_status);
  return harness_result();
}
