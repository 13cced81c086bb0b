# SPDX-License-Identifier: MIT
"""What `sbs.gpu` takes on the graphics processor that is there: ``python -m benchmarks.gpu``.

Nanoseconds a vertex and pose of the woman, positions and normals, the fastest of some times: results that stay on the
device, results that are read back, and the C library on all cores. Preparing poses is part of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.cli.tables import print_table
from sbs.gpu import Deformer

TURN = 0.3  # of joints, in radians
LONGEST = 2.0  # seconds of a case, if it has run twice


def fastest(run: Callable[[], object]) -> float:
    """Seconds, of as many times as there is time for; the first does not count."""
    run()
    times: list[float] = []
    while not times or sum(times) < LONGEST:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def stay(deformer: Deformer, matrices: NDArray[np.float64]) -> None:
    """Deform as many poses as there is room for at a time, and wait for all."""
    for first in range(0, len(matrices), deformer.most_frames):
        made = deformer.deform_on_device(matrices[first : first + deformer.most_frames], normals=True)
    deformer.device.queue.read_buffer(made.positions, 0, 16)  # comes after all that has been submitted


@click.command()
@click.option("--poses", multiple=True, default=(1, 64, 10_000), show_default=True, type=click.IntRange(1))
def main(poses: tuple[int, ...]) -> None:
    """Linear blending, half twist and weighted centers, on the graphics processor and here."""
    woman = sbs.samples.load("woman")
    twist = sbs.limb_twist(woman)
    half = woman.twisted_skin(twist, optimized=True)
    ways: dict[str, tuple[sbs.Skin, dict[str, Any]]] = {
        "LBS": (woman.skin, {"method": "linear"}),
        "half twist": (half, {"center": "optimized", "amount": sbs.twist_amounts(woman, twist)}),
        "joint sets": (woman.skin, {}),
        "weighted": (woman.skin, {"center": "weighted"}),
    }
    random = np.random.default_rng(0)
    vectors = TURN * random.standard_normal((max(poses), len(woman.skeleton), 3))
    rows = []
    for count in poses:
        matrices = woman.skinning_matrices(rotation_vectors=vectors[:count])
        out, out_normals = (np.empty((count, woman.skin.vertex_count, 3), np.float32) for _ in range(2))
        for name, (skin, options) in ways.items():
            deformer = Deformer(skin, **options)
            arrays: dict[str, Any] = {"normals": True, "out": out, "out_normals": out_normals}
            seconds = (
                fastest(lambda: stay(deformer, matrices)),  # noqa: B023  # called at once
                fastest(lambda: deformer.deform_many(matrices, **arrays)),  # noqa: B023
                fastest(lambda: skin.deform_many(matrices, **arrays, **options)),  # noqa: B023
            )
            shares = [f"{1e9 * each / (count * skin.vertex_count):.2f}" for each in seconds]
            rows.append([f"{count:,}", name, *shares])
    print(f"{deformer.device.adapter.info['device']}, {sbs.get_threads()} threads here; nanoseconds a vertex and pose")
    print_table(["poses", "", "on device", "read back", "C library"], rows, left=2)


if __name__ == "__main__":
    main()
