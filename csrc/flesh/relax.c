/* SPDX-License-Identifier: MIT */
/* Skin relaxed in a pose: a fixed number of steps from where it was deformed to. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "flesh/smooth.h"
#include "flesh/step.h"
#include "pose/check.h"

/* The time of a triangle or a vertex in a step on one thread, about, in nanoseconds, and how many are done at once. */
#define ITEM_TIME 60.0
#define CHUNK 512

/* A limb and its piece both answer to a volume that is lost, each by so much. */
#define ANSWER 0.35

/* Steps without acceleration, and the spectral radius that it is for. */
#define PLAIN_STEPS 3
#define RADIUS 0.85f

/* Planes of a hinge come in as the directions of its bones differ by the first to the second of these. */
#define BENT_FROM 0.15
#define BENT_TO 0.6

#define CHOOSE(constant, name) \
  case SBS_ISA_##constant: return sbs_flesh_functions_##name();
#define DECLARE(constant, name) sbs_flesh_functions sbs_flesh_functions_##name(void);
SBS_EACH_ISA(DECLARE)

sbs_flesh_functions sbs_flesh_choose_functions(sbs_isa isa) {
  switch (isa) {
    SBS_EACH_ISA(CHOOSE)
    default: return (sbs_flesh_functions){0};
  }
}

void sbs_flesh_place_state(sbs_flesh_state *state, const sbs_flesh *flesh, sbs_arena *arena) {
  *state = (sbs_flesh_state){
      .flesh = flesh,
      .y = sbs_arena_take(arena, flesh->count, sizeof *state->y),
      .start = sbs_arena_take(arena, flesh->count, sizeof *state->start),
      .corners = sbs_arena_take(arena, 3 * flesh->triangle_count + 2 * flesh->cap_count, sizeof *state->corners),
      .bent = sbs_arena_take(arena, flesh->count, sizeof *state->bent),
      .residual = sbs_arena_take(arena, flesh->count, sizeof *state->residual),
      .right = sbs_arena_take(arena, flesh->free_count, sizeof *state->right),
      .before = sbs_arena_take(arena, flesh->free_count, sizeof *state->before),
      .top = sbs_arena_take(arena, flesh->panels.group_count, (flesh->panels.top_count + 1) * sizeof *state->top),
      .bones = sbs_arena_take(arena, flesh->joint_count, sizeof *state->bones),
      .planes = sbs_arena_take(arena, flesh->hinge_count, sizeof *state->planes),
      .apexes = sbs_arena_take(arena, flesh->part_count, sizeof *state->apexes),
      .volumes = sbs_arena_take(arena, flesh->part_count, sizeof *state->volumes),
      .squares = sbs_arena_take(arena, flesh->part_count, sizeof *state->squares),
      .pressures = sbs_arena_take(arena, flesh->part_count, sizeof *state->pressures)};
}

void sbs_flesh_place_pieces(sbs_flesh_state *state) {
  const sbs_flesh *flesh = state->flesh;
  for (size_t p = 0; p < flesh->part_count; p++) {
    if (flesh->parts[p].joint >= 0) continue;
    double sums[3] = {0.0};
    const size_t begin = flesh->part_starts[p], end = flesh->part_starts[p + 1];
    for (size_t i = begin; i < end; i++) {
      const int32_t *corners = flesh->triangles[flesh->part_triangles[i]].corners;
      for (size_t c = 0; c < 9; c++) sums[c % 3] += (double)state->y[corners[c / 3]][c % 3];
    }
    for (size_t axis = 0; axis < 3; axis++)
      state->apexes[p][axis] = (float)(sums[axis] / (3.0 * (double)(end - begin)));
  }
}

typedef struct shared_work {
  const sbs_flesh_state *state;
  sbs_flesh_work *work;
} shared_work;

static sbs_status do_chunk(void *context, sbs_share things, int worker) {
  const shared_work *in = context;
  (void)worker;
  in->work(in->state, things.begin, things.end);
  return SBS_OK;
}

static sbs_status share(const sbs_flesh_state *state, sbs_flesh_work *work, size_t count, size_t chunk, int threads) {
  shared_work context = {state, work};
  return sbs_share_work(threads, count, chunk, do_chunk, &context);
}

/* Groups of panels that are solved. */
typedef struct shared_groups {
  const sbs_flesh_state *state;
  int is_backwards;
} shared_groups;

