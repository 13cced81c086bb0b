/* SPDX-License-Identifier: MIT */
/* Pairs of a muscle and a vertex, LANES at once, compiled for each instruction set: the formulas of sbs/muscles.h. */
#include <math.h>
#include <string.h>

#include "base/compiled_for_isa.h"
#include "muscles/cover.h"

#define LANES (SBS_SCALAR_ONLY ? 1 : SBS_VECTOR_BYTES / 4)
#if SBS_SCALAR_ONLY
typedef float lanes;
typedef int32_t lane_mask;
#define LANE(vector, l) (vector)
#else
typedef float lanes __attribute__((vector_size(SBS_VECTOR_BYTES)));
typedef int32_t lane_mask __attribute__((vector_size(SBS_VECTOR_BYTES)));
#define LANE(vector, l) (vector)[l]
#endif
#define NO_LANES ((lanes){0.0f})

/* Slopes of N that differ by less are the same. */
#define SLOPE_ROUNDING 1e-4f

/* Keeps what is divided by from being 0. */
#define TINY 1e-30f

/* yes where the mask is set, else no; comparisons make masks */
SBS_INLINE lanes select_lanes(lane_mask mask, lanes yes, lanes no) {
#if SBS_SCALAR_ONLY
  return mask ? yes : no;
#else
  return (lanes)(((lane_mask)yes & mask) | ((lane_mask)no & ~mask));
#endif
}

SBS_INLINE lanes root_of_lanes(lanes v) {
  lanes root = NO_LANES;
  for (int l = 0; l < LANES; l++) LANE(root, l) = sqrtf(LANE(v, l));
  return root;
}

SBS_INLINE lanes larger_lanes(lanes a, lanes b) {
  return select_lanes(a > b, a, b);
}

SBS_INLINE lanes smaller_lanes(lanes a, lanes b) {
  return select_lanes(a < b, a, b);
}

