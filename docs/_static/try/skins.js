// SPDX-License-Identifier: MIT
// The skins of a file as one: glTF has a skin for each set of joints and bind pose, and meshes of one figure often have
// several.

import { IDENTITY, invert, multiply, transform } from "./matrix.js";

/** Matrices that are stored as float32 and differ by no more than this are the same. */
const SAME = 1e-5;

function alike(a, b) {
  const largest = Math.max(...a.map(Math.abs));
  return a.every((value, i) => Math.abs(value - b[i]) <= SAME * largest);
}

/**
 * One skeleton for several skins.
 *
 * @param skins an array of joints (numbers of nodes) with inverse bind matrices, `inverses` (J of 12 numbers)
 * @param world the matrix of each node, node to scene
 * @param parentOf the parent of each node, or -1
 * @returns `nodes` (J), the node of each joint; `parents` (J); `bind`, where joints are in the bind pose (J, 3); `rest`,
 *   their skinning matrices in the pose of the file (J, 3, 4); and `uses`, for each skin the numbers of its joints here
 *   and the matrix that takes its meshes to the common bind space. A node that a skin has bound in another pose is a
 *   joint of its own, below the first one.
 */
export function joinSkins(skins, world, parentOf) {
  const nodes = [];
  const inverses = [];
  const numberOf = new Map();
  const uses = skins.map((skin) => {
    const toCommon = between(skin, nodes, inverses, numberOf, world);
    const fromCommon = invert(toCommon);
    const joints = skin.joints.map((node, j) => {
      const inverse = multiply(skin.inverses[j], fromCommon);
      const known = numberOf.get(node);
      if (known !== undefined && alike(inverses[known], inverse)) return known;
      nodes.push(node);
      inverses.push(inverse);
      if (known === undefined) numberOf.set(node, nodes.length - 1);
      return nodes.length - 1;
    });
    return { joints, matrix: toCommon };
  });
  const parents = Int32Array.from(nodes, (node, j) => {
    if (numberOf.get(node) !== j) return numberOf.get(node);
    let above = parentOf[node];
    while (above >= 0 && !numberOf.has(above)) above = parentOf[above];
    return above < 0 ? -1 : numberOf.get(above);
  });
  const bind = new Float64Array(3 * nodes.length);
  const rest = new Float64Array(12 * nodes.length);
  nodes.forEach((node, j) => {
    bind.set(transform(invert(inverses[j]), [0, 0, 0]), 3 * j);
    rest.set(multiply(world[node], inverses[j]), 12 * j);
  });
  return { nodes, parents, bind, rest, uses };
}

/**
 * The matrix from the bind space of a skin to that of those before: what most joints that they share tell, or, if they
 * share none, the pose of the file.
 */
function between(skin, nodes, inverses, numberOf, world) {
  const candidates = skin.joints.flatMap((node, j) => {
    const known = numberOf.get(node);
    return known === undefined ? [] : [multiply(invert(inverses[known]), skin.inverses[j])];
  });
  if (candidates.length) {
    const agree = (one) => candidates.filter((other) => alike(one, other)).length;
    const counts = candidates.map(agree);
    const best = candidates[counts.indexOf(Math.max(...counts))];
    return alike(best, IDENTITY) ? IDENTITY : best;
  }
  if (!nodes.length) return IDENTITY;
  const before = multiply(world[nodes[0]], inverses[0]);
  return multiply(invert(before), multiply(world[skin.joints[0]], skin.inverses[0]));
}