static sbs_status do_groups(void *context, sbs_share things, int worker) {
  const shared_groups *in = context;
  const sbs_panels *panels = &in->state->flesh->panels;
  const sbs_flesh_functions functions = sbs_flesh_choose_functions(in->state->flesh->isa);
  (void)worker;
  for (size_t group = things.begin; group < things.end; group++) {
    if (in->is_backwards) {
      functions.solve_backwards(panels, group, in->state->right);
      continue;
    }
    sbs_point4 *top = in->state->top + group * panels->top_count;
    memset(top, 0, panels->top_count * sizeof *top);
    functions.solve_forwards(panels, group, in->state->right, top);
  }
  return SBS_OK;
}

/* A solution by threads: groups forwards, the top forwards and backwards, groups backwards. */
static sbs_status solve(const sbs_flesh_state *state, int threads) {
  const sbs_panels *panels = &state->flesh->panels;
  const sbs_flesh_functions functions = sbs_flesh_choose_functions(state->flesh->isa);
  const size_t groups = panels->group_count - 1;
  shared_groups forwards = {state, 0}, backwards = {state, 1};
  sbs_status status = sbs_share_work(threads, groups, 1, do_groups, &forwards);
  if (status) return status;
  for (size_t i = 0; i < panels->top_count; i++) {
    float *to = state->right[panels->top_rows[i]];
    for (size_t group = 0; group < groups; group++) {
      for (size_t axis = 0; axis < 3; axis++) to[axis] += state->top[group * panels->top_count + i][axis];
    }
  }
  functions.solve_forwards(panels, groups, state->right, NULL);
  functions.solve_backwards(panels, groups, state->right);
  return sbs_share_work(threads, groups, 1, do_groups, &backwards);
}

/*
 * A part's volume changes by g . K^-1 g for each unit of its pressure, g being the gradient of the volume: at rest, for
 * all poses.
 */
sbs_status sbs_flesh_set_pressures(sbs_flesh *flesh) {
  const sbs_flesh_functions functions = sbs_flesh_choose_functions(flesh->isa);
  sbs_arena arena = sbs_arena_from(&flesh->allocator);
  sbs_flesh_state state;
  sbs_flesh_place_state(&state, flesh, &arena);
  sbs_point4 *gradient = sbs_arena_take(&arena, flesh->count, sizeof *gradient);
  sbs_status status = arena.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
  if (!status) {
    for (size_t i = 0; i < 4 * flesh->count; i++) {
      state.y[i / 4][i % 4] = i % 4 < 3 ? (float)flesh->rest[i / 4 * 3 + i % 4] : 0.0f;
    }
    for (size_t i = 0; i < 3 * flesh->part_count; i++) {
      state.apexes[i / 3][i % 3] = (float)flesh->parts[i / 3].apex[i % 3];
    }
    functions.measure(&state, 0, flesh->part_count);
  }
  for (size_t p = 0; p < flesh->part_count && !status; p++) {
    status = sbs_tell((double)p / (double)flesh->part_count);
    memset(gradient, 0, flesh->count * sizeof *gradient);
    functions.add_gradient(&state, p, gradient);
    for (size_t i = 0; i < flesh->free_count; i++)
      memcpy(state.right[i], gradient[flesh->free_vertices[i]], sizeof *gradient);
    status = solve(&state, 1);
    double answer = 0.0;
    for (size_t i = 0; i < 4 * flesh->free_count; i++) {
      answer += (double)gradient[flesh->free_vertices[i / 4]][i % 4] * (double)state.right[i / 4][i % 4];
    }
    flesh->parts[p].volume = (double)state.volumes[p];
    flesh->parts[p].squares = (double)state.squares[p];
    flesh->parts[p].strength = answer > 0.0 && isfinite(1.0 / answer) ? ANSWER / answer : 0.0;
  }
  sbs_arena_release(&arena);
  return status;
}

/* ------------------------------------------------------------------------------------------------------- a pose -- */

/* A pose of flesh: from rest positions in units of the mesh's size to deformed ones in those of the pose. */
typedef struct posed {
  const sbs_pose *pose;
  double size, middle[3]; /* of deformed positions */
} posed;

static void read_matrix(const sbs_pose *pose, size_t joint, double linear[9], double move[3]) {
  for (size_t i = 0; i < 12; i++) {
    const double number = sbs_scalar_get(pose->skinning_matrices, pose->scalar, joint * 4 * pose->rows + i);
    *(i % 4 < 3 ? linear + i / 4 * 3 + i % 4 : move + i / 4) = number;
  }
}

static void move_point(const sbs_flesh *flesh, const posed *in, size_t joint, const double *point, double out[3]) {
  double linear[9], move[3], at[3];
  read_matrix(in->pose, joint, linear, move);
  for (int i = 0; i < 3; i++) at[i] = flesh->size * point[i] + flesh->middle[i];
  for (int i = 0; i < 3; i++) out[i] = (sbs_dot(linear + 3 * i, at) + move[i] - in->middle[i]) / in->size;
}

