# SPDX-License-Identifier: MIT
"""Bones blending over vertex blending, beside Kavan and Zara 2003, Tables 1 and 2: ``python -m benchmarks.bones``.

As in the paper, the right arm is blended by its bones and all else by its vertices, on the original mesh and with the
arm subdivided 1:4. Vertex blending is LBS with the artist's weights. Whole calls from Python, positions, float32, one
thread; all take turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import characters
import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.cli.tables import print_table
from sbs.mesh import subdivide_near_joints
from sbs.options import DeformOptions
from sbs.samples import load as load_sample
from sbs.skinning.skin import Skin

from .rounds import Case, frame_by_frame, measure
from .targets import Row

ROUNDS = 60
TARGET = 3.0
POSES = 8
LARGEST_TURN = 40  # degrees
# vertices, and the ratio of times: of rendering, which is more than deforming
PAPER = {"original": (1507, 19.04 / 16.57), "arm 1:4": (2065, 32.7 / 23.31)}
ARM = ("RightArm", "RightForeArm", "RightHand")


def arnaud() -> sbs.Character:
    """The character of tests/data that is nearest to the paper's in size."""
    with np.load(characters.DATA / "arnaud_ozz.npz") as file:
        bind = np.tile(np.eye(4), (len(file["parents"]), 1, 1))
        bind[:, :3] = file["bind_matrices"]
        mesh = sbs.Mesh(
            file["rest_positions"].astype(np.float32),
            file["triangles"].astype(np.int32),
            file["joint_indices"],
            file["joint_weights"].astype(np.float32),
        )
        names = [str(name) for name in file["joint_names"]]
        return sbs.Character.from_mesh(mesh, sbs.Skeleton(file["parents"], bind, names), name="arnaud")


def poses(skeleton: sbs.Skeleton) -> list[NDArray[np.float64]]:
    """Skinning matrices of joints that are turned about any axis."""
    random = np.random.default_rng(2003)
    shape = (POSES, len(skeleton))
    axes, angles = random.normal(size=(*shape, 3)), random.uniform(-LARGEST_TURN, LARGEST_TURN, shape)
    local = sbs.rotations.matrices_from_axis_angle(axes, angles, degrees=True)
    return list(skeleton.skinning_matrices(skeleton.forward(local)))


def case(name: str, skin: Skin, matrices: Sequence[NDArray[np.float64]], options: DeformOptions) -> Case:
    out = np.empty_like(skin.rest_positions)
    deform = partial(skin.deform, out=out, threads=1, **options)
    return Case(name, "frame", options["method"], "p", 1, "", frame_by_frame(deform, matrices))


def cases(character: sbs.Character) -> list[Case]:
    """Vertex blending, and bones blending of the arm and of all joints."""
    mesh, skeleton = character.mesh, character.skeleton
    matrices = poses(skeleton)
    influences = (mesh.joint_indices, mesh.joint_weights)
    found = [case("vertices", character.skin, matrices, {"method": "linear"})]
    for name, joints in (("arm", ARM), ("all", None)):
        blending = sbs.bones_blending(skeleton, mesh.positions, joints=joints, influences=influences)
        found.append(case(name, blending.skin(), matrices, blending.options))
    return found


def main() -> None:
    rows = []
    for character in (arnaud(), load_sample("woman")):
        for name, (vertices, ratio) in PAPER.items():
            subject = character if name == "original" else subdivide_near_joints(character, ARM)
            linear, *bones = measure(cases(subject), ROUNDS)
            for timing in bones:
                row = Row("", "", "", timing.minimum / linear.minimum, TARGET)
                count = len(subject.mesh.positions)
                rows.append(
                    (
                        character.name,
                        name,
                        timing.case.system,
                        f"{count:,}",
                        f"{linear.minimum / count:.2f}",
                        f"{timing.minimum / count:.2f}",
                        f"{row.value:.2f}",
                        f"{row.bound}, {row.verdict}",
                        f"{ratio:.2f} ({vertices:,} vertices)" if timing.case.system == "arm" else "",
                    )
                )
    columns = ("character", "mesh", "joints", "vertices", "vertex blending, ns", "bones blending, ns", "ratio")
    print_table((*columns, "target", "paper, rendering"), rows, left=3)


if __name__ == "__main__":
    main()
