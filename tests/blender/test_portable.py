# SPDX-License-Identifier: GPL-3.0-or-later
"""Portable objects: nodes alone against the library."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import real_characters
import rigs
from expected import deformed, error, kept_centers
from mathutils import Quaternion
from objects import (
    ArmatureObject,
    Character,
    MeshObject,
    armature_named,
    current_layer,
    current_scene,
    mesh_named,
    mesh_object,
    new_mesh,
)

# Nodes have single precision, of which 6e-8 is lost in every operation: what differs between joints by 1e-7 is
# magnified by the distance of a center, where that is of a joint set ten sizes in the worst of the poses below. The
# worst of all is 1.3e-6.
TOLERANCE = 2e-6

# Earlier nodes cannot read bones, which test_old_blender is about.
needs_bone_info = pytest.mark.blender(since=(5, 1))


@pytest.fixture(params=["OPTIMIZED", "JOINT_SET"])
def center(request: pytest.FixtureRequest) -> str:
    """What vertices turn about: centers that are given to nodes, or that nodes find."""
    chosen: str = request.param
    return chosen


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
    modifier: bpy.types.NodesModifier | None = addon.module("engine.portable").find(tube)
    assert modifier is not None and not tube.sbs.bound
    return modifier


def library_says(tube: MeshObject, armature: ArmatureObject, **options: Any) -> np.ndarray:
    """The mesh as the library deforms it, about the centers that are kept for it, if there are such."""
    portable = addon.module("engine.portable").find(tube)
    centers = kept_centers(tube) if portable is None else given_centers(portable)
    if centers is not None:
        options = {"center": "optimized", "centers": centers, **options}
    return deformed(tube, armature, **options)


def given_centers(modifier: bpy.types.NodesModifier) -> np.ndarray | None:
    """The centers that nodes were given; of vertices that one bone moves, it does not matter which."""
    joints, weights = (get_input(modifier, name).data.attributes for name in ("Joint Sets", "Weights"))
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
    """The mesh comes through as it is."""
    np.testing.assert_array_equal(rigs.evaluated(tube), rigs.positions(tube.data))


def warnings(tube: MeshObject) -> list[str]:
    """What the modifiers of an object warn of."""
    current_layer().update()
    modifier: bpy.types.NodesModifier = addon.module("engine.portable").find(tube)
    return [warning.message for warning in modifier.node_warnings]


def set_input(modifier: bpy.types.NodesModifier, name: str, value: Any) -> None:
    addon.module("engine.node_trees").set_input(modifier, name, value)


def get_input(modifier: bpy.types.NodesModifier, name: str) -> Any:
    return addon.module("engine.node_trees").get_input(modifier, name)


def marked() -> list[str]:
    """All data-blocks of ours."""
    blocks = (*bpy.data.objects, *bpy.data.meshes, *bpy.data.node_groups)
    return sorted(block.name for block in blocks if block.name.startswith(("SBS", "Spherical")))


@pytest.mark.blender(before=(5, 1))
def test_old_blender() -> None:
    tube, _armature = make_character()
    rigs.select([tube])
    assert not addon.ops.make_portable.poll()
    with pytest.raises(ValueError, match=r"5\.1"):
        addon.module("engine.portable").make_portable(tube, bpy.context.evaluated_depsgraph_get())
    assert tube.sbs.bound


@pytest.mark.blender(before=(5, 1))
def test_old_blender_binds_live_whatever_the_preferences_say() -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    addon.preferences().engine = "PORTABLE"
    rigs.bind(tube, armature)
    assert tube.sbs.bound


@needs_bone_info
def test_default_engine_of_the_preferences() -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    addon.preferences().engine = "PORTABLE"
    rigs.bind(tube, armature)
    assert addon.module("engine.portable").find(tube) is not None
    assert addon.module("engine.stack").find(tube) is None
    rigs.turn(armature)
    assert_right(tube, armature)


@needs_bone_info
@pytest.mark.parametrize("bones", [2, 4, 9])
def test_generated(bones: int, center: str) -> None:
    tube, armature = make_character(bones, center)
    make_portable(tube)
    for seed, angle in enumerate((0.5, 1.0, 2.0, 3.0)):
        rigs.turn(armature, seed, angle)
        assert_right(tube, armature)
    rigs.turn(armature, angle=0.0)
    assert_right(tube, armature)


@needs_bone_info
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


@needs_bone_info
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


@needs_bone_info
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


@needs_bone_info
def test_imported(center: str) -> None:
    import addon_utils

    addon_utils.enable("io_scene_gltf2")
    bpy.ops.import_scene.gltf(filepath=str(real_characters.DATA / "Fox.glb"))
    mesh, armature = mesh_named("fox"), armature_named("root")
    rigs.bind(mesh, armature, center)
    make_portable(mesh)
    for frame in (1, 9, 17, 25):
        current_scene().frame_set(frame)
        assert_right(mesh, armature)


@needs_bone_info
def test_transforms(center: str) -> None:
    tube, armature = make_character(center=center)
    armature.matrix_world = ((0.3, 0.4, 0.0, 1.0), (-0.4, 0.3, 0.0, 2.0), (0.0, 0.0, 0.5, 3.0), (0.0, 0.0, 0.0, 1.0))
    make_portable(tube)
    assert_right(tube, armature)
    tube.parent = None
    tube.location, tube.rotation_euler, tube.scale = (1.0, -2.0, 0.5), (0.3, 0.2, 0.1), (1.0, 2.0, 0.5)
    current_layer().update()
    assert_right(tube, armature)


@needs_bone_info
@pytest.mark.parametrize("scale", [(0.5, 0.5, 0.5), (-0.5, 0.5, 0.5), (0.5, 0.5, 0.5001)])
def test_transforms_that_nearly_keep_angles(scale: tuple[float, float, float], center: str) -> None:
    tube, armature = make_character(center=center)
    tube.parent = None
    tube.location, tube.rotation_euler, tube.scale = (8.0, -5.0, 3.0), (0.3, 1.2, 0.1), scale
    armature.pose.bones["B1"].scale = (1.0, 1.2, 0.9)
    make_portable(tube)
    assert_right(tube, armature)
    armature.pose.bones["B1"].scale = (1.0, 1.0, 1.0)
    assert_right(tube, armature)


@needs_bone_info
@pytest.mark.parametrize("scale", [(2.0, 2.0, 2.0), (1.0, 2.0, 0.7)])
def test_scaled_joints(scale: tuple[float, float, float], center: str) -> None:
    tube, armature = make_character(center=center)
    make_portable(tube)
    armature.pose.bones["B1"].scale = scale
    assert_right(tube, armature)


@needs_bone_info
def test_flat_joint(center: str) -> None:
    tube, armature = make_character(center=center)
    make_portable(tube)
    # Of bones that inherit a scale of 0, rounding errors would decide whether they are mirrored.
    armature.pose.bones["B3"].scale = (0.0, 1.0, 1.0)
    assert_right(tube, armature)


@needs_bone_info
def test_mirrored(center: str) -> None:
    tube, armature = make_character(center=center)
    make_portable(tube)
    armature.pose.bones["B0"].scale = (-1.0, 1.0, 1.0)
    assert_right(tube, armature)


@needs_bone_info
def test_unweighted_vertices_stay(center: str) -> None:
    tube, armature = make_character(center=center)
    loose = list(range(5 * rigs.RING, 7 * rigs.RING))
    for group in tube.vertex_groups:
        group.remove(loose)
    make_portable(tube)
    assert_right(tube, armature)
    np.testing.assert_allclose(rigs.evaluated(tube)[loose], rigs.positions(tube.data)[loose], atol=1e-6)


@needs_bone_info
@pytest.mark.parametrize(
    ("other", "method"), [("NONE", None), ("RIGID", "rigid"), ("LINEAR", "linear")], ids=["none", "rigid", "linear"]
)
def test_amount(other: str, method: str | None, center: str) -> None:
    tube, armature = make_character(center=center)
    group = tube.vertex_groups.new(name="Amount")
    amounts = np.linspace(0.0, 1.0, len(tube.data.vertices))
    for vertex, amount in enumerate(amounts):
        group.add([vertex], float(amount), "REPLACE")
    tube.sbs.amount_group, tube.sbs.amount_method = "Amount", other
    make_portable(tube)
    others = rigs.positions(tube.data) if method is None else deformed(tube, armature, method)
    wanted = others + amounts[:, None] * (library_says(tube, armature) - others)
    assert error(rigs.evaluated(tube), wanted) < TOLERANCE


@needs_bone_info
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
    assert any("other vertices" in message for message in warnings(tube))


@needs_bone_info
def test_shape_keys_before(center: str) -> None:
    tube, armature = make_character(center=center)
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Wide")
    wide = rigs.positions(tube.data) * (1.3, 1.0, 1.1)
    key.data.foreach_set("co", wide.astype(np.float32).reshape(-1))
    key.value = 1.0
    make_portable(tube)
    assert error(rigs.evaluated(tube), library_says(tube, armature, rest=wide)) < TOLERANCE
    key.value = 0.0
    assert_right(tube, armature)


@needs_bone_info
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

    # What comes to the nodes, and what is to come of it.
    portable = addon.module("engine.portable").find(tube)
    portable.show_viewport = tube.modifiers["After"].show_viewport = False
    mesh = tube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.copy()
    mesh.calc_loop_triangles()
    triangles = [triangle.vertices[:] for triangle in mesh.loop_triangles]
    weights = np.zeros((len(mesh.vertices), len(tube.vertex_groups)))
    for vertex in mesh.vertices:
        for entry in vertex.groups:
            weights[vertex.index, entry.group] = entry.weight
    everyone = np.broadcast_to(np.arange(weights.shape[1]), weights.shape)
    centers = sbs.optimized_centers(rigs.positions(mesh), triangles, everyone, weights)
    portable.show_viewport = True
    wanted = deformed(tube, armature, mesh=mesh, center="optimized", centers=centers)
    assert before.show_viewport
    # The library merges nearly equal weights by their order, which moves centers by some 1e-6 of the size.
    assert error(rigs.evaluated(tube), wanted) < TOLERANCE


@needs_bone_info
def test_without_the_addon(tmp_path: Path, center: str) -> None:
    tube, armature = make_character(center=center)
    rigs.animate(armature)
    make_portable(tube)
    scene = current_scene()
    wanted = []
    for frame in (1, 5, 13):
        scene.frame_set(frame)
        wanted.append(library_says(tube, armature))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "portable.blend"))
    np.save(tmp_path / "wanted.npy", wanted)
    # Another process, which knows neither the add-on nor the library.
    script = """
