/* SPDX-License-Identifier: MIT */
/* Pressures that keep the volumes of parts. */
#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "flesh/step.h"

/* A limb and its piece both answer to a volume that is lost, each by so much. */
#define ANSWER 0.35

/* The most pressure, times the radius: more than the strain of skin withstands, which would inflate without end. */
#define MOST_PRESSURE 1.0

/* The area of a part's triangles at rest. */
static double find_area(const sbs_flesh *flesh, size_t part) {
  double area = 0.0;
  for (size_t i = flesh->part_starts[part]; i < flesh->part_starts[part + 1]; i++) {
    area += (double)flesh->triangles[flesh->part_triangles[i]].area;
  }
  return area;
}

/* The piece of a free vertex, or -1; the first of its corners is one of a triangle. */
static int32_t find_piece(const sbs_flesh *flesh, size_t w) {
  return flesh->triangles[flesh->corners[flesh->corner_starts[w]] / 3].piece;
}

/* Where the parts end whose gradients one solution serves: pieces, the last parts, have nothing in common. */
static size_t find_end(const sbs_flesh *flesh, size_t part) {
  return flesh->parts[part].joint < 0 ? flesh->part_count : part + 1;
}

/*
 * A part's volume changes by g . K^-1 g for each unit of its pressure, g being the gradient of the volume: at rest, for
 * all poses.
 */
sbs_status sbs_flesh_set_pressures(sbs_flesh *flesh) {
  const sbs_flesh_functions functions = sbs_flesh_choose_functions(flesh->isa);
  sbs_arena arena = sbs_arena_from(&flesh->allocator);
  sbs_flesh_state state;
  sbs_flesh_place_state(&state, flesh, &arena);
  sbs_point4 *gradient = sbs_arena_take(&arena, flesh->count, sizeof *gradient);
  double *answers = sbs_arena_take(&arena, flesh->part_count, sizeof *answers);
  sbs_status status = arena.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
  if (!status) {
    for (size_t i = 0; i < 4 * flesh->count; i++) {
      state.y[i / 4][i % 4] = i % 4 < 3 ? (float)flesh->rest[i / 4 * 3 + i % 4] : 0.0f;
    }
    for (size_t i = 0; i < 3 * flesh->part_count; i++) {
      state.apexes[i / 3][i % 3] = (float)flesh->parts[i / 3].apex[i % 3];
    }
    functions.measure(&state, 0, flesh->part_count);
  }
  for (size_t first = 0, end; first < flesh->part_count && !status; first = end) {
    end = find_end(flesh, first);
    status = sbs_tell((double)first / (double)flesh->part_count);
    memset(gradient, 0, flesh->count * sizeof *gradient);
    for (size_t p = first; p < end; p++) {
      functions.add_gradient(&state, p, gradient);
      answers[p] = 0.0;
    }
    for (size_t i = 0; i < flesh->free_count; i++)
      memcpy(state.right[i], gradient[flesh->free_vertices[i]], sizeof *gradient);
    if (!status) status = sbs_flesh_solve(&state, 1);
    for (size_t i = 0; i < flesh->free_count; i++) {
      const size_t w = (size_t)flesh->free_vertices[i];
      const int32_t part = flesh->parts[first].joint < 0 ? find_piece(flesh, w) : (int32_t)first;
      for (int axis = 0; axis < 3 && part >= 0; axis++) {
        answers[part] += (double)gradient[w][axis] * (double)state.right[i][axis];
      }
    }
    for (size_t p = first; p < end; p++) {
      flesh->parts[p].volume = (double)state.volumes[p];
      flesh->parts[p].squares = (double)state.squares[p];
      flesh->parts[p].most = MOST_PRESSURE * find_area(flesh, p) / (2.0 * fabs(flesh->parts[p].volume));
      flesh->parts[p].strength = answers[p] > 0.0 && isfinite(1.0 / answers[p]) ? ANSWER / answers[p] : 0.0;
    }
  }
  sbs_arena_release(&arena);
  return status;
}

/* Softly, up to `most`: numbers far below it stay nearly as they are. */
static double limit(double pressure, double most) {
  const double share = pressure / most, square = share * share;
  return pressure / sqrt(sqrt(1.0 + square * square));
}

/* A part that is larger than at rest answers more, about by the squares of its triangles' areas. */
void sbs_flesh_add_to_pressures(const sbs_flesh_state *state) {
  for (size_t p = 0; p < state->flesh->part_count; p++) {
    const sbs_flesh_part *part = state->flesh->parts + p;
    const double larger = part->squares > 0.0 ? (double)state->squares[p] / part->squares : 1.0;
    const double lost = part->volume - (double)state->volumes[p];
    const double pressure = (double)state->pressures[p] + part->strength * lost * 2.0 / (1.0 + larger);
    state->pressures[p] = (float)limit(pressure, part->most);
  }
}
