# SPDX-License-Identifier: MIT
"""USD files beside usd-core itself: what UsdSkel bakes is what our linear blending computes."""

from __future__ import annotations

import multiprocessing
import os
import re
import struct
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gltf_builder import arm
from one_reader import OneReader

import sbs
from sbs.formats import apart, bake, sampling, usd
from sbs.rigging.content import FileError, FileWarning, Wanted
from sbs.support.extras import MissingExtraError

pytest.importorskip("pxr")
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, UsdUtils, Vt

DATA = resources.files("sbs.characters") / "data"
HAND = str(DATA / "hand.glb")


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.load(HAND)


@pytest.fixture(scope="module")
def process() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture
def one_reader(process: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of scenes, and not of the process that reads them."""
    monkeypatch.setattr(usd, "read_apart", OneReader(process))


reads_alike = pytest.mark.usefixtures("one_reader")


def baked(path: Path, times: list[float]) -> np.ndarray:
    """Points (F, V, 3) in the scene that UsdSkel bakes of the only mesh, at seconds."""
    stage = Usd.Stage.Open(str(path))
    rate = stage.GetTimeCodesPerSecond()
    assert UsdSkel.BakeSkinning(stage.Traverse(), Gf.Interval(0, max(times) * rate))
    mesh = next(UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh))
    frames = []
    for seconds in times:
        time = Usd.TimeCode(seconds * rate)
        points = np.array(mesh.GetPointsAttr().Get(time), np.float64)
        matrix = np.array(UsdGeom.Xformable(mesh).ComputeLocalToWorldTransform(time))
        frames.append(points @ matrix[:3, :3] + matrix[3, :3])
    return np.array(frames)


def rotation(axis: Any, degrees: float) -> Any:
    return Gf.Quatf(Gf.Rotation(Gf.Vec3d(*axis), degrees).GetQuat())


def asset(path: Path, method: str = "classicLinear") -> Usd.Stage:
    """All that a file may do otherwise: a node above, a bind transform of the mesh, quads, joints in another order."""
    stage = Usd.Stage.CreateNew(str(path))
    stage.SetTimeCodesPerSecond(10)
    root = UsdSkel.Root.Define(stage, "/hero")
    root.AddTranslateOp().Set((1, 2, 3))
    root.AddRotateXYZOp().Set((10, 20, 30))
    skeleton = UsdSkel.Skeleton.Define(stage, "/hero/bones")
    joints = ["hip", "hip/knee", "hip/knee/foot"]
    skeleton.CreateJointsAttr(joints)
    moved = [Gf.Matrix4d(1).SetTranslate((0, 0, z)) for z in (0, 1, 2)]
    skeleton.CreateBindTransformsAttr([Gf.Matrix4d(1).SetRotate(Gf.Rotation((0, 0, 1), 30)) * m for m in moved])
    skeleton.CreateRestTransformsAttr([moved[0], moved[1], moved[1]])
    animation = UsdSkel.Animation.Define(stage, "/hero/bones/walk")
    animation.CreateJointsAttr([joints[2], joints[0]])  # the knee rests
    for code, degrees in ((5, 0), (10, 80), (20, -40)):
        animation.CreateTranslationsAttr().Set([(0, 0, 1), (0.1 * code, 0, 0)], code)
        animation.CreateRotationsAttr().Set([rotation((0, 1, 0), degrees), rotation((1, 0, 0), degrees / 2)], code)
        animation.CreateScalesAttr().Set(Vt.Vec3hArray([(1, 1, 1)] * 2), code)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])

    mesh = UsdGeom.Mesh.Define(stage, "/hero/body")
    points = [(x, y, z) for z in np.linspace(-0.5, 2.5, 9) for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    mesh.CreatePointsAttr(points)
    rings = [
        [4 * r + i, 4 * r + (i + 1) % 4, 4 * r + 4 + (i + 1) % 4, 4 * r + 4 + i] for r in range(8) for i in range(4)
    ]
    mesh.CreateFaceVertexCountsAttr([4] * len(rings) + [3])
    mesh.CreateFaceVertexIndicesAttr([*np.ravel(rings).tolist(), 0, 1, 2])
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    binding.CreateJointsAttr([joints[1], joints[2], joints[0]])
    height = np.array(points)[:, 2]
    shares = np.stack([1 - np.abs(height - 1), np.clip(height - 1, 0, 1), np.clip(1 - height, 0, 1)], axis=1).clip(0)
    shares /= shares.sum(axis=1, keepdims=True)
    binding.CreateJointIndicesPrimvar(False, 3).Set([0, 1, 2] * len(points))
    binding.CreateJointWeightsPrimvar(False, 3).Set(shares.ravel().tolist())
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1).SetTranslate((0.25, 0, 0)))
    binding.CreateSkinningMethodAttr(method)
    stage.GetRootLayer().Save()
    return stage


@reads_alike
@pytest.mark.parametrize(
    ("suffix", "method"),
    [(".usdc", "classicLinear"), (".usda", "classicLinear"), (".usd", "classicLinear"), (".usdc", "dualQuaternion")],
)
def test_the_method_of_the_file_is_what_usdskel_bakes(tmp_path: Path, suffix: str, method: str) -> None:
    path = tmp_path / f"hero{suffix}"
    asset(path, method)
    hero = sbs.load(path)
    assert hero.options == ({"method": "dual_quaternion"} if method == "dualQuaternion" else {})
    assert hero.skeleton.names == ("hip", "knee", "foot")
    assert len(hero.mesh.triangles) == 65
    (walk,) = hero.animations
    assert (walk.name, walk.duration) == ("walk", 1.5)
    found = hero.skin.deform_many(walk.skinning_matrices([0, 0.5, 1.5]), **({"method": "linear"} | hero.options))
    # Points, weights and rotations of the file are float32, and so is the baked mesh, of size 6.
    np.testing.assert_allclose(found, baked(path, [0.5, 1, 2]), atol=3e-6)
    assert UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(str(path)), str(tmp_path / "hero.usdz"))
    assert sbs.load(tmp_path / "hero.usdz").skin.vertex_count == 36


@reads_alike
def test_stages_with_other_units_and_axes_are_read_in_meters_with_y_upward(tmp_path: Path) -> None:
    """As glTF has them; by the same points, labelled otherwise."""
    path = tmp_path / "hero.usda"
    stage = asset(path)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.GetRootLayer().Save()
    hero = sbs.load(path)
    matrices = hero.animations[0].skinning_matrices([0, 0.5, 1.5])
    turned = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]) / 100  # for rows: (x, y, z) to (x, z, -y)
    expected = baked(path, [0.5, 1, 2]) @ turned
    np.testing.assert_allclose(hero.skin.deform_many(matrices, method="linear"), expected, atol=3e-8)
    hero.save(tmp_path / "meters.usda")
    np.testing.assert_allclose(baked(tmp_path / "meters.usda", [0.5, 1, 2]), expected, atol=3e-8)
    again = Usd.Stage.Open(str(tmp_path / "meters.usda"))
    assert (UsdGeom.GetStageUpAxis(again), UsdGeom.GetStageMetersPerUnit(again)) == ("Y", 1.0)


@reads_alike
def test_the_time_of_a_shot(tmp_path: Path) -> None:
    """Frames 1001 to 1016 at 25 a second come back in characters and caches; the clip's own time begins with 0."""
    stage = asset(tmp_path / "hero.usda")
    stage.SetTimeCodesPerSecond(25)
    for name in ("translations", "rotations", "scales"):
        attribute = stage.GetAttributeAtPath(f"/hero/bones/walk.{name}")
        samples = {code: attribute.Get(code) for code in attribute.GetTimeSamples()}
        attribute.Clear()
        for code, value in samples.items():
            attribute.Set(value, code + 996)
    stage.GetRootLayer().Save()
    hero = sbs.load(tmp_path / "hero.usda")
    (walk,) = hero.animations
    assert (walk.frames(25), walk.first_frame(25), walk.rate) == (range(16), 1001, 25)
    hero.save(tmp_path / "again.usda")
    again = Usd.Stage.Open(str(tmp_path / "again.usda"))
    assert (again.GetTimeCodesPerSecond(), again.GetStartTimeCode(), again.GetEndTimeCode()) == (25, 1001, 1016)
    points = baked(tmp_path / "hero.usda", [1001 / 25, 1009 / 25])
    np.testing.assert_allclose(baked(tmp_path / "again.usda", [1001 / 25, 1009 / 25]), points, atol=3e-6)
    for suffix in ("usdc", "pc2", "mdd"):
        bake(tmp_path / f"a.{suffix}", hero.skin, walk, range(8, 10), fps=25, triangles=hero.mesh.triangles)
    cache = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    assert (cache.GetStartTimeCode(), cache.GetEndTimeCode()) == (1009, 1010)
    assert struct.unpack_from("<f", (tmp_path / "a.pc2").read_bytes(), 20) == (1009,)
    np.testing.assert_allclose(struct.unpack_from(">2f", (tmp_path / "a.mdd").read_bytes(), 8), [1009 / 25, 1010 / 25])


@reads_alike
@pytest.mark.parametrize("has_joints", [True, False])
def test_a_skeleton_that_moves_as_a_whole(tmp_path: Path, has_joints: bool) -> None:
    """A turntable, whose two samples are more than half a turn apart, below a node that moves."""
    path = tmp_path / "hero.usda"
    stage = asset(path)
    above = UsdGeom.Xform.Define(stage, "/world")
    move = above.AddTranslateOp()
    for code, x in ((5, 0.0), (20, 3.0)):
        move.Set((x, 0, 0), code)
    root = UsdGeom.Xformable(stage.GetPrimAtPath("/hero"))
    root.ClearXformOpOrder()
    turn = root.AddRotateYOp()
    for code, degrees in ((5, 0.0), (20, 300.0)):
        turn.Set(degrees, code)
    if not has_joints:
        stage.RemovePrim("/hero/bones/walk")
    edit = Usd.NamespaceEditor(stage)
    edit.MovePrimAtPath("/hero", "/world/hero")
    assert edit.ApplyEdits()
    stage.GetRootLayer().Save()
    hero = sbs.load(path)
    codes = np.array([5, 10, 20]) if has_joints else np.linspace(5, 20, 16)  # points are baked at samples of joints
    found = hero.skin.deform_many(hero.animations[0].skinning_matrices((codes - 5) / 10), method="linear")
    np.testing.assert_allclose(found, baked(path, (codes / 10).tolist()), atol=3e-6)


@reads_alike
def test_steps_stay_steps_and_nodes_above_joints_turn_as_they_do(tmp_path: Path) -> None:
    builder = arm()
    pivot = builder.node(children=[0], name="pivot")
    builder.json["nodes"][0]["translation"] = [1.0, 0.0, 0.0]
    half = float(np.sqrt(0.5))
    builder.animation(
        (pivot, "rotation", [0.0, 1.0, 2.0], [[0, 0, 0, 1], [0, 0, 0.866025, 0.5], [0, 0, 0.866025, -0.5]])
    )
    keys = [[0, 0, 0, 1], [0, 0, half, half], [0, 0, 0, 1]]
    builder.animation((1, "rotation", [0.0, 1.0, 2.0], keys), interpolation="STEP")
    hero = sbs.load(builder.save(tmp_path / "arm.glb"))
    hero.save(tmp_path / "arm.usda")
    again = sbs.load(tmp_path / "arm.usda")
    times = np.array([0.0, 0.25, 0.5, 0.99, 1.0, 1.37, 1.99, 2.0])
    for ours, theirs in zip(hero.animations, again.animations, strict=True):
        wanted = hero.skin.deform_many(ours.skinning_matrices(times), method="linear")
        found = again.skin.deform_many(theirs.skinning_matrices(times), method="linear")
        # joints may be elsewhere between samples by a share of the size that is smaller
        np.testing.assert_allclose(found, wanted, atol=3e-4 * float(np.ptp(hero.mesh.positions)))


def test_tangents_without_measure_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = arm()
    wild = np.random.default_rng(1).normal(size=(3 * 20, 4)).tolist()
    builder.animation((0, "rotation", list(range(20)), wild), interpolation="CUBICSPLINE")
    hero = sbs.load(builder.save(tmp_path / "arm.glb"))
    monkeypatch.setattr(sampling, "MOST", 1000, raising=False)
    times, matrices = sampling.sample(hero.animations[0], hero.animations[0].skinning_matrices, 1.0)
    assert 100 < len(times) * matrices.shape[1] <= 1000
    assert set(range(20)) <= set(times.tolist())


@reads_alike
def test_meshes_that_are_not_seen_normals_holes_and_moving_points(tmp_path: Path) -> None:
    path = tmp_path / "hero.usda"
    stage = asset(path)
    body = stage.GetPrimAtPath("/hero/body")
    for name, purpose in (("guide", UsdGeom.Tokens.guide), ("hidden", UsdGeom.Tokens.default_)):
        Sdf.CopySpec(stage.GetRootLayer(), "/hero/body", stage.GetRootLayer(), f"/hero/{name}")
        other = UsdGeom.Imageable(stage.GetPrimAtPath(f"/hero/{name}"))
        other.CreatePurposeAttr(purpose)
    other.MakeInvisible()
    mesh = UsdGeom.Mesh(body)
    mesh.CreateHoleIndicesAttr([0, 5])
    mesh.CreateNormalsAttr([(0, 0, 1)] * 36)
    mesh.SetNormalsInterpolation("vertex")
    normals = UsdGeom.PrimvarsAPI(body).CreatePrimvar("normals", Sdf.ValueTypeNames.Normal3fArray, "vertex")
    normals.Set([(1, 0, 0)] * 36)
    points = mesh.GetPointsAttr().Get()
    for code in (5, 10):
        mesh.GetPointsAttr().Set([(x + code - 5, y, z) for x, y, z in points], code)
    stage.GetRootLayer().Save()
    with (
        pytest.warns(FileWarning, match="/hero/body: its points move"),
        pytest.warns(FileWarning, match="pictures do not show them: /hero/guide, /hero/hidden"),
    ):
        hero = sbs.load(path)
    assert [part.name for part in hero.mesh.parts] == ["body"]
    assert len(hero.mesh.triangles) == 65 - 4
    assert UsdGeom.PrimvarsAPI(body).RemovePrimvar("normals")
    stage.GetRootLayer().Save()
    with pytest.warns(FileWarning):
        other_normals = sbs.load(path).mesh.normals
    assert hero.mesh.normals is not None and other_normals is not None
    np.testing.assert_allclose((hero.mesh.normals * other_normals).sum(axis=1), 0.0, atol=1e-6)  # x and z


@reads_alike
def test_dual_quaternions_come_back(tmp_path: Path) -> None:
    asset(tmp_path / "hero.usda", "dualQuaternion")
    sbs.load(tmp_path / "hero.usda").save(tmp_path / "again.usda")
    assert sbs.load(tmp_path / "again.usda").options == {"method": "dual_quaternion"}


@reads_alike
def test_each_mesh_keeps_its_method(tmp_path: Path) -> None:
    stage = asset(tmp_path / "hero.usda", "dualQuaternion")
    assert Sdf.CopySpec(stage.GetRootLayer(), "/hero/body", stage.GetRootLayer(), "/hero/coat")
    UsdSkel.BindingAPI(stage.GetPrimAtPath("/hero/coat")).GetSkinningMethodAttr().Set("classicLinear")
    stage.GetRootLayer().Save()
    hero = sbs.load(tmp_path / "hero.usda")
    hero.save(tmp_path / "again.usda")
    for character in (hero, sbs.load(tmp_path / "again.usda")):
        matrices = character.animations[0].skinning_matrices(0.5)
        body, coat = (
            character.skin.deform(matrices, **character.options)[part.vertices] for part in character.mesh.parts
        )
        skin = character.parts["body"].skin
        np.testing.assert_allclose(body, skin.deform(matrices, method="dual_quaternion"), atol=1e-12)
        np.testing.assert_allclose(coat, skin.deform(matrices, method="linear"), atol=1e-12)


def blend_shapes(stage: Usd.Stage) -> None:
    """Two blend shapes of the mesh, of some points and of all, whose weights change beside the joints."""
    mesh = UsdGeom.Mesh.Get(stage, "/hero/body")
    binding = UsdSkel.BindingAPI(mesh.GetPrim())
    count = len(mesh.GetPointsAttr().Get())
    dice = np.random.default_rng(3)
    for name, points in (("bulge", [3, 7, 20]), ("all", None)):
        shape = UsdSkel.BlendShape.Define(stage, f"/hero/body/{name}")
        rows = dice.normal(size=(count if points is None else len(points), 3)) / 4
        shape.CreateOffsetsAttr([tuple(row) for row in rows.tolist()])
        if points is not None:
            shape.CreatePointIndicesAttr(points)
    binding.CreateBlendShapesAttr(["bulge", "all"])
    binding.CreateBlendShapeTargetsRel().SetTargets(["/hero/body/bulge", "/hero/body/all"])
    animation = UsdSkel.Animation.Get(stage, "/hero/bones/walk")
    animation.CreateBlendShapesAttr(["all", "other", "bulge"])
    for code, weights in ((5, [0, 0, 1]), (10, [0.5, 1, -0.25]), (20, [1, 0, 0])):
        animation.CreateBlendShapeWeightsAttr().Set(weights, code)
    stage.GetRootLayer().Save()


@reads_alike
@pytest.mark.parametrize("clips", [[], ["other"], ["walk"]])
def test_weights_of_blend_shapes_at_rest_come_back(tmp_path: Path, clips: list[str]) -> None:
    """A still face has its weights in an animation of no joints, as Blender writes it; it is no clip."""
    stage = asset(tmp_path / "hero.usda")
    blend_shapes(stage)
    animation = UsdSkel.Animation.Get(stage, "/hero/bones/walk")
    if "other" in clips:
        assert Sdf.CopySpec(stage.GetRootLayer(), "/hero/bones/walk", stage.GetRootLayer(), "/hero/bones/other")
    if "walk" not in clips:
        animation.GetJointsAttr().Set([])
        animation.GetBlendShapeWeightsAttr().Clear()
    animation.GetBlendShapeWeightsAttr().Set([0.25, 1, 0.5])
    stage.GetRootLayer().Save()
    hero = sbs.load(tmp_path / "hero.usda")
    hero.save(tmp_path / "again.usda")
    for character in (hero, sbs.load(tmp_path / "again.usda")):
        assert [shape.weight for shape in character.mesh.shapes] == [0.5, 0.25]
        assert [clip.name for clip in character.animations] == clips


def far_key(stage: Usd.Stage) -> None:
    """Caches could not count to it."""
    rotations = UsdSkel.Animation.Get(stage, "/hero/bones/walk").GetRotationsAttr()
    rotations.Set(rotations.Get(5), -1e300)


def bulge(stage: Usd.Stage) -> UsdSkel.BlendShape:
    return UsdSkel.BlendShape.Get(stage, "/hero/body/bulge")


@reads_alike
def test_blend_shapes_are_what_usdskel_bakes(tmp_path: Path) -> None:
    path = tmp_path / "hero.usdc"
    blend_shapes(asset(path))
    hero = sbs.load(path)
    assert [shape.name for shape in hero.mesh.shapes] == ["bulge", "all"]
    (walk,) = hero.animations
    shapes = hero.shape_motion(walk)
    np.testing.assert_allclose(shapes.weights([0, 0.5, 1.5]), np.array([[1, 0], [-0.25, 0.5], [0, 1]]))
    expected = baked(path, [0.5, 1, 2])
    for seconds, points in zip((0, 0.5, 1.5), expected, strict=True):
        rest = shapes.rest_positions(seconds)
        found = hero.skin.deform(walk.skinning_matrices(seconds), rest_positions=rest, method="linear")
        np.testing.assert_allclose(found, points, atol=3e-6)  # float32, of size 6


@reads_alike
def test_between_samples_joints_move_as_usdskel_has_them(tmp_path: Path) -> None:
    stage = asset(tmp_path / "hero.usdc")
    hero = sbs.load(tmp_path / "hero.usdc")
    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root.Get(stage, "/hero"), Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(UsdSkel.Skeleton.Get(stage, "/hero/bones"))
    for code in (5.5, 7, 13.5, 19):
        world = query.ComputeJointWorldTransforms(UsdGeom.XformCache(code))
        expected = np.array(world).transpose(0, 2, 1)
        pose = hero.animations[0].skinning_matrices((code - 5) / 10) @ hero.skeleton.bind_matrices
        np.testing.assert_allclose(pose, expected, atol=2e-6)  # rotations are float32


@pytest.mark.parametrize("suffix", [".usdc", ".usda"])
def test_round_trip(hand: sbs.Character, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"hand{suffix}"
    uvs = np.random.default_rng(4).random((1360, 2), np.float32)
    hand = replace(hand, mesh=replace(hand.mesh, uvs=uvs))
    hand.save(path)
    again = sbs.load(path)
    times = np.linspace(0, 1, 9)
    expected = hand.skin.deform_many(hand.animations[0].skinning_matrices(times), method="linear")
    for method in ("linear", "spherical"):
        ours = hand.skin.deform_many(hand.animations[0].skinning_matrices(times), method=method)
        found = again.skin.deform_many(again.animations["fist"].skinning_matrices(times), method=method)
        np.testing.assert_allclose(found, ours, atol=1e-6 * float(np.ptp(ours)))
    np.testing.assert_allclose(baked(path, times.tolist()), expected, atol=1e-6 * float(np.ptp(expected)))
    assert sorted(again.skeleton.names) == sorted(hand.skeleton.names)
    np.testing.assert_array_equal(again.mesh.triangles, hand.mesh.triangles)
    assert again.mesh.uvs is not None
    np.testing.assert_array_equal(again.mesh.uvs, uvs)


@reads_alike
def test_joints_keep_their_numbers(tmp_path: Path) -> None:
    """Poses are given by them. USD wants parents first; the hand has children first."""
    woman = sbs.samples.load("woman")
    woman.save(tmp_path / "woman.usdc")
    assert sbs.load(tmp_path / "woman.usdc").skeleton.names == woman.skeleton.names


@reads_alike
def test_names_that_are_no_identifiers(tmp_path: Path) -> None:
    bind = np.tile(np.eye(4), (4, 1, 1))
    names = ["腰 1", "a.b", "a b", "a_b"]
    skeleton = sbs.Skeleton([-1, 0, 0, 0], bind, names=names)
    mesh = sbs.Mesh(np.eye(3), np.array([[0, 1, 2]], np.int32), np.array([[1], [2], [3]], np.int32), np.ones((3, 1)))
    sbs.Character.from_mesh(mesh, skeleton, name="1 hero/é").save(tmp_path / "a.usda")
    again = sbs.load(tmp_path / "a.usda")
    assert again.skeleton.names == tuple(names)
    moved = again.skin.deform([np.eye(4) * [k, k, k, 1] for k in range(1, 5)], method="linear")
    np.testing.assert_array_equal(moved, np.eye(3) * [[2], [3], [4]])


@reads_alike
def test_names_of_meshes_shapes_and_animations_come_back(hand: sbs.Character, tmp_path: Path) -> None:
    """They are no identifiers either, and some differ in nothing else; prims have identifiers, for other programs."""
    first, last = "Größe 1", "Größe-1"
    words = ["open mouth", "open_mouth", "skeleton", "日本"]
    moved = [np.array([vertex], np.int32) for vertex in (0, 1, 700, 701)]
    shapes = [sbs.BlendShape(word, vertex, np.ones((1, 3))) for word, vertex in zip(words, moved, strict=True)]
    parts = (sbs.MeshPart(first, range(700), range(2)), sbs.MeshPart(last, range(700, 1360), range(2, 4)))
    within = [(hand.mesh.triangles < 700).sum(axis=1) == corners for corners in (0, 3)]
    triangles = hand.mesh.triangles[np.logical_or(*within)]
    mesh = replace(hand.mesh, triangles=triangles, shapes=tuple(shapes), parts=parts)
    clips = [replace(hand.animations[0], name=name) for name in ("Armature|Grüße 1", "skeleton")]
    written = replace(hand, mesh=mesh, animations=sbs.Animations(clips), source=None)
    written.save(tmp_path / "a.usda")
    again = sbs.load(tmp_path / "a.usda")
    assert again.animations.names == written.animations.names
    assert [part.name for part in again.mesh.parts] == [first, last]
    assert [shape.name for shape in again.mesh.shapes] == words
    assert sbs.load(tmp_path / "a.usda", mesh=last).mesh.parts[0].name == last
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    prims = {prim.GetName() for prim in stage.Traverse()}
    assert {"Gr____e_1", "Gr____e_1_2", "open_mouth", "open_mouth_2", "skeleton", "______"} <= prims


def test_a_cache_of_points(hand: sbs.Character, tmp_path: Path) -> None:
    path = tmp_path / "fist.usdc"
    bake(path, hand.skin, hand.animations[0], range(2, 20), fps=30, triangles=hand.mesh.triangles)
    stage = Usd.Stage.Open(str(path))
    assert (stage.GetTimeCodesPerSecond(), stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (30, 2, 19)
    mesh = UsdGeom.Mesh(stage.GetDefaultPrim())
    assert mesh.GetPointsAttr().GetTimeSamples() == list(range(2, 20))
    np.testing.assert_array_equal(np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3), hand.mesh.triangles)
    for code in (2, 11, 19):
        positions, normals = hand.skin.deform(hand.animations[0].skinning_matrices(code / 30), normals=True)
        np.testing.assert_array_equal(mesh.GetPointsAttr().Get(code), positions)
        np.testing.assert_array_equal(mesh.GetNormalsAttr().Get(code), normals)
        np.testing.assert_array_equal(mesh.GetExtentAttr().Get(code), [positions.min(axis=0), positions.max(axis=0)])


@pytest.mark.applies(os.name != "nt", reason="no such limit")
@pytest.mark.parametrize("what", [["convert"], ["deform", "--animation", "fist", "--frames", "0:9", "--fps", "24"]])
def test_a_disk_that_is_full(tmp_path: Path, what: list[str]) -> None:
    """The system's error, which names the file that was asked for."""
    path = str(tmp_path / "a.usdc")
    command = [what[0], HAND, *what[1:], "-o", path]
    code = textwrap.dedent(f"""
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        from sbs.cli import main
        main({command!r})
    """)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2, result.stderr
    assert result.stderr.splitlines() == [f"Error: {path}: File too large"]
    assert not list(tmp_path.iterdir())


def test_prims_without_end(tmp_path: Path) -> None:
    """2 kB: each prim has two children that refer to the one before."""
    prims = ['def Scope "p0" {\n}']
    for number in range(1, 25):
        children = [f'def "{name}" (\n references = </p{number - 1}>\n) {{\n}}' for name in "ab"]
        prims.append(f'def "p{number}" {{\n{children[0]}\n{children[1]}\n}}')
    path = tmp_path / "hero.usda"
    path.write_text("#usda 1.0\n" + "\n".join(prims) + "\n")
    with pytest.raises(FileError, match="asks for more memory than a file of its size can need"):
        sbs.load(path)


def test_nothing_is_left_of_a_cache_that_fails(hand: sbs.Character, tmp_path: Path) -> None:
    path = tmp_path / "fist.usdc"
    path.write_bytes(b"before")

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        triangles = hand.mesh.triangles
        bake(path, hand.skin, hand.animations[0], range(2000), fps=2000, triangles=triangles, progress=stop)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.applies(hasattr(os, "mkfifo"), reason="pipes that are files")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """An archive may have one, and to open it would last until somebody writes to it."""
    os.mkfifo(tmp_path / "pipe.usda")
    path = tmp_path / "hero.usda"
    path.write_text("#usda 1.0\n(\n subLayers = [@./pipe.usda@]\n)\n")
    with pytest.raises(FileError, match="no regular file"):
        sbs.load(path)


def package(layer: Path) -> Path:
    """A USDZ with a layer, which begins at a multiple of 64."""
    path = layer.with_suffix(".usdz")
    info = zipfile.ZipInfo(layer.name)
    padding = -(30 + len(layer.name) + 4) % 64
    info.extra = b"\0\0" + padding.to_bytes(2, "little") + bytes(padding)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(info, layer.read_bytes())
    return path


def test_names_that_are_no_text(hand: sbs.Character, tmp_path: Path) -> None:
    """Found by changing bytes of a USDZ: "its reader ended by status 1" was all that was told."""
    layer = tmp_path / "hand.usdc"
    hand.save(layer)
    data = layer.read_bytes()
    word = next(word for word in re.findall(rb"[a-z]{4,}", data) if word.decode() in " ".join(hand.skeleton.names))
    layer.write_bytes(data.replace(word, word[:2] + b"\xff" + word[3:]))
    for path in (layer, package(layer)):
        with pytest.raises(FileError, match="damaged: a name that is no text: "):
            sbs.load(path)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        *(
            (f"{key} = @{reference}@", "only files in its folder")
            for key in ("references", "payload", "subLayers")
            for reference in ("/etc/passwd", "../secret.usda", "https://example.org/a.usd", "below/../../a.usd")
        ),
        ("subLayers = [@[x/../../secret.usda@]", "only files in its folder"),
        ('subLayers = [@`"${D}/secret.usda"`@]', "by an expression"),
        ("subLayers = [@../secret.usda:SDF_FORMAT_ARGS:a=b@]", "only files in its folder"),
        ("subLayers = [@../secret.usdz[secret.usda]@]", "only files in its folder"),
        ("subLayers = [@./[a]/../../secret.usda@]", "only files in its folder"),
    ],
)
@reads_alike
def test_files_in_other_folders_are_not_read(tmp_path: Path, how: str, message: str) -> None:
    """A name with a bracket is that of a folder, and one that is an expression becomes a path only when it opens."""
    asset(tmp_path / "secret.usda")
    package(tmp_path / "secret.usda")
    path = tmp_path / "inside" / "hero.usda"
    path.parent.mkdir()
    (path.parent / "[x").mkdir()
    variables = 'expressionVariables = {\n string D = ".."\n}\n'
    if how.startswith("subLayers"):
        how = how if "[" in how else how.replace("@", "[@", 1) + "]"
        path.write_text(f"#usda 1.0\n(\n{variables} {how}\n)\n")
    else:
        path.write_text(f'#usda 1.0\ndef "a" (\n    {how}\n)\n{{\n}}\n')
    with pytest.raises(FileError, match=message):
        sbs.load(path)


