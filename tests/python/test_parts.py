# SPDX-License-Identifier: MIT
"""Characters of several meshes: skins of other joints and spaces on one skeleton, parts, and files of them."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from click.testing import CliRunner
from gltf_builder import IDENTITY, Builder, arm, translation
from gltf_reference import opened, resolved

import sbs
from sbs.cli import main
from sbs.rigging.content import FileWarning

HALF = float(np.sqrt(0.5))


def dressed(*, shapes: bool = False) -> Builder:
    """The arm, a sleeve that lists the elbow alone and was bound 5 up and turned, and a ring on a joint of its own.

    The ring's joint hangs below the elbow, and its skin has no joint in common with the others.
    """
    builder = arm()
    finger = builder.node(name="finger", translation=[1.0, 0.0, 0.0])
    builder.json["nodes"][1]["children"] = [finger]
    moved = translation(0, 5, 0)
    moved[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    sleeve = builder.primitive(
        [[1, 0, 0], [1, 1, 0], [2, 0, 0]], [[0] * 4] * 3, [[1, 0, 0, 0]] * 3, indices=[0, 1, 2], material=0
    )
    if shapes:
        sleeve["targets"] = [{"POSITION": builder.accessor([[0, 0, 1], [0, 0, 0], [0, 0, 0]])}]
        builder.json["meshes"][0]["primitives"][0]["targets"] = [
            {"POSITION": builder.accessor([[0.0, 0, 0]] * 4)},
            {"POSITION": builder.accessor([[0, 0, 0.5]] * 4)},
        ]
    ring = builder.primitive([[0, 0, 0], [0, 1, 0], [1, 0, 0]], [[0] * 4] * 3, [[1, 0, 0, 0]] * 3, indices=[0, 1, 2])
    builder.json["materials"] = [{"name": "cloth"}]
    builder.node(name="sleeve", mesh=builder.mesh(sleeve), skin=builder.skin([1], [translation(-2, 0, 0) @ moved]))
    # Bound where it lies in the scene: its own space is 3 to the right of the arm's.
    builder.node(name="ring", mesh=builder.mesh(ring), skin=builder.skin([finger], [IDENTITY]))
    channels: list[Any] = [(1, "rotation", [0.0, 1.0], [[0, 0, 0, 1], [0, 0, HALF, HALF]])]
    channels.append((0, "translation", [0.0, 1.0], [[0, 0, 0], [0, 0, 2]]))
    if shapes:
        sleeve_node, arm_node = len(builder.json["nodes"]) - 2, 2
        channels.append((sleeve_node, "weights", [0.0, 1.0], builder.accessor([0.0, 1.0])))
        channels.append((arm_node, "weights", [0.0, 1.0], builder.accessor([0.0, 0.0, 1.0, 0.5])))
    builder.animation(*channels, name="bend")
    return builder


def otherwise_bound() -> Builder:
    """The sleeve was bound with the elbow turned by 90 degrees, a pose that no matrix brings to that of the arm."""
    bent = translation(-2, 0, 0)
    bent[:2, :2] = [[0, 1], [-1, 0]]
    builder = dressed()
    # With the shoulder and the finger in its skin, too, bound as in the arm's and where it is.
    sleeve = builder.json["skins"][1]
    sleeve["joints"] = [1, 0, 3]
    binds = np.array([bent, IDENTITY, translation(-3, 0, 0)])
    sleeve["inverseBindMatrices"] = builder.accessor(binds.transpose(0, 2, 1).reshape(-1, 16))
    return builder


def in_the_scene(builder: Builder, time: float) -> dict[str, np.ndarray]:
    """Where glTF's rule puts the vertices of each mesh, without shapes: node to scene times inverse bind matrix."""
    angle = np.arctan2(HALF * time * 0 + np.sin(time * np.pi / 4), np.cos(time * np.pi / 4)) * 2
    elbow = translation(2, 0, 0)
    elbow[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    shoulder = translation(0, 0, 2 * time)
    world = {0: shoulder, 1: shoulder @ elbow, 3: shoulder @ elbow @ translation(1, 0, 0)}
    found = {}
    for node in builder.json["nodes"]:
        if "mesh" not in node:
            continue
        skin = builder.json["skins"][node["skin"]]
        binds = stored(builder, skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
        attributes = builder.json["meshes"][node["mesh"]]["primitives"][0]["attributes"]
        points = stored(builder, attributes["POSITION"])
        joints = stored(builder, attributes["JOINTS_0"], "u1")
        weights = stored(builder, attributes["WEIGHTS_0"])
        matrices = np.array([world[joint] for joint in skin["joints"]]) @ binds
        blended = np.einsum("vk,vkxy->vxy", weights, matrices[joints])
        found[node["name"]] = np.einsum("vxy,vy->vx", blended, np.c_[points, np.ones(len(points))])[:, :3]
    return found


def stored(builder: Builder, number: int, kind: str = "<f4") -> np.ndarray:
    accessor = builder.json["accessors"][number]
    view = builder.json["bufferViews"][accessor["bufferView"]]
    data = bytes(builder.data[view["byteOffset"] : view["byteOffset"] + view["byteLength"]])
    return np.frombuffer(data, kind).reshape(accessor["count"], -1)


def test_skins_of_other_joints_and_spaces_are_one_character(tmp_path: Path) -> None:
    builder = dressed()
    hero = sbs.load(builder.save(tmp_path / "hero.glb"))
    assert hero.skeleton.names == ("shoulder", "elbow", "finger")
    np.testing.assert_array_equal(hero.skeleton.parents, [-1, 0, 1])
    np.testing.assert_allclose(hero.skeleton.joint_positions, [[0, 0, 0], [2, 0, 0], [3, 0, 0]], atol=1e-6)
    assert [(part.name, part.vertices) for part in hero.mesh.parts] == [
        ("body", range(4)),
        ("sleeve", range(4, 7)),
        ("ring", range(7, 10)),
    ]
    for time in (0.0, 0.3, 1.0):
        found = hero.skin.deform(hero.animations["bend"].skinning_matrices(time), method="linear")
        for part, expected in zip(hero.mesh.parts, in_the_scene(builder, time).values(), strict=True):
            np.testing.assert_allclose(found[part.vertices], expected, rtol=0, atol=2e-6)
    # The ring and the sleeve were brought to where the arm lies.
    np.testing.assert_allclose(hero.mesh.positions[7], [3, 0, 0], atol=1e-6)
    np.testing.assert_allclose(hero.mesh.positions[4], [0, 6, 0], atol=1e-6)


def test_parts_are_characters_on_the_same_joints(tmp_path: Path) -> None:
    hero = sbs.load(dressed(shapes=True).save(tmp_path / "hero.glb"))
    bend = hero.animations["bend"]
    shapes = hero.shape_motion(bend)
    assert hero.parts.names == ("body", "sleeve", "ring")
    with pytest.raises(
        KeyError, match="no mesh is named 'sleev'; there are: body, sleeve, ring; did you mean 'sleeve'"
    ):
        hero.parts["sleev"]
    for method in ("linear", "spherical"):
        matrices, rest = bend.skinning_matrices(0.4), shapes.rest_positions(0.4)
        whole = hero.skin.deform(matrices, method=method, rest_positions=rest)
        for part, name in zip(hero.parts, hero.parts.names, strict=True):
            assert part.skeleton is hero.skeleton
            assert part.rig is hero.rig
            own = part.shape_motion(part.animations["bend"]).rest_positions(0.4)
            rows = hero.mesh.parts[hero.parts.names.index(name)].vertices
            found = part.skin.deform(matrices, method=method, rest_positions=own)
            np.testing.assert_allclose(found, whole[rows], rtol=0, atol=1e-6)
            assert [len(part.mesh.shapes), len(part.parts)] == [{"body": 2, "sleeve": 1, "ring": 0}[name], 1]


@pytest.mark.parametrize("names", ["sleeve", ["ring", "body"]])
def test_meshes_are_chosen_by_name(tmp_path: Path, names: str | list[str]) -> None:
    path = dressed(shapes=True).save(tmp_path / "hero.glb")
    hero, chosen = sbs.load(path), sbs.load(path, mesh=names)
    listed = [names] if isinstance(names, str) else names
    expected = [part for part in hero.parts if part.name in listed]
    np.testing.assert_array_equal(chosen.mesh.positions, np.concatenate([part.mesh.positions for part in expected]))
    assert chosen.skeleton.names == hero.skeleton.names
    assert chosen.mesh.triangles.max() == len(chosen.mesh.positions) - 1
    with pytest.raises(ValueError, match=r"hero.glb: no mesh is named 'hat'; there are: body, sleeve, ring"):
        sbs.load(path, mesh="hat")
    with pytest.raises(ValueError, match="mesh has no names"):
        sbs.load(path, mesh=[])


def test_a_mesh_of_another_skeleton_is_chosen_by_name(tmp_path: Path) -> None:
    builder = arm()
    prop = builder.primitive([[0, 0, 0]] * 2 + [[1, 1, 1]], [[0] * 4] * 3, [[1, 0, 0, 0]] * 3)
    builder.node(name="sword", mesh=builder.mesh(prop), skin=builder.skin([builder.node(name="grip")]))
    path = builder.save(tmp_path / "two.glb")
    assert sbs.load(path, mesh="sword").skeleton.names == ("grip",)
    assert sbs.load(path, skin=1).skeleton.names == ("grip",)
    with pytest.warns(FileWarning, match=r"another skeleton has more vertices \(skin= or mesh= chooses\): sword"):
        assert sbs.load(path).skeleton.names == ("shoulder", "elbow")


@pytest.mark.filterwarnings("ignore:.*in another pose", "ignore:.*without materials")
def test_a_mesh_that_was_bound_in_another_pose_has_joints_of_its_own(tmp_path: Path) -> None:
    builder = otherwise_bound()
    path = builder.save(tmp_path / "hero.glb")
    with pytest.warns(FileWarning, match="skin 1 binds 1 joints in another pose than the skins before"):
        hero = sbs.load(path)
    assert hero.skeleton.names == ("shoulder", "elbow", "elbow_2", "finger")
    np.testing.assert_array_equal(hero.skeleton.parents, [-1, 0, 1, 1])
    for time in (0.0, 1.0):
        found = hero.skin.deform(hero.animations["bend"].skinning_matrices(time), method="linear")
        for part, expected in zip(hero.mesh.parts, in_the_scene(builder, time).values(), strict=True):
            np.testing.assert_allclose(found[part.vertices], expected, rtol=0, atol=2e-6)
    # Joints turned by hand: it follows the arm's elbow from its own bind pose.
    turn = np.tile(np.eye(3), (4, 1, 1))
    turn[1] = sbs.rotations.matrices_from_axis_angle([0, 0, 1], 30, degrees=True)
    matrices = hero.skinning_matrices(turn)
    np.testing.assert_allclose(matrices[2], matrices[1], atol=1e-12)
    for source in (hero.source, None):
        dataclasses.replace(hero, source=source).save(tmp_path / "copy.glb")
        again = sbs.load(tmp_path / "copy.glb")
        expected = hero.skin.deform(hero.animations["bend"].skinning_matrices(0.7))
        found = again.skin.deform(again.animations["bend"].skinning_matrices(0.7))
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)
    # The file has no node that could move it alone.
    wave = sbs.Animation.from_skinning_matrices(
        "wave", [0, 1], np.stack([hero.skinning_matrices(np.tile(np.eye(3), (4, 1, 1))), matrices]), hero.rig
    )
    waving = dataclasses.replace(hero, animations=sbs.Animations((wave,)))
    waving.save(tmp_path / "waving.glb")
    again = sbs.load(tmp_path / "waving.glb")
    found = again.skin.deform(again.animations["wave"].skinning_matrices(1.0))
    np.testing.assert_allclose(found, hero.skin.deform(matrices), rtol=0, atol=2e-6)


def test_a_changed_part_leaves_the_rest_of_the_file_alone(tmp_path: Path) -> None:
    path = dressed(shapes=True).save(tmp_path / "hero.glb")
    before = resolved(path)[0]
    for sleeve in (sbs.load(path).parts["sleeve"], sbs.load(path, mesh="sleeve")):
        # By a joint that its skin does not list.
        heavier = sleeve.with_weights([[0, 1]] * 3, [[0.5, 0.5]] * 3)
        heavier.save(tmp_path / "changed.glb")
        after = resolved(tmp_path / "changed.glb")[0]
        for key in ("materials", "nodes", "animations"):
            assert after[key] == before[key]
        for number in (0, 2):
            assert after["meshes"][number] == before["meshes"][number]
            assert after["skins"][number] == before["skins"][number]
        assert after["meshes"][1]["primitives"][0]["material"] == 0
        assert after["skins"][1]["joints"] == [1, 0]
        hero, again = sbs.load(path), sbs.load(tmp_path / "changed.glb")
        matrices = hero.animations["bend"].skinning_matrices(0.6)
        np.testing.assert_allclose(again.animations["bend"].skinning_matrices(0.6), matrices, atol=1e-6)
        for name in ("body", "ring"):
            np.testing.assert_allclose(
                again.parts[name].skin.deform(matrices), hero.parts[name].skin.deform(matrices), rtol=0, atol=1e-6
            )
        expected = heavier.skin.deform(matrices)
        np.testing.assert_allclose(again.parts["sleeve"].skin.deform(matrices), expected, rtol=0, atol=1e-6)


def test_parts_are_written_and_read_again_without_the_file(tmp_path: Path) -> None:
    hero = dataclasses.replace(sbs.load(dressed(shapes=True).save(tmp_path / "hero.glb")), source=None)
    hero.save(tmp_path / "alone.glb")
    again = sbs.load(tmp_path / "alone.glb")
    assert again.mesh.parts == hero.mesh.parts
    assert again.parts.names == hero.parts.names
    for time in (0.0, 0.5, 1.0):
        for one, other in zip(hero.parts, again.parts, strict=True):
            positions = [
                part.skin.deform(
                    part.animations["bend"].skinning_matrices(time),
                    rest_positions=part.shape_motion(part.animations["bend"]).rest_positions(time),
                )
                for part in (one, other)
            ]
            np.testing.assert_allclose(positions[1], positions[0], rtol=0, atol=2e-6)
    scene = trimesh.load_scene(tmp_path / "alone.glb")
    assert len(scene.geometry) == 3


def test_what_does_not_fit_is_no_part(tmp_path: Path) -> None:
    mesh = sbs.load(dressed().save(tmp_path / "hero.glb")).mesh
    with pytest.raises(ValueError, match=r"triangles\[0\] has corners in two parts"):
        dataclasses.replace(mesh, triangles=np.array([[3, 4, 5]], np.int32))
    with pytest.raises(ValueError, match="parts have 7 vertices, the mesh 10"):
        dataclasses.replace(mesh, parts=mesh.parts[:2])
    with pytest.raises(ValueError, match=r"parts\[1\] has vertices range\(7, 10\), but it begins with vertex 4"):
        dataclasses.replace(mesh, parts=(mesh.parts[0], mesh.parts[2]))
    for numbers in ([], [0, 0], [3], [-1]):
        with pytest.raises(ValueError, match="some of the 3 parts are needed"):
            mesh.of_parts(numbers)
    fine = sbs.mesh.subdivide(mesh.positions, mesh.triangles, np.ones(len(mesh.triangles), bool)).mesh(mesh)
    assert fine.parts == ()


def ran(*arguments: object) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_poses_have_an_object_for_each_mesh(tmp_path: Path) -> None:
    path = dressed(shapes=True).save(tmp_path / "hero.glb")
    hero = sbs.load(path)
    pose = ("deform", path, "--method", "SBS", "--animation", "bend", "--time", "0.5")
    bend = hero.animations["bend"]
    rest = hero.shape_motion(bend).rest_positions(0.5)
    expected = hero.skin.deform(bend.skinning_matrices(0.5), rest_positions=rest)
    ran(*pose, "-o", tmp_path / "pose.obj")
    objects = (tmp_path / "pose.obj").read_text().split("\no ")
    positions = [line.split()[1:] for line in objects[0].splitlines() if line.startswith("v ")]
    np.testing.assert_allclose(np.array(positions, float), expected, rtol=0, atol=1e-6)
    assert [text.splitlines()[0] for text in objects[1:]] == ["body", "sleeve", "ring"]
    for part, text in zip(hero.mesh.parts, objects[1:], strict=True):
        corners = {int(corner) - 1 for line in text.splitlines()[1:] for corner in line.split()[1:]}
        assert corners == set(part.vertices)
    for name in ("pose.glb", "pose.ply"):
        ran(*pose, "-o", tmp_path / name)
        scene = trimesh.load_scene(tmp_path / name, process=False)
        if name == "pose.ply":
            np.testing.assert_allclose(scene.to_mesh().vertices, expected, rtol=0, atol=1e-6)
            continue
        assert list(scene.geometry) == ["body", "sleeve", "ring"]
        for part, geometry in zip(hero.mesh.parts, scene.geometry.values(), strict=True):
            np.testing.assert_allclose(geometry.vertices, expected[part.vertices], rtol=0, atol=1e-6)
    ran(*pose, "--mesh", "sleeve", "-o", tmp_path / "sleeve.npy")
    np.testing.assert_allclose(np.load(tmp_path / "sleeve.npy"), expected[4:7], rtol=0, atol=1e-6)
    assert "ring.npy: 3 vertices" in ran(*pose, "-o", tmp_path / "{mesh}.npy")
    np.testing.assert_allclose(np.load(tmp_path / "ring.npy"), expected[7:], rtol=0, atol=1e-6)
    amount = tmp_path / "amount.npy"
    np.save(amount, np.linspace(0, 1, 10))
    ran(*pose, "--amount", amount, "-o", tmp_path / "all.npy")
    ran(*pose, "--amount", amount, "-o", tmp_path / "by_{mesh}.npy")
    np.testing.assert_allclose(np.load(tmp_path / "by_sleeve.npy"), np.load(tmp_path / "all.npy")[4:7], atol=1e-6)
    assert json.loads(ran("info", path, "--json"))["meshes"] == {"body": 4, "sleeve": 3, "ring": 3}
    assert json.loads(ran("info", path, "--mesh", "ring", "--json"))["meshes"] == {"ring": 3}
    refused = CliRunner().invoke(main, ["info", str(path), "--mesh", "rin"])
    assert "no mesh is named 'rin'; there are: body, sleeve, ring; did you mean 'ring'?" in refused.output


def test_frames_of_several_meshes(tmp_path: Path) -> None:
    """One behind the other, or in files or objects of their own."""
    path = dressed(shapes=True).save(tmp_path / "hero.glb")
    hero = sbs.load(path)
    bend = hero.animations["bend"]
    frames = ("deform", path, "--method", "SBS", "--animation", "bend", "--fps", "4")
    shapes = hero.shape_motion(bend)
    expected = np.array(
        [hero.skin.deform(bend.skinning_matrices(t), rest_positions=shapes.rest_positions(t)) for t in np.arange(5) / 4]
    )
    ran(*frames, "-o", tmp_path / "all.npy")
    np.testing.assert_allclose(np.load(tmp_path / "all.npy"), expected, rtol=0, atol=1e-6)
    ran(*frames, "-o", tmp_path / "run_{mesh}.npy")
    for part in hero.mesh.parts:
        found = np.load(tmp_path / f"run_{part.name}.npy")
        np.testing.assert_allclose(found, expected[:, part.vertices.start : part.vertices.stop], rtol=0, atol=1e-6)
    ran(*frames, "-o", tmp_path / "{mesh}_##.npy")
    np.testing.assert_allclose(np.load(tmp_path / "sleeve_03.npy"), expected[3, 4:7], rtol=0, atol=1e-6)
    ran(*frames, "-o", tmp_path / "run.glb")
    content, binary = opened(tmp_path / "run.glb")
    assert [node["name"] for node in content["nodes"]] == ["body", "sleeve", "ring"]

    def array(number: int) -> np.ndarray:
        accessor = content["accessors"][number]
        view = content["bufferViews"][accessor["bufferView"]]
        kind = "<f4" if accessor["componentType"] == 5126 else "<u4"
        rows = np.frombuffer(binary, kind, view["byteLength"] // 4, view["byteOffset"])
        return rows.reshape(accessor["count"], -1)

    for part, mesh in zip(hero.mesh.parts, content["meshes"], strict=True):
        primitive = mesh["primitives"][0]
        first = array(primitive["attributes"]["POSITION"])
        shape_positions = [first, *(first + array(target["POSITION"]) for target in primitive["targets"])]
        np.testing.assert_allclose(shape_positions, expected[:, part.vertices], rtol=0, atol=1e-6)
        assert array(primitive["indices"]).max() == len(part.vertices) - 1
        for target, moved in zip(primitive["targets"], shape_positions[1:], strict=True):
            accessor = content["accessors"][target["POSITION"]]
            np.testing.assert_allclose(accessor["min"], (moved - first).min(axis=0), atol=1e-6)
    channels = content["animations"][0]["channels"]
    assert [channel["target"] for channel in channels] == [{"node": node, "path": "weights"} for node in range(3)]


def test_usd_has_a_mesh_for_each(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    from pxr import Usd, UsdGeom

    builder = dressed(shapes=True)
    builder.json["nodes"][-1]["name"] = "skeleton"  # as another prim is called
    path = builder.save(tmp_path / "hero.glb")
    hero = sbs.load(path)
    hero.save(tmp_path / "hero.usdc")
    again = sbs.load(tmp_path / "hero.usdc")
    assert again.parts.names == hero.parts.names == ("body", "sleeve", "skeleton")
    assert [part.shapes for part in again.mesh.parts] == [part.shapes for part in hero.mesh.parts]
    expected, found = (
        each.skin.deform(
            each.animations["bend"].skinning_matrices(0.5),
            method="linear",
            rest_positions=each.shape_motion(each.animations["bend"]).rest_positions(0.5),
        )
        for each in (hero, again)
    )
    # Rotations and scales of joints have single and half precision.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    assert sbs.load(tmp_path / "hero.usdc", mesh="sleeve").skin.vertex_count == 3
    ran("deform", path, "--animation", "bend", "--fps", "4", "--method", "linear", "-o", tmp_path / "run.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "run.usdc"))
    assert stage.GetDefaultPrim().GetPath() == "/character"
    for part, name in zip(hero.mesh.parts, ("body", "sleeve", "skeleton"), strict=True):
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"/character/{name}"))
        points = np.array(mesh.GetPointsAttr().Get(2.0))
        np.testing.assert_allclose(points, expected[part.vertices], rtol=0, atol=1e-6)
        assert np.max(mesh.GetFaceVertexIndicesAttr().Get()) == len(part.vertices) - 1


def test_many_characters(tmp_path: Path) -> None:
    paths = [dressed().save(tmp_path / f"hero_{number}.glb") for number in range(3)]
    (tmp_path / "out").mkdir()
    output = ran("deform", *paths, "--animation", "bend", "--fps", "8", "-o", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"hero_{n}.pc2" for n in range(3)]
    assert output.count("9 frames of 10 vertices") == 3
    alone = tmp_path / "alone.pc2"
    ran("deform", paths[0], "--animation", "bend", "--fps", "8", "-o", alone)
    assert alone.read_bytes() == (tmp_path / "out" / "hero_2.pc2").read_bytes()
    ran("deform", *paths[:2], "-o", str(tmp_path / "new") + "/")
    assert (tmp_path / "new" / "hero_1.glb").exists()
    ran("deform", *paths[:2], "--animation", "bend", "--fps", "8", "-o", tmp_path / "{file}-{mesh}.mdd")
    assert {path.name for path in tmp_path.glob("*.mdd")} == {
        f"hero_{number}-{mesh}.mdd" for number in range(2) for mesh in ("body", "sleeve", "ring")
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hero.glb", "other.glb", "-o", "one.glb"], "of 2 files: a folder, or {file} in the name"),
        (["hero.glb", "again/hero.glb", "-o", "out/"], "hero.glb' would be written twice"),
        (
            ["hero.glb", "other.glb", "--center", "optimized", "--centers-cache", "c", "-o", "out/"],
            "--centers-cache is of one file, not of 2",
        ),
    ],
)
def test_many_characters_that_do_not_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("again", "out"):
        Path(folder).mkdir()
    for name in ("hero.glb", "other.glb", "again/hero.glb"):
        dressed().save(Path(name))
    result = CliRunner().invoke(main, ["deform", *arguments])
    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())


