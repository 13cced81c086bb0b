/* SPDX-License-Identifier: MIT */
#include "correctives/drivers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/progress.h"

sbs_drivers_desc sbs_default_drivers_desc(void) {
  return (sbs_drivers_desc){0};
}

size_t sbs_drivers_pose_count(const sbs_drivers *drivers) {
  return drivers ? drivers->pose_count : 0;
}

void sbs_drivers_free(sbs_drivers *drivers) {
  if (!drivers) return;
  const sbs_allocator allocator = drivers->allocator;
  sbs_release(&allocator, drivers->drivers);
  sbs_release(&allocator, drivers->joints);
  sbs_release(&allocator, drivers->pose_numbers);
  sbs_release(&allocator, drivers->coordinates);
  sbs_release(&allocator, drivers->products);
  sbs_release(&allocator, drivers->sums);
  sbs_release(&allocator, drivers);
}

/* ------------------------------------------------------------------------------------------------------- checks -- */

/* The squares of shorter axes would have lost digits. */
#define SHORTEST 1e-140

/* How near a pose may be to rest and to other poses of its driver, in radians: nearer, weights change too fast. */
#define NEAREST 1e-3

static sbs_status check_arrays(const sbs_drivers_desc *desc, sbs_fault *fault) {
  const struct {
    size_t count;
    const char *name;
  } counts[] = {
      {desc->joint_count, "joint_count"}, {desc->driver_count, "driver_count"}, {desc->pose_count, "pose_count"}};
  const struct {
    const void *pointer;
    const char *name;
  } arrays[] = {{desc->driver_offsets, "driver_offsets"},
                {desc->joints, "joints"},
                {desc->parents, "parents"},
                {desc->axes, "axes"},
                {desc->pose_drivers, "pose_drivers"},
                {desc->coordinates, "coordinates"}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    const size_t count = counts[i].count;
    if (!count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, counts[i].name);
    if (count > INT32_MAX) {
      return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, counts[i].name, (double)count, INT32_MAX);
    }
  }
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    if (!arrays[i].pointer) return sbs_fault_in(fault, SBS_ERROR_NULL, arrays[i].name);
  }
  return SBS_OK;
}

static sbs_status check_offsets(const sbs_drivers_desc *desc, sbs_fault *fault) {
  const size_t *offsets = desc->driver_offsets;
  if (offsets[0]) return sbs_fault_row(fault, SBS_ERROR_OPTION, "driver_offsets", 0, (double)offsets[0], 0.0);
  for (size_t d = 0; d < desc->driver_count; d++) {
    if (offsets[d + 1] <= offsets[d]) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "driver_offsets", d + 1, (double)offsets[d + 1],
                           (double)offsets[d]);
    }
    if (offsets[d + 1] > INT32_MAX) {
      return sbs_fault_row(fault, SBS_ERROR_TOO_LARGE, "driver_offsets", d + 1, (double)offsets[d + 1], INT32_MAX);
    }
    const int part = desc->parts ? (int)desc->parts[d] : SBS_DRIVER_SWING;
    if (part < SBS_DRIVER_SWING || part > SBS_DRIVER_BOTH) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "parts", d, part, SBS_DRIVER_BOTH);
    }
  }
  return SBS_OK;
}

/* --------------------------------------------------------------------------------------------------- new drivers -- */

static sbs_status read_joints(sbs_drivers *drivers, const sbs_drivers_desc *desc, sbs_fault *fault) {
  const int32_t count = (int32_t)desc->joint_count;
  sbs_status status = sbs_validate_numbers(desc->axes, drivers->driving_joint_count, 3, "axes", fault);
  if (status) return status;
  for (size_t d = 0; d < desc->driver_count; d++) {
    const size_t first = desc->driver_offsets[d], end = desc->driver_offsets[d + 1];
    drivers->drivers[d].first_joint = first;
    drivers->drivers[d].joint_count = end - first;
    for (size_t i = first; i < end; i++) {
      const int32_t joint = desc->joints[i], parent = desc->parents[i];
      if (joint < 0 || joint >= count) {
        return sbs_fault_row(fault, SBS_ERROR_JOINT_INDEX, "joints", i, joint, count);
      }
      if (parent < -1 || parent >= count || parent == joint) {
        return sbs_fault_row(fault, SBS_ERROR_PARENT, "parents", i, parent, count);
      }
      const sbs_vec3 axis = sbs_vec3_read(desc->axes + 3 * i);
      const double length = sbs_vec3_length(axis);
      if (!(length > SHORTEST)) return sbs_fault_row(fault, SBS_ERROR_OPTION, "axes", i, length, 0.0);
      drivers->joints[i] = (sbs_driving_joint){.joint = joint,
                                               .parent = parent,
                                               .part = desc->parts ? desc->parts[d] : SBS_DRIVER_SWING,
                                               .axis = {axis.x / length, axis.y / length, axis.z / length}};
    }
  }
  return SBS_OK;
}

