/* SPDX-License-Identifier: MIT */
/* The public header HEADER is C++ as well, with C linkage. */
#include HEADER
#include HEADER

int main() {
  return sbs_version() == nullptr;
}
