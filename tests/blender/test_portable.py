# SPDX-License-Identifier: GPL-3.0-or-later
"""Portable objects: deformed by nodes; made, updated, made live again, and baked where nodes cannot do it."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import addon
import bpy
import muscled
import numpy as np
import pytest
import real_characters
import rigify_human
import rigs
from expected import deformed, error, kept_centers
from mathutils import Quaternion
from objects import ArmatureObject, Character, MeshObject, current_layer, current_scene, mesh_object, new_mesh

# Nodes have single precision, of which 6e-8 is lost in every operation: a difference of 1e-7 between joints is
# magnified by the distance of a center, for joint sets up to ten sizes in the poses below. The worst error is 1.3e-6.
TOLERANCE = 2e-6

# Earlier nodes cannot read bones.
pytestmark = pytest.mark.blender(since=(5, 1))


def make_character(bones: int = 4, center: str = "OPTIMIZED") -> Character:
    armature = rigs.make_armature(bones)
    tube = rigs.make_tube(bones)
    tube.parent = armature
    rigs.bind(tube, armature, center)
    rigs.turn(armature)
    return tube, armature


def make_portable(tube: MeshObject) -> bpy.types.NodesModifier:
    rigs.select([tube])
    assert addon.ops.make_portable() == {"FINISHED"}
    modifier: bpy.types.NodesModifier | None = portable().find(tube)
    assert modifier is not None and not tube.sbs.bound
    return modifier


def library_says(tube: MeshObject, armature: ArmatureObject, **options: Any) -> np.ndarray:
    """The mesh as the library deforms it, about the centers that are kept for it, if there are such."""
    modifier = portable().find(tube)
    centers = kept_centers(tube) if modifier is None else given_centers(modifier)
    if centers is not None:
        options = {"center": "optimized", "centers": centers, **options}
    return deformed(tube, armature, **options)


def given_centers(modifier: bpy.types.NodesModifier) -> np.ndarray | None:
    """The centers that nodes were given; of vertices that one bone moves, it does not matter which."""
    joints, weights = (nodes().get_input(modifier, name).data.attributes for name in ("Joint Sets", "Weights"))
    if "center" not in joints:
        return None
    found = np.empty((len(joints["center"].data), 3), np.float32)
    joints["center"].data.foreach_get("vector", found.ravel())
    is_influence, numbers = np.empty(len(found), bool), np.empty(len(weights["influence"].data), np.int32)
    joints["is_influence"].data.foreach_get("value", is_influence)
    weights["influence"].data.foreach_get("value", numbers)
    return found[is_influence][numbers].astype(np.float64)


def assert_right(tube: MeshObject, armature: ArmatureObject) -> None:
    assert error(rigs.evaluated(tube), library_says(tube, armature)) < TOLERANCE


def assert_passes(tube: MeshObject) -> None:
    np.testing.assert_array_equal(rigs.evaluated(tube), rigs.positions(tube.data))


def warnings(tube: MeshObject) -> list[str]:
    current_layer().update()
    modifier: bpy.types.NodesModifier = portable().find(tube)
    return [warning.message for warning in modifier.node_warnings]


def shapes_without_addon(folder: Path, names: Sequence[str], frames: Sequence[int]) -> list[list[np.ndarray]]:
    """The vertices of objects in frames of this file, in another process that knows neither the add-on nor the library.

    In a folder, for each frame the shape of each object.
    """
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "without.blend"))
    script = """
import json, sys, bpy, numpy as np
folder, names, frames = sys.argv[1], *map(json.loads, sys.argv[2:])
bpy.ops.wm.open_mainfile(filepath=folder + "/without.blend")
assert not hasattr(bpy.types.Object, "sbs")
for frame in frames:
    bpy.context.scene.frame_set(frame)
    for name in names:
        mesh = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        positions = np.empty((len(mesh.vertices), 3), np.float32)
        mesh.vertices.foreach_get("co", positions.ravel())
        np.save(f"{folder}/{name}{frame}.npy", positions)
