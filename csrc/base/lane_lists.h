/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_LANE_LISTS_H
#define SBS_BASE_LANE_LISTS_H

/* f(r, 0), f(r, 1), ... for so many lanes: the indices of a __builtin_shufflevector, by a formula. */
#define SBS_LIST_2(f, r) f(r, 0), f(r, 1)
#define SBS_LIST_4(f, r) SBS_LIST_2(f, r), f(r, 2), f(r, 3)
#define SBS_LIST_8(f, r) SBS_LIST_4(f, r), f(r, 4), f(r, 5), f(r, 6), f(r, 7)
#define SBS_LIST_16(f, r) SBS_LIST_8(f, r), f(r, 8), f(r, 9), f(r, 10), f(r, 11), f(r, 12), f(r, 13), f(r, 14), f(r, 15)

#endif
