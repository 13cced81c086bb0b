# SPDX-License-Identifier: GPL-3.0-or-later
"""Bellies: shaped in each pose where they show, and no sooner than they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import muscled
import numpy as np
import pytest
import rigs
from muscled import bend, engine, muscle_of
from objects import Character, current_layer, current_scene, mesh_named


@pytest.fixture
def character() -> Character:
    """With poses in frames 1 to 9."""
    tube, armature = muscled.make_character()
    for frame in (1, 9):
        bend(armature, 8.0 * frame)
        armature.pose.bones["B2"].keyframe_insert("rotation_quaternion", frame=frame)
    current_scene().frame_set(1)
    return tube, armature


def shape(belly: Any) -> np.ndarray:
    return rigs.positions(belly.data)


def hide_by_eye(belly: Any, hidden: bool) -> None:
    belly.hide_set(hidden)


def hide_in_viewports(belly: Any, hidden: bool) -> None:
    belly.hide_viewport = hidden


def exclude(belly: Any, hidden: bool) -> None:
    layers = current_layer().layer_collection.children
    next(layer for layer in layers if belly.name in layer.collection.objects).exclude = hidden


@pytest.mark.parametrize("hide", [hide_by_eye, hide_in_viewports, exclude])
def test_hidden_ones_wait_until_they_are_shown(character: Character, hide: Callable[[Any, bool], None]) -> None:
    _, armature = character
    belly = muscle_of(armature, 0).belly
    current_scene().frame_set(6)
    wanted = shape(belly)
    current_scene().frame_set(1)
    before = shape(belly)
    assert np.abs(wanted - before).max() > 0.05
    hide(belly, True)
    current_layer().update()
    current_scene().frame_set(4)
    current_scene().frame_set(6)
    np.testing.assert_array_equal(shape(belly), before)
    # Without another pose.
    hide(belly, False)
    current_layer().update()
    np.testing.assert_array_equal(shape(belly), wanted)
    np.testing.assert_array_equal(rigs.evaluated(belly), wanted)
    current_scene().frame_set(1)
    np.testing.assert_array_equal(shape(belly), before)


def test_those_of_a_second_muscle_do_not_wait(character: Character) -> None:
    _, armature = character
    muscled.add(armature, "Extensor.L", side=-0.2)
    first, second = (muscle_of(armature, row).belly for row in (0, 1))
    current_layer().update()
    before = shape(first), shape(second)
    first.hide_set(True)
    current_scene().frame_set(6)
    np.testing.assert_array_equal(shape(first), before[0])
    assert np.abs(shape(second) - before[1]).max() > 0.01


def follow(belly: Any) -> bpy.types.Object:
    """A plane that lies on a belly."""
    mesh = bpy.data.meshes.new("Follower")
    mesh.from_pydata([(1.0, 0.0, 2.0), (1.0, 0.1, 2.0), (1.0, 0.0, 2.1)], [], [(0, 1, 2)])
    item = bpy.data.objects.new("Follower", mesh)
    current_scene().collection.objects.link(item)
    modifier: Any = item.modifiers.new("Shrinkwrap", "SHRINKWRAP")
    modifier.target = belly
    return item


def instance(belly: Any) -> bpy.types.Object:
    """An instance of the collection above that of a belly."""
    collection = bpy.data.collections.new("Character")
    current_scene().collection.children.link(collection)
    own = belly.users_collection[0]
    collection.children.link(own)
    current_scene().collection.children.unlink(own)
    item = bpy.data.objects.new("Instance", None)
    item.instance_type, item.instance_collection = "COLLECTION", collection
    current_scene().collection.objects.link(item)
    return item


@pytest.mark.parametrize("use", [follow, instance])
def test_hidden_ones_that_others_use_do_not_wait(character: Character, use: Callable[[Any], bpy.types.Object]) -> None:
    _, armature = character
    belly = muscle_of(armature, 0).belly
    current_scene().frame_set(6)
    wanted = shape(belly)
    current_scene().frame_set(1)
    belly.hide_set(True)
    current_layer().update()
    current_scene().frame_set(2)
    user = use(belly)
    current_layer().update()
    current_scene().frame_set(6)
    np.testing.assert_array_equal(shape(belly), wanted)
    # Nothing follows it any more.
    bpy.data.objects.remove(user)
    current_layer().update()
    current_scene().frame_set(1)
    np.testing.assert_array_equal(shape(belly), wanted)


def test_undo(character: Character) -> None:
    """What undo brings back are bellies of an earlier pose."""
    _, armature = character
    rigs.select([armature])
    name = muscle_of(armature, 0).belly.name
    bpy.ops.ed.undo_push(message="Start")
    current_scene().frame_set(6)
    wanted = shape(mesh_named(name))
    bpy.ops.ed.undo_push(message="Frame")
    for _ in range(2):
        bpy.ops.ed.undo()
        current_scene().frame_set(6)
        np.testing.assert_array_equal(shape(mesh_named(name)), wanted)
        bpy.ops.ed.redo()


def test_a_new_pose_repeats_nothing_that_only_edits_change(
    character: Character, monkeypatch: pytest.MonkeyPatch
) -> None:
    tube, armature = character
    tube.location.x = armature.location.x = 3.0
    current_layer().update()
    for frame in (1, 2):
        current_scene().frame_set(frame)
    repeated: list[str] = []

    def note(name: str) -> Callable[..., Any]:
        make = getattr(engine("muscles.muscles"), name)

        def noted(*arguments: Any) -> Any:
            repeated.append(name)
            return make(*arguments)

        return noted

    for name in ("Cover", "_shapes", "corners"):
        monkeypatch.setattr(engine("muscles.muscles"), name, note(name))
    for frame in range(3, 9):
        current_scene().frame_set(frame)
        tube.location.x = armature.location.x = 0.1 * frame
    assert not repeated
    muscle_of(armature, 0).profile = "RADII"
    current_layer().update()
    assert repeated == ["_shapes", "corners", "Cover"]
