// SPDX-License-Identifier: MIT
import { SkinnedMesh } from "three";

/** A quaternion (x, y, z, w) of length 1. */
export type Rotation = [number, number, number, number] | number[];

/** One of `extras.pose_drivers` of a mesh; docs/pose-drivers.schema.json in the project has the fields. */
export interface PoseDriverExtras {
  source_joints: number[];
  eval_space_joints: number[];
  rest_rotations: Rotation[];
  twist_axes: number[][];
  part: "swing" | "twist" | "both";
  pose_targets: { driven_name: string; target_rotations: number[][] }[];
}

/** Finds how much there is of each corrective shape of one driver, in any program. */
export class PoseDriver {
  /**
   * @throws Error if joints are no numbers or their own parents, for lists of other lengths or of more than 1,024,
   *   numbers that are not finite, axes of length 0, and poses nearer than 0.001 to another one or to the rest pose
   */
  constructor(json: PoseDriverExtras);
  /** The joints that drive, as numbers of bones, and the one that each turns against, or -1. */
  readonly sources: number[];
  readonly parents: number[];
  /** The morph target of each pose. */
  readonly names: string[];
  /**
   * The weight of each pose.
   * @param rotations of each source joint, relative to the joint that it turns against
   */
  weights(rotations: Rotation[]): number[];
}

/** Sets the morph targets of a mesh from its bones: call `update()` in each frame, after animations and IK. */
export class PoseDrivers {
  /** @throws Error as PoseDriver, and for joints or morph targets that the mesh has not */
  constructor(mesh: SkinnedMesh);
  readonly drivers: PoseDriver[];
  update(): void;
}