import sys, bpy, numpy as np
folder = sys.argv[1]
bpy.ops.wm.open_mainfile(filepath=folder + "/portable.blend")
assert not hasattr(bpy.types.Object, "sbs")
tube, found = bpy.data.objects["Tube"], []
for frame in (1, 5, 13):
    bpy.context.scene.frame_set(frame)
    mesh = tube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    positions = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", positions)
    found.append(positions.reshape(-1, 3))
assert not {"sbs", "spherical_blend_skinning"} & set(sys.modules)
np.save(folder + "/found.npy", found)
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    for found, expected in zip(np.load(tmp_path / "found.npy"), wanted, strict=False):
        assert error(found, expected) < TOLERANCE


@needs_bone_info
@pytest.mark.parametrize("name", ["Weights", "Joint Sets"])
def test_missing_table(name: str, center: str) -> None:
    tube, armature = make_character(center=center)
    modifier = make_portable(tube)
    assert not warnings(tube)
    bpy.data.objects.remove(get_input(modifier, name))
    assert_passes(tube)
    assert any("hidden meshes" in message for message in warnings(tube))
    assert addon.module("engine.portable").problems(tube)
    make_portable(tube)
    assert_right(tube, armature)
    assert not warnings(tube) and not addon.module("engine.portable").problems(tube)


