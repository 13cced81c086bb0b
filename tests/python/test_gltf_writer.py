# SPDX-License-Identifier: MIT
"""What Character.save writes: seen by other programs, loaded again, and put in place whole."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import trimesh
from gltf_builder import Builder, arm
from gltf_reference import opened
from gltf_validity import check_validity

import sbs
from sbs.characters.character import WeightType
from sbs.rigging.animation import Animation, Animations, Track

HALF = np.sqrt(0.5)
INTERPOLATIONS = {
    "LINEAR": [[0, 0, 0, 1], [0, 0, HALF, HALF]],
    "STEP": [[0, 0, 0, 1], [0, 0, HALF, HALF]],
    "CUBICSPLINE": [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, HALF, HALF], [0, 0, 0, 0]],
}


def load(builder: Builder, tmp_path: Path) -> sbs.Character:
    return sbs.load(builder.save(tmp_path / "file.glb"))


def save_and_load(character: sbs.Character, tmp_path: Path, weights: WeightType = "float32") -> sbs.Character:
    character.save(tmp_path / "saved.glb", weights=weights)
    if character.source is None:  # files of these tests have no bounds
        check_validity(tmp_path / "saved.glb")
    return sbs.load(tmp_path / "saved.glb", strict=True)


def tube(joint_count: int, vertex_count: int, influences: int, seed: int = 1) -> sbs.Character:
    """A character without a file: a chain of joints along x, and random influences."""
    generator = np.random.default_rng(seed)
    positions = generator.normal(size=(vertex_count, 3)).astype(np.float32)
    bind_matrices = np.tile(np.eye(4), (joint_count, 1, 1))
    bind_matrices[:, 0, 3] = np.arange(joint_count) / joint_count
    mesh = sbs.Mesh(
        positions=positions,
        triangles=np.arange(vertex_count // 3 * 3, dtype=np.int32).reshape(-1, 3),
        joint_indices=generator.permuted(np.tile(np.arange(joint_count), (vertex_count, 1)), axis=1)[:, :influences],
        joint_weights=generator.dirichlet(np.ones(influences), vertex_count),
        normals=3 * positions,
        uvs=generator.uniform(size=(vertex_count, 2)).astype(np.float32),
    )
    return sbs.Character.from_mesh(mesh, sbs.Skeleton(np.arange(-1, joint_count - 1), bind_matrices))


def wave(character: sbs.Character, frames: int = 5) -> np.ndarray:
    """Skinning matrices (F, J, 4, 4) in which every joint turns."""
    joints = len(character.skeleton)
    angles = np.linspace(0, 1, frames)[:, None, None] * np.random.default_rng(2).normal(size=(1, joints, 3))
    return character.skinning_matrices(sbs.rotations.matrices_from_euler(angles, "XYZ"))


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_animations_are_kept(tmp_path: Path, interpolation: str) -> None:
    builder = arm()
    builder.node(name="armature", translation=[1, 2, 3], scale=[100] * 3, children=[0])
    builder.animation(
        (1, "rotation", [0.5, 2.0], INTERPOLATIONS[interpolation]), interpolation=interpolation, name="bend"
    )
    builder.animation((3, "translation", [0.0, 1.0], [[0, 0, 0], [5, 0, 0]]), (3, "scale", [0.0], [[100, 100, 100]]))
    character = load(builder, tmp_path)
    again = save_and_load(character, tmp_path)
    assert [animation.name for animation in again.animations] == ["bend", "animation_1"]
    for animation, same in zip(character.animations, again.animations, strict=True):
        assert same.duration == animation.duration
        assert [track.interpolation for track in same.tracks] == [track.interpolation for track in animation.tracks]
        times = np.linspace(-0.5, 2.5, 13)
        np.testing.assert_allclose(same.skinning_matrices(times), animation.skinning_matrices(times), atol=2e-5)
    assert again.rig.names == ("armature", "shoulder", "elbow")


@pytest.mark.parametrize(("influences", "sets"), [(1, 1), (4, 1), (5, 2), (9, 3)])
def test_influences_in_sets_of_four(tmp_path: Path, influences: int, sets: int) -> None:
    character = tube(joint_count=12, vertex_count=30, influences=influences)
    again = save_and_load(character, tmp_path)
    attributes = opened(tmp_path / "saved.glb")[0]["meshes"][0]["primitives"][0]["attributes"]
    assert [name for name in sorted(attributes) if name.startswith("JOINTS")] == [f"JOINTS_{i}" for i in range(sets)]
    assert again.skin.joint_sets == character.skin.joint_sets
    weights = again.mesh.joint_weights
    assert np.all(weights[:, :-1] >= weights[:, 1:])
    # In double, so that only the rounding of the weights themselves is seen: half an ulp of 1.
    np.testing.assert_allclose(weights.sum(axis=1, dtype=np.float64), 1, rtol=0, atol=6e-8)
    for matrices in wave(character):
        expected = character.skin.deform(matrices)
        np.testing.assert_allclose(again.skin.deform(matrices), expected, atol=1e-6 * float(np.ptp(expected)))


@pytest.mark.parametrize(("weights", "largest"), [("uint8", 255), ("uint16", 65535)])
def test_weights_as_integers(tmp_path: Path, weights: WeightType, largest: int) -> None:
    """They sum to 1 exactly, and none is further off than one step."""
    character = tube(joint_count=12, vertex_count=3000, influences=7)
    again = save_and_load(character, tmp_path, weights=weights)
    steps = np.round(again.mesh.joint_weights.astype(np.float64) * largest).astype(int)
    np.testing.assert_array_equal(steps.sum(axis=1), largest)
    dense = np.zeros((2, 3000, 12))
    for row, mesh in zip(dense, (character.mesh, again.mesh), strict=True):
        np.add.at(row, (np.arange(3000)[:, None], mesh.joint_indices), mesh.joint_weights)
    assert np.abs(dense[0] - dense[1]).max() < 1 / largest


@pytest.mark.parametrize(
    ("joint_count", "vertex_count", "joint_type", "index_type"),
    [(256, 300, 5121, 5123), (257, 300, 5123, 5123), (1, 65535, 5121, 5123), (1, 65536, 5121, 5125)],
)
def test_integers_are_short_where_they_fit(
    tmp_path: Path, joint_count: int, vertex_count: int, joint_type: int, index_type: int
) -> None:
    """The index 65535 is not used: it ends a strip."""
    character = tube(joint_count, vertex_count, influences=min(joint_count, 4))
    again = save_and_load(character, tmp_path)
    file = opened(tmp_path / "saved.glb")[0]
    primitive = file["meshes"][0]["primitives"][0]
    assert file["accessors"][primitive["attributes"]["JOINTS_0"]]["componentType"] == joint_type
    assert file["accessors"][primitive["indices"]]["componentType"] == index_type
    assert again.skin.joint_sets == character.skin.joint_sets
    np.testing.assert_array_equal(again.mesh.triangles, character.mesh.triangles)


def test_bad_weights_are_written_as_the_skin_uses_them(tmp_path: Path) -> None:
    """NaN, infinite and negative weights, duplicates, sums off 1; a vertex without weights gets a joint that rests."""
    rows = [[np.nan, 1, 0, 0], [np.inf, 2, 0, 0], [-1, 0.5, 0.5, 0], [0, 0, 0, 0], [0.25, 0.5, 0.25, 3]]
    joints = [[0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [1, 0, 1, 1]]
    mesh = sbs.Mesh(
        positions=np.arange(15, dtype=np.float32).reshape(5, 3),
        triangles=np.array([[0, 1, 2]], dtype=np.int32),
        joint_indices=np.array(joints),
        joint_weights=np.array(rows),
    )
    with pytest.warns(sbs.WeightWarning):
        character = sbs.Character.from_mesh(mesh, sbs.Skeleton([-1, 0], [np.eye(4)] * 2))
    character.save(tmp_path / "saved.glb")
    again = sbs.load(tmp_path / "saved.glb")
    np.testing.assert_array_equal(
        again.mesh.joint_weights, [[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [1, 0, 0, 0], [0.875, 0.125, 0, 0]]
    )
    np.testing.assert_array_equal(
        again.mesh.joint_indices, [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0]]
    )
    for matrices in wave(character):
        expected = character.skin.deform(matrices)
        found = again.skin.deform([*matrices, np.eye(4)])
        np.testing.assert_allclose(found, expected, atol=1e-6 * float(np.ptp(expected)))


def test_an_animation_of_skinning_matrices(tmp_path: Path) -> None:
    """Given frames come back at their times; joints that do not slide get no translations."""
    character = tube(joint_count=6, vertex_count=60, influences=3)
    matrices = wave(character, frames=9)
    times = np.arange(9) / 8
    animation = Animation.from_skinning_matrices("wave", times, matrices, character.rig)
    assert [track.path for track in animation.tracks] == ["rotation"]
    np.testing.assert_allclose(animation.skinning_matrices(times), matrices, atol=1e-12)
    again = save_and_load(replace(character, animations=Animations((animation,))), tmp_path)
    np.testing.assert_allclose(again.animations[0].skinning_matrices(times), matrices, atol=1e-6)


@pytest.mark.parametrize("times", [[0.0, 0.5, 2.0], [2.0]])
def test_a_clip_that_rests_keeps_its_length(tmp_path: Path, times: list[float]) -> None:
    character = tube(joint_count=3, vertex_count=30, influences=2)
    matrices = np.repeat(character.rest_matrices[None], len(times), axis=0)
    still = Animation.from_skinning_matrices("still", times, matrices, character.rig)
    assert still.duration == 2.0
    again = save_and_load(replace(character, animations=Animations((still,))), tmp_path)
    assert [(clip.name, clip.duration) for clip in again.animations] == [("still", 2.0)]
    np.testing.assert_allclose(again.animations[0].skinning_matrices(times), matrices, atol=1e-6)


def test_an_animation_with_translation_and_scale(tmp_path: Path) -> None:
    character = tube(joint_count=3, vertex_count=30, influences=2)
    matrices = np.array(wave(character, frames=3))
    matrices[1, :, :3, 3] += [1, 2, 3]
    matrices[2, 2, :3, :3] *= 2
    animation = Animation.from_skinning_matrices("jump", [0, 1, 2], matrices, character.rig)
    assert [track.path for track in animation.tracks] == ["translation", "rotation", "scale"]
    np.testing.assert_allclose(animation.skinning_matrices([0, 1, 2]), matrices, atol=1e-12)


def test_from_skinning_matrices_leaves_other_nodes_alone(tmp_path: Path) -> None:
    """A scaled and turned node above the joints, and one between them."""
    builder = arm()
    builder.json["nodes"][0]["children"] = [builder.node(children=[1], translation=[0, 0.25, 0])]
    builder.node(children=[0], scale=[2, 2, 2], rotation=[0, 0, 0.6, 0.8])
    character = load(builder, tmp_path)
    assert len(character.rig.parents) == 4
    turns = sbs.rotations.matrices_from_axis_angle([1, 2, 3], np.linspace(0, 2, 10).reshape(5, 2))
    matrices = character.skinning_matrices(turns)
    animation = Animation.from_skinning_matrices("turn", np.arange(5), matrices, character.rig)
    np.testing.assert_allclose(animation.skinning_matrices(np.arange(5)), matrices, atol=1e-12)
    again = save_and_load(replace(character, animations=sbs.Animations((animation,))), tmp_path)
    np.testing.assert_allclose(again.animations[0].skinning_matrices(np.arange(5)), matrices, atol=1e-6)
    with pytest.raises(ValueError, match=r"shape \(2, 4, 4\), times \(1,\)"):
        Animation.from_skinning_matrices("", [0.0], character.rest_matrices, character.rig)


def test_a_sheared_skeleton(tmp_path: Path) -> None:
    """Its joints are kept, as matrices, and cannot be animated."""
    character = tube(joint_count=2, vertex_count=30, influences=2)
    bind_matrices = np.array(character.skeleton.bind_matrices)
    bind_matrices[1, 0, 1] = 0.5
    character = sbs.Character.from_mesh(character.mesh, sbs.Skeleton([-1, 0], bind_matrices))
    again = save_and_load(character, tmp_path)
    np.testing.assert_allclose(again.skeleton.bind_matrices, bind_matrices, atol=1e-7)
    np.testing.assert_allclose(again.rest_matrices, [np.eye(4)] * 2, atol=1e-7)
    with pytest.raises(ValueError, match="joint 'joint_1' of the rig is given by a matrix"):
        Animation.from_skinning_matrices("", [0.0], character.rest_matrices[None], character.rig)


def test_trimesh_opens_it(tmp_path: Path) -> None:
    character = tube(joint_count=12, vertex_count=30, influences=7)
    character.save(tmp_path / "saved.glb")
    scene = trimesh.load(tmp_path / "saved.glb", process=False)
    assert isinstance(scene, trimesh.Scene)
    (mesh,) = scene.geometry.values()
    np.testing.assert_array_equal(mesh.vertices, character.mesh.positions)
    np.testing.assert_array_equal(mesh.faces, character.mesh.triangles)
    assert character.mesh.normals is not None
    lengths = np.linalg.norm(character.mesh.normals, axis=1, keepdims=True)
    np.testing.assert_allclose(mesh.vertex_normals, character.mesh.normals / lengths, atol=1e-6)


def test_parts_without_vertices_or_triangles_and_a_clip_without_tracks(tmp_path: Path) -> None:
    character = tube(joint_count=2, vertex_count=6, influences=1)
    parts = (sbs.MeshPart("none", range(0)), sbs.MeshPart("points", range(3)), sbs.MeshPart("rest", range(3, 6)))
    mesh = replace(character.mesh, parts=parts, triangles=character.mesh.triangles[1:])
    still = sbs.Animation("still", (), character.rig)
    replace(character, mesh=mesh, animations=sbs.Animations([still])).save(tmp_path / "saved.glb")
    check_validity(tmp_path / "saved.glb")
    assert [each["name"] for each in opened(tmp_path / "saved.glb")[0]["meshes"]] == ["points", "rest"]


def test_a_failed_save_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    character = tube(joint_count=5, vertex_count=30, influences=3)
    (tmp_path / "saved.glb").write_text("old")

    def fail(*_: object) -> NoReturn:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="no space left"):
        character.save(tmp_path / "saved.glb")
    assert [path.name for path in tmp_path.iterdir()] == ["saved.glb"]
    assert (tmp_path / "saved.glb").read_text() == "old"


@pytest.mark.parametrize(("name", "weights", "message"), [("saved.gltf", "float32", ".glb"), ("a.glb", "x", "weights")])
def test_bad_arguments(tmp_path: Path, name: str, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tube(joint_count=2, vertex_count=3, influences=2).save(tmp_path / name, weights=weights)
    assert not list(tmp_path.iterdir())


def test_times_beyond_float32_are_refused(tmp_path: Path) -> None:
    character = sbs.load(arm().save(tmp_path / "arm.glb"))
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1, 1))
    track = Track("rotation", "LINEAR", np.array([1]), np.array([0.0, 1e300]), turn)
    long = replace(character, animations=Animations([Animation("long", (track,), character.rig)]))
    with pytest.raises(ValueError, match="1e\\+300 s"):
        long.save(tmp_path / "long.glb")
    assert not (tmp_path / "long.glb").exists()
