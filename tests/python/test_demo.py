# SPDX-License-Identifier: MIT
"""The demo: its poses, its measures of shape, its scenes and its table; the characters that are shipped."""

from __future__ import annotations

from pathlib import Path

import characters
import numpy as np
import pytest

import sbs
from sbs.poses import bone_axis, descendants
from sbs.quality.demo.outcomes import outcomes
from sbs.quality.demo.scenes import Scene, scenes
from sbs.quality.demo.table import COLUMNS, cells, markdown


@pytest.fixture(scope="module")
def rows() -> list[Scene]:
    return scenes()


def arm() -> sbs.Character:
    """A ring of vertices at the elbow of a straight arm along x, half moved by either joint."""
    rest = np.array([[2, np.cos(angle), np.sin(angle)] for angle in np.radians([0, 90, 200])])
    bind = np.tile(np.eye(4), (3, 1, 1))
    bind[:, 0, 3] = 0, 2, 4
    skeleton = sbs.Skeleton([-1, 0, 1], bind, names=["upper", "fore", "hand"])
    mesh = sbs.Mesh(
        rest, np.array([[0, 1, 2]], np.int32), np.tile(np.array([0, 1], np.int32), (3, 1)), np.full((3, 2), 0.5)
    )
    return sbs.Character.from_mesh(mesh, skeleton)


def test_bone_axis_leads_to_the_first_child() -> None:
    skeleton = arm().skeleton
    np.testing.assert_allclose(bone_axis(skeleton, "fore"), [1, 0, 0])
    with pytest.raises(ValueError, match="'hand'"):
        bone_axis(skeleton, "hand")
    same = sbs.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)), names=["a", "b"])
    with pytest.raises(ValueError, match=r"'a' .*'b'"):
        bone_axis(same, "a")


def test_descendants_in_any_order_of_joints() -> None:
    skeleton = sbs.Skeleton([2, 0, -1, 2, 1], np.tile(np.eye(4), (5, 1, 1)), names=list("abcde"))
    np.testing.assert_array_equal(descendants(skeleton, "a"), [0, 1, 4])
    np.testing.assert_array_equal(descendants(skeleton, "c"), [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(descendants(skeleton, "d"), [3])


def test_a_twisted_forearm_is_an_arm_by_smooth_twist_alone(rows: list[Scene]) -> None:
    linear, spherical, dual_quaternion, spread = outcomes(rows[0], rounds=1)
    assert linear.strain == 1
    assert linear.thickness < 0.1  # cos(170 / 2) = 0.087 where weights are equal
    assert spread.thickness > 0.9
    assert spread.strain < 0.2
    assert spread.limb_volume > linear.limb_volume + 0.05
    assert spherical.thickness == pytest.approx(dual_quaternion.thickness, abs=1e-3)
    assert spherical.solves == rows[0].character.skin.nontrivial_joint_set_count


def test_the_knee_and_the_fist_keep_their_limbs_as_they_look(rows: list[Scene]) -> None:
    knee, fist = (outcomes(scene, rounds=1) for scene in rows[1:])
    assert knee[3].limb_volume == max(outcome.limb_volume for outcome in knee)
    assert fist[3].limb_volume == max(outcome.limb_volume for outcome in fist)
    assert fist[3].thickness > fist[0].thickness
    foot = rows[1].character.skeleton.index("LeftFoot")
    at_rest = np.append(rows[1].character.skeleton.joint_positions[foot], 1)
    assert (rows[1].skinning_matrices[foot] @ at_rest)[2] < at_rest[2] - 2, "the leg must bend to the back"


def test_table(rows: list[Scene]) -> None:
    results = [outcomes(scene, rounds=1) for scene in rows]
    table = cells(rows, results)
    assert len(table) == 12
    assert [row[1] for row in table[:4]] == ["LBS", "SBS", "DQS", "smooth twist"]
    assert table[0][COLUMNS.index("ratio to LBS")] == "1.00"
    assert table[0][COLUMNS.index("strain")] == "1.00"
    lines = markdown(table).splitlines()
    assert len(lines) == 2 + 12
    assert {line.count("|") for line in lines} == {len(COLUMNS) + 1}


DATA = Path(sbs.__file__).parent / "characters" / "data"


@pytest.mark.parametrize(("file", "name"), [("woman.glb", "woman_makehuman_cmu"), ("hand.glb", "hand_webxr")])
def test_characters_that_are_shipped(file: str, name: str) -> None:
    """As in tests/data, within the rounding of float32 (weights are divided by their sum)."""
    shipped, original = sbs.load(DATA / file, strict=True), characters.load(name)
    np.testing.assert_array_equal(shipped.mesh.positions, original.rest_positions.astype(np.float32))
    np.testing.assert_array_equal(shipped.skeleton.parents, original.parents)
    np.testing.assert_allclose(shipped.skeleton.joint_positions, original.joint_positions, atol=1e-6)
    np.testing.assert_array_equal(shipped.rest_matrices.round(6), np.tile(np.eye(4), (len(original.parents), 1, 1)))
    dense, expected = (
        sbs.weights.to_dense(*sbs.weights.normalize(each.joint_indices, each.joint_weights), len(original.parents))
        for each in (shipped.mesh, original)
    )
    np.testing.assert_allclose(dense, expected, atol=1e-7)


def test_the_fist_that_is_shipped() -> None:
    """One second long, and frame by frame that of the tests; keys are float32, the size is 0.2 metres."""
    (fist,) = sbs.load(DATA / "hand.glb").animations
    clip = characters.load("hand_webxr").clips["fist"]
    assert (fist.name, fist.duration) == ("fist", 1.0)
    for frame in clip.frames:
        matrices = fist.skinning_matrices(frame / 30)[:, :3]
        np.testing.assert_allclose(matrices, clip.skinning_matrices(frame), atol=1e-6)
