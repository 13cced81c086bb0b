/* SPDX-License-Identifier: MIT */
/* The public header needs nothing before it and is plain C11. */
#include <sbs/sbs.h>

int main(void) {
  return sbs_version() == NULL;
}
