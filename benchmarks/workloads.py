# SPDX-License-Identifier: MIT
"""The meshes and poses that are timed: generated ones of any size, and the characters of the tests.

* ``S``: the tube of `sbs.quality.demo.bench`, 60 joints, four influences at every vertex, 200 to 300 joint sets.
* ``R``: a humanoid of 52 joints, 1 to 4 influences, 110 to 210 joint sets, its limbs one after the other.
* ``R shuffled``: the same with its vertices in random order.
* the characters of tests/data, by name, in all frames of their clips.
* ``face`` and ``face, 12``: 24,000 vertices under 800 joints, eight or twelve of them at every vertex, so that half of
  the vertices have a joint set of their own: a face rig as films have them.

All of them are float32, and the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import characters
import numpy as np
from numpy.typing import NDArray

import sbs
from sbs import rotations
from sbs.quality.demo.bench import tube
from sbs.support.files import replacing

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Indices = NDArray[np.int32]

GENERATED = ("S", "R", "R shuffled")
CHARACTERS = ("hand_webxr", "arnaud_ozz", "rat_quaternius", "woman_makehuman_cmu", "woman_makehuman_default")
FACES = {"face": 8, "face, 12": 12}
"""The number of influences of each."""
SEED = 2005
POSES = 8


@dataclass(frozen=True)
class Workload:
    """A mesh bound to joints, and poses. Arrays are contiguous."""

    name: str
    rest_positions: Singles  # (V, 3)
    rest_normals: Singles  # (V, 3)
    joint_indices: Indices  # (V, K)
    joint_weights: Singles  # (V, K) descending, normalized
    parents: Indices  # (J,)
    joint_positions: Floats  # (J, 3)
    skinning_matrices: Floats  # (F, J, 4, 4) rigid

    @property
    def vertex_count(self) -> int:
        """V."""
        return len(self.rest_positions)

    @property
    def joint_count(self) -> int:
        """J."""
        return len(self.parents)

    def skin(self) -> sbs.Skin:
        """Bind it, with normals."""
        return sbs.Skin(
            self.rest_positions,
            self.joint_indices,
            self.joint_weights,
            parents=self.parents,
            joint_positions=self.joint_positions,
            rest_normals=self.rest_normals,
        )

    def write(self, path: Path) -> None:
        """Write the file that benchmarks/native/workload.h reads."""
        counts = (self.vertex_count, self.joint_count, self.joint_indices.shape[1], len(self.skinning_matrices))
        with replacing(path) as temporary, temporary.open("wb") as file:
            file.write(b"SBSLOAD1")
            np.array(counts, np.uint64).tofile(file)
            self.skinning_matrices[:, :, :3].tofile(file)
            vectors = (self.joint_positions, self.rest_positions, self.rest_normals)
            for array in (*vectors, self.joint_weights, self.joint_indices, self.parents):
                array.tofile(file)


def load(name: str, vertex_count: int | None = None) -> Workload:
    """Make or read one of `CHARACTERS`, `FACES` or `GENERATED`; the last have a number of vertices."""
    if name in FACES:
        return _face(name)
    if name in CHARACTERS:
        return _character(name)
    assert vertex_count is not None
    return _tube(vertex_count) if name == "S" else _humanoid(name, vertex_count, shuffled=name == "R shuffled")


def _finish(
    name: str,
    positions: NDArray[np.floating],
    normals: NDArray[np.floating],
    joints: NDArray[np.integer],
    weights: NDArray[np.floating],
    parents: Indices,
    joint_positions: Floats,
    matrices: Floats,
) -> Workload:
    """Sort and normalize the influences, drop columns that nobody uses, and convert each array to its type."""
    order = np.argsort(-weights, axis=1, kind="stable")
    weights = np.take_along_axis(weights, order, axis=1)
    used = int((weights > 0).sum(axis=1).max())
    weights = weights[:, :used] / weights.sum(axis=1, keepdims=True)
    joints = np.where(weights > 0, np.take_along_axis(joints, order[:, :used], axis=1), 0)
    return Workload(
        name,
        np.ascontiguousarray(positions, np.float32),
        np.ascontiguousarray(normals, np.float32),
        np.ascontiguousarray(joints, np.int32),
        np.ascontiguousarray(weights, np.float32),
        np.ascontiguousarray(parents, np.int32),
        np.ascontiguousarray(joint_positions, np.float64),
        np.ascontiguousarray(matrices, np.float64),
    )


def random_poses(skeleton: sbs.Skeleton, count: int, largest: float, seed: int) -> Floats:
    """Skinning matrices (F, J, 4, 4) of joints that are turned about any axis, by up to so many degrees each."""
    random = np.random.default_rng(seed)
    shape = (count, len(skeleton))
    axes, angles = random.normal(size=(*shape, 3)), random.uniform(-largest, largest, shape)
    return skeleton.skinning_matrices(skeleton.forward(rotations.matrices_from_axis_angle(axes, angles, degrees=True)))


def _poses_of_many(parents: Indices, joint_positions: Floats, vertex_count: int) -> Floats:
    bind = np.tile(np.eye(4), (len(parents), 1, 1))
    bind[:, :3, 3] = joint_positions
    return random_poses(sbs.Skeleton(parents, bind), POSES if vertex_count <= 100_000 else 2, 30, SEED)


def _character(name: str) -> Workload:
    character = characters.load(name)
    rigid = np.stack([character.clips[clip].skinning_matrices(frame) for clip, frame in character.poses()])
    matrices = np.zeros((*rigid.shape[:2], 4, 4))
    matrices[..., :3, :] = rigid
    matrices[..., 3, 3] = 1
    return _finish(
        name,
        character.rest_positions,
        character.rest_normals,
        character.joint_indices,
        character.joint_weights.astype(np.float64),
        character.parents,
        character.joint_positions,
        matrices,
    )


def _tube(vertex_count: int) -> Workload:
    skin, _ = tube(vertex_count, seed=SEED)
    parents, joint_positions = skin.parents, skin.joint_positions
    assert parents is not None and joint_positions is not None
    return _finish(
        "S",
        skin.rest_positions,
        skin.rest_positions * np.array([1, 1, 0]),
        skin.joint_indices,
        skin.joint_weights.astype(np.float64),
        parents,
        joint_positions,
        _poses_of_many(parents, joint_positions, vertex_count),
    )


def _face(name: str) -> Workload:
    """A sheet of which each joint moves the vertices around it, in strips as a mesh of polygons has them."""
    random = np.random.default_rng(SEED)
    positions = random.random((24_000, 3)) * [1, 1, 0.1]
    positions = positions[np.lexsort((positions[:, 1], np.floor(40 * positions[:, 0])))]
    joint_positions = random.random((800, 3)) * [1, 1, 0.1]
    distances = np.linalg.norm(positions[:, None] - joint_positions, axis=2)
    nearest = np.argsort(distances, axis=1)[:, : FACES[name]]
    distances = np.take_along_axis(distances, nearest, axis=1)
    axes, angles = random.normal(size=(POSES, 800, 3)), random.uniform(-30, 30, (POSES, 800))
    matrices = np.tile(np.eye(4), (POSES, 800, 1, 1))
    turns = matrices[..., :3, :3] = rotations.matrices_from_axis_angle(axes, angles, degrees=True)
    matrices[..., :3, 3] = joint_positions - np.einsum("fjab,jb->fja", turns, joint_positions)
    normals = positions / np.linalg.norm(positions, axis=1, keepdims=True)
    weights = np.exp(-((distances / (2 * distances[:, :1] + 1e-6)) ** 2))
    parents = np.full(800, -1, np.int32)
    return _finish(name, positions, normals, nearest, weights, parents, joint_positions, matrices)


# ------------------------------------------------------------------------------------------------------- the humanoid


def _skeleton_of_humanoid() -> tuple[Indices, Floats, Floats, Floats]:
    """Parents (J,), joint positions (J, 3), where each joint's limb ends (J, 3), and the limb's radius (J,)."""
    rows: list[tuple[int, tuple[float, float, float], tuple[float, float, float], float]] = []

    def chain(parent: int, points: list[tuple[float, float, float]], radii: list[float]) -> list[int]:
        joints = []
        for start, end, radius in zip(points[:-1], points[1:], radii, strict=True):
            joints.append(len(rows))
            rows.append((parent, start, end, radius))
            parent = joints[-1]
        return joints

    heights = (1.0, 1.12, 1.25, 1.38, 1.5, 1.58, 1.78)
    spine = chain(-1, [(0, y, 0) for y in heights], [0.16, 0.15, 0.16, 0.15, 0.06, 0.1])
    for side in (-1, 1):
        arm = [(0.05, 1.43), (0.18, 1.45), (0.45, 1.45), (0.7, 1.45), (0.79, 1.45)]
        joints = chain(spine[3], [(side * x, y, 0) for x, y in arm], [0.07, 0.055, 0.045, 0.04])
        for finger in range(5):
            z = 0.02 * (finger - 2)
            tips = [0.79 + 0.03 * i - 0.04 * (finger == 0) for i in range(4)]
            chain(joints[-1], [(side * x, 1.45, z) for x in tips], [0.009] * 3)
        leg = [(0.95, 0), (0.52, 0), (0.09, 0), (0.03, 0.12), (0.03, 0.19)]
        chain(spine[0], [(side * 0.1, y, z) for y, z in leg], [0.08, 0.06, 0.045, 0.04])
    parents, starts, ends, radii = zip(*rows, strict=True)
    return np.array(parents, np.int32), np.array(starts, float), np.array(ends, float), np.array(radii)


def _distances(points: Floats, starts: Floats, ends: Floats) -> Floats:
    """Distances (V, B) of points (V, 3) from line segments (B, 3), (B, 3)."""
    along = ends - starts
    share = np.einsum("vbi,bi->vb", points[:, None] - starts, along) / np.einsum("bi,bi->b", along, along)
    nearest = starts + np.clip(share, 0, 1)[..., None] * along
    distances: Floats = np.linalg.norm(points[:, None] - nearest, axis=-1)
    return distances


def _steps_apart(parents: Indices) -> NDArray[np.int64]:
    """The number of steps from joint to joint along the tree, (J, J)."""
    steps = np.full((len(parents), len(parents)), len(parents))
    np.fill_diagonal(steps, 0)
    for joint, parent in enumerate(parents):  # parents come first
        if parent >= 0:
            steps[joint, :joint] = steps[:joint, joint] = steps[parent, :joint] + 1
    return steps


def _humanoid(name: str, vertex_count: int, *, shuffled: bool) -> Workload:
    """Tubes about the bones; a joint's influence falls with the fourth power of the distance from its bone."""
    parents, starts, ends, radii = _skeleton_of_humanoid()
    lengths = np.linalg.norm(ends - starts, axis=1)
    ends_at = np.rint(np.cumsum(lengths * radii) / np.sum(lengths * radii) * vertex_count).astype(int)
    counts = np.diff(ends_at, prepend=0)
    close = _steps_apart(parents) <= 3

    positions = np.empty((vertex_count, 3))
    normals = np.empty((vertex_count, 3))
    joints = np.zeros((vertex_count, 4), np.int64)
    weights = np.zeros((vertex_count, 4))
    for limb, count in enumerate(counts):
        rows = slice(ends_at[limb] - count, ends_at[limb])
        around = max(round(np.sqrt(count * 2 * np.pi * radii[limb] / lengths[limb])), 3)
        ring, spoke = np.divmod(np.arange(count), around)
        angle = 2 * np.pi * spoke / around
        axis = (ends[limb] - starts[limb]) / lengths[limb]
        side = np.cross(axis, [0.36, 0.48, 0.8])
        side /= np.linalg.norm(side)
        normals[rows] = np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * np.cross(axis, side)
        height = (ring + 0.5) / (ring[-1] + 1) * lengths[limb]
        positions[rows] = starts[limb] + height[:, None] * axis + radii[limb] * normals[rows]

        bones = np.flatnonzero(close[limb])
        near = _distances(positions[rows], starts[bones], ends[bones]) ** -4
        near[near < 0.04 * near.max(axis=1, keepdims=True)] = 0
        best = np.argsort(-near, axis=1, kind="stable")[:, :4]
        joints[rows, : best.shape[1]] = bones[best]
        weights[rows, : best.shape[1]] = np.take_along_axis(near, best, axis=1)

    order = np.random.default_rng(SEED).permutation(vertex_count) if shuffled else slice(None)
    matrices = _poses_of_many(parents, starts, vertex_count)
    return _finish(name, positions[order], normals[order], joints[order], weights[order], parents, starts, matrices)
