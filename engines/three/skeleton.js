// SPDX-License-Identifier: MIT
// Skeletons whose bone texture is longer. Matrices are where three.js has them, and from the last texel backwards there
// are the quaternions of bones, then the rotation centers of joint sets. So materials need no uniform, and those that
// know nothing of it go on working.

import { DataTexture, FloatType, Matrix3, Matrix4, Quaternion, RGBAFormat } from "three";
import { findCenter } from "./center.js";

const WIDTH = 256; // texels
const states = new WeakMap(); // skeleton -> its joints, the joint sets of its meshes, and these meshes
const firstSets = new WeakMap(); // joint sets of a geometry -> the number of the first, if possible in all skeletons
const product = new Matrix4();
const identity = new Matrix4();
const inverse = new Matrix3();

/** Sets properties of an object. The function that comes back sets them as they were. */
export function change(object, values) {
  const before = Object.keys(values).map((name) => [name, Object.getOwnPropertyDescriptor(object, name)]);
  Object.assign(object, values);
  return () => before.forEach(([name, own]) => (own ? Object.defineProperty(object, name, own) : delete object[name]));
}

/** Has the skeleton of a mesh keep quaternions, and the centers of joint sets. Returns where the first of these is. */
export function extendSkeleton(mesh, sets) {
  const { skeleton } = mesh;
  const state = states.get(skeleton) ?? extend(skeleton);
  state.meshes.add(mesh);
  let first = firstSets.get(sets);
  if (first === undefined || !sets.every((set, k) => (state.sets[first + k] ?? set) === set)) first = state.sets.length;
  firstSets.set(sets, first);
  sets.forEach((set, k) => (state.sets[first + k] = set));
  skeleton.dispose(); // the texture may be too short
  skeleton.update();
  return skeleton.bones.length + first;
}

/** Has a skeleton be as before, once none of its meshes deforms spherically. */
export function releaseSkeleton(skeleton, mesh) {
  const state = states.get(skeleton);
  state.meshes.delete(mesh);
  if (state.meshes.size) return;
  states.delete(skeleton);
  skeleton.dispose();
  state.undo();
  skeleton.update();
}

function extend(skeleton) {
  const joints = skeleton.bones.map(() => ({ matrix: new Matrix4(), rotation: new Matrix3(), quaternion: new Quaternion(), scale: 1 }));
  const state = { joints, sets: [], meshes: new Set() };
  const update = skeleton.update;
  const computeBoneTexture = () => {
    const height = Math.ceil((5 * joints.length + state.sets.length) / WIDTH);
    skeleton.boneMatrices = new Float32Array(4 * WIDTH * height);
    skeleton.boneTexture = new DataTexture(skeleton.boneMatrices, WIDTH, height, RGBAFormat, FloatType);
    skeleton.update();
    return skeleton;
  };
  state.undo = change(skeleton, {
    boneMatrices: null,
    boneTexture: null,
    computeBoneTexture,
    update() {
      if (!skeleton.boneTexture) return void computeBoneTexture();
      update.call(skeleton);
      write(skeleton, state);
    },
  });
  states.set(skeleton, state);
  return state;
}

function write(skeleton, state) {
  const { boneMatrices } = skeleton;
  let to = boneMatrices.length - 4;
  skeleton.bones.forEach((_, bone) => {
    const { quaternion, scale } = findJoint(skeleton, bone);
    // Of the two quaternions the one whose w has the sign of the scale.
    const factor = Math.sqrt(Math.abs(scale)) * (quaternion.w < 0 === scale < 0 ? 1 : -1);
    quaternion.toArray(boneMatrices, to);
    for (let k = 0; k < 4; k++) boneMatrices[to + k] *= factor;
    to -= 4;
  });
  state.sets.forEach((set, number) => findSetCenter(skeleton, set).toArray(boneMatrices, to - 4 * number));
}

/** The skinning matrix of a bone as it is now, in double, with the nearest rotation to it, and the scale of that. */
export function findJoint(skeleton, bone) {
  const joint = states.get(skeleton).joints[bone];
  const { matrix, rotation, quaternion } = joint;
  product.multiplyMatrices(skeleton.bones[bone]?.matrixWorld ?? identity, skeleton.boneInverses[bone]);
  if (product.equals(matrix)) return joint;
  matrix.copy(product);
  rotation.setFromMatrix4(matrix);
  joint.scale = Math.cbrt(rotation.determinant());
  if (joint.scale) rotation.multiplyScalar(1 / joint.scale);
  else rotation.identity();
  // The polar form, by Newton's iteration. Matrices that only turn and scale are there at once.
  for (let step = 0, change = 1; change > 1e-14 && step < 20; step++) {
    inverse.copy(rotation).invert().transpose();
    change = 0;
    inverse.elements.forEach((x, k) => {
      change = Math.max(change, Math.abs(x - rotation.elements[k]));
      rotation.elements[k] = (rotation.elements[k] + x) / 2;
    });
  }
  quaternion.setFromRotationMatrix(product.setFromMatrix3(rotation));
  quaternion.w ||= 1e-20; // for its sign
  return joint;
}

/** The rotation center of a joint set in the current pose. */
export function findSetCenter(skeleton, { bones, place }) {
  const joints = bones.map((bone) => findJoint(skeleton, bone));
  const scale = Math.sqrt(joints.reduce((sum, joint) => sum + joint.scale ** 2, 0) / bones.length) * Math.sign(joints[0]?.scale);
  return bones.length < 2 ? place.clone() : findCenter(joints, joints.map(() => 1), place, 1e-8).divideScalar(scale).add(place);
}
