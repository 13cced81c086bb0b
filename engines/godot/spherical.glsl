#[compute]
#version 450
// SPDX-License-Identifier: MIT
// A compute shader for a RenderingDevice of Godot 4: one invocation moves one vertex of a surface about its own center,
// in place of linear blending. spherical_skinning.gd fills the buffers, and a spatial shader reads the image. It is not
// run in Godot 4; tests of the library run it on Vulkan.

layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;

struct Vertex {
  vec4 position; // x, y, z, and nothing
  vec4 normal;
  vec4 tangent;
  vec4 center;   // CUSTOM0: the center in the space of positions, and the amount
};

struct Joint {
  vec4 x; // the rows of its matrix
  vec4 y;
  vec4 z;
  vec4 quaternion;
};

layout(set = 0, binding = 0, std430) restrict readonly buffer Counts {
  uint vertices;
  uint influences; // of a vertex, 4 or 8
} counts;

layout(set = 0, binding = 1, std430) restrict readonly buffer Vertices { Vertex of_surface[]; } vertices;
layout(set = 0, binding = 2, std430) restrict readonly buffer Bones { uint of_vertex[]; } bones; // heaviest first
layout(set = 0, binding = 3, std430) restrict readonly buffer Weights { float of_vertex[]; } weights;
layout(set = 0, binding = 4, std430) restrict readonly buffer Palette { Joint of_skin[]; } palette;

// Each row of the image has COLUMNS vertices: position, normal and tangent side by side.
layout(set = 0, binding = 5, rgba32f) uniform restrict writeonly image2D moved;
const uint COLUMNS = 1024;

mat4 sbs_columns(vec3 x, vec3 y, vec3 z, vec3 w) {
  return mat4(vec4(x, 0.0), vec4(y, 0.0), vec4(z, 0.0), vec4(w, 1.0));
}

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
struct SbsSums {
  mat4 blend;
  float scale;
  vec4 first;
  vec4 mean;
  vec4 squares;
  vec3 axial;
  vec3 mixed;
};
SbsSums sbs_begin(float weight, mat4 joint, vec4 quaternion) {
  SbsSums sums;
  sums.blend = weight * joint;
  sums.scale = weight * dot(quaternion, quaternion);
  sums.first = sbs_factor(quaternion, quaternion) * quaternion;
  if (weight <= 0.0) {
    sums.blend = sbs_columns(vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0), vec3(0.0, 0.0, 0.0));
    sums.scale = 1.0;
    sums.first = vec4(0.0, 0.0, 0.0, 1.0);
  }
  sums.mean = vec4(0.0, 0.0, 0.0, 0.0);
  sums.squares = vec4(0.0, 0.0, 0.0, 0.0);
  sums.axial = vec3(0.0, 0.0, 0.0);
  sums.mixed = vec3(0.0, 0.0, 0.0);
  return sums;
}
SbsSums sbs_add(SbsSums before, float weight, mat4 joint, vec4 quaternion) {
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
vec3 sbs_apply(mat4 joint, vec3 position) {
  return joint[0].xyz * position.x + joint[1].xyz * position.y + joint[2].xyz * position.z + joint[3].xyz;
}
vec3 sbs_linear(SbsSums sums, vec3 position) {
  return sbs_apply(sums.blend, position);
}
vec3 sbs_direction(vec3 v) {
  return v * inversesqrt(max(dot(v, v), 1e-37));
}
vec3 sbs_normal(SbsSums sums, vec3 normal, float amount) {
  vec3 turned = sbs_turn(sums.first + sums.mean, normal);
  vec3 blended = sums.blend[0].xyz * normal.x + sums.blend[1].xyz * normal.y + sums.blend[2].xyz * normal.z;
  blended *= sqrt(dot(turned, turned) / max(dot(blended, blended), 1e-37));
  return sbs_direction(blended + amount * (turned - blended));
}
vec3 sbs_about_own_center(SbsSums sums, vec3 position, vec3 center, float amount) {
  vec4 s = sums.first + sums.mean;
  vec3 arm = amount * (position - center);
  return sbs_linear(sums, position - arm) + sums.scale * sbs_turn(s, arm);
}
// spherical.glsl ends, by mat4 in place of mat4x3; tools/shaders.py writes it here.

mat4 matrix_of(Joint joint) {
  return transpose(mat4(joint.x, joint.y, joint.z, vec4(0.0, 0.0, 0.0, 1.0)));
}

void main() {
  uint number = gl_GlobalInvocationID.x;
  if (number >= counts.vertices) {
    return;
  }
  Vertex vertex = vertices.of_surface[number];
  uint first = counts.influences * number;

  Joint heaviest = palette.of_skin[bones.of_vertex[first]];
  SbsSums sums = sbs_begin(weights.of_vertex[first], matrix_of(heaviest), heaviest.quaternion);
  for (uint i = first + 1; i < first + counts.influences; i++) {
    Joint joint = palette.of_skin[bones.of_vertex[i]];
    sums = sbs_add(sums, weights.of_vertex[i], matrix_of(joint), joint.quaternion);
  }

  float amount = vertex.center.w;
  vec3 position = sbs_about_own_center(sums, vertex.position.xyz, vertex.center.xyz, amount);
  ivec2 texel = ivec2(3 * (number % COLUMNS), number / COLUMNS);
  imageStore(moved, texel, vec4(position, 1.0));
  imageStore(moved, texel + ivec2(1, 0), vec4(sbs_normal(sums, vertex.normal.xyz, amount), 0.0));
  imageStore(moved, texel + ivec2(2, 0), vec4(sbs_normal(sums, vertex.tangent.xyz, amount), 0.0));
}
