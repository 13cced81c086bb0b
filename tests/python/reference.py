# SPDX-License-Identifier: MIT
"""Skinning written from its formulas, one vertex at a time: what the tests hold the library against.

Nothing here is fast, and nothing is shared with the library. The formula of spherical blend skinning,

    v' = Q (sum_i w_i S_i (v - f) - z) + sum_i w_i (R_i z + C_i f),     A_i = R_i S_i,

which for rigid joints is v' = Q (v - c) + sum_i w_i C_i c with c = f + z (Kavan & Zara 2005, eq. 9), is evaluated as it
stands. That cancels where c lies far away, thousands of sizes of the mesh, and costs 1e-12 of the
size in double: as much as the tests allow to the library. So it is evaluated in `REAL`, numpy's long double: 80 bits on
x86, eps 1.1e-19. Held against 60 decimal digits, positions are then right to 1e-16 of the size on the characters of
tests/data, and to 1e-15 with centers 4,000 sizes away (in double: 4e-14 and 1e-12). On Windows, and on Macs with arm64,
long double is double: `IS_EXTENDED` is False, and `tolerances` allow for what the reference loses.

Conventions are those of sbs.h: column vectors, matrices row-major with the translation in the last column, quaternions
(w, x, y, z).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from sbs.options import Center, Method, Rotation

REAL = np.longdouble
IS_EXTENDED = bool(np.finfo(REAL).eps < np.finfo(np.float64).eps)

RIGID_TOLERANCE = 1e-5  # a joint is rigid if |A^T A - I| is at most this, and det A > 0
TRIVIAL_TOLERANCE = 16  # in eps: how alike a joint and its parent must move the joint's position to make it the center
SINGULAR_TOLERANCE = 1e-12  # ratio of the smallest to the largest singular value of a matrix without an inverse
RCOND_FLOOR = 1e-5  # singular values up to this are dropped whatever `rcond` is
WEIGHTED_DAMPING = 1e-6  # the least damping of weighted centers

# What rounding errors of double may do to a decision: to the residual of the trivial rule, in eps of the terms that it
# sums, and to a singular value at the cut, relative to it (where they are 1e-3 of the largest, 1e-13 would do).
RESIDUAL_ROUNDING = 2
CUT_ROUNDING = 1e-10

METHODS: tuple[Method, ...] = ("rigid", "linear", "spherical", "dual_quaternion")
ROTATIONS: tuple[Rotation, ...] = ("qlerp", "average")
CENTERS: tuple[Center, ...] = ("joint_set", "weighted", "optimized")


# ------------------------------------------------------------------------------------------------------ small algebra


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross product of two vectors; NumPy's takes twenty times as long for just two."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def cofactors(matrix: np.ndarray) -> np.ndarray:
    """Cofactors of a 3x3 matrix: det(A) A^-T, and the transposed adjugate."""
    a, b, c = matrix
    return np.array([cross(b, c), cross(c, a), cross(a, b)])


def determinant(matrix: np.ndarray) -> np.floating:
    return matrix[0] @ cofactors(matrix)[0]


def is_singular(matrix: np.ndarray) -> bool:
    values = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)
    return bool(values[2] <= SINGULAR_TOLERANCE * values[0])


def inverse_transpose(matrix: np.ndarray) -> np.ndarray:
    """A^-T, or the transposed adjugate of a singular A."""
    return cofactors(matrix) if is_singular(matrix) else cofactors(matrix) / determinant(matrix)


def orthogonal_factor(matrix: np.ndarray) -> np.ndarray:
    """U of the polar decomposition A = U P of a regular matrix, by Newton's iteration X <- (X + X^-T) / 2."""
    for _ in range(100):
        previous, matrix = matrix, (matrix + cofactors(matrix) / determinant(matrix)) / 2
        if np.abs(matrix - previous).max() <= 4 * np.finfo(REAL).eps:
            return matrix
    raise ArithmeticError("the polar decomposition did not converge")


