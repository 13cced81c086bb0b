// SPDX-License-Identifier: MIT
// Skeletons whose bone texture is longer: matrices are where three.js has them, and from the last texel backwards there
// are the quaternions of bones, then the centers of joint sets. So materials need no uniform, and others go on working.

import { DataTexture, FloatType, Matrix3, Matrix4, Quaternion, RGBAFormat } from "three";
import { TwistDrivers } from "./twist-drivers.js";

const states = new WeakMap(); // skeleton -> its joints, the functions that find centers of sets, its meshes, and undo
const product = new Matrix4();
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
  const state = states.get(skeleton) ?? extend(mesh);
  state.meshes.add(mesh);
  let first = state.sets.indexOf(sets[0]);
  if (first < 0) first = state.sets.push(...sets) - sets.length;
  skeleton.dispose(); // the texture may be too short
  skeleton.update();
  return skeleton.bones.length + first;
}

/** Has a skeleton be as before, once none of its meshes deforms spherically. */
export function releaseSkeleton(skeleton, mesh) {
  const { meshes, undo } = states.get(skeleton);
  meshes.delete(mesh);
  if (meshes.size) return;
  states.delete(skeleton);
  skeleton.dispose();
  undo();
  skeleton.update();
}

function extend(mesh) {
  const { skeleton } = mesh;
  const twists = readTwists(mesh);
  const joints = skeleton.bones.map(() => ({ matrix: new Matrix4(), rotation: new Matrix3(), quaternion: new Quaternion(), scale: 1 }));
  const { update } = skeleton;
  const sets = [];
  const undo = change(skeleton, {
    boneMatrices: null,
    boneTexture: null,
    computeBoneTexture() {
      const height = Math.ceil((5 * joints.length + sets.length) / 256);
      this.boneMatrices = new Float32Array(1024 * height);
      this.boneTexture = new DataTexture(this.boneMatrices, 256, height, RGBAFormat, FloatType);
      this.update();
      return this;
    },
    update() {
      if (!this.boneTexture) return void this.computeBoneTexture();
      twists?.update();
      update.call(this);
      let to = this.boneMatrices.length;
      joints.forEach((_, bone) => {
        const { quaternion, scale } = findJoint(this, bone);
        // Of the two quaternions the one whose w has the sign of the scale.
        const factor = Math.sqrt(Math.abs(scale)) * Math.sign(scale * quaternion.w);
        this.boneMatrices.set(quaternion.toArray().map((x) => factor * x), (to -= 4));
      });
      for (const find of sets) find(this).toArray(this.boneMatrices, (to -= 4));
    },
  });
  const state = { joints, sets, meshes: new Set(), undo };
  states.set(skeleton, state);
  return state;
}

/** The drivers of twist joints; a warning if their extras are damaged. */
function readTwists(mesh) {
  try {
    return new TwistDrivers(mesh);
  } catch ({ message }) {
    console.warn(`sphericalSkinning of "${mesh.name}": ${message}; twist joints move by keys alone`);
  }
}

/** The skinning matrix of a bone as it is now, in double, with the nearest rotation to it, and the scale of that. */
export function findJoint(skeleton, bone) {
  const joint = states.get(skeleton).joints[bone];
  const { matrix, rotation, quaternion } = joint;
  product.multiplyMatrices(skeleton.bones[bone]?.matrixWorld ?? new Matrix4(), skeleton.boneInverses[bone]);
  if (product.equals(matrix)) return joint;
  rotation.setFromMatrix4(matrix.copy(product));
  joint.scale = Math.cbrt(rotation.determinant());
  if (joint.scale) rotation.multiplyScalar(1 / joint.scale);
  else rotation.identity();
  // The polar form, by Newton's iteration. If there is no stretch it is there at once.
  do {
    inverse.copy(rotation).invert().transpose();
    rotation.elements.forEach((x, k) => (rotation.elements[k] = (x + inverse.elements[k]) / 2));
  } while (rotation.determinant() > 1 + 1e-14);
  quaternion.setFromRotationMatrix(product.setFromMatrix3(rotation));
  quaternion.w ||= 1e-20; // as its sign matters
  return joint;
}
