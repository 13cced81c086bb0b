# SPDX-License-Identifier: MIT
"""The results of each method for a scene, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..bench import measure, ratio_to_linear
from ..options import Method
from .measures import radius_kept, volume
from .scenes import Scene

METHODS: tuple[Method, ...] = ("linear", "spherical", "dual_quaternion")


@dataclass(frozen=True)
class Outcome:
    """A scene by one method.

    Attributes
    ----------
    method : {"linear", "spherical", "dual_quaternion"}
    positions : (V, 3) ndarray
        The deformed vertices.
    solves : int
        Rotation centers that needed a least-squares solve.
    nanoseconds : float
        Per vertex, with one thread, the least of the rounds.
    ratio : float
        Of that time to LBS.
    radius_kept : float
        See `measures.radius_kept`.
    volume_change : float
        Of the whole mesh, relative to its volume at rest.
    """

    method: Method
    positions: NDArray[np.floating]
    solves: int
    nanoseconds: float
    ratio: float
    radius_kept: float
    volume_change: float


def outcomes(scene: Scene, *, rounds: int) -> list[Outcome]:
    """Deform and time a scene by every method, in `rounds` rounds."""
    character, matrices = scene.character, scene.skinning_matrices
    skin, triangles = character.skin, character.mesh.triangles
    timings = measure(skin, matrices, methods=METHODS, rounds=rounds)
    rest_volume = volume(character.mesh.positions, triangles)
    results = []
    for timing in timings:
        positions = skin.deform(matrices, method=timing.method)
        results.append(
            Outcome(
                method=timing.method,
                positions=positions,
                solves=skin.pose_report(matrices).solves if timing.method == "spherical" else 0,
                nanoseconds=timing.minimum,
                ratio=ratio_to_linear(timings, timing),
                radius_kept=radius_kept(character, matrices, positions),
                volume_change=volume(positions, triangles) / rest_volume - 1,
            )
        )
    return results
