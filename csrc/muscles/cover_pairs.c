/* SPDX-License-Identifier: MIT */
/* The formulas of docs/muscles.md for LANES pairs of a block at once, compiled for each instruction set. */
#define SBS_LANE float
#define SBS_LANE_MASK int32_t
#include "base/lanes.h"
#include "muscles/cover.h"

/* Slopes of d that differ by less are equal. */
#define SLOPE_ROUNDING 1e-4f

/* Where skin is folded and faces away from a muscle, normals turn as if by this cosine, or by its square. */
#define LEAST_FACING 0.3f

/* Normals turn by a tangent below the root of 1 over this: slopes at bind are too steep where skin is stretched. */
#define PER_MOST_TURN 2.0f

/* Keeps divisors from being 0, squares of lengths too. */
#define TINY 1e-36f

/*
 * The second derivative of a spindle has no bound at its ends, 4 u (1 - u) = 0. Where that is less than this, it falls
 * to 0 instead, as beyond the ends, so that steps of Newton's method are bounded and continuous.
 */
#define LEAST_PRODUCT 0.05f

/* A curve's radius of curvature is taken to be so much larger than the belly's, so that surfaces have an outside. */
#define LEAST_WIDTH 0.25f

/* A step of Newton's method is made where it is longer than this in x, as third powers of it would be seen, */
#define CLOSE 0.015f
/* and so often at most. */
#define MOST_STEPS 4

/* The most that skin is moved, squared: more is an overflow of single precision. */
#define MOST_SQUARED 1e30f

#define ALL(number) (NO_LANES + (number))

typedef struct vector {
  lanes x, y, z;
} vector;

SBS_INLINE lanes clamp(lanes v, float least, float most) {
  return smaller_lanes(larger_lanes(v, ALL(least)), ALL(most));
}

/* How far a number is from 0, beyond rounding. */
SBS_INLINE lanes beyond(lanes v, float rounding) {
  return v - clamp(v, -rounding, rounding);
}

SBS_INLINE vector load_vector(const float from[3][SBS_COVER_BLOCK], size_t i) {
  return (vector){load_lanes(from[0] + i), load_lanes(from[1] + i), load_lanes(from[2] + i)};
}

SBS_INLINE void store_vector(vector v, float to[3][SBS_COVER_BLOCK], size_t i) {
  store_lanes(v.x, to[0] + i);
  store_lanes(v.y, to[1] + i);
  store_lanes(v.z, to[2] + i);
}

SBS_INLINE vector spread_vector(const float v[3]) {
  return (vector){ALL(v[0]), ALL(v[1]), ALL(v[2])};
}

