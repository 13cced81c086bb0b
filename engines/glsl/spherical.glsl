// SPDX-License-Identifier: MIT
//
// Spherical blend skinning in a shader: GLSL ES 3.00, GLSL 3.30 and later. engines/wgsl/spherical.wgsl is the same in
// WGSL. It is HLSL with vec3, vec4, mat3, mat4x3 and inversesqrt defined as float3, float4, float3x3, float4x3 and
// rsqrt: matrices here are no more than their columns, which are rows there. Kavan and Zara, Spherical blend skinning, 2005; their equation (9) is
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

// The rotation of a quaternion (x, y, z, w) of any length.
vec3 sbs_turn(vec4 q, vec3 v) {
  return v + 2.0 / max(dot(q, q), 1e-37) * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

// The factor that gives a quaternion length 1, in the hemisphere of another; 0 stays 0. That of a rigid joint is taken as
// it is, which is more precise.
float sbs_factor(vec4 q, vec4 first) {
  float square = dot(q, q);
  float factor = inversesqrt(max(square, 1e-37));
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
mat3 sbs_matrix(vec4 squares, vec3 axial, vec3 mixed) {
  vec3 diagonal = 2.0 * squares.xyz + (squares.w - squares.x - squares.y - squares.z);
  vec3 plus = 2.0 * (mixed + axial);
  vec3 minus = 2.0 * (mixed - axial);
  return mat3(vec3(diagonal.x, plus.z, minus.y), vec3(minus.z, diagonal.y, plus.x), vec3(plus.y, minus.x, diagonal.z));
}

// What is summed up over the influences of a vertex. With q_p the quaternion of the heaviest joint, and q_i in its
// hemisphere (2005, section 4.2), d_i = q_i - q_p. Sums of small d_i keep their digits, and of weights that do not quite
// sum up to 1 the heaviest takes what is missing.
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
  sums.first = sbs_factor(quaternion, quaternion) * quaternion;
  if (weight <= 0.0) {
    sums.blend = mat4x3(vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0), vec3(0.0, 0.0, 0.0));
    sums.scale = 1.0;
    sums.first = vec4(0.0, 0.0, 0.0, 1.0);
  }
  sums.mean = vec4(0.0, 0.0, 0.0, 0.0);
  sums.squares = vec4(0.0, 0.0, 0.0, 0.0);
  sums.axial = vec3(0.0, 0.0, 0.0);
  sums.mixed = vec3(0.0, 0.0, 0.0);
  return sums;
}

// The sums with one more influence.
SbsSums sbs_add(SbsSums before, float weight, mat4x3 joint, vec4 quaternion) {
  SbsSums sums = before;
  vec4 d = sbs_factor(quaternion, sums.first) * quaternion - sums.first;
  vec4 share = weight * d;
  sums.blend += weight * joint;
  sums.scale += weight * dot(quaternion, quaternion);
  sums.mean += share;
  sums.squares += share * d;
  sums.axial += share.xyz * d.w;
  sums.mixed += share.yzx * d.zxy;
  return sums;
}

// An affine matrix times a position.
vec3 sbs_apply(mat4x3 joint, vec3 position) {
  return joint[0] * position.x + joint[1] * position.y + joint[2] * position.z + joint[3];
}

// Linear blending.
vec3 sbs_linear(SbsSums sums, vec3 position) {
  return sbs_apply(sums.blend, position);
}

// A vector of length 1; 0 stays 0.
vec3 sbs_direction(vec3 v) {
  return v * inversesqrt(max(dot(v, v), 1e-37));
}

// A normal or a tangent, turned by Q.
vec3 sbs_turned(SbsSums sums, vec3 normal) {
  return sbs_direction(sbs_turn(sums.first + sums.mean, normal));
}

// The same of an amount, and linear blending of the rest, both of one length before they are mixed.
vec3 sbs_normal(SbsSums sums, vec3 normal, float amount) {
  vec3 turned = sbs_turn(sums.first + sums.mean, normal);
  vec3 blended = sums.blend[0] * normal.x + sums.blend[1] * normal.y + sums.blend[2] * normal.z;
  blended *= sqrt(dot(turned, turned) / max(dot(blended, blended), 1e-37));
  return sbs_direction(blended + amount * (turned - blended));
}

// The position about a center that is near the vertex, as optimized centers are. It is that of equation (9) about a
// center which an amount below 1 brings nearer: amount (Q - M) (v - c) = Q amount (v - c) - M amount (v - c).
vec3 sbs_about_own_center(SbsSums sums, vec3 position, vec3 center, float amount) {
  vec4 s = sums.first + sums.mean;
  vec3 arm = amount * (position - center);
  return sbs_linear(sums, position - arm) + sums.scale * sbs_turn(s, arm);
}

// K = sum w_i d_i d_i^T - mean mean^T is the covariance of the quaternions. This is its trace,
float sbs_variance(SbsSums sums) {
  vec4 squares = sums.squares - sums.mean * sums.mean;
  return squares.x + squares.y + squares.z + squares.w;
}

// and its matrix. With s = q_p + mean, |s|^2 = 1 - trace(K), and M = matrix(s s^T + K) = |s|^2 Q + matrix(K), so that
//
//   Q - M = trace(K) Q - matrix(K)
//
// Both terms are of second order in d_i: nothing cancels, however far away the center is.
mat3 sbs_spread(SbsSums sums) {
  vec4 squares = sums.squares - sums.mean * sums.mean;
  vec3 axial = sums.axial - sums.mean.xyz * sums.mean.w;
  vec3 mixed = sums.mixed - sums.mean.yzx * sums.mean.zxy;
  return sbs_matrix(squares, axial, mixed);
}

