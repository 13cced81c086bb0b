# SPDX-License-Identifier: MIT
"""Times of `sbs.gpu` on the graphics processor of this machine.

Nanoseconds a vertex and pose of the woman, positions and normals, the fastest of some times: results that stay on the
device, results that are read back, and the C library on all cores. Preparing poses is part of each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.cli.tables import print_table
from sbs.gpu import Deformer

from .timing import frame_by_frame, measure

TURN = 0.3  # of joints, in radians
ROUNDS = 30


def deform_on_device(deformer: Deformer, matrices: NDArray[np.float64]) -> None:
    """Deform as many poses as there is room for at a time, and wait for all."""
    for first in range(0, len(matrices), deformer.most_frames):
        made = deformer.deform_on_device(matrices[first : first + deformer.most_frames], normals=True)
    deformer.device.queue.read_buffer(made.positions, 0, 16)  # comes after all that has been submitted


def time_methods(poses: tuple[int, ...]) -> None:
    """Print the times of methods on the graphics processor and here, for each number of poses."""
    woman = sbs.samples.load("woman")
    twist = sbs.limb_twist(woman)
    methods: dict[str, tuple[sbs.Skin, dict[str, Any]]] = {
        "LBS": (woman.skin, {"method": "linear"}),
        "smooth twist": (
            woman.twisted_skin(twist, optimized=True),
            {"center": "optimized", "amount": sbs.twist_amounts(woman, twist)},
        ),
        "joint sets": (woman.skin, {}),
        "weighted": (woman.skin, {"center": "weighted"}),
    }
    vectors = TURN * np.random.default_rng(0).standard_normal((max(poses), len(woman.skeleton), 3))
    rows = []
    for count in poses:
        matrices = woman.skinning_matrices(rotation_vectors=vectors[:count])
        out, out_normals = (np.empty((count, woman.skin.vertex_count, 3), np.float32) for _ in range(2))
        arrays: dict[str, Any] = {"normals": True, "out": out, "out_normals": out_normals}
        for name, (skin, options) in methods.items():
            deformer = Deformer(skin, **options)
            calls: tuple[Callable[..., object], ...] = (
                partial(deform_on_device, deformer),
                partial(deformer.deform_many, **arrays),
                partial(skin.deform_many, **arrays, **options),
            )
            times = measure([frame_by_frame(call, [matrices]) for call in calls], ROUNDS)
            rows.append([f"{count:,}", name, *(f"{each.minimum / (count * skin.vertex_count):.2f}" for each in times)])
    print(f"{deformer.device.adapter.info['device']}, {sbs.get_threads()} threads here; nanoseconds a vertex and pose")
    print_table(["poses", "", "on device", "read back", "C library"], rows, left=2)
