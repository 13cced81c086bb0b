# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to the file: duplicates, deletion, undo, saving and loading, libraries, renders."""

from __future__ import annotations

from pathlib import Path

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error


def make_character() -> tuple[bpy.types.Object, bpy.types.Object]:
    armature = rigs.make_armature()
    tube = rigs.make_tube()
    tube.parent = armature
    rigs.bind(tube, armature)
    rigs.turn(armature)
    return tube, armature


def assert_right(tube: bpy.types.Object, armature: bpy.types.Object) -> None:
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE


def carriers() -> list[bpy.types.Object]:
    return [item for item in bpy.data.objects if "sbs_carrier" in item]


@pytest.mark.parametrize("linked", [False, True], ids=["Shift-D", "Alt-D"])
def test_duplicates(linked: bool) -> None:
    tube, armature = make_character()
    rigs.select([tube, armature])
    bpy.ops.object.duplicate(linked=linked)
    copies = bpy.context.selected_objects
    other_tube = next(item for item in copies if item.type == "MESH")
    other_armature = next(item for item in copies if item.type == "ARMATURE")
    assert other_tube.sbs.armature == other_armature
    rigs.turn(other_armature, seed=7)
    assert_right(tube, armature)
    assert_right(other_tube, other_armature)
    assert len(carriers()) == 2


def test_copy_by_script() -> None:
    tube, armature = make_character()
    copy = tube.copy()
    other_armature = armature.copy()
    for item in (copy, other_armature):
        bpy.context.scene.collection.objects.link(item)
    copy.sbs.armature = other_armature
    copy.parent = other_armature
    rigs.turn(other_armature, seed=3)
    assert_right(tube, armature)
    assert_right(copy, other_armature)


def test_two_meshes_on_one_rig() -> None:
    tube, armature = make_character()
    other = rigs.make_tube(name="Other", rows=21)
    rigs.bind(other, armature)
    rigs.turn(armature, seed=4)
    assert_right(tube, armature)
    assert_right(other, armature)


def test_rename() -> None:
    tube, armature = make_character()
    tube.name = "Someone"
    armature.name = "Something"
    tube.data.name = "Skin"
    rigs.turn(armature, seed=4)
    assert_right(tube, armature)


def test_carrier_deleted() -> None:
    tube, armature = make_character()
    assert_right(tube, armature)
    bpy.data.objects.remove(carriers()[0])
    rigs.turn(armature, seed=4)
    assert_right(tube, armature)
    bpy.data.meshes.remove(carriers()[0].data)
    rigs.turn(armature, seed=5)
    assert_right(tube, armature)


def test_character_deleted() -> None:
    tube, _armature = make_character()
    bpy.data.objects.remove(tube)
    bpy.context.view_layer.update()
    assert carriers() == []
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    assert not bpy.data.meshes
    assert not bpy.data.node_groups


def test_unbind() -> None:
    armature = rigs.make_armature()
    tube = rigs.make_tube()
    tube.sbs.center = "JOINT_SET"
    for name in ("First", "Second"):
        tube.modifiers.new(name, "WAVE").show_viewport = False
    modifier = tube.modifiers.new("Arm", "ARMATURE")
    modifier.object = armature
    modifier.show_render = False
    modifier.use_bone_envelopes = True
    rigs.turn(armature)
    before = rigs.evaluated(tube)
    tube.modifiers.new("Last", "WAVE").show_viewport = False
    rigs.select([tube])
    assert bpy.ops.sbs.bind(modifier="Arm") == {"FINISHED"}
    names = [item.name for item in tube.modifiers]
    assert names == ["First", "Second", "Spherical Blend Skinning", "Arm", "Last"]
    assert modifier.object == armature
    assert not (modifier.show_viewport or modifier.show_render)
    assert not (modifier.use_vertex_groups or modifier.use_bone_envelopes)
    assert_right(tube, armature)
    assert bpy.ops.sbs.unbind() == {"FINISHED"}
    assert [item.name for item in tube.modifiers] == ["First", "Second", "Arm", "Last"]
    assert modifier.show_viewport
    assert not modifier.show_render
    assert modifier.use_vertex_groups
    assert modifier.use_bone_envelopes
    assert error(rigs.evaluated(tube), before) == 0.0
    assert carriers() == []


def test_unbind_takes_away_what_it_added() -> None:
    tube, _armature = make_character()
    assert [modifier.type for modifier in tube.modifiers] == ["NODES", "ARMATURE"]
    rigs.select([tube])
    bpy.ops.sbs.unbind()
    assert not tube.modifiers
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    assert not bpy.data.node_groups


def test_modifier_removed_by_hand() -> None:
    tube, _armature = make_character()
    tube.modifiers.remove(tube.modifiers[0])
    bpy.context.view_layer.update()
    assert not tube.modifiers
    assert not tube.sbs.bound
    assert carriers() == []


@pytest.mark.parametrize("with_one_before", [False, True])
def test_modifier_applied(with_one_before: bool) -> None:
    armature = rigs.make_armature()
    tube = rigs.make_tube()
    tube.modifiers.new("Arm", "ARMATURE").object = armature
    rigs.bind(tube, armature)
    if with_one_before:
        # Ours keeps what comes to it as attributes while there is something before it.
        cast = tube.modifiers.new("Cast", "CAST")
        cast.factor = 0.0
        addon.module("engine.stack").move(tube, cast, 0)
        bpy.context.view_layer.update()
    rigs.turn(armature)
    wanted = deformed(tube, armature)
    rigs.select([tube])
    bpy.ops.object.modifier_apply(modifier="Spherical Blend Skinning")
    for _ in range(2):
        bpy.context.view_layer.update()
        assert error(rigs.evaluated(tube), wanted) < TOLERANCE
    if with_one_before:
        tube.modifiers.remove(tube.modifiers["Cast"])
    # A plain mesh, as where an Armature modifier was applied: no setting of ours, no modifier that does nothing.
    assert not tube.modifiers
    assert tube.sbs.armature is None and not tube.sbs.bound
    assert not [attribute for attribute in tube.data.attributes if attribute.name.startswith("sbs")]
    assert carriers() == []