SBS_INLINE lanes dot(vector a, vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

SBS_INLINE vector cross(vector a, vector b) {
  return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

SBS_INLINE vector scale(lanes by, vector v) {
  return (vector){by * v.x, by * v.y, by * v.z};
}

/* a + by b */
SBS_INLINE vector add_scaled(vector a, lanes by, vector b) {
  return (vector){a.x + by * b.x, a.y + by * b.y, a.z + by * b.z};
}

/* v where a mask is set, else 0. */
SBS_INLINE vector select_vector(lane_mask mask, vector v) {
  return (vector){select_lanes(mask, v.x, NO_LANES), select_lanes(mask, v.y, NO_LANES),
                  select_lanes(mask, v.z, NO_LANES)};
}

SBS_INLINE lanes per_length(vector v) {
  return lane_reciprocal_square_root(dot(v, v) + TINY);
}

/* k r at x, and two derivatives by x. */
typedef struct radii {
  lanes radius, slope, bend;
} radii;

/* (4 u (1 - u))^1.5 */
SBS_INLINE radii find_spindle_radii(const sbs_cover_muscle *muscle, lanes x) {
  const float per_span = 1.0f / muscle->span, most = muscle->growth * muscle->profile->radius;
  const lanes middle = 1.0f - 2.0f * per_span * (x - muscle->start);
  const lanes product = larger_lanes(1.0f - middle * middle, NO_LANES);
  const lanes root = product * lane_reciprocal_square_root(product + TINY);
  const lanes bounded = larger_lanes(product, ALL(LEAST_PRODUCT));
  const lanes within = smaller_lanes(product * (1.0f / LEAST_PRODUCT), ALL(1.0f));
  const lanes bend = within * (middle * middle - bounded) * lane_reciprocal_square_root(bounded);
  return (radii){.radius = most * product * root,
                 .slope = 6.0f * most * per_span * middle * root,
                 .bend = 12.0f * most * per_span * per_span * bend};
}

/* The radii that a profile gives by cubics. */
SBS_INLINE radii find_given_radii(const sbs_cover_muscle *muscle, lanes x) {
  const float per_span = 1.0f / muscle->span, by_x = SBS_PROFILE_STEPS * per_span;
  radii found = {NO_LANES, NO_LANES, NO_LANES};
  for (int l = 0; l < LANES; l++) {
    const float u = per_span * (LANE(x, l) - muscle->start), on_belly = u < 0.0f ? 0.0f : u > 1.0f ? 1.0f : u;
    const float place = on_belly * SBS_PROFILE_STEPS, growth = u == on_belly ? muscle->growth : 0.0f;
    const int whole = (int)place, step = whole < SBS_PROFILE_STEPS ? whole : SBS_PROFILE_STEPS - 1;
    const float f = place - (float)step, *c = muscle->profile->cubics + 4 * step,
                *bends = muscle->profile->bends + step;
    LANE(found.radius, l) = muscle->growth * (c[0] + f * (c[1] + f * (c[2] + f * c[3])));
    LANE(found.slope, l) = growth * by_x * (c[1] + f * (2.0f * c[2] + f * (3.0f * c[3])));
    LANE(found.bend, l) = growth * by_x * by_x * (bends[0] + f * (bends[1] - bends[0]));
  }
  return found;
}

/*
 * A vertex v seen from the section of the belly at x, with the path c and the part of v - c across it:
 *
 *   normal  n across the path, from the surface to v: of round sections the direction of that part
 *   above   D, the distance from the surface along n
 *   width   |c'| times the speed at which the surface's point p below v runs along the path, |c'|^2 - (p - c) . c''
 *   rise    how fast that rises along n, and how fast this does
 */
typedef struct section {
  vector along, across; /* c', and the part of v - c across it */
  lanes speed_squared, per_squared;
  lanes ahead; /* (v - c) . c' */
  lanes bend;  /* (v - c) . c'', across the path alone */
  vector normal;
  lanes per_away;    /* 1 over the length of the part across the path */
  lanes normal_bend; /* n . c'' */
  lanes above, width, rise, rise_bend;
} section;

/*
 * Sections that are not round become round if they are made thicker along the thin axis by the root of `flattening`,
 * and as much narrower across it. There they are seen, to first order.
 */
SBS_INLINE void see_flat(const sbs_cover_muscle *muscle, vector second, radii there, section *at) {
  const float wide = 1.0f / muscle->flattening, more = muscle->flattening - wide;
  const vector direction = spread_vector(muscle->thin_direction), across = at->across;
  const vector thin = add_scaled(direction, -dot(direction, at->along) * at->per_squared, at->along);
  /* The height along it, over its length, for its length is not 1 any more. */
  const lanes height = dot(across, thin) * per_lanes(dot(thin, thin) + TINY);
  const lanes squared = wide * dot(across, across) + more * dot(across, thin) * height + TINY;
  const lanes per_y = lane_reciprocal_square_root(squared);
  const vector gradient = scale(per_y, add_scaled(scale(ALL(wide), across), more * height, thin));
  /* How far from the surface y - k r = 1 is. */
  const lanes per_gradient = per_length(gradient);
  at->normal = scale(per_gradient, gradient);
  at->normal_bend = dot(at->normal, second);
  at->above = (squared * per_y - there.radius) * per_gradient;
  at->width = at->speed_squared - at->bend + at->above * at->normal_bend;
  at->rise = there.slope * per_gradient;
  at->rise_bend = there.bend * per_gradient;
}

SBS_INLINE void see_round(radii there, section *at) {
  const lanes squared = dot(at->across, at->across) + TINY;
  at->normal = scale(at->per_away, at->across);
  at->normal_bend = at->bend * at->per_away;
  at->above = squared * at->per_away - there.radius;
  at->width = at->speed_squared - there.radius * at->normal_bend;
  at->rise = there.slope;
  at->rise_bend = there.bend;
}

SBS_INLINE radii find_radii(const sbs_cover_muscle *muscle, lanes x) {
  return muscle->profile->is_spindle ? find_spindle_radii(muscle, x) : find_given_radii(muscle, x);
}

SBS_INLINE section see_section(const sbs_cover_muscle *muscle, vector point, lanes x, radii there) {
  const vector p0 = spread_vector(muscle->path[0]), p1 = spread_vector(muscle->path[1]);
  const vector p2 = spread_vector(muscle->path[2]), p3 = spread_vector(muscle->path[3]);
  const vector from = add_scaled(point, ALL(-1.0f), add_scaled(p0, x, add_scaled(p1, x, add_scaled(p2, x, p3))));
  const vector second = add_scaled(scale(ALL(2.0f), p2), 6.0f * x, p3);
  section at = {.along = add_scaled(p1, x, add_scaled(scale(ALL(2.0f), p2), 3.0f * x, p3))};
  at.speed_squared = dot(at.along, at.along);
  at.per_squared = per_lanes(at.speed_squared + TINY);
  at.ahead = dot(from, at.along);
  at.across = add_scaled(from, -at.ahead * at.per_squared, at.along);
  at.bend = dot(at.across, second);
  at.per_away = per_length(at.across);
  if (muscle->flattening == 1.0f) {
    see_round(there, &at);
  } else {
    see_flat(muscle, second, there, &at);
  }
  at.width = larger_lanes(at.width, LEAST_WIDTH * at.speed_squared);
  return at;
}

/*
 * 1 over the derivative of (v - p) . p' by -x. The derivative is kept above a quarter of |c'|^2: for a vertex beyond a
 * center of curvature it is negative, and a step of Newton's method would lead away from the nearest point.
 */
SBS_INLINE lanes per_falling(const section *at) {
  const lanes down = at->width * (1.0f - at->bend * at->per_squared) + at->rise * at->rise - at->above * at->rise_bend;
  return per_lanes(larger_lanes(down, 0.25f * at->speed_squared) + TINY);
}

/* The surface of a muscle at the point nearest to a vertex. */
typedef struct surface {
  lanes distance; /* d */
  vector normal;  /* N */
  vector along;   /* c' */
  lanes bends[2]; /* how fast N turns towards the path, and about it */
} surface;

/*
 * Finds the nearest point of the belly, from the one at bind, by steps of Newton's method where that is farther than
 * CLOSE; the effect of the rest of the way is added to second order, by the curvature.
 */
SBS_INLINE surface find_nearest(const sbs_cover_muscle *muscle, vector point, lanes x, radii there) {
  section at = see_section(muscle, point, x, there);
  lanes down = per_falling(&at), left = (at.ahead * at.per_squared * at.width + at.above * at.rise) * down;
  for (int step = 0; step < MOST_STEPS && any_lane(absolute_lanes(left) > CLOSE); step++) {
    /* From no step to a whole one, so that results are continuous. */
    x = clamp(x + left * clamp(absolute_lanes(left) * (1.0f / CLOSE) - 1.0f, 0.0f, 1.0f), 0.0f, 1.0f);
    at = see_section(muscle, point, x, find_radii(muscle, x));
    down = per_falling(&at);
    left = (at.ahead * at.per_squared * at.width + at.above * at.rise) * down;
  }
  left = clamp(x + clamp(left, -CLOSE, CLOSE), 0.0f, 1.0f) - x;
  const lanes turning = at.rise_bend + at.width * at.normal_bend * at.per_squared, rise = at.rise + left * turning;
  const vector outward = add_scaled(scale(at.width, at.normal), -rise, at.along);
  const lanes per_outward = per_length(outward);
  return (surface){
      .distance = (at.width * (at.above + 0.5f * left * left * turning) - at.ahead * rise) * per_outward,
      .normal = scale(per_outward, outward),
      .along = at.along,
      .bends = {-at.width * turning * down * per_outward, at.width * at.per_away * per_outward},
  };
}

/* Directions on the skin, along which slopes are known. */
typedef struct skin_frame {
  vector normal;
  vector first;     /* as far as x changes by 1, */
  vector second;    /* and at right angles */
  lanes per_length; /* 1 over the length of both */
  lanes slopes[2];  /* of d, by x and by length */
} skin_frame;

SBS_INLINE skin_frame find_frame(vector normal, const surface *at) {
  skin_frame frame = {.normal = normal, .first = add_scaled(at->along, -dot(at->along, normal), normal)};
  frame.second = cross(normal, frame.first);
  frame.per_length = per_length(frame.first);
  frame.slopes[0] = dot(at->normal, frame.first);
  frame.slopes[1] = dot(at->normal, frame.second) * frame.per_length;
  return frame;
}

/*
 * Turns the normal n of skin that is moved by e N: the surface whose points v become v + e N has the normal
 *
 *     S^-1 (n - (N . n) / (1 + N . g) g),    S = 1 + e (how N turns from point to point),
 *
 * with the slope g of e on the skin, which is `change` in its frame. Returns the difference from n.
 */
SBS_INLINE vector turn_normal(const surface *at, const skin_frame *frame, const lanes change[2], lanes length) {
  const vector slope = add_scaled(scale(change[0], frame->first), change[1], frame->second);
  const lanes facing = larger_lanes(dot(at->normal, frame->normal), ALL(LEAST_FACING));
  const lanes part = facing * per_lanes(larger_lanes(1.0f + dot(at->normal, slope), ALL(LEAST_FACING * LEAST_FACING)));
  const vector turned = add_scaled(frame->normal, -part, slope);
  /* On the muscle along the path, of any length. */
  const vector tangent = add_scaled(at->along, -dot(at->along, at->normal), at->normal);
  /* 1 - S^-1 along that, and along its cross product with N. */
  const lanes along = length * at->bends[0], around = length * at->bends[1];
  const lanes less_along = along * per_lanes(larger_lanes(1.0f + along, ALL(LEAST_FACING)));
  const lanes less_around = around * per_lanes(larger_lanes(1.0f + around, ALL(LEAST_FACING)));
  const lanes by_normal = less_around * dot(turned, at->normal);
  const lanes by_tangent = (less_around - less_along) * dot(turned, tangent) * per_lanes(dot(tangent, tangent) + TINY);
  const vector flat = add_scaled(scale(by_normal, at->normal), by_tangent, tangent);
  return add_scaled(add_scaled(flat, -less_around, turned), -part, slope);
}

void SBS_FOR_ISA(sbs_cover_pairs)(const sbs_cover_muscle *muscle, const sbs_cover_block *block, int normals,
                                  sbs_skin_block *skin) {
  const float per_span = 1.0f / muscle->span, by_x = muscle->growth * per_span;
  for (size_t i = 0; i < block->count; i += LANES) {
    const radii there = {.radius = muscle->growth * load_lanes(block->radii[0] + i),
                         .slope = by_x * load_lanes(block->radii[1] + i),
                         .bend = by_x * per_span * load_lanes(block->radii[2] + i)};
    const lanes x = muscle->start + muscle->span * load_lanes(block->u + i);
    const surface at = find_nearest(muscle, load_vector(skin->positions, i), x, there);
    const lanes share = load_lanes(block->shares + i);
    const lanes short_by = beyond(load_lanes(block->rest + i) - at.distance, muscle->rounding);
    /* Inward less, so that the ends of a belly that becomes shorter leave no dents. */
    const lane_mask is_inward = short_by < NO_LANES;
    const lanes used = select_lanes(is_inward, share * share * share, share);
    const lanes wanted = used * short_by, pushed = -at.distance - muscle->rounding;
    const lanes length = larger_lanes(wanted, pushed);
    store_lanes(length * length + share * muscle->step_squared, skin->weights + i);
    store_vector(scale(length, at.normal), skin->moves, i);
    if (!normals) continue;
    const skin_frame frame = find_frame(load_vector(skin->normals, i), &at);
    const lanes used_slope = select_lanes(is_inward, 3.0f * share * share, ALL(1.0f)) * short_by;
    lanes change[2];
    for (int k = 0; k < 2; k++) {
      const lanes by_length = k ? ALL(1.0f) : frame.per_length;
      const lanes risen = (frame.slopes[k] - load_lanes(block->distance_slopes[k] + i)) * by_length;
      const lanes kept =
          used_slope * load_lanes(block->share_slopes[k] + i) * by_length - used * beyond(risen, SLOPE_ROUNDING);
      change[k] = select_lanes(pushed > wanted, -frame.slopes[k] * by_length, kept) * frame.per_length;
    }
    store_vector(turn_normal(&at, &frame, change, length), skin->turns, i);
  }
}

void SBS_FOR_ISA(sbs_finish_block)(float size, int normals, size_t count, sbs_skin_block *skin) {
  for (size_t i = 0; i < count; i += LANES) {
    const vector move = scale(ALL(size), load_vector(skin->moves, i));
    const lanes squared = dot(move, move);
    const lane_mask moves = (squared > NO_LANES) & (squared <= MOST_SQUARED);
    store_vector(select_vector(moves, move), skin->moves, i);
    if (!normals) continue;
    const vector before = load_vector(skin->normals, i), turn = load_vector(skin->turns, i);
    const lanes turned = dot(turn, turn);
    const lane_mask turns = (turned > NO_LANES) & (turned <= MOST_SQUARED);
    const vector after = add_scaled(before, lane_reciprocal_square_root(1.0f + turned * PER_MOST_TURN), turn);
    const vector by = add_scaled(scale(per_length(after), after), ALL(-1.0f), before);
    store_vector(select_vector(turns, by), skin->turns, i);
  }
}

void SBS_FOR_ISA(sbs_measure_vertex)(const sbs_cover_muscle *muscle, float u, int normals, const sbs_skin_block *skin,
                                     sbs_measured *measured) {
  const lanes x = ALL(muscle->start + muscle->span * u);
  const radii there = find_radii(muscle, x);
  const surface at = find_nearest(muscle, load_vector(skin->positions, 0), x, there);
  const float span = muscle->span;
  *measured =
      (sbs_measured){.radii = {LANE(there.radius, 0), span * LANE(there.slope, 0), span * span * LANE(there.bend, 0)},
                     .distance = LANE(at.distance, 0),
                     .normal = {LANE(at.normal.x, 0), LANE(at.normal.y, 0), LANE(at.normal.z, 0)}};
  if (!normals) return;
  const skin_frame frame = find_frame(load_vector(skin->normals, 0), &at);
  for (int k = 0; k < 2; k++) {
    const vector direction = k ? frame.second : frame.first;
    measured->slopes[k] = LANE(frame.slopes[k], 0);
    measured->frame[k][0] = LANE(direction.x, 0);
    measured->frame[k][1] = LANE(direction.y, 0);
    measured->frame[k][2] = LANE(direction.z, 0);
  }
}
