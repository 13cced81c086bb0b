# SPDX-License-Identifier: MIT
"""What a glTF file has beside the character is there again when it is saved."""

from __future__ import annotations

import json
import os
import pickle
import warnings
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from gltf_builder import Builder, arm
from gltf_reference import Scene, opened, resolved, view
from gltf_validity import check_validity, count_dead_bytes

import sbs
from sbs.rigging.content import FileWarning

FILES = Path(__file__).parents[1] / "data"
DEMO = resources.files("sbs.characters") / "data"
REAL = [FILES / "Rat.glb", FILES / "Fox.glb", FILES / "generic-hand-left.glb", Path(str(DEMO / "woman.glb"))]


def loaded(path: Path) -> sbs.Character:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sbs.load(path)


KEPT = ("materials", "textures", "images", "samplers", "cameras", "nodes", "scenes", "skins", "animations")


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_what_was_not_touched_is_the_same_byte_for_byte(tmp_path: Path, path: Path) -> None:
    loaded(path).save(tmp_path / "copy.glb")
    before, after = resolved(path)[0], resolved(tmp_path / "copy.glb")[0]
    for key in KEPT:
        assert after.get(key) == before.get(key), key
    primitives = ([p for mesh in content["meshes"] for p in mesh["primitives"]] for content in (before, after))
    for old, new in zip(*primitives, strict=True):
        changed = {key for key in old["attributes"] if new["attributes"].get(key) != old["attributes"][key]}
        assert changed <= {"JOINTS_0", "WEIGHTS_0"}  # where sums are off 1
        assert new | {"attributes": 0} == old | {"attributes": 0}


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_other_weights_leave_the_rest_alone(tmp_path: Path, path: Path) -> None:
    character = loaded(path)
    rigid = character.with_weights(*sbs.weights.limit(*character.skin.influences(), 1))
    rigid.save(tmp_path / "rigid.glb", weights="uint8")
    check_validity(tmp_path / "rigid.glb")
    before, after = resolved(path)[0], resolved(tmp_path / "rigid.glb")[0]
    for key in KEPT:
        assert after.get(key) == before.get(key), key
    again = loaded(tmp_path / "rigid.glb")
    assert again.skin.max_influences == 1
    matrices = character.rest_matrices
    expected = rigid.skin.deform(matrices)
    np.testing.assert_allclose(again.skin.deform(matrices), expected, atol=1e-6 * float(np.ptp(expected)))
    assert trimesh.load(tmp_path / "rigid.glb").is_empty is False
    assert_all_used(tmp_path / "rigid.glb")


def assert_all_used(path: Path) -> None:
    """Every accessor and every buffer view is referred to, and every byte is one of a view or between two."""
    content, accessors, views = resolved(path)
    assert accessors == set(range(len(content["accessors"])))
    assert views == set(range(len(content["bufferViews"])))
    spans = sorted((v.get("byteOffset", 0), v.get("byteOffset", 0) + v["byteLength"]) for v in content["bufferViews"])
    end = 0
    for start, stop in spans:
        assert start < end + 8  # both at their old place in four bytes
        end = max(end, stop)
    assert 0 <= content["buffers"][0]["byteLength"] - end < 4


def shared(folder: Path, used: list[str], extensions: dict[str, Any]) -> Path:
    """An arm with unused bytes, views that overlap, one at an odd offset, and two clips."""
    builder = arm()
    builder.accessor([[1, 2, 3]] * 100)
    builder.view(b"lost")
    first = builder.json["accessors"][0]["bufferView"]
    builder.json["bufferViews"].append(dict(builder.json["bufferViews"][first]))
    builder.json["accessors"][0]["bufferView"] = float(len(builder.json["bufferViews"]) - 1)
    builder.data += b"odd"
    builder.json["images"] = [{"bufferView": builder.view(PNG), "mimeType": "image/png"}]
    builder.json["images"].append({"bufferView": builder.view(b"wide"), "mimeType": "image/png"})
    builder.json["bufferViews"][-1] |= {"byteOffset": 1, "byteLength": 40}
    times = builder.accessor([0, 1], min=[0], max=[1])
    for name, end in (("slide", 1), ("jump", 2)):
        builder.animation((0, "translation", [0, 1], [[0, 0, 0], [end, 0, 0]]), name=name)
        builder.json["animations"][-1]["samplers"][0]["input"] = times
    builder.json |= {"extensionsUsed": used, "extensions": extensions}
    return builder.save(folder / "shared.glb")


