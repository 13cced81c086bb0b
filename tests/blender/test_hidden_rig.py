# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that are hidden, themselves or by their collection, still deform meshes that are not their children."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from numpy.typing import NDArray
from objects import ArmatureObject, Character, MeshObject, current_layer, current_scene


def hide_object(armature: ArmatureObject, hidden: bool) -> None:
    armature.hide_viewport = hidden


def hide_by_eye(armature: ArmatureObject, hidden: bool) -> None:
    armature.hide_set(hidden)


def hide_collection(armature: ArmatureObject, hidden: bool) -> None:
    armature.users_collection[0].hide_viewport = hidden


def exclude_collection(armature: ArmatureObject, hidden: bool) -> None:
    children = current_layer().layer_collection.children
    children[armature.users_collection[0].name].exclude = hidden


def hide_in_renders(armature: ArmatureObject, hidden: bool) -> None:
    armature.hide_render = hidden


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


@pytest.mark.parametrize(
    "hide",
    [hide_object, hide_by_eye, hide_collection, exclude_collection, hide_in_renders],
    ids=lambda hide: hide.__name__,
)
def test_hidden(character: Character, hide: Callable[[ArmatureObject, bool], None]) -> None:
    tube, armature = character
    frames = (3, 9, 17)
    wanted = wanted_at(frames, tube, armature)
    hide(armature, True)
    # Blender learns of the probe in one update and poses the rig in the next.
    for _ in range(2):
        current_layer().update()
    for frame, positions in zip(frames, wanted, strict=True):
        current_scene().frame_set(frame)
        assert error(rigs.evaluated(tube), positions) < TOLERANCE
    assert len(probes()) == (hide is not hide_by_eye)
    hide(armature, False)
    current_layer().update()
    assert not probes()
    current_scene().frame_set(9)
    assert error(rigs.evaluated(tube), wanted[1]) < TOLERANCE


def test_hidden_parent_needs_no_probe(character: Character) -> None:
    tube, armature = character
    tube.parent = armature
    frames = (3, 9)
    wanted = wanted_at(frames, tube, armature)
    armature.hide_viewport = True
    current_layer().update()
    for frame, positions in zip(frames, wanted, strict=True):
        current_scene().frame_set(frame)
        assert error(rigs.evaluated(tube), positions) < TOLERANCE
    assert not probes()


def test_an_edited_pose_of_a_hidden_rig(character: Character) -> None:
    """Another mesh follows a hidden rig: all show the pose as it was edited, not that of its animation."""
    tube, armature = character
    other = rigs.make_tube()
    rigs.bind(other, rigs.make_armature())
    current_scene().frame_set(10)
    hide_object(armature, True)
    current_layer().update()
    rigs.turn(armature, seed=7)
    current_layer().update()
    other.sbs.armature = armature
    current_layer().update()
    for item in (tube, other):
        assert error(rigs.evaluated(item), deformed(item, armature)) < TOLERANCE, item.name