@needs_bone_info
def test_missing_armature(center: str) -> None:
    tube, _armature = make_character(center=center)
    modifier = make_portable(tube)
    set_input(modifier, "Armature", None)
    assert_passes(tube)
    assert "The armature is missing" in warnings(tube)
    assert addon.module("engine.portable").problems(tube) == ["The armature is missing"]


@needs_bone_info
def test_renamed_bone(center: str) -> None:
    tube, armature = make_character(center=center)
    make_portable(tube)
    armature.data.bones["B2"].name = "Elbow"
    current_layer().update()
    assert_passes(tube)
    assert any("no bone" in message and '"B2"' in message for message in warnings(tube))
    assert "B2" in addon.module("engine.portable").problems(tube)[0]
    # The Armature modifier that stepped back let Blender rename the vertex group.
    make_portable(tube)
    assert_right(tube, armature)
    assert not warnings(tube)


@needs_bone_info
def test_edited_topology() -> None:
    tube, armature = make_character()
    make_portable(tube)
    tube.data.vertices.add(1)
    tube.data.update()
    assert_passes(tube)
    assert any("other vertices" in message for message in warnings(tube))
    make_portable(tube)
    assert_right(tube, armature)


@needs_bone_info
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
    assert [modifier.name for modifier in tube.modifiers] == []


