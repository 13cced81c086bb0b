// SPDX-License-Identifier: MIT
// A mesh in many poses: one invocation for each vertex and frame. It goes behind the functions of spherical.wgsl, in one
// module. `sbs.gpu` runs it from Python; what it reads is written by sbs_skin_influences and sbs_pose_palette.

override WIDTH: u32 = 4;  // influences of each vertex
override CENTER: u32 = 1; // what a vertex turns about. 0: nothing, which is linear blending; 1: the center of its joint
                          // set; 2: its own center, which is near; 3: its weighted center, which is found here

struct Counts { vertices: u32, joints: u32, joint_sets: u32, normals: u32 } // of each frame; are there normals?
struct Vertex { position: vec3f, joint_set: u32, normal: vec3f, amount: f32, center: vec3f }
struct Influence { joint: u32, weight: f32 }
struct Joint { x: vec4f, y: vec4f, z: vec4f, quaternion: vec4f } // the rows of its matrix

@group(0) @binding(0) var<uniform> counts: Counts;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;      // (V)
@group(0) @binding(2) var<storage, read> influences: array<Influence>; // (V, WIDTH), heaviest first
@group(0) @binding(3) var<storage, read> joints: array<Joint>;         // (F, J)
@group(0) @binding(4) var<storage, read> centers: array<vec4f>;        // (F, N), those of joint sets
@group(0) @binding(5) var<storage, read_write> positions: array<f32>;  // (F, V, 3)
@group(0) @binding(6) var<storage, read_write> normals: array<f32>;    // (F, V, 3)

fn matrix(joint: Joint) -> mat4x3f {
  return transpose(mat3x4f(joint.x, joint.y, joint.z));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= counts.vertices) {
    return;
  }
  let frame = id.y;
  let vertex = vertices[id.x];
  let position = vertex.position;

  let heaviest = influences[WIDTH * id.x];
  let pivot = joints[frame * counts.joints + heaviest.joint];
  var sums = sbs_begin(heaviest.weight, matrix(pivot), pivot.quaternion);
  for (var i = 1u; i < WIDTH; i++) {
    let influence = influences[WIDTH * id.x + i];
    let joint = joints[frame * counts.joints + influence.joint];
    sums = sbs_add(sums, influence.weight, matrix(joint), joint.quaternion);
  }

  var moved = position;
  if (CENTER == 0) {
    moved = sbs_linear(sums, position);
  } else if (CENTER == 1) {
    moved = sbs_about_center(sums, position, centers[frame * counts.joint_sets + vertex.joint_set].xyz, vertex.amount);
  } else if (CENTER == 2) {
    moved = sbs_about_own_center(sums, position, vertex.center, vertex.amount);
  } else {
    var found = sbs_begin_center(sums, position, heaviest.weight, matrix(pivot));
    for (var i = 1u; i < WIDTH; i++) {
      let influence = influences[WIDTH * id.x + i];
      let joint = joints[frame * counts.joints + influence.joint];
      found = sbs_add_center(found, sums, position, influence.weight, matrix(joint), joint.quaternion);
    }
    moved = sbs_about_weighted_center(found, vertex.amount);
  }
  let to = 3 * (frame * counts.vertices + id.x);
  positions[to] = moved.x;
  positions[to + 1] = moved.y;
  positions[to + 2] = moved.z;
  if (counts.normals != 0) {
    let turned = sbs_normal(sums, vertex.normal, vertex.amount);
    normals[to] = turned.x;
    normals[to + 1] = turned.y;
    normals[to + 2] = turned.z;
  }
}
