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
from muscled import add, assert_right, bend, error, list_of, muscle_of, state
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
    path = str(tmp_path / "file.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    current_layer().update()
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    bend(armature, 30.0)
    assert_right(tube, armature)


def test_a_library_and_its_override(character: Character, tmp_path: Path) -> None:
    tube, armature = character
    path = str(tmp_path / "library.blend")
    collection = bpy.data.collections.new("Character")
    current_scene().collection.children.link(collection)
    for item in list(current_scene().objects):
        collection.objects.link(item)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with library(path, link=True) as (_, to):
        to.collections = ["Character"]
    scene = current_scene()
    linked = to.collections[0]
    scene.collection.children.link(linked)
    linked.override_hierarchy_create(scene, current_layer())
    current_layer().update()
    ours = {item.name: item for item in bpy.data.objects if item.override_library is not None}
    tube, armature = mesh_object(ours["Tube"]), armature_object(ours["Rig"])
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    bend(armature, 50.0)
    before = assert_right(tube, armature)
    muscle_of(armature, 0).activation = 0.8
    after = assert_right(tube, armature)
    assert error(after, before) > 1e-4
    second = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=second)
    bpy.ops.wm.open_mainfile(filepath=second)
    current_layer().update()
    ours = {item.name: item for item in bpy.data.objects if item.override_library is not None}
    tube = mesh_object(ours["Tube"])
    np.testing.assert_allclose(rigs.evaluated(tube), after, atol=1e-5)


def save_library(path: Path) -> None:
    """Save all objects in a collection Character, for other files to link or append, and go on with an empty file."""
    collection = bpy.data.collections.new("Character")
    current_scene().collection.children.link(collection)
    for item in list(current_scene().objects):
        collection.objects.link(item)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True)


def from_library(path: Path, *, link: bool) -> bpy.types.Collection:
    """The collection of another file, in the scene."""
    with library(path, link=link) as (_, to):
        to.collections = ["Character"]
    found: bpy.types.Collection = to.collections[0]
    current_scene().collection.children.link(found)
    current_layer().update()
    return found


def test_appended(character: Character, tmp_path: Path) -> None:
    """All comes along, and is as in its own file."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    save_library(tmp_path / "library.blend")
    from_library(tmp_path / "library.blend", link=False)
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
    save_library(tmp_path / "library.blend")
    from_library(tmp_path / "library.blend", link=True)
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
    save_library(tmp_path / "library.blend")
    from_library(tmp_path / "library.blend", link=True)
    linked = armature_named("Rig")
    tube = rigs.make_tube(rows=81, name="Coat")
    rigs.bind(tube, linked)
    current_layer().update()
    assert not state(tube).muscles.problems
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    assert_right(tube, linked)


def overridden(path: Path) -> Character:
    """An override of the collection of another file, in which everything can be edited."""
    made = rigs.override_character(path)
    current_layer().update()
    found = {item.name: item for item in made.all_objects}
    tube, armature = mesh_object(found["Tube"]), armature_object(found["Rig"])
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return tube, armature


def test_everything_of_an_override_can_be_edited(character: Character, tmp_path: Path) -> None:
    save_library(tmp_path / "library.blend")
    tube, armature = overridden(tmp_path / "library.blend")
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
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    current_layer().update()
    ours = {item.name: item for item in bpy.data.objects if item.override_library is not None}
    np.testing.assert_allclose(rigs.evaluated(mesh_object(ours["Tube"])), after, atol=1e-5)


def test_muscles_are_added_to_an_override(character: Character, tmp_path: Path) -> None:
    """They are of this file, so they can be removed again; those of the library can be switched off."""
    save_library(tmp_path / "library.blend")
    tube, armature = overridden(tmp_path / "library.blend")
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
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    current_layer().update()
    ours = {item.name: item for item in bpy.data.objects if item.override_library is not None}
    tube, armature = mesh_object(ours["Tube"]), armature_object(ours["Rig"])
    assert [muscle.name for muscle in list_of(armature)] == ["Flexor.L", "Extensor.L"]
    np.testing.assert_allclose(rigs.evaluated(tube), with_both, atol=1e-5)
    rigs.select([armature])
    armature.sbs.muscle_row = 1
    assert addon.ops.remove_muscle() == {"FINISHED"}
    np.testing.assert_allclose(assert_right(tube, armature), with_via, atol=1e-5)
    muscle_of(armature, 0).use = False
    assert error(assert_right(tube, armature), with_via) > 1e-4


def test_a_belly_of_an_override_is_deleted(character: Character, tmp_path: Path) -> None:
    save_library(tmp_path / "library.blend")
    tube, armature = overridden(tmp_path / "library.blend")
    bend(armature, 50.0)
    before = assert_right(tube, armature)
    bpy.data.objects.remove(muscle_of(armature, 0).belly)
    for _ in range(2):
        current_layer().update()
    after = assert_right(tube, armature)
    assert error(after, before) > 1e-4
    # The muscle is the library's, so it can only be switched off.
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    current_layer().update()
    ours = {item.name: item for item in bpy.data.objects if item.override_library is not None}
    tube, armature = mesh_object(ours["Tube"]), armature_object(ours["Rig"])
    assert [muscle.use for muscle in list_of(armature)] == [False]
    assert error(assert_right(tube, armature), after) < muscled.EXACT


def test_an_override_of_mesh_and_armature_alone(character: Character, tmp_path: Path) -> None:
    """Handles of the library cannot be moved, so those that can take their place."""
    save_library(tmp_path / "library.blend")
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
