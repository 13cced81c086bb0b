# SPDX-License-Identifier: MIT
"""The pose that is shown: joints turned by hand, or a moment of an animation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..characters.character import Character
from ..skinning.options import AnyFloats
from ..support import rotations

Floats = NDArray[np.float64]


class Posing:
    """A pose of a character: joints that are turned, or an animation at a time in seconds."""

    def __init__(self, character: Character) -> None:
        self.character = character
        self.turns = np.zeros((len(character.skeleton), 3))  # rotation vectors in the joints' own frames, degrees
        self.animation: str | None = None
        self.time = 0.0

    def matrices(self) -> Floats:
        """Skinning matrices (J, 4, 4), bind space to scene."""
        if self.animation is not None:
            return self.character.animations[self.animation].skinning_matrices(self.time)
        return self.character.skinning_matrices(rotation_vectors=np.radians(self.turns))

    def rest_positions(self) -> AnyFloats | None:
        """Rest positions (V, 3) with the blend shapes of the pose; None if there are none."""
        if not self.character.mesh.shapes:
            return None
        animation = None if self.animation is None else self.character.animations[self.animation]
        return self.character.shape_motion(animation).rest_positions(self.time)

    def frame(self, joint: int) -> tuple[Floats, Floats]:
        """Where a joint is in the scene, (3,), and the unit quaternion (w, x, y, z) of its axes."""
        matrix = self.matrices()[joint] @ self.character.skeleton.bind_matrices[joint]
        return matrix[:3, 3], rotations.quaternions_from_matrices(_rotation(matrix[:3, :3]))

    def turn_to(self, joint: int, quaternion: ArrayLike) -> None:
        """Turn a joint so that its axes in the scene are these."""
        wanted = rotations.matrices_from_quaternions(quaternion)
        turned = rotations.matrices_from_rotation_vectors(self.turns[joint], degrees=True)
        at_rest = rotations.matrices_from_quaternions(self.frame(joint)[1]) @ turned.T
        self.turns[joint] = rotations.rotation_vectors_from_matrices(at_rest.T @ wanted, degrees=True)

    def arguments(self, joint: int) -> list[str]:
        """The options of ``sbs compare`` for the pose; `joint` is the one to look at if none is turned."""
        if self.animation is not None:
            return ["--animation", self.animation, "--time", f"{self.time:.6g}"]
        turned = np.flatnonzero(np.any(self.turns != 0, axis=1)).tolist() or [joint]
        found = []
        for number in turned:
            found += ["--joint", self.character.skeleton.names[number], "--rotate", _turn(self.turns[number])]
        return found


def _turn(vector: Floats) -> str:
    """AXIS:DEGREES of a rotation vector."""
    moved = np.flatnonzero(vector)
    if len(moved) <= 1:
        axis = int(moved[0]) if len(moved) else 0
        return f"{'xyz'[axis]}:{vector[axis]:.6g}"
    degrees = float(np.linalg.norm(vector))
    return ",".join(f"{number:.6g}" for number in vector / degrees) + f":{degrees:.6g}"


def _rotation(linear: Floats) -> Floats:
    """The nearest rotation of a matrix (3, 3), which may scale or mirror."""
    left, _, right = np.linalg.svd(linear)
    return np.asarray(left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right)
