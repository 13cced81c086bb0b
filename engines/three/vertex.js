// SPDX-License-Identifier: MIT
// What shaders do, in double, for rays and bounding boxes.

import { Quaternion, Vector3 } from "three";
import { findCenter } from "./center.js";
import { influences } from "./geometry.js";
import { findJoint, findSetCenter } from "./skeleton.js";

/** As SkinnedMesh.applyBoneTransform: `target` is where a vertex is at rest, with its morph targets, and then posed. */
export function deformVertex({ geometry, skeleton, bindMatrix, bindMatrixInverse }, how, sets, vertex, target) {
  const { attributes } = geometry;
  const pairs = influences(attributes, vertex).filter((pair) => pair[1] > 0);
  if (!pairs.length) return target;
  const weights = pairs.map((pair) => pair[1]);
  const joints = pairs.map((pair) => findJoint(skeleton, pair[0]));
  const sum = (of) => joints.reduce((total, joint, i) => total.addScaledVector(of(joint), weights[i]), new Vector3());
  const place = target.applyMatrix4(bindMatrix).clone();
  const linear = sum(({ matrix }) => place.clone().applyMatrix4(matrix));
  const blend = [0, 0, 0, 0];
  let scale = 0;
  joints.forEach((joint, i) => {
    const weight = joint.quaternion.dot(joints[0].quaternion) < 0 ? -weights[i] : weights[i];
    joint.quaternion.toArray().forEach((x, k) => (blend[k] += weight * x));
    scale += weights[i] * joint.scale;
  });
  const turn = (arm) => arm.clone().applyQuaternion(new Quaternion(...blend).normalize());
  let amount = 1;
  if (how === "optimized") {
    const { _sbs_center } = attributes;
    amount = _sbs_center.getW(vertex);
    const center = new Vector3().fromBufferAttribute(_sbs_center, vertex).applyMatrix4(bindMatrix);
    target.copy(sum(({ matrix }) => center.clone().applyMatrix4(matrix))).addScaledVector(turn(place.sub(center)), scale);
  } else {
    const arm =
      how === "weighted"
        ? findCenter(joints, weights, place, 1e-6)
        : findSetCenter(skeleton, sets[attributes.sbsSet.getX(vertex)]).sub(place).multiplyScalar(scale);
    target.copy(linear).add(sum(({ rotation }) => arm.clone().applyMatrix3(rotation))).sub(turn(arm));
  }
  return target.lerp(linear, 1 - amount).applyMatrix4(bindMatrixInverse);
}
