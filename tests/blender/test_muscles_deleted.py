# SPDX-License-Identifier: GPL-3.0-or-later
"""Bellies and handles that an artist deletes as objects: their muscles afterwards, and after an undo."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import addon
import bpy
import muscled
import pytest
import rigs
from expected import error
from muscled import EXACT, add, assert_right, list_of, muscle_of, state
from objects import ArmatureObject, Character, MeshObject, armature_named, current_layer, current_scene, mesh_named


@pytest.fixture
def character() -> Character:
    """With two muscles, of which each has keys."""
    tube, armature = muscled.make_character()
    add(armature, "Extensor.L", side=-0.2)
    for muscle, value in zip(list_of(armature), (0.25, 0.75), strict=True):
        muscle.activation = value
        muscle.keyframe_insert("activation", frame=1)
    armature.sbs.muscle_row = 1
    current_scene().frame_set(1)
    current_layer().update()
    rigs.select([armature])
    bpy.ops.ed.undo_push(message="Start")
    return tube, armature


def delete(*items: Any) -> None:
    """As X does, with a step of undo."""
    rigs.select(list(items))
    assert bpy.ops.object.delete("EXEC_DEFAULT", True) == {"FINISHED"}
    for _ in range(2):
        current_layer().update()


def again() -> Character:
    """The character that undo or a file has brought."""
    current_layer().update()
    return mesh_named("Tube"), armature_named("Rig")


def undo() -> Character:
    bpy.ops.ed.undo()
    return again()


def redo() -> Character:
    bpy.ops.ed.redo()
    return again()


def rows(armature: ArmatureObject) -> list[str]:
    """The names in the list that the panel shows."""
    drawer = SimpleNamespace(bitflag_filter_item=1, filter_name="")
    drawn_by: Any = addon.module("muscles.panel").SBS_UL_muscles
    flags = drawn_by.filter_items(drawer, bpy.context, armature.sbs, "muscles")[0]
    return [muscle.name for muscle, flag in zip(list_of(armature), flags, strict=True) if flag]


def names(armature: ArmatureObject) -> list[str]:
    return [muscle.name for muscle in list_of(armature)]


def assert_as_at_first(tube: MeshObject, armature: ArmatureObject, wanted: Any) -> None:
    assert names(armature) == rows(armature) == ["Flexor.L", "Extensor.L"]
    assert [muscle.activation for muscle in list_of(armature)] == [0.25, 0.75]
    for row in range(2):
        muscle = muscle_of(armature, row)
        muscle.activation = 0.0
        assert all(muscled.is_there(item) for item in (muscle.origin, muscle.via, muscle.insertion, muscle.belly))
    # Keys are there, and of the same muscles.
    current_scene().frame_set(2)
    current_scene().frame_set(1)
    assert [muscle.activation for muscle in list_of(armature)] == [0.25, 0.75]
    assert not state(tube).muscles.problems
    assert error(assert_right(tube, armature), wanted) < EXACT


@pytest.mark.parametrize("row", [0, 1])
def test_undo_brings_back_a_muscle(character: Character, row: int) -> None:
    tube, armature = character
    wanted = assert_right(tube, armature)
    other = names(armature)[1 - row]
    delete(muscle_of(armature, row).belly)
    assert rows(armature) == [other]
    without = assert_right(tube, armature)
    assert error(without, wanted) > 1e-4
    assert_as_at_first(*undo(), wanted)
    tube, armature = redo()
    assert rows(armature) == [other]
    assert error(assert_right(tube, armature), without) < EXACT
    assert_as_at_first(*undo(), wanted)


@pytest.mark.parametrize("part", ["origin", "via"])
def test_undo_brings_back_a_handle(character: Character, part: str) -> None:
    tube, armature = character
    wanted = assert_right(tube, armature)
    delete(getattr(muscle_of(armature, 0), part))
    assert ("no origin" in state(tube).muscles.problems.get(0, "")) == (part == "origin")
    assert error(assert_right(tube, armature), wanted) > 1e-4
    assert rows(armature) == ["Flexor.L", "Extensor.L"]
    assert_as_at_first(*undo(), wanted)


def test_all_are_deleted(character: Character) -> None:
    tube, armature = character
    wanted = assert_right(tube, armature)
    delete(*(muscle.belly for muscle in list_of(armature)))
    rigs.select([armature])
    assert not rows(armature) and not addon.ops.remove_muscle.poll()
    assert error(assert_right(tube, armature), wanted) > 1e-4
    assert_as_at_first(*undo(), wanted)


def test_what_is_saved_has_none_of_it(character: Character, tmp_path: Path) -> None:
    """Deleted ones are left out of the file, and yet undo brings them back after it was saved."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    delete(muscle_of(armature, 0).belly, muscle_of(armature, 1).via)
    without = assert_right(tube, armature)
    path = str(tmp_path / "file.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert error(assert_right(tube, armature), without) < EXACT
    assert_as_at_first(*undo(), wanted)
    bpy.ops.wm.open_mainfile(filepath=path)
    tube, armature = again()
    assert names(armature) == ["Extensor.L"] and muscle_of(armature, 0).via is None
    assert not [item for item in bpy.data.objects if item.name.startswith("Flexor") or "Via" in item.name]
    assert error(assert_right(tube, armature), without) < EXACT
    current_scene().frame_set(2)
    current_scene().frame_set(1)
    assert muscle_of(armature, 0).activation == 0.75


def test_saving_fails(character: Character, tmp_path: Path) -> None:
    """All is as it was before."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    delete(muscle_of(armature, 0).belly, muscle_of(armature, 1).via)
    without = assert_right(tube, armature)
    with pytest.raises(RuntimeError, match="there is none"):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "there is none" / "file.blend"))
    assert error(assert_right(tube, armature), without) < EXACT
    assert_as_at_first(*undo(), wanted)


def test_others_link_what_is_left(character: Character, tmp_path: Path) -> None:
    """A mesh on the armature of a library covers its muscles without those that were deleted there."""
    tube, armature = character
    delete(muscle_of(armature, 0).belly)
    without = assert_right(tube, armature)
    rigs.save_library(tmp_path / "library.blend")
    rigs.from_library(tmp_path / "library.blend", link=True)
    tube, armature = rigs.make_tube(rows=81, name="Coat"), armature_named("Rig")
    rigs.bind(tube, armature)
    assert error(assert_right(tube, armature), without) < EXACT
    assert rows(armature) == ["Extensor.L"]


@pytest.mark.parametrize("operator", ["remove_muscle", "mirror_muscle", "add_via_point", "add_muscle"])
def test_operators_remove_it(character: Character, operator: str) -> None:
    """In a step of their own, which undo takes back before it takes back the deletion; on the muscle that is shown."""
    tube, armature = character
    muscled.name_sides(armature)
    muscled.add_right_side(armature)
    muscle_of(armature, 1).via = None
    bpy.ops.ed.undo_push(message="Start")
    wanted = assert_right(tube, armature)
    delete(muscle_of(armature, 0).belly)
    without = assert_right(tube, armature)
    rigs.select([armature])
    if operator == "add_muscle":
        # One that fails leaves all as it is.
        with pytest.raises(RuntimeError, match="Select the bone"):
            addon.ops.add_muscle("EXEC_DEFAULT", True)
        assert names(armature) == ["Flexor.L", "Extensor.L"]
        bpy.ops.object.mode_set(mode="POSE")
        armature.data.bones.active = armature.data.bones["Lower.L"]
        rigs.select_bones(armature, "Upper.L", "Lower.L")
        bpy.ops.ed.undo_push(message="Pose")
    assert getattr(addon.ops, operator)("EXEC_DEFAULT", True) == {"FINISHED"}
    found = {
        "remove_muscle": [],
        "mirror_muscle": ["Extensor.L", "Extensor.R"],
        "add_via_point": ["Extensor.L"],
        "add_muscle": ["Extensor.L", "Muscle.L"],
    }[operator]
    assert names(armature) == rows(armature) == found
    if operator == "add_via_point":
        assert muscle_of(armature, 0).via is not None
    assert not [item for item in bpy.data.objects if item.name.startswith("Flexor")]
    with_it = assert_right(tube, armature)
    tube, armature = undo()
    assert names(armature) == ["Flexor.L", "Extensor.L"] and rows(armature) == ["Extensor.L"]
    assert error(assert_right(tube, armature), without) < EXACT
    tube, armature = redo()
    assert names(armature) == rows(armature) == found
    assert error(assert_right(tube, armature), with_it) < EXACT
    for _ in range(3 if operator == "add_muscle" else 2):
        tube, armature = undo()
    assert rows(armature) == ["Flexor.L", "Extensor.L"]
    assert error(assert_right(tube, armature), wanted) < EXACT


def test_nothing_is_done_to_a_muscle_that_is_not_shown(character: Character) -> None:
    _, armature = character
    armature.sbs.muscle_row = 0
    bpy.ops.ed.undo_push(message="Start")
    delete(muscle_of(armature, 0).belly)
    rigs.select([armature])
    with pytest.raises(RuntimeError, match="Choose a muscle in the list"):
        addon.ops.remove_muscle()
    armature.sbs.muscle_row = 1
    assert addon.ops.remove_muscle() == {"FINISHED"}
    assert not names(armature)


def test_no_object_of_a_deleted_handle_is_offered(character: Character) -> None:
    _, armature = character
    delete(muscle_of(armature, 1).via)
    rigs.select([armature])
    with pytest.raises(RuntimeError, match="It is not in the view layer"):
        addon.ops.select_muscle(part="via")
    assert addon.ops.add_via_point() == {"FINISHED"}
    assert addon.ops.select_muscle(part="via") == {"FINISHED"}
    assert bpy.context.object == muscle_of(armature, 1).via
