/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/algebra.h"
#include "base/arguments.h"
#include "base/fault.h"
#include "base/threads.h"
#include "mesh/segment.h"
#include "mesh/surface.h"

enum {
  POINT_TIME = 1000, /* nanoseconds per point, about */
  CHUNK = 16
};

/* The best so far, in the units of the tree. */
typedef struct candidate {
  double square; /* of the distance */
  double barycentric[3];
  int32_t triangle;
} candidate;

static void offer(candidate *best, double square, int32_t triangle, double a, double b, double c) {
  if (square > best->square || (square == best->square && triangle >= best->triangle && best->triangle >= 0)) return;
  *best = (candidate){square, {a, b, c}, triangle};
}

static double squared_length(sbs_vec3 v) {
  return sbs_vec3_dot(v, v);
}

/*
 * Offers the nearest points of the three sides, and the foot of the perpendicular if it is inside. For slivers the foot
 * is ill-determined, but then a side is as near; for degenerate triangles there is none.
 */
static void offer_triangle(candidate *best, sbs_vec3 point, double (*corners)[3], int32_t triangle) {
  const sbs_vec3 a = sbs_vec3_read(corners[0]), b = sbs_vec3_read(corners[1]), c = sbs_vec3_read(corners[2]);
  const sbs_vec3 ab = sbs_vec3_subtract(b, a), ac = sbs_vec3_subtract(c, a), bc = sbs_vec3_subtract(c, b);
  const sbs_vec3 ap = sbs_vec3_subtract(point, a), bp = sbs_vec3_subtract(point, b);

  double t = sbs_segment_nearest(ap, ab);
  offer(best, squared_length(sbs_vec3_along(ap, -t, ab)), triangle, 1.0 - t, t, 0.0);
  t = sbs_segment_nearest(bp, bc);
  offer(best, squared_length(sbs_vec3_along(bp, -t, bc)), triangle, 0.0, 1.0 - t, t);
  t = sbs_segment_nearest(ap, ac);
  offer(best, squared_length(sbs_vec3_along(ap, -t, ac)), triangle, 1.0 - t, 0.0, t);

  const sbs_vec3 normal = sbs_vec3_cross(ab, ac);
  const double square = squared_length(normal);
  const double v = sbs_vec3_dot(sbs_vec3_cross(ap, ac), normal), w = sbs_vec3_dot(sbs_vec3_cross(ab, ap), normal);
  if (v > 0.0 && w > 0.0 && v + w < square) {
    const sbs_vec3 apart = sbs_vec3_along(sbs_vec3_along(ap, -v / square, ab), -w / square, ac);
    const double second = v / square, third = w / square;
    offer(best, squared_length(apart), triangle, fmax(1.0 - second - third, 0.0), second, third);
  }
}

static double square_to_box(sbs_vec3 point, const sbs_surface_node *node) {
  const double x = fmax(fmax(node->low[0] - point.x, point.x - node->high[0]), 0.0);
  const double y = fmax(fmax(node->low[1] - point.y, point.y - node->high[1]), 0.0);
  const double z = fmax(fmax(node->low[2] - point.z, point.z - node->high[2]), 0.0);
  return x * x + y * y + z * z;
}

/* labels: of the triangles, or NULL; triangles with the label `passed_over` are skipped. */
static candidate find(const sbs_surface *surface, sbs_vec3 point, const int32_t *labels, int32_t passed_over) {
  struct {
    int32_t node;
    double square;
  } stack[SBS_SURFACE_DEPTH] = {{0, 0.0}};
  size_t height = 1;
  candidate best = {.square = INFINITY, .triangle = -1};
  while (height) {
    height--;
    if (stack[height].square > best.square) continue;
    const sbs_surface_node *node = surface->nodes + stack[height].node;
    for (int32_t place = node->first; place < node->first + node->count; place++) {
      const int32_t triangle = surface->numbers[place];
      if (labels && labels[triangle] == passed_over) continue;
      offer_triangle(&best, point, surface->corners[place], triangle);
    }
    if (node->count) continue;
    const double left = square_to_box(point, surface->nodes + node->first);
    const double right = square_to_box(point, surface->nodes + node->first + 1);
    const int32_t nearer = node->first + (right < left), farther = node->first + !(right < left);
    stack[height].node = farther; /* the nearer one is popped first */
    stack[height++].square = fmax(left, right);
    stack[height].node = nearer;
    stack[height++].square = fmin(left, right);
  }
  return best;
}

typedef struct request {
  const sbs_surface *surface;
  const double *points;
  size_t point_count;
  const int32_t *point_labels, *triangle_labels;
  int32_t *nearest;
  double *barycentric, *distances;
} request;

/*
 * The factor of a point: the scale of the surface, or less if the point is so far away that squares would
 * overflow. At such a distance the mesh is as good as a point, so only the direction matters.
 */
static double scale_for(const sbs_surface *surface, const double point[3]) {
  enum {
    FAR = 500
  };
  const double largest = fmax(fmax(fabs(point[0]), fabs(point[1])), fabs(point[2]));
  int exponent;
  if (!(surface->scale * largest > ldexp(1.0, FAR))) return surface->scale;
  frexp(largest, &exponent);
  return ldexp(1.0, FAR - exponent);
}

static sbs_status answer(void *context, sbs_share share, int worker) {
  const request *asked = context;
  (void)worker;
  for (size_t i = share.begin; i < share.end; i++) {
    const double *point = asked->points + 3 * i;
    const double scale = scale_for(asked->surface, point);
    const sbs_vec3 scaled = {scale * point[0], scale * point[1], scale * point[2]};
    const candidate best =
        find(asked->surface, scaled, asked->triangle_labels, asked->point_labels ? asked->point_labels[i] : 0);
    asked->nearest[i] = best.triangle;
    asked->distances[i] = sqrt(best.square) / scale;
    for (size_t k = 0; k < 3; k++) asked->barycentric[3 * i + k] = best.barycentric[k];
  }
  return SBS_OK;
}

sbs_status sbs_surface_nearest(const sbs_surface *surface, const double *points, size_t point_count,
                               const int32_t *point_labels, const int32_t *triangle_labels, int threads,
                               int32_t *nearest, double *barycentric, double *distances, sbs_fault *fault) {
  if (!surface) return sbs_fault_in(fault, SBS_ERROR_NULL, "surface");
  if (!points) return sbs_fault_in(fault, SBS_ERROR_NULL, "points");
  if (!point_labels != !triangle_labels) {
    return sbs_fault_in(fault, SBS_ERROR_NULL, point_labels ? "triangle_labels" : "point_labels");
  }
  if (!nearest) return sbs_fault_in(fault, SBS_ERROR_NULL, "nearest");
  if (!barycentric) return sbs_fault_in(fault, SBS_ERROR_NULL, "barycentric");
  if (!distances) return sbs_fault_in(fault, SBS_ERROR_NULL, "distances");
  const sbs_status status = sbs_validate_vectors(points, 0, SBS_FLOAT64, point_count, "points", "points", fault);
  if (status) return status;

  request asked = {surface, points, point_count, point_labels, triangle_labels, nearest, barycentric, distances};
  return sbs_share_work(sbs_choose_threads(threads, POINT_TIME * (double)point_count), point_count, CHUNK, answer,
                        &asked);
}