def test_names_of_meshes_lead_to_no_other_folder(tmp_path: Path) -> None:
    builder = dressed()
    names = ["../../out", "..", "a:b*?"]
    for node, name in zip([node for node in builder.json["nodes"] if "mesh" in node], names, strict=True):
        node["name"] = name
    path = builder.save(tmp_path / "hero.glb")
    (tmp_path / "in").mkdir()
    ran("deform", path, "-o", tmp_path / "in" / "{mesh}.npy")
    assert sorted(each.name for each in (tmp_path / "in").iterdir()) == ["_.._out.npy", "a_b__.npy", "mesh.npy"]
    ran("deform", path, "-o", tmp_path / "pose.obj")
    assert [line for line in (tmp_path / "pose.obj").read_text().splitlines() if line.startswith("o ")] == [
        f"o {name}" for name in names
    ]


def test_convert(tmp_path: Path) -> None:
    path = dressed(shapes=True).save(tmp_path / "hero.glb")
    output = ran("convert", path, "--weights", "uint16", "-o", tmp_path / "copy.glb")
    assert output.endswith("copy.glb: 3 meshes, 10 vertices, 3 joints, 1 animations\n")
    assert opened(tmp_path / "copy.glb")[0]["materials"] == [{"name": "cloth"}]
    assert len(ran("convert", path, "--mesh", "ring", "-o", tmp_path / "ring.glb").splitlines()) == 1
    assert sbs.load(tmp_path / "ring.glb").parts.names == ("ring",)
    refused = CliRunner().invoke(main, ["convert", str(path), "-o", str(tmp_path / "hero.fbx")])
    assert "'hero.fbx' does not end in .glb, " in " ".join(refused.output.split())
    if importlib.util.find_spec("pxr"):
        ran("convert", path, "-o", tmp_path / "hero.usda")
        assert sbs.load(tmp_path / "hero.usda").parts.names == ("body", "sleeve", "ring")


def test_a_character_of_a_second_skeleton_is_saved_with_the_rest_of_its_file(tmp_path: Path) -> None:
    builder = arm()
    ring = builder.primitive([[0, 0, 0], [0, 1, 0], [1, 0, 0]], [[0] * 4] * 3, [[1, 0, 0, 0]] * 3, material=0)
    builder.json["materials"] = [{"name": "gold"}]
    bone = builder.node(name="bone")
    builder.node(name="ring", mesh=builder.mesh(ring), skin=builder.skin([bone], [IDENTITY]))
    path = builder.save(tmp_path / "two.glb")
    second = sbs.load(path, mesh="ring")
    second.with_mesh(dataclasses.replace(second.mesh, positions=2 * second.mesh.positions)).save(tmp_path / "saved.glb")
    np.testing.assert_array_equal(
        sbs.load(tmp_path / "saved.glb", mesh="ring").mesh.positions, 2 * second.mesh.positions
    )
    for name in ("materials", "nodes"):
        assert opened(tmp_path / "saved.glb")[0][name] == builder.json[name]
    with pytest.warns(FileWarning, match="another skeleton"):
        assert sbs.load(tmp_path / "saved.glb").skin.vertex_count == 4
