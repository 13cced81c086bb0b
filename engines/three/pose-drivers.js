// SPDX-License-Identifier: MIT
// Evaluates the drivers of correctives that a GLB file of sbs has: how much there is of each shape, from the rotations
// of bones as they are now. csrc/include/sbs/drivers.h has the formula, docs/pose-drivers.schema.json the fields.
// Quaternions are (x, y, z, w), as those of glTF.

/** The weights of the poses of one driver. */
export class PoseDriver {
  /** @param {object} json one of `extras.pose_drivers` of a mesh */
  constructor(json) {
    check(json);
    this.sources = json.source_joints;
    this.parents = json.eval_space_joints;
    this.rest = json.rest_rotations;
    this.axes = json.twist_axes.map((axis) => axis.map((x) => x / Math.hypot(...axis)));
    this.part = json.part;
    this.names = json.pose_targets.map((pose) => pose.driven_name);
    this.poses = json.pose_targets.map((pose) => pose.target_rotations.flat());
    this.reached = this.poses.map((pose) => reach(pose, this.poses));
  }

  /**
   * The weight of each pose.
   * @param {number[][]} rotations of each source joint, relative to the joint that it turns against
   */
  weights(rotations) {
    const x = rotations.flatMap((q, i) => coordinates(q, this.rest[i], this.axes[i], this.part));
    const near = this.poses.map((pose) => nearness(x, pose));
    const shares = this.poses.map((pose, k) => {
      const faded = this.poses.map((other, j) => (j === k ? 0 : fade(x, pose, other, near[j])));
      return near[k] / (1 + Math.hypot(...faded.map((u) => u / Math.max(1 - u, 1e-30))));
    });
    const all = shares.reduce((sum, share) => sum + share, 0);
    if (!(all > 0)) return shares;
    const atPoses = shares.reduce((sum, share, k) => sum + share * this.reached[k], 0);
    const together = levelOff((reach(x, this.poses) * all) / atPoses);
    return shares.map((share) => (together * share) / all);
  }
}

/**
 * Sets the influences of the morph targets of a skinned mesh of three.js from its bones, such as once a frame after an
 * animation mixer and inverse kinematics. A mesh needs `skeleton.bones`, `morphTargetDictionary`,
 * `morphTargetInfluences`, and the extras of its file in `userData`.
 */
export class PoseDrivers {
  constructor(mesh) {
    const { skeleton, morphTargetDictionary, userData } = mesh;
    const all = userData.pose_drivers ?? [];
    need(isList(all) && all.length <= MOST, `it must be a list of at most ${MOST}`);
    this.mesh = mesh;
    this.drivers = all.map((json) => new PoseDriver(json));
    for (const { sources, parents, names } of this.drivers) {
      const joints = [...sources, ...parents];
      need(joints.every((joint) => joint < skeleton.bones.length), `there are ${skeleton.bones.length} joints`);
      for (const name of names) {
        need(Object.hasOwn(morphTargetDictionary ?? {}, name), `there is no morph target ${JSON.stringify(name)}`);
      }
    }
  }

  update() {
    const { skeleton, morphTargetDictionary, morphTargetInfluences } = this.mesh;
    for (const driver of this.drivers) {
      const rotations = driver.sources.map((joint, i) =>
        rotationBetween(skeleton.bones[joint], skeleton.bones[driver.parents[i]]),
      );
      driver.weights(rotations).forEach((weight, i) => {
        morphTargetInfluences[morphTargetDictionary[driver.names[i]]] = weight;
      });
    }
  }
}

const MOST = 1024; // drivers, joints and poses: time goes by the square of poses
const NEAREST = 1e-3; // of poses, as in csrc/correctives/drivers.c

function need(condition, reason) {
  if (!condition) throw new Error(`pose_drivers: ${reason}`);
}

const isList = Array.isArray;
const isVector = (value, size) => isList(value) && value.length === size && value.every(Number.isFinite);