@needs_bone_info
def test_groups_of_earlier_versions() -> None:
    """All nodes were in the modifier's own group, several of them for an inner group that characters shared."""
    group = addon.module("engine.portable_group")
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


@needs_bone_info
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


@needs_bone_info
def test_what_nodes_cannot_do() -> None:
    portable = addon.module("engine.portable")
    tube, armature = make_character()

    def refuses(text: str) -> None:
        with pytest.raises(ValueError, match=text):
            portable.make_portable(tube, bpy.context.evaluated_depsgraph_get())
        assert tube.sbs.bound and portable.find(tube) is None
        assert not [name for name in marked() if "Portable" in name or "Weights" in name]

    tube.sbs.method = "DUAL_QUATERNION"
    refuses("Spherical Blend")
    tube.sbs.method = "SPHERICAL"
    tube.sbs.rotation = "AVERAGE"
    refuses("linear rotations")
    tube.sbs.rotation = "QLERP"
    tube.sbs.center = "WEIGHTED"
    refuses("no weighted centers. Set Center to Optimized")
    tube.sbs.center = "OPTIMIZED"
    armature.data.bones["B1"].bbone_segments = 4
    refuses("bendy bone B1")
    armature.data.bones["B1"].bbone_segments = 1
    tube.vertex_groups.new(name="Amount")
    tube.sbs.amount_group, tube.sbs.amount_method = "Amount", "DUAL_QUATERNION"
    refuses("Dual Quaternion")


@needs_bone_info
def test_points_without_faces() -> None:
    """Nothing tells centers where there are no faces: those of bones do."""
    tube, armature = make_character()
    points = new_mesh("Points")
    points.from_pydata(rigs.positions(tube.data).tolist(), [], [])
    tube.data = points
    tube.vertex_groups.new(name="B1").add(list(range(300)), 0.5, "REPLACE")
    tube.vertex_groups.new(name="B2").add(list(range(100, 656)), 0.7, "REPLACE")
    rigs.select([tube])
    with pytest.raises(RuntimeError, match=r"has no faces.*set Center to Bones"):
        addon.ops.make_portable()
    assert tube.sbs.bound
    tube.sbs.center = "JOINT_SET"
    make_portable(tube)
    assert_right(tube, armature)


@needs_bone_info
def test_given_centers_take_fewer_nodes() -> None:
    portable = addon.module("engine.portable")

    def nodes_of(center: str) -> int:
        tube, _armature = make_character(center=center)
        count: int = portable.make_portable(tube, bpy.context.evaluated_depsgraph_get()).nodes
        return count

    assert nodes_of("OPTIMIZED") < nodes_of("JOINT_SET")


@needs_bone_info
def test_vertices_of_the_same_weights_move_as_one() -> None:
    tube, armature = make_character()
    joints = get_input(make_portable(tube), "Joint Sets").data.attributes["is_influence"]
    is_influence = np.empty(len(joints.data), bool)
    joints.data.foreach_get("value", is_influence)
    # Those of a ring have the same, and all that one bone moves alone.
    weights = {tuple((entry.group, entry.weight) for entry in vertex.groups) for vertex in tube.data.vertices}
    several = {each for each in weights if len(each) > 1}
    alone = {each[0][0] for each in weights if len(each) == 1}
    assert is_influence.sum() == len(several) + len(alone) <= len(tube.data.vertices) // rigs.RING
    assert_right(tube, armature)