def test_bytes_that_nobody_uses_are_dropped(tmp_path: Path) -> None:
    path = shared(tmp_path, ["KHR_materials_unlit"], {"VRM": {"meta": {"texture": 0}}})
    character = loaded(path)
    character.save(tmp_path / "copy.glb")
    assert resolved(tmp_path / "copy.glb")[0]["images"] == resolved(path)[0]["images"]
    assert resolved(tmp_path / "copy.glb")[0]["animations"] == resolved(path)[0]["animations"]
    assert_all_used(tmp_path / "copy.glb")
    more = sbs.BlendShape("more", np.array([1], np.int32), np.ones((1, 3)))
    clips = sbs.Animations(replace(clip, name=f"{clip.name} {n}") for clip in character.animations for n in range(2))
    shaped = replace(character, mesh=replace(character.mesh, shapes=(more,)), animations=clips)
    shaped.save(tmp_path / "shaped.glb")
    assert_all_used(tmp_path / "shaped.glb")
    again = loaded(tmp_path / "shaped.glb")
    np.testing.assert_array_equal(again.mesh.positions, character.mesh.positions)
    assert again.animations.names == clips.names
    for ours, theirs in zip(again.animations, clips, strict=True):
        np.testing.assert_array_equal(ours.skinning_matrices(0.5), theirs.skinning_matrices(0.5))


@pytest.mark.damaged
@pytest.mark.parametrize("is_listed", [True, False])
def test_nothing_is_dropped_beside_an_extension_that_may_use_it(tmp_path: Path, is_listed: bool) -> None:
    path = shared(tmp_path, ["EXT_mesh_gpu_instancing"] * is_listed, {"EXT_mesh_gpu_instancing": {"attributes": {}}})
    loaded(path).save(tmp_path / "copy.glb", weights="uint8")
    before, data = opened(path)
    after, copied = opened(tmp_path / "copy.glb")
    for kind in ("accessors", "bufferViews"):
        assert after[kind][: len(before[kind])] == before[kind]
    assert copied[: len(data)] == data


@pytest.mark.damaged
@pytest.mark.parametrize(
    "primitive",
    [
        {"attributes": "none", "targets": 7},
        {"attributes": {"POSITION": -1, "NORMAL": 1.5, "COLOR_0": True}, "targets": ["none", {"POSITION": 1000}]},
        {"attributes": {"POSITION": [1]}, "indices": {}},
    ],
)
def test_damage_elsewhere_is_kept(tmp_path: Path, primitive: dict[str, Any]) -> None:
    builder = arm()
    builder.node(mesh=builder.mesh(primitive))
    builder.json["accessors"] += [{"sparse": 3}, {"sparse": {"indices": [], "values": {"bufferView": "x"}}}]
    builder.json["bufferViews"].append({"buffer": 0, "byteLength": "long"})
    builder.json["images"] = ["none", {"bufferView": len(builder.json["bufferViews"]) - 1}]
    path = builder.save(tmp_path / "odd.glb")
    loaded(path).save(tmp_path / "copy.glb")
    assert opened(tmp_path / "copy.glb")[0]["meshes"][1] == opened(path)[0]["meshes"][1]
    np.testing.assert_array_equal(loaded(tmp_path / "copy.glb").mesh.positions, loaded(path).mesh.positions)


def rich(folder: Path) -> Path:
    """A file with all kinds of things: two skinned meshes of one skin, a hat, a camera, morph targets, extras."""
    builder = arm()
    builder.json["extras"] = {"author": "nobody"}
    builder.json["materials"] = [{"name": "skin", "alphaMode": "BLEND", "extras": {"a": [1, None]}}]
    builder.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}]
    primitive = builder.json["meshes"][0]["primitives"][0]
    count = builder.json["accessors"][primitive["attributes"]["POSITION"]]["count"]
    primitive["material"] = 0
    primitive["attributes"]["COLOR_0"] = builder.accessor([[1, 0, 0, 1]] * count)
    primitive["attributes"]["TANGENT"] = builder.accessor([[1, 0, 0, -1]] * count)
    primitive["attributes"]["_MINE"] = builder.accessor([[0.5]] * count)
    primitive["targets"] = [{"POSITION": builder.accessor([[0, 0, 1]] * count)}]
    builder.node(name="eye", camera=0)
    builder.animation((0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]]), name="slide")
    builder.animation((3, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]]), name="zoom")
    return builder.save(folder / "rich.glb")


