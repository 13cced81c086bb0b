// SPDX-License-Identifier: MIT
/** What chunks of the vertex shaders of three.js are replaced by. */
export const CHUNKS = {
  skinning_pars_vertex: /* glsl */ `
#include <skinning_pars_vertex>
#ifdef USE_SKINNING
// spherical.glsl begins
vec3 sbs_turn(vec4 q, vec3 v) {
  return v + 2.0 / max(dot(q, q), 1e-37) * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}
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
mat3 sbs_matrix(vec4 squares, vec3 axial, vec3 mixed) {
  vec3 diagonal = 2.0 * squares.xyz + (squares.w - squares.x - squares.y - squares.z);
  vec3 plus = 2.0 * (mixed + axial);
  vec3 minus = 2.0 * (mixed - axial);
  return mat3(vec3(diagonal.x, plus.z, minus.y), vec3(minus.z, diagonal.y, plus.x), vec3(plus.y, minus.x, diagonal.z));
}
struct SbsSums {
  mat4x3 blend;
  float scale;
  vec4 first;
  vec4 mean;
  vec4 squares;
  vec3 axial;
  vec3 mixed;
};
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
vec3 sbs_apply(mat4x3 joint, vec3 position) {
  return joint[0] * position.x + joint[1] * position.y + joint[2] * position.z + joint[3];
}
vec3 sbs_linear(SbsSums sums, vec3 position) {
  return sbs_apply(sums.blend, position);
}
vec3 sbs_direction(vec3 v) {
  return v * inversesqrt(max(dot(v, v), 1e-37));
}
vec3 sbs_normal(SbsSums sums, vec3 normal, float amount) {
  vec3 turned = sbs_turn(sums.first + sums.mean, normal);
  vec3 blended = sums.blend[0] * normal.x + sums.blend[1] * normal.y + sums.blend[2] * normal.z;
  blended *= sqrt(dot(turned, turned) / max(dot(blended, blended), 1e-37));
  return sbs_direction(blended + amount * (turned - blended));
}
vec3 sbs_about_own_center(SbsSums sums, vec3 position, vec3 center, float amount) {
  vec4 s = sums.first + sums.mean;
  vec3 arm = amount * (position - center);
  return sbs_linear(sums, position - arm) + sums.scale * sbs_turn(s, arm);
}
float sbs_variance(SbsSums sums) {
  vec4 squares = sums.squares - sums.mean * sums.mean;
  return squares.x + squares.y + squares.z + squares.w;
}
mat3 sbs_spread(SbsSums sums) {
  vec4 squares = sums.squares - sums.mean * sums.mean;
  vec3 axial = sums.axial - sums.mean.xyz * sums.mean.w;
  vec3 mixed = sums.mixed - sums.mean.yzx * sums.mean.zxy;
  return sbs_matrix(squares, axial, mixed);
}
vec3 sbs_about_center(SbsSums sums, vec3 position, vec3 center, float amount) {
  vec4 s = sums.first + sums.mean;
  vec3 arm = position - center;
  mat3 spread = sbs_spread(sums);
  vec3 correction = sbs_variance(sums) * sbs_turn(s, arm);
  correction -= spread[0] * arm.x + spread[1] * arm.y + spread[2] * arm.z;
  return sbs_linear(sums, position) + amount * sums.scale * correction;
}
struct SbsCenter {
  vec4 back;
  vec3 mirror;
  vec3 squares;
  vec3 mixed;
  vec3 axial;
  vec3 first;
  vec3 apart;
  vec3 moment;
  float pairs;
};
vec4 sbs_relative(vec4 q, vec4 back) {
  vec3 d = q.xyz + back.xyz;
  float w = q.w - back.w;
  return vec4(back.w * d + w * back.xyz + cross(d, back.xyz), w * back.w - dot(d, back.xyz));
}
vec3 sbs_mirror(vec3 h, vec3 v) {
  return v - dot(h, v) * h;
}
SbsCenter sbs_begin_center(SbsSums sums, vec3 position, float weight, mat4x3 joint) {
  SbsCenter center;
  vec4 s = sums.first + sums.mean;
  float factor = inversesqrt(max(dot(s, s), 1e-37));
  center.back = vec4(-factor * s.xyz, factor * s.w);
  vec4 r = sbs_relative(sums.first, center.back);
  float x = r.x + 1e-18;
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
// spherical.glsl ends
#ifdef SBS_OPTIMIZED
attribute vec4 _sbs_center; // and the amount
#else
const vec4 _sbs_center = vec4( 1.0 );
#endif
attribute float sbsSet;
#if SBS_INFLUENCES == 8
attribute vec4 joints_1, weights_1;
#else
const vec4 joints_1 = vec4( 0.0 ), weights_1 = vec4( 0.0 );
#endif
// -1 in a mirrored scene: joints are reflected through the origin to blend them, and the result is reflected back.
float sbsSide = 1.0;
float sbsBone( int i ) {
	return i < 4 ? skinIndex[ i ] : joints_1[ i - 4 ];
}
float sbsWeight( int i ) { // GLTFLoader makes the sum of the first four 1
	return i < 4 ? skinWeight[ i ] * ( 1.0 - dot( weights_1, vec4( 1.0 ) ) ) : weights_1[ i - 4 ];
}
mat4x3 sbsJoint( int i ) {
	return sbsSide * mat4x3( getBoneMatrix( sbsBone( i ) ) );
}
vec4 sbsFromEnd( float number ) {
	ivec2 size = textureSize( boneTexture, 0 );
	int at = size.x * size.y - 1 - int( number );
	return texelFetch( boneTexture, ivec2( at % size.x, at / size.x ), 0 );
}
#define SBS_INFLUENCE( i ) sbsWeight( i ), sbsJoint( i ), sbsFromEnd( sbsBone( i ) )
#endif
`,
  skinbase_vertex: /* glsl */ `
#ifdef USE_SKINNING
	if ( sbsWeight( 0 ) > 0.0 && sbsFromEnd( skinIndex.x ).w < 0.0 ) sbsSide = - 1.0;
	SbsSums sbsSums = sbs_begin( SBS_INFLUENCE( 0 ) );
	for ( int i = 1; i < SBS_INFLUENCES; i ++ ) sbsSums = sbs_add( sbsSums, SBS_INFLUENCE( i ) );
#endif
`,
  skinnormal_vertex: /* glsl */ `
#ifdef USE_SKINNING
	#define SBS_TURN( v ) sbsSide * mat3( bindMatrixInverse ) * sbs_normal( sbsSums, mat3( bindMatrix ) * v, _sbs_center.w )
	objectNormal = SBS_TURN( objectNormal );
	#ifdef USE_TANGENT
	objectTangent = SBS_TURN( objectTangent );
	#endif
#endif
`,
  skinning_vertex: /* glsl */ `
#ifdef USE_SKINNING
	vec3 sbsPlace = ( bindMatrix * vec4( transformed, 1.0 ) ).xyz;
	#ifdef SBS_WEIGHTED
	SbsCenter sbsCenter = sbs_begin_center( sbsSums, sbsPlace, sbsWeight( 0 ), sbsJoint( 0 ) );
	for ( int i = 1; i < SBS_INFLUENCES; i ++ ) sbsCenter = sbs_add_center( sbsCenter, sbsSums, sbsPlace, SBS_INFLUENCE( i ) );
	sbsPlace = sbs_about_weighted_center( sbsCenter, 1.0 );
	#elif defined( SBS_SETS )
	sbsPlace = sbs_about_center( sbsSums, sbsPlace, sbsFromEnd( sbsSet + float( SBS_SETS ) ).xyz, 1.0 );
	#else
	sbsPlace = sbs_about_own_center( sbsSums, sbsPlace, ( bindMatrix * vec4( _sbs_center.xyz, 1.0 ) ).xyz, _sbs_center.w );
	#endif
	transformed = ( bindMatrixInverse * vec4( sbsSide * sbsPlace, 1.0 ) ).xyz;
#endif
`,
};
