# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that are hidden, themselves or by their collection, still deform meshes that are not their children."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from numpy.typing import NDArray


def hide_object(armature: bpy.types.Object, hidden: bool) -> None:
    armature.hide_viewport = hidden


def hide_by_eye(armature: bpy.types.Object, hidden: bool) -> None:
    armature.hide_set(hidden)


def hide_collection(armature: bpy.types.Object, hidden: bool) -> None:
    armature.users_collection[0].hide_viewport = hidden


def exclude_collection(armature: bpy.types.Object, hidden: bool) -> None:
    children = bpy.context.view_layer.layer_collection.children
    children[armature.users_collection[0].name].exclude = hidden


def hide_in_renders(armature: bpy.types.Object, hidden: bool) -> None:
    armature.hide_render = hidden


@pytest.fixture
def character() -> tuple[bpy.types.Object, bpy.types.Object]:
    """A bound mesh and its armature, animated, in a collection of its own and not the parent."""
    armature = rigs.make_armature()
    collection = bpy.data.collections.new("Rigs")
    scene = bpy.context.scene
    scene.collection.children.link(collection)
    collection.objects.link(armature)
    scene.collection.objects.unlink(armature)
    tube = rigs.make_tube()
    rigs.bind(tube, armature)
    rigs.animate(armature)
    return tube, armature


def wanted_at(frames: tuple[int, ...], tube: bpy.types.Object, armature: bpy.types.Object) -> list[NDArray[Any]]:
    wanted = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        wanted.append(deformed(tube, armature))
    return wanted


def probes() -> list[bpy.types.Object]:
    return [item for item in bpy.data.objects if "sbs_pose_probe" in item]


@pytest.mark.parametrize(
    "hide",
    [hide_object, hide_by_eye, hide_collection, exclude_collection, hide_in_renders],
    ids=lambda hide: hide.__name__,
)
def test_hidden(character: tuple[bpy.types.Object, bpy.types.Object], hide: object) -> None:
    tube, armature = character
    frames = (3, 9, 17)
    wanted = wanted_at(frames, tube, armature)
    hide(armature, True)
    # Blender learns of the probe in one update and poses the rig in the next.
    for _ in range(2):
        bpy.context.view_layer.update()
    for frame, positions in zip(frames, wanted, strict=True):
        bpy.context.scene.frame_set(frame)
        assert error(rigs.evaluated(tube), positions) < TOLERANCE
    assert len(probes()) == (hide is not hide_by_eye)
    hide(armature, False)
    bpy.context.view_layer.update()
    assert not probes()
    bpy.context.scene.frame_set(9)
    assert error(rigs.evaluated(tube), wanted[1]) < TOLERANCE


def test_hidden_parent_needs_no_probe(character: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    tube, armature = character
    tube.parent = armature
    frames = (3, 9)
    wanted = wanted_at(frames, tube, armature)
    armature.hide_viewport = True
    bpy.context.view_layer.update()
    for frame, positions in zip(frames, wanted, strict=True):
        bpy.context.scene.frame_set(frame)
        assert error(rigs.evaluated(tube), positions) < TOLERANCE
    assert not probes()
