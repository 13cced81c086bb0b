// SPDX-License-Identifier: MIT
// How much of its area at rest the surface has around each vertex, as colors.

/** Twice the area of each triangle. */
export function areas(positions, triangles) {
  const out = new Float32Array(triangles.length / 3);
  for (let t = 0; t < out.length; t++) {
    const [a, b, c] = [3 * triangles[3 * t], 3 * triangles[3 * t + 1], 3 * triangles[3 * t + 2]];
    const ux = positions[b] - positions[a];
    const uy = positions[b + 1] - positions[a + 1];
    const uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a];
    const vy = positions[c + 1] - positions[a + 1];
    const vz = positions[c + 2] - positions[a + 2];
    out[t] = Math.hypot(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx);
  }
  return out;
}

const SKIN = [0.86, 0.8, 0.72];
const SHRUNK = [0.85, 0.15, 0.1];
const GROWN = [0.1, 0.3, 0.9];

/** Colors (V, 3): skin where the area is that of rest, red at a half and below, blue at twice and above. */
export function areaColors(now, rest, triangles, vertexCount, out) {
  const sums = new Float32Array(2 * vertexCount);
  for (let i = 0; i < triangles.length; i++) {
    const t = (i / 3) | 0;
    sums[2 * triangles[i]] += now[t];
    sums[2 * triangles[i] + 1] += rest[t];
  }
  for (let v = 0; v < vertexCount; v++) {
    const doublings = sums[2 * v + 1] ? Math.log2(Math.max(sums[2 * v] / sums[2 * v + 1], 1e-6)) : 0;
    const share = Math.min(1, Math.abs(doublings));
    const end = doublings < 0 ? SHRUNK : GROWN;
    for (let k = 0; k < 3; k++) out[3 * v + k] = SKIN[k] + share * (end[k] - SKIN[k]);
  }
  return out;
}

export function plainColors(vertexCount) {
  return Float32Array.from({ length: 3 * vertexCount }, (_, i) => SKIN[i % 3]);
}
