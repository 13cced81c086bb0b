// SPDX-License-Identifier: MIT
// A vertex shader that skins spherically, in place of linear blending; renderer.c puts spherical.glsl before it, and
// CENTER: 0 for a center and an amount of each vertex, 1 for those of joint sets, 2 for weighted ones, found here.
in vec3 position;
in vec3 normal;
in ivec4 joints; // heaviest first, as sbs_skin_influences writes them
in vec4 weights;
in vec4 center; // in the space of positions, and the amount
in int set;
// Samplers of GLES are lowp unless told otherwise, which costs all but three digits on some devices.
uniform highp sampler2D palette;     // four texels a joint, as sbs_pose_palette writes them
uniform highp sampler2D set_centers; // one texel a joint set, likewise
out vec3 moved;
out vec3 turned;

mat4x3 joint(int number) {
  vec4 x = texelFetch(palette, ivec2(0, number), 0);
  vec4 y = texelFetch(palette, ivec2(1, number), 0);
  vec4 z = texelFetch(palette, ivec2(2, number), 0);
  return transpose(mat3x4(x, y, z));
}

vec4 quaternion(int number) {
  return texelFetch(palette, ivec2(3, number), 0);
}

void main() {
  SbsSums sums = sbs_begin(weights[0], joint(joints[0]), quaternion(joints[0]));
  for (int i = 1; i < 4; i++) {
    sums = sbs_add(sums, weights[i], joint(joints[i]), quaternion(joints[i]));
  }
#if CENTER == 0
  moved = sbs_about_own_center(sums, position, center.xyz, center.w);
#elif CENTER == 1
  moved = sbs_about_center(sums, position, texelFetch(set_centers, ivec2(0, set), 0).xyz, center.w);
#else
  SbsCenter found = sbs_begin_center(sums, position, weights[0], joint(joints[0]));
  for (int i = 1; i < 4; i++) {
    found = sbs_add_center(found, sums, position, weights[i], joint(joints[i]), quaternion(joints[i]));
  }
  moved = sbs_about_weighted_center(found, center.w);
#endif
  turned = sbs_normal(sums, normal, center.w);
  gl_Position = vec4(moved, 1.0); // here the camera comes in
}