assert not {"sbs", "spherical_blend_skinning"} & set(sys.modules)
"""
    given = [str(folder), json.dumps(list(names)), json.dumps(list(frames))]
    subprocess.run([sys.executable, "-c", script, *given], check=True)
    return [[np.load(folder / f"{name}{frame}.npy") for name in names] for frame in frames]


def portable() -> Any:
    return addon.module("engine.bake.portable")


def nodes() -> Any:
    return addon.module("engine.nodes.node_trees")


def marked() -> list[str]:
    """All data-blocks of ours."""
    blocks = (*bpy.data.objects, *bpy.data.meshes, *bpy.data.node_groups)
    return sorted(block.name for block in blocks if block.name.startswith(("SBS", "Spherical")))


@pytest.fixture(params=["OPTIMIZED", "JOINT_SET"])
def center(request: pytest.FixtureRequest) -> str:
    """The centers of vertices: given to nodes, or found by nodes."""
    chosen: str = request.param
    return chosen


@pytest.mark.parametrize("bones", [2, 4, 9])
def test_generated(bones: int, center: str) -> None:
    tube, armature = make_character(bones, center)
    make_portable(tube)
    for seed, angle in enumerate((0.5, 1.0, 2.0, 3.0)):
        rigs.turn(armature, seed, angle)
        assert_right(tube, armature)
    rigs.turn(armature, angle=0.0)
    assert_right(tube, armature)


def test_many_influences(center: str) -> None:
    armature, tube = rigs.make_armature(10), rigs.make_tube(10)
    tube.parent = armature
    # All bones move the vertices of one half, and all but three those of the other.
    for number, group in enumerate(tube.vertex_groups):
        for vertex, point in enumerate(rigs.positions(tube.data)):
            if point[0] > 0.0 or number % 3:
                group.add([vertex], 1.0 / (1.0 + (point[2] - 0.4 * number) ** 2), "REPLACE")
    rigs.bind(tube, armature, center)
    make_portable(tube)
    for angle in (0.2, 1.5):
        rigs.turn(armature, angle=angle)
        assert_right(tube, armature)


def test_joints_that_move_alike(center: str) -> None:
    tube, armature = make_character(5, center)
    make_portable(tube)
    rigs.turn(armature, angle=0.0)
    armature.pose.bones["B2"].rotation_quaternion = Quaternion((0.3, 0.5, 0.1), 2.0)
    assert_right(tube, armature)
    # Half a turn, and hardly any.
    armature.pose.bones["B2"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), math.pi)
    armature.pose.bones["B3"].rotation_quaternion = Quaternion((0.0, 1.0, 0.2), 1e-4)
    assert_right(tube, armature)


@pytest.mark.parametrize(
    ("name", "center"),
    [
        *itertools.product(["hand_webxr", "arnaud_ozz", "rat_quaternius"], ["JOINT_SET", "OPTIMIZED"]),
        ("woman_makehuman_default", "JOINT_SET"),  # whose data has no faces to find centers between
    ],
)
def test_real(name: str, center: str) -> None:
    character = real_characters.load(name)
    rigs.bind(character.mesh, character.armature, center)
    make_portable(character.mesh)
    for frame in range(len(character.motions)):
        character.pose(frame)
        assert_right(character.mesh, character.armature)


@pytest.mark.parametrize("scale", [(1.0, 2.0, 0.5), (0.5, 0.5, 0.5), (-0.5, 0.5, 0.5), (0.5, 0.5, 0.5001)])
def test_transforms(scale: tuple[float, float, float], center: str) -> None:
    tube, armature = make_character(center=center)
    armature.matrix_world = ((0.3, 0.4, 0.0, 1.0), (-0.4, 0.3, 0.0, 2.0), (0.0, 0.0, 0.5, 3.0), (0.0, 0.0, 0.0, 1.0))
    armature.pose.bones["B1"].scale = (1.0, 1.2, 0.9)
    make_portable(tube)
    assert_right(tube, armature)
    tube.parent = None
    tube.location, tube.rotation_euler, tube.scale = (8.0, -5.0, 3.0), (0.3, 1.2, 0.1), scale
    assert_right(tube, armature)
    armature.pose.bones["B1"].scale = (1.0, 1.0, 1.0)
    assert_right(tube, armature)


@pytest.mark.parametrize(
    ("bone", "scale"),
    [
        ("B1", (2.0, 2.0, 2.0)),
        ("B1", (1.0, 2.0, 0.7)),
        ("B0", (-1.0, 1.0, 1.0)),
        # Of bones that inherit a scale of 0, rounding errors would decide whether they are mirrored.
        ("B3", (0.0, 1.0, 1.0)),
    ],
)
def test_scaled_joints(bone: str, scale: tuple[float, float, float], center: str) -> None:
    tube, armature = make_character(center=center)
    make_portable(tube)
    armature.pose.bones[bone].scale = scale
    assert_right(tube, armature)


def test_unweighted_vertices_stay(center: str) -> None:
    tube, armature = make_character(center=center)
    loose = list(range(5 * rigs.RING, 7 * rigs.RING))
    for group in tube.vertex_groups:
        group.remove(loose)
    make_portable(tube)
    assert_right(tube, armature)
    np.testing.assert_allclose(rigs.evaluated(tube)[loose], rigs.positions(tube.data)[loose], atol=1e-6)


@pytest.mark.parametrize("other", ["NONE", "RIGID", "LINEAR"])
def test_amount(other: str, center: str) -> None:
    tube, armature = make_character(center=center)
    amounts = rigs.paint_amounts(tube)
    tube.sbs.amount_method = other
    make_portable(tube)
    others = rigs.positions(tube.data) if other == "NONE" else deformed(tube, armature, other.lower())
    wanted = others + amounts[:, None] * (library_says(tube, armature) - others)
    assert error(rigs.evaluated(tube), wanted) < TOLERANCE


def test_modifiers_around() -> None:
    tube, armature = make_character(center="JOINT_SET")
    mirror = tube.modifiers.new("Mirror", "MIRROR")
    tube.modifiers.move(len(tube.modifiers) - 1, 0)
    mirror.use_mirror_merge = False
    tube.modifiers.new("Subdivision", "SUBSURF")
    make_portable(tube)
    tube.modifiers["Subdivision"].show_viewport = False
    rest = rigs.positions(tube.data)
    count = len(rest)
    found = rigs.evaluated(tube)
    assert error(found[:count], deformed(tube, armature)) < TOLERANCE
    assert error(found[count:], deformed(tube, armature, rest=rest * (-1.0, 1.0, 1.0))) < TOLERANCE
    assert not warnings(tube)
    mirror.show_viewport = False
    assert_passes(tube)
    assert warnings(tube)


def test_shape_keys_before(center: str) -> None:
    tube, armature = make_character(center=center)
    key = rigs.add_shape(tube, (1.3, 1.0, 1.1))
    wide = rigs.positions(tube.data) * (1.3, 1.0, 1.1)
    make_portable(tube)
    assert error(rigs.evaluated(tube), library_says(tube, armature, rest=wide)) < TOLERANCE
    key.value = 0.0
    assert_right(tube, armature)


@pytest.mark.parametrize("kind", ["MIRROR", "SUBSURF"])
def test_centers_behind_modifiers_that_change_faces(kind: str) -> None:
    """Live, these have weighted centers; nodes get those of the faces that come to them."""
    sbs = addon.module("core.library").load()
    tube, armature = make_character()
    before = tube.modifiers.new("Before", kind)
    if kind == "SUBSURF":
        before.levels = before.render_levels = 1
    tube.modifiers.move(len(tube.modifiers) - 1, 0)
    tube.modifiers.new("After", "TRIANGULATE")
    make_portable(tube)
    assert [modifier.show_viewport for modifier in tube.modifiers if modifier.type != "ARMATURE"] == [True] * 3

    # The nodes' input, and the output to expect.
    modifier = portable().find(tube)
    modifier.show_viewport = tube.modifiers["After"].show_viewport = False
    mesh = tube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.copy()
    weights = rigs.weights(tube, mesh=mesh).astype(np.float64)
    everyone = np.broadcast_to(np.arange(weights.shape[1]), weights.shape)
    centers = sbs.optimized_centers(rigs.positions(mesh), rigs.triangles(mesh), everyone, weights)
    modifier.show_viewport = True
    wanted = deformed(tube, armature, mesh=mesh, center="optimized", centers=centers)
    assert before.show_viewport
    # The library merges nearly equal weights by their order, which moves centers by some 1e-6 of the size.
    assert error(rigs.evaluated(tube), wanted) < TOLERANCE


FRAMES = range(1, 6)


def test_without_the_addon(tmp_path: Path) -> None:
    characters = [make_character(center=center) for center in ("OPTIMIZED", "JOINT_SET")]
    for tube, armature in characters:
        rigs.animate(armature)
        make_portable(tube)
    frames = (1, 5, 13)
    wanted = []
    for frame in frames:
        current_scene().frame_set(frame)
        wanted.append([library_says(tube, armature) for tube, armature in characters])
    assert_alike(shapes_without_addon(tmp_path, [tube.name for tube, _ in characters], frames), wanted)


@pytest.mark.parametrize("name", ["Weights", "Joint Sets"])
def test_missing_table(name: str, center: str) -> None:
    tube, armature = make_character(center=center)
    modifier = make_portable(tube)
    assert not warnings(tube)
    bpy.data.objects.remove(nodes().get_input(modifier, name))
    assert_passes(tube)
    assert warnings(tube)
    assert portable().problems(tube)
    make_portable(tube)
    assert_right(tube, armature)
    assert not warnings(tube) and not portable().problems(tube)


def test_missing_armature(center: str) -> None:
    tube, _armature = make_character(center=center)
    nodes().set_input(make_portable(tube), "Armature", None)
    assert_passes(tube)
    for told in (warnings(tube), portable().problems(tube)):
        assert "armature" in told[0]


def test_renamed_bone(center: str) -> None:
    """Nodes find a bone by its name of then; the add-on corrects the name after the bone was renamed."""
    tube, armature = make_character(center=center)
    make_portable(tube)
    bpy.ops.ed.undo_push(message="Start")
    armature.data.bones["B2"].name = "Elbow"
    bpy.ops.ed.undo_push(message="Rename")
    assert_right(tube, armature)
    for step in (rigs.undo, rigs.redo, rigs.undo):
        tube, armature = step()
        assert_right(tube, armature)
        assert not warnings(tube)
    # Names that bones of the same rig have had.
    for old, new in (("B2", "Else"), ("B3", "B2"), ("Else", "B3")):
        armature.data.bones[old].name = new
        assert_right(tube, armature)


def test_renamed_bone_without_the_addon(center: str) -> None:
    tube, armature = make_character(center=center)
    make_portable(tube)
    addon.disable(wheels=False)
    armature.data.bones["B2"].name = "Elbow"
    current_layer().update()
    assert_passes(tube)
    assert any("B2" in message for message in warnings(tube))
    addon.enable(wheels=False)
    for _ in range(2):
        tube.update_tag()
        current_layer().update()
    assert_right(tube, armature)
    assert not warnings(tube)


def test_removed_bone(center: str) -> None:
    tube, armature = make_character(center=center)
    make_portable(tube)
    with rigs.editing(armature):
        bones = armature.data.edit_bones
        bones["B3"].parent = bones["B1"]
        bones.remove(bones["B2"])
    current_layer().update()
    assert_passes(tube)
    assert any("B2" in message for message in warnings(tube))
    assert "B2" in portable().problems(tube)[0]


def test_edited_topology() -> None:
    tube, armature = make_character()
    make_portable(tube)
    tube.data.vertices.add(1)
    tube.data.update()
    assert_passes(tube)
    assert warnings(tube)
    make_portable(tube)
    assert_right(tube, armature)


def test_back_to_live() -> None:
    tube, armature = make_character()
    before = marked()
    make_portable(tube)
    rigs.select([tube])
    assert addon.ops.make_live() == {"FINISHED"}
    assert tube.sbs.bound and tube.sbs.armature == armature
    assert_right(tube, armature)
    rigs.turn(armature, seed=4)
    assert_right(tube, armature)
    # The one group that all characters share stays until the file is saved.
    bpy.data.orphans_purge(do_recursive=True)  # type: ignore[call-arg]
    assert marked() == before
    assert addon.ops.unbind() == {"FINISHED"}
    assert [modifier.name for modifier in tube.modifiers] == ["Armature"]


def test_groups_of_earlier_versions() -> None:
    """All nodes were in the modifier's own group, several of them for an inner group that characters shared."""
    group = addon.module("engine.nodes.portable_group")
    bones, shared, tree = (bpy.data.node_groups.new(name, "GeometryNodeTree") for name in ("Bones", "Motion", "Old"))
    tree["sbs_portable_group"] = True
    for bone in ("B0", "B1"):
        name: Any = bones.nodes.new("GeometryNodeBoneInfo").inputs["Bone Name"]
        name.default_value = bone
    for inner in (bones, shared, shared):
        nested: Any = tree.nodes.new("GeometryNodeGroup")
        nested.node_tree = inner
    assert group.is_portable(tree)
    assert group.bones_of(tree) == ["B0", "B1"]
    other = tree.copy()
    group.remove(tree)
    assert set(bpy.data.node_groups) == {bones, shared, other}
    group.remove(other)
    assert not bpy.data.node_groups