static int compare_joints(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Refuses a joint that a driver has twice. */
static sbs_status check_distinct(const sbs_drivers *drivers, const sbs_drivers_desc *desc, sbs_fault *fault) {
  int32_t *sorted = sbs_allocate(&drivers->allocator, drivers->driving_joint_count, sizeof *sorted);
  if (!sorted) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  memcpy(sorted, desc->joints, drivers->driving_joint_count * sizeof *sorted);
  sbs_status status = SBS_OK;
  for (size_t d = 0; d < desc->driver_count && !status; d++) {
    const size_t first = desc->driver_offsets[d], end = desc->driver_offsets[d + 1];
    qsort(sorted + first, end - first, sizeof *sorted, compare_joints);
    for (size_t i = first + 1; i < end && !status; i++) {
      if (sorted[i] != sorted[i - 1]) continue;
      size_t place = end - 1; /* of the second of them, as they were given */
      while (desc->joints[place] != sorted[i]) place--;
      status = sbs_fault_row(fault, SBS_ERROR_OPTION, "joints", place, sorted[i], (double)desc->joint_count);
    }
  }
  sbs_release(&drivers->allocator, sorted);
  return status;
}

/* Counts the poses of each driver, and places their coordinates and inner products. */
static sbs_status place_poses(sbs_drivers *drivers, const sbs_drivers_desc *desc, sbs_fault *fault) {
  for (size_t k = 0; k < desc->pose_count; k++) {
    const int32_t driver = desc->pose_drivers[k];
    if (driver < 0 || (size_t)driver >= desc->driver_count) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "pose_drivers", k, driver, (double)desc->driver_count);
    }
    if (drivers->drivers[driver].pose_count++ == SBS_DRIVER_MOST_POSES) {
      return sbs_fault_row(fault, SBS_ERROR_TOO_LARGE, "pose_drivers", k, driver, SBS_DRIVER_MOST_POSES);
    }
  }
  size_t poses = 0, coordinates = 0, products = 0;
  for (size_t d = 0; d < desc->driver_count; d++) {
    sbs_driver *driver = drivers->drivers + d;
    driver->first_pose = poses;
    driver->coordinates = coordinates;
    driver->products = products;
    if (products > SIZE_MAX / (2 * sizeof *drivers->products)) {
      return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "pose_count", (double)desc->pose_count, 0.0);
    }
    poses += driver->pose_count;
    coordinates += driver->pose_count * 3 * driver->joint_count;
    products += driver->pose_count * driver->pose_count;
  }
  drivers->coordinates = sbs_allocate(&drivers->allocator, coordinates, sizeof *drivers->coordinates);
  drivers->products = sbs_allocate(&drivers->allocator, products, sizeof *drivers->products);
  if (!drivers->coordinates || !drivers->products) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  return SBS_OK;
}

/* Reads the coordinates of all poses, in the order of drivers. */
static sbs_status read_poses(sbs_drivers *drivers, const sbs_drivers_desc *desc, sbs_fault *fault) {
  const double *from = desc->coordinates;
  for (size_t d = 0; d < desc->driver_count; d++) drivers->drivers[d].pose_count = 0; /* so far */
  for (size_t k = 0; k < desc->pose_count; k++) {
    sbs_driver *driver = drivers->drivers + desc->pose_drivers[k];
    const size_t size = 3 * driver->joint_count, number = driver->pose_count++;
    for (size_t i = 0; i < size; i++) {
      const sbs_status status = sbs_validate_number(from[i], SBS_LARGEST, "coordinates", k, i, fault);
      if (status) return status;
    }
    drivers->pose_numbers[driver->first_pose + number] = k;
    memcpy(drivers->coordinates + driver->coordinates + number * size, from, size * sizeof *from);
    from += size;
  }
  return SBS_OK;
}

