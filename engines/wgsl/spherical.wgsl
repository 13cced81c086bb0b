// SPDX-License-Identifier: MIT
// Written by tools/shaders.py from engines/glsl/spherical.glsl, which says how to use it.

// The rotation of a quaternion (x, y, z, w) of any length.
fn sbs_turn(q: vec4f, v: vec3f) -> vec3f {
  return v + 2.0 / max(dot(q, q), 1e-37) * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

// The factor that gives a quaternion length 1, in the hemisphere of another; 0 stays 0. That of a rigid joint is taken as
// it is, which is more precise.
fn sbs_factor(q: vec4f, first: vec4f) -> f32 {
  let square = dot(q, q);
  var factor: f32 = inverseSqrt(max(square, 1e-37));
  if (abs(square - 1.0) < 1e-6) {
    factor = 1.0;
  }
  if (dot(q, first) < 0.0) {
    factor = -factor;
  }
  return factor;
}

// The rotation matrix of a quaternion from the products of its numbers, times its squared length; it is linear in them,
// so sums of products give the sum of the matrices.
//
//   squares  (xx, yy, zz, ww)
//   axial    (xw, yw, zw)
//   mixed    (yz, zx, xy)
fn sbs_matrix(squares: vec4f, axial: vec3f, mixed: vec3f) -> mat3x3f {
  let diagonal = 2.0 * squares.xyz + (squares.w - squares.x - squares.y - squares.z);
  let plus = 2.0 * (mixed + axial);
  let minus = 2.0 * (mixed - axial);
  return mat3x3f(vec3f(diagonal.x, plus.z, minus.y), vec3f(minus.z, diagonal.y, plus.x), vec3f(plus.y, minus.x, diagonal.z));
}

// What is summed up over the influences of a vertex. With q_p the quaternion of the heaviest joint, and q_i in its
// hemisphere (2005, section 4.2), d_i = q_i - q_p. Sums of small d_i keep their digits, and of weights that do not quite
// sum up to 1 the heaviest takes what is missing.
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
  sums.first = sbs_factor(quaternion, quaternion) * quaternion;
  if (weight <= 0.0) {
    sums.blend = mat4x3f(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), vec3f(0.0, 0.0, 1.0), vec3f(0.0, 0.0, 0.0));
    sums.scale = 1.0;
    sums.first = vec4f(0.0, 0.0, 0.0, 1.0);
  }
  sums.mean = vec4f(0.0, 0.0, 0.0, 0.0);
  sums.squares = vec4f(0.0, 0.0, 0.0, 0.0);
  sums.axial = vec3f(0.0, 0.0, 0.0);
  sums.mixed = vec3f(0.0, 0.0, 0.0);
  return sums;
}

// The sums with one more influence.
fn sbs_add(before: SbsSums, weight: f32, joint: mat4x3f, quaternion: vec4f) -> SbsSums {
  var sums: SbsSums = before;
  let d = sbs_factor(quaternion, sums.first) * quaternion - sums.first;
  let share = weight * d;
  sums.blend += weight * joint;
  sums.scale += weight * dot(quaternion, quaternion);
  sums.mean += share;
  sums.squares += share * d;
  sums.axial += share.xyz * d.w;
  sums.mixed += share.yzx * d.zxy;
  return sums;
}

// An affine matrix times a position.
fn sbs_apply(joint: mat4x3f, position: vec3f) -> vec3f {
  return joint[0] * position.x + joint[1] * position.y + joint[2] * position.z + joint[3];
}

// Linear blending.
fn sbs_linear(sums: SbsSums, position: vec3f) -> vec3f {
  return sbs_apply(sums.blend, position);
}

// A vector of length 1; 0 stays 0.
fn sbs_direction(v: vec3f) -> vec3f {
  return v * inverseSqrt(max(dot(v, v), 1e-37));
}

// A normal or a tangent, turned by Q.
fn sbs_turned(sums: SbsSums, normal: vec3f) -> vec3f {
  return sbs_direction(sbs_turn(sums.first + sums.mean, normal));
}

// The same of an amount, and linear blending of the rest, both of one length before they are mixed.
fn sbs_normal(sums: SbsSums, normal: vec3f, amount: f32) -> vec3f {
  let turned = sbs_turn(sums.first + sums.mean, normal);
  var blended: vec3f = sums.blend[0] * normal.x + sums.blend[1] * normal.y + sums.blend[2] * normal.z;
  blended *= sqrt(dot(turned, turned) / max(dot(blended, blended), 1e-37));
  return sbs_direction(blended + amount * (turned - blended));
}

