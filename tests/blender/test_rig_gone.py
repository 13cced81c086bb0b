# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that are hidden go on deforming; one that is deleted is gone, and its meshes rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from numpy.typing import NDArray
from objects import ArmatureObject, Character, MeshObject, armature_named, current_layer, current_scene, mesh_named


def exclude_collection(armature: ArmatureObject, hidden: bool) -> None:
    children = current_layer().layer_collection.children
    children[armature.users_collection[0].name].exclude = hidden


@pytest.fixture
def character() -> Character:
    """A bound mesh and its armature, animated, in a collection of its own and not the parent."""
    armature = rigs.make_armature()
    collection = bpy.data.collections.new("Rigs")
    scene = current_scene()
    scene.collection.children.link(collection)
    collection.objects.link(armature)
    scene.collection.objects.unlink(armature)
    tube = rigs.make_tube()
    rigs.bind(tube, armature)
    rigs.animate(armature)
    return tube, armature


def wanted_at(frames: tuple[int, ...], tube: MeshObject, armature: ArmatureObject) -> list[NDArray[Any]]:
    wanted = []
    for frame in frames:
        current_scene().frame_set(frame)
        wanted.append(deformed(tube, armature))
    return wanted


def probes() -> list[bpy.types.Object]:
    return [item for item in bpy.data.objects if item.get("sbs_pose_probe") is not None]


WAYS_TO_HIDE: dict[str, Callable[[ArmatureObject, bool], None]] = {
    "object": lambda armature, hidden: setattr(armature, "hide_viewport", hidden),
    "eye": lambda armature, hidden: armature.hide_set(hidden),
    "collection": lambda armature, hidden: setattr(armature.users_collection[0], "hide_viewport", hidden),
    "excluded collection": exclude_collection,
    "renders": lambda armature, hidden: setattr(armature, "hide_render", hidden),
}


@pytest.mark.parametrize("way", WAYS_TO_HIDE)
def test_hidden(character: Character, way: str) -> None:
    tube, armature = character
    hide = WAYS_TO_HIDE[way]
    frames = (3, 9, 17)
    wanted = wanted_at(frames, tube, armature)
    hide(armature, True)
    # Blender learns of the probe in one update and poses the rig in the next.
    for _ in range(2):
        current_layer().update()
    for frame, positions in zip(frames, wanted, strict=True):
        current_scene().frame_set(frame)
        assert error(rigs.evaluated(tube), positions) < TOLERANCE
    assert len(probes()) == (way != "eye")
    hide(armature, False)
    current_layer().update()
    assert not probes()
    current_scene().frame_set(9)
    assert error(rigs.evaluated(tube), wanted[1]) < TOLERANCE


def test_hidden_parent_needs_no_probe(character: Character) -> None:
    tube, armature = character
    tube.parent = armature
    (wanted,) = wanted_at((9,), tube, armature)
    armature.hide_viewport = True
    current_scene().frame_set(3)
    current_scene().frame_set(9)
    assert error(rigs.evaluated(tube), wanted) < TOLERANCE
    assert not probes()


def test_an_edited_pose_of_a_hidden_rig(character: Character) -> None:
    """Another mesh follows a hidden rig: all show the edited pose, not the pose of the rig's animation."""
    tube, armature = character
    other = rigs.make_tube()
    rigs.bind(other, rigs.make_armature())
    current_scene().frame_set(10)
    armature.hide_viewport = True
    current_layer().update()
    rigs.turn(armature, seed=7)
    current_layer().update()
    other.sbs.armature = armature
    current_layer().update()
    for item in (tube, other):
        assert error(rigs.evaluated(item), deformed(item, armature)) < TOLERANCE, item.name


@pytest.fixture
def shot() -> Character:
    """Two tubes on an animated rig: one bound, beside it one with a plain Armature modifier."""
    armature, tube, plain = rigs.make_armature(), rigs.make_tube(rows=21), rigs.make_tube(rows=21, name="Plain")
    plain.modifiers.new("Armature", "ARMATURE").object = armature
    rigs.bind(tube, armature)
    rigs.animate(armature)
    current_scene().frame_set(10)
    bpy.ops.ed.undo_push(message="Start")
    return tube, armature


def delete(*others: str, use_global: bool = False) -> None:
    """As by X or Delete in the view, maybe with other objects."""
    rigs.select([bpy.data.objects[name] for name in ("Rig", *others)])
    assert bpy.ops.object.delete("EXEC_DEFAULT", True, use_global=use_global) == {"FINISHED"}


def by_script(remove: Callable[..., None], items: object) -> None:
    remove(items)
    bpy.ops.ed.undo_push(message="Remove")


WAYS_TO_DELETE: dict[str, Callable[[], object]] = {
    "operator": delete,
    "everywhere": lambda: delete(use_global=True),
    "script": lambda: by_script(bpy.data.objects.remove, armature_named("Rig")),
    "batch": lambda: by_script(bpy.data.batch_remove, [armature_named("Rig")]),
}


