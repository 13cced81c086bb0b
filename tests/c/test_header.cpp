/* SPDX-License-Identifier: MIT */
/* The public header is C++ as well, with C linkage. */
#include <sbs/sbs.h>

int main() {
  return sbs_version() == nullptr;
}
