/* SPDX-License-Identifier: MIT */
#include "mesh/surface.h"

#include <math.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "mesh/validate.h"

/* ----------------------------------------------------------------------------------------------------- the tree -- */

static double coordinate(const sbs_mesh_desc *mesh, int32_t vertex, size_t axis) {
  const size_t stride = mesh->positions_stride ? mesh->positions_stride : 3 * sbs_scalar_size(mesh->scalar);
  return sbs_scalar_get((const char *)mesh->positions + (size_t)vertex * stride, mesh->scalar, axis);
}

/* The caller's triangles, by their numbers, of which the tree is made. */
typedef struct builder {
  sbs_surface *surface;
  const sbs_mesh_desc *mesh;
  double (*centroids)[3]; /* times 3 */
  int32_t *order;         /* triangles in the order of the tree, so far */
} builder;

static int32_t median_triangle(const builder *build, int axis, int32_t a, int32_t b, int32_t c) {
  const double x = build->centroids[a][axis], y = build->centroids[b][axis], z = build->centroids[c][axis];
  if (x < y) return y < z ? b : (x < z ? c : a);
  return x < z ? a : (y < z ? c : b);
}

/* Hoare's selection: orders triangles [begin, end) so that none before `middle` is beyond one after it. */
static void select_middle(const builder *build, int axis, size_t begin, size_t end, size_t middle) {
  while (end - begin > 1) {
    int32_t *order = build->order;
    const int32_t chosen = median_triangle(build, axis, order[begin], order[begin + (end - begin) / 2], order[end - 1]);
    const double pivot = build->centroids[chosen][axis];
    size_t low = begin, high = end - 1;
    for (;;) {
      while (build->centroids[order[low]][axis] < pivot) low++;
      while (build->centroids[order[high]][axis] > pivot) high--;
      if (low < high) {
        const int32_t swapped = order[low];
        order[low] = order[high];
        order[high] = swapped;
      }
      if (low >= high) break;
      low++;
      high--;
      if (low > high) break;
    }
    /* [begin, high] is not beyond the pivot, [low, end) not before it; between them all equal it */
    if (low == high) { /* both stopped at one element, which equals the pivot */
      if (middle == low) return;
      if (middle < low) {
        end = low;
      } else {
        begin = low + 1;
      }
    } else if (middle <= high) {
      end = high + 1;
    } else {
      begin = low;
    }
  }
}

/* The axis along which centroids spread most. */
static int longest_axis(const builder *build, size_t begin, size_t end) {
  int longest = 0;
  double most = -1.0;
  for (int axis = 0; axis < 3; axis++) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = begin; i < end; i++) {
      const double x = build->centroids[build->order[i]][axis];
      low = fmin(low, x);
      high = fmax(high, x);
    }
    if (high - low > most) {
      most = high - low;
      longest = axis;
    }
  }
  return longest;
}

/* Copies a leaf's triangles to their places and measures its box. */
static void fill_leaf(const builder *build, sbs_surface_node *node, size_t begin, size_t end) {
  sbs_surface *surface = build->surface;
  *node = (sbs_surface_node){.low = {INFINITY, INFINITY, INFINITY},
                             .high = {-INFINITY, -INFINITY, -INFINITY},
                             .first = (int32_t)begin,
                             .count = (int32_t)(end - begin)};
  for (size_t place = begin; place < end; place++) {
    surface->numbers[place] = build->order[place];
    for (size_t corner = 0; corner < 3; corner++) {
      const int32_t vertex = build->mesh->triangles[3 * (size_t)build->order[place] + corner];
      surface->vertices[place][corner] = vertex;
      for (size_t axis = 0; axis < 3; axis++) {
        const double x = surface->scale * coordinate(build->mesh, vertex, axis);
        surface->corners[place][corner][axis] = x;
        node->low[axis] = fmin(node->low[axis], x);
        node->high[axis] = fmax(node->high[axis], x);
      }
    }
  }
}

