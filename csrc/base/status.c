/* SPDX-License-Identifier: MIT */
#include "sbs/sbs.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *sbs_version(void) {
  return TEXT(SBS_VERSION_MAJOR) "." TEXT(SBS_VERSION_MINOR) "." TEXT(SBS_VERSION_PATCH);
}

const char *sbs_status_string(sbs_status status) {
  switch (status) {
    case SBS_OK: return "success";
    case SBS_ERROR_NULL: return "a required pointer is NULL";
    case SBS_ERROR_EMPTY: return "a count that must not be zero is zero";
    case SBS_ERROR_TOO_LARGE: return "a count or a number is too large";
    case SBS_ERROR_OPTION: return "an option is out of its range";
    case SBS_ERROR_STRIDE: return "a stride is smaller than a row, or not a multiple of the scalar's size";
    case SBS_ERROR_NEGATIVE: return "a number is negative";
    case SBS_ERROR_NOT_FINITE: return "a number is NaN or infinite";
    case SBS_ERROR_JOINT_INDEX: return "a joint index is out of range";
    case SBS_ERROR_VERTEX_INDEX: return "a vertex index is out of range";
    case SBS_ERROR_PARENT: return "a parent is out of range, or the parents form a cycle";
    case SBS_ERROR_WEIGHT: return "the weights of a vertex need repair";
    case SBS_ERROR_NOT_AFFINE: return "the last row of a matrix is not (0, 0, 0, 1)";
    case SBS_ERROR_RADIUS: return "an inner radius is above its outer one";
    case SBS_ERROR_UNWEIGHTED: return "some points get no weight";
    case SBS_ERROR_OUT_OF_MEMORY: return "out of memory";
    case SBS_ERROR_SCRATCH: return "the scratch memory is too small or not aligned to 64 bytes";
    case SBS_ERROR_NO_CONVERGENCE: return "a decomposition or an iteration did not converge";
    case SBS_ERROR_INTERNAL: return "internal error";
    case SBS_ERROR_CANCELLED: return "cancelled by the caller";
    case SBS_ERROR_NO_LAPACK: return "this needs LAPACK, which the library was built without";
    case SBS_STATUS_COUNT: break;
  }
  return "unknown status";
}