static sbs_status refuse_pose(const sbs_drivers *drivers, size_t pose, double square, sbs_fault *fault) {
  const double distance = sqrt(fmax(square, 0.0));
  return sbs_fault_row(fault, SBS_ERROR_OPTION, "coordinates", drivers->pose_numbers[pose], distance, NEAREST);
}

/* Finds the inner products of a driver's poses, and s at each. `nearness` is room for a number of each pose. */
static sbs_status prepare_poses(sbs_drivers *drivers, const sbs_driver *driver, double *nearness, sbs_fault *fault) {
  const size_t count = driver->pose_count, size = 3 * driver->joint_count;
  const double *poses = drivers->coordinates + driver->coordinates;
  double *products = drivers->products + driver->products;
  for (size_t k = 0; k < count; k++) {
    const sbs_status status = sbs_tell_some(k, count);
    if (status) return status;
    for (size_t j = 0; j <= k; j++) {
      products[k * count + j] = products[j * count + k] = sbs_inner_product(poses + k * size, poses + j * size, size);
    }
    const double own = products[k * count + k];
    if (!(own >= NEAREST * NEAREST)) return refuse_pose(drivers, driver->first_pose + k, own, fault);
    for (size_t j = 0; j < k; j++) {
      const double apart = own + products[j * count + j] - 2.0 * products[k * count + j];
      if (!(apart >= NEAREST * NEAREST)) return refuse_pose(drivers, driver->first_pose + k, apart, fault);
    }
  }
  for (size_t k = 0; k < count; k++) {
    const sbs_status status = sbs_tell_some(k, count);
    if (status) return status;
    const double *along = products + k * count;
    drivers->sums[driver->first_pose + k] = sbs_driver_sum(products, count, along, along[k], nearness);
  }
  return SBS_OK;
}

static sbs_status read_drivers(sbs_drivers *drivers, const sbs_drivers_desc *desc, sbs_fault *fault) {
  sbs_status status = read_joints(drivers, desc, fault);
  if (!status) status = check_distinct(drivers, desc, fault);
  if (!status) status = place_poses(drivers, desc, fault);
  if (!status) status = read_poses(drivers, desc, fault);
  if (status) return status;
  double *nearness = sbs_allocate(&drivers->allocator, desc->pose_count, sizeof *nearness);
  if (!nearness) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  for (size_t d = 0; d < desc->driver_count && !status; d++) {
    status = prepare_poses(drivers, drivers->drivers + d, nearness, fault);
  }
  sbs_release(&drivers->allocator, nearness);
  return status == SBS_ERROR_CANCELLED ? sbs_fault_in(fault, status, NULL) : status;
}

sbs_status sbs_drivers_new(const sbs_drivers_desc *desc, const sbs_allocator *allocator, sbs_drivers **drivers,
                           sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!drivers) return sbs_fault_in(fault, SBS_ERROR_NULL, "drivers");
  sbs_allocator chosen;
  sbs_status status = sbs_choose_allocator(allocator, &chosen, fault);
  if (!status) status = check_arrays(desc, fault);
  if (!status) status = check_offsets(desc, fault);
  if (status) return status;
  sbs_drivers *made = sbs_allocate(&chosen, 1, sizeof *made);
  if (!made) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  const size_t joints = desc->driver_offsets[desc->driver_count];
  *made = (sbs_drivers){.allocator = chosen,
                        .isa = sbs_choose_isa(),
                        .joint_count = desc->joint_count,
                        .driver_count = desc->driver_count,
                        .pose_count = desc->pose_count,
                        .driving_joint_count = joints,
                        .drivers = sbs_allocate(&chosen, desc->driver_count, sizeof *made->drivers),
                        .joints = sbs_allocate(&chosen, joints, sizeof *made->joints),
                        .pose_numbers = sbs_allocate(&chosen, desc->pose_count, sizeof *made->pose_numbers),
                        .sums = sbs_allocate(&chosen, desc->pose_count, sizeof *made->sums)};
  const int is_room = made->drivers && made->joints && made->pose_numbers && made->sums;
  if (is_room) {
    memset(made->drivers, 0, desc->driver_count * sizeof *made->drivers);
    status = read_drivers(made, desc, fault);
  } else {
    status = sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  if (status) {
    sbs_drivers_free(made);
    return status;
  }
  *drivers = made;
  return SBS_OK;
}