static void move_direction(const posed *in, size_t joint, const double *direction, double out[3]) {
  double linear[9], move[3];
  read_matrix(in->pose, joint, linear, move);
  sbs_apply(linear, direction, out);
  const double length = sqrt(sbs_dot(out, out));
  for (int i = 0; i < 3; i++) out[i] = length > 0.0 ? out[i] / length : direction[i];
}

static void set_plane(const sbs_flesh *flesh, const posed *in, const sbs_flesh_hinge *hinge, sbs_flesh_plane *plane) {
  double point[3], own[3], above[3], between[3], inward[3];
  move_point(flesh, in, (size_t)hinge->joint, hinge->point, point);
  move_direction(in, (size_t)hinge->joint, hinge->along, own);
  move_direction(in, (size_t)hinge->parent, hinge->above, above);
  for (int i = 0; i < 3; i++) between[i] = own[i] + above[i], inward[i] = own[i] - above[i];
  const double length = sqrt(sbs_dot(between, between)), bent = sqrt(sbs_dot(inward, inward));
  /* Of bones that lie in each other no plane is known. */
  const double strength = sbs_smooth_step((bent - BENT_FROM) / (BENT_TO - BENT_FROM)) * sbs_smooth_step(5.0 * length);
  *plane = (sbs_flesh_plane){.strength = (float)strength};
  if (!(strength > 0.0)) return;
  for (int i = 0; i < 3; i++)
    plane->normal[i] = (float)(between[i] / length), plane->inward[i] = (float)(inward[i] / bent);
  plane->offset = (float)(-sbs_dot(between, point) / length);
  plane->inward_offset = (float)(-sbs_dot(inward, point) / bent);
}

static void set_pose(sbs_flesh_state *state, const posed *in) {
  const sbs_flesh *flesh = state->flesh;
  for (size_t j = 0; j < flesh->joint_count; j++) {
    double ends[6];
    move_point(flesh, in, j, flesh->bones + 6 * j, ends);
    move_point(flesh, in, j, flesh->bones + 6 * j + 3, ends + 3);
    double along[3];
    for (size_t i = 0; i < 3; i++) {
      along[i] = ends[3 + i] - ends[i];
      state->bones[j][i] = (float)ends[i];
      state->bones[j][4 + i] = (float)along[i];
    }
    const double inverse = 1.0 / sbs_dot(along, along);
    state->bones[j][3] = isfinite(inverse) && inverse < (double)FLT_MAX ? (float)inverse : 0.0f;
    state->bones[j][7] = 0.0f;
  }
  for (size_t h = 0; h < flesh->hinge_count; h++) set_plane(flesh, in, flesh->hinges + h, state->planes + h);
  for (size_t p = 0; p < flesh->part_count; p++) {
    double apex[3] = {0.0};
    if (flesh->parts[p].joint >= 0) move_point(flesh, in, (size_t)flesh->parts[p].joint, flesh->parts[p].apex, apex);
    for (int i = 0; i < 3; i++) state->apexes[p][i] = (float)apex[i];
    state->pressures[p] = 0.0f;
  }
  sbs_flesh_place_pieces(state);
}

/* ------------------------------------------------------------------------------------------------------- steps -- */

/*
 * How far a step goes from the positions before the last one: Chebyshev's semi-iterative method, which lets eight steps
 * do the work of twelve. The first steps are plain, as forces change most there.
 *
 *   Wang, H. 2015. A Chebyshev Semi-Iterative Approach for Accelerating Projective and Position-Based Dynamics. ACM
 *   Transactions on Graphics 34(6).
 */
static float find_pace(size_t step, float last) {
  if (step < PLAIN_STEPS) return 1.0f;
  return step == PLAIN_STEPS ? 2.0f / (2.0f - RADIUS * RADIUS) : 4.0f / (4.0f - RADIUS * RADIUS * last);
}

/* A part that is larger than at rest answers more to pressure, about by the squares of its triangles' areas. */
static void add_to_pressure(const sbs_flesh_part *part, double volume, double squares, float *pressure) {
  const double larger = part->squares > 0.0 ? squares / part->squares : 1.0;
  *pressure += (float)(part->strength * (part->volume - volume) * 2.0 / (1.0 + larger));
}

