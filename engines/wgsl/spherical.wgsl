// SPDX-License-Identifier: MIT
// Written by tools/shaders.py from engines/glsl/spherical.glsl, which says how to use it.

// The rotation of a quaternion (x, y, z, w), times its squared length.
fn sbs_turn(q: vec4f, v: vec3f) -> vec3f {
  return (q.w * q.w - dot(q.xyz, q.xyz)) * v + 2.0 * (dot(q.xyz, v) * q.xyz + q.w * cross(q.xyz, v));
}

// The matrix of the same.
fn sbs_matrix(q: vec4f) -> mat3x3f {
  return mat3x3f(sbs_turn(q, vec3f(1.0, 0.0, 0.0)), sbs_turn(q, vec3f(0.0, 1.0, 0.0)), sbs_turn(q, vec3f(0.0, 0.0, 1.0)));
}

// A quaternion of length 1; that of no rotation for a joint that is scaled to nothing, whose quaternion is 0. That of a
// rigid joint is taken as it is, which is more precise than dividing it by its length.
fn sbs_unit(q: vec4f) -> vec4f {
  if (abs(dot(q, q) - 1.0) < 1e-6) {
    return q;
  }
  return normalize(q + vec4f(0.0, 0.0, 0.0, 1e-18));
}

// What is summed up over the influences of a vertex. With q_p the quaternion of the heaviest joint, and q_i in its
// hemisphere (2005, section 4.2), d_i = q_i - q_p. Small numbers keep their digits in sums of d_i, and weights that
// do not quite sum up to 1 do not matter.
struct SbsSums {
  blend: mat4x3f,  // sum w_i C_i, the matrix of linear blending
  scale: f32,      // sum w_i s_i, s_i the scales of joints
  first: vec4f,    // q_p
  mean: vec4f,     // sum w_i d_i
  squares: vec4f,  // sum w_i (xx, yy, zz, ww), where d_i = (x, y, z, w)
  axial: vec3f,    // sum w_i (xw, yw, zw)
  mixed: vec3f,    // sum w_i (yz, zx, xy)
}

// The sums of a vertex's heaviest influence. A vertex without weights stays where it is.
//
//   joint       C_i, affine: three columns that turn and scale, and a translation
//   quaternion  that of R_i, of either sign, times the root of the joint's scale
fn sbs_begin(weight: f32, joint: mat4x3f, quaternion: vec4f) -> SbsSums {
  var sums: SbsSums;
  sums.blend = weight * joint;
  sums.scale = weight * dot(quaternion, quaternion);
  sums.first = sbs_unit(quaternion);
  if (weight <= 0.0) {
    sums.blend = mat4x3f(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), vec3f(0.0, 0.0, 1.0), vec3f(0.0, 0.0, 0.0));
    sums.scale = 1.0;
    sums.first = vec4f(0.0, 0.0, 0.0, 1.0);
  }
  sums.mean = vec4f(0.0);
  sums.squares = vec4f(0.0);
  sums.axial = vec3f(0.0);
  sums.mixed = vec3f(0.0);
  return sums;
}

// The sums with one more influence.
fn sbs_add(before: SbsSums, weight: f32, joint: mat4x3f, quaternion: vec4f) -> SbsSums {
  var sums: SbsSums = before;
  var q: vec4f = sbs_unit(quaternion);
  if (dot(q, sums.first) < 0.0) {
    q = -q;
  }
  let d = q - sums.first;
  let share = weight * d;
  sums.blend += weight * joint;
  sums.scale += weight * dot(quaternion, quaternion);
  sums.mean += share;
  sums.squares += share * d;
  sums.axial += share.xyz * d.w;
  sums.mixed += share.yzx * d.zxy;
  return sums;
}

// Linear blending.
fn sbs_linear(sums: SbsSums, position: vec3f) -> vec3f {
  return sums.blend * vec4f(position, 1.0);
}

// The deformed position about a center that is near the vertex, as optimized centers are.
fn sbs_about_own_center(sums: SbsSums, position: vec3f, center: vec3f, amount: f32) -> vec3f {
  let s = sums.first + sums.mean;
  let arm = position - center;
  let m = mat3x3f(sums.blend[0], sums.blend[1], sums.blend[2]);
  return sbs_linear(sums, position) + amount * (sums.scale / dot(s, s) * sbs_turn(s, arm) - m * arm);
}

