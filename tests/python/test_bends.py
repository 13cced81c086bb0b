# SPDX-License-Identifier: MIT
"""Bends about an axis across the bone, from a stretched limb, as Figure 9 of Kavan and Zara 2003 has them."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import sbs
from sbs import mesh as meshes
from sbs import rotations
from sbs.cli import main
from sbs.poses import flexed
from sbs.rigging.blending import BlendingProfile
from sbs.weights import bone_segments

DATA = Path(sbs.__file__).parent / "characters" / "data"
WOMAN, HAND = str(DATA / "woman.glb"), str(DATA / "hand.glb")


@pytest.fixture(scope="module")
def woman() -> sbs.Character:
    with resources.as_file(resources.files("sbs.characters") / "data" / "woman.glb") as path:
        return sbs.load(path)


def between_bones(skeleton: sbs.Skeleton, joint: int, local: NDArray[np.float64]) -> NDArray[np.float64]:
    """The angles (N,) in degrees between a joint's bone and its parent's, in poses."""
    heads, tails = bone_segments(skeleton)
    moved = skeleton.skinning_matrices(skeleton.forward(local))[..., :3, :3]
    parent = int(skeleton.parents[joint])
    bones = [moved[:, number] @ (tails - heads)[number] for number in (parent, joint)]
    across = np.linalg.norm(np.cross(*bones), axis=-1)
    degrees: NDArray[np.float64] = np.degrees(np.arctan2(across, (bones[0] * bones[1]).sum(axis=-1)))
    return degrees


@pytest.mark.parametrize("joint", ["LeftForeArm", "RightForeArm", "LeftLeg", "LeftHand", "Head"])
@pytest.mark.parametrize("axis", [None, (1, 0, 0), (0.2, 0.3, 1)])
def test_a_bend_is_told_from_the_stretched_limb(
    woman: sbs.Character, joint: str, axis: tuple[float, float, float] | None
) -> None:
    angles = np.array([0, 10, 90, 135])
    number = woman.skeleton.index(joint)
    found = between_bones(woman.skeleton, number, flexed(woman.skeleton, joint, angles, axis))
    np.testing.assert_allclose(found, angles, atol=1e-6)


def test_the_limb_bends_as_it_does_at_bind(woman: sbs.Character) -> None:
    """The hinge is the limb's own, and the woman's elbow is bent at bind, to the front."""
    elbow = woman.skeleton.index("LeftForeArm")
    (at_bind,) = between_bones(woman.skeleton, elbow, np.tile(np.eye(3), (1, 31, 1, 1)))
    assert at_bind > 30
    np.testing.assert_allclose(flexed(woman.skeleton, elbow, at_bind)[0], np.tile(np.eye(3), (31, 1, 1)), atol=1e-7)


def test_a_twist_is_no_bend(woman: sbs.Character) -> None:
    with pytest.raises(ValueError, match="along the bone of joint 'LeftForeArm', so that it would twist"):
        flexed(woman.skeleton, "LeftForeArm", [90], (0, 1, 0))
    result = CliRunner().invoke(main, ["curvature", WOMAN, "--joint", "LeftForeArm", "--axis", "y"])
    assert result.exit_code == 2
    assert "the axis is along the bone" in result.output.splitlines()[-1]


def measured(path: str, joint: str, *options: str) -> dict[str, NDArray[np.float64]]:
    result = CliRunner().invoke(main, ["curvature", path, "--joint", joint, "--json", *options])
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(result.output)
    return {name: np.array(curve["degrees"]) for name, curve in told["curvature"].items()}


def test_a_parent_without_triangles_is_no_hindrance(tmp_path: Path) -> None:
    """Its triangles cannot be divided, but those of the joint that was asked for can."""
    hand = sbs.load(HAND)
    joint, parent = (hand.skeleton.index(f"thumb-{name}") for name in ("phalanx-proximal", "metacarpal"))
    attachment = meshes.heaviest_joints(hand.mesh.joint_indices, hand.mesh.joint_weights)
    given = np.flatnonzero(attachment == parent)
    wrist = np.full((len(given), 1), hand.skeleton.index("wrist"))
    hand.with_weights(wrist, np.ones((len(given), 1)), vertices=given).save(tmp_path / "hand.glb")
    assert len(measured(str(tmp_path / "hand.glb"), hand.skeleton.names[joint], "--steps", "2")) == 2
    result = CliRunner().invoke(main, ["curvature", str(tmp_path / "hand.glb"), "--joint", "thumb-metacarpal"])
    assert "no triangle is connected to joint 'thumb-metacarpal'" in result.output
    assert len(measured(HAND, "wrist", "--steps", "2")) == 2  # which has no parent


def test_figure_9() -> None:
    """What docs/bones_blending.md says: finer meshes are smoother from 90 degrees on, and by 1 to 4 degrees."""
    options = ("--bend", "90:135", "--steps", "4", "--bones-blending", "all", "--levels", "2")
    original, once, twice = measured(WOMAN, "LeftForeArm", *options).values()
    for finer in (once, twice):
        assert (original - finer > 0.4).all()
        assert (original - finer < 4).all()
    stretched = measured(WOMAN, "LeftForeArm", "--bend", "0:45", "--steps", "4", "--bones-blending", "all")
    assert np.abs(np.subtract(*stretched.values())).max() < 1.5


def test_new_vertices_belong_where_those_around_them_do() -> None:
    """At the knee they were bound anew and went to other joints, and the mesh tore at the least bend."""
    options = ("--bend", "30:60", "--steps", "2", "--bones-blending", "all")
    original, once = measured(WOMAN, "LeftLeg", *options).values()
    np.testing.assert_allclose(once, original, atol=1)


SAMPLES = 2001


@pytest.mark.parametrize(
    ("profile", "zone_scale", "degrees", "crosses", "folds"),
    [
        ("linear", 1.0, 95, False, False),
        ("linear", 1.0, 100, False, False),
        ("linear", 1.0, 101, True, False),
        ("linear", 1.0, 137, True, False),
        ("linear", 1.0, 138, True, True),
        ("smoothstep", 1.5, 100, False, False),
        ("smoothstep", 1.5, 137, True, False),
        ("smoothstep", 1.5, 138, True, True),
    ],
)
def test_what_the_inner_side_of_a_bend_does(
    profile: BlendingProfile, zone_scale: float, degrees: float, crosses: bool, folds: bool
) -> None:
    """On a tube of radius 1, t grows over 2.4: at more than 2.4 radians (137.5 degrees) the profile turns back.

    It crosses itself from where the forearm at the end of the zone is beyond the plane that halves the bend:
    tan(bend / 2) = 1.2, 100.4 degrees. Smoothstep is at most as steep over 3.6.
    """
    bind = np.tile(np.eye(4), (3, 1, 1))
    bind[:, 0, 3] = -6, 0, 6
    skeleton = sbs.Skeleton([-1, 0, 1], bind)
    along = np.linspace(-5, 5, SAMPLES)
    angle = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rest = np.concatenate([np.repeat(along, 16)[:, None], np.tile(around, (SAMPLES, 1))], axis=1)
    blending = sbs.bones_blending(skeleton, rest, profile=profile, zone_scale=zone_scale)
    ends = np.array([-1.2, 1.2]) * zone_scale
    np.testing.assert_allclose([blending.t_min[1], blending.t_max[1]], ends, rtol=1e-3)
    local = np.tile(np.eye(3), (3, 1, 1))
    local[1] = rotations.matrices_from_axis_angle([0, 0, 1], degrees, degrees=True)
    matrices = skeleton.skinning_matrices(skeleton.forward(local))
    inner = blending.skin().deform(matrices, **blending.options)[::16, :2]  # towards which it bends
    half = np.radians(degrees) / 2
    beyond = inner @ [np.cos(half), np.sin(half)]
    assert bool((beyond[along > 1e-9] < -1e-9).any()) == crosses
    turns = np.radians(degrees) * np.choose(blending.attachment[::16], [0.0, blending.t[::16], 1.0])
    between = (turns[1:] + turns[:-1]) / 2
    forward = (np.diff(inner, axis=0) * np.stack([np.cos(between), np.sin(between)], axis=1)).sum(axis=1)
    assert bool((forward < 0).any()) == folds


def test_the_place_along_the_bone_is_a_distance() -> None:
    """The paper's n is as long as the bone, so that t' grows with it; here it is a unit vector."""
    for length in (1.0, 4.0):
        bind = np.tile(np.eye(4), (3, 1, 1))
        bind[:, 0, 3] = -8, 0, length
        blending = sbs.bones_blending(
            sbs.Skeleton([-1, 0, 1], bind), [[0.25, 1.0, 0.0]], attachment=[1], t_min=-0.5, t_max=0.5
        )
        np.testing.assert_allclose(blending.t, [0.75])
