# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's Armature modifier does with Preserve Volume, computed from bones and weights.

Every bone is split into a turn and what it scales by. It counts, for a vertex, as the rigid motion that turns alike and
takes the vertex where the bone takes it; these motions are blended as dual quaternions. That is the library's
``method="dual_quaternion"`` but for two choices, each of which can be made here as either makes it:

signs
    A quaternion and its negative are the same turn. Blender adds those of a vertex in the order in which the vertex has
    its groups, each with the sign that is nearer to the sum so far; the library has all signs nearer to the heaviest
    joint, whatever the order.
turns
    Blender makes the axes of a sheared bone orthogonal, its y axis first. The library, which knows no bones' axes,
    takes the nearest rotation.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from expected import Floats, array, move, read
from objects import ArmatureObject, MeshObject

# How far sizes may be from 1, and columns from orthogonal, for a bone that counts as rigid.
RIGID = 1e-4


def preserved(
    item: MeshObject,
    armature: ArmatureObject,
    signs: Literal["sum", "heaviest"] = "sum",
    turns: Literal["y first", "nearest"] = "y first",
) -> Floats:
    """A mesh deformed, (V, 3) in its own space."""
    to_rig, bones, _, matrices = read(item, armature)
    rest = move(to_rig, np.array([vertex.co for vertex in item.data.vertices], np.float64))
    find = turn_by_axes if turns == "y first" else nearest_turn
    quaternions = np.array(
        [find(matrix, array(bone.bone.matrix_local)) for matrix, bone in zip(matrices, bones, strict=True)]
    )
    joints, weights = influences(item, [bone.name for bone in bones])
    rows = np.arange(len(rest))
    heaviest = quaternions[joints[rows, weights.argmax(axis=1)]]
    real, dual = np.zeros((2, len(rest), 4))
    for joint, weight in zip(joints.T, weights.T, strict=True):
        q = quaternions[joint]
        moved = np.einsum("vij,vj->vi", matrices[joint, :3, :3], rest) + matrices[joint, :3, 3]
        toward = real if signs == "sum" else heaviest
        signed = np.where((q * toward).sum(axis=1) < 0.0, -weight, weight)[:, None]
        real += signed * q
        dual += signed * product(np.insert(moved, 0, 0.0, axis=1), q) / 2.0
    conjugate = real * (1.0, -1.0, -1.0, -1.0)
    square = (real**2).sum(axis=1, keepdims=True)
    moved = 2.0 * product(dual, conjugate)[:, 1:] / np.where(square > 0.0, square, 1.0)
    bound = weights.sum(axis=1) > 0.0
    return move(np.linalg.inv(to_rig), np.where(bound[:, None], moved, rest))


def farthest_turn(item: MeshObject, armature: ArmatureObject) -> float:
    """How far any joint of a vertex turns against its heaviest one, in degrees."""
    _, bones, _, matrices = read(item, armature)
    quaternions = np.array([nearest_turn(matrix, np.eye(4)) for matrix in matrices])
    joints, weights = influences(item, [bone.name for bone in bones])
    heaviest = quaternions[joints[np.arange(len(joints)), weights.argmax(axis=1)]]
    cosines = np.abs((quaternions[joints] * heaviest[:, None]).sum(axis=2))[weights > 0.0]
    return float(2.0 * np.degrees(np.arccos(cosines.min().clip(0.0, 1.0))))


def influences(item: MeshObject, names: list[str]) -> tuple[np.ndarray, Floats]:
    """The bones and weights of each vertex in the order of its groups, (V, K); weight 0 where there are no more."""
    of_group = [names.index(group.name) if group.name in names else -1 for group in item.vertex_groups]
    found = [
        [(of_group[entry.group], entry.weight) for entry in vertex.groups if of_group[entry.group] >= 0]
        for vertex in item.data.vertices
    ]
    most = max(map(len, found))
    padded = np.array([row + [(0, 0.0)] * (most - len(row)) for row in found])
    return padded[..., 0].astype(int), padded[..., 1]


def turn_by_axes(matrix: Floats, rest: Floats) -> Floats:
    """The quaternion, the real part first, of a bone that is at rest as by `rest` and moved from there by a matrix."""
    posed = matrix[:3, :3] @ rest[:3, :3]
    sizes = np.linalg.norm(posed, axis=0)
    skewed = np.abs(matrix[:3, :3].T @ matrix[:3, :3] - np.eye(3)).max() > RIGID
    if not skewed and np.linalg.det(matrix[:3, :3]) > 0.0 and np.linalg.norm(sizes - 1.0) <= RIGID:
        return quaternion(matrix[:3, :3])
    x, y, z = posed.T
    y = y / sizes[1]
    # Blender takes the product for a cosine and so a large one for parallel axes, though x is as long as it was scaled.
    if y @ x < 1.0:
        z = unit(np.cross(x, y))
        x = np.cross(y, z)
    else:
        x = unit(np.cross(y, z if x @ z < 1.0 else np.roll(y, -1)))
        z = np.cross(x, y)
    return quaternion(np.stack([x, y, z], axis=1) @ rest[:3, :3].T)


def nearest_turn(matrix: Floats, _rest: Floats) -> Floats:
    """The quaternion of the rotation nearest to a matrix, (4,) with the real part first."""
    u, _, v = np.linalg.svd(matrix[:3, :3])
    return quaternion(u @ v * np.sign(np.linalg.det(u @ v)))


def quaternion(rotation: Floats) -> Floats:
    """The quaternion of a rotation matrix (3, 3), by the largest of its numbers."""
    m = rotation
    # 4 q q^T
    squares = np.array(
        [
            [1 + m[0, 0] + m[1, 1] + m[2, 2], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], 1 + m[0, 0] - m[1, 1] - m[2, 2], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], 1 - m[0, 0] + m[1, 1] - m[2, 2], m[1, 2] + m[2, 1]],
            [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], 1 - m[0, 0] - m[1, 1] + m[2, 2]],
        ]
    )
    q = squares[np.argmax(np.diag(squares))]
    unit: Floats = q / np.linalg.norm(q)
    return unit


def unit(v: Floats) -> Floats:
    """A vector of length 1."""
    return v / np.linalg.norm(v)


def product(p: Floats, q: Floats) -> Floats:
    """Products of quaternions, (V, 4)."""
    (a, b, c, d), (e, f, g, h) = p.T, q.T
    return np.stack(
        [
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ],
        axis=1,
    )
