# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles and bellies duplicated and deleted as objects: their muscles afterwards, and after an undo."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import addon
import bpy
import muscled
import numpy as np
import pytest
import rigs
from expected import error
from muscled import EXACT, add, assert_right, list_of, muscle_of, state
from objects import ArmatureObject, Character, MeshObject, armature_named, current_layer, current_scene, mesh_named

PARTS = ("origin", "via", "insertion", "belly")


@pytest.fixture
def character() -> Character:
    tube, armature = muscled.make_character()
    current_layer().update()
    rigs.select([armature])
    bpy.ops.ed.undo_push(message="Start")
    return tube, armature


def duplicate(*items: Any, linked: bool = False) -> None:
    """As Shift-D does, with a step of undo."""
    rigs.select(list(items))
    bpy.ops.ed.undo_push(message="Selected")
    assert bpy.ops.object.duplicate("EXEC_DEFAULT", True, linked=linked) == {"FINISHED"}
    rigs.again()


def parts(armature: Any, row: int = 0) -> list[Any]:
    return [getattr(muscle_of(armature, row), part) for part in PARTS]


def census() -> list[tuple[str, list[str]]]:
    collections = [*bpy.data.collections, current_scene().collection]
    found = [(collection.name, sorted(item.name for item in collection.objects)) for collection in collections]
    return [("", sorted(item.name for item in bpy.data.objects)), *sorted(found)]


def assert_own(wanted: Any) -> None:
    """Original and copy are as the original was, and share no object."""
    (tube, armature), (twin, copy) = rigs.again(), rigs.again(".001")
    for mesh, rig in ((tube, armature), (twin, copy)):
        for part in parts(rig):
            assert part is not None and part.parent == rig and part.users_collection, part
        assert error(rigs.evaluated(mesh), wanted) < EXACT
    assert not set(parts(armature)) & set(parts(copy))


@pytest.mark.parametrize("with_parts", [False, True], ids=["mesh and armature", "with handles and bellies"])
@pytest.mark.parametrize("linked", [False, True], ids=["Shift-D", "Alt-D"])
def test_duplicated_and_edited(character: Character, with_parts: bool, linked: bool) -> None:
    tube, armature = character
    wanted, before = assert_right(tube, armature), census()
    duplicate(armature, tube, *(parts(armature) if with_parts else ()), linked=linked)
    twin, copy = rigs.again(".001")
    muscle_of(copy, 0).insertion.location.x += 0.05
    bpy.ops.ed.undo_push(message="Moved")
    moved = assert_right(twin, copy)
    assert error(moved, wanted) > 1e-4
    muscle_of(copy, 0).radius = 0.08
    bpy.ops.ed.undo_push(message="Thin")
    thin = assert_right(twin, copy)
    after = census()
    for _ in range(2):
        bpy.ops.ed.undo()
        assert error(assert_right(*rigs.again(".001")), moved) < EXACT
        bpy.ops.ed.undo()
        assert_own(wanted)
        assert census() == after
        tube, armature = rigs.undo()
        assert census() == before
        assert error(assert_right(tube, armature), wanted) < EXACT
        assert all(part.users_collection and part.parent == armature for part in parts(armature))
        bpy.ops.ed.redo()
        assert_own(wanted)
        assert census() == after
        for shape in (moved, thin):
            bpy.ops.ed.redo()
            assert error(assert_right(*rigs.again(".001")), shape) < EXACT
        assert error(assert_right(*rigs.again()), wanted) < EXACT


def test_what_has_nothing_to_do_with_it(character: Character) -> None:
    """Steps of other objects, and of Edit Mode, in a collection that is not the scene's own."""
    tube, armature = character
    mine = bpy.data.collections.new("Mine")
    current_scene().collection.children.link(mine)
    for item in (tube, armature):
        mine.objects.link(item)
        current_scene().collection.objects.unlink(item)
    other = bpy.data.objects.new("Other", None)
    current_scene().collection.objects.link(other)
    wanted = assert_right(tube, armature)
    duplicate(armature, tube)
    other.location.x = 1.0
    bpy.ops.ed.undo_push(message="Moved")
    assert_own(wanted)
    _, copy = rigs.again(".001")
    rigs.select([copy])
    for mode in ("EDIT", "POSE", "OBJECT"):
        assert bpy.ops.object.mode_set("EXEC_DEFAULT", True, mode=mode) == {"FINISHED"}
        current_layer().update()
    assert_own(wanted)
    after = census()
    for _ in range(2):
        for _ in range(4):
            bpy.ops.ed.undo()
            assert_own(wanted)
            assert census() == after
        assert bpy.data.objects["Other"].location.x == 0.0
        bpy.ops.ed.undo()
        assert error(assert_right(*rigs.again()), wanted) < EXACT
        for _ in range(5):
            bpy.ops.ed.redo()
            assert_own(wanted)
            assert census() == after
        assert bpy.data.objects["Other"].location.x == 1.0


def test_the_mesh_alone(character: Character) -> None:
    tube, armature = character
    wanted = assert_right(tube, armature)
    duplicate(tube)
    twin = mesh_named("Tube.001")
    np.testing.assert_array_equal(rigs.evaluated(twin), wanted)
    muscle_of(armature, 0).radius = 0.08
    assert error(assert_right(tube, armature), wanted) > 1e-4
    assert_right(twin, armature)


@pytest.fixture
def pair() -> Character:
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
    rigs.again()


