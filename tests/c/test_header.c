/* SPDX-License-Identifier: MIT */
/* A public header, HEADER, needs nothing before it, is plain C11 and may be included twice. */
#include HEADER
#include HEADER

int main(void) {
  return sbs_version() == NULL;
}