// The position about a center that is near the vertex, as optimized centers are. It is that of equation (9) about a
// center which an amount below 1 brings nearer: amount (Q - M) (v - c) = Q amount (v - c) - M amount (v - c).
fn sbs_about_own_center(sums: SbsSums, position: vec3f, center: vec3f, amount: f32) -> vec3f {
  let s = sums.first + sums.mean;
  let arm = amount * (position - center);
  return sbs_linear(sums, position - arm) + sums.scale * sbs_turn(s, arm);
}

// K = sum w_i d_i d_i^T - mean mean^T is the covariance of the quaternions. This is its trace,
fn sbs_variance(sums: SbsSums) -> f32 {
  let squares = sums.squares - sums.mean * sums.mean;
  return squares.x + squares.y + squares.z + squares.w;
}

// and its matrix. With s = q_p + mean, |s|^2 = 1 - trace(K), and M = matrix(s s^T + K) = |s|^2 Q + matrix(K), so that
//
//   Q - M = trace(K) Q - matrix(K)
//
// Both terms are of second order in d_i: nothing cancels, however far away the center is.
fn sbs_spread(sums: SbsSums) -> mat3x3f {
  let squares = sums.squares - sums.mean * sums.mean;
  let axial = sums.axial - sums.mean.xyz * sums.mean.w;
  let mixed = sums.mixed - sums.mean.yzx * sums.mean.zxy;
  return sbs_matrix(squares, axial, mixed);
}

// The position about any center, also one that is far away, as those of joint sets may be.
fn sbs_about_center(sums: SbsSums, position: vec3f, center: vec3f, amount: f32) -> vec3f {
  let s = sums.first + sums.mean;
  let arm = position - center;
  let spread = sbs_spread(sums);
  var correction: vec3f = sbs_variance(sums) * sbs_turn(s, arm);
  correction -= spread[0] * arm.x + spread[1] * arm.y + spread[2] * arm.z;
  return sbs_linear(sums, position) + amount * sums.scale * correction;
}

// Weighted centers are found here, for each vertex in each pose, from its influences alone. The center is v + z, where z
// minimizes
//
//   sum over pairs of joints w_a w_b (|(R_a z + C_a v) - (R_b z + C_b v)|^2 + 1e-6 |z|^2)
//
// It takes a second loop over the influences, when their sums are known:
//
//   SbsCenter found = sbs_begin_center(sums, position, weights[0], joint(joints[0]));
//   for (int i = 1; i < 4; i++) {
//     found = sbs_add_center(found, sums, position, weights[i], joint(joints[i]), quaternion(joints[i]));
//   }
//   vec3 moved = sbs_about_weighted_center(found, amount);
//
// All is relative to Q: r_i = q_i / Q = (u_i, c_i), and z stands for Q z. As sum w_i u_i = 0,
//
//   1 - M / Q = 2 F,   F = trace(U) - U - [a],   U = sum w_i u_i u_i^T,   a = sum w_i (c_i - 1) u_i
//
// where [a] x = cross(a, x). With e_i = C_i v - C_p v and e = sum w_i e_i, the correction is -2 F z, and -2 z solves
//
//   (trace(U) - U - F^T F + least / 4) (-2 z) = F^T e + m,   m = sum w_i cross(u_i, cross(u_i, e_i) - c_i e_i)
//
// where least = 1e-6 sum over pairs w_a w_b, and m is half of sum w_i (r_i^T - 1) e_i.
//
// Joints that turn about nearly one axis, such as those of a finger, leave z nearly free along it. So that squares of
// what is large there do not blur what is small across, U is that of mirrored vectors, of which the axis is x.
struct SbsCenter {
  back: vec4f,     // the inverse of Q
  mirror: vec3f,   // h: v - (h, v) h is v mirrored
  squares: vec3f,  // sum w_i (xx, yy, zz), where (x, y, z) is u_i mirrored
  mixed: vec3f,    // sum w_i (yz, zx, xy)
  axial: vec3f,    // a mirrored
  first: vec3f,    // C_p v
  apart: vec3f,    // e
  moment: vec3f,   // m
  pairs: f32,      // sum w_i (1 - w_i), twice the sum over pairs
}

// r - 1 of r = q / Q, where back is the inverse of Q.
fn sbs_relative(q: vec4f, back: vec4f) -> vec4f {
  let d = q.xyz + back.xyz;
  let w = q.w - back.w;
  return vec4f(back.w * d + w * back.xyz + cross(d, back.xyz), w * back.w - dot(d, back.xyz));
}