/** Refuses drivers that sbs/drivers.h refuses: files come from anywhere. */
function check(json) {
  need(json && typeof json === "object", "a driver must be an object");
  const { source_joints: sources, eval_space_joints: parents, rest_rotations: rest, twist_axes: axes } = json;
  const { part, pose_targets: poses } = json;
  const count = isList(sources) ? sources.length : 0;
  need(count && count <= MOST, `source_joints must be a list of 1 to ${MOST}`);
  for (const [name, list] of Object.entries({ eval_space_joints: parents, rest_rotations: rest, twist_axes: axes })) {
    need(isList(list) && list.length === count, `${name} must have ${count} elements, as source_joints`);
  }
  need(sources.every((joint) => Number.isInteger(joint) && joint >= 0), "source_joints must be numbers of joints");
  parents.forEach((joint, i) => {
    need(Number.isInteger(joint) && joint >= -1 && joint !== sources[i], "eval_space_joints must be other joints, or -1");
  });
  const isUnit = (q) => isVector(q, 4) && Math.abs(Math.hypot(...q) - 1) < 1e-3;
  need(rest.every(isUnit), "rest_rotations must be unit quaternions");
  need(axes.every((axis) => isVector(axis, 3) && Math.hypot(...axis) > 0), "twist_axes must be finite and not 0");
  need(["swing", "twist", "both"].includes(part), `there is no part ${JSON.stringify(part)}`);
  need(isList(poses) && poses.length && poses.length <= MOST, `pose_targets must be a list of 1 to ${MOST}`);
  const seen = [new Array(3 * count).fill(0)]; // the rest pose
  for (const pose of poses) {
    need(typeof pose?.driven_name === "string", "driven_name must be a string");
    const turns = pose.target_rotations;
    const good = isList(turns) && turns.length === count && turns.every((turn) => isVector(turn, 3));
    need(good, `target_rotations must be ${count} vectors`);
    const place = turns.flat();
    const apart = seen.every((other) => Math.hypot(...place.map((x, i) => x - other[i])) >= NEAREST);
    need(apart, `pose ${JSON.stringify(pose.driven_name)} is as good as another one, or as the rest pose`);
    seen.push(place);
  }
}

/** The rotation of a bone relative to one above it, or to the scene if there is none, through nodes between them. */
function rotationBetween(bone, above) {
  let found = bone.quaternion.toArray();
  for (let node = bone.parent; node && node !== above && !node.isScene; node = node.parent) {
    found = multiply(node.quaternion.toArray(), found);
  }
  return found;
}

/** The coordinates of a joint that has a rotation relative to another one. */
function coordinates(rotation, rest, axis, part) {
  const turn = multiply(rotation, conjugate(rest));
  const along = turn[0] * axis[0] + turn[1] * axis[1] + turn[2] * axis[2];
  const length = Math.hypot(along, turn[3]);
  const twist = length > 1e-7 ? [...axis.map((n) => (n * along) / length), turn[3] / length] : [0, 0, 0, 1];
  const vectors = [];
  if (part !== "twist") vectors.push(rotationVector(multiply(turn, conjugate(twist))));
  if (part !== "swing") vectors.push(rotationVector(twist));
  return [0, 1, 2].map((i) => vectors.reduce((sum, vector) => sum + vector[i], 0));
}

/** The ramp h of sbs/drivers.h: from 0 to 1, with each end rounded over a sixteenth. */
function ramp(t) {
  const inside = Math.min(Math.max(t, 0), 1);
  const begin = Math.max(0.0625 - inside, 0);
  const end = Math.max(inside - 0.9375, 0);
  return (inside - 0.03125 + 8 * (begin * begin - end * end)) / 0.9375;
}

/** The sum of weights, which is at most 1.1. */
function levelOff(t) {
  const beyond = Math.min(Math.max(t - 1, 0), 0.2);
  return Math.min(t, 1.2) - (beyond * beyond) / 0.4;
}

function dot(a, b) {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}

/** The squared cosine of the angle between x and a pose, and 0 beyond a right angle. */
function nearness(x, pose) {
  const along = Math.max(dot(x, pose), 0);
  return along > 0 ? (along * along) / (dot(x, x) * dot(pose, pose)) : 0;
}

/** How far all poses are reached, together. */
function reach(x, poses) {
  return poses.reduce((sum, pose) => sum + ramp(dot(x, pose) / dot(pose, pose)) * nearness(x, pose), 0);
}

/** How far a pose has faded into another one, to which x has a nearness: u_kj. */
function fade(x, pose, other, near) {
  const alike = nearness(pose, other);
  const step = other.map((value, i) => value - pose[i]);
  const along = dot(x, step) - dot(pose, step);
  return (near + alike * (1 - near)) * ramp(along / dot(step, step));
}

function multiply([ax, ay, az, aw], [bx, by, bz, bw]) {
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

function conjugate([x, y, z, w]) {
  return [-x, -y, -z, w];
}

/** The rotation vector of a unit quaternion of either sign: at most half a turn. */
function rotationVector([x, y, z, w]) {
  const sine = Math.hypot(x, y, z);
  const sign = w < 0 ? -1 : 1;
  const scale = sine > 1e-100 ? (2 * sign * Math.atan2(sine, sign * w)) / sine : 2 * sign;
  return [scale * x, scale * y, scale * z];
}