// (Q - M) arm. With K = sum w_i d_i d_i^T - mean mean^T, the covariance of the quaternions, and s = q_p + mean,
//
//   Q - M = trace(K) / |s|^2 turn(s) - spread(K)
//
// where spread(K) sums up over K what turn(q) sums up over q q^T. Both terms are of second order in d_i, so nothing
// cancels, however long the arm is.
fn sbs_correction(sums: SbsSums, arm: vec3f) -> vec3f {
  let s = sums.first + sums.mean;
  let squares = sums.squares - sums.mean * sums.mean;
  let axial = sums.axial - sums.mean.xyz * sums.mean.w;
  let mixed = sums.mixed - sums.mean.yzx * sums.mean.zxy;
  let trace = squares.x + squares.y + squares.z + squares.w;
  let diagonal = (2.0 * squares.w - trace) * arm + 2.0 * squares.xyz * arm;
  let others = cross(axial, arm) + mixed.zxy * arm.yzx + mixed.yzx * arm.zxy;
  return trace / dot(s, s) * sbs_turn(s, arm) - (diagonal + 2.0 * others);
}

// The deformed position about a center that may be far away, as those of joint sets may be.
fn sbs_about_center(sums: SbsSums, position: vec3f, center: vec3f, amount: f32) -> vec3f {
  return sbs_linear(sums, position) + amount * sums.scale * sbs_correction(sums, position - center);
}

// A vector of length 1; 0 stays 0.
fn sbs_direction(v: vec3f) -> vec3f {
  return v * inverseSqrt(max(dot(v, v), 1e-37));
}

// A direction across the surface: Q of its amount, and linear blending of the rest.
fn sbs_normal(sums: SbsSums, normal: vec3f, amount: f32) -> vec3f {
  let turned = sbs_turn(sums.first + sums.mean, normal);
  let blended = mat3x3f(sums.blend[0], sums.blend[1], sums.blend[2]) * normal;
  return sbs_direction(mix(sbs_direction(blended), sbs_direction(turned), amount));
}

// Weighted centers are found here, for each vertex in each pose: nothing but the influences is needed. The center is
// v + z, where z is the least-squares solution of
//
//   sum over pairs of joints w_a w_b (|(R_a z + C_a v) - (R_b z + C_b v)|^2 + 1e-6 |z|^2)
//
// With D_i = R_i - R_p and e_i = C_i v - C_p v these are the equations (G - D^T D + least) z = D^T e - g.
struct SbsCenter {
  first: mat3x3f,  // R_p
  place: vec3f,    // C_p v
  gram: mat3x3f,   // G = sum w_i D_i^T D_i
  apart: mat3x3f,  // D = sum w_i D_i
  offset: vec3f,   // e = sum w_i e_i
  moment: vec3f,   // g = sum w_i D_i^T e_i
  others: f32,     // sum w_i of all but the heaviest
  pairs: f32,      // sum w_i (1 - w_i) of the same
}

// Goes with sbs_begin.
fn sbs_begin_center(position: vec3f, joint: mat4x3f, quaternion: vec4f) -> SbsCenter {
  var center: SbsCenter;
  center.first = sbs_matrix(sbs_unit(quaternion));
  center.place = joint * vec4f(position, 1.0);
  center.gram = mat3x3f();
  center.apart = mat3x3f();
  center.offset = vec3f(0.0);
  center.moment = vec3f(0.0);
  center.others = 0.0;
  center.pairs = 0.0;
  return center;
}

// Goes with sbs_add.
fn sbs_add_center(before: SbsCenter, position: vec3f, weight: f32, joint: mat4x3f, quaternion: vec4f) -> SbsCenter {
  var center: SbsCenter = before;
  let d = sbs_matrix(sbs_unit(quaternion)) - center.first;
  let e = joint * vec4f(position, 1.0) - center.place;
  let share = weight * transpose(d);
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
fn sbs_solve(m: mat3x3f, right: vec3f, least: f32) -> vec3f {
  let d0 = max(m[0][0], 0.0) + least;
  let l10 = m[0][1] / d0;
  let l20 = m[0][2] / d0;
  let d1 = max(m[1][1] - l10 * m[0][1], 0.0) + least;
  let m21 = m[1][2] - l20 * m[0][1];
  let l21 = m21 / d1;
  let d2 = max(m[2][2] - l20 * m[0][2] - l21 * m21, 0.0) + least;
  let y = right.y - l10 * right.x;
  let x2 = (right.z - l20 * right.x - l21 * y) / d2;
  let x1 = y / d1 - l21 * x2;
  return vec3f(right.x / d0 - l10 * x1 - l20 * x2, x1, x2);
}

// The deformed position about the weighted center.
fn sbs_about_weighted_center(sums: SbsSums, center: SbsCenter, position: vec3f, amount: f32) -> vec3f {
  let least = 0.5e-6 * (center.pairs + center.others * (1.0 - center.others)) + 1e-37;
  let back = transpose(center.apart);
  let z = sbs_solve(center.gram - back * center.apart, back * center.offset - center.moment, least);
  return sbs_linear(sums, position) - amount * sbs_correction(sums, z);
}