// The position about any center, also one that is far away, as those of joint sets may be.
vec3 sbs_about_center(SbsSums sums, vec3 position, vec3 center, float amount) {
  vec4 s = sums.first + sums.mean;
  vec3 arm = position - center;
  mat3 spread = sbs_spread(sums);
  vec3 correction = sbs_variance(sums) * sbs_turn(s, arm);
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
  vec4 back;     // the inverse of Q
  vec3 mirror;   // h: v - (h, v) h is v mirrored
  vec3 squares;  // sum w_i (xx, yy, zz), where (x, y, z) is u_i mirrored
  vec3 mixed;    // sum w_i (yz, zx, xy)
  vec3 axial;    // a mirrored
  vec3 first;    // C_p v
  vec3 apart;    // e
  vec3 moment;   // m
  float pairs;   // sum w_i (1 - w_i), twice the sum over pairs
};

// r - 1 of r = q / Q, where back is the inverse of Q.
vec4 sbs_relative(vec4 q, vec4 back) {
  vec3 d = q.xyz + back.xyz;
  float w = q.w - back.w;
  return vec4(back.w * d + w * back.xyz + cross(d, back.xyz), w * back.w - dot(d, back.xyz));
}

vec3 sbs_mirror(vec3 h, vec3 v) {
  return v - dot(h, v) * h;
}

// The sums of the heaviest influence.
SbsCenter sbs_begin_center(SbsSums sums, vec3 position, float weight, mat4x3 joint) {
  SbsCenter center;
  vec4 s = sums.first + sums.mean;
  float factor = inversesqrt(max(dot(s, s), 1e-37));
  center.back = vec4(-factor * s.xyz, factor * s.w);
  vec4 r = sbs_relative(sums.first, center.back);
  float x = r.x + 1e-18; // an axis also where there is none
  float size = length(vec3(x, r.y, r.z));
  if (x < 0.0) {
    size = -size;
  }
  x += size;
  center.mirror = inversesqrt(size * x) * vec3(x, r.y, r.z);
  center.squares = vec3(weight * size * size, 0.0, 0.0);
  center.mixed = vec3(0.0, 0.0, 0.0);
  center.axial = vec3(-weight * r.w * size, 0.0, 0.0);
  center.first = sbs_apply(joint, position);
  if (weight <= 0.0) {
    center.first = position;
  }
  center.apart = vec3(0.0, 0.0, 0.0);
  center.moment = vec3(0.0, 0.0, 0.0);
  center.pairs = weight * (1.0 - weight);
  return center;
}

// The sums with one more influence.
SbsCenter sbs_add_center(SbsCenter before, SbsSums sums, vec3 position, float weight, mat4x3 joint, vec4 quaternion) {
  SbsCenter center = before;
  vec4 r = sbs_relative(sbs_factor(quaternion, sums.first) * quaternion, center.back);
  vec3 mirrored = sbs_mirror(center.mirror, r.xyz);
  vec3 share = weight * mirrored;
  center.squares += share * mirrored;
  center.mixed += share.yzx * mirrored.zxy;
  center.axial += r.w * share;
  vec3 e = weight * (sbs_apply(joint, position) - center.first);
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
vec3 sbs_solve(vec3 diagonal, vec3 others, vec3 right, float least) {
  float d0 = max(diagonal.x, 0.0) + least;
  float l1 = others.z / d0;
  float l2 = others.y / d0;
  float d1 = max(diagonal.y - l1 * others.z, 0.0) + least;
  float m12 = others.x - l2 * others.z;
  float l12 = m12 / d1;
  float d2 = max(diagonal.z - l2 * others.y - l12 * m12, 0.0) + least;
  float y = right.y - l1 * right.x;
  float z = (right.z - l2 * right.x - l12 * y) / d2;
  float x1 = y / d1 - l12 * z;
  return vec3(right.x / d0 - l1 * x1 - l2 * z, x1, z);
}

// The position about the weighted center. Cross products of mirrored vectors have the other sign.
vec3 sbs_about_weighted_center(SbsCenter center, float amount) {
  vec3 diagonal = center.squares.yzx + center.squares.zxy;
  vec3 plus = center.axial - center.mixed;
  vec3 minus = -(center.axial + center.mixed);
  vec3 x = vec3(diagonal.x, plus.z, minus.y);
  vec3 y = vec3(minus.z, diagonal.y, plus.x);
  vec3 z = vec3(plus.y, minus.x, diagonal.z);
  vec3 e = sbs_mirror(center.mirror, center.apart);
  vec3 right = vec3(dot(x, e), dot(y, e), dot(z, e)) + sbs_mirror(center.mirror, center.moment);
  vec3 squares = diagonal - vec3(dot(x, x), dot(y, y), dot(z, z));
  vec3 others = -(center.mixed + vec3(dot(y, z), dot(x, z), dot(x, y)));
  vec3 found = sbs_solve(squares, others, right, 0.125e-6 * center.pairs + 1e-37);
  vec3 correction = sbs_mirror(center.mirror, x * found.x + y * found.y + z * found.z);
  return center.first + center.apart + amount * correction;
}