def test_extras_cameras_morph_targets_and_animations_of_others(tmp_path: Path) -> None:
    path = rich(tmp_path)
    character = loaded(path)
    wave = replace(character.animations[0], name="again")
    changed = replace(character, animations=sbs.Animations((*character.animations, wave)))
    changed.save(tmp_path / "changed.glb")
    before, after = resolved(path)[0], resolved(tmp_path / "changed.glb")[0]
    for key in ("extras", "materials", "cameras", "nodes", "meshes", "skins"):
        assert after[key] == before[key], key
    assert [element["name"] for element in after["animations"]] == ["slide", "again", "zoom"]
    again = loaded(tmp_path / "changed.glb")
    for animation in again.animations:
        expected = character.animations[0].skinning_matrices([0, 0.5, 1])
        np.testing.assert_allclose(animation.skinning_matrices([0, 0.5, 1]), expected, atol=1e-7)
    replace(character, animations=sbs.Animations(())).save(tmp_path / "still.glb")
    assert [element["name"] for element in opened(tmp_path / "still.glb")[0]["animations"]] == ["zoom"]


def test_a_changed_shape_is_written_in_the_space_of_the_file(tmp_path: Path) -> None:
    """Where the file scales its joints, the mesh was scaled when it was read."""
    builder = arm()
    builder.node(children=[0], scale=[10, 10, 10])
    path = builder.save(tmp_path / "scaled.glb")
    character = loaded(path)
    assert float(np.ptp(character.mesh.positions)) == pytest.approx(30)
    taller = character.with_mesh(replace(character.mesh, positions=character.mesh.positions * [1, 3, 1]))
    taller.save(tmp_path / "taller.glb")
    again = loaded(tmp_path / "taller.glb")
    np.testing.assert_allclose(again.mesh.positions, character.mesh.positions * [1, 3, 1], atol=1e-5)
    content, data = opened(tmp_path / "taller.glb")
    accessor = content["accessors"][content["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]
    stored = np.frombuffer(view(content, data, accessor["bufferView"]), "<f4").reshape(-1, 3)
    assert float(np.ptp(stored)) == pytest.approx(3)
    np.testing.assert_array_equal(accessor["max"], stored.max(axis=0))
    assert opened(path)[0]["nodes"] == content["nodes"]


PNG = b"\x89PNG\r\n\x1a\n, more or less"


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ("image/jpeg", b"\xff\xd8\xff\xe0"),
        ("image/webp", b"RIFF\n\0\0\0WEBP"),
        ("image/ktx2", b"\xabKTX 20\xbb\r\n\x1a\n"),
        ("image/vnd-ms.dds", b"DDS |"),
        ("image/avif", b"\0\0\0\x20ftypavif"),
    ],
)
def test_kinds_of_images(tmp_path: Path, kind: str, start: bytes) -> None:
    builder = arm()
    builder.json["images"] = [{"uri": "skin"}]
    (tmp_path / "skin").write_bytes(start)
    loaded(builder.save_text(tmp_path / "arm.gltf")).save(tmp_path / "arm.glb")
    content, data = opened(tmp_path / "arm.glb")
    assert content["images"][0]["mimeType"] == kind
    assert view(content, data, content["images"][0]["bufferView"]) == start


def test_images_beside_the_file_are_embedded_and_other_files_are_not(tmp_path: Path) -> None:
    """Whoever made the glTF file may hope to be sent files of a home folder."""
    builder = arm()
    uris = ["skin.png", "lost.png", "../secret.png", "\ud800", ".ssh/id_rsa", "empty.png"]
    if os.name == "posix":  # who may make links on Windows differs
        uris.append("link.png")
    builder.json["images"] = [{"uri": uri} for uri in uris]
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_bytes(b"-----BEGIN OPENSSH PRIVATE KEY-----")
    (home / "empty.png").touch()
    (home / "skin.png").write_bytes(PNG)
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n, a secret")
    if os.name == "posix":
        (home / "link.png").symlink_to(tmp_path / "secret.png")
    character = loaded(builder.save_text(home / "arm.gltf"))
    with pytest.warns(FileWarning, match="is no image") as told:
        character.save(tmp_path / "arm.glb")
    assert len(told) == 2
    content, data = opened(tmp_path / "arm.glb")
    assert view(content, data, content["images"][0]["bufferView"]) == PNG
    assert content["images"][0]["mimeType"] == "image/png"
    assert [image["uri"] for image in content["images"][1:]] == [uri.replace("\ud800", "\ufffd") for uri in uris[1:]]
    assert b"PRIVATE KEY" not in data and b"secret" not in data