static sbs_status take_steps(sbs_flesh_state *state, size_t steps, int threads) {
  const sbs_flesh *flesh = state->flesh;
  const sbs_flesh_functions functions = sbs_flesh_choose_functions(flesh->isa);
  sbs_status status = SBS_OK;
  for (size_t i = 0; i < flesh->free_count; i++)
    memcpy(state->before[i], state->y[flesh->free_vertices[i]], sizeof *state->y);
  for (size_t step = 0; step < steps && !status; step++) {
    state->pace = find_pace(step, state->pace);
    status = sbs_tell((double)step / (double)steps);
    if (!status) status = share(state, functions.measure, flesh->part_count, 1, threads);
    for (size_t p = 0; p < flesh->part_count && !status; p++) {
      add_to_pressure(flesh->parts + p, (double)state->volumes[p], (double)state->squares[p], state->pressures + p);
    }
    if (!status) status = share(state, functions.project, flesh->triangle_count, CHUNK, threads);
    if (!status) status = share(state, functions.close, flesh->rim_count, 1, threads);
    if (!status) status = share(state, functions.gather, flesh->count, CHUNK, threads);
    if (!status) status = share(state, functions.finish, flesh->free_count, CHUNK, threads);
    if (!status) status = solve(state, threads);
    if (!status) status = share(state, functions.go, flesh->free_count, CHUNK, threads);
  }
  return status;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* How much joints scale the mesh: the median of their determinants' roots. */
static double find_scale(const sbs_flesh *flesh, const sbs_pose *pose, double *scales) {
  for (size_t j = 0; j < flesh->joint_count; j++) {
    double linear[9], move[3];
    read_matrix(pose, j, linear, move);
    scales[j] = cbrt(fabs(sbs_determinant(linear)));
  }
  qsort(scales, flesh->joint_count, sizeof *scales, compare);
  const double scale = scales[flesh->joint_count / 2];
  return isfinite(scale) && scale > 1e-30 && fabs(scale - 1.0) > 1e-6 ? scale : 1.0;
}

/* Vectors of vertices that are changed. */
typedef struct vectors {
  char *first; /* or NULL */
  size_t stride;
  sbs_scalar scalar;
} vectors;

static vectors make_vectors(void *first, size_t stride, sbs_scalar scalar) {
  return (vectors){first, stride ? stride : 3 * sbs_scalar_size(scalar), scalar};
}

static void read_vector(const vectors *in, size_t vertex, double out[3]) {
  for (size_t i = 0; i < 3; i++) out[i] = sbs_scalar_get(in->first + vertex * in->stride, in->scalar, i);
}

static void write_vector(const vectors *in, size_t vertex, const double v[3]) {
  for (size_t i = 0; i < 3; i++) sbs_scalar_put(in->first + vertex * in->stride, in->scalar, i, v[i]);
}

static sbs_status check(const sbs_flesh *flesh, const sbs_pose *pose, size_t steps, double amount, sbs_scalar scalar,
                        const void *positions, size_t stride, const void *normals, size_t normals_stride, int threads,
                        sbs_fault *fault) {
  if (!flesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "flesh");
  if (!pose) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  if (!positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "positions");
  if (!sbs_scalar_is_valid(scalar)) return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)scalar, 0.0);
  if (!steps || steps > SBS_FLESH_MOST_STEPS) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "steps", (double)steps, SBS_FLESH_MOST_STEPS);
  }
  if (!(amount >= 0.0 && amount <= 1.0)) return sbs_fault_number(fault, SBS_ERROR_OPTION, "amount", amount, 1.0);
  if (threads < 0) return sbs_fault_number(fault, SBS_ERROR_NEGATIVE, "threads", threads, 0.0);
  sbs_status status =
      sbs_validate_vectors(positions, stride, scalar, flesh->vertex_count, "positions", "positions_stride", fault);
  if (!status && normals) {
    status =
        sbs_validate_vectors(normals, normals_stride, scalar, flesh->vertex_count, "normals", "normals_stride", fault);
  }
  return status ? status : sbs_check_bounded_poses(pose, 1, flesh->joint_count, fault);
}

static int is_finite(const float *point) {
  return isfinite(point[0]) && isfinite(point[1]) && isfinite(point[2]);
}

/* The normal of the surface around a vertex; 0 of none. */
static void find_normal(const sbs_flesh *flesh, sbs_point4 *positions, size_t w, double normal[3]) {
  double sum[3] = {0.0};
  for (size_t i = flesh->corner_starts[w]; i < flesh->corner_starts[w + 1]; i++) {
    if ((size_t)flesh->corners[i] >= 3 * flesh->triangle_count) continue; /* of a rim */
    const int32_t *corners = flesh->triangles[flesh->corners[i] / 3].corners;
    double ab[3], ac[3], across[3];
    for (int axis = 0; axis < 3; axis++) {
      ab[axis] = (double)positions[corners[1]][axis] - (double)positions[corners[0]][axis];
      ac[axis] = (double)positions[corners[2]][axis] - (double)positions[corners[0]][axis];
    }
    sbs_cross(ab, ac, across);
    for (int axis = 0; axis < 3; axis++) sum[axis] += across[axis];
  }
  const double length = sqrt(sbs_dot(sum, sum));
  for (int axis = 0; axis < 3; axis++) normal[axis] = length > 0.0 ? sum[axis] / length : 0.0;
}