def test_bind_as_parent() -> None:
    armature = rigs.make_armature()
    armature.location = (1.0, 2.0, 3.0)
    tube = rigs.make_tube()
    tube.sbs.center = "JOINT_SET"
    tube.location = (1.0, 2.0, 3.5)
    bpy.context.view_layer.update()
    place = tube.matrix_world.copy()
    rigs.select([armature, tube])
    assert bpy.ops.sbs.bind(parent=True) == {"FINISHED"}
    assert tube.parent == armature
    bpy.context.view_layer.update()
    assert np.abs(np.array(tube.matrix_world) - np.array(place)).max() < 1e-6
    rigs.turn(armature)
    assert_right(tube, armature)


def test_poll(capfd: pytest.CaptureFixture[str]) -> None:
    tube = rigs.make_tube()
    rigs.select([tube])
    assert not bpy.ops.sbs.unbind.poll()
    assert not bpy.ops.sbs.rebind.poll()
    with pytest.raises(RuntimeError, match="has no armature"):
        bpy.ops.sbs.bind()
    assert not tube.modifiers
    assert "has no armature" in capfd.readouterr().out


def test_undo() -> None:
    armature = rigs.make_armature()
    tube = rigs.make_tube()
    tube.sbs.center = "JOINT_SET"
    rigs.select([tube, armature])
    bpy.ops.ed.undo_push(message="Start")
    bpy.ops.sbs.bind()
    bpy.ops.ed.undo_push(message="Bind")
    rigs.turn(armature)
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Pose")
    rigs.turn(armature, seed=9)
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Other pose")
    for step in ("undo", "undo", "redo", "redo", "undo"):
        getattr(bpy.ops.ed, step)()
        assert_right(bpy.data.objects["Tube"], bpy.data.objects["Rig"])
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    tube = bpy.data.objects["Tube"]
    assert not tube.modifiers
    assert error(rigs.evaluated(tube), rigs.positions(tube.data)) == 0.0
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    assert_right(bpy.data.objects["Tube"], bpy.data.objects["Rig"])


def test_save_and_load(tmp_path: Path) -> None:
    tube, armature = make_character()
    rigs.animate(armature)
    bpy.context.scene.frame_set(5)
    path = str(tmp_path / "character.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=False, use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    tube, armature = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    assert_right(tube, armature)
    bpy.context.scene.frame_set(12)
    assert_right(tube, armature)
    assert len(carriers()) == 1


def test_load_without_the_addon(tmp_path: Path) -> None:
    import addon

    tube, armature = make_character()
    wanted = deformed(tube, armature)
    path = str(tmp_path / "character.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    addon.disable()
    bpy.ops.wm.open_mainfile(filepath=path)
    tube = bpy.data.objects["Tube"]
    assert error(rigs.evaluated(tube), wanted) < TOLERANCE
    addon.enable()
    tube, armature = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    rigs.turn(armature, seed=3)
    assert_right(tube, armature)


def save_library(path: Path) -> None:
    """A file with an animated character in the collection Character."""
    tube, armature = make_character()
    rigs.animate(armature)
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    for item in (tube, armature):
        bpy.context.scene.collection.objects.unlink(item)
        collection.objects.link(item)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def link_character(path: Path) -> bpy.types.Collection:
    with bpy.data.libraries.load(str(path), link=True) as (_source, target):
        target.collections = ["Character"]
    return target.collections[0]


def test_library_override(tmp_path: Path) -> None:
    save_library(tmp_path / "library.blend")
    bpy.ops.wm.read_homefile(use_factory_startup=False, use_empty=True)
    collection = link_character(tmp_path / "library.blend")
    bpy.context.scene.collection.children.link(collection)
    override = collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    tube = next(item for item in override.all_objects if item.type == "MESH")
    armature = next(item for item in override.all_objects if item.type == "ARMATURE")
    for frame in (4, 12):
        bpy.context.scene.frame_set(frame)
        assert_right(tube, armature)
    armature.animation_data_clear()
    rigs.turn(armature, seed=6)
    assert_right(tube, armature)
    tube.sbs.method = "LINEAR"
    assert error(rigs.evaluated(tube), deformed(tube, armature, "linear")) < TOLERANCE

    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=False, use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    tube = next(item for item in bpy.data.objects if item.type == "MESH" and item.override_library and item.sbs.bound)
    armature = next(item for item in bpy.data.objects if item.type == "ARMATURE" and item.override_library)
    rigs.turn(armature, seed=8)
    assert tube.sbs.method == "LINEAR"
    assert error(rigs.evaluated(tube), deformed(tube, armature, "linear")) < TOLERANCE
    assert len([item for item in carriers() if item.library is None]) == 1


def test_append(tmp_path: Path) -> None:
    save_library(tmp_path / "library.blend")
    bpy.ops.wm.read_homefile(use_factory_startup=False, use_empty=True)
    for _ in range(2):
        with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=False) as (_source, target):
            target.collections = ["Character"]
        bpy.context.scene.collection.children.link(target.collections[0])
    bpy.context.scene.frame_set(7)
    for collection in bpy.context.scene.collection.children:
        tube = next(item for item in collection.objects if item.type == "MESH")
        armature = next(item for item in collection.objects if item.type == "ARMATURE")
        assert_right(tube, armature)
