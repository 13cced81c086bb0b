# SPDX-License-Identifier: GPL-3.0-or-later
"""A deleted rig is gone: bound meshes rest, as those whose Armature modifiers lost their object; nothing keeps it."""

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
from objects import Character, armature_named, current_layer, current_scene, mesh_named


@pytest.fixture
def character() -> Character:
    """Two tubes on an animated rig: one bound, beside it one with a plain Armature modifier."""
    armature, tube, plain = rigs.make_armature(), rigs.make_tube(rows=21), rigs.make_tube(rows=21, name="Plain")
    plain.modifiers.new("Armature", "ARMATURE").object = armature
    rigs.bind(tube, armature)
    rigs.animate(armature)
    current_scene().frame_set(10)
    bpy.ops.ed.undo_push(message="Start")
    return tube, armature


def by_operator(use_global: bool = False) -> None:
    """As by X or Delete in the view."""
    rigs.select([armature_named("Rig")])
    assert bpy.ops.object.delete("EXEC_DEFAULT", True, use_global=use_global) == {"FINISHED"}


def everywhere() -> None:
    by_operator(use_global=True)


def with_a_mesh() -> None:
    """Rig and a mesh at once: neither keeps the other."""
    rigs.select([armature_named("Rig"), mesh_named("Other")])
    assert bpy.ops.object.delete("EXEC_DEFAULT", True) == {"FINISHED"}


def by_script() -> None:
    bpy.data.objects.remove(armature_named("Rig"))
    bpy.ops.ed.undo_push(message="Remove")


def by_batch() -> None:
    bpy.data.batch_remove([armature_named("Rig")])
    bpy.ops.ed.undo_push(message="Remove")


def assert_rests(path: Path | None = None) -> None:
    """The tube is as the plain one, in all frames, and the panel knows why."""
    if path is not None:
        bpy.ops.wm.open_mainfile(filepath=str(path))
    assert "Rig" not in bpy.data.objects
    for frame in (20, 10):
        current_scene().frame_set(frame)
        tube = mesh_named("Tube")
        np.testing.assert_array_equal(rigs.evaluated(tube), rigs.positions(tube.data))
        np.testing.assert_array_equal(rigs.evaluated(mesh_named("Plain")), rigs.positions(tube.data))
    assert tube.sbs.armature is None
    assert "No armature" in addon.module("engine.live.states").state_of(tube).problem


def assert_deformed() -> None:
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    for frame in (20, 10):
        current_scene().frame_set(frame)
        assert error(rigs.evaluated(tube), rigs.positions(tube.data)) > 0.1
        assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE


@pytest.mark.parametrize("delete", [by_operator, everywhere, by_script, by_batch])
def test_nothing_keeps_it(character: Character, delete: Callable[[], None], tmp_path: Path) -> None:
    assert_deformed()
    delete()
    current_layer().update()
    assert_rests()
    path = tmp_path / "without.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert_rests(path)
    assert not bpy.data.actions and not bpy.data.armatures


@pytest.mark.parametrize("delete", [by_operator, everywhere, by_script])
def test_undo_and_redo(character: Character, delete: Callable[[], None]) -> None:
    delete()
    for _ in range(3):
        assert_rests()
        bpy.ops.ed.undo()
        assert_deformed()
        bpy.ops.ed.redo()
    assert_rests()


def test_deleted_with_one_of_its_meshes(character: Character) -> None:
    _tube, armature = character
    other = rigs.make_tube(rows=9, name="Other")
    rigs.bind(other, armature)
    bpy.ops.ed.undo_push(message="Other")
    with_a_mesh()
    assert "Other" not in bpy.data.objects
    assert_rests()


def test_after_unbinding(character: Character) -> None:
    tube, _armature = character
    rigs.select([tube])
    addon.ops.unbind()
    by_operator()
    assert "Rig" not in bpy.data.objects


@pytest.mark.parametrize("with_key", [False, True])
def test_shape_keys_go_on(character: Character, with_key: bool) -> None:
    """The modifier passes its input on: in each frame the shape of the keys."""
    tube, _armature = character
    wide = rigs.add_shape(tube, (1.3, 0.8, 1.0), 0.5)
    if with_key:
        wide.keyframe_insert("value", frame=10)
        wide.value = 1.0
        wide.keyframe_insert("value", frame=20)
    current_scene().frame_set(10)
    by_operator()
    for frame in (20, 10):
        current_scene().frame_set(frame)
        share = 1.0 if with_key and frame == 20 else 0.5
        wanted = rigs.positions(tube.data) * (1.0 + 0.3 * share, 1.0 - 0.2 * share, 1.0)
        assert error(rigs.evaluated(tube), wanted) < TOLERANCE


def test_another_rig_is_chosen_in_the_modifier(character: Character) -> None:
    """There is one place that says which rig moves a mesh; whoever changes it there gets the settings of that rig."""
    tube, _armature = character
    tube.sbs.scope = "RIG"
    by_operator()
    other = rigs.make_armature(name="Other")
    other.sbs.method = "RIGID"
    other.sbs.center = "WEIGHTED"
    tube.modifiers["Armature"].object = other
    rigs.turn(other, seed=4)
    current_layer().update()
    assert tube.sbs.armature == other
    assert (tube.sbs.method, tube.sbs.center, tube.sbs.scope) == ("RIGID", "WEIGHTED", "RIG")
    assert error(rigs.evaluated(tube), deformed(tube, other, "rigid")) < TOLERANCE


def test_its_modifier_is_removed(character: Character) -> None:
    """A bound mesh gets another one, which does nothing, too."""
    tube, armature = character
    tube.modifiers.remove(tube.modifiers["Armature"])
    current_layer().update()
    assert_deformed()
    assert tube.sbs.armature == armature
    modifier = tube.modifiers["Armature"]
    assert not (modifier.show_viewport or modifier.show_render or modifier.use_vertex_groups)


@pytest.mark.parametrize("is_deleted", [True, False])
def test_files_of_earlier_versions(character: Character, is_deleted: bool, tmp_path: Path) -> None:
    """In them a property said by which rig a mesh is deformed, and was a user of it after it had been deleted."""
    tube, armature = character
    kept: Any = tube
    if hasattr(tube, "bl_system_properties_get"):
        kept = tube.bl_system_properties_get()
    kept["sbs"]["armature"] = armature
    path = tmp_path / "earlier.blend"
    addon.disable(wheels=False)
    if is_deleted:
        by_operator()
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
