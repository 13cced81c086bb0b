// SPDX-License-Identifier: MIT
// Centers of files that other tools changed. The extras of a primitive have the bounds of POSITION of when centers were
// written: quantization scales and moves positions, and leaves the centers.

import { Box3, BufferAttribute, Vector3 } from "three";

const AXES = ["x", "y", "z"];
const ROUNDING = 1 / 128; // of the size: positions of eight bits, at both ends

/** The centers of a geometry in the space of its positions, as an attribute; null if they fit positions no longer. */
export function fitCenters({ attributes: { position, _sbs_center }, userData }) {
  const written = readBounds(userData.sbs_positions);
  if (userData.sbs_positions === undefined) return _sbs_center;
  if (!written || written.isEmpty()) return null;
  const now = new Box3().setFromBufferAttribute(position);
  if (now.equals(written)) return _sbs_center;
  const [size, before] = [now, written].map((box) => box.getSize(new Vector3()));
  const longest = AXES.reduce((best, axis) => (before[axis] > before[best] ? axis : best));
  const factor = size[longest] / before[longest];
  if (!(factor > 0) || !Number.isFinite(factor)) return null;
  if (AXES.some((axis) => Math.abs(size[axis] - factor * before[axis]) > ROUNDING * size[longest])) return null;
  const [to, from] = [now, written].map((box) => box.getCenter(new Vector3()));
  const fitted = new BufferAttribute(new Float32Array(4 * _sbs_center.count), 4);
  const place = new Vector3();
  for (let i = 0; i < fitted.count; i++) {
    place.fromBufferAttribute(_sbs_center, i).sub(from).multiplyScalar(factor).add(to);
    fitted.setXYZW(i, place.x, place.y, place.z, _sbs_center.getW(i));
  }
  return fitted;
}

function readBounds(extras) {
  const corners = [extras?.min, extras?.max];
  const good = corners.every((corner) => Array.isArray(corner) && corner.length === 3 && corner.every(Number.isFinite));
  return good ? new Box3(...corners.map((corner) => new Vector3(...corner))) : null;
}
