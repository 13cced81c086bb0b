# SPDX-License-Identifier: MIT
"""What correctives cost: ``python -m benchmarks.correctives``.

The woman with 40 shapes, in four directions of ten joints, of 840 vertices each, as many as a draft of a hinge moves.
Whole frames with three joints bent, half way between two of their shapes, over the same frames without correctives:
calls from Python, float32, one thread; all take turns. And how long solving all shapes takes, in seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.cli.tables import print_table
from sbs.correctives import Correctives
from sbs.options import BlendOptions
from sbs.samples import load as load_sample
from sbs.skinning.skin import Skin

from .rounds import Case, frame_by_frame, measure
from .targets import Row

ROUNDS = 60
FRAME_TARGET = 1.25
"""What frames of half twist may take, over those without correctives."""
JOINTS = tuple(f"{side}{bone}" for side in ("Left", "Right") for bone in ("Arm", "ForeArm", "UpLeg", "Leg", "Foot"))
BENT = ("LeftForeArm", "LeftLeg", "RightLeg")
DIRECTIONS = 4
ANGLE = 80.0  # degrees
VERTICES = 840


def bent(skeleton: sbs.Skeleton, directions: dict[str, float]) -> NDArray[np.float64]:
    """Skinning matrices (J, 4, 4) of joints that swing, each in a direction about its bone, in degrees."""
    local = np.tile(np.eye(3), (len(skeleton), 1, 1))
    for joint, direction in directions.items():
        across, bone = sbs.poses.axes(skeleton, skeleton.index(joint))
        axis = sbs.rotations.matrices_from_axis_angle(bone, direction, degrees=True) @ across
        local[skeleton.index(joint)] = sbs.rotations.matrices_from_axis_angle(axis, ANGLE, degrees=True)
    return skeleton.skinning_matrices(skeleton.forward(local))


def sculpted(character: sbs.Character, skin: Skin, options: BlendOptions) -> Correctives:
    """Correctives of all joints in all directions, not solved: vertices near the joint are moved, the nearest most."""
    skeleton, rest = character.skeleton, skin.rest_positions
    made = Correctives(skeleton)
    for joint in JOINTS:
        distances = np.linalg.norm(rest - skeleton.bind_matrices[skeleton.index(joint)][:3, 3], axis=1)
        nearest = np.argsort(distances)[:VERTICES]
        share = 1.0 - distances[nearest] / distances[nearest].max()
        for number in range(DIRECTIONS):
            pose = bent(skeleton, {joint: 360.0 * number / DIRECTIONS})
            posed = skin.deform(pose, **options)
            posed[nearest] += (0.01 * share * np.ptp(rest[:, 1]))[:, None] * [0.3, 0.5, 0.8]
            made.add(pose, posed, joints=[joint], vertices=nearest)
    return made


def frames(character: sbs.Character) -> Iterator[tuple[str, str, Skin, BlendOptions]]:
    """What is timed: its name, the attributes, the skin, and how it is deformed."""
    twist = sbs.limb_twist(character)
    half: BlendOptions = {"method": "spherical", "center": "optimized"}
    half["amount"] = sbs.twist_amounts(character, twist).astype(np.float32)
    for attributes in ("p", "pn"):
        yield "LBS", attributes, character.skin, {"method": "linear"}
        yield "SBS", attributes, character.skin, {"method": "spherical"}
        yield "half twist", attributes, character.twisted_skin(twist, optimized=True), half


def case(
    skin: Skin, pose: NDArray[np.float64], attributes: str, options: BlendOptions, correctives: Correctives | None
) -> Case:
    outputs = {"out": np.empty_like(skin.rest_positions)}
    if attributes == "pn":
        outputs["out_normals"] = np.empty_like(skin.rest_positions)
    deform = partial(skin.deform, normals=attributes == "pn", threads=1, correctives=correctives, **outputs, **options)
    return Case("sbs", "frame", options["method"], attributes, 1, "", frame_by_frame(deform, [pose]))


def measured(rounds: int = ROUNDS) -> list[tuple[str, str, float, float, float]]:
    """Name, attributes, a frame with correctives over one without, and with joints at rest; seconds of solving all."""
    character = load_sample("woman")
    at_rest = bent(character.skeleton, {})
    pose = bent(character.skeleton, dict.fromkeys(BENT, 180.0 / DIRECTIONS))
    cases, found = [], []
    for name, attributes, skin, options in frames(character):
        correctives = sculpted(character, skin, options)
        triangles = character.mesh.triangles if attributes == "pn" else None
        begin = time.perf_counter()
        correctives.solve(skin, triangles=triangles, **options)
        found.append((name, attributes, time.perf_counter() - begin))
        for which in (pose, at_rest):
            cases += [case(skin, which, attributes, options, each) for each in (None, correctives)]
    times = np.array([timing.minimum for timing in measure(cases, rounds)]).reshape(-1, 4)
    ratios = times[:, [1, 3]] / times[:, [0, 2]]
    return [
        (name, attributes, float(bent_ratio), float(rest_ratio), seconds)
        for (name, attributes, seconds), (bent_ratio, rest_ratio) in zip(found, ratios, strict=True)
    ]


def rows(rounds: int) -> list[Row]:
    """Those that have targets."""
    return [
        Row("half twist with correctives / without, whole frame", f"woman {attributes}", "", ratio, FRAME_TARGET)
        for name, attributes, ratio, _, _ in measured(rounds)
        if name == "half twist"
    ]


def main() -> None:
    cells = [
        (name, attributes, f"{ratio:.2f}", f"{at_rest:.2f}", f"{seconds:.3f}")
        for name, attributes, ratio, at_rest, seconds in measured()
    ]
    print_table(("method", "of", "three joints bent", "at rest", "solved in"), cells, left=2)


if __name__ == "__main__":
    main()
