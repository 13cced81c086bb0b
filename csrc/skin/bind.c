/* SPDX-License-Identifier: MIT */
/* A skin is made of a mesh and its weights, and gets other positions. skin/update.c gives it other weights. */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "skin/arrange.h"
#include "skin/centroids.h"
#include "skin/find_sets.h"
#include "skin/pack.h"
#include "skin/pack_centers.h"
#include "skin/skin.h"
#include "skin/validate.h"
#include "skin/with_frames.h"

sbs_skin_desc sbs_default_skin_desc(void) {
  return (sbs_skin_desc){.scalar = SBS_FLOAT32, .weight_scalar = SBS_FLOAT32};
}

sbs_skin_options sbs_default_skin_options(void) {
  return (sbs_skin_options){.strict = 0, .sum_tolerance = 1e-3, .allocator = sbs_default_allocator()};
}

/* -------------------------------------------------------------------------------------------- sets of vertices -- */

/* Takes the table's arrays over, in lexicographic order, and renumbers the sets of the vertices. */
static sbs_status adopt_sets(sbs_skin *skin, sbs_joint_sets *table, int32_t *sets) {
  int32_t *ranks = sbs_allocate(&skin->allocator, table->count, sizeof *ranks);
  if (!ranks) return SBS_ERROR_OUT_OF_MEMORY;
  sbs_status status = sbs_joint_sets_sort(table, ranks);
  if (!status) {
    for (size_t v = 0; v < skin->vertex_count; v++) sets[v] = ranks[sets[v]];
    skin->set_count = table->count;
    skin->set_offsets = table->offsets;
    skin->set_joints = table->joints;
    skin->memory += (table->count + 1) * sizeof *table->offsets + table->offsets[table->count] * sizeof *table->joints;
    table->offsets = NULL;
    table->joints = NULL;
  }
  sbs_release(&skin->allocator, ranks);
  return status;
}

/* The centroids of the sets, and the size of the whole. */
static sbs_status measure_sets(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *sets) {
  if (!skin->set_centroids) skin->set_centroids = sbs_skin_allocate(skin, skin->set_count, 3 * sizeof(double));
  if (!skin->set_centroids) return SBS_ERROR_OUT_OF_MEMORY;

  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  const size_t stride = desc->rest_positions_stride ? desc->rest_positions_stride : 3 * sbs_scalar_size(desc->scalar);
  for (size_t v = 0; v < skin->vertex_count; v++) {
    const void *position = (const char *)desc->rest_positions + v * stride;
    for (size_t axis = 0; axis < 3; axis++) {
      const double x = sbs_scalar_get(position, desc->scalar, axis);
      low[axis] = x < low[axis] ? x : low[axis];
      high[axis] = x > high[axis] ? x : high[axis];
    }
  }
  skin->size = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
  skin->largest = 0.0;
  for (size_t axis = 0; axis < 3; axis++) {
    skin->largest = fmax(skin->largest, fmax(-low[axis], high[axis]));
    low[axis] = fmin(low[axis], 0.0);
    high[axis] = fmax(high[axis], 0.0);
  }
  skin->size_with_origin = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
  if (skin->size_with_origin == 0.0) skin->size_with_origin = 1.0;
  return sbs_find_centroids(skin, desc, sets, NULL);
}

/* ---------------------------------------------------------------------------------------------------------- new -- */

