// SPDX-License-Identifier: MIT
//
// Spherical blend skinning in a shader: GLSL ES 3.00, GLSL 3.30 and later. engines/wgsl/spherical.wgsl is the same in
// WGSL. Kavan and Zara, Spherical blend skinning, 2005; their equation (9) is
//
//   v' = Q (v - c) + sum w_i C_i c
//      = sum w_i C_i v + (Q - M) (v - c),   M = sum w_i R_i
//
// where R_i is the rotation of the matrix C_i, c the rotation center, and Q the rotation of the quaternion sum w_i q_i
// of equation (6). The second form is linear blending and a correction, which an amount from 0 to 1 may scale.
//
// Whoever calls this loops over the influences of a vertex, heaviest first, with matrices and quaternions as
// sbs_pose_palette writes them and influences as sbs_skin_influences does:
//
//   SbsSums sums = sbs_begin(weights[0], joint(joints[0]), quaternion(joints[0]));
//   for (int i = 1; i < 4; i++) sums = sbs_add(sums, weights[i], joint(joints[i]), quaternion(joints[i]));
//   vec3 moved = sbs_about_own_center(sums, position, center, amount);
//   vec3 turned = sbs_normal(sums, normal, amount);

// The rotation of a quaternion (x, y, z, w), times its squared length.
vec3 sbs_turn(vec4 q, vec3 v) {
  return (q.w * q.w - dot(q.xyz, q.xyz)) * v + 2.0 * (dot(q.xyz, v) * q.xyz + q.w * cross(q.xyz, v));
}

// The matrix of the same.
mat3 sbs_matrix(vec4 q) {
  return mat3(sbs_turn(q, vec3(1.0, 0.0, 0.0)), sbs_turn(q, vec3(0.0, 1.0, 0.0)), sbs_turn(q, vec3(0.0, 0.0, 1.0)));
}

// A quaternion of length 1; that of no rotation for a joint that is scaled to nothing, whose quaternion is 0. That of a
// rigid joint is taken as it is, which is more precise than dividing it by its length.
vec4 sbs_unit(vec4 q) {
  if (abs(dot(q, q) - 1.0) < 1e-6) {
    return q;
  }
  return normalize(q + vec4(0.0, 0.0, 0.0, 1e-18));
}

// What is summed up over the influences of a vertex. With q_p the quaternion of the heaviest joint, and q_i in its
// hemisphere (2005, section 4.2), d_i = q_i - q_p. Small numbers keep their digits in sums of d_i, and weights that
// do not quite sum up to 1 do not matter.
struct SbsSums {
  mat4x3 blend;  // sum w_i C_i, the matrix of linear blending
  float scale;   // sum w_i s_i, s_i the scales of joints
  vec4 first;    // q_p
  vec4 mean;     // sum w_i d_i
  vec4 squares;  // sum w_i (xx, yy, zz, ww), where d_i = (x, y, z, w)
  vec3 axial;    // sum w_i (xw, yw, zw)
  vec3 mixed;    // sum w_i (yz, zx, xy)
};

// The sums of a vertex's heaviest influence. A vertex without weights stays where it is.
//
//   joint       C_i, affine: three columns that turn and scale, and a translation
//   quaternion  that of R_i, of either sign, times the root of the joint's scale
SbsSums sbs_begin(float weight, mat4x3 joint, vec4 quaternion) {
  SbsSums sums;
  sums.blend = weight * joint;
  sums.scale = weight * dot(quaternion, quaternion);
  sums.first = sbs_unit(quaternion);
  if (weight <= 0.0) {
    sums.blend = mat4x3(vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0), vec3(0.0, 0.0, 0.0));
    sums.scale = 1.0;
    sums.first = vec4(0.0, 0.0, 0.0, 1.0);
  }
  sums.mean = vec4(0.0);
  sums.squares = vec4(0.0);
  sums.axial = vec3(0.0);
  sums.mixed = vec3(0.0);
  return sums;
}

// The sums with one more influence.
SbsSums sbs_add(SbsSums before, float weight, mat4x3 joint, vec4 quaternion) {
  SbsSums sums = before;
  vec4 q = sbs_unit(quaternion);
  if (dot(q, sums.first) < 0.0) {
    q = -q;
  }
  vec4 d = q - sums.first;
  vec4 share = weight * d;
  sums.blend += weight * joint;
  sums.scale += weight * dot(quaternion, quaternion);
  sums.mean += share;
  sums.squares += share * d;
  sums.axial += share.xyz * d.w;
  sums.mixed += share.yzx * d.zxy;
  return sums;
}

// Linear blending.
vec3 sbs_linear(SbsSums sums, vec3 position) {
  return sums.blend * vec4(position, 1.0);
}

// The deformed position about a center that is near the vertex, as optimized centers are.
vec3 sbs_about_own_center(SbsSums sums, vec3 position, vec3 center, float amount) {
  vec4 s = sums.first + sums.mean;
  vec3 arm = position - center;
  mat3 m = mat3(sums.blend[0], sums.blend[1], sums.blend[2]);
  return sbs_linear(sums, position) + amount * (sums.scale / dot(s, s) * sbs_turn(s, arm) - m * arm);
}