def test_extras_that_are_nested_or_too_large_for_a_double(tmp_path: Path) -> None:
    nested: Any = 1
    for _ in range(800):
        nested = [nested]
    builder = arm()
    builder.json["extras"] = {"nested": nested, "large": "LARGE", "small": "SMALL", "not": "NOT"}
    path = builder.save_text(tmp_path / "arm.gltf")
    text = path.read_text()
    for name, number in (("LARGE", "1e400"), ("SMALL", "-1e400"), ("NOT", "NaN")):
        text = text.replace(f'"{name}"', number)
    path.write_text(text)
    loaded(path).save(tmp_path / "arm.glb")

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    data = (tmp_path / "arm.glb").read_bytes()
    content = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")], parse_constant=refuse)
    largest = float(np.finfo(np.float64).max)
    assert content["extras"] == {"nested": nested, "large": largest, "small": -largest, "not": None}


def test_other_triangles_are_written_alone(tmp_path: Path) -> None:
    """Which vertices belong to which material is then unknown."""
    character = loaded(rich(tmp_path))
    finer = character.with_mesh(replace(character.mesh, triangles=character.mesh.triangles[:1]))
    with pytest.warns(FileWarning, match="without materials"):
        finer.save(tmp_path / "finer.glb")
    content, _ = opened(tmp_path / "finer.glb")
    assert not content.get("materials")
    assert len(loaded(tmp_path / "finer.glb").mesh.triangles) == 1
    replace(character, source=None).save(tmp_path / "alone.glb")
    assert not opened(tmp_path / "alone.glb")[0].get("cameras")


def test_several_buffers_become_one(tmp_path: Path) -> None:
    builder: Builder = arm()
    path = builder.save_text(tmp_path / "two.gltf")
    content = json.loads(path.read_text())
    content["buffers"].append(dict(content["buffers"][0]))
    for element in content["bufferViews"][1:]:
        element["buffer"] = 1
    path.write_text(json.dumps(content))
    character = loaded(path)
    character.save(tmp_path / "one.glb")
    assert len(opened(tmp_path / "one.glb")[0]["buffers"]) == 1
    np.testing.assert_array_equal(loaded(tmp_path / "one.glb").mesh.positions, character.mesh.positions)


def test_a_character_with_its_file_can_be_pickled(tmp_path: Path) -> None:
    character = pickle.loads(pickle.dumps(loaded(rich(tmp_path))))
    character.save(tmp_path / "copy.glb")
    assert opened(tmp_path / "copy.glb")[0]["cameras"]


def test_vertices_without_weights_stay_where_they_are_in_other_programs(damaged_hand: Path, tmp_path: Path) -> None:
    """Three.js would move them with the first bone, and validators ask for weights that sum to 1."""
    with pytest.warns(sbs.WeightWarning):
        hand = sbs.load(damaged_hand)
    hand.save(tmp_path / "saved.glb")
    check_validity(tmp_path / "saved.glb")
    again, scene = sbs.load(tmp_path / "saved.glb"), Scene(tmp_path / "saved.glb")
    clip = hand.animations[0]
    assert again.skeleton.names == (*hand.skeleton.names, "unweighted")
    for time in (0.0, clip.duration / 2):
        wanted = hand.skin.deform(clip.skinning_matrices(time), method="linear")
        seen = np.array(scene.deform(scene.animation(clip.name), time))
        # float32 in the file
        np.testing.assert_allclose(seen, wanted, atol=1e-5 * np.ptp(hand.mesh.positions))
    again.save(tmp_path / "twice.glb")
    assert (tmp_path / "twice.glb").read_bytes() == (tmp_path / "saved.glb").read_bytes()


def test_bytes_of_replaced_attributes_are_dropped_from_views_that_are_shared(tmp_path: Path) -> None:
    fox = sbs.load(FILES / "Fox.glb")
    fox.with_weights(*sbs.weights.limit(*fox.skin.influences(), 1)).save(tmp_path / "rigid.glb")
    content, data = opened(tmp_path / "rigid.glb")
    assert count_dead_bytes(content, len(data)) == 0
    assert len(content["images"]) == len(opened(FILES / "Fox.glb")[0]["images"])


def test_a_vrm_is_made_of_a_vrm_alone(tmp_path: Path) -> None:
    builder = arm()
    builder.json |= {"extensionsUsed": ["VRMC_vrm"], "extensions": {"VRMC_vrm": {"specVersion": "1.0"}}}
    avatar = loaded(builder.save(tmp_path / "avatar.vrm"))
    avatar.save(tmp_path / "copy.vrm")
    assert opened(tmp_path / "copy.vrm")[0]["extensions"] == builder.json["extensions"]
    finer = sbs.mesh.subdivide_near_joints(avatar, [0])  # which has other triangles than its file
    for other in (loaded(arm().save(tmp_path / "arm.glb")), finer):
        with pytest.raises(ValueError, match="a VRM is written into the VRM"):
            other.save(tmp_path / "arm.vrm")
    assert not (tmp_path / "arm.vrm").exists()
