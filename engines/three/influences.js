// SPDX-License-Identifier: MIT
// Influences, the heaviest first: quaternions are blended in its hemisphere.

import { BufferAttribute, BufferGeometry } from "three";
import { copyOf } from "./copies.js";

const NAMES = [["skinIndex", "skinWeight"], ["joints_1", "weights_1"]];

/** [bone, weight] of the influences of a vertex, as they are stored. */
export function readInfluences(attributes, vertex) {
  const [first, others] = NAMES.map((names) => {
    const [bones, weights] = names.map((name) => attributes[name]);
    return bones ? [0, 1, 2, 3].map((k) => [bones.getComponent(vertex, k), weights.getComponent(vertex, k)]) : [];
  });
  const rest = others.reduce((sum, pair) => sum - pair[1], 1);
  for (const pair of first) pair[1] *= rest; // GLTFLoader makes their sum 1
  return [...first, ...others];
}

/** The geometry itself if its influences are sorted, else a copy, which shares all other attributes. */
export function copyGeometry({ geometry, bindMatrix }, center, centers) {
  const fitted = center === "optimized" && centers !== geometry.attributes._sbs_center;
  return copyOf(geometry, center.findSets ? "sets" : fitted ? "fitted" : "", () => {
    const { attributes } = geometry;
    const all = Array.from({ length: attributes.skinIndex.count }, (_, vertex) => readInfluences(attributes, vertex));
    const changed = all.every(isSorted) ? {} : sortInfluences(all);
    if (fitted) changed._sbs_center = centers;
    if (center.findSets) changed.sbsSet = center.findSets(all, attributes.position, bindMatrix);
    if (!Object.keys(changed).length) return geometry;
    const copy = new BufferGeometry();
    const { uuid } = copy;
    return Object.assign(copy, geometry, { uuid, _listeners: undefined, attributes: { ...attributes, ...changed } });
  });
}

/** By weight, and equal ones by bone. */
const order = ([bone, weight], [other, otherWeight]) => otherWeight - weight || bone - other;
const isSorted = (pairs) => pairs.every((pair, k) => !k || !pair[1] || order(pairs[k - 1], pair) <= 0);

function sortInfluences(all) {
  const sorted = {};
  for (const name of NAMES.slice(0, all[0].length / 4).flat()) {
    sorted[name] = new BufferAttribute(new Float32Array(4 * all.length), 4);
  }
  all.forEach((pairs, vertex) => {
    pairs.sort(order);
    const sum = (pairs[4] && pairs.slice(0, 4).reduce((total, pair) => total + pair[1], 0)) || 1;
    pairs.forEach((pair, k) => {
      if (k < 4) pair[1] /= sum;
      NAMES[k >> 2].forEach((name, i) => sorted[name].setComponent(vertex, k & 3, pair[i]));
    });
  });
  return sorted;
}
