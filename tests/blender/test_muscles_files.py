# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters with muscles in files: saved, linked, overridden, appended."""

from __future__ import annotations

from pathlib import Path

import addon
import bpy
import muscled
import numpy as np
import pytest
import rigs
from expected import error
from muscled import add, assert_right, bend, list_of, muscle_of, state
from objects import (
    Character,
    armature_named,
    armature_object,
    current_layer,
    current_scene,
    library,
    mesh_named,
    mesh_object,
)


@pytest.fixture
def character() -> Character:
    return muscled.make_character()


def test_saved_and_loaded(character: Character, tmp_path: Path) -> None:
    tube, armature = character
    muscle_of(armature, 0).activation = 0.5
    wanted = assert_right(tube, armature)
    tube, armature = rigs.reopen(tmp_path / "file.blend")
    current_layer().update()
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    bend(armature, 30.0)
    assert_right(tube, armature)


def test_appended(character: Character, tmp_path: Path) -> None:
    """All comes along, and is as in its own file."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    rigs.save_library(tmp_path / "library.blend")
    rigs.from_library(tmp_path / "library.blend", link=False)
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    bend(armature, 40.0)
    muscle_of(armature, 0).insertion.location.x += 0.02
    assert_right(tube, armature)
    muscle_of(armature, 0).activation = 0.5
    assert_right(tube, armature)


def test_appended_by_the_mesh_alone(character: Character, tmp_path: Path) -> None:
    """Objects that others refer to come along, though into no collection of the scene: handles and bellies, too."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.append(filename="Tube", directory=str(tmp_path / "library.blend" / "Object") + "/")
    current_layer().update()
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    assert len(armature.sbs.muscles) == 1
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    bend(armature, 40.0)
    assert_right(tube, armature)


def test_linked_without_override(character: Character, tmp_path: Path) -> None:
    """It stays as it was saved; operators say in words what to do."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    rigs.save_library(tmp_path / "library.blend")
    rigs.from_library(tmp_path / "library.blend", link=True)
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    rigs.select([armature])
    assert addon.ops.fit_muscles.poll() is False
    with pytest.raises(RuntimeError, match="Rig belongs to a library; make a library override of it"):
        addon.ops.remove_muscle()
    assert len(armature.sbs.muscles) == 1


def test_a_mesh_of_this_file_on_a_linked_armature(character: Character, tmp_path: Path) -> None:
    """Muscles are those of the library."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    rigs.save_library(tmp_path / "library.blend")
    rigs.from_library(tmp_path / "library.blend", link=True)
    linked = armature_named("Rig")
    tube = rigs.make_tube(rows=81, name="Coat")
    rigs.bind(tube, linked)
    current_layer().update()
    assert not state(tube).muscles.problems
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    assert_right(tube, linked)


def reopened(folder: Path) -> Character:
    """The override, once the file has been saved and opened."""
    rigs.reopen(folder / "shot.blend")
    current_layer().update()
    return rigs.overridden()


def test_a_plain_override_has_activations(character: Character, tmp_path: Path) -> None:
    """Of one in which not everything can be edited."""
    rigs.save_library(tmp_path / "library.blend")
    tube, armature = rigs.override_character(tmp_path / "library.blend", fully_editable=False)
    bend(armature, 50.0)
    before = assert_right(tube, armature)
    muscle_of(armature, 0).activation = 0.8
    after = assert_right(tube, armature)
    assert error(after, before) > 1e-4
    np.testing.assert_allclose(rigs.evaluated(reopened(tmp_path)[0]), after, atol=1e-5)


def test_everything_of_an_override_can_be_edited(character: Character, tmp_path: Path) -> None:
    rigs.save_library(tmp_path / "library.blend")
    tube, armature = rigs.override_character(tmp_path / "library.blend")
    bend(armature, 50.0)
    before = assert_right(tube, armature)
    muscle = muscle_of(armature, 0)
    # Bellies of a library stay as they were saved; handles are moved.
    assert muscle.insertion.override_library is not None
    muscle.insertion.location.x += 0.05
    after = assert_right(tube, armature)
    assert error(after, before) > 1e-4
    muscle.radius = 0.1
    before, after = after, assert_right(tube, armature)
    assert error(after, before) > 1e-4
    muscle.activation = 0.6
    muscle.keyframe_insert("activation", frame=1)
    after = assert_right(tube, armature)
    np.testing.assert_allclose(rigs.evaluated(reopened(tmp_path)[0]), after, atol=1e-5)


