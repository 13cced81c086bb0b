# SPDX-License-Identifier: MIT
"""The demo: its poses, its measures of shape, its scenes and its table; the characters that are shipped."""

from __future__ import annotations

from pathlib import Path

import characters
import numpy as np
import pytest
from solids import CUBE, CUBE_FACES

import sbs
from sbs.poses import bone_axis, descendants, turned
from sbs.quality.demo.measures import radius_kept, volume
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


@pytest.mark.parametrize("degrees", [60, 170])
def test_radius_kept_by_hand(degrees: int) -> None:
    """LBS takes a vertex of equal weights to cos(angle / 2) of its radius, SBS keeps it, however the arm is turned."""
    character = arm()
    local = turned(character.skeleton, "fore", (1, 0, 0), degrees)
    local[0] = sbs.rotations.matrices_from_axis_angle((1, 2, 3), 77, degrees=True)
    matrices = character.skinning_matrices(local)
    assert volume(2 * CUBE + 100, CUBE_FACES) == pytest.approx(8, rel=1e-12)
    kept = {
        method: radius_kept(character, matrices, character.skin.deform(matrices, method=method))
        for method in ("linear", "spherical")
    }
    assert kept["linear"] == pytest.approx(np.cos(np.radians(degrees / 2)), rel=1e-12)
    assert kept["spherical"] == pytest.approx(1, rel=1e-12)


def test_the_forearm_is_a_candy_wrapper_by_lbs_and_an_arm_by_sbs(rows: list[Scene]) -> None:
    linear, spherical, dual_quaternion, spread = outcomes(rows[0], rounds=1)
    # Linear in part where frames 57 degrees apart meet: cos(28.5) = 0.88 is left at least, but for vertices of others.
    assert 0.85 < spread.radius_kept < 1
    # A vertex of about equal weights; cos(170 / 2) = 0.0872.
    assert linear.radius_kept == pytest.approx(np.cos(np.radians(85)), abs=2e-3)
    # Within float32: a rounding of 1e-6 of a radius of about 0.3 at a coordinate of about 4.
    assert spherical.radius_kept == pytest.approx(1, abs=1e-5)
    assert dual_quaternion.radius_kept == pytest.approx(1, abs=1e-5)
    assert spherical.solves == rows[0].character.skin.nontrivial_joint_set_count


def test_the_knee_collapses_by_lbs_alone(rows: list[Scene]) -> None:
    linear, spherical, dual_quaternion, _ = outcomes(rows[1], rounds=1)
    assert linear.radius_kept == pytest.approx(np.cos(np.radians(62.5)), abs=2e-3)
    assert spherical.radius_kept == pytest.approx(1, abs=1e-5)
    assert dual_quaternion.radius_kept == pytest.approx(1, abs=1e-5)
    foot = rows[1].character.skeleton.index("LeftFoot")
    at_rest = np.append(rows[1].character.skeleton.joint_positions[foot], 1)
    assert (rows[1].skinning_matrices[foot] @ at_rest)[2] < at_rest[2] - 2, "the leg must bend to the back"


def test_table(rows: list[Scene]) -> None:
    results = [outcomes(scene, rounds=1) for scene in rows]
    table = cells(rows, results)
    assert len(table) == 12
    assert [row[1] for row in table[:4]] == ["LBS", "SBS", "DQS", "smooth twist"]
    assert table[0][COLUMNS.index("ratio to LBS")] == "1.00"
    assert table[0][COLUMNS.index("radius kept")] == "8.7%"
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
