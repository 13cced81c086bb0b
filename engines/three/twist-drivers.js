// SPDX-License-Identifier: MIT
// Turns the twist joints of a GLB file of sbs by the bones as they are now. docs/engines.md has the formula and the
// fields of the extras.

import { Quaternion, Vector3 } from "three";

const MOST = 1024; // joints
const NEAR = 0.1; // radians from keys, between which clips are interpolated

export class TwistDrivers {
  constructor(mesh) {
    const driven = mesh.skeleton.bones.filter((bone) => bone?.userData.sbs_twist !== undefined);
    need(driven.length <= MOST, `there may be at most ${MOST}`);
    this.bones = new Map(); // each bone with the twist joints along it
    for (const joint of driven) {
      const twist = readTwist(joint);
      this.bones.set(joint.parent, [...(this.bones.get(joint.parent) ?? []), twist]);
    }
  }

  update() {
    for (const twists of this.bones.values()) {
      const angles = twists.map(findAngle);
      if (haveWholeTurns(twists, angles)) continue;
      twists.forEach(({ joint, axis }, i) => {
        joint.quaternion.setFromAxisAngle(axis, angles[i]);
        joint.updateWorldMatrix(false, true);
      });
    }
  }
}

/** Refuses extras that no file of sbs has: files come from anywhere. */
function readTwist(joint) {
  const json = joint.userData.sbs_twist;
  need(json && typeof json === "object", "it must be an object");
  const { parent, child, parent_rest, child_rest, axis, share } = json;
  const bone = joint.parent;
  need(bone, `${JSON.stringify(joint.name)} must be the child of a bone`);
  for (const name of [parent, child]) need(name === null || typeof name === "string", "parent and child must be names");
  const isVector = (list, size) => Array.isArray(list) && list.length === size && list.every(Number.isFinite);
  const isUnit = (list, size) => isVector(list, size) && Math.abs(Math.hypot(...list) - 1) < 1e-3;
  need(isUnit(parent_rest, 4) && isUnit(child_rest, 4), "parent_rest and child_rest must be unit quaternions");
  need(isUnit(axis, 3), "axis must have length 1");
  need(Number.isFinite(share) && share >= 0 && share <= 1, "share must be from 0 to 1");
  const above = parent === null ? null : findAbove(bone, parent);
  const below = child === null ? null : findBelow(bone, child);
  need(above !== undefined, `there is no ${JSON.stringify(parent)} above ${JSON.stringify(bone.name)}`);
  need(below !== undefined, `there is no ${JSON.stringify(child)} below ${JSON.stringify(bone.name)}`);
  return {
    joint,
    bone,
    above,
    below,
    aboveBack: new Quaternion(...parent_rest).normalize().invert(),
    belowBack: new Quaternion(...child_rest).normalize().invert(),
    axis: new Vector3(...axis).normalize(),
    share,
  };
}

function need(condition, reason) {
  if (!condition) throw new Error(`sbs_twist: ${reason}`);
}

/** The name of a node in its file, where three.js may have given it another one. */
const nameOf = ({ name, userData }) => userData.name ?? name;

function findAbove(bone, name) {
  let node = bone.parent;
  while (node && nameOf(node) !== name) node = node.parent;
  return node ?? undefined;
}

function findBelow(bone, name) {
  let found;
  bone.traverse((node) => {
    if (node !== bone && nameOf(node) === name) found ??= node;
  });
  return found;
}

/** The angle of a twist joint about its bone. */
function findAngle({ bone, above, below, aboveBack, belowBack, axis, share }) {
  const own = above ? angleAbout(axis, rotationBetween(bone, above).premultiply(aboveBack)) : 0;
  const ofChild = below ? angleAbout(axis, rotationBetween(below, bone).multiply(belowBack)) : 0;
  return share * ofChild - (1 - share) * own;
}

const rotation = new Quaternion(); // one for all, as this runs in every frame

/** The rotation of a node relative to one above it, through nodes between them; until the next call. */
function rotationBetween(node, above) {
  rotation.copy(node.quaternion);
  for (let next = node.parent; next && next !== above; next = next.parent) rotation.premultiply(next.quaternion);
  return rotation;
}

/** The twist of a rotation about an axis, at most half a turn: the angle of its quaternion without the part across. */
function angleAbout(axis, { x, y, z, w }) {
  const along = axis.x * x + axis.y * y + axis.z * z;
  if (Math.hypot(along, w) < 1e-12) return 0;
  return 2 * Math.atan2(w < 0 ? -along : along, Math.abs(w));
}

/**
 * Whether a clip has keys for twists beyond half a turn: joints are where whole turns more of the twists have them, and
 * are right as they are.
 */
function haveWholeTurns(twists, angles) {
  const isNear = (turns) =>
    twists.every(({ joint, axis, share }, i) => {
      const { x, y, z, w } = joint.quaternion;
      const keyed = 2 * Math.atan2(axis.x * x + axis.y * y + axis.z * z, w);
      return Math.abs(Math.sin((keyed - angles[i]) / 2 - Math.PI * turns * share)) < NEAR / 2;
    });
  return !isNear(0) && [-2, -1, 1, 2].some(isNear);
}