static sbs_status bind(sbs_skin *skin, const sbs_skin_desc *desc, const sbs_skin_options *options,
                       sbs_weight_report *report, sbs_fault *fault) {
  const sbs_allocator *allocator = &skin->allocator;
  int32_t *sets = sbs_allocate(allocator, skin->vertex_count, sizeof *sets); /* of vertices; in the end their groups */
  int32_t *heaviest = sbs_allocate(allocator, skin->vertex_count, sizeof *heaviest);
  sbs_joint_sets table;
  sbs_status status = sbs_joint_sets_init(&table, allocator);
  skin->repairs = sbs_skin_allocate(skin, skin->vertex_count, 1);
  if (!sets || !heaviest || !skin->repairs) status = SBS_ERROR_OUT_OF_MEMORY;
  if (!status) {
    status = sbs_find_sets(&table, desc, options, NULL, skin->vertex_count, sets, heaviest, skin->repairs);
  }
  if (status) {
    sbs_fault_in(fault, status, NULL);
    goto cleanup;
  }
  if (options->strict) status = sbs_check_strict(desc, options, skin->repairs, fault);
  if (status) goto cleanup;
  sbs_skin_count_repairs(skin, report);
  if ((status = adopt_sets(skin, &table, sets)) || (status = measure_sets(skin, desc, sets)) ||
      (status = sbs_skin_arrange(skin, desc, heaviest, sets)) ||
      (status = sbs_skin_copy_joint_positions(skin, desc->joint_positions)) ||
      (status = sbs_pack(skin, desc, sets, heaviest, NULL)) || (status = sbs_pack_centers(skin, desc))) {
    sbs_fault_in(fault, status, NULL);
  }

cleanup:
  sbs_joint_sets_free(&table);
  sbs_release(allocator, sets);
  sbs_release(allocator, heaviest);
  return status;
}

sbs_status sbs_skin_new(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_skin **skin,
                        sbs_weight_report *report, sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  const sbs_skin_options defaults = sbs_default_skin_options();
  if (!options) options = &defaults;
  sbs_status status = sbs_validate_desc(desc, options, fault);
  if (status) return status;

  sbs_skin *made = sbs_skin_begin(desc, &options->allocator);
  if (!made) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  sbs_weight_report repairs = {0};
  sbs_desc_with_frames with;
  status = sbs_add_frames(desc, &options->allocator, &with, fault);
  if (!status) status = bind(made, &with.desc, options, &repairs, fault);
  sbs_release_frames(&options->allocator, &with);
  if (status) {
    sbs_skin_free(made);
    return status;
  }
  *skin = made;
  if (report) *report = repairs;
  return SBS_OK;
}

/* ---------------------------------------------------------------------------------------------- other positions -- */

static sbs_status check_positions(const sbs_skin *skin, const sbs_skin_desc *desc, sbs_fault *fault) {
  if (desc->vertex_count != skin->vertex_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "vertex_count", (double)desc->vertex_count,
                            (double)skin->vertex_count);
  }
  if (desc->scalar != skin->scalar) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)desc->scalar, (double)skin->scalar);
  }
  if (!desc->rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (!desc->centers != !skin->centers) return sbs_fault_in(fault, SBS_ERROR_OPTION, "centers");
  sbs_status status = sbs_validate_vectors(desc->rest_positions, desc->rest_positions_stride, desc->scalar,
                                           desc->vertex_count, "rest_positions", "rest_positions_stride", fault);
  if (!status && desc->centers) {
    status = sbs_validate_vectors(desc->centers, 0, SBS_FLOAT64, desc->vertex_count, "centers", "centers", fault);
  }
  return status;
}

sbs_status sbs_skin_with_positions(const sbs_skin *skin, const sbs_skin_desc *desc, sbs_skin **moved,
                                   sbs_fault *fault) {
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!moved) return sbs_fault_in(fault, SBS_ERROR_NULL, "moved");
  sbs_status status = check_positions(skin, desc, fault);
  if (status) return status;
  sbs_skin *made = sbs_skin_copy(skin);
  int32_t *sets = sbs_allocate(&skin->allocator, skin->vertex_count, sizeof *sets);
  status = made && sets ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  if (!status) {
    sbs_skin_joint_set_of_vertex(made, sets);
    status = measure_sets(made, desc, sets);
  }
  if (!status) {
    sbs_pack_positions(made, desc);
    status = sbs_pack_centers(made, desc);
  }
  sbs_release(&skin->allocator, sets);
  if (status) {
    sbs_skin_free(made);
    return sbs_fault_in(fault, status, NULL);
  }
  made->is_moved = 1;
  *moved = made;
  return SBS_OK;
}
