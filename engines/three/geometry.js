// SPDX-License-Identifier: MIT
// The influences of a geometry, heaviest first, and its joint sets.

import { BufferAttribute, BufferGeometry, MathUtils, Vector3 } from "three";

const sources = new WeakMap(); // copy -> geometry
const prepared = new WeakMap(); // geometry -> what was prepared of it

/** The geometry that a copy was made from, or the geometry itself. */
export const sourceGeometry = (geometry) => sources.get(geometry) ?? geometry;

/** Has it prepared once more, as it may change meanwhile. */
export const forgetGeometry = (geometry) => prepared.delete(geometry);

/**
 * The geometry that shaders need: a copy if its influences are not sorted, or with the numbers of joint sets.
 * Attributes that are the same are shared.
 */
export function prepareGeometry({ geometry, bindMatrix }, how) {
  if (!prepared.has(geometry)) prepared.set(geometry, {});
  return (prepared.get(geometry)[how] ??= prepare(geometry, bindMatrix, how));
}

function prepare(geometry, bindMatrix, how) {
  const { attributes } = geometry;
  const all = Array.from({ length: attributes.skinIndex.count }, (_, vertex) => influences(attributes, vertex));
  const changed = all.every(isSorted) ? {} : sortInfluences(all, attributes);
  let sets = [];
  if (how === "joint_set") {
    const { list, numbers } = findSets(all, attributes.position, bindMatrix);
    sets = list;
    changed.sbsSet = new BufferAttribute(new Float32Array(numbers), 1);
  }
  if (!Object.keys(changed).length) return { geometry, sets };
  const own = { _listeners: undefined, uuid: MathUtils.generateUUID(), attributes: { ...attributes, ...changed } };
  const copy = Object.assign(new BufferGeometry(), geometry, own);
  sources.set(copy, geometry);
  return { geometry: copy, sets };
}

/** The heaviest first, in whose hemisphere the quaternions of all are; equal ones by bone. */
const order = (a, b) => b[1] - a[1] || a[0] - b[0];

/** [bone, weight] of each influence of a vertex, also of those without weight, as they are stored. */
export function influences({ skinIndex, skinWeight, joints_1, weights_1 }, vertex) {
  const slots = [0, 1, 2, 3];
  const read = (bones, weights, factor) =>
    slots.map((k) => [bones.getComponent(vertex, k), factor * weights.getComponent(vertex, k)]);
  const others = joints_1 ? read(joints_1, weights_1, 1) : [];
  // Loaders make the sum of the first four 1.
  return read(skinIndex, skinWeight, others.reduce((rest, pair) => rest - pair[1], 1)).concat(others);
}

const isSorted = (pairs) => pairs.every((pair, k) => !k || !pair[1] || order(pairs[k - 1], pair) <= 0);

function sortInfluences(all, { joints_1 }) {
  const sorted = {};
  for (const name of joints_1 ? ["skinIndex", "skinWeight", "joints_1", "weights_1"] : ["skinIndex", "skinWeight"]) {
    sorted[name] = new BufferAttribute(new Float32Array(4 * all.length), 4);
  }
  all.forEach((pairs, vertex) => {
    pairs.sort(order);
    const sum = joints_1 ? pairs.slice(0, 4).reduce((total, pair) => total + pair[1], 0) : 1;
    pairs.forEach(([bone, weight], k) => {
      (k < 4 ? sorted.skinIndex : sorted.joints_1).setComponent(vertex, k & 3, bone);
      (k < 4 ? sorted.skinWeight : sorted.weights_1).setComponent(vertex, k & 3, k < 4 && weight ? weight / sum : weight);
    });
  });
  return sorted;
}

/** Joint sets: their bones, the mean place of their vertices, and the number of each vertex's set. */
function findSets(all, positions, bindMatrix) {
  const sets = new Map();
  const place = new Vector3();
  const numbers = all.map((pairs, vertex) => {
    const bones = pairs.filter((pair) => pair[1] > 0).map((pair) => pair[0]).sort((a, b) => a - b);
    const key = bones.join();
    if (!sets.has(key)) sets.set(key, { bones, number: sets.size, place: new Vector3(), count: 0 });
    const set = sets.get(key);
    set.place.add(place.fromBufferAttribute(positions, vertex).applyMatrix4(bindMatrix));
    set.count++;
    return set.number;
  });
  const list = [...sets.values()];
  for (const set of list) set.place.divideScalar(set.count);
  return { list, numbers };
}
