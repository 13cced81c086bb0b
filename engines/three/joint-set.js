// SPDX-License-Identifier: MIT
// The rotation centers of the paper of 2005: one for all vertices of the same bones, found in each pose.

import { BufferAttribute, Vector3 } from "three";
import { findJoint } from "./skeleton.js";
import { findCenter } from "./vertex.js";

// From here on bones of a set count as scaled differently. Less is rounding of bones that are animated in float32.
const ALIKE = 1e-3;

/** Each vertex's number of its joint set, with `sets`: functions that find the center for the pose of a skeleton. */
function findSets(all, positions, bindMatrix) {
  const found = new Map();
  const place = new Vector3();
  const numbers = all.map((pairs, vertex) => {
    const bones = pairs.filter((pair) => pair[1] > 0).map((pair) => pair[0]).sort((a, b) => a - b);
    const key = bones.join();
    if (!found.has(key)) found.set(key, { bones, number: found.size, mean: new Vector3(), count: 0 });
    const set = found.get(key);
    set.mean.add(place.fromBufferAttribute(positions, vertex).applyMatrix4(bindMatrix));
    set.count++;
    return set.number;
  });
  const sets = [...found.values()].map(({ bones, mean, count }) => {
    mean.divideScalar(count);
    return (skeleton) => findSetCenter(bones.map((bone) => findJoint(skeleton, bone)), mean);
  });
  return Object.assign(new BufferAttribute(new Float32Array(numbers), 1), { sets });
}

function findSetCenter(joints, mean) {
  if (joints.length < 2) return mean.clone();
  const scales = joints.map(({ scale }) => Math.abs(scale));
  if (Math.max(...scales) - Math.min(...scales) > ALIKE * Math.max(...scales)) {
    throw new Error('sphericalSkinning: bones that share vertices have different scales; take the center "weighted"');
  }
  const square = joints.reduce((sum, { scale }) => sum + scale ** 2, 0) / joints.length;
  const all = joints.map((joint) => ({ ...joint, weight: 1 }));
  return findCenter(all, mean, 1e-8).divideScalar(Math.sqrt(square) * Math.sign(joints[0].scale)).add(mean);
}

export const jointSet = { findSets };
