# SPDX-License-Identifier: MIT
"""Vertices without weights: no joint takes them to the scene, which files may have turned, moved and scaled."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fbx_builder import cuff, numbers, tube
from gltf_builder import Builder, arm

import sbs
from sbs.options import MethodOptions

METHODS: list[MethodOptions] = [
    {"method": "linear"},
    {"method": "dual_quaternion"},
    {"method": "rigid"},
    {"method": "spherical"},
    {"method": "spherical", "rotation": "average"},
    {"method": "spherical", "center": "weighted"},
    {"method": "spherical", "center": "optimized"},
]

# Of a turn by -90 degrees about x: y goes to -z, z to y.
TURN = [-np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
TURNED = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])

# Rotations of the file are float32; the arm is 3 long.
CLOSE = 1e-6


def turned_arm(weights: Any = ((1, 0, 0, 0), (1, 0, 0, 0), (0.5, 0.5, 0, 0), (0, 0, 0, 0)), **above: Any) -> Builder:
    """The arm below a node, its last vertex without weights; in a second the elbow turns, and so does the shoulder."""
    builder = arm()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["WEIGHTS_0"] = builder.accessor(weights)
    attributes["NORMAL"] = builder.accessor([[0, 0.6, 0.8]] * 4)
    attributes["TANGENT"] = builder.accessor([[1, 0, 0, 1]] * 4)
    half = [0, 0, np.sin(0.5), np.cos(0.5)]
    builder.animation(*((joint, "rotation", [0.0, 1.0], [[0, 0, 0, 1], half]) for joint in (0, 1)), name="bend")
    builder.node(name="armature", children=[0, 2], **({"rotation": TURN} | above))
    return builder


def read(path: Path) -> sbs.Character:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        return sbs.load(path)


def loaded(builder: Builder, folder: Path) -> sbs.Character:
    return read(builder.save(folder / "arm.glb"))


def check(character: sbs.Character, expected: Any) -> None:
    """The last vertex is there at rest and in the animation, however it is deformed and posed."""
    (animation,) = character.animations
    poses = [character.rest_matrices, animation.skinning_matrices(0.0), animation.skinning_matrices(0.7)]
    turns = np.zeros((len(character.skeleton), 3))
    turns[:2] = 0.1, 0.2, 0.3  # shoulder and elbow
    poses.append(character.skinning_matrices(turns))
    skin = sbs.Skin.quietly(**character.skin._arguments() | {"centers": character.mesh.positions[::-1]})
    for options in METHODS:
        for pose in poses:
            np.testing.assert_allclose(
                skin.deform(pose, **options)[3], expected, err_msg=str(options), rtol=0, atol=CLOSE
            )


def test_they_are_in_the_scene(tmp_path: Path) -> None:
    """(3, 1, 0) is turned to (3, 0, -1), beside those that joints take there."""
    character = loaded(turned_arm(), tmp_path)
    check(character, [3, 0, -1])
    np.testing.assert_allclose(
        character.skin.deform(character.rest_matrices)[:2], [[0, 0, 0], [0, 0, -1]], rtol=0, atol=CLOSE
    )


def test_normals_and_tangents_turn_with_them(tmp_path: Path) -> None:
    character = loaded(turned_arm(), tmp_path)
    mesh = character.mesh
    assert mesh.tangents is not None
    _, normals = character.skin.deform(character.rest_matrices, normals=True)
    np.testing.assert_allclose(normals, [[0, 0.8, -0.6]] * 4, rtol=0, atol=CLOSE)
    found = sbs.tangents.deformed_tangents(character.skin, mesh.tangents, character.rest_matrices, normals)
    np.testing.assert_allclose(found, [[1, 0, 0, 1]] * 4, rtol=0, atol=CLOSE)


def test_weights_that_are_dropped(tmp_path: Path) -> None:
    """NaN alone is no weight."""
    weights = [[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [np.nan, np.nan, 0, 0]]
    check(loaded(turned_arm(weights), tmp_path), [3, 0, -1])


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        ({"scale": [100, 100, 100]}, [300, 0, -100]),
        pytest.param(
            {"rotation": [0, 0, 0, 1], "scale": [1, 2, 3]},
            [3, 2, 0],
            marks=pytest.mark.filterwarnings("ignore:.*different scales along its axes"),
        ),
        ({"rotation": [0, 0, 0, 1], "scale": [-1, 1, 1]}, [-3, 1, 0]),
        ({"translation": [5, 6, 7]}, [8, 6, 6]),
    ],
)
def test_nodes_that_scale_mirror_and_move(tmp_path: Path, above: dict[str, Any], expected: list[float]) -> None:
    character = loaded(turned_arm(**above), tmp_path)
    found = [character.skin.deform(character.rest_matrices, **options)[3] for options in METHODS[:6]]
    np.testing.assert_allclose(found, [expected] * 6, atol=1e-6 * max(map(abs, expected)))


def test_those_of_one_of_two_skins(tmp_path: Path) -> None:
    """The second mesh was bound 5 up, by other inverse bind matrices: all its vertices come to where the first lies."""
    builder = turned_arm()
    up = np.eye(4)
    up[1, 3] = 5
    along = np.eye(4)
    along[0, 3] = -2
    primitive = builder.primitive([[3, -4, 0]] * 3, [[0, 1, 0, 0]] * 3, [[0.5, 0.5, 0, 0]] * 2 + [[0] * 4])
    builder.node(mesh=builder.mesh(primitive), skin=builder.skin([0, 1], [up, along @ up]))
    character = loaded(builder, tmp_path)
    np.testing.assert_allclose(character.skin.deform(character.rest_matrices)[4:], [[3, 0, -1]] * 3, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("name", ["kept.glb", "new.glb", "new.usda"])
def test_saved_files(tmp_path: Path, name: str) -> None:
    """Into the file that it is from, whose mesh stays as it is there, and without that."""
    if name.endswith("usda"):
        pytest.importorskip("pxr")
    character = loaded(turned_arm(), tmp_path)
    if name.startswith("new"):
        vars(character)["source"] = None
    character.save(tmp_path / name)
    again = read(tmp_path / name)
    check(again, [3, 0, -1])
    matrices = [each.animations[0].skinning_matrices(0.7) for each in (character, again)]
    np.testing.assert_allclose(again.skin.deform(matrices[1]), character.skin.deform(matrices[0]), rtol=0, atol=CLOSE)


@pytest.mark.parametrize("name", ["new.glb", "new.usda"])
def test_other_programs_see_them_in_new_files(tmp_path: Path, name: str) -> None:
    """Unweighted vertices, which programs take to 0, follow a joint that stands still."""
    if name.endswith("usda"):
        pytest.importorskip("pxr")
    character = loaded(turned_arm(), tmp_path)
    vars(character)["source"] = None
    character.save(tmp_path / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = sbs.load(tmp_path / name)
    assert again.skeleton.names == (*character.skeleton.names, "unweighted")
    np.testing.assert_allclose(again.mesh.joint_weights.sum(axis=1), 1, rtol=0, atol=1e-7)
    if name.endswith("usda"):
        from pxr import Usd, UsdGeom, UsdSkel

        stage = Usd.Stage.Open(str(tmp_path / name))
        assert UsdSkel.BakeSkinning(UsdSkel.Root(stage.GetDefaultPrim()))
        (mesh,) = (UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh))
        for code in (0.0, 24.0):
            np.testing.assert_allclose(mesh.GetPointsAttr().Get(code)[3], [3, 0, -1], rtol=0, atol=CLOSE)


def test_blend_shapes_turn_with_them(tmp_path: Path) -> None:
    builder = turned_arm()
    builder.json["meshes"][0]["primitives"][0]["targets"] = [
        {"POSITION": builder.accessor([[0, 0, 0]] * 3 + [[0, 0, 2]])}
    ]
    builder.json["meshes"][0]["weights"] = [0.5]
    character = loaded(builder, tmp_path)
    rest = character.shape_motion().rest_positions()
    np.testing.assert_allclose(
        character.skin.deform(character.rest_matrices, rest_positions=rest)[3], [3, 1, -1], rtol=0, atol=CLOSE
    )


def test_those_of_usd(tmp_path: Path) -> None:
    """The root of the skeleton is turned once more: (3, 0, -1) goes to (3, -1, 0)."""
    pytest.importorskip("pxr")
    from pxr import Usd, UsdGeom

    path = tmp_path / "arm.usda"
    loaded(turned_arm(), tmp_path).save(path)
    stage = Usd.Stage.Open(str(path))
    UsdGeom.Xformable(stage.GetDefaultPrim()).AddRotateXOp().Set(-90.0)
    stage.GetRootLayer().Save()
    check(read(path), [3, -1, 0])


def test_those_of_fbx(tmp_path: Path) -> None:
    """The file's z is upward, its hip turned by 10 degrees about y since it was bound, at (1, 2, 3)."""
    pytest.importorskip("ufbx")
    bind = np.eye(4)
    bind[:3, 3] = 1, 2, 5
    bind[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    objects, links = cuff(bind)
    weighted = f"Indexes: {numbers(range(3))}\nWeights: {numbers([1.0, 1.0, 1.0])}"
    assert weighted in objects
    objects = objects.replace(weighted, f"Indexes: {numbers(range(2))}\nWeights: {numbers([1.0, 1.0])}")
    path = tmp_path / "tube.fbx"
    path.write_text(tube(more=(objects, links)))
    sine, cosine = np.sin(np.radians(10)), np.cos(np.radians(10))
    x, y, z = np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]]) @ [-1, 0, 2.5] + [1, 2, 3]
    character = read(path)
    found = character.skin.deform(character.rest_matrices, method="linear")[-1]
    np.testing.assert_allclose(found, [x, z, -y], atol=1e-6)
