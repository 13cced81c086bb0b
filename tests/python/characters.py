# SPDX-License-Identifier: MIT
"""The real characters of tests/data: meshes, skeletons, and skinning matrices of single frames.

tests/data/README.md tells where they come from, tools/make_test_data.py documents the files.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "data"

NAMES = (
    "hand_webxr",
    "arnaud_ozz",
    "rat_quaternius",
    "wolf_quaternius",
    "knight_kaykit",
    "woman_makehuman_cmu",
    "woman_makehuman_default",
)


@dataclass(frozen=True)
class Clip:
    """Some frames of a motion, as rigid skinning transforms v' = rotate(q, v) + t."""

    frames: tuple[int, ...]  # their numbers in the author's clip
    quaternions: np.ndarray  # (F, J, 4), (w, x, y, z), float32
    translations: np.ndarray  # (F, J, 3), float32

    def skinning_matrices(self, frame: int) -> np.ndarray:
        """(J, 3, 4) double of a kept frame, by its number: rigid to a rounding error of double."""
        row = self.frames.index(frame)
        quaternions = self.quaternions[row].astype(np.float64)
        quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
        translations = self.translations[row].astype(np.float64)
        return np.concatenate([rotation_matrices(quaternions), translations[:, :, None]], axis=2)


@dataclass(frozen=True)
class Character:
    """A mesh bound to a skeleton, and clips that move it."""

    name: str
    rest_positions: np.ndarray  # (V, 3)
    rest_normals: np.ndarray  # (V, 3)
    joint_indices: np.ndarray  # (V, K) int32
    joint_weights: np.ndarray  # (V, K), not normalized
    parents: np.ndarray  # (J,) int32
    bind_matrices: np.ndarray  # (J, 3, 4) double
    clips: dict[str, Clip]

    @property
    def joint_positions(self) -> np.ndarray:
        """(J, 3): where the joints are at bind, in the space of the mesh."""
        return self.bind_matrices[:, :, 3]

    def poses(self) -> Iterator[tuple[str, int]]:
        """(clip, frame) of every frame."""
        for name, clip in self.clips.items():
            for frame in clip.frames:
                yield name, frame


def rotation_matrices(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4), (w, x, y, z)."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@functools.cache
def load(name: str) -> Character:
    """Read a character of tests/data; its arrays are shared between tests and read-only."""
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    for array in arrays.values():
        array.setflags(write=False)
    clips = {
        key.removesuffix(".frames"): Clip(
            tuple(int(frame) for frame in arrays[key]),
            arrays[key.replace(".frames", ".quaternions")],
            arrays[key.replace(".frames", ".translations")],
        )
        for key in arrays
        if key.endswith(".frames")
    }
    mesh = {key: arrays[key] for key in ("rest_positions", "rest_normals", "joint_indices", "joint_weights")}
    return Character(name, **mesh, parents=arrays["parents"], bind_matrices=arrays["bind_matrices"], clips=clips)
