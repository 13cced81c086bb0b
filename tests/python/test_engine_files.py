# SPDX-License-Identifier: MIT
"""Characters for shaders of engines: centers of rotation and amounts as an attribute of GLB files."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import gltf_reference
import numpy as np
import pytest
from commands import succeed
from gltf_builder import arm, pack_glb
from numpy.typing import NDArray

import sbs
from sbs.rigging.triangle_mesh import diagonal

FILES = Path(__file__).parents[1] / "data"
DEMO = Path(str(resources.files("sbs.characters") / "data"))
HAND, WOMAN, RAT = DEMO / "hand.glb", DEMO / "woman.glb", FILES / "Rat.glb"

Floats = NDArray[np.float64]


def loaded(path: Path) -> sbs.Character:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sbs.load(path)


def centers_of(character: sbs.Character) -> Floats:
    assert character.mesh.centers is not None
    return character.mesh.centers


def primitives(path: Path) -> list[dict[str, Floats]]:
    """The attributes of all primitives, read independently."""
    scene = gltf_reference.Scene(path)
    return [
        {name: np.array(scene.accessor(number)) for name, number in primitive["attributes"].items()}
        for mesh in scene.json["meshes"]
        for primitive in mesh["primitives"]
    ]


def joined(path: Path, prefix: str) -> Floats:
    """Sets of an attribute, side by side, of all vertices."""
    rows = [[part[name] for name in sorted(part) if name.startswith(prefix)] for part in primitives(path)]
    width = max(map(len, rows))
    return np.concatenate([np.hstack(sets + [0 * sets[0]] * (width - len(sets))) for sets in rows])


def file_to_mesh(path: Path, character: sbs.Character) -> Floats:
    """The affine map (4, 3) from POSITION of the file to the mesh of the character, fitted to the vertices."""
    stored = np.column_stack([joined(path, "POSITION"), np.ones(len(character.mesh.positions))])
    found = np.linalg.lstsq(stored, np.asarray(character.mesh.positions, np.float64), rcond=None)[0]
    np.testing.assert_allclose(stored @ found, character.mesh.positions, atol=1e-6 * diagonal(character.mesh.positions))
    return np.asarray(found)


@pytest.mark.parametrize("source", [HAND, WOMAN, RAT], ids=lambda path: path.stem)
def test_the_attribute_is_the_centers_and_amounts_of_smooth_twist(tmp_path: Path, source: Path) -> None:
    path = tmp_path / "web.glb"
    succeed("convert", source, "--engine", "three", "-o", path)
    character = loaded(source)
    twist = sbs.limb_twist(character)
    skin = character.twisted_skin(twist, optimized=True)
    amounts = sbs.twist_amounts(character, twist)
    own = np.all(np.asarray(skin.centers) == character.mesh.positions, axis=1)
    stored = joined(path, "_SBS_CENTER")
    np.testing.assert_allclose(stored[:, 3], np.where(own, 0, amounts), atol=1e-7)
    assert np.any(own)
    assert np.any(stored[:, 3] > 0)
    in_mesh = np.column_stack([stored[:, :3], np.ones(len(stored))]) @ file_to_mesh(path, character)
    size = diagonal(character.mesh.positions)
    np.testing.assert_allclose(in_mesh, np.asarray(skin.centers), atol=1e-6 * size)

    again = loaded(path)
    np.testing.assert_allclose(centers_of(again), np.asarray(skin.centers), atol=1e-6 * size)
    assert again.options == {"method": "spherical", "center": "optimized", "amount": again.options["amount"]}
    assert again.animations.names == character.animations.names
    for ours, theirs in zip(again.animations, character.animations, strict=True):
        times = np.linspace(0, theirs.duration, 3)
        angles = twist.angles(theirs.skinning_matrices(times), follow=True) if twist.bone_count else None
        expected = skin.deform_many(theirs.skinning_matrices(times), amount=amounts, center="optimized", twists=angles)
        shown = again.skin.deform_many(ours.skinning_matrices(times), **again.options)
        np.testing.assert_allclose(shown, expected, atol=2e-6 * size)


def test_weights_are_warned_of_once(damaged_hand: Path, tmp_path: Path) -> None:
    result = succeed("convert", damaged_hand, "--engine", "three", "-o", tmp_path / "web.glb")
    assert result.count("weights were repaired") == 1


@pytest.mark.parametrize("weights", ["float32", "uint8"])
@pytest.mark.parametrize("source", [HAND, WOMAN, RAT], ids=lambda path: path.stem)
def test_influences_are_sorted_and_blend_as_before(tmp_path: Path, source: Path, weights: str) -> None:
    path = tmp_path / "web.glb"
    succeed("convert", source, "--engine", "three", "--weights", weights, "-o", path)
    stored, joints = joined(path, "WEIGHTS_"), joined(path, "JOINTS_")
    later, earlier = stored[:, 1:], stored[:, :-1]
    assert np.all(later <= earlier)
    assert np.all((later < earlier) | (later == 0) | (joints[:, 1:] > joints[:, :-1]))
    if source == WOMAN:
        assert stored.shape[1] == 8
    if source == WOMAN and weights == "float32":
        # The rig of a file that is made of this one divides its limbs itself.
        once = loaded(path)
        twice = once.for_engine("three")
        assert len(twice.skeleton) == len(once.skeleton)
        np.testing.assert_allclose(centers_of(twice), centers_of(once), atol=1e-6 * diagonal(once.mesh.positions))
    if source == RAT:  # an engine without the shader shows what it showed, where no limb is twisted
        succeed("convert", source, "--engine", "three", "--twist", "none", "-o", path)
        scenes = gltf_reference.Scene(source), gltf_reference.Scene(path)
        name = scenes[0].json["animations"][0].get("name")
        before, after = (np.array(scene.deform(scene.animation(name), 0.3)) for scene in scenes)
        np.testing.assert_allclose(after, before, atol=1e-6 * diagonal(before))


def two_meshes(folder: Path) -> Path:
    """An arm scaled by ten that occurs twice, as two meshes, the second with two primitives and a morph target."""
    builder = arm()
    first = builder.json["meshes"][0]["primitives"][0]
    count = builder.json["accessors"][first["attributes"]["POSITION"]]["count"]
    moved = {**first, "targets": [{"POSITION": builder.accessor([[0, 0, 1]] * count)}]}
    builder.mesh(moved, moved)
    builder.node(mesh=1, skin=0, name="sleeve")
    builder.node(children=[0], scale=[10, 10, 10])
    return builder.save(folder / "two.glb")


def test_each_primitive_has_its_vertices(tmp_path: Path) -> None:
    character = loaded(two_meshes(tmp_path))
    made = character.for_engine("three", amount=0.5)
    made.save(tmp_path / "web.glb")
    stored = primitives(tmp_path / "web.glb")
    assert len(stored) == 3
    for part in stored:
        np.testing.assert_array_equal(part["_SBS_CENTER"], stored[0]["_SBS_CENTER"])
        own = np.all(part["_SBS_CENTER"][:, :3] == part["POSITION"], axis=1)
        np.testing.assert_array_equal(part["_SBS_CENTER"][:, 3], np.where(own, 0, 0.5))
    again = loaded(tmp_path / "web.glb")
    np.testing.assert_allclose(centers_of(again), centers_of(made), atol=1e-5)
    assert [shape.name for shape in again.mesh.shapes] == [shape.name for shape in character.mesh.shapes]
    sleeve = again.parts["sleeve"]
    count = len(stored[0]["POSITION"])
    np.testing.assert_array_equal(sleeve.options["amount"], again.options["amount"][count:])  # type: ignore[index]
    sleeve.save(tmp_path / "sleeve.glb")
    np.testing.assert_array_equal(centers_of(loaded(tmp_path / "sleeve.glb")), centers_of(again))
    rigid(sleeve).save(tmp_path / "rigid.glb")
    assert ["_SBS_CENTER" in part for part in primitives(tmp_path / "rigid.glb")] == [True, False, False]


def test_all_else_of_the_file_is_kept_beside_joints_of_twists(tmp_path: Path) -> None:
    builder = arm()
    builder.json["materials"] = [{"name": "skin"}]
    builder.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}]
    builder.json["meshes"][0]["primitives"][0]["material"] = 0
    builder.node(name="eye", camera=0)
    half = np.sqrt(0.5)
    turns = [[0, 0, 0, 1], [half, 0, 0, half], [1, 0, 0, 0], [half, 0, 0, -half]]
    builder.animation((1, "rotation", range(4), turns), (3, "translation", range(4), [[0, 0, 0]] * 4), name="turn")
    builder.animation((3, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]]), name="zoom")
    character = loaded(builder.save(tmp_path / "arm.glb"))
    twist = sbs.Twist([1], [[2, 0, 0]], [[3, 0, 0]], parents=[0], joint_count=2, frames=3)
    made = character.for_engine("three", twist=twist)
    made.save(tmp_path / "web.glb")
    content = gltf_reference.Scene(tmp_path / "web.glb").json
    for key in ("materials", "cameras"):
        assert content[key] == builder.json[key]
    assert content["meshes"][0]["primitives"][0]["material"] == 0
    assert [node["name"] for node in content["nodes"]] == [
        *("shoulder", "elbow", "body", "eye"),
        *("elbow_twist_0", "elbow_twist_1", "elbow_twist_2"),
    ]
    assert content["nodes"][0] == builder.json["nodes"][0]
    assert content["nodes"][1]["children"] == [4, 5, 6]
    turn, zoom = content["animations"]
    assert zoom["name"] == "zoom"
    targets = [(channel["target"]["node"], channel["target"]["path"]) for channel in turn["channels"]]
    assert targets[:2] == [(1, "rotation"), (3, "translation")]
    assert {node for node, _ in targets[2:]} <= {4, 5, 6}
    again = loaded(tmp_path / "web.glb")
    times = np.linspace(0, 3, 7)
    expected = made.skin.deform_many(made.animations[0].skinning_matrices(times), **made.options)
    shown = again.skin.deform_many(again.animations[0].skinning_matrices(times), **again.options)
    np.testing.assert_allclose(shown, expected, atol=1e-6)


def test_it_is_kept_when_it_is_loaded_and_saved_again(tmp_path: Path) -> None:
    loaded(RAT).for_engine("three").save(tmp_path / "web.glb")
    again = loaded(tmp_path / "web.glb")
    again.save(tmp_path / "kept.glb")
    assert (tmp_path / "kept.glb").read_bytes() == (tmp_path / "web.glb").read_bytes()
    replace(again, source=None).save(tmp_path / "alone.glb")
    alone = loaded(tmp_path / "alone.glb")
    size = diagonal(again.mesh.positions)
    np.testing.assert_allclose(centers_of(alone), centers_of(again), atol=1e-6 * size)
    np.testing.assert_array_equal(alone.options["amount"], again.options["amount"])
    same = again.with_mesh(replace(again.mesh, uvs=None))
    assert same.options == again.options


def moved_by_a_tool(path: Path, scale: list[float]) -> Path:
    """The file with positions in another space, as quantization leaves it: skins are told, other attributes are not."""
    content, data = gltf_reference.opened(path)
    move, buffer = np.array([0.3, -0.2, 0.1]), bytearray(data)
    theirs = np.diag([*scale, 1.0])
    theirs[:3, 3] = move

    def change(number: int, function: Any) -> None:
        accessor = content["accessors"][number]
        start = content["bufferViews"][accessor["bufferView"]].get("byteOffset", 0) + accessor.get("byteOffset", 0)
        shape = (accessor["count"], 3 if accessor["type"] == "VEC3" else 16)
        rows = np.ndarray(shape, "<f4", buffer, start)
        rows[:] = function(rows.copy())
        if "min" in accessor:
            accessor.update(min=rows.min(axis=0).tolist(), max=rows.max(axis=0).tolist())

    for mesh in content["meshes"]:
        for primitive in mesh["primitives"]:
            change(primitive["attributes"]["POSITION"], lambda rows: rows * scale + move)
    for skin in content["skins"]:
        # transposed, column by column
        back = np.linalg.inv(theirs).T
        change(skin["inverseBindMatrices"], lambda rows, back=back: (back @ rows.reshape(-1, 4, 4)).reshape(-1, 16))
    changed = path.with_name("changed.glb")
    changed.write_bytes(pack_glb(json.dumps(content).encode(), bytes(buffer)))
    return changed


def test_centers_follow_positions_into_another_space(tmp_path: Path) -> None:
    loaded(HAND).for_engine("three", twist=None).save(tmp_path / "web.glb")
    made = loaded(tmp_path / "web.glb")
    found = loaded(moved_by_a_tool(tmp_path / "web.glb", [0.5, 0.5, 0.5]))
    # float32 in the file, twice
    atol = 1e-5 * diagonal(made.mesh.positions)
    np.testing.assert_allclose(found.mesh.positions, made.mesh.positions, atol=atol)
    np.testing.assert_allclose(centers_of(found), centers_of(made), atol=atol)
    found.save(tmp_path / "again.glb")
    np.testing.assert_allclose(centers_of(loaded(tmp_path / "again.glb")), centers_of(made), atol=atol)


def test_centers_of_other_positions_are_left_out_with_a_warning(tmp_path: Path) -> None:
    loaded(HAND).for_engine("three", twist=None).save(tmp_path / "web.glb")
    with pytest.warns(UserWarning, match="_SBS_CENTER does not fit positions"):
        found = sbs.load(moved_by_a_tool(tmp_path / "web.glb", [0.5, 0.5, 0.7]))
    assert found.mesh.centers is None and not found.options
    content, data = gltf_reference.opened(tmp_path / "web.glb")
    for mesh in content["meshes"]:
        for primitive in mesh["primitives"]:
            del primitive["attributes"]["_SBS_CENTER"]
    (tmp_path / "stripped.glb").write_bytes(pack_glb(json.dumps(content).encode(), data))
    with pytest.warns(UserWarning, match="_SBS_CENTER was removed"):
        sbs.load(tmp_path / "stripped.glb")


@pytest.mark.parametrize(
    "bounds",
    [
        7,
        {"min": [0, 0]},
        {"min": "abc", "max": [1, 2, 3]},
        {"min": [0, 0, 0], "max": [1e999] * 3},
        {"min": [0, 0, 0], "max": [10**400] * 3},
        {"min": [-1e308] * 3, "max": [1e308] * 3},
        {},
    ],
)
def test_centers_with_damaged_bounds_are_left_out(tmp_path: Path, bounds: Any) -> None:
    loaded(HAND).for_engine("three", twist=None).save(tmp_path / "web.glb")
    content, data = gltf_reference.opened(tmp_path / "web.glb")
    for mesh in content["meshes"]:
        for primitive in mesh["primitives"]:
            primitive["extras"] = {"sbs_positions": bounds}
    (tmp_path / "hostile.glb").write_bytes(pack_glb(json.dumps(content).encode(), data))
    with pytest.warns(UserWarning, match="_SBS_CENTER does not fit positions"):
        assert sbs.load(tmp_path / "hostile.glb").mesh.centers is None


def rigid(character: sbs.Character) -> sbs.Character:
    return character.with_weights(*sbs.weights.limit(*character.skin.influences(), 1))


def of_one_vertex(character: sbs.Character) -> sbs.Character:
    assert character.skin.max_influences > 1
    return character.with_weights([[0]], [[1.0]], vertices=[7])


def moved(character: sbs.Character) -> sbs.Character:
    return character.with_mesh(replace(character.mesh, positions=character.mesh.positions * [1, 2, 1]))


def finer(character: sbs.Character) -> sbs.Character:
    joint = int(np.bincount(character.mesh.joint_indices[:, 0]).argmax())
    return sbs.mesh.subdivide_near_joints(character, [joint])


def more_joints(character: sbs.Character) -> sbs.Character:
    return character.with_twist_joints(sbs.limb_twist(character))


@pytest.mark.parametrize("change", [rigid, of_one_vertex, moved, finer, more_joints])
def test_what_changes_the_mesh_or_its_weights_drops_it(tmp_path: Path, change: Any) -> None:
    loaded(HAND).for_engine("three", twist=None).save(tmp_path / "web.glb")
    changed = change(loaded(tmp_path / "web.glb"))
    assert changed.mesh.centers is None
    assert changed.skin.centers is None
    assert not changed.options
    changed.save(tmp_path / "changed.glb")
    assert all("_SBS_CENTER" not in part for part in primitives(tmp_path / "changed.glb"))


def test_correctives_are_blended_by_the_same_shader(tmp_path: Path) -> None:
    path = tmp_path / "web.glb"
    succeed("convert", HAND, "--engine", "three", "--correctives", "draft", "-o", path)
    hand, made = loaded(HAND), loaded(path)
    twist = sbs.limb_twist(hand)
    skin, amount = hand.twisted_skin(twist, optimized=True), sbs.twist_amounts(hand, twist)
    shapes = sbs.correctives.draft(hand, skin=skin, center="optimized", amount=amount)
    fist = made.animations[0]
    matrices = hand.animations[0].skinning_matrices(0.5)
    expected = skin.deform(matrices, correctives=shapes, center="optimized", amount=amount)
    rest = made.shape_motion(fist).rest_positions(0.5)
    shown = made.skin.deform(fist.skinning_matrices(0.5), rest_positions=rest, **made.options)
    np.testing.assert_allclose(shown, expected, atol=2e-6 * diagonal(expected))


@pytest.mark.parametrize(
    ("engine", "amount", "message"),
    [("unreal", None, "'unreal'"), ("three", [1, 1, 1], r"amount has shape \(3,\)"), ("three", np.nan, "amount")],
)
def test_bad_arguments(engine: Any, amount: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sbs.samples.load("hand").for_engine(engine, amount=amount)


def test_more_influences_than_fit_and_other_nodes(tmp_path: Path) -> None:
    """There is room for eight; joints of twists go to a new file if the nodes were changed."""
    hand = loaded(HAND)
    shares = np.tile(np.arange(10.0, 0.0, -1.0) / 55, (len(hand.mesh.positions), 1))
    many = hand.with_weights(np.tile(np.arange(10), (len(shares), 1)), shares)
    with pytest.warns(sbs.WeightWarning, match=r"1360 vertices have more than 8 influences; up to 5\.45% of"):
        made = many.for_engine("three", twist=None)
    made.save(tmp_path / "web.glb")
    assert list(primitives(tmp_path / "web.glb")[0])[-4:] == ["JOINTS_0", "WEIGHTS_0", "JOINTS_1", "WEIGHTS_1"]
    np.testing.assert_allclose(joined(tmp_path / "web.glb", "WEIGHTS_"), shares[:, :8] * 55 / 52, atol=1e-7)
    moved_nodes = replace(hand.rig, translations=2 * hand.rig.translations)
    other = replace(hand, rig=moved_nodes, animations=sbs.Animations(()))
    assert other.with_twist_joints(sbs.limb_twist(other)).source is None
    assert hand.with_twist_joints(sbs.limb_twist(hand)).source is not None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0, 0, 0, 2]], "vertex 0 is 2"),
        ([[0, 0, 0, np.inf]], "element 0"),
        ([[0, 0, 0]], "VEC4"),
        ([], "elements for"),
    ],
)
def test_damaged_attributes(tmp_path: Path, values: Any, message: str) -> None:
    builder = arm()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    count = builder.json["accessors"][attributes["POSITION"]]["count"]
    attributes["_SBS_CENTER"] = builder.accessor(values * count or [[0, 0, 0, 1]])
    with pytest.raises(ValueError, match=message):
        sbs.load(builder.save(tmp_path / "arm.glb"))
