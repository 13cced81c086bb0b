# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters with muscles duplicated as objects: each copy has muscles of its own, also after undo and redo."""

from __future__ import annotations

from typing import Any

import bpy
import muscled
import numpy as np
import pytest
import rigs
from expected import error
from muscled import EXACT, assert_right, muscle_of
from objects import Character, armature_named, current_layer, current_scene, mesh_named

PARTS = ("origin", "via", "insertion", "belly")


@pytest.fixture
def character() -> Character:
    tube, armature = muscled.make_character()
    current_layer().update()
    rigs.select([armature])
    bpy.ops.ed.undo_push(message="Start")
    return tube, armature


def named(ending: str = "") -> Character:
    """A character that there is now."""
    for _ in range(2):
        current_layer().update()
    return mesh_named(f"Tube{ending}"), armature_named(f"Rig{ending}")


def duplicate(*items: Any, linked: bool = False) -> None:
    """As Shift-D does, with a step of undo."""
    rigs.select(list(items))
    bpy.ops.ed.undo_push(message="Selected")
    assert bpy.ops.object.duplicate("EXEC_DEFAULT", True, linked=linked) == {"FINISHED"}
    for _ in range(2):
        current_layer().update()


def parts(armature: Any, row: int = 0) -> list[Any]:
    return [getattr(muscle_of(armature, row), part) for part in PARTS]


def census() -> list[tuple[str, list[str]]]:
    """All objects, and which are in each collection."""
    collections = [*bpy.data.collections, current_scene().collection]
    found = [(collection.name, sorted(item.name for item in collection.objects)) for collection in collections]
    return [("", sorted(item.name for item in bpy.data.objects)), *sorted(found)]


def assert_own(wanted: Any) -> None:
    """Original and copy are as the original was, and share no object."""
    (tube, armature), (twin, copy) = named(), named(".001")
    for mesh, rig in ((tube, armature), (twin, copy)):
        for part in parts(rig):
            assert part is not None and part.parent == rig and part.users_collection, part
        assert error(rigs.evaluated(mesh), wanted) < EXACT
    assert not set(parts(armature)) & set(parts(copy))


@pytest.mark.parametrize("with_parts", [False, True], ids=["mesh and armature", "with handles and bellies"])
@pytest.mark.parametrize("linked", [False, True], ids=["Shift-D", "Alt-D"])
def test_undo_and_redo(character: Character, with_parts: bool, linked: bool) -> None:
    tube, armature = character
    wanted = assert_right(tube, armature)
    before = census()
    duplicate(armature, tube, *(parts(armature) if with_parts else ()), linked=linked)
    assert_own(wanted)
    after = census()
    for _ in range(2):
        bpy.ops.ed.undo()
        tube, armature = named()
        assert census() == before
        assert error(assert_right(tube, armature), wanted) < EXACT
        assert all(part.users_collection and part.parent == armature for part in parts(armature))
        bpy.ops.ed.redo()
        assert_own(wanted)
        assert census() == after


@pytest.mark.parametrize("with_parts", [False, True], ids=["mesh and armature", "with handles and bellies"])
def test_edits_after_it(character: Character, with_parts: bool) -> None:
    """Steps after the duplication, undone one by one, and all redone."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    duplicate(armature, tube, *(parts(armature) if with_parts else ()))
    twin, copy = named(".001")
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
        twin, copy = named(".001")
        assert error(assert_right(twin, copy), moved) < EXACT
        bpy.ops.ed.undo()
        assert_own(wanted)
        assert census() == after
        bpy.ops.ed.undo()
        assert error(assert_right(*named()), wanted) < EXACT
        bpy.ops.ed.redo()
        assert_own(wanted)
        bpy.ops.ed.redo()
        assert error(assert_right(*named(".001")), moved) < EXACT
        bpy.ops.ed.redo()
        assert error(assert_right(*named(".001")), thin) < EXACT
        assert error(assert_right(*named()), wanted) < EXACT
        assert census() == after


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
    _, copy = named(".001")
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
        assert error(assert_right(*named()), wanted) < EXACT
        for _ in range(5):
            bpy.ops.ed.redo()
            assert_own(wanted)
            assert census() == after
        assert bpy.data.objects["Other"].location.x == 1.0


def test_the_mesh_alone(character: Character) -> None:
    """Another mesh on the same armature covers the same muscles."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    duplicate(tube)
    twin = mesh_named("Tube.001")
    np.testing.assert_array_equal(rigs.evaluated(twin), wanted)
    muscle_of(armature, 0).radius = 0.08
    assert error(assert_right(tube, armature), wanted) > 1e-4
    assert_right(twin, armature)
