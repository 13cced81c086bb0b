// SPDX-License-Identifier: MIT
import { SkinnedMesh } from "three";

/** `extras.sbs_twist` of the node of a twist joint; docs/engines.md in the project has the formula. */
export interface TwistExtras {
  /** The names of the nodes above and below the bone, which its twists are found between, or null. */
  parent: string | null;
  child: string | null;
  /** Quaternions (x, y, z, w) at bind: of the bone relative to the parent, and of the child relative to the bone. */
  parent_rest: number[];
  child_rest: number[];
  /** The direction of the bone in its own space, of length 1. */
  axis: number[];
  /** Of the child's twist, from 0 to 1; 1 - share of the bone's own is taken back. */
  share: number;
}

/**
 * Turns the twist joints of a skinned mesh by its bones. `sphericalSkinning` does it by itself when a mesh is drawn;
 * one that blends linearly, as of `sbs improve`, needs `update()` in each frame, after animations and IK.
 */
export class TwistDrivers {
  /**
   * @throws Error for more than 1,024 twist joints, names of nodes that are not above or below the bone, quaternions
   *   and axes that are not of length 1, and shares that are not between 0 and 1
   */
  constructor(mesh: SkinnedMesh);
  /** Sets rotations. Keys of a clip stay where they follow a twist beyond half a turn. */
  update(): void;
}
