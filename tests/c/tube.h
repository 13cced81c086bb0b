/* SPDX-License-Identifier: MIT */
/* A tube along x. */
#ifndef SBS_TESTS_TUBE_H
#define SBS_TESTS_TUBE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Adds rings of vertices from the `first` on, and two triangles behind each vertex of all rings but the last. */
static inline void add_tube(double (*positions)[3], int32_t (*triangles)[3], int first, int rings, int sides,
                            double begin, double end, double radius) {
  for (int i = 0; i < rings * sides; i++) {
    const int32_t v = first + i, after = i % sides == sides - 1 ? v + 1 - sides : v + 1;
    const double angle = 2.0 * acos(-1.0) * (i % sides) / sides;
    positions[v][0] = begin + (end - begin) * (i / sides) / (rings - 1);
    positions[v][1] = radius * cos(angle);
    positions[v][2] = radius * sin(angle);
    if (i / sides == rings - 1) continue;
    const int32_t corners[2][3] = {{v, after, after + sides}, {v, after + sides, v + sides}};
    memcpy(triangles + 2 * i, corners, sizeof corners);
  }
}

#endif