def rotation_and_stretch(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and S of A = R S, S symmetric and det R = +1; for det A < 0, R = -U and S = -P of the polar form A = U P."""
    if is_singular(matrix):
        left, _, right = np.linalg.svd(matrix.astype(np.float64))
        rotation = (left @ np.diag([1, 1, np.linalg.det(left @ right)]) @ right).astype(REAL)
    else:
        rotation = orthogonal_factor(matrix)
        rotation = rotation * np.sign(determinant(rotation))
    stretch = rotation.T @ matrix
    return rotation, (stretch + stretch.T) / 2


def quaternion_product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    real = p[0] * q[0] - p[1:] @ q[1:]
    return np.concatenate([[real], p[0] * q[1:] + q[0] * p[1:] + cross(p[1:], q[1:])])


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """One of the two unit quaternions of a rotation matrix, from the largest of its four components."""
    r = rotation
    squares = np.array(
        [
            1 + r[0, 0] + r[1, 1] + r[2, 2],
            1 + r[0, 0] - r[1, 1] - r[2, 2],
            1 - r[0, 0] + r[1, 1] - r[2, 2],
            1 - r[0, 0] - r[1, 1] + r[2, 2],
        ]
    )  # 4 w^2, 4 x^2, 4 y^2, 4 z^2
    wx, wy, wz = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]  # 4 w x, ...
    xy, xz, yz = r[0, 1] + r[1, 0], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1]
    products = np.array(
        [
            [squares[0], wx, wy, wz],
            [wx, squares[1], xy, xz],
            [wy, xy, squares[2], yz],
            [wz, xz, yz, squares[3]],
        ]
    )
    row = products[int(np.argmax(squares))]
    return row / np.sqrt(row @ row)


def quaternion_logarithm(q: np.ndarray) -> np.ndarray:
    """Return the vector along the axis of a unit quaternion, as long as half its angle."""
    sine = length(q[1:])
    return q[1:] * (np.arctan2(sine, q[0]) / sine) if sine > 0 else q[1:]


def quaternion_exponential(vector: np.ndarray) -> np.ndarray:
    angle = length(vector)
    return np.concatenate([[np.cos(angle)], vector * (np.sin(angle) / angle if angle > 0 else 1)])


def spherical_average(quaternions: Sequence[np.ndarray], weights: Sequence[Any], start: int) -> np.ndarray:
    """Algorithm A1 of Buss and Fillmore 2001: q <- q exp(sum w_i log(q* q_i)), from one of them on.

    It converges linearly; the library takes Newton's steps.
    """
    q = quaternions[start]
    for _ in range(5000):
        inverse = q * np.array([1, -1, -1, -1])
        logs = [quaternion_logarithm(quaternion_product(inverse, other)) for other in quaternions]
        step = sum(w * log for w, log in zip(weights, logs, strict=True))
        q = quaternion_product(q, quaternion_exponential(step))
        q = q / np.sqrt(q @ q)
        if length(step) <= 8 * np.finfo(REAL).eps:
            return q
    raise ArithmeticError("the spherical average did not converge")


def rotation_matrix(q: np.ndarray) -> np.ndarray:
    """Q = Q'(s) / (s, s) of a quaternion of any length (section 4.2)."""
    w, x, y, z = q
    return np.array(
        [
            [x * x + w * w - y * y - z * z, 2 * x * y - 2 * w * z, 2 * x * z + 2 * w * y],
            [2 * x * y + 2 * w * z, y * y + w * w - x * x - z * z, 2 * y * z - 2 * w * x],
            [2 * x * z - 2 * w * y, 2 * y * z + 2 * w * x, z * z + w * w - x * x - y * y],
        ]
    ) / (q @ q)


def length(vector: np.ndarray) -> np.floating:
    return np.sqrt(vector @ vector)


def unit(vector: np.ndarray) -> np.ndarray:
    """Bring a vector to length 1; a zero vector stays."""
    return vector / length(vector) if vector.any() else vector


def formula_9(
    q: np.ndarray, v: np.ndarray, c: np.ndarray, weights: Sequence[Any], matrices: Sequence[Any]
) -> np.ndarray:
    """Evaluate v' = Q (v - c) + sum_i w_i C_i c."""
    return q @ (v - c) + sum(w * transform(matrix, c) for w, matrix in zip(weights, matrices, strict=True))


def transform(matrix: np.ndarray, point: np.ndarray) -> np.ndarray:
    """C p for a (3, 4) matrix."""
    return matrix[:, :3] @ point + matrix[:, 3]


# ---------------------------------------------------------------------------------------------------------- the mesh


def normalized_influences(joints: Sequence[int], weights: Sequence[float]) -> dict[int, np.floating]:
    """Weight of each joint, in ascending order: bad and zero weights dropped, duplicates added, the sum made 1."""
    merged: dict[int, np.floating] = {}
    for joint, weight in zip(joints, weights, strict=True):
        if math.isfinite(weight) and weight > 0:
            merged[int(joint)] = merged.get(int(joint), REAL(0)) + REAL(weight)
    total = sum(merged.values())
    return {joint: merged[joint] / total for joint in sorted(merged)}


class Mesh:
    """A mesh bound to its joints.

    Parameters are those of `sbs.Skin`: positions, normals and centers (V, 3), influences (V, K), parents (J,), joint
    positions (J, 3), all in the space of the mesh.
    """

    def __init__(
        self,
        rest_positions: ArrayLike,
        joint_indices: Any,
        joint_weights: Any,
        *,
        parents: Any = None,
        joint_positions: ArrayLike | None = None,
        rest_normals: ArrayLike | None = None,
        centers: ArrayLike | None = None,
    ) -> None:
        self.centers = None if centers is None else np.asarray(centers).astype(REAL)
        self.rest_positions = np.asarray(rest_positions).astype(REAL)
        self.rest_normals = None if rest_normals is None else np.asarray(rest_normals).astype(REAL)
        self.parents = parents
        self.joint_positions = None if joint_positions is None else np.asarray(joint_positions).astype(REAL)
        self.influences = [normalized_influences(*row) for row in zip(joint_indices, joint_weights, strict=True)]
        self.set_vertices: dict[tuple[int, ...], list[int]] = {}
        for vertex, influences in enumerate(self.influences):
            self.set_vertices.setdefault(tuple(influences), []).append(vertex)

    @functools.cached_property
    def size(self) -> float:
        """Diagonal of the box around the rest positions."""
        return float(np.linalg.norm(np.ptp(self.rest_positions.astype(np.float64), axis=0)))

    def centroid(self, joint_set: tuple[int, ...]) -> np.ndarray:
        """c0: the mean rest position of the vertices of a joint set."""
        return self.rest_positions[self.set_vertices[joint_set]].mean(axis=0)

    def pivot(self, vertex: int) -> int:
        """Find the heaviest joint of a vertex, by weights in double; of equal ones that of the lowest index."""
        influences = self.influences[vertex]
        return max(influences, key=lambda joint: (float(influences[joint]), -joint))

    def pair_child(self, joint_set: tuple[int, ...]) -> int | None:
        """Return the child if the set is a joint and its parent, else None."""
        if len(joint_set) != 2 or self.parents is None:
            return None
        a, b = joint_set
        return b if self.parents[b] == a else a if self.parents[a] == b else None


# ---------------------------------------------------------------------------------------------------------- the pose


@dataclass(frozen=True)
class Joint:
    """A skinning matrix, and what the rotation methods make of it."""

    given: np.ndarray  # (3, 4): as it came
    matrix: np.ndarray  # (3, 4): C, which is [R|t] where the joint is rigid
    rigid: bool
    rotation: np.ndarray  # (3, 3): R of A = R S
    stretch: np.ndarray  # (3, 3): S, the identity where the joint is rigid
    quaternion: np.ndarray  # of R
    normal_matrix: np.ndarray  # (3, 3): A^-T
    inverse_stretch: np.ndarray  # (3, 3): S^-1

    @staticmethod
    def from_matrix(given: np.ndarray) -> Joint:
        linear = given[:, :3]
        rotation, stretch = rotation_and_stretch(linear)
        deviation = linear.T @ linear - np.eye(3)
        rigid = bool(np.sqrt((deviation**2).sum()) <= RIGID_TOLERANCE and determinant(linear) > 0)
        if rigid:
            matrix, stretch = np.column_stack([rotation, given[:, 3]]), np.eye(3, dtype=REAL)
        else:
            matrix = given
        normal_matrix, inverse_stretch = inverse_transpose(linear), inverse_transpose(stretch)
        return Joint(given, matrix, rigid, rotation, stretch, quaternion(rotation), normal_matrix, inverse_stretch)


class PoseOptions(TypedDict, total=False):
    """Options of deformation that a `Pose` knows."""

    damping: float
    rcond: float | None
    rotation: Rotation
    center: Center


class Pose:
    """A mesh in one frame.

    Parameters
    ----------
    mesh : Mesh
    skinning_matrices : (J, 3, 4) or (J, 4, 4); their type sets the tolerance of `is_trivial`
    damping, rcond, rotation, center : as of `sbs.Skin.deform`
    """

    def __init__(
        self,
        mesh: Mesh,
        skinning_matrices: ArrayLike,
        *,
        damping: float = 1e-8,
        rcond: float | None = None,
        rotation: Rotation = "qlerp",
        center: Center = "joint_set",
    ) -> None:
        matrices = np.asarray(skinning_matrices)
        self.mesh = mesh
        self.skinning_matrices = matrices
        self.eps = float(np.finfo(matrices.dtype).eps)
        self.damping = damping
        self.rcond = rcond
        self.rotation = rotation
        self.center_choice = center
        self.joints = [Joint.from_matrix(matrix) for matrix in matrices[:, :3, :].astype(REAL)]
        self._turns: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}

    # Centers of rotation

    def equations(self, joint_set: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """D (3 pairs, 3) and e (3 pairs,), D z = e for R_a z + C_a f = R_b z + C_b f, all a < b, over sqrt(pairs)."""
        origin = self.reference_point(joint_set)
        pairs = [(self.joints[a], self.joints[b]) for a, b in itertools.combinations(joint_set, 2)]
        scale = np.sqrt(REAL(len(pairs)))
        rows = np.concatenate([a.rotation - b.rotation for a, b in pairs]) / scale
        right = np.concatenate([transform(b.matrix, origin) - transform(a.matrix, origin) for a, b in pairs]) / scale
        return rows, right

    def reference_point(self, joint_set: tuple[int, ...]) -> np.ndarray:
        """Return f, around which joints turn what they have stretched; of rigid ones it is of no account."""
        if all(self.joints[joint].rigid for joint in joint_set) or self.mesh.joint_positions is None:
            return self.mesh.centroid(joint_set)
        child = self.mesh.pair_child(joint_set)
        return self.mesh.joint_positions[list(joint_set) if child is None else [child]].mean(axis=0)

    def trivial_residual(self, child: int) -> float:
        """How far apart a joint and its parent move the joint's position, over the distance allowed."""
        assert self.mesh.joint_positions is not None and self.mesh.parents is not None
        point = self.mesh.joint_positions[child]
        a, b = self.joints[child].matrix, self.joints[self.mesh.parents[child]].matrix
        allowed = TRIVIAL_TOLERANCE * self.eps * (length(point) + length(a[:, 3]) + length(b[:, 3]))
        apart = length(transform(a, point) - transform(b, point))
        return float(apart / allowed) if allowed > 0 else (math.inf if apart > 0 else 0.0)

    def is_trivial(self, joint_set: tuple[int, ...]) -> bool:
        """Whether the center is known without solving: it is where the joint sits that both joints move alike."""
        child = self.mesh.pair_child(joint_set)
        return child is not None and self.mesh.joint_positions is not None and self.trivial_residual(child) <= 1

    def center(self, joint_set: tuple[int, ...]) -> np.ndarray:
        """Return the center of rotation of a joint set (section 4), in the space of the rest positions."""
        origin, z = self.set_turn(joint_set)
        if len(joint_set) < 2 or all(self.joints[joint].rigid for joint in joint_set):
            return origin + z
        scale = np.sqrt(
            sum(np.square(self.joints[joint].matrix[:, :3]).sum() / 3 for joint in joint_set) / len(joint_set)
        )
        return origin + z / scale if scale > 0 else origin

    def set_turn(self, joint_set: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return f and z of a joint set: vertices are stretched about f, then turned about f + z."""
        if joint_set not in self._turns:
            self._turns[joint_set] = self._find_turn(joint_set)
        return self._turns[joint_set]

    def _find_turn(self, joint_set: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        if len(joint_set) < 2:
            return self.mesh.centroid(joint_set), np.zeros(3, dtype=REAL)
        origin = self.reference_point(joint_set)
        if self.is_trivial(joint_set):
            assert self.mesh.joint_positions is not None
            return origin, self.mesh.joint_positions[self.mesh.pair_child(joint_set)] - origin
        rows, right = self.equations(joint_set)
        if self.rcond is None:
            system = np.concatenate([rows, math.sqrt(self.damping) * np.eye(3)]).astype(np.float64)
            values = np.concatenate([right, np.zeros(3)]).astype(np.float64)
            return origin, np.linalg.lstsq(system, values, rcond=None)[0]
        left, values, axes = np.linalg.svd(rows.astype(np.float64), full_matrices=False)
        kept = values > max(RCOND_FLOOR, self.rcond * values[0])
        return origin, axes[kept].T @ ((left[:, kept].T @ right) / values[kept])

    def weighted_turn(self, vertex: int) -> np.ndarray:
        """Return z, from the vertex to what its joints turn most alike about it, each pair as much as the two weigh."""
        v = self.mesh.rest_positions[vertex]
        influences = self.mesh.influences[vertex]
        if len(influences) < 2:
            return np.zeros(3, dtype=REAL)
        pairs = list(itertools.combinations(influences, 2))
        shares = [influences[a] * influences[b] for a, b in pairs]
        roots = np.sqrt(np.array(shares) / sum(shares))
        joints = [(self.joints[a], self.joints[b]) for a, b in pairs]
        rows = [root * (a.rotation - b.rotation) for root, (a, b) in zip(roots, joints, strict=True)]
        right = [
            root * (transform(b.matrix, v) - transform(a.matrix, v)) for root, (a, b) in zip(roots, joints, strict=True)
        ]
        damping = max(self.damping, WEIGHTED_DAMPING)
        system = np.concatenate([*rows, math.sqrt(damping) * np.eye(3)]).astype(np.float64)
        return np.linalg.lstsq(system, np.concatenate([*right, np.zeros(3)]).astype(np.float64), rcond=None)[0]

    def vertex_turn(self, vertex: int) -> tuple[np.ndarray, np.ndarray]:
        """Return f and z of a vertex, as `set_turn` does."""
        if self.center_choice == "weighted":
            return self.mesh.rest_positions[vertex], self.weighted_turn(vertex)
        if self.center_choice == "optimized":
            assert self.mesh.centers is not None
            return self.mesh.centers[vertex], np.zeros(3, dtype=REAL)
        return self.set_turn(tuple(self.mesh.influences[vertex]))

    @property
    def solves(self) -> int:
        """How many joint sets have their center from least squares."""
        return sum(len(joint_set) > 1 and not self.is_trivial(joint_set) for joint_set in self.mesh.set_vertices)

    # Doubt: where a rounding error decides

    def sign_margin(self, vertex: int) -> float:
        """Return the least |(q_p, q_i)| of a vertex: at 0, which of two quaternions is blended is open."""
        pivot = self.joints[self.mesh.pivot(vertex)].quaternion
        return min(abs(float(pivot @ self.joints[joint].quaternion)) for joint in self.mesh.influences[vertex])

    def is_center_undecided(self, joint_set: tuple[int, ...]) -> bool:
        """Whether rounding decides between two centers: by the trivial rule, or by the cut of `rcond`."""
        child = self.mesh.pair_child(joint_set)
        if child is not None and self.mesh.joint_positions is not None:
            residual = self.trivial_residual(child)
            if abs(residual - 1) < RESIDUAL_ROUNDING * np.finfo(np.float64).eps / (TRIVIAL_TOLERANCE * self.eps):
                return True
            if residual <= 1:
                return False
        if self.rcond is None or len(joint_set) < 2:
            return False
        values = np.linalg.svd(self.equations(joint_set)[0].astype(np.float64), compute_uv=False)
        cut = max(RCOND_FLOOR, self.rcond * values[0])
        return bool((np.abs(values - cut) < CUT_ROUNDING * cut).any())

    # Positions and normals

    def blended_quaternion(self, vertex: int, method: str = "spherical") -> np.ndarray:
        """Blend s = sum w_i q_i, every q_i in the hemisphere of the heaviest joint's, or by their average."""
        signed = self.signed_quaternions(vertex)
        if self.rotation == "qlerp" or method != "spherical":
            return sum(w * q for q, w in signed)
        heaviest = list(self.mesh.influences[vertex]).index(self.mesh.pivot(vertex))
        return spherical_average([q for q, _ in signed], [w for _, w in signed], heaviest)

    def signed_quaternions(self, vertex: int) -> list[tuple[np.ndarray, np.floating]]:
        pivot = self.joints[self.mesh.pivot(vertex)].quaternion
        quaternions = [(self.joints[joint].quaternion, w) for joint, w in self.mesh.influences[vertex].items()]
        return [(q if pivot @ q >= 0 else -q, w) for q, w in quaternions]

    def blended_stretch(self, vertex: int) -> np.ndarray:
        return sum(w * self.joints[joint].stretch for joint, w in self.mesh.influences[vertex].items())

    def position(self, vertex: int, method: str) -> np.ndarray:
        """Return v' of a vertex, (3,) in REAL."""
        v = self.mesh.rest_positions[vertex]
        influences = self.mesh.influences[vertex]
        if not influences:
            return v
        if method == "rigid":
            return transform(self.joints[self.mesh.pivot(vertex)].given, v)
        if method == "linear":
            return sum(w * transform(self.joints[joint].given, v) for joint, w in influences.items())
        rotation = rotation_matrix(self.blended_quaternion(vertex, method))
        stretch = self.blended_stretch(vertex)
        if method == "spherical":
            origin, z = self.vertex_turn(vertex)
            turned = rotation @ (stretch @ (v - origin) - z)
            for joint, w in influences.items():
                turned = turned + w * (self.joints[joint].rotation @ z + transform(self.joints[joint].matrix, origin))
            return turned
        if method == "dual_quaternion":
            return self.dual_quaternion_translation(vertex)
        raise ValueError(f"unknown method {method!r}")

    def dual_quaternion_translation(self, vertex: int) -> np.ndarray:
        """Return 2 qe q0* / (q0, q0) of the blended dual quaternion q0 + eps qe (Kavan et al. 2007).

        Coordinates are those from the vertex on: a joint turns about it and takes it to C_i v. For rigid joints it does
        not matter where coordinates are from.
        """
        real, dual = np.zeros(4, dtype=REAL), np.zeros(4, dtype=REAL)
        for joint, (q, w) in zip(self.mesh.influences[vertex], self.signed_quaternions(vertex), strict=True):
            moved = transform(self.joints[joint].matrix, self.mesh.rest_positions[vertex])
            translation = np.concatenate([[REAL(0)], moved])
            real = real + w * q
            dual = dual + w * quaternion_product(translation, q) / 2
        conjugate = real * np.array([1, -1, -1, -1])
        return 2 * quaternion_product(dual, conjugate)[1:] / (real @ real)

    def unnormalized_normal(self, vertex: int, method: str) -> np.ndarray:
        """Return n' before it is brought to unit length; its length tells how well its direction is determined."""
        assert self.mesh.rest_normals is not None
        n = unit(self.mesh.rest_normals[vertex])
        influences = self.mesh.influences[vertex]
        if not influences:
            return n
        if method == "rigid":
            return self.joints[self.mesh.pivot(vertex)].normal_matrix @ n
        if method == "linear":
            return sum(w * (self.joints[joint].normal_matrix @ n) for joint, w in influences.items())
        stretch = sum(w * self.joints[joint].inverse_stretch for joint, w in influences.items())
        return rotation_matrix(self.blended_quaternion(vertex, method)) @ (stretch @ n)

    def normal(self, vertex: int, method: str) -> np.ndarray:
        """Return n' of a vertex, (3,) in REAL, of unit length or zero."""
        return unit(self.unnormalized_normal(vertex, method))
