/* SPDX-License-Identifier: MIT */
/* Pairs of a muscle and a vertex, LANES at once, compiled for each instruction set: the formulas of sbs/muscles.h. */
#define SBS_LANE float
#define SBS_LANE_MASK int32_t
#include "base/lanes.h"
#include "muscles/cover.h"
#include "muscles/profile.h"

/* Slopes of N that differ by less are the same. */
#define SLOPE_ROUNDING 1e-4f

/* Where skin is folded, and faces away from a muscle, normals turn as if by this cosine, or by its square. */
#define LEAST_FACING 0.3f

/* Normals turn by a tangent below the root of 1 over this: slopes at bind are too steep where skin is stretched. */
#define PER_MOST_TURN 2.0f

/* Keeps what is divided by from being 0: squares of lengths, too. */
#define TINY 1e-36f

/* A curve's radius of curvature is taken to be so much larger than the belly's, so that surfaces have one outside. */
#define LEAST_WIDTH 0.25f

/* Newton's step is made where it is longer than this, in x: beyond that third powers of the way would be seen; */
#define CLOSE 0.015f
/* so often at most. */
#define MOST_STEPS 4

/* Pairs that are worked on together. */
#define TILE (4 * SBS_COVER_BLOCK)

/* Vectors of the vertices of LANES pairs: first ones of a row, those of others wherever their slots are. */
SBS_INLINE void read_vertices(const sbs_cover_args *args, int is_first, float from[3][SBS_COVER_CHUNK], size_t block,
                              size_t pair, lanes v[3]) {
  const int32_t *slots = args->blocks[block].slots + pair;
  for (int i = 0; i < 3; i++) {
    if (is_first) {
      v[i] = load_lanes(from[i] + block * SBS_COVER_BLOCK + pair);
    } else {
      float gathered[LANES];
      for (int l = 0; l < LANES; l++) gathered[l] = from[i][slots[l]];
      v[i] = load_lanes(gathered);
    }
  }
}

/* x where that is on the path, else its end. */
SBS_INLINE lanes on_path(lanes x) {
  return smaller_lanes(larger_lanes(x, NO_LANES), NO_LANES + 1.0f);
}

/* A radius by x, and its derivatives. */
typedef struct radii {
  lanes radius, slope, bend;
} radii;

/* The radius at the share u of a belly, by cubics. */
SBS_INLINE radii given_radii(const sbs_profile *profile, lanes u) {
  const lanes place = u * SBS_PROFILE_STEPS;
  float gathered[6][LANES], fractions[LANES];
  for (int l = 0; l < LANES; l++) {
    const int whole = (int)LANE(place, l), step = whole < SBS_PROFILE_STEPS ? whole : SBS_PROFILE_STEPS - 1;
    fractions[l] = LANE(place, l) - (float)step;
    for (int i = 0; i < 4; i++) gathered[i][l] = profile->cubics[4 * step + i];
    for (int i = 0; i < 2; i++) gathered[4 + i][l] = profile->bends[step + i];
  }
  const lanes f = load_lanes(fractions), c0 = load_lanes(gathered[0]), c1 = load_lanes(gathered[1]);
  const lanes c2 = load_lanes(gathered[2]), c3 = load_lanes(gathered[3]);
  const lanes bend = load_lanes(gathered[4]), next = load_lanes(gathered[5]);
  return (radii){.radius = c0 + f * (c1 + f * (c2 + f * c3)),
                 .slope = (c1 + f * (2.0f * c2 + f * (3.0f * c3))) * SBS_PROFILE_STEPS,
                 .bend = (bend + f * (next - bend)) * (SBS_PROFILE_STEPS * SBS_PROFILE_STEPS)};
}