fn sbs_mirror(h: vec3f, v: vec3f) -> vec3f {
  return v - dot(h, v) * h;
}

// The sums of the heaviest influence.
fn sbs_begin_center(sums: SbsSums, position: vec3f, weight: f32, joint: mat4x3f) -> SbsCenter {
  var center: SbsCenter;
  let s = sums.first + sums.mean;
  let factor = inverseSqrt(max(dot(s, s), 1e-37));
  center.back = vec4f(-factor * s.xyz, factor * s.w);
  let r = sbs_relative(sums.first, center.back);
  var x: f32 = r.x + 1e-18; // an axis also where there is none
  var size: f32 = length(vec3f(x, r.y, r.z));
  if (x < 0.0) {
    size = -size;
  }
  x += size;
  center.mirror = inverseSqrt(size * x) * vec3f(x, r.y, r.z);
  center.squares = vec3f(weight * size * size, 0.0, 0.0);
  center.mixed = vec3f(0.0, 0.0, 0.0);
  center.axial = vec3f(-weight * r.w * size, 0.0, 0.0);
  center.first = sbs_apply(joint, position);
  if (weight <= 0.0) {
    center.first = position;
  }
  center.apart = vec3f(0.0, 0.0, 0.0);
  center.moment = vec3f(0.0, 0.0, 0.0);
  center.pairs = weight * (1.0 - weight);
  return center;
}

// The sums with one more influence.
fn sbs_add_center(before: SbsCenter, sums: SbsSums, position: vec3f, weight: f32, joint: mat4x3f, quaternion: vec4f) -> SbsCenter {
  var center: SbsCenter = before;
  let r = sbs_relative(sbs_factor(quaternion, sums.first) * quaternion, center.back);
  let mirrored = sbs_mirror(center.mirror, r.xyz);
  let share = weight * mirrored;
  center.squares += share * mirrored;
  center.mixed += share.yzx * mirrored.zxy;
  center.axial += r.w * share;
  let e = weight * (sbs_apply(joint, position) - center.first);
  center.apart += e;
  center.moment += cross(r.xyz, cross(r.xyz, e) - (1.0 + r.w) * e);
  center.pairs += weight * (1.0 - weight);
  return center;
}

// The solution of (m + least) x = right by L D L^T, for a symmetric m without negative eigenvalues. Rounding makes no
// pivot less than least.
//
//   diagonal  (m00, m11, m22)
//   others    (m12, m02, m01)
fn sbs_solve(diagonal: vec3f, others: vec3f, right: vec3f, least: f32) -> vec3f {
  let d0 = max(diagonal.x, 0.0) + least;
  let l1 = others.z / d0;
  let l2 = others.y / d0;
  let d1 = max(diagonal.y - l1 * others.z, 0.0) + least;
  let m12 = others.x - l2 * others.z;
  let l12 = m12 / d1;
  let d2 = max(diagonal.z - l2 * others.y - l12 * m12, 0.0) + least;
  let y = right.y - l1 * right.x;
  let z = (right.z - l2 * right.x - l12 * y) / d2;
  let x1 = y / d1 - l12 * z;
  return vec3f(right.x / d0 - l1 * x1 - l2 * z, x1, z);
}

// The position about the weighted center. Cross products of mirrored vectors have the other sign.
fn sbs_about_weighted_center(center: SbsCenter, amount: f32) -> vec3f {
  let diagonal = center.squares.yzx + center.squares.zxy;
  let plus = center.axial - center.mixed;
  let minus = -(center.axial + center.mixed);
  let x = vec3f(diagonal.x, plus.z, minus.y);
  let y = vec3f(minus.z, diagonal.y, plus.x);
  let z = vec3f(plus.y, minus.x, diagonal.z);
  let e = sbs_mirror(center.mirror, center.apart);
  let right = vec3f(dot(x, e), dot(y, e), dot(z, e)) + sbs_mirror(center.mirror, center.moment);
  let squares = diagonal - vec3f(dot(x, x), dot(y, y), dot(z, z));
  let others = -(center.mixed + vec3f(dot(y, z), dot(x, z), dot(x, y)));
  let found = sbs_solve(squares, others, right, 0.125e-6 * center.pairs + 1e-37);
  let correction = sbs_mirror(center.mirror, x * found.x + y * found.y + z * found.z);
  return center.first + center.apart + amount * correction;
}
