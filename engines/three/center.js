// SPDX-License-Identifier: MIT
// Rotation centers.

import { Matrix3, Vector3 } from "three";

/**
 * Where joints move points most alike, as seen from a place: the z that makes least
 *
 *   sum over pairs w_a w_b (|(R_a - R_b) z + (C_a - C_b) place|^2 + damping |z|^2)
 */
export function findCenter(joints, weights, place, damping) {
  const gram = new Matrix3().multiplyScalar(0);
  const right = new Vector3();
  const moved = joints.map(({ matrix }) => place.clone().applyMatrix4(matrix));
  joints.forEach(({ rotation }, a) => {
    for (let b = 0; b < a; b++) {
      const share = weights[a] * weights[b];
      const apart = moved[a].clone().sub(moved[b]);
      const columns = [0, 3, 6].map((j) => new Vector3().fromArray(rotation.elements, j).sub(column.fromArray(joints[b].rotation.elements, j)));
      columns.forEach((one, j) => {
        right.setComponent(j, right.getComponent(j) - share * one.dot(apart));
        gram.elements[4 * j] += share * damping;
        columns.forEach((other, k) => (gram.elements[3 * j + k] += share * one.dot(other)));
      });
    }
  });
  return right.applyMatrix3(gram.invert());
}

const column = new Vector3();
