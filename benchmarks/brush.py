# SPDX-License-Identifier: MIT
"""Painting weights, beside its targets: ``python -m benchmarks.brush``, about half a minute.

A wavy sheet of 60 joints, four influences at every vertex. A dab of 1,000 vertices shall take less than 1 ms, also on a
million, and a skin of 100,000 that follows it at most a fifth of the time of binding. That of a million mostly waits
for fresh memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import sbs
from sbs.weights import Brush

Result = TypeVar("Result")

SEED = 2005
JOINTS = 60
TOUCHED = 1_000
DAB_SECONDS = 1e-3
SHARE_OF_BIND = 0.2


@dataclass(frozen=True)
class Sheet:
    """A mesh with weights.

    Attributes
    ----------
    positions : (V, 3) float32 ndarray
    triangles : (T, 3) int32 ndarray
    joint_indices : (V, 4) int32 ndarray
    joint_weights : (V, 4) float32 ndarray
    radius : float
        Of a dab of `TOUCHED` vertices.
    """

    positions: NDArray[np.float32]
    triangles: NDArray[np.int32]
    joint_indices: NDArray[np.int32]
    joint_weights: NDArray[np.float32 | np.float64]
    radius: float


def sheet(side: int) -> Sheet:
    """A sheet of `side` times `side` vertices, its weights by distance from joints that are scattered over it."""
    rng = np.random.default_rng(SEED)
    x, y = np.meshgrid(np.arange(side) / side, np.arange(side) / side)
    positions = np.stack([x, y, 0.02 * np.sin(20 * x) * np.sin(20 * y)], axis=-1).reshape(-1, 3)
    corner = np.arange(side * side, dtype=np.int32).reshape(side, side)
    a, b, c, d = (corner[i : side - 1 + i, j : side - 1 + j].ravel() for i in (0, 1) for j in (0, 1))
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([b, d, c], axis=1)])

    joints = rng.random((JOINTS, 3)) * [1, 1, 0]
    distances = np.linalg.norm(positions[:, None].astype(np.float32) - joints.astype(np.float32), axis=2)
    joint_indices = np.argpartition(distances, 4, axis=1)[:, :4].astype(np.int32)
    nearness = 1 / (np.take_along_axis(distances, joint_indices, axis=1) + 1e-3) ** 4
    shares = nearness / nearness.sum(axis=1, keepdims=True)
    shares[shares < 0.02] = 0
    pair = sbs.weights.normalize(joint_indices, shares)
    radius = 1.02 * float(np.sqrt(TOUCHED / np.pi)) / side  # at its rim a dab has no effect
    return Sheet(positions.astype(np.float32), triangles, pair.joint_indices, pair.joint_weights, radius)


def timed(action: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds that an action takes, and its result."""
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def time_dabs(mesh: Sheet) -> dict[str, tuple[float, int]]:
    """Seconds and vertices of a dab, by what it does."""
    brush = Brush(mesh.positions, mesh.triangles, mesh.joint_indices, mesh.joint_weights, joint_count=JOINTS)
    middle = len(mesh.positions) // 2 + int(np.sqrt(len(mesh.positions))) // 2
    center = mesh.positions[middle].astype(float)
    cases: dict[str, dict[str, Any]] = {
        "add": {"joint": 1, "mode": "add"},
        "smooth, one joint": {"joint": 1, "mode": "smooth"},
        "smooth, all joints": {"joint": None, "mode": "smooth"},
        "add, along the surface": {"joint": 2, "mode": "add", "distance": "surface"},
        "add, mirrored": {"joint": 3, "mode": "add", "mirror": "x", "mirror_position": 0.4},
    }
    found = {}
    for name, options in cases.items():
        dab = partial(brush.dab, center, radius=mesh.radius, strength=0.02, **options)
        strokes = [timed(dab) for _ in range(20)]
        found[name] = min(seconds for seconds, _ in strokes), max(len(stroke.vertices) for _, stroke in strokes)
    return found


def time_update(mesh: Sheet) -> tuple[float, float]:
    """Seconds of binding and of following a dab, timed in turns."""
    bind = partial(sbs.Skin, mesh.positions, mesh.joint_indices, mesh.joint_weights, joint_count=JOINTS)
    skin = bind()
    brush = Brush(mesh.positions, mesh.triangles, mesh.joint_indices, mesh.joint_weights, joint_count=JOINTS)
    stroke = brush.dab(mesh.positions[len(mesh.positions) // 3], 5, radius=mesh.radius, strength=0.3)
    new_weights = stroke.new.joint_weights.astype(np.float32)
    follow = partial(skin.update_weights, stroke.new.joint_indices, new_weights, vertices=stroke.vertices)
    turns = [(timed(bind)[0], timed(follow)[0]) for _ in range(15)]
    return min(turn[0] for turn in turns), min(turn[1] for turn in turns)


def main() -> None:
    table = Table("", "vertices", "touched", "ms", "target", "")
    for side in (316, 1000):
        mesh = sheet(side)
        count = f"{len(mesh.positions):,}"
        for name, (seconds, touched) in time_dabs(mesh).items():
            met = "met" if seconds < DAB_SECONDS else "missed"
            table.add_row(f"dab: {name}", count, f"{touched:,}", f"{seconds * 1e3:.3f}", "< 1 ms", met)
        bind, follow = time_update(mesh)
        table.add_row("bind", count, "", f"{bind * 1e3:.2f}", "", "")
        met = "met" if follow <= SHARE_OF_BIND * bind else "missed"
        target = ("≤ bind / 5", met) if len(mesh.positions) <= 100_000 else ("", "")
        table.add_row("update_weights", count, f"{TOUCHED:,}", f"{follow * 1e3:.2f}", *target)
    Console().print(table)


if __name__ == "__main__":
    main()
