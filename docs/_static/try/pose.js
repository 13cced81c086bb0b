// SPDX-License-Identifier: MIT
// One joint of a character that bends and twists, with all that hangs on it.

import { add, cross, length, multiply, normalize, rotation, subtract, transform } from "./matrix.js";

const triple = (array, i) => [...array.subarray(3 * i, 3 * i + 3)];

/** How many joints are below each one, itself included. */
function sizes(parents) {
  const found = new Int32Array(parents.length);
  parents.forEach((_, joint) => {
    for (let above = joint; above >= 0; above = parents[above]) found[above]++;
  });
  return found;
}

/**
 * A joint with its bone, which goes on to the child that most joints hang on; at the end of a chain, as its parent's.
 */
export class Turned {
  constructor(character, joint) {
    const { parents, bind, rest } = character;
    const size = sizes(parents);
    const children = [...parents.keys()].filter((child) => parents[child] === joint);
    this.child = children.sort((a, b) => size[b] - size[a])[0] ?? -1;
    this.joint = joint;
    this.rest = rest;
    this.head = triple(bind, joint);
    const above = parents[joint] < 0 ? add(this.head, [0, -1, 0]) : triple(bind, parents[joint]);
    const along = subtract(this.head, above);
    this.tail = this.child < 0 ? add(this.head, length(along) ? along : [0, 1, 0]) : triple(bind, this.child);

    const place = (point, matrix = rest.subarray(12 * joint, 12 * joint + 12)) => transform(matrix, point);
    this.pivot = place(this.head);
    this.bone = normalize(subtract(place(this.tail), this.pivot));
    // About what the limb is bent at rest, if it is bent; else across the bone, as nearly level as can be.
    const hinge = cross(normalize(subtract(this.pivot, place(above))), this.bone);
    const level = cross([0, 1, 0], this.bone);
    const other = length(level) > 0.1 ? level : cross([0, 0, 1], this.bone);
    this.hinge = normalize(length(hinge) > 0.05 ? hinge : other);

    this.moved = new Uint8Array(parents.length);
    for (let j = 0; j < parents.length; j++) {
      for (let above = j; above >= 0; above = parents[above]) if (above === joint) this.moved[j] = 1;
    }
  }

  /** Skinning matrices (J, 3, 4) with the joint bent and twisted, by radians. */
  matrices(bend, twist) {
    const turn = multiply(rotation(this.hinge, bend, this.pivot), rotation(this.bone, twist, this.pivot));
    const out = Float64Array.from(this.rest);
    this.moved.forEach((moved, j) => {
      if (moved) out.set(multiply(turn, this.rest.subarray(12 * j, 12 * j + 12)), 12 * j);
    });
    return out;
  }
}