def test_muscles_are_added_to_an_override(character: Character, tmp_path: Path) -> None:
    """They are of this file, so they can be removed again; those of the library can be switched off."""
    rigs.save_library(tmp_path / "library.blend")
    tube, armature = rigs.override_character(tmp_path / "library.blend")
    bend(armature, 50.0)
    before = assert_right(tube, armature)
    rigs.select([armature])
    with pytest.raises(RuntimeError, match=r"Flexor\.L is of a library, so it can only be switched off"):
        addon.ops.remove_muscle()
    np.testing.assert_array_equal(rigs.evaluated(tube), before)
    assert addon.ops.add_via_point() == {"FINISHED"}
    with_via = assert_right(tube, armature)
    add(armature, "Extensor.L", side=-0.2)
    with_both = assert_right(tube, armature)
    assert error(with_both, with_via) > 1e-4
    tube, armature = reopened(tmp_path)
    assert [muscle.name for muscle in list_of(armature)] == ["Flexor.L", "Extensor.L"]
    np.testing.assert_allclose(rigs.evaluated(tube), with_both, atol=1e-5)
    rigs.select([armature])
    armature.sbs.muscle_row = 1
    assert addon.ops.remove_muscle() == {"FINISHED"}
    np.testing.assert_allclose(assert_right(tube, armature), with_via, atol=1e-5)
    muscle_of(armature, 0).use = False
    assert error(assert_right(tube, armature), with_via) > 1e-4


def test_a_belly_of_an_override_is_deleted(character: Character, tmp_path: Path) -> None:
    rigs.save_library(tmp_path / "library.blend")
    tube, armature = rigs.override_character(tmp_path / "library.blend")
    bend(armature, 50.0)
    before = assert_right(tube, armature)
    bpy.data.objects.remove(muscle_of(armature, 0).belly)
    for _ in range(2):
        current_layer().update()
    after = assert_right(tube, armature)
    assert error(after, before) > 1e-4
    # The muscle is the library's, so it can only be switched off.
    tube, armature = reopened(tmp_path)
    assert [muscle.use for muscle in list_of(armature)] == [False]
    assert error(assert_right(tube, armature), after) < muscled.EXACT


def test_an_override_of_mesh_and_armature_alone(character: Character, tmp_path: Path) -> None:
    """Handles of the library cannot be moved, so those that can take their place."""
    rigs.save_library(tmp_path / "library.blend")
    with library(tmp_path / "library.blend", link=True) as (_, to):
        to.objects = ["Tube", "Rig"]
    tube, armature = mesh_object(to.objects[0].override_create()), armature_object(to.objects[1].override_create())
    for item in (armature, tube):
        current_scene().collection.objects.link(item)
    tube.sbs.armature = armature
    for _ in range(2):
        current_layer().update()
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    bend(armature, 40.0)
    before = assert_right(tube, armature)
    assert not state(tube).muscles.problems
    muscle_of(armature, 0).insertion.location.x += 0.05
    assert error(assert_right(tube, armature), before) > 1e-4


def test_deleted_armature(character: Character) -> None:
    """The mesh rests, as by Blender's own modifier; once undo has brought the armature back all is as before."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    rigs.select([armature])
    bpy.ops.ed.undo_push(message="Start")
    assert bpy.ops.object.delete("EXEC_DEFAULT", True) == {"FINISHED"}
    for _ in range(2):
        current_layer().update()
    np.testing.assert_array_equal(rigs.evaluated(tube), rigs.positions(tube.data))
    bpy.ops.ed.undo()
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    np.testing.assert_allclose(assert_right(tube, armature), wanted, atol=1e-6)
    assert muscle_of(armature, 0).belly.users_collection and muscle_of(armature, 0).via.users_collection
    bpy.data.objects.remove(armature)
    current_layer().update()
    assert "armature" in state(tube).problem