def rows(armature: ArmatureObject) -> list[str]:
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
def test_undo_brings_back_a_muscle(pair: Character, row: int) -> None:
    tube, armature = pair
    wanted = assert_right(tube, armature)
    other = names(armature)[1 - row]
    delete(muscle_of(armature, row).belly)
    assert rows(armature) == [other]
    without = assert_right(tube, armature)
    assert error(without, wanted) > 1e-4
    assert_as_at_first(*rigs.undo(), wanted)
    tube, armature = rigs.redo()
    assert rows(armature) == [other]
    assert error(assert_right(tube, armature), without) < EXACT
    assert_as_at_first(*rigs.undo(), wanted)


@pytest.mark.parametrize("part", ["origin", "via"])
def test_undo_brings_back_a_handle(pair: Character, part: str) -> None:
    tube, armature = pair
    wanted = assert_right(tube, armature)
    delete(getattr(muscle_of(armature, 0), part))
    assert (0 in state(tube).muscles.problems) == (part == "origin")
    assert error(assert_right(tube, armature), wanted) > 1e-4
    assert rows(armature) == ["Flexor.L", "Extensor.L"]
    assert_as_at_first(*rigs.undo(), wanted)


def test_all_are_deleted(pair: Character) -> None:
    tube, armature = pair
    wanted = assert_right(tube, armature)
    delete(*(muscle.belly for muscle in list_of(armature)))
    rigs.select([armature])
    assert not rows(armature) and not addon.ops.remove_muscle.poll()
    assert error(assert_right(tube, armature), wanted) > 1e-4
    assert_as_at_first(*rigs.undo(), wanted)


def test_what_is_saved_has_none_of_it(pair: Character, tmp_path: Path) -> None:
    """Deleted ones are left out of the file, and yet undo brings them back after it was saved."""
    tube, armature = pair
    wanted = assert_right(tube, armature)
    delete(muscle_of(armature, 0).belly, muscle_of(armature, 1).via)
    without = assert_right(tube, armature)
    path = str(tmp_path / "file.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert error(assert_right(tube, armature), without) < EXACT
    assert_as_at_first(*rigs.undo(), wanted)
    bpy.ops.wm.open_mainfile(filepath=path)
    tube, armature = rigs.again()
    assert names(armature) == ["Extensor.L"] and muscle_of(armature, 0).via is None
    assert not [item for item in bpy.data.objects if item.name.startswith("Flexor") or "Via" in item.name]
    assert error(assert_right(tube, armature), without) < EXACT
    current_scene().frame_set(2)
    current_scene().frame_set(1)
    assert muscle_of(armature, 0).activation == 0.75


def test_saving_fails(pair: Character, tmp_path: Path) -> None:
    tube, armature = pair
    wanted = assert_right(tube, armature)
    delete(muscle_of(armature, 0).belly, muscle_of(armature, 1).via)
    without = assert_right(tube, armature)
    with pytest.raises(RuntimeError, match="there is none"):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "there is none" / "file.blend"))
    assert error(assert_right(tube, armature), without) < EXACT
    assert_as_at_first(*rigs.undo(), wanted)


def test_others_link_what_is_left(pair: Character, tmp_path: Path) -> None:
    """A mesh on the armature of a library covers its muscles without those that were deleted there."""
    tube, armature = pair
    delete(muscle_of(armature, 0).belly)
    without = assert_right(tube, armature)
    rigs.save_library(tmp_path / "library.blend")
    rigs.from_library(tmp_path / "library.blend", link=True)
    tube, armature = rigs.make_tube(rows=81, name="Coat"), armature_named("Rig")
    rigs.bind(tube, armature)
    assert error(assert_right(tube, armature), without) < EXACT
    assert rows(armature) == ["Extensor.L"]


@pytest.mark.parametrize("operator", ["remove_muscle", "mirror_muscle", "add_via_point", "add_muscle"])
def test_operators_remove_it(pair: Character, operator: str) -> None:
    """In a step of their own, which undo takes back before it takes back the deletion; on the muscle that is shown."""
    tube, armature = pair
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
        with pytest.raises(RuntimeError, match="Select"):
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
    tube, armature = rigs.undo()
    assert names(armature) == ["Flexor.L", "Extensor.L"] and rows(armature) == ["Extensor.L"]
    assert error(assert_right(tube, armature), without) < EXACT
    tube, armature = rigs.redo()
    assert names(armature) == rows(armature) == found
    assert error(assert_right(tube, armature), with_it) < EXACT
    for _ in range(3 if operator == "add_muscle" else 2):
        tube, armature = rigs.undo()
    assert rows(armature) == ["Flexor.L", "Extensor.L"]
    assert error(assert_right(tube, armature), wanted) < EXACT


def test_nothing_is_done_to_a_muscle_that_is_not_shown(pair: Character) -> None:
    _, armature = pair
    armature.sbs.muscle_row = 0
    bpy.ops.ed.undo_push(message="Start")
    delete(muscle_of(armature, 0).belly)
    rigs.select([armature])
    with pytest.raises(RuntimeError, match="Choose"):
        addon.ops.remove_muscle()
    armature.sbs.muscle_row = 1
    assert addon.ops.remove_muscle() == {"FINISHED"}
    assert not names(armature)


def test_no_object_of_a_deleted_handle_is_offered(pair: Character) -> None:
    _, armature = pair
    delete(muscle_of(armature, 1).via)
    rigs.select([armature])
    with pytest.raises(RuntimeError, match="view layer"):
        addon.ops.select_muscle(part="via")
    assert addon.ops.add_via_point() == {"FINISHED"}
    assert addon.ops.select_muscle(part="via") == {"FINISHED"}
    assert bpy.context.object == muscle_of(armature, 1).via
