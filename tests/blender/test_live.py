# SPDX-License-Identifier: GPL-3.0-or-later
"""The live engine: what Blender shows of a bound mesh is what the library says, in each situation."""

from __future__ import annotations

from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import ArmatureObject, Character, MeshObject, current_layer, current_scene


def make_character() -> Character:
    """A bound tube with its armature as the parent."""
    armature = rigs.make_armature()
    tube = rigs.make_tube()
    tube.parent = armature
    rigs.bind(tube, armature)
    return tube, armature


def assert_right(tube: MeshObject, armature: ArmatureObject, method: str = "spherical", **options: Any) -> None:
    wanted = deformed(tube, armature, method, **options)
    assert error(rigs.evaluated(tube), wanted) < TOLERANCE
    rest = np.array([vertex.co for vertex in tube.data.vertices])
    assert error(rest, wanted) > 0.01, "the pose must move the mesh"


@pytest.mark.parametrize("method", ["spherical", "dual_quaternion", "linear", "rigid"])
def test_pose(method: str) -> None:
    tube, armature = make_character()
    tube.sbs.method = method.upper()
    rigs.turn(armature)
    assert_right(tube, armature, method)
    rigs.turn(armature, seed=2)
    assert_right(tube, armature, method)


@pytest.mark.parametrize(
    ("rotation", "center"), [("average", "joint_set"), ("qlerp", "weighted"), ("average", "weighted")]
)
def test_rotations_and_centers(rotation: str, center: str) -> None:
    tube, armature = make_character()
    rigs.turn(armature)
    usual = rigs.evaluated(tube)
    tube.sbs.rotation, tube.sbs.center = rotation.upper(), center.upper()
    assert_right(tube, armature, rotation=rotation, center=center)
    assert error(rigs.evaluated(tube), usual) > 1e-4
    rigs.turn(armature, seed=5)
    tube.scale = (1.0, 2.0, 1.0)
    assert_right(tube, armature, rotation=rotation, center=center)
    # Other methods know nothing of it.
    tube.sbs.method = "LINEAR"
    assert_right(tube, armature, method="linear")


@pytest.mark.parametrize(("method", "preserve_volume"), [("LINEAR", False), ("DUAL_QUATERNION", True)])
def test_like_the_armature_modifier(method: str, preserve_volume: bool) -> None:
    tube, armature = make_character()
    tube.sbs.method = method
    twin = rigs.make_tube(name="Twin")
    modifier = twin.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    modifier.use_deform_preserve_volume = preserve_volume
    rigs.turn(armature)
    assert error(rigs.evaluated(tube), rigs.evaluated(twin)) < TOLERANCE


def test_frames() -> None:
    tube, armature = make_character()
    rigs.animate(armature)
    scene = current_scene()
    for frame, subframe in (
        (2, 0.0),
        (3, 0.0),
        (19, 0.0),
        (7, 0.0),
        (6, 0.0),
        (6, 0.25),
        (6, 0.75),
        (40, 0.0),
        (1, 0.0),
    ):
        scene.frame_set(frame, subframe=subframe)
        assert_right(tube, armature)


def test_objects_anywhere() -> None:
    tube, armature = make_character()
    rigs.turn(armature)
    armature.location = (1.0, -2.0, 0.5)
    armature.rotation_euler = (0.3, 1.0, -0.2)
    armature.scale = (2.0, 2.0, 2.0)
    assert_right(tube, armature)
    tube.location = (0.1, 0.2, 0.3)
    tube.rotation_euler = (0.0, 0.1, 0.4)
    assert_right(tube, armature)
    tube.scale = (1.5, 0.7, -1.2)
    assert_right(tube, armature)
    tube.scale = (1.2, 0.7, 1.2)
    assert_right(tube, armature)
    armature.scale = (1.0, 3.0, -2.0)
    assert_right(tube, armature)


@pytest.mark.parametrize("inherit", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
def test_bones_with_scale(inherit: Any) -> None:
    tube, armature = make_character()
    rigs.turn(armature)
    for bone in armature.data.bones:
        bone.inherit_scale = inherit
    armature.pose.bones["B1"].scale = (1.5, 0.8, 1.2)
    armature.pose.bones["B2"].scale = (0.7, 0.7, 2.0)
    assert_right(tube, armature)
    tube.sbs.method = "LINEAR"
    armature.pose.bones["B2"].scale = (1.0, 1.0, -1.0)
    assert_right(tube, armature, "linear")


@pytest.mark.blender(since=(4, 0))
def test_selecting_deforms_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _, armature = make_character()
    rigs.turn(armature)
    current_layer().update()
    written = []
    monkeypatch.setattr(addon.module("engine.stack.carriers"), "write", lambda *arguments: written.append(arguments))
    armature.select_set(not armature.select_get())
    current_layer().update()
    assert not written
    rigs.turn(armature, seed=2)
    current_layer().update()
    assert len(written) == 1


def test_object_deleted_as_another_comes() -> None:
    tube, _ = make_character()
    other, armature = make_character()
    scene = current_scene()
    registry = addon.module("engine.live.registry")
    assert set(registry.bound_objects()) == {tube, other}
    count = len(bpy.data.objects)
    bpy.data.objects.remove(tube)
    bpy.data.objects.new("Empty", None)
    assert len(bpy.data.objects) == count
    scene.frame_set(scene.frame_current + 1)
    assert registry.bound_objects() == [other]
    rigs.turn(armature)
    assert_right(other, armature)
