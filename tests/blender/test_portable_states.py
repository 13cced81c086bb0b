# SPDX-License-Identifier: GPL-3.0-or-later
"""Portable objects made, updated and made live again; in files without the add-on, and with parts missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import addon
import bpy
import pytest
import rigs
from expected import error
from objects import armature_named, current_layer, current_scene, mesh_named, mesh_object, new_mesh
from portables import (
    TOLERANCE,
    assert_passes,
    assert_right,
    get_input,
    library_says,
    make_character,
    make_portable,
    marked,
    needs_bone_info,
    set_input,
    shapes_without_addon,
    warnings,
)

each_center = pytest.mark.parametrize("center", ["OPTIMIZED", "JOINT_SET"])


@pytest.mark.blender(before=(5, 1))
def test_old_blender() -> None:
    tube, _armature = make_character()
    rigs.select([tube])
    assert not addon.ops.make_portable.poll()
    with pytest.raises(ValueError, match=r"5\.1"):
        addon.module("engine.bake.portable").make_portable(tube, bpy.context.evaluated_depsgraph_get())
    assert tube.sbs.bound


@needs_bone_info
@each_center
def test_without_the_addon(tmp_path: Path, center: str) -> None:
    tube, armature = make_character(center=center)
    rigs.animate(armature)
    make_portable(tube)
    scene = current_scene()
    wanted = []
    for frame in (1, 5, 13):
        scene.frame_set(frame)
        wanted.append(library_says(tube, armature))
    for (found,), expected in zip(shapes_without_addon(tmp_path, ["Tube"], (1, 5, 13)), wanted, strict=True):
        assert error(found, expected) < TOLERANCE


@needs_bone_info
@pytest.mark.parametrize("name", ["Weights", "Joint Sets"])
@each_center
def test_missing_table(name: str, center: str) -> None:
    tube, armature = make_character(center=center)
    modifier = make_portable(tube)
    assert not warnings(tube)
    bpy.data.objects.remove(get_input(modifier, name))
    assert_passes(tube)
    assert any("hidden meshes" in message for message in warnings(tube))
    assert addon.module("engine.bake.portable").problems(tube)
    make_portable(tube)
    assert_right(tube, armature)
    assert not warnings(tube) and not addon.module("engine.bake.portable").problems(tube)


@needs_bone_info
@each_center
def test_missing_armature(center: str) -> None:
    tube, _armature = make_character(center=center)
    modifier = make_portable(tube)
    set_input(modifier, "Armature", None)
    assert_passes(tube)
    assert "The armature is missing" in warnings(tube)
    assert addon.module("engine.bake.portable").problems(tube) == ["The armature is missing"]


@needs_bone_info
@each_center
def test_renamed_bone(center: str) -> None:
    """Nodes know bones by the names that they had; with the add-on, by those that they have."""
    tube, armature = make_character(center=center)
    make_portable(tube)
    bpy.ops.ed.undo_push(message="Start")
    armature.data.bones["B2"].name = "Elbow"
    bpy.ops.ed.undo_push(message="Rename")
    current_layer().update()
    assert_right(tube, armature)
    for step in ("undo", "redo", "undo"):
        getattr(bpy.ops.ed, step)()
        tube, armature = mesh_named("Tube"), armature_named("Rig")
        assert_right(tube, armature)
        assert not warnings(tube)
    # Names that bones of the same rig have had.
    for old, new in (("B2", "Else"), ("B3", "B2"), ("Else", "B3")):
        armature.data.bones[old].name = new
        current_layer().update()
        assert_right(tube, armature)


@needs_bone_info
@each_center
def test_renamed_bone_without_the_addon(center: str) -> None:
    tube, armature = make_character(center=center)
    make_portable(tube)
    addon.disable(wheels=False)
    armature.data.bones["B2"].name = "Elbow"
    current_layer().update()
    assert_passes(tube)
    assert any("no bone" in message and '"B2"' in message for message in warnings(tube))
    addon.enable(wheels=False)
    for _ in range(2):
        tube.update_tag()
        current_layer().update()
    assert_right(tube, armature)
    assert not warnings(tube)


@needs_bone_info
@each_center
def test_removed_bone(center: str) -> None:
    tube, armature = make_character(center=center)
    make_portable(tube)
    with rigs.editing(armature):
        bones = armature.data.edit_bones
        bones["B3"].parent = bones["B1"]
        bones.remove(bones["B2"])
    current_layer().update()
    assert_passes(tube)
    assert any("no bone" in message and '"B2"' in message for message in warnings(tube))
    assert "B2" in addon.module("engine.bake.portable").problems(tube)[0]


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
    assert [modifier.name for modifier in tube.modifiers] == ["Armature"]


@needs_bone_info
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
    """More of it is baked in test_portable_or_baked.py."""
    portable = addon.module("engine.bake.portable")
    tube, armature = make_character()
    tube.vertex_groups.new(name="Amount")
    armature.data.bones["B1"].bbone_segments = 1 if settings else 4
    for name, value in settings.items():
        setattr(tube.sbs, name, value)
    with pytest.raises(ValueError, match=reason):
        portable.make_portable(tube, bpy.context.evaluated_depsgraph_get())
    assert tube.sbs.bound and portable.find(tube) is None
    assert not [name for name in marked() if "Portable" in name or "Weights" in name]


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
