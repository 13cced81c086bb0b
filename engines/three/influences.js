// SPDX-License-Identifier: MIT
// Influences, heaviest first: that is in whose hemisphere the quaternions of all are.

import { BufferAttribute, BufferGeometry, MathUtils } from "three";
import { copyOf } from "./copies.js";

/** [bone, weight] of the influences of a vertex, as they are stored. */
export function readInfluences({ skinIndex, skinWeight, joints_1, weights_1 }, vertex) {
  const read = (bones, weights, factor) =>
    [0, 1, 2, 3].map((k) => [bones.getComponent(vertex, k), factor * weights.getComponent(vertex, k)]);
  const others = joints_1 ? read(joints_1, weights_1, 1) : [];
  // GLTFLoader makes the sum of the first four 1.
  return [...read(skinIndex, skinWeight, others.reduce((rest, [, weight]) => rest - weight, 1)), ...others];
}

/** The geometry itself if its influences are sorted; or a copy, which shares all attributes that are the same. */
export function copyGeometry({ geometry, bindMatrix }, center) {
  return copyOf(geometry, center.findSets ? "sets" : "", () => {
    const { attributes } = geometry;
    const all = Array.from({ length: attributes.skinIndex.count }, (_, vertex) => readInfluences(attributes, vertex));
    const changed = all.every(isSorted) ? {} : sortInfluences(all, attributes);
    if (center.findSets) changed.sbsSet = center.findSets(all, attributes.position, bindMatrix);
    if (!Object.keys(changed).length) return geometry;
    const own = { attributes: { ...attributes, ...changed }, uuid: MathUtils.generateUUID(), _listeners: undefined };
    return Object.assign(new BufferGeometry(), geometry, own);
  });
}

/** Equal ones by bone. */
const order = ([bone, weight], [other, otherWeight]) => otherWeight - weight || bone - other;
const isSorted = (pairs) => pairs.every((pair, k) => !k || !pair[1] || order(pairs[k - 1], pair) <= 0);

function sortInfluences(all, { joints_1 }) {
  const sorted = {};
  for (const name of ["skinIndex", "skinWeight", ...(joints_1 ? ["joints_1", "weights_1"] : [])]) {
    sorted[name] = new BufferAttribute(new Float32Array(4 * all.length), 4);
  }
  all.forEach((pairs, vertex) => {
    pairs.sort(order);
    const sum = (joints_1 && pairs.slice(0, 4).reduce((total, pair) => total + pair[1], 0)) || 1;
    pairs.forEach(([bone, weight], k) => {
      sorted[k < 4 ? "skinIndex" : "joints_1"].setComponent(vertex, k & 3, bone);
      sorted[k < 4 ? "skinWeight" : "weights_1"].setComponent(vertex, k & 3, k < 4 ? weight / sum : weight);
    });
  });
  return sorted;
}
