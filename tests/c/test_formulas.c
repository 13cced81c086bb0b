/* SPDX-License-Identifier: MIT */
/*
 * Every method against its formula written out as it stands, a vertex at a time in double, for 1 to 9 influences.
 * Joints are made from the parts that the formulas speak of, C = [R S | t], so that nothing of the library's own
 * algebra is needed; but rotation centers, which have tests of their own, are taken from it.
 */
#include <float.h>

#include "base/scalar.h"
#include "rig.h"

enum {
  JOINTS = 12,
  VERTICES = 300,
  MOST_INFLUENCES = 9
};

/* A joint as it was made: a unit quaternion, a symmetric stretch with its inverse, and a translation. */
typedef struct parts {
  double q[4], s[9], inverse_s[9], t[3];
} parts;

static void apply(const double m[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

static void rotate(const double q[4], const double v[3], double out[3]) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double m[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                       2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  apply(m, v, out);
}

static void scale_to_unit(double *v, int size) {
  double norm = 0.0;
  for (int i = 0; i < size; i++) norm += v[i] * v[i];
  for (int i = 0; i < size; i++) v[i] /= sqrt(norm);
}

static parts random_parts(uint64_t *seed, int stretched) {
  parts made;
  for (int i = 0; i < 4; i++) made.q[i] = random_between(seed, -1.0, 1.0);
  scale_to_unit(made.q, 4);
  for (int i = 0; i < 3; i++) made.t[i] = random_between(seed, -0.5, 0.5);
  /* S = sum_k s_k a_k a_k^T over the axes of another rotation */
  double axes[4];
  for (int i = 0; i < 4; i++) axes[i] = random_between(seed, -1.0, 1.0);
  scale_to_unit(axes, 4);
  memset(made.s, 0, sizeof made.s);
  memset(made.inverse_s, 0, sizeof made.inverse_s);
  for (int k = 0; k < 3; k++) {
    const double scale = stretched ? random_between(seed, 0.5, 2.0) : 1.0;
    double unit[3] = {0.0, 0.0, 0.0}, axis[3];
    unit[k] = 1.0;
    rotate(axes, unit, axis);
    for (int i = 0; i < 9; i++) {
      made.s[i] += scale * axis[i / 3] * axis[i % 3];
      made.inverse_s[i] += axis[i / 3] * axis[i % 3] / scale;
    }
  }
  return made;
}

static transform assemble(const parts *joint) {
  transform made;
  for (int k = 0; k < 3; k++) {
    double turned[3];
    rotate(joint->q, joint->s + 3 * k, turned); /* S is symmetric: its rows are its columns */
    for (int i = 0; i < 3; i++) made.m[i][k] = turned[i];
  }
  for (int i = 0; i < 3; i++) made.m[i][3] = joint->t[i];
  return made;
}

/* --------------------------------------------------------------------------------------------------------- formulas */

/* What a formula reads. */
typedef struct vertex {
  const parts *joints;
  const int32_t *indices;
  double weights[MOST_INFLUENCES]; /* of sum 1 */
  size_t influences, heaviest;
  double v[3], n[3];
  double f[3], z[3]; /* what is stretched about f is turned about z from there on */
} vertex;

static const parts *joint_of(const vertex *at, size_t k) {
  return at->joints + at->indices[k];
}

/* C_i v */
static void move(const parts *joint, const double v[3], double out[3]) {
  double stretched[3];
  apply(joint->s, v, stretched);
  rotate(joint->q, stretched, out);
  for (int i = 0; i < 3; i++) out[i] += joint->t[i];
}

/* C_i^-T n = R_i S_i^-1 n */
static void turn_normal(const parts *joint, const double n[3], double out[3]) {
  double stretched[3];
  apply(joint->inverse_s, n, stretched);
  rotate(joint->q, stretched, out);
}

/* sum w_i m_i x for S_i or S_i^-1 */
static void blend_stretch(const vertex *at, int inverse, const double x[3], double out[3]) {
  out[0] = out[1] = out[2] = 0.0;
  for (size_t k = 0; k < at->influences; k++) {
    double stretched[3];
    apply(inverse ? joint_of(at, k)->inverse_s : joint_of(at, k)->s, x, stretched);
    for (int i = 0; i < 3; i++) out[i] += at->weights[k] * stretched[i];
  }
}

/* The sign of q_i for which (q_p, q_i) >= 0 */
static double sign_of(const vertex *at, size_t k) {
  const double *p = joint_of(at, at->heaviest)->q, *q = joint_of(at, k)->q;
  return p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] < 0.0 ? -1.0 : 1.0;
}

static void by_rigid(const vertex *at, double v[3], double n[3]) {
  move(joint_of(at, at->heaviest), at->v, v);
  turn_normal(joint_of(at, at->heaviest), at->n, n);
}

static void by_linear(const vertex *at, double v[3], double n[3]) {
  for (int i = 0; i < 3; i++) v[i] = n[i] = 0.0;
  for (size_t k = 0; k < at->influences; k++) {
    double moved[3], turned[3];
    move(joint_of(at, k), at->v, moved);
    turn_normal(joint_of(at, k), at->n, turned);
    for (int i = 0; i < 3; i++) v[i] += at->weights[k] * moved[i];
    for (int i = 0; i < 3; i++) n[i] += at->weights[k] * turned[i];
  }
}

/*
 * v' = Q (sum w_i S_i (v - f) - z) + sum w_i (R_i z + C_i f): Kavan & Zara 2005, eq. (9), about c = f + z where the
 * joints are rigid.
 */
static void by_spherical(const vertex *at, double v[3], double n[3]) {
  double q[4] = {0.0, 0.0, 0.0, 0.0}, relative[3], stretched[3];
  for (size_t k = 0; k < at->influences; k++) {
    for (int i = 0; i < 4; i++) q[i] += at->weights[k] * sign_of(at, k) * joint_of(at, k)->q[i];
  }
  scale_to_unit(q, 4);
  for (int i = 0; i < 3; i++) relative[i] = at->v[i] - at->f[i];
  blend_stretch(at, 0, relative, stretched);
  for (int i = 0; i < 3; i++) stretched[i] -= at->z[i];
  rotate(q, stretched, v);
  for (size_t k = 0; k < at->influences; k++) {
    double moved[3], turned[3];
    move(joint_of(at, k), at->f, moved);
    rotate(joint_of(at, k)->q, at->z, turned);
    for (int i = 0; i < 3; i++) v[i] += at->weights[k] * (moved[i] + turned[i]);
  }
  blend_stretch(at, 1, at->n, stretched);
  rotate(q, stretched, n);
}

/* p q */
static void multiply_quaternions(const double p[4], const double q[4], double out[4]) {
  out[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
  out[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
  out[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
  out[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}

/*
 * Kavan et al. 2007: the blend of q_i + e t_i q_i / 2, over its norm; its translation is 2 d q*. About the vertex,
 * where t_i = C_i v.
 */
static void by_dual_quaternion(const vertex *at, double v[3], double n[3]) {
  double q[4] = {0.0, 0.0, 0.0, 0.0}, d[4] = {0.0, 0.0, 0.0, 0.0}, norm = 0.0, stretched[3], shift[4];
  for (size_t k = 0; k < at->influences; k++) {
    const parts *joint = joint_of(at, k);
    const double amount = at->weights[k] * sign_of(at, k);
    double dual[4], t[4] = {0.0};
    move(joint, at->v, t + 1);
    multiply_quaternions(t, joint->q, dual);
    for (int i = 0; i < 4; i++) q[i] += amount * joint->q[i];
    for (int i = 0; i < 4; i++) d[i] += amount * 0.5 * dual[i];
  }
  for (int i = 0; i < 4; i++) norm += q[i] * q[i];
  for (int i = 0; i < 4; i++) q[i] /= sqrt(norm);
  for (int i = 0; i < 4; i++) d[i] /= sqrt(norm);
  const double conjugate[4] = {q[0], -q[1], -q[2], -q[3]};
  multiply_quaternions(d, conjugate, shift);
  for (int i = 0; i < 3; i++) v[i] = 2.0 * shift[1 + i];
  blend_stretch(at, 1, at->n, stretched);
  rotate(q, stretched, n);
}

static const struct {
  sbs_method method;
  void (*formula)(const vertex *at, double v[3], double n[3]);
} formulas[] = {{SBS_METHOD_RIGID, by_rigid},
                {SBS_METHOD_LINEAR, by_linear},
                {SBS_METHOD_SPHERICAL, by_spherical},
                {SBS_METHOD_DUAL_QUATERNION, by_dual_quaternion}};

/* ------------------------------------------------------------------------------------------------------- comparison */

/* Where each joint set has its center and its centroid: the library's reference point, as no joint has a position. */
typedef struct set_points {
  int32_t sets[VERTICES]; /* of the vertices */
  double centers[VERTICES][3], centroids[VERTICES][3];
} set_points;

static void find_centroids(const rig *made, set_points *points) {
  static double counts[VERTICES];
  memset(counts, 0, sizeof counts);
  memset(points->centroids, 0, sizeof points->centroids);
  for (size_t v = 0; v < VERTICES; v++) {
    for (size_t i = 0; i < 3; i++) points->centroids[points->sets[v]][i] += made->positions[3 * v + i];
    counts[points->sets[v]]++;
  }
  for (size_t set = 0; set < VERTICES && counts[set] > 0.0; set++) {
    for (size_t i = 0; i < 3; i++) points->centroids[set][i] /= counts[set];
  }
}

/* The root of the mean square that joints scale by. */
static double scale_of(const vertex *at) {
  double sum = 0.0;
  size_t count = 0;
  for (size_t k = 0; k < at->influences; k++) {
    if (at->weights[k] == 0.0) continue;
    for (int i = 0; i < 9; i++) sum += joint_of(at, k)->s[i] * joint_of(at, k)->s[i] / 3.0;
    count++;
  }
  return sqrt(sum / (double)count);
}

static vertex vertex_of(const rig *made, const parts *joints, const set_points *points, size_t v) {
  vertex at = {.joints = joints, .indices = made->joint_indices + v * made->influences, .influences = made->influences};
  double sum = 0.0;
  for (size_t k = 0; k < at.influences; k++) sum += made->joint_weights[v * made->influences + k];
  for (size_t k = 0; k < at.influences; k++) at.weights[k] = made->joint_weights[v * made->influences + k] / sum;
  for (size_t k = 1; k < at.influences; k++) {
    if (at.weights[k] > at.weights[at.heaviest]) at.heaviest = k;
  }
  const double *center = points->centers[points->sets[v]], *centroid = points->centroids[points->sets[v]];
  const double scale = scale_of(&at);
  for (size_t i = 0; i < 3; i++) {
    at.v[i] = made->positions[3 * v + i];
    at.n[i] = made->normals[3 * v + i];
    at.f[i] = centroid[i];
    at.z[i] = scale * (center[i] - centroid[i]);
  }
  return at;
}

/* Whether the sign of some quaternion is a toss, which rounding of the matrices may turn. */
static int is_ambiguous(const vertex *at) {
  for (size_t k = 0; k < at->influences; k++) {
    const double *p = joint_of(at, at->heaviest)->q, *q = joint_of(at, k)->q;
    if (fabs(p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]) < 1e-6) return 1;
  }
  return 0;
}

static double distance(const double *a, const double *b) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/*
 * Whether a position is as near as the header promises, a little more for joints that turn further than those of
 * characters do. float32: 2.5e-7 of the mesh's size, 1e-6 about centers, and half an ulp of the output. float64: some
 * roundings; and the formula itself, as it stands, loses as much as the center is far away.
 */
static int is_near(const double found[3], const double expected[3], sbs_scalar scalar, sbs_method method,
                   double center_distance) {
  const double size = sqrt(12.0); /* the diagonal of the cube from -1 to 1 */
  for (int i = 0; i < 3; i++) {
    double tolerance = 8.0 * DBL_EPSILON;
    if (scalar == SBS_FLOAT32) {
      const float magnitude = fabsf((float)found[i]);
      tolerance = (method == SBS_METHOD_SPHERICAL ? 1e-6 : 2.5e-7) * size +
                  0.5 * (double)(nextafterf(magnitude, INFINITY) - magnitude);
    }
    if (!(fabs(found[i] - expected[i]) <= tolerance + 16.0 * DBL_EPSILON * center_distance)) return 0;
  }
  return 1;
}

/* Normals are as good as their type holds them, and lose as much as the blended normal is short. */
static void check_method(const rig *made, const parts *joints, sbs_scalar scalar, size_t which, int with_normals) {
  transform matrices[JOINTS];
  for (int j = 0; j < JOINTS; j++) matrices[j] = assemble(joints + j);
  sbs_skin *skin = bind_rig(made, scalar, with_normals);
  const sbs_pose pose = pose_of(matrices);
  sbs_deform_options options = sbs_default_deform_options();
  options.method = formulas[which].method;
  static double positions[VERTICES][3], normals[VERTICES][3];
  static set_points points;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, positions, with_normals ? normals : NULL, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_rotation_centers(skin, &pose, NULL, points.centers[0], NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_joint_set_of_vertex(skin, points.sets), SBS_OK);
  find_centroids(made, &points);

  const double epsilon = sbs_scalar_epsilon(scalar);
  const double zero[3] = {0.0, 0.0, 0.0};
  int compared = 0, wrong_positions = 0, wrong_normals = 0;
  for (size_t v = 0; v < VERTICES; v++) {
    const vertex at = vertex_of(made, joints, &points, v);
    if (is_ambiguous(&at)) continue;
    double moved[3], turned[3], found[3], found_normal[3];
    formulas[which].formula(&at, moved, turned);
    for (size_t i = 0; i < 3; i++) found[i] = sbs_scalar_get(positions, scalar, 3 * v + i);
    wrong_positions +=
        !is_near(found, moved, scalar, formulas[which].method, distance(at.z, zero) + distance(at.f, at.v));
    compared++;
    if (!with_normals) continue;
    const double length = distance(turned, zero) / distance(at.n, zero);
    scale_to_unit(turned, 3);
    for (size_t i = 0; i < 3; i++) found_normal[i] = sbs_scalar_get(normals, scalar, 3 * v + i);
    wrong_normals += !(distance(found_normal, turned) <= 8.0 * epsilon / fmin(1.0, length));
    wrong_normals += !(fabs(distance(found_normal, zero) - 1.0) <= 8.0 * epsilon);
  }
  CHECK(compared > VERTICES * 9 / 10);
  CHECK_EQUAL(wrong_positions, 0);
  CHECK_EQUAL(wrong_normals, 0);
  sbs_skin_free(skin);
}

/* Also with normals, in both types. */
static void check_methods(const rig *made, const parts *joints) {
  for (size_t which = 0; which < sizeof formulas / sizeof *formulas; which++) {
    for (int with_normals = 0; with_normals < 2; with_normals++) {
      check_method(made, joints, SBS_FLOAT32, which, with_normals);
      check_method(made, joints, SBS_FLOAT64, which, with_normals);
    }
  }
}

static void check_all_influences(const parts *joints) {
  for (size_t influences = 1; influences <= MOST_INFLUENCES; influences++) {
    rig made = new_rig(influences, VERTICES, JOINTS, influences);
    check_methods(&made, joints);
    free_rig(&made);
  }
}

static void test_rigid_joints(void) {
  uint64_t seed = 1;
  parts joints[JOINTS];
  for (int j = 0; j < JOINTS; j++) joints[j] = random_parts(&seed, 0);
  check_all_influences(joints);
}

static void test_stretched_joints(void) {
  uint64_t seed = 2;
  parts joints[JOINTS];
  for (int j = 0; j < JOINTS; j++) joints[j] = random_parts(&seed, 1);
  check_all_influences(joints);
}

/* One joint that is not rigid has all vertices go through the kernels that stretch. */
static void test_one_stretched_joint(void) {
  uint64_t seed = 3;
  parts joints[JOINTS];
  for (int j = 0; j < JOINTS; j++) joints[j] = random_parts(&seed, j == 5);
  check_all_influences(joints);
}

/* Vertices of 1 to 5 influences side by side, so that there are sets of all sizes. */
static void test_mixed_influences(void) {
  uint64_t seed = 4;
  rig made = new_rig(4, VERTICES, JOINTS, 5);
  for (size_t v = 0; v < VERTICES; v++) {
    for (size_t k = 1 + v % 5; k < 5; k++) made.joint_weights[5 * v + k] = 0.0;
  }
  for (int stretched = 0; stretched < 2; stretched++) {
    parts joints[JOINTS];
    for (int j = 0; j < JOINTS; j++) joints[j] = random_parts(&seed, stretched && j % 2);
    check_methods(&made, joints);
  }
  free_rig(&made);
}

/* Turned by any angle about nearly one axis, all through one point that is far away on it: their center. */
static parts far_parts(uint64_t *seed, double far) {
  static const double direction[3] = {0.48, 0.6, -0.64};
  parts made = random_parts(seed, 0);
  double axis[3], point[3], moved[3];
  for (int i = 0; i < 3; i++) axis[i] = direction[i] + random_between(seed, -1.0, 1.0) / far;
  for (int i = 0; i < 3; i++) point[i] = far * direction[i];
  scale_to_unit(axis, 3);
  const double half = random_between(seed, -1.5, 1.5);
  made.q[0] = cos(half);
  for (int i = 0; i < 3; i++) made.q[1 + i] = sin(half) * axis[i];
  rotate(made.q, point, moved);
  for (int i = 0; i < 3; i++) made.t[i] = point[i] - moved[i];
  return made;
}

static void test_centers_far_away(void) {
  uint64_t seed = 5;
  for (double far = 10.0; far < 2000.0; far *= 3.0) {
    parts joints[JOINTS];
    for (int j = 0; j < JOINTS; j++) joints[j] = far_parts(&seed, far);
    for (size_t influences = 2; influences < 6; influences++) {
      rig made = new_rig(influences, VERTICES, JOINTS, influences);
      check_methods(&made, joints);
      free_rig(&made);
    }
  }
}

static void run_all(void) {
  RUN(test_rigid_joints);
  RUN(test_stretched_joints);
  RUN(test_one_stretched_joint);
  RUN(test_mixed_influences);
  RUN(test_centers_far_away);
}

int main(void) {
  run_with_every_instruction_set(run_all);
  return harness_result();
}