/* Turns a vector by the smallest rotation from one direction to another. */
static void turn(const double from[3], const double to[3], double v[3]) {
  const double cosine = sbs_dot(from, to);
  if (!(cosine > -0.999)) return;
  double sum[3];
  for (int i = 0; i < 3; i++) sum[i] = from[i] + to[i];
  const double along = sbs_dot(sum, v) / (1.0 + cosine), own = 2.0 * sbs_dot(from, v);
  for (int i = 0; i < 3; i++) v[i] += own * to[i] - along * sum[i];
}

/* Writes the vertices that moved. */
static void write_results(sbs_flesh_state *state, double size, double amount, const unsigned char *is_moved,
                          const vectors *positions, const vectors *normals) {
  const sbs_flesh *flesh = state->flesh;
  /* `bent` is no longer needed, and receives where vertices go. */
  for (size_t w = 0; w < flesh->count; w++) {
    for (int i = 0; i < 3; i++) {
      state->bent[w][i] = state->start[w][i] + (float)amount * (state->y[w][i] - state->start[w][i]);
    }
  }
  for (size_t v = 0; v < flesh->vertex_count; v++) {
    const size_t w = (size_t)flesh->numbers[v];
    if (!is_moved[w] || !is_finite(state->y[w]) || !is_finite(state->start[w])) continue;
    const double share = size * amount * (flesh->amounts ? flesh->amounts[v] : 1.0);
    double at[3];
    read_vector(positions, v, at);
    for (int i = 0; i < 3; i++) at[i] += share * ((double)state->y[w][i] - (double)state->start[w][i]);
    write_vector(positions, v, at);
    if (!normals->first) continue;
    double before[3], after[3];
    find_normal(flesh, state->start, w, before);
    find_normal(flesh, state->bent, w, after);
    read_vector(normals, v, at);
    turn(before, after, at);
    write_vector(normals, v, at);
  }
}

sbs_status sbs_flesh_relax(const sbs_flesh *flesh, const sbs_pose *pose, size_t steps, double amount, sbs_scalar scalar,
                           void *positions, size_t positions_stride, void *normals, size_t normals_stride, int threads,
                           sbs_fault *fault) {
  sbs_status status =
      check(flesh, pose, steps, amount, scalar, positions, positions_stride, normals, normals_stride, threads, fault);
  if (status || !flesh->free_count || !(amount > 0.0)) return status;
  const vectors to = make_vectors(positions, positions_stride, scalar);
  const vectors to_normals = make_vectors(normals, normals_stride, scalar);
  sbs_arena arena = sbs_arena_from(&flesh->allocator);
  sbs_flesh_state state;
  sbs_flesh_place_state(&state, flesh, &arena);
  double *scales = sbs_arena_take(&arena, flesh->joint_count, sizeof *scales);
  unsigned char *is_moved = sbs_arena_take(&arena, flesh->count, 1);
  if (arena.failed) {
    sbs_arena_release(&arena);
    return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  posed in = {.pose = pose, .size = flesh->size * find_scale(flesh, pose, scales)};
  read_vector(&to, (size_t)flesh->kept[0], in.middle);
  for (size_t w = 0; w < flesh->count; w++) {
    double at[3];
    read_vector(&to, (size_t)flesh->kept[w], at);
    for (size_t i = 0; i < 4; i++) state.start[w][i] = i < 3 ? (float)((at[i] - in.middle[i]) / in.size) : 0.0f;
    is_moved[w] = 0;
  }
  for (size_t i = 0; i < flesh->free_count; i++) is_moved[flesh->free_vertices[i]] = 1;
  memcpy(state.y, state.start, flesh->count * sizeof *state.y);
  memset(state.bent, 0, flesh->count * sizeof *state.bent);
  set_pose(&state, &in);
  threads = sbs_choose_threads(threads, ITEM_TIME * (double)(flesh->triangle_count + flesh->count) * (double)steps);
  status = take_steps(&state, steps, threads);
  if (!status) write_results(&state, in.size, amount, is_moved, &to, &to_normals);
  sbs_arena_release(&arena);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}
