# SPDX-License-Identifier: MIT
"""The results of each method for a scene, and its time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...skinning.options import DeformOptions
from .. import METHODS as MEASURED
from .. import Gauge
from ..methods import NamedMethod
from .bench import in_rounds
from .scenes import Scene

METHODS: Mapping[str, NamedMethod] = {name: MEASURED[name] for name in ("LBS", "SBS", "DQS", "smooth twist")}


@dataclass(frozen=True)
class Outcome:
    """A scene by one method.

    `solves` are the rotation centers that needed a least-squares solve. `nanoseconds` are per vertex, with one thread,
    the least of all rounds; `ratio` is to LBS. `thickness` and `limb_volume` are shares of those at rest that are kept,
    of the thinnest hundredth of the limbs and of the limb that loses most; `strain` is the strain energy of the surface
    over that by LBS. docs/quality.md explains them.
    """

    method: str
    positions: NDArray[np.floating]
    solves: int
    nanoseconds: float
    ratio: float
    thickness: float
    limb_volume: float
    strain: float


def outcomes(scene: Scene, *, rounds: int) -> list[Outcome]:
    """Deform and time a scene by every method, in `rounds` rounds."""
    character, matrices = scene.character, scene.skinning_matrices
    out = np.empty_like(character.skin.rest_positions)
    runs = []
    for method in METHODS.values():
        options: DeformOptions = {**method.options, "threads": 1, "out": out}
        runs.append(partial(method.skin(character).deform, matrices, **options))
    times = [1e9 / len(out) * min(seconds) for seconds in in_rounds(runs, rounds)]
    gauge, linear = Gauge(character), float("nan")
    results = []
    for name, run, nanoseconds in zip(METHODS, runs, times, strict=True):
        positions = np.array(run())
        measured = gauge.measure(matrices, positions)
        energy = measured["surface_energy"]["mean"]
        linear = energy if name == "LBS" else linear
        results.append(
            Outcome(
                method=name,
                positions=positions,
                solves=character.skin.pose_report(matrices).solves if name == "SBS" else 0,
                nanoseconds=nanoseconds,
                ratio=nanoseconds / times[0],
                thickness=measured["thickness"]["low"],
                limb_volume=measured["limb_volume"]["smallest"],
                strain=energy / linear,
            )
        )
    return results