/* k r at x. */
SBS_INLINE radii radii_at(const sbs_cover_muscle *muscle, int are_plain, lanes x) {
  const lanes u = (x - muscle->start) * muscle->per_span;
  if (are_plain || muscle->profile->is_spindle) { /* (4 u (1 - u))^1.5 */
    const float *spindle = muscle->spindle;
    const lanes middle = 1.0f - 2.0f * u, product = larger_lanes(1.0f - middle * middle, NO_LANES);
    const lanes root = product * lane_reciprocal_square_root(product + TINY);
    const lanes bounded = larger_lanes(product, NO_LANES + SBS_LEAST_PRODUCT);
    const lanes within = smaller_lanes(product * (1.0f / SBS_LEAST_PRODUCT), NO_LANES + 1.0f);
    const lanes bend = spindle[2] * (middle * middle - bounded) * lane_reciprocal_square_root(bounded);
    return (radii){.radius = spindle[0] * product * root, .slope = spindle[1] * middle * root, .bend = within * bend};
  }
  const float by_x = muscle->growth * muscle->per_span;
  const lanes on_belly = on_path(u);
  const radii by_u = given_radii(muscle->profile, on_belly);
  const lanes is_on_belly = select_lanes(u == on_belly, NO_LANES + by_x, NO_LANES);
  return (radii){.radius = by_u.radius * muscle->growth,
                 .slope = by_u.slope * is_on_belly,
                 .bend = by_u.bend * is_on_belly * muscle->per_span};
}

/*
 * A vertex v seen from the section at x, with the path c and what of v - c is across it:
 *
 *   normal  n across the path, from the surface to v: of round sections the direction of that part
 *   above   D, the distance from the surface along n
 *   width   |c'| times the speed at which the surface's point p below v runs along the path, |c'|^2 - (p - c) . c''
 *   rise    how fast that rises along n, and how fast this does
 */
typedef struct section {
  lanes along[3]; /* c' */
  lanes normal[3];
  lanes per_away; /* 1 over the length of the part across the path */
  lanes speed_squared, per_squared;
  lanes ahead;       /* (v - c) . c' */
  lanes bend;        /* (v - c) . c'', across the path alone */
  lanes normal_bend; /* n . c'' */
  lanes above, width, rise, rise_bend;
} section;

/*
 * Sections that are not round become round if they are made thicker along the thin axis by the root of `flattening`,
 * and as much narrower across it. There they are seen, to first order; `across` is what is across the path.
 */
SBS_INLINE void see_flat(const sbs_cover_muscle *muscle, const lanes across[3], const lanes second[3],
                         const radii *there, section *at) {
  const float wide = 1.0f / muscle->flattening, more = muscle->flattening - wide, *given = muscle->thin_direction;
  const lanes off = (given[0] * at->along[0] + given[1] * at->along[1] + given[2] * at->along[2]) * at->per_squared;
  lanes thin[3], gradient[3];
  for (int i = 0; i < 3; i++) thin[i] = given[i] - off * at->along[i];
  /* The height along it, over its length, for its length is not 1 any more. */
  const lanes height = dot_lanes(across, thin) * per_lanes(dot_lanes(thin, thin) + TINY);
  const lanes raised = dot_lanes(across, thin) * height * more;
  const lanes squared = dot_lanes(across, across) * wide + raised + TINY, per_y = lane_reciprocal_square_root(squared);
  for (int i = 0; i < 3; i++) gradient[i] = (across[i] * wide + thin[i] * height * more) * per_y;
  /* How far from the surface y - k r = 1 is. */
  const lanes per_gradient = lane_reciprocal_square_root(dot_lanes(gradient, gradient) + TINY);
  for (int i = 0; i < 3; i++) at->normal[i] = gradient[i] * per_gradient;
  at->normal_bend = dot_lanes(at->normal, second);
  at->above = (squared * per_y - there->radius) * per_gradient;
  at->width = at->speed_squared - at->bend + at->above * at->normal_bend;
  at->rise = there->slope * per_gradient;
  at->rise_bend = there->bend * per_gradient;
}

