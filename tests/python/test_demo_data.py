# SPDX-License-Identifier: MIT
"""The characters that are shipped are those of the tests."""

from importlib import resources

import characters
import numpy as np
import pytest

import sbs


def load(name: str) -> sbs.Character:
    with resources.as_file(resources.files("sbs.characters") / "data" / name) as path:
        return sbs.load(path, strict=True)


@pytest.mark.parametrize(("file", "name"), [("woman.glb", "woman_makehuman_cmu"), ("hand.glb", "hand_webxr")])
def test_mesh_and_skeleton(file: str, name: str) -> None:
    """As in tests/data, within the rounding of float32 (weights are divided by their sum)."""
    shipped, original = load(file), characters.load(name)
    np.testing.assert_array_equal(shipped.mesh.positions, original.rest_positions.astype(np.float32))
    np.testing.assert_array_equal(shipped.skeleton.parents, original.parents)
    np.testing.assert_allclose(shipped.skeleton.joint_positions, original.joint_positions, atol=1e-6)
    np.testing.assert_array_equal(shipped.rest_matrices.round(6), np.tile(np.eye(4), (len(original.parents), 1, 1)))
    for joints, weights, expected_joints, expected_weights in zip(
        shipped.mesh.joint_indices,
        shipped.mesh.joint_weights,
        original.joint_indices,
        original.joint_weights,
        strict=True,
    ):
        dense = np.bincount(joints, weights, len(original.parents))
        expected = np.bincount(expected_joints, expected_weights, len(original.parents))
        np.testing.assert_allclose(dense, expected / expected.sum(), atol=1e-7)


def test_the_woman() -> None:
    woman = load("woman.glb")
    assert repr(woman) == "<sbs.Character 'woman', vertices: 13380, joints: 31, animations: 0>"
    assert woman.skin.max_influences == 7
    assert woman.skin.has_normals
    assert {"LeftForeArm", "LeftLeg"} <= set(woman.skeleton.names)


def test_the_fist() -> None:
    """One second long, and frame by frame that of the tests; keys are float32, the size is 0.2 metres."""
    (fist,) = load("hand.glb").animations
    clip = characters.load("hand_webxr").clips["fist"]
    assert (fist.name, fist.duration) == ("fist", 1.0)
    for frame in clip.frames:
        matrices = fist.skinning_matrices(frame / 30)[:, :3]
        np.testing.assert_allclose(matrices, clip.skinning_matrices(frame), atol=1e-6)
