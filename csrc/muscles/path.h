/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_PATH_H
#define SBS_MUSCLES_PATH_H

#include "muscles/bound.h"

/* The Bezier curve of points (count, 3). */
void sbs_bezier(const double *points, size_t count, sbs_path *path);

void sbs_path_at(const sbs_path *path, double x, double point[3]);

/* c'(x). Returns its length. */
double sbs_path_speed(const sbs_path *path, double x, double derivative[3]);

/* From end to end. */
double sbs_path_length(const sbs_path *path);

/* Makes the profile of a muscle: the spindle, or the given radii by monotone cubics (Fritsch & Butland 1984). */
void sbs_make_profile(const sbs_muscle *muscle, sbs_profile *profile);

/* r at the share u of the belly. */
double sbs_radius_at(const sbs_profile *profile, double u);

/*
 * Weights so that sum_i squares[i] g(u_i) is the integral of r(u)^2 g(u) over [0, 1], exactly if g is a polynomial of
 * a degree below SBS_PATH_NODES: r has steps, but how fast a path runs is smooth.
 */
void sbs_make_squares(const sbs_profile *profile, double squares[SBS_PATH_NODES]);

/*
 * By how much a pose scales the character as a whole, as that of a scene in other units does: the median of joints of
 * muscles, |det C|^(1/3). Exactly 1 where that is 1 but for rounding.
 */
double sbs_size_in(const sbs_muscles *muscles, const sbs_pose *pose);

/*
 * Lengthens or shortens the belly of a muscle so that its volume stays: where it is on the path, and how thick. The
 * pose was checked, and is taken without its size. `state` may be NULL.
 */
void sbs_pose_muscle(const sbs_bound_muscle *muscle, const sbs_pose *pose, double size, double activation,
                     sbs_posed_muscle *posed, sbs_muscle_state *state);

/* The volume of the belly with radii as at bind, where it is on the path. */
double sbs_belly_volume(const sbs_bound_muscle *muscle, const sbs_posed_muscle *posed);

/* Puts the belly of a given length on the path: between tendons that share the rest of the path as at bind. */
void sbs_place_belly(const sbs_bound_muscle *muscle, double length, double belly_length, sbs_posed_muscle *posed);

#endif