SBS_INLINE void see_section(const sbs_cover_muscle *muscle, int are_plain, const lanes point[3], lanes x,
                            const radii *there, section *at) {
  const float (*path)[3] = muscle->path, (*slopes)[3] = muscle->path_slopes;
  lanes from[3], second[3], across[3];
  for (int i = 0; i < 3; i++) {
    from[i] = point[i] - (path[0][i] + x * (path[1][i] + x * (path[2][i] + x * path[3][i])));
    at->along[i] = slopes[0][i] + x * (slopes[1][i] + x * slopes[2][i]);
    second[i] = slopes[1][i] + x * muscle->path_bends[i];
  }
  at->speed_squared = dot_lanes(at->along, at->along);
  at->per_squared = per_lanes(at->speed_squared + TINY);
  at->ahead = dot_lanes(from, at->along);
  const lanes off = at->ahead * at->per_squared;
  for (int i = 0; i < 3; i++) across[i] = from[i] - off * at->along[i];
  at->bend = dot_lanes(across, second);
  const lanes squared = dot_lanes(across, across) + TINY;
  at->per_away = lane_reciprocal_square_root(squared);
  if (are_plain || muscle->flattening == 1.0f) {
    for (int i = 0; i < 3; i++) at->normal[i] = across[i] * at->per_away;
    at->normal_bend = at->bend * at->per_away;
    at->above = squared * at->per_away - there->radius;
    at->width = at->speed_squared - there->radius * at->normal_bend;
    at->rise = there->slope;
    at->rise_bend = there->bend;
  } else {
    see_flat(muscle, across, second, there, at);
  }
  at->width = larger_lanes(at->width, LEAST_WIDTH * at->speed_squared);
}

/*
 * 1 over the derivative of (v - p) . p' by -x. The derivative is kept above a quarter of |c'|^2: for a vertex beyond a
 * center of curvature it is negative, and the step would lead away from the nearest point.
 */
SBS_INLINE lanes per_falling(const section *at) {
  const lanes down = at->width * (1.0f - at->bend * at->per_squared) + at->rise * at->rise - at->above * at->rise_bend;
  return per_lanes(larger_lanes(down, 0.25f * at->speed_squared) + TINY);
}

/* By how much x is to change, by Newton's method, for (v - p) . p' to be 0: there the surface's point is nearest. */
SBS_INLINE lanes newton_step(const section *at, lanes per_down) {
  return (at->ahead * at->per_squared * at->width + at->above * at->rise) * per_down;
}

/*
 * What the first loop over the pairs of a tile finds, for the second. The roots and quotients of a pair depend on each
 * other, so one loop would wait for each of them; in two short loops the processor works on several pairs at once.
 */
typedef struct pair_tile {
  float outward[3][TILE]; /* N, of any length */
  float excess[TILE];     /* d times that length */
  float along[3][TILE];
  float bends[2][TILE]; /* how fast N turns towards the path, and about it, times that length */
} pair_tile;

SBS_INLINE void load_vectors(float from[3][TILE], size_t i, lanes v[3]) {
  for (int axis = 0; axis < 3; axis++) v[axis] = load_lanes(from[axis] + i);
}

SBS_INLINE void store_vectors(const lanes v[3], float to[3][TILE], size_t i) {
  for (int axis = 0; axis < 3; axis++) store_lanes(v[axis], to[axis] + i);
}

/*
 * Finds the nearest point of the belly to each vertex, and what the skin needs to know there. It starts at the place
 * where the nearest point was at bind. Where that is farther than CLOSE, steps of Newton's method lead nearer; the rest
 * of the way is not gone, but its effect is added to second order, by the curvature.
 */
