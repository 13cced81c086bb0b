// SPDX-License-Identifier: MIT
// What shaders do, in double, for rays and bounding boxes.

import { Matrix3, Quaternion, Vector3, Vector4 } from "three";
import { readInfluences } from "./influences.js";
import { findJoint } from "./skeleton.js";

/** As SkinnedMesh.applyBoneTransform, of the bones as they are now. */
export function deformVertex({ geometry, skeleton, bindMatrix, bindMatrixInverse }, center, vertex, target) {
  const { _sbs_center, sbsSet } = geometry.attributes;
  const pairs = readInfluences(geometry.attributes, vertex).filter((pair) => pair[1] > 0);
  if (!pairs.length) return target;
  const joints = pairs.map(([bone]) => findJoint(skeleton, bone));
  const weights = pairs.map(([, weight]) => weight);
  const blend = new Vector4(0, 0, 0, 0);
  let scale = 0;
  joints.forEach((joint, i) => {
    const sign = Math.sign(joint.quaternion.dot(joints[0].quaternion)) || 1;
    blend.addScaledVector(joint.quaternion, sign * weights[i]);
    scale += weights[i] * joint.scale;
  });
  const turn = (arm) => arm.clone().applyQuaternion(new Quaternion().copy(blend.normalize()));
  const place = target.applyMatrix4(bindMatrix).clone();
  if (center === "optimized") {
    const arm = new Vector3().fromBufferAttribute(_sbs_center, vertex).applyMatrix4(bindMatrix);
    arm.subVectors(place, arm).multiplyScalar(_sbs_center.getW(vertex));
    target.copy(blendLinearly(joints, weights, place.sub(arm))).addScaledVector(turn(arm), scale);
  } else {
    const arm = sbsSet
      ? sbsSet.sets[sbsSet.getX(vertex)](skeleton).sub(place).multiplyScalar(scale)
      : findCenter(joints, weights, place, 1e-6);
    target.copy(blendLinearly(joints, weights, place)).add(arm.clone().applyMatrix3(blendRotations(joints, weights))).sub(turn(arm));
  }
  return target.applyMatrix4(bindMatrixInverse);
}

/** M = sum w_i R_i. */
function blendRotations(joints, weights) {
  const blend = new Matrix3().multiplyScalar(0);
  joints.forEach(({ rotation }, i) => rotation.elements.forEach((x, k) => (blend.elements[k] += weights[i] * x)));
  return blend;
}

/** sum w_i C_i place. */
function blendLinearly(joints, weights, place) {
  const move = (sum, { matrix }, i) => sum.addScaledVector(place.clone().applyMatrix4(matrix), weights[i]);
  return joints.reduce(move, new Vector3());
}

/**
 * Where joints move points most alike, as seen from a place: the z that minimizes
 *
 *   sum over pairs w_a w_b (|(R_a - R_b) z + (C_a - C_b) place|^2 + damping |z|^2)
 *
 * With W the sum of weights: (W^2 - M^T M + least) z = M^T sum w_i C_i place - W sum w_i R_i^T C_i place.
 */
export function findCenter(joints, weights, place, damping) {
  const back = blendRotations(joints, weights).transpose();
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const right = blendLinearly(joints, weights, place).applyMatrix3(back);
  const gram = back.clone().multiply(back.clone().transpose()).multiplyScalar(-1);
  const add = (x) => [0, 4, 8].forEach((k) => (gram.elements[k] += x));
  add(total ** 2 * (1 + damping / 2));
  joints.forEach(({ matrix, rotation }, i) => {
    const moved = place.clone().applyMatrix4(matrix).applyMatrix3(rotation.clone().transpose());
    right.addScaledVector(moved, -weights[i] * total);
    add((-damping / 2) * weights[i] ** 2);
  });
  return right.applyMatrix3(gram.invert());
}
