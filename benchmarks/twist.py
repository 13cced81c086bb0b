# SPDX-License-Identifier: MIT
"""What it costs to spread the twists of limbs: ``python -m benchmarks.twist``.

Whole frames of the woman with and without, by each method: calls from Python, float32, one thread; all take turns.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.cli.tables import print_table
from sbs.options import DeformOptions
from sbs.samples import load as load_sample
from sbs.skinning.skin import Skin

from .rounds import Case, frame_by_frame, measure
from .targets import Row

ROUNDS = 60
TARGET = 1.3
POSES = 8
LARGEST_TURN = 60  # degrees
METHODS: dict[str, DeformOptions] = {
    "LBS": {"method": "linear"},
    "SBS": {"method": "spherical"},
    "weighted": {"method": "spherical", "center": "weighted"},
    "optimized": {"method": "spherical", "center": "optimized"},
}
PART = "optimized, in part"


def poses(skeleton: sbs.Skeleton) -> list[NDArray[np.float64]]:
    """Skinning matrices of joints that are turned about any axis."""
    random = np.random.default_rng(18)
    shape = (POSES, len(skeleton))
    axes, angles = random.normal(size=(*shape, 3)), random.uniform(-LARGEST_TURN, LARGEST_TURN, shape)
    local = sbs.rotations.matrices_from_axis_angle(axes, angles, degrees=True)
    return list(skeleton.skinning_matrices(skeleton.forward(local)))


def cases(character: sbs.Character) -> list[tuple[str, bool, Case]]:
    """Each method without a twist and with, for positions and for normals, too."""
    twist = sbs.limb_twist(character)
    matrices = poses(character.skeleton)
    plain = character.skin, character.optimized_skin()
    spread = character.twisted_skin(twist), character.twisted_skin(twist, optimized=True)
    part = sbs.twist_amounts(character, twist).astype(np.float32)
    # Without, the same part everywhere: as many vertices are computed by both methods.
    methods = [(name, options, options) for name, options in METHODS.items()]
    optimized = METHODS["optimized"]
    methods.append((PART, {**optimized, "amount": np.full(len(part), part.min())}, {**optimized, "amount": part}))
    found = []
    for attributes in ("p", "pn"):
        for name, without, within in methods:
            for twisted, skins, options in ((False, plain, without), (True, spread, within)):
                found.append((name, twisted, case(skins["optimized" in name], matrices, attributes, options)))
    return found


def case(skin: Skin, matrices: list[NDArray[np.float64]], attributes: str, options: DeformOptions) -> Case:
    outputs = {"out": np.empty_like(skin.rest_positions)}
    if attributes == "pn":
        outputs["out_normals"] = np.empty_like(skin.rest_positions)
    deform = partial(skin.deform, normals=attributes == "pn", threads=1, **outputs, **options)
    return Case("sbs", "frame", options["method"], attributes, 1, "", frame_by_frame(deform, matrices))


def main() -> None:
    found = cases(load_sample("woman"))
    timings = measure([case for _, _, case in found], ROUNDS)
    rows = []
    for (name, _, _), without, within in zip(found[::2], timings[::2], timings[1::2], strict=True):
        row = Row("", "", "", within.minimum / without.minimum, TARGET)
        what = {"p": "positions", "pn": "positions, normals"}[without.case.attributes]
        times = [f"{timing.minimum / 1000:.1f}" for timing in (without, within)]
        rows.append((name, what, *times, f"{row.value:.2f}", f"{row.bound}, {row.verdict}"))
    print_table(("method", "of", "without, us", "twists spread, us", "ratio", "target"), rows, left=2)


if __name__ == "__main__":
    main()