SBS_INLINE void see_nearest(const sbs_cover_args *args, int is_first, int are_plain, size_t begin, size_t count,
                            pair_tile *tile) {
  for (size_t i = 0; i < count; i += LANES) {
    const size_t number = (begin + i) / SBS_COVER_BLOCK, pair = i % SBS_COVER_BLOCK;
    const sbs_cover_block *block = args->blocks + number;
    const sbs_cover_muscle *muscle = args->muscles + block->muscle;
    const float growth = muscle->growth, by_x = growth * muscle->per_span;
    radii there = {.radius = growth * load_lanes(block->radii[0] + pair),
                   .slope = by_x * load_lanes(block->radii[1] + pair),
                   .bend = (by_x * muscle->per_span) * load_lanes(block->radii[2] + pair)};
    lanes x = muscle->start + muscle->span * load_lanes(block->u + pair), point[3], outward[3];
    section at;
    read_vertices(args, is_first, args->scratch->positions, number, pair, point);
    see_section(muscle, are_plain, point, x, &there, &at);
    lanes per_down = per_falling(&at), left = newton_step(&at, per_down);
    for (int step = 0; step < MOST_STEPS && any_lane(absolute_lanes(left) > CLOSE); step++) {
      /* From none to a whole one, so that results are continuous. */
      x = on_path(x + left * on_path(absolute_lanes(left) * (1.0f / CLOSE) - 1.0f));
      there = radii_at(muscle, are_plain, x);
      see_section(muscle, are_plain, point, x, &there, &at);
      per_down = per_falling(&at), left = newton_step(&at, per_down);
    }
    left = smaller_lanes(larger_lanes(left, NO_LANES - CLOSE), NO_LANES + CLOSE);
    left = on_path(x + left) - x;
    const lanes turning = at.rise_bend + at.width * at.normal_bend * at.per_squared;
    const lanes rise = at.rise + left * turning;
    for (int axis = 0; axis < 3; axis++) outward[axis] = at.normal[axis] * at.width - at.along[axis] * rise;
    store_vectors(outward, tile->outward, i);
    store_lanes(at.width * (at.above + 0.5f * left * left * turning) - at.ahead * rise, tile->excess + i);
    if (!args->has_normals) continue;
    store_vectors(at.along, tile->along, i);
    store_lanes(-at.width * turning * per_down, tile->bends[0] + i);
    store_lanes(at.width * at.per_away, tile->bends[1] + i);
  }
}

/* What was measured of LANES pairs. */
typedef struct lane_measures {
  lanes distance;
  lanes normal[3];  /* N */
  lanes bends[2];   /* how fast it turns along T, and at right angles to that */
  lanes tangent[3]; /* T on the muscle along the path, of any length */
  lanes per_tangent_squared;
  lanes skin[3];    /* the normal of the skin */
  lanes first[3];   /* directions on the skin: as far as x changes by 1, */
  lanes second[3];  /* and at right angles */
  lanes per_length; /* 1 over the length of both */
  lanes slopes[2];  /* of d, by x and by length */
} lane_measures;

/* Pairs i to i + LANES - 1 of a tile that begins with pair `begin`. */
SBS_INLINE void measure(const sbs_cover_args *args, int is_first, size_t begin, pair_tile *tile, size_t i,
                        lane_measures *measures) {
  lanes outward[3];
  load_vectors(tile->outward, i, outward);
  const lanes per_length = lane_reciprocal_square_root(dot_lanes(outward, outward) + TINY);
  measures->distance = load_lanes(tile->excess + i) * per_length;
  for (int axis = 0; axis < 3; axis++) measures->normal[axis] = outward[axis] * per_length;

  if (!args->has_normals) return;
  lanes *normal = measures->skin, along[3];
  read_vertices(args, is_first, args->scratch->normals, (begin + i) / SBS_COVER_BLOCK, i % SBS_COVER_BLOCK, normal);
  load_vectors(tile->along, i, along);
  const lanes off = dot_lanes(along, normal), off_muscle = dot_lanes(along, measures->normal);
  for (int axis = 0; axis < 3; axis++) {
    measures->first[axis] = along[axis] - off * normal[axis];
    measures->tangent[axis] = along[axis] - off_muscle * measures->normal[axis];
  }
  cross_lanes(normal, measures->first, measures->second);
  measures->per_tangent_squared = per_lanes(dot_lanes(measures->tangent, measures->tangent) + TINY);
  measures->per_length = lane_reciprocal_square_root(dot_lanes(measures->first, measures->first) + TINY);
  measures->slopes[0] = dot_lanes(measures->normal, measures->first);
  measures->slopes[1] = dot_lanes(measures->normal, measures->second) * measures->per_length;
  for (int k = 0; k < 2; k++) measures->bends[k] = load_lanes(tile->bends[k] + i) * per_length;
}

void SBS_FOR_ISA(sbs_measure_cover_pairs)(const sbs_cover_args *args, sbs_measured *measured) {
  pair_tile tile = {0};
  see_nearest(args, 1, 0, 0, SBS_COVER_BLOCK, &tile);
  for (size_t pair = 0; pair < SBS_COVER_BLOCK; pair += LANES) {
    lane_measures measures = {0};
    measure(args, 1, 0, &tile, pair, &measures);
    store_lanes(measures.distance, measured->distances + pair);
    for (int i = 0; i < 3; i++) store_lanes(measures.normal[i], measured->normals[i] + pair);
    for (int i = 0; i < 2; i++) store_lanes(measures.slopes[i], measured->slopes[i] + pair);
    for (int i = 0; i < 3; i++) {
      store_lanes(measures.first[i], measured->frames[0][i] + pair);
      store_lanes(measures.second[i], measured->frames[1][i] + pair);
    }
  }
}