def assert_rests(path: Path | None = None) -> None:
    if path is not None:
        bpy.ops.wm.open_mainfile(filepath=str(path))
    assert "Rig" not in bpy.data.objects
    for frame in (20, 10):
        current_scene().frame_set(frame)
        tube = mesh_named("Tube")
        np.testing.assert_array_equal(rigs.evaluated(tube), rigs.positions(tube.data))
        np.testing.assert_array_equal(rigs.evaluated(mesh_named("Plain")), rigs.positions(tube.data))
    assert tube.sbs.armature is None
    assert rigs.state_of(tube).problem


def assert_deformed() -> None:
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    for frame in (20, 10):
        current_scene().frame_set(frame)
        assert error(rigs.evaluated(tube), rigs.positions(tube.data)) > 0.1
        assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE


@pytest.mark.parametrize("way", WAYS_TO_DELETE)
@pytest.mark.usefixtures("shot")
def test_nothing_keeps_it(way: str, tmp_path: Path) -> None:
    assert_deformed()
    WAYS_TO_DELETE[way]()
    current_layer().update()
    assert_rests()
    path = tmp_path / "without.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert_rests(path)
    assert not bpy.data.actions and not bpy.data.armatures


@pytest.mark.parametrize("way", ["operator", "everywhere", "script"])
@pytest.mark.usefixtures("shot")
def test_undo_and_redo(way: str) -> None:
    WAYS_TO_DELETE[way]()
    for _ in range(3):
        assert_rests()
        bpy.ops.ed.undo()
        assert_deformed()
        bpy.ops.ed.redo()
    assert_rests()


def test_deleted_with_one_of_its_meshes(shot: Character) -> None:
    _tube, armature = shot
    other = rigs.make_tube(rows=9, name="Other")
    rigs.bind(other, armature)
    bpy.ops.ed.undo_push(message="Other")
    delete("Other")
    assert "Other" not in bpy.data.objects
    assert_rests()


def test_after_unbinding(shot: Character) -> None:
    tube, _armature = shot
    rigs.select([tube])
    addon.ops.unbind()
    delete()
    assert "Rig" not in bpy.data.objects


@pytest.mark.parametrize("with_key", [False, True])
def test_shape_keys_go_on(shot: Character, with_key: bool) -> None:
    """The modifier passes its input on: in each frame the shape of the keys."""
    tube, _armature = shot
    wide = rigs.add_shape(tube, (1.3, 0.8, 1.0), 0.5)
    if with_key:
        wide.keyframe_insert("value", frame=10)
        wide.value = 1.0
        wide.keyframe_insert("value", frame=20)
    current_scene().frame_set(10)
    delete()
    for frame in (20, 10):
        current_scene().frame_set(frame)
        share = 1.0 if with_key and frame == 20 else 0.5
        wanted = rigs.positions(tube.data) * (1.0 + 0.3 * share, 1.0 - 0.2 * share, 1.0)
        assert error(rigs.evaluated(tube), wanted) < TOLERANCE


def test_another_rig_is_chosen_in_the_modifier(shot: Character) -> None:
    """There is one place that says which rig moves a mesh; whoever changes it there gets the settings of that rig."""
    tube, _armature = shot
    tube.sbs.scope = "RIG"
    delete()
    other = rigs.make_armature(name="Other")
    other.sbs.method = "RIGID"
    other.sbs.center = "WEIGHTED"
    tube.modifiers["Armature"].object = other
    rigs.turn(other, seed=4)
    current_layer().update()
    assert tube.sbs.armature == other
    assert (tube.sbs.method, tube.sbs.center, tube.sbs.scope) == ("RIGID", "WEIGHTED", "RIG")
    assert error(rigs.evaluated(tube), deformed(tube, other, "rigid")) < TOLERANCE


def test_its_modifier_is_removed(shot: Character) -> None:
    tube, armature = shot
    tube.modifiers.remove(tube.modifiers["Armature"])
    current_layer().update()
    assert_deformed()
    assert tube.sbs.armature == armature
    modifier = tube.modifiers["Armature"]
    assert not (modifier.show_viewport or modifier.show_render or modifier.use_vertex_groups)


@pytest.mark.parametrize("is_deleted", [True, False])
def test_files_of_earlier_versions(shot: Character, is_deleted: bool, tmp_path: Path) -> None:
    """In them a property said by which rig a mesh is deformed, and was a user of it after it had been deleted."""
    tube, armature = shot
    kept: Any = tube
    if hasattr(tube, "bl_system_properties_get"):
        kept = tube.bl_system_properties_get()
    kept["sbs"]["armature"] = armature
    path = tmp_path / "earlier.blend"
    addon.disable(wheels=False)
    if is_deleted:
        delete()
        assert "Rig" in bpy.data.objects
    else:
        tube.modifiers["Armature"].object = None
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    addon.enable(wheels=False)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    if is_deleted:
        assert_rests()
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        assert_rests(path)
    else:
        assert_deformed()