def test_files_where_the_program_runs_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asset(tmp_path / "secret.usda")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "inside" / "hero.usda"
    path.parent.mkdir()
    path.write_text("#usda 1.0\n(\n subLayers = [@secret.usda@]\n)\n")
    with pytest.raises(FileError, match="only files in its folder"):
        sbs.load(path)


@reads_alike
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.RemovePrim("/hero/body"), "no mesh is bound"),
        (lambda s: UsdGeom.Mesh.Get(s, "/hero/body").GetFaceVertexIndicesAttr().Set([0] * 130 + [99]), "names a point"),
        (lambda s: UsdGeom.Mesh.Get(s, "/hero/body").GetFaceVertexCountsAttr().Set([4]), "131 corners of faces, 4 are"),
        (lambda s: UsdGeom.Mesh.Get(s, "/hero/body").GetPointsAttr().Set([(0, 0, 0)]), "names a point"),
        (lambda s: UsdSkel.Skeleton.Get(s, "/hero/bones").GetJointsAttr().Set(["a", "b"]), "bind transforms|joint"),
        (lambda s: s.GetPrimAtPath("/hero/body").GetAttribute("primvars:skel:jointIndices").Set([7] * 108), "range"),
        (lambda s: s.SetTimeCodesPerSecond(0), "time codes per second"),
        (far_key, "begins at frame"),
        (lambda s: bulge(s).GetPointIndicesAttr().Set([3, 7]), "3 offsets"),
        (lambda s: bulge(s).GetPointIndicesAttr().Set([3, 7, 7]), "each once"),
        (lambda s: bulge(s).GetPointIndicesAttr().Set([3, 7, 99]), "range"),
        (lambda s: s.RemovePrim("/hero/body/all"), "is no blend shape"),
    ],
)
def test_damaged_assets(tmp_path: Path, change: Any, message: str) -> None:
    stage = asset(tmp_path / "hero.usdc")
    blend_shapes(stage)
    change(stage)
    stage.GetRootLayer().Save()
    with pytest.raises(FileError, match=message) as told:
        sbs.load(tmp_path / "hero.usdc")
    assert "hero.usdc" in str(told.value)


