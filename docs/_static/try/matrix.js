// SPDX-License-Identifier: MIT
// Vectors as arrays of three numbers; affine matrices as 12 numbers, row by row, as libsbs has them.

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a) => Math.hypot(...a);
export const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/** A vector of length 1; that of a zero vector is zero. */
export function normalize(a) {
  const size = length(a);
  return size ? scale(a, 1 / size) : [0, 0, 0];
}

export const IDENTITY = Float64Array.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0);

/** m p, of a point. */
export const transform = (m, p) =>
  [0, 4, 8].map((row) => m[row] * p[0] + m[row + 1] * p[1] + m[row + 2] * p[2] + m[row + 3]);

export function multiply(a, b) {
  const out = new Float64Array(12);
  for (let row = 0; row < 12; row += 4) {
    for (let column = 0; column < 4; column++) {
      out[row + column] = a[row] * b[column] + a[row + 1] * b[4 + column] + a[row + 2] * b[8 + column];
    }
    out[row + 3] += a[row + 3];
  }
  return out;
}

/** The inverse; throws a RangeError if there is none. */
export function invert(m) {
  const columns = [0, 1, 2].map((j) => [m[j], m[4 + j], m[8 + j]]);
  const rows = [cross(columns[1], columns[2]), cross(columns[2], columns[0]), cross(columns[0], columns[1])];
  const determinant = dot(columns[0], rows[0]);
  if (!determinant) throw new RangeError("a matrix has no inverse");
  const translation = [m[3], m[7], m[11]];
  return Float64Array.from(
    rows.flatMap((row) => {
      const r = scale(row, 1 / determinant);
      return [...r, -dot(r, translation)];
    }),
  );
}

/** The matrix of a translation, a rotation by a quaternion (x, y, z, w) as glTF has it, and a scale. */
export function compose(translation, [x, y, z, w], size) {
  const r = [
    [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
    [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
    [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
  ];
  const rows = r.map((row, i) => [row[0] * size[0], row[1] * size[1], row[2] * size[2], translation[i]]);
  return Float64Array.from(rows.flat());
}

/** The rotation by an angle about the line through a point along an axis of length 1. */
export function rotation(axis, angle, point) {
  const s = Math.sin(angle / 2);
  const turn = compose([0, 0, 0], [axis[0] * s, axis[1] * s, axis[2] * s, Math.cos(angle / 2)], [1, 1, 1]);
  const moved = subtract(point, transform(turn, point));
  for (let i = 0; i < 3; i++) turn[4 * i + 3] = moved[i];
  return turn;
}