def test_duplicates_share_tables() -> None:
    tube, armature = make_character()
    make_portable(tube)
    rigs.select([tube])
    bpy.ops.object.duplicate()
    copy = mesh_object(bpy.context.object)
    assert addon.ops.make_live() == {"FINISHED"}
    rigs.turn(armature, seed=6)
    assert_right(tube, armature)
    assert_right(copy, armature)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"method": "BONES_BLENDING"}, "Bones Blending"),
        ({"amount_group": "Amount", "amount_method": "DUAL_QUATERNION"}, "Dual Quaternion"),
        ({"amount_group": "Amount", "amount_method": "BONES_BLENDING"}, "Bones Blending"),
        ({}, "bendy bone B1"),
    ],
)
def test_what_nodes_cannot_do(settings: dict[str, str], reason: str) -> None:
    tube, armature = make_character()
    tube.vertex_groups.new(name="Amount")
    armature.data.bones["B1"].bbone_segments = 1 if settings else 4
    for name, value in settings.items():
        setattr(tube.sbs, name, value)
    with pytest.raises(ValueError, match=reason):
        portable().make_portable(tube, bpy.context.evaluated_depsgraph_get())
    assert tube.sbs.bound and portable().find(tube) is None
    assert not [name for name in marked() if "Portable" in name or "Weights" in name]


