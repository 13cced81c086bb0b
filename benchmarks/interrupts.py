# SPDX-License-Identifier: MIT
"""How soon Ctrl-C ends long calls: seconds from SIGINT to KeyboardInterrupt, of calls on large meshes.

python benchmarks/interrupts.py [--side 450] [--after 0.5]
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np

import sbs
from sbs import _core
from sbs.weights import heat_weights

JOINTS = 64


def calls(side: int) -> dict[str, Callable[[], object]]:
    """Calls that take seconds, on a sheet of side by side vertices; some with all joints everywhere."""
    x, y = np.meshgrid(np.arange(side, dtype=float), np.arange(side, dtype=float))
    positions = np.stack([x, y, np.sin(0.1 * x)], axis=-1).reshape(-1, 3)
    first = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    quads = [[first, first + 1, first + side], [first + 1, first + side + 1, first + side]]
    triangles = np.concatenate([np.stack(corners, axis=1) for corners in quads]).astype(np.int32)
    rng = np.random.default_rng(0)
    count = len(positions)
    joints = np.tile(np.arange(JOINTS, dtype=np.int32), (count, 1))
    weights = rng.dirichlet(np.full(JOINTS, 0.2), count)
    few, light = joints[:, :4].copy(), weights[:, :4] / weights[:, :4].sum(axis=1, keepdims=True)
    frames = np.broadcast_to(np.eye(4), (400, JOINTS, 4, 4))
    skin = _core.Skin(positions, few, light, joint_count=JOINTS)
    ends = rng.uniform(0, side, (2, 400, 3))
    capsules = ends[0], ends[1], np.full((400, 2), 1.0), np.full((400, 2), 2.0 * side), None, None, None
    mesh = positions, triangles, np.arange(count)
    all_triangles = np.ones(len(triangles), bool)
    brush = _core.Brush(positions, triangles, few, light, joint_count=JOINTS, limit=8)
    dabs = rng.uniform(0, side, (10_000, 3)) * [1, 1, 0]
    bones = np.linspace(0, side, 9)[:, None] * np.ones(3)
    return {
        "smoothing, 64 joints": lambda: _core.smooth_weights(joints, weights, positions, triangles, iterations=100),
        "cleaning, 64 joints": lambda: [_core.clean_weights(joints, weights) for _ in range(20)],
        "Skin, 64 joints": lambda: [_core.Skin(positions, joints, weights) for _ in range(20)],
        "deform_many": lambda: [skin.deform_many(frames, rotation="average", center="weighted") for _ in range(20)],
        "subdivide": lambda: _core.subdivide(*mesh, all_triangles, levels=4),
        "curvature": lambda: [_core.curvature(*mesh) for _ in range(50)],
        "capsules": lambda: [_core.capsule_weights(positions, *capsules, limit=4) for _ in range(20)],
        "nearest points": lambda: [_core.nearest_on_surface(*mesh[:2], positions + 0.3) for _ in range(50)],
        "optimized centers": lambda: _core.optimized_centers(positions, triangles, joints, weights),
        "brush": lambda: brush.stroke(dabs, 3, radius=float(side)),
        "heat": lambda: heat_weights(positions, triangles, bones[:-1], bones[1:]),
    }


def measure(call: Callable[[], object], after: float) -> str:
    """Seconds to the end of a call that is interrupted after some; or that it ended before."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    try:
        timer.start()
        call()
        timer.cancel()
        time.sleep(0.1)
    except KeyboardInterrupt:
        return f"{time.perf_counter() - sent[0]:.3f}"
    return "ended before"


def main() -> None:
    """Print a line for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", type=int, default=450)
    parser.add_argument("--after", type=float, default=0.5)
    arguments = parser.parse_args()
    print(f"sbs {sbs.__version__}, {arguments.side}^2 vertices")
    for name, call in calls(arguments.side).items():
        print(f"{name:24} {measure(call, arguments.after)}", flush=True)


if __name__ == "__main__":
    main()
