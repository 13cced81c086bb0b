/* SPDX-License-Identifier: MIT */
/* The version and the texts of the statuses. */
#include <sbs/sbs.h>

#include "harness.h"

static void test_version_is_that_of_the_header(void) {
  char expected[64];
  snprintf(expected, sizeof expected, "%d.%d.%d", SBS_VERSION_MAJOR, SBS_VERSION_MINOR, SBS_VERSION_PATCH);
  CHECK_STRING(sbs_version(), expected);
}

static void test_every_status_has_its_own_text(void) {
  const char *unknown = sbs_status_string(SBS_STATUS_COUNT);
  CHECK_STRING(unknown, "unknown status");
  CHECK_STRING(sbs_status_string((sbs_status)-1), "unknown status");
  for (int i = 0; i < SBS_STATUS_COUNT; i++) {
    const char *text = sbs_status_string((sbs_status)i);
    if (!CHECK(text != NULL)) {
      continue;
    }
    CHECK(text[0] != '\0');
    CHECK(strcmp(text, unknown) != 0);
    for (int j = 0; j < i; j++) {
      CHECK(strcmp(text, sbs_status_string((sbs_status)j)) != 0);
    }
  }
}

int main(void) {
  RUN(test_version_is_that_of_the_header);
  RUN(test_every_status_has_its_own_text);
  return harness_result();
}