def test_points_without_faces() -> None:
    """Nothing tells centers where there are no faces: those of bones do."""
    tube, armature = make_character()
    points = new_mesh("Points")
    points.from_pydata(rigs.positions(tube.data).tolist(), [], [])
    tube.data = points
    tube.vertex_groups.new(name="B1").add(list(range(300)), 0.5, "REPLACE")
    tube.vertex_groups.new(name="B2").add(list(range(100, 656)), 0.7, "REPLACE")
    rigs.select([tube])
    with pytest.raises(RuntimeError, match="faces"):
        addon.ops.make_portable()
    assert tube.sbs.bound
    tube.sbs.center = "JOINT_SET"
    make_portable(tube)
    assert_right(tube, armature)


Family = tuple[MeshObject, MeshObject, ArmatureObject]


@pytest.fixture
def character() -> Family:
    """A body with muscles and a shirt without, on one rig that bends in some frames."""
    body, armature = muscled.make_character()
    shirt = rigs.make_tube(rows=21, name="Shirt")
    rigs.bind(shirt, armature)
    shirt.sbs.use_muscles = False
    for frame in (FRAMES[0], FRAMES[-1]):
        muscled.bend(armature, 15.0 * frame)
        armature.pose.bones["B2"].keyframe_insert("rotation_quaternion", frame=frame)
    current_scene().frame_start, current_scene().frame_end = FRAMES[0], FRAMES[-1]
    return body, shirt, armature


