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
  const total = pairs.reduce((sum, pair) => sum + pair[1], 0); // nearly 1
  const joints = pairs.map(([bone, weight]) => ({ ...findJoint(skeleton, bone), weight: weight / total }));
  const blend = new Vector4(0, 0, 0, 0);
  for (const { quaternion, weight } of joints) {
    blend.addScaledVector(quaternion, quaternion.dot(joints[0].quaternion) < 0 ? -weight : weight);
  }
  const scale = joints.reduce((sum, joint) => sum + joint.weight * joint.scale, 0);
  const turn = (arm) => arm.clone().applyQuaternion(new Quaternion().copy(blend.normalize()));
  const place = target.applyMatrix4(bindMatrix).clone();
  const arm = new Vector3();
  if (center === "optimized") {
    arm.fromBufferAttribute(_sbs_center, vertex).applyMatrix4(bindMatrix);
    arm.subVectors(place, arm).multiplyScalar(_sbs_center.getW(vertex));
    target.copy(blendLinearly(joints, place.sub(arm))).addScaledVector(turn(arm), scale);
  } else {
    if (sbsSet) arm.subVectors(sbsSet.sets[sbsSet.getX(vertex)](skeleton), place).multiplyScalar(scale);
    else arm.copy(findCenter(joints, place, 1e-6));
    target.copy(blendLinearly(joints, place)).sub(turn(arm)).add(arm.applyMatrix3(blendRotations(joints)));
  }
  return target.applyMatrix4(bindMatrixInverse);
}

/** M = sum w_i R_i. */
function blendRotations(joints) {
  const blend = new Matrix3().multiplyScalar(0);
  for (const { rotation, weight } of joints) rotation.elements.forEach((x, k) => (blend.elements[k] += weight * x));
  return blend;
}

/** sum w_i C_i place. */
const blendLinearly = (joints, place) =>
  joints.reduce((sum, { matrix, weight }) => sum.addScaledVector(place.clone().applyMatrix4(matrix), weight), new Vector3());

/**
 * Where joints move points most alike, as seen from a place: the z that minimizes
 *
 *   sum over pairs w_a w_b (|(R_a - R_b) z + (C_a - C_b) place|^2 + damping |z|^2)
 *
 * With W the sum of weights: (W^2 - M^T M + least) z = M^T sum w_i C_i place - W sum w_i R_i^T C_i place.
 */
export function findCenter(joints, place, damping) {
  const blend = blendRotations(joints);
  const back = blend.clone().transpose();
  const total = joints.reduce((sum, joint) => sum + joint.weight, 0);
  const right = blendLinearly(joints, place).applyMatrix3(back);
  const gram = blend.premultiply(back).multiplyScalar(-1);
  let diagonal = total ** 2 * (1 + damping / 2);
  for (const { matrix, rotation, weight } of joints) {
    const moved = place.clone().applyMatrix4(matrix).applyMatrix3(rotation.clone().transpose());
    right.addScaledVector(moved, -weight * total);
    diagonal -= (damping / 2) * weight ** 2;
  }
  for (const k of [0, 4, 8]) gram.elements[k] += diagonal;
  return right.applyMatrix3(gram.invert());
}