@pytest.mark.parametrize(
    ("old", "new"), [("point3f[] points", "point points"), ("int[] faceVertexCounts", "whole faceVertexCounts")]
)
def test_values_of_other_types(tmp_path: Path, old: str, new: str) -> None:
    """A TypeError in the process of the reader."""
    path = tmp_path / "arm.usda"
    path.write_text((Path(__file__).parents[1] / "data" / "arm.usda").read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=r"arm\.usda: damaged: a value of another type"):
        sbs.load(path)


@reads_alike
def test_other_options_are_refused(hand: sbs.Character, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="USD has 'float32' alone"):
        hand.save(tmp_path / "a.usdc", weights="uint8")
    asset(tmp_path / "hero.usdc")
    with pytest.raises(FileError, match="there is no skin 1, the file has 1"):
        sbs.load(tmp_path / "hero.usdc", skin=1)


def test_without_the_package_it_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asset(tmp_path / "hero.usdc")
    monkeypatch.setitem(sys.modules, "pxr.UsdSkel", None)
    with pytest.raises(MissingExtraError, match=r"USD files need usd-core, .* pip install usd-core"):
        sbs.load(tmp_path / "hero.usdc")


def test_a_crash_of_the_library_is_an_error_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that reads is killed as by a fault of its own."""
    path = tmp_path / "a.usdc"
    path.write_bytes(b"PXR-USDC")
    code = 'import os, signal\nNEEDS = "os", "Python", "USD files"\ndef scene(path, wanted):\n    {}\n'
    for body, message in (
        ("os.kill(os.getpid(), signal.SIGSEGV)", "damaged: its reader ended by SIGSEGV"),
        ("raise KeyError(1)", "damaged: its reader ended by status 1: KeyError: 1"),
        ("return bytearray(1 << 40)", "asks for more memory"),
        ("open(os.environ['SBS_RESULT'], 'wb').write(b'x'); os._exit(0)", "nothing that makes sense"),
    ):
        (tmp_path / "faulty.py").write_text(code.format(body))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv("SBS_RESULT", str(tmp_path / "nowhere"))
        with pytest.raises(FileError, match=message):
            apart.read_apart("faulty", path, Wanted())


@reads_alike
def test_a_skin_of_gltf_goes_through(tmp_path: Path) -> None:
    """A rig with a scaled node above its joints."""
    builder = arm()
    builder.node(children=[0], scale=[2, 2, 2], rotation=[0, 0, 0.6, 0.8])
    builder.animation((1, "rotation", [0, 1], [[0, 0, 0, 1], [0, 0.6, 0, 0.8]]))
    character = sbs.load(builder.save(tmp_path / "arm.glb"))
    character.save(tmp_path / "arm.usdc")
    again = sbs.load(tmp_path / "arm.usdc")
    for seconds in (0, 0.5, 1):
        expected = character.skin.deform(character.animations[0].skinning_matrices(seconds))
        found = again.skin.deform(again.animations[0].skinning_matrices(seconds))
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_file_that_blender_is_tested_with_is_what_is_written(tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "data"
    sbs.load(folder / "arm.glb").save(tmp_path / "arm.usda")
    number = r"-?\d+(\.\d+)?(e-?\d+)?"
    written, kept = ((place / "arm.usda").read_text() for place in (tmp_path, folder))
    assert re.sub(number, "#", written) == re.sub(number, "#", kept)
    found, expected = (np.array([float(match[0]) for match in re.finditer(number, text)]) for text in (written, kept))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@reads_alike
@pytest.mark.parametrize(
    "text",
    [
        'def "a" (\n references = @./hero.usda@</a>\n)\n{\n}\n',
        "(\n subLayers = [@./hero.usda@]\n)\n",
        'def "a" (\n references = </a/b>\n)\n{\n def "b" (\n references = </a>\n )\n {\n }\n}\n',
    ],
)
def test_references_in_a_circle(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hero.usda"
    path.write_text(f"#usda 1.0\n{text}")
    with pytest.raises(FileError, match=r"no mesh is bound|damaged"):
        sbs.load(path)


@reads_alike
def test_links_out_of_the_folder_and_value_clips_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    asset(tmp_path / "outside.usda")
    asset(folder / "parts.usdc")
    path = folder / "hero.usda"
    text = '#usda 1.0\ndef "a" (\n references = @./link/outside.usda@</hero>\n)\n{\n}\n'
    path.write_text(text.replace("link/outside.usda", "parts.usdc"))
    assert sbs.load(path).skin.vertex_count == 36
    path.write_text(text)
    with pytest.raises(FileError, match="only files in its folder are read"):
        sbs.load(path)
    stage = asset(folder / "clips.usda")
    Usd.ClipsAPI(stage.GetPrimAtPath("/hero/body")).SetClipAssetPaths([Sdf.AssetPath("/outside.usda")])
    stage.GetRootLayer().Save()
    with pytest.raises(FileError, match="/hero/body has value clips"):
        sbs.load(folder / "clips.usda")