def shapes(items: Sequence[MeshObject]) -> list[list[np.ndarray]]:
    found = []
    for frame in FRAMES:
        current_scene().frame_set(frame)
        current_layer().update()
        found.append([rigs.evaluated(item) for item in items])
    return found


def assert_alike(found: list[list[np.ndarray]], wanted: list[list[np.ndarray]]) -> None:
    for here, there in zip(found, wanted, strict=True):
        assert all(error(each, other) < TOLERANCE for each, other in zip(here, there, strict=True))


def is_portable(item: MeshObject) -> bool:
    return portable().find(item) is not None


def is_baked(item: MeshObject) -> bool:
    baked: bool = addon.module("engine.bake.bake").is_baked(item)
    return baked


def press(items: Sequence[MeshObject], **options: Any) -> None:
    rigs.select(items)
    assert addon.ops.make_portable(**options) == {"FINISHED"}


def test_one_press(character: Family, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body, shirt, _ = character
    wanted = shapes([body, shirt])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    press([body, shirt])
    assert is_portable(shirt) and not is_baked(shirt)
    assert is_baked(body) and not is_portable(body)
    assert "Portable: Shirt. Baked, frames 1 to 5: Tube" in capfd.readouterr().out
    assert_alike(shapes([body, shirt]), wanted)
    assert_alike(shapes_without_addon(tmp_path, ("Tube", "Shirt"), FRAMES), wanted)


def test_once_more_after_another_animation(character: Family, tmp_path: Path) -> None:
    body, shirt, armature = character
    press([body, shirt], directory=str(tmp_path))
    muscled.bend(armature, 20.0)
    armature.pose.bones["B2"].keyframe_insert("rotation_quaternion", frame=FRAMES[-1])
    press([body, shirt], directory=str(tmp_path))
    found = shapes([body, shirt])
    assert is_baked(body) and is_portable(shirt)
    # As if it had never been baked.
    body.modifiers.remove(body.modifiers["SBS Bake"])
    addon.module("engine.bake.bake").modifier_of(body).show_viewport = True
    current_layer().update()
    assert_alike(found, shapes([body, shirt]))


def test_a_file_that_was_never_saved(character: Family) -> None:
    """There is nowhere to bake to; nodes still move the shirt, and the body stays live."""
    body, shirt, _ = character
    wanted = shapes([body, shirt])
    rigs.select([body, shirt])
    with pytest.raises(RuntimeError, match=r"Portable: Shirt\. Not baked: Tube"):
        addon.ops.make_portable()
    assert is_portable(shirt) and not is_baked(body) and addon.module("engine.stack.stack").find(body) is not None
    assert_alike(shapes([body, shirt]), wanted)


def test_what_is_baked_to_shape_keys(character: Family) -> None:
    body, shirt, _ = character
    wanted = shapes([body, shirt])
    rigs.select([body])
    assert addon.ops.bake(target="SHAPE_KEYS") == {"FINISHED"}
    rigs.select([body, shirt])
    with pytest.raises(RuntimeError, match="Tube is baked"):
        addon.ops.make_portable()
    assert is_baked(body) and is_portable(shirt)
    assert_alike(shapes([body, shirt]), wanted)


@pytest.mark.parametrize(
    ("setting", "value"), [("method", "DUAL_QUATERNION"), ("rotation", "AVERAGE"), ("center", "WEIGHTED")]
)
def test_other_settings(setting: str, value: str, tmp_path: Path) -> None:
    tube, armature = rigs.make_bound()
    rigs.animate(armature, FRAMES[-1])
    current_scene().frame_start, current_scene().frame_end = FRAMES[0], FRAMES[-1]
    setattr(tube.sbs, setting, value)
    wanted = shapes([tube])
    press([tube], directory=str(tmp_path))
    assert is_baked(tube)
    assert_alike(shapes([tube]), wanted)


def test_a_rig_of_rigify(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A body with muscles, gloves on bones that bend, eyes on bones that do not: one press for all."""
    body, rig = rigify_human.make()
    gloves, eyes = body.copy(), body.copy()
    for item, name in ((gloves, "Gloves"), (eyes, "Eyes")):
        item.name, item.data = name, body.data.copy()
        current_scene().collection.objects.link(item)
    for name in [group.name for group in eyes.vertex_groups if rig.data.bones[group.name].bbone_segments > 1]:
        eyes.vertex_groups.remove(eyes.vertex_groups[name])
    items = [body, gloves, eyes]
    for item in items:
        rigs.bind(item, rig)
        item.sbs.use_muscles = item == body
    rigs.select([body])
    assert addon.ops.fit_muscles() == {"FINISHED"}
    for frame in (FRAMES[0], FRAMES[-1]):
        rigify_human.bend_elbow(rig, 15.0 * frame).keyframe_insert("rotation_euler", frame=frame)
    current_scene().frame_start, current_scene().frame_end = FRAMES[0], FRAMES[-1]
    wanted = shapes(items)
    assert error(wanted[0][0], wanted[-1][0]) > 0.01
    press(items, directory=str(tmp_path))
    assert [is_baked(item) for item in items] == [True, True, False] and is_portable(eyes)
    said = capfd.readouterr().out
    assert "Portable: Eyes. Baked, frames 1 to 5: Body" in said and "Gloves" in said
    assert_alike(shapes(items), wanted)