/* Fills a node with the triangles [begin, end), halving them; *used counts the nodes. Recurses as deep as the tree. */
static sbs_status fill_node(const builder *build, size_t index, size_t begin, size_t end, size_t *used) {
  sbs_surface_node *nodes = build->surface->nodes, *node = nodes + index;
  if (end - begin <= SBS_SURFACE_LEAF) {
    fill_leaf(build, node, begin, end);
    return begin / 1024 == end / 1024 ? SBS_OK : sbs_tell((double)end / (double)build->surface->triangle_count);
  }
  const size_t middle = begin + (end - begin) / 2, left = *used;
  select_middle(build, longest_axis(build, begin, end), begin, end, middle);
  *used += 2;
  sbs_status status = fill_node(build, left, begin, middle, used);
  if (!status) status = fill_node(build, left + 1, middle, end, used);
  if (status) return status;
  node->first = (int32_t)left;
  node->count = 0;
  for (size_t axis = 0; axis < 3; axis++) {
    node->low[axis] = fmin(nodes[left].low[axis], nodes[left + 1].low[axis]);
    node->high[axis] = fmax(nodes[left].high[axis], nodes[left + 1].high[axis]);
  }
  return SBS_OK;
}

/* A power of two that makes the largest coordinate about 1; 1 if all are zero. */
static double size_power(const sbs_mesh_desc *mesh) {
  double largest = 0.0;
  int exponent;
  for (size_t v = 0; v < mesh->vertex_count; v++) {
    for (size_t axis = 0; axis < 3; axis++) largest = fmax(largest, fabs(coordinate(mesh, (int32_t)v, axis)));
  }
  if (largest == 0.0) return 1.0;
  frexp(largest, &exponent);
  return ldexp(1.0, exponent < -1000 ? 1000 : -exponent); /* for smaller numbers the power would be infinite */
}

static sbs_status build_tree(sbs_surface *surface, const sbs_mesh_desc *mesh) {
  const size_t count = surface->triangle_count;
  const sbs_allocator *allocator = &surface->allocator;
  builder build = {.surface = surface,
                   .mesh = mesh,
                   .centroids = sbs_allocate(allocator, count, sizeof *build.centroids),
                   .order = sbs_allocate(allocator, count, sizeof *build.order)};
  sbs_status status = build.centroids && build.order ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  if (!status) {
    for (size_t t = 0; t < count; t++) {
      const int32_t *corners = mesh->triangles + 3 * t;
      for (size_t axis = 0; axis < 3; axis++) {
        double sum = 0.0;
        for (size_t i = 0; i < 3; i++) sum += surface->scale * coordinate(mesh, corners[i], axis);
        build.centroids[t][axis] = sum;
      }
      build.order[t] = (int32_t)t;
    }
    size_t used = 1;
    status = fill_node(&build, 0, 0, count, &used);
  }
  sbs_release(allocator, build.centroids);
  sbs_release(allocator, build.order);
  return status;
}

/* ------------------------------------------------------------------------------------------------- new and free -- */

sbs_status sbs_surface_new(const sbs_mesh_desc *mesh, const sbs_allocator *allocator, sbs_surface **surface,
                           sbs_fault *fault) {
  if (!mesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "mesh");
  if (!surface) return sbs_fault_in(fault, SBS_ERROR_NULL, "surface");
  sbs_allocator chosen;
  sbs_status status = sbs_choose_allocator(allocator, &chosen, fault);
  if (!status) status = sbs_mesh_validate_positions(mesh, fault);
  if (!status) status = sbs_mesh_validate_triangles(mesh, fault);
  if (status) return status;
  const size_t count = mesh->triangle_count;
  if (!count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "triangles");
  if (count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "triangle_count", (double)count, INT32_MAX);
  }

  sbs_surface *made = sbs_allocate(&chosen, 1, sizeof *made);
  if (!made) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  /* every leaf has at least two triangles if the mesh has, so there are no more nodes than triangles */
  *made = (sbs_surface){.allocator = chosen,
                        .scale = size_power(mesh),
                        .triangle_count = count,
                        .nodes = sbs_allocate(&chosen, count, sizeof *made->nodes),
                        .corners = sbs_allocate(&chosen, count, sizeof *made->corners),
                        .vertices = sbs_allocate(&chosen, count, sizeof *made->vertices),
                        .numbers = sbs_allocate(&chosen, count, sizeof *made->numbers)};
  status = SBS_ERROR_OUT_OF_MEMORY;
  if (made->nodes && made->corners && made->vertices && made->numbers) status = build_tree(made, mesh);
  if (status) {
    sbs_surface_free(made);
    return sbs_fault_in(fault, status, NULL);
  }
  *surface = made;
  return SBS_OK;
}

void sbs_surface_free(sbs_surface *surface) {
  if (!surface) return;
  const sbs_allocator allocator = surface->allocator;
  sbs_release(&allocator, surface->nodes);
  sbs_release(&allocator, surface->corners);
  sbs_release(&allocator, surface->vertices);
  sbs_release(&allocator, surface->numbers);
  sbs_release(&allocator, surface);
}