SBS_INLINE lanes dot_lanes(const lanes a[3], const lanes b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

SBS_INLINE lanes load_lanes(const float *from) {
  lanes v;
  memcpy(&v, from, sizeof v);
  return v;
}

SBS_INLINE void store_lanes(lanes v, float *to) {
  memcpy(to, &v, sizeof v);
}

/* Vectors of the vertices of LANES pairs from `pair` on. */
SBS_INLINE void read_vertices(const sbs_cover_args *args, int is_first, float from[3][SBS_COVER_CHUNK], size_t pair,
                              lanes v[3]) {
  for (int i = 0; i < 3; i++) {
    if (is_first) {
      v[i] = load_lanes(from[i] + args->begin + pair);
    } else {
      float gathered[LANES];
      for (size_t l = 0; l < LANES; l++) gathered[l] = from[i][args->slots[pair + l]];
      v[i] = load_lanes(gathered);
    }
  }
}

/* A muscle has a vertex once at most, so lanes don't add to the same numbers; those that fill blocks add zeros. */
SBS_INLINE void add_to_sums(const sbs_cover_args *args, int is_first, lanes v, size_t pair, float *sums) {
  if (is_first) {
    store_lanes(v, sums + args->begin + pair);
  } else {
    for (int l = 0; l < LANES; l++) sums[args->slots[pair + (size_t)l]] += LANE(v, l);
  }
}

SBS_INLINE void cross_lanes(const lanes a[3], const lanes b[3], lanes out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* One of Newton's steps to (v - c(x)) . c'(x) = 0, which stays on the path. */
SBS_INLINE lanes step_to_foot(const sbs_cover_muscle *muscle, const lanes point[3], lanes x) {
  lanes value = NO_LANES, slope = NO_LANES, speed_squared = NO_LANES;
  for (int i = 0; i < 3; i++) {
    const float p0 = muscle->path[0][i], p1 = muscle->path[1][i], p2 = muscle->path[2][i], p3 = muscle->path[3][i];
    const lanes from = point[i] - (p0 + x * (p1 + x * (p2 + x * p3)));
    const lanes first = p1 + x * (2.0f * p2 + x * (3.0f * p3)), second = 2.0f * p2 + x * (6.0f * p3);
    value += from * first;
    slope += from * second;
    speed_squared += first * first;
  }
  /* A vertex beyond the path's center of curvature would be sent the wrong way. */
  const lanes down = larger_lanes(speed_squared - slope, 0.25f * speed_squared);
  const lanes next = x + value / (down + TINY);
  return smaller_lanes(larger_lanes(next, NO_LANES), NO_LANES + 1.0f);
}

/* The radius at the share u of a belly, by cubics, and its derivative. */
SBS_INLINE lanes given_radius(const sbs_profile *profile, lanes u, lanes *slope) {
  const lanes place = u * SBS_PROFILE_STEPS;
  float gathered[4][LANES], fractions[LANES];
  for (int l = 0; l < LANES; l++) {
    const int whole = (int)LANE(place, l), step = whole < SBS_PROFILE_STEPS ? whole : SBS_PROFILE_STEPS - 1;
    fractions[l] = LANE(place, l) - (float)step;
    for (int i = 0; i < 4; i++) gathered[i][l] = profile->cubics[4 * step + i];
  }
  const lanes f = load_lanes(fractions), c0 = load_lanes(gathered[0]), c1 = load_lanes(gathered[1]);
  const lanes c2 = load_lanes(gathered[2]), c3 = load_lanes(gathered[3]);
  *slope = (c1 + f * (2.0f * c2 + f * (3.0f * c3))) * SBS_PROFILE_STEPS;
  return c0 + f * (c1 + f * (c2 + f * c3));
}

/* k r at x, and its derivative by x. */
SBS_INLINE lanes radius_at(const sbs_cover_muscle *muscle, lanes x, lanes *slope) {
  const lanes unclamped = (x - muscle->start) * muscle->per_span;
  const lanes u = smaller_lanes(larger_lanes(unclamped, NO_LANES), NO_LANES + 1.0f);
  const float growth = muscle->growth, growth_by_x = growth * muscle->per_span;
  lanes radius;
  if (muscle->profile->is_spindle) { /* (4 u (1 - u))^1.5 */
    const lanes product = 4.0f * u * (1.0f - u), root = root_of_lanes(product);
    radius = muscle->profile->radius * product * root;
    *slope = 6.0f * muscle->profile->radius * (1.0f - 2.0f * u) * root;
  } else {
    radius = given_radius(muscle->profile, u, slope);
  }
  *slope *= select_lanes(u == unclamped, NO_LANES + growth_by_x, NO_LANES);
  return radius * growth;
}

/* y, and its gradient across the path: |v - c|, of sections that are not round with the two axes made equal. */
SBS_INLINE lanes scaled_distance(const sbs_cover_muscle *muscle, const lanes from[3], const lanes along[3],
                                 lanes gradient[3]) {
  const lanes squared = dot_lanes(from, from);
  if (muscle->flattening == 1.0f) {
    const lanes y = root_of_lanes(squared + TINY), per_y = 1.0f / y;
    for (int i = 0; i < 3; i++) gradient[i] = from[i] * per_y;
    return y;
  }
  const float wide = 1.0f / muscle->flattening, more = muscle->flattening - wide, *given = muscle->thin_direction;
  lanes thin[3];
  const lanes off = given[0] * along[0] + given[1] * along[1] + given[2] * along[2];
  for (int i = 0; i < 3; i++) thin[i] = given[i] - off * along[i];
  /* The height along it, over its length, for its length is not 1 any more. */
  const lanes height = dot_lanes(from, thin) / (dot_lanes(thin, thin) + TINY);
  const lanes raised = dot_lanes(from, thin) * height * more;
  const lanes y = root_of_lanes(squared * wide + raised + TINY), per_y = 1.0f / y;
  for (int i = 0; i < 3; i++) gradient[i] = (from[i] * wide + thin[i] * height * more) * per_y;
  return y;
}

/* Directions on the skin, t - (t . n) n and n times it, and 1 over their length squared. */
SBS_INLINE lanes skin_frame(const lanes normal[3], const lanes along[3], lanes first[3], lanes second[3]) {
  const lanes off = dot_lanes(along, normal);
  for (int i = 0; i < 3; i++) first[i] = along[i] - off * normal[i];
  cross_lanes(normal, first, second);
  return 1.0f / (dot_lanes(first, first) + 1e-9f);
}

/* What was measured of LANES pairs. */
typedef struct lane_measures {
  lanes distance;
  lanes normal[3]; /* N */
  lanes first[3];  /* directions on the skin */
  lanes second[3];
  lanes slopes[2]; /* of N by these */
} lane_measures;

SBS_INLINE void measure(const sbs_cover_args *args, int is_first, size_t pair, lane_measures *measures) {
  const sbs_cover_muscle *muscle = args->muscle;
  lanes point[3], from[3], along[3], gradient[3];
  read_vertices(args, is_first, args->scratch->positions, pair, point);
  lanes x = step_to_foot(muscle, point, load_lanes(args->feet + pair));
  if (!muscle->is_straight) x = step_to_foot(muscle, point, x);

  for (int i = 0; i < 3; i++) {
    const float p0 = muscle->path[0][i], p1 = muscle->path[1][i], p2 = muscle->path[2][i], p3 = muscle->path[3][i];
    from[i] = point[i] - (p0 + x * (p1 + x * (p2 + x * p3)));
    along[i] = p1 + x * (2.0f * p2 + x * (3.0f * p3));
  }
  const lanes per_length = 1.0f / root_of_lanes(dot_lanes(along, along) + TINY);
  for (int i = 0; i < 3; i++) along[i] *= per_length;

  const lanes y = scaled_distance(muscle, from, along, gradient);
  const lanes across = dot_lanes(gradient, gradient);
  /* The surface's nearest point is not above the foot: the radius and its slope are taken where it is. */
  lanes slope;
  const lanes above = y - radius_at(muscle, x, &slope), first_rise = slope * per_length;
  const lanes aside = first_rise * above / (across + first_rise * first_rise);
  const lanes there = radius_at(muscle, x + aside * per_length, &slope), rise = slope * per_length;
  for (int i = 0; i < 3; i++) gradient[i] -= rise * along[i];
  const lanes per_gradient = 1.0f / root_of_lanes(across + rise * rise + TINY);
  measures->distance = (y - there + rise * aside) * per_gradient;
  for (int i = 0; i < 3; i++) measures->normal[i] = gradient[i] * per_gradient;

  if (!args->has_normals) return;
  lanes normal[3];
  read_vertices(args, is_first, args->scratch->normals, pair, normal);
  const lanes per_square = skin_frame(normal, along, measures->first, measures->second);
  measures->slopes[0] = dot_lanes(measures->normal, measures->first) * per_square;
  measures->slopes[1] = dot_lanes(measures->normal, measures->second) * per_square;
}

void SBS_FOR_ISA(sbs_measure_cover_pairs)(const sbs_cover_args *args, sbs_measured *measured) {
  for (size_t pair = 0; pair < SBS_COVER_BLOCK; pair += LANES) {
    lane_measures measures = {0};
    measure(args, 1, pair, &measures);
    store_lanes(measures.distance, measured->distances + pair);
    for (int i = 0; i < 3; i++) store_lanes(measures.normal[i], measured->normals[i] + pair);
    for (int i = 0; i < 2; i++) store_lanes(measures.slopes[i], measured->slopes[i] + pair);
    for (int i = 0; i < 3; i++) {
      store_lanes(measures.first[i], measured->frames[0][i] + pair);
      store_lanes(measures.second[i], measured->frames[1][i] + pair);
    }
  }
}

/* How far a number is from 0 beyond what rounding makes of 0: so in the bind pose nothing moves, to the last bit. */
SBS_INLINE lanes beyond(lanes v, float rounding) {
  return larger_lanes(v - rounding, NO_LANES) + smaller_lanes(v + rounding, NO_LANES);
}

/*
 * How much normals turn: against the slope of s (d_rest - d) on the skin. Slopes at bind become steeper where skin is
 * shorter; along the path it is taken to be as much shorter as that.
 */
SBS_INLINE void add_turns(const sbs_cover_args *args, int is_first, const lane_measures *measures, lanes share,
                          lanes short_of, lanes weight, size_t pair) {
  const float stretch = args->muscle->per_stretch;
  lanes change[2];
  for (int i = 0; i < 2; i++) {
    float distances[LANES], shares[LANES];
    for (size_t l = 0; l < LANES; l++) {
      distances[l] = args->slopes[pair + l].distance[i];
      shares[l] = args->slopes[pair + l].share[i];
    }
    const float steeper = i ? 1.0f : stretch;
    const lanes at_bind = load_lanes(distances) * steeper, of_share = load_lanes(shares) * steeper;
    const lanes risen = beyond(measures->slopes[i] - at_bind, SLOPE_ROUNDING);
    change[i] = (share * risen - of_share * short_of) * weight;
  }
  for (int i = 0; i < 3; i++) {
    const lanes turn = change[0] * measures->first[i] + change[1] * measures->second[i];
    add_to_sums(args, is_first, turn, pair, args->scratch->turns[i]);
  }
}

SBS_INLINE void add_pairs(const sbs_cover_args *args, int is_first) {
  sbs_cover_scratch *scratch = args->scratch;
  const float rounding = args->muscle->rounding;
  for (size_t pair = 0; pair < args->count; pair += LANES) {
    lane_measures measures = {0};
    measure(args, is_first, pair, &measures);
    const lanes share = load_lanes(args->shares + pair);
    const lanes short_of = beyond(load_lanes(args->rest + pair) - measures.distance, rounding);
    const lanes is_pair = select_lanes(share > NO_LANES, NO_LANES + 1.0f, NO_LANES);
    const lanes move = larger_lanes(share * short_of, -measures.distance - rounding) * is_pair;
    const lanes weight = move * move + share * args->muscle->step_squared;
    add_to_sums(args, is_first, weight, pair, scratch->weights);
    for (int i = 0; i < 3; i++) {
      add_to_sums(args, is_first, weight * move * measures.normal[i], pair, scratch->moves[i]);
    }
    if (args->has_normals) add_turns(args, is_first, &measures, share, short_of, weight, pair);
  }
}

void SBS_FOR_ISA(sbs_add_cover_pairs)(const sbs_cover_args *args) {
  if (args->is_first) {
    add_pairs(args, 1);
  } else {
    add_pairs(args, 0);
  }
}

void SBS_FOR_ISA(sbs_finish_cover)(sbs_cover_scratch *scratch, int has_normals, size_t count) {
  for (size_t slot = 0; slot < count; slot += LANES) {
    const lanes per_weight = 1.0f / (load_lanes(scratch->weights + slot) + TINY);
    lanes normal[3];
    for (int i = 0; i < 3; i++) {
      store_lanes(load_lanes(scratch->moves[i] + slot) * per_weight, scratch->moves[i] + slot);
      if (!has_normals) continue;
      normal[i] = load_lanes(scratch->normals[i] + slot) + load_lanes(scratch->turns[i] + slot) * per_weight;
    }
    if (!has_normals) continue;
    const lanes per_length = 1.0f / root_of_lanes(dot_lanes(normal, normal) + TINY);
    for (int i = 0; i < 3; i++) store_lanes(normal[i] * per_length, scratch->normals[i] + slot);
  }
}
