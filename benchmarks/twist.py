# SPDX-License-Identifier: MIT
"""What it costs to spread the twists of limbs, and to blend in part: ``python -m benchmarks.twist``.

Whole frames of the woman without a twist and with, by each method, over those of linear blending without: calls from
Python, float32, one thread; all take turns.
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
TARGETS = {
    ("optimized", False): 1.1,
    ("optimized, in part", True): 1.6,
    ("weighted", False): 2.0,
    ("weighted, in part", True): 2.2,
}
"""What whole frames of positions and normals may take, over those of linear blending: by method, and with a twist."""
POSES = 8
LARGEST_TURN = 60  # degrees
METHODS: dict[str, DeformOptions] = {
    "LBS": {"method": "linear"},
    "SBS": {"method": "spherical"},
    "weighted": {"method": "spherical", "center": "weighted"},
    "optimized": {"method": "spherical", "center": "optimized"},
}
IN_PART = ("weighted", "optimized")


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
    # Without, the same part everywhere.
    methods = [(name, options, options) for name, options in METHODS.items()]
    same_part = np.full_like(part, part.min())
    for name in IN_PART:
        options = METHODS[name]
        methods.append((f"{name}, in part", {**options, "amount": same_part}, {**options, "amount": part}))
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


def measured(rounds: int = ROUNDS) -> list[tuple[str, str, float, Row | None]]:
    """Method, what it is of, its time over that of linear blending without a twist, and the same with its target."""
    found = cases(load_sample("woman"))
    timings = measure([case for _, _, case in found], rounds)
    linear = {timing.case.attributes: timing.minimum for timing in reversed(timings) if timing.case.method == "linear"}
    made = []
    for (name, twisted, _), timing in zip(found, timings, strict=True):
        ratio, attributes = timing.minimum / linear[timing.case.attributes], timing.case.attributes
        where = f"woman {attributes}{', twists spread' if twisted else ''}"
        target = TARGETS.get((name, twisted)) if attributes == "pn" else None
        row = Row(f"{name} / LBS, whole frame", where, "", ratio, target) if target else None
        made.append((name, where, ratio, row))
    return made


def rows(rounds: int) -> list[Row]:
    """Those that have targets."""
    return [row for *_, row in measured(rounds) if row]


def main() -> None:
    cells = [
        (name, where, f"{ratio:.2f}", f"{row.bound}, {row.verdict}" if row else "")
        for name, where, ratio, row in measured()
    ]
    print_table(("method", "of", "over LBS", "target"), cells, left=2)


if __name__ == "__main__":
    main()
