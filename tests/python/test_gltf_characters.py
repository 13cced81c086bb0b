# SPDX-License-Identifier: MIT
"""Files as three exporters wrote them, held against an evaluation straight from the specification.

The hand has joints side by side; the fox has no indices and no normals; the rat has a scaled armature, scaled inverse
bind matrices and a stored pose that is not the bind pose.
"""

from dataclasses import replace
from pathlib import Path

import gltf_reference
import numpy as np
import pytest
from gltf_validity import check_validity

import sbs

DATA = Path(__file__).parents[1] / "data"

MOTIONS = [
    ("generic-hand-left.glb", None),
    ("Fox.glb", None),
    ("Fox.glb", "Survey"),
    ("Fox.glb", "Run"),
    ("Rat.glb", None),
    ("Rat.glb", "RatArmature|Rat_Attack"),
    ("Rat.glb", "RatArmature|Rat_Death"),
]


def named_animation(character: sbs.Character, name: str) -> sbs.Animation:
    return next(animation for animation in character.animations if animation.name == name)


@pytest.mark.parametrize(("file", "name"), MOTIONS)
def test_linear_blending_is_that_of_the_file(file: str, name: str | None) -> None:
    """In the scene and its units; the tolerance is that of float32 positions and results, 2e-7 of the size each."""
    character = sbs.load(DATA / file, strict=True)
    scene = gltf_reference.Scene(DATA / file)
    reference = scene.animation(name) if name else None
    for share in (0.0, 0.37, 1.0) if name else (0.0,):
        if name:
            time = share * named_animation(character, name).duration
            matrices = named_animation(character, name).skinning_matrices(time)
        else:
            time, matrices = 0.0, character.rest_matrices
        expected = np.array(scene.deform(reference, time))
        size = np.ptp(expected, axis=0).max()
        np.testing.assert_allclose(character.skin.deform(matrices, method="linear"), expected, atol=4e-7 * size, rtol=0)


def test_facts() -> None:
    """The rat's joints scale by 100: its mesh is 100 times that of the file, turned about x by -90 degrees."""
    hand, fox, rat = (sbs.load(DATA / file) for file in ("generic-hand-left.glb", "Fox.glb", "Rat.glb"))
    assert repr(hand) == "<sbs.Character 'generic-hand-left', vertices: 1360, joints: 25, animations: 0>"
    assert repr(hand.mesh) == "<sbs.Mesh, vertices: 1360, triangles: 2314>"
    assert hand.skeleton.index("thumb-tip") >= 0
    assert hand.skin.has_normals and not fox.skin.has_normals
    assert hand.mesh.uvs is not None and hand.mesh.uvs.shape == (1360, 2)
    assert [animation.name for animation in fox.animations] == ["Survey", "Walk", "Run"]
    assert fox.animations[0].duration == pytest.approx(3.41667, abs=1e-5)
    np.testing.assert_array_equal(fox.mesh.triangles, np.arange(1728).reshape(-1, 3))
    stored = gltf_reference.Scene(DATA / "Rat.glb")
    positions = np.concatenate(
        [stored.accessor(primitive["attributes"]["POSITION"]) for primitive in stored.json["meshes"][0]["primitives"]]
    )
    apart = rat.mesh.positions - 100 * positions[:, [0, 2, 1]] * [1, 1, -1]
    np.testing.assert_allclose(apart, np.broadcast_to(apart[0], apart.shape), atol=2e-6)
    assert len(rat.animations) == 6


@pytest.mark.parametrize(("file", "name"), MOTIONS)
def test_a_new_file_means_the_same(tmp_path: Path, file: str, name: str | None) -> None:
    """Evaluated straight from the specification, before and after, within 1e-6 of the size."""
    replace(sbs.load(DATA / file), source=None).save(tmp_path / "saved.glb")
    check_validity(tmp_path / "saved.glb")
    before, after = gltf_reference.Scene(DATA / file), gltf_reference.Scene(tmp_path / "saved.glb")
    time = 0.4
    expected = np.array(before.deform(before.animation(name) if name else None, time))
    saved = np.array(after.deform(after.animation(name) if name else None, time))
    np.testing.assert_allclose(saved, expected, atol=1e-6 * np.ptp(expected, axis=0).max(), rtol=0)
