// SPDX-License-Identifier: MIT
// Evaluates the drivers of correctives that a GLB file of sbs has: how much there is of each shape, from the rotations
// of bones as they are now. csrc/include/sbs/drivers.h has the formula, docs/pose-drivers.schema.json the fields.
// Quaternions are (x, y, z, w), as those of glTF.

/** The weights of the poses of one driver. */
export class PoseDriver {
  /** @param {object} json one of `extras.pose_drivers` of a mesh */
  constructor(json) {
    this.sources = json.source_joints;
    this.parents = json.eval_space_joints;
    this.rest = json.rest_rotations;
    this.axes = json.twist_axes;
    this.part = json.part;
    this.names = json.pose_targets.map((pose) => pose.driven_name);
    this.poses = json.pose_targets.map((pose) => pose.target_rotations.flat());
    this.rounding = Math.min(0.05, ...this.poses.map((pose) => Math.hypot(...pose) / 4));
    this.combinations = inverse(this.poses.map((x) => this.poses.map((pose) => rise(x, pose, this.rounding))));
  }

  /**
   * The weight of each pose.
   * @param {number[][]} rotations of each source joint, relative to the joint that it turns against
   */
  weights(rotations) {
    const x = rotations.flatMap((q, i) => coordinates(q, this.rest[i], this.axes[i], this.part));
    const values = this.poses.map((pose) => rise(x, pose, this.rounding));
    return this.names.map((_, i) => values.reduce((sum, value, k) => sum + value * this.combinations[k][i], 0));
  }
}

/**
 * Sets the influences of the morph targets of a skinned mesh of three.js from its bones, such as once a frame after an
 * animation mixer and inverse kinematics. A mesh needs `skeleton.bones`, `morphTargetDictionary`,
 * `morphTargetInfluences`, and the extras of its file in `userData`.
 */
export class PoseDrivers {
  constructor(mesh) {
    this.mesh = mesh;
    this.drivers = (mesh.userData.pose_drivers ?? []).map((json) => new PoseDriver(json));
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

/** How near x is to a pose: f_k(x) of sbs/drivers.h. */
function rise(x, pose, rounding) {
  const length = Math.hypot(...pose);
  const along = x.reduce((sum, value, i) => sum + value * pose[i], 0) / length;
  if (!(along > 0)) return 0;
  const begin = (s) => (s < 2 * rounding ? (s * s) / (4 * rounding) : s - rounding);
  const beyond = Math.max(begin(along) - begin(length) + rounding, 0);
  const level =
    beyond < 2 * rounding ? begin(along) - (beyond * beyond) / (4 * rounding) : begin(length);
  return (level * along * along) / x.reduce((sum, value) => sum + value * value, 0);
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

/** The inverse of a matrix, by Gauss-Jordan elimination with pivots from the column. */
function inverse(matrix) {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    rows[k] = rows[k].map((value) => value / rows[k][k]);
    for (let i = 0; i < n; i++) {
      if (i === k) continue;
      const factor = rows[i][k];
      rows[i] = rows[i].map((value, j) => value - factor * rows[k][j]);
    }
  }
  return rows.map((row) => row.slice(n));
}