/* How far a number is from 0 beyond what rounding makes of 0. */
SBS_INLINE lanes beyond(lanes v, float rounding) {
  return v - larger_lanes(smaller_lanes(v, NO_LANES + rounding), NO_LANES - rounding);
}

/*
 * How much normals turn where skin is moved by e N: a surface whose points v become v + e N has the normal
 *
 *     S^-1 (n - (N . n) / (1 + N . g) g),    S = 1 + e (how N turns from point to point),
 *
 * n the one before and g the slope of e on the skin. `share` is what of d_rest - d skin is moved by, and `share_slope`
 * the derivative of that by the share at bind; `is_pushed` where it is moved by -d instead.
 */
SBS_INLINE void find_turn(const sbs_cover_block *block, const lane_measures *at, lanes share, lanes share_slope,
                          lanes short_of, lane_mask is_pushed, lanes length, size_t pair, lanes turn[3]) {
  lanes slope[3], change[2];
  for (int i = 0; i < 2; i++) {
    const lanes by_length = i ? NO_LANES + 1.0f : at->per_length;
    const lanes risen = (at->slopes[i] - load_lanes(block->distance_slopes[i] + pair)) * by_length;
    const lanes of_share = share_slope * load_lanes(block->share_slopes[i] + pair) * by_length;
    const lanes kept = of_share * short_of - share * beyond(risen, SLOPE_ROUNDING);
    change[i] = select_lanes(is_pushed, -at->slopes[i] * by_length, kept) * at->per_length;
  }
  for (int i = 0; i < 3; i++) slope[i] = change[0] * at->first[i] + change[1] * at->second[i];
  const lanes facing = larger_lanes(dot_lanes(at->normal, at->skin), NO_LANES + LEAST_FACING);
  const lanes whole = larger_lanes(1.0f + dot_lanes(at->normal, slope), NO_LANES + LEAST_FACING * LEAST_FACING);
  const lanes part = facing * per_lanes(whole);
  lanes turned[3];
  for (int i = 0; i < 3; i++) turned[i] = at->skin[i] - part * slope[i];
  /* 1 - S^-1 along T and along N x T. */
  const lanes along = length * at->bends[0], around = length * at->bends[1];
  const lanes less_along = along * per_lanes(larger_lanes(1.0f + along, NO_LANES + LEAST_FACING));
  const lanes less_around = around * per_lanes(larger_lanes(1.0f + around, NO_LANES + LEAST_FACING));
  const lanes by_normal = less_around * dot_lanes(turned, at->normal);
  const lanes by_tangent = (less_around - less_along) * dot_lanes(turned, at->tangent) * at->per_tangent_squared;
  for (int i = 0; i < 3; i++) {
    turn[i] = by_normal * at->normal[i] + by_tangent * at->tangent[i] - less_around * turned[i] - part * slope[i];
  }
}

/* Brings what several muscles make of a vertex nearer to that of one more, by its share of all weights. */
SBS_INLINE void blend_others(const sbs_cover_args *args, const int32_t *slots, lanes weight, const lanes move[3],
                             const lanes turn[3]) {
  sbs_cover_scratch *scratch = args->scratch;
  for (int l = 0; l < LANES; l++) {
    if (!(LANE(weight, l) > 0.0f)) continue; /* it fills a block */
    const int32_t slot = slots[l];
    const float share = LANE(weight, l) / (scratch->weights[slot] + LANE(weight, l));
    scratch->is_moved[slot / SBS_COVER_BLOCK] = 1;
    scratch->weights[slot] += LANE(weight, l);
    for (int axis = 0; axis < 3; axis++) {
      float *blended = scratch->moves[axis] + slot, *turned = scratch->turns[axis] + slot;
      *blended += (LANE(move[axis], l) - *blended) * share;
      if (args->has_normals) *turned += (LANE(turn[axis], l) - *turned) * share;
    }
  }
}