// (Q - M) arm. With K = sum w_i d_i d_i^T - mean mean^T, the covariance of the quaternions, and s = q_p + mean,
//
//   Q - M = trace(K) / |s|^2 turn(s) - spread(K)
//
// where spread(K) sums up over K what turn(q) sums up over q q^T. Both terms are of second order in d_i, so nothing
// cancels, however long the arm is.
vec3 sbs_correction(SbsSums sums, vec3 arm) {
  vec4 s = sums.first + sums.mean;
  vec4 squares = sums.squares - sums.mean * sums.mean;
  vec3 axial = sums.axial - sums.mean.xyz * sums.mean.w;
  vec3 mixed = sums.mixed - sums.mean.yzx * sums.mean.zxy;
  float trace = squares.x + squares.y + squares.z + squares.w;
  vec3 diagonal = (2.0 * squares.w - trace) * arm + 2.0 * squares.xyz * arm;
  vec3 others = cross(axial, arm) + mixed.zxy * arm.yzx + mixed.yzx * arm.zxy;
  return trace / dot(s, s) * sbs_turn(s, arm) - (diagonal + 2.0 * others);
}

// The deformed position about a center that may be far away, as those of joint sets may be.
vec3 sbs_about_center(SbsSums sums, vec3 position, vec3 center, float amount) {
  return sbs_linear(sums, position) + amount * sums.scale * sbs_correction(sums, position - center);
}

// A vector of length 1; 0 stays 0.
vec3 sbs_direction(vec3 v) {
  return v * inversesqrt(max(dot(v, v), 1e-37));
}

// A direction across the surface: Q of its amount, and linear blending of the rest.
vec3 sbs_normal(SbsSums sums, vec3 normal, float amount) {
  vec3 turned = sbs_turn(sums.first + sums.mean, normal);
  vec3 blended = mat3(sums.blend[0], sums.blend[1], sums.blend[2]) * normal;
  return sbs_direction(mix(sbs_direction(blended), sbs_direction(turned), amount));
}

// Weighted centers are found here, for each vertex in each pose: nothing but the influences is needed. The center is
// v + z, where z is the least-squares solution of
//
//   sum over pairs of joints w_a w_b (|(R_a z + C_a v) - (R_b z + C_b v)|^2 + 1e-6 |z|^2)
//
// With D_i = R_i - R_p and e_i = C_i v - C_p v these are the equations (G - D^T D + least) z = D^T e - g.
struct SbsCenter {
  mat3 first;   // R_p
  vec3 place;   // C_p v
  mat3 gram;    // G = sum w_i D_i^T D_i
  mat3 apart;   // D = sum w_i D_i
  vec3 offset;  // e = sum w_i e_i
  vec3 moment;  // g = sum w_i D_i^T e_i
  float others; // sum w_i of all but the heaviest
  float pairs;  // sum w_i (1 - w_i) of the same
};

// Goes with sbs_begin.
SbsCenter sbs_begin_center(vec3 position, mat4x3 joint, vec4 quaternion) {
  SbsCenter center;
  center.first = sbs_matrix(sbs_unit(quaternion));
  center.place = joint * vec4(position, 1.0);
  center.gram = mat3(0.0);
  center.apart = mat3(0.0);
  center.offset = vec3(0.0);
  center.moment = vec3(0.0);
  center.others = 0.0;
  center.pairs = 0.0;
  return center;
}

// Goes with sbs_add.
SbsCenter sbs_add_center(SbsCenter before, vec3 position, float weight, mat4x3 joint, vec4 quaternion) {
  SbsCenter center = before;
  mat3 d = sbs_matrix(sbs_unit(quaternion)) - center.first;
  vec3 e = joint * vec4(position, 1.0) - center.place;
  mat3 share = weight * transpose(d);
  center.gram += share * d;
  center.apart += weight * d;
  center.offset += weight * e;
  center.moment += share * e;
  center.others += weight;
  center.pairs += weight * (1.0 - weight);
  return center;
}

// The solution of (m + least) x = right by L D L^T, for a symmetric m without negative eigenvalues. Rounding makes no
// pivot less than least.
vec3 sbs_solve(mat3 m, vec3 right, float least) {
  float d0 = max(m[0][0], 0.0) + least;
  float l10 = m[0][1] / d0;
  float l20 = m[0][2] / d0;
  float d1 = max(m[1][1] - l10 * m[0][1], 0.0) + least;
  float m21 = m[1][2] - l20 * m[0][1];
  float l21 = m21 / d1;
  float d2 = max(m[2][2] - l20 * m[0][2] - l21 * m21, 0.0) + least;
  float y = right.y - l10 * right.x;
  float x2 = (right.z - l20 * right.x - l21 * y) / d2;
  float x1 = y / d1 - l21 * x2;
  return vec3(right.x / d0 - l10 * x1 - l20 * x2, x1, x2);
}

// The deformed position about the weighted center.
vec3 sbs_about_weighted_center(SbsSums sums, SbsCenter center, vec3 position, float amount) {
  float least = 0.5e-6 * (center.pairs + center.others * (1.0 - center.others)) + 1e-37;
  mat3 back = transpose(center.apart);
  vec3 z = sbs_solve(center.gram - back * center.apart, back * center.offset - center.moment, least);
  return sbs_linear(sums, position) - amount * sbs_correction(sums, z);
}