SBS_INLINE void cover_tile(const sbs_cover_args *args, int is_first, size_t begin, size_t count, pair_tile *tile) {
  sbs_cover_scratch *scratch = args->scratch;
  for (size_t i = 0; i < count; i += LANES) {
    const sbs_cover_block *block = args->blocks + (begin + i) / SBS_COVER_BLOCK;
    const sbs_cover_muscle *muscle = args->muscles + block->muscle;
    const size_t pair = i % SBS_COVER_BLOCK, slot = begin + i;
    lane_measures measures = {0};
    measure(args, is_first, begin, tile, i, &measures);
    const lanes share = load_lanes(block->shares + pair);
    const lanes short_of = beyond(load_lanes(block->rest + pair) - measures.distance, muscle->rounding);
    /* Inward less, so that the ends of a belly that becomes shorter leave no dents. */
    const lane_mask inward = short_of < NO_LANES;
    const lanes used = select_lanes(inward, share * share * share, share);
    const lanes wanted = used * short_of, pushed = -measures.distance - muscle->rounding;
    const lanes length = larger_lanes(wanted, pushed);
    const lanes weight = length * length + share * muscle->step_squared;
    lanes move[3], turn[3] = {NO_LANES, NO_LANES, NO_LANES};
    for (int axis = 0; axis < 3; axis++) move[axis] = length * measures.normal[axis];
    if (args->has_normals) {
      const lanes used_slope = select_lanes(inward, 3.0f * share * share, NO_LANES + 1.0f);
      find_turn(block, &measures, used, used_slope, short_of, pushed > wanted, length, pair, turn);
    }
    if (!is_first) {
      blend_others(args, block->slots + pair, select_lanes(share > NO_LANES, weight, NO_LANES), move, turn);
      continue;
    }
    scratch->is_moved[slot / SBS_COVER_BLOCK] |= (unsigned char)any_lane(length != NO_LANES);
    store_lanes(weight, scratch->weights + slot);
    for (int axis = 0; axis < 3; axis++) store_lanes(move[axis], scratch->moves[axis] + slot);
    for (int axis = 0; axis < 3 && args->has_normals; axis++) store_lanes(turn[axis], scratch->turns[axis] + slot);
  }
}

SBS_INLINE void cover_pairs(const sbs_cover_args *args, int is_first, int are_plain) {
  const size_t pair_count = args->block_count * SBS_COVER_BLOCK;
  pair_tile tile;
  for (size_t begin = 0; begin < pair_count; begin += TILE) {
    const size_t left = pair_count - begin, count = left < TILE ? left : TILE;
    see_nearest(args, is_first, are_plain, begin, count, &tile);
    cover_tile(args, is_first, begin, count, &tile);
  }
}

void SBS_FOR_ISA(sbs_cover_pairs)(const sbs_cover_args *args) {
  if (!args->is_first) {
    cover_pairs(args, 0, 0);
  } else if (args->are_plain) {
    cover_pairs(args, 1, 1);
  } else {
    cover_pairs(args, 1, 0);
  }
}

void SBS_FOR_ISA(sbs_turn_normals)(sbs_cover_scratch *scratch, size_t count) {
  for (size_t slot = 0; slot < count; slot += LANES) {
    lanes before[3], after[3], turn[3];
    for (int i = 0; i < 3; i++) {
      before[i] = load_lanes(scratch->normals[i] + slot);
      turn[i] = load_lanes(scratch->turns[i] + slot);
    }
    const lanes squared = dot_lanes(turn, turn), bounded = lane_reciprocal_square_root(1.0f + squared * PER_MOST_TURN);
    for (int i = 0; i < 3; i++) after[i] = before[i] + turn[i] * bounded;
    const lane_mask turns = squared > NO_LANES;
    scratch->is_turned[slot / SBS_COVER_BLOCK] |= (unsigned char)any_lane(turns);
    const lanes per_length = lane_reciprocal_square_root(dot_lanes(after, after) + TINY);
    for (int i = 0; i < 3; i++) {
      store_lanes(select_lanes(turns, after[i] * per_length - before[i], NO_LANES), scratch->turns[i] + slot);
    }
  }
}
