# SPDX-License-Identifier: GPL-3.0-or-later
"""The Armature modifier that stepped back in the artist's hands, and our modifier as a shape key."""

from __future__ import annotations

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import Character, MeshObject, current_layer


@pytest.fixture
def character() -> Character:
    return rigs.make_replaced()


def seconds(tube: MeshObject) -> list[str]:
    """The modifiers that the panel says deform the mesh as well."""
    stack = addon.module("engine.stack.stack")
    return [modifier.name for modifier in stack.deforming_too(tube, stack.find(tube))]


def test_shown_again(character: Character) -> None:
    """What the artist shows stays shown; the panel says that the mesh is deformed twice as soon as it is."""
    tube, _armature = character
    modifier = tube.modifiers["Armature"]
    modifier.show_viewport = True
    current_layer().update()
    assert modifier.show_viewport
    assert seconds(tube) == []
    modifier.use_vertex_groups = True
    current_layer().update()
    assert modifier.show_viewport and modifier.use_vertex_groups
    assert seconds(tube) == ["Armature"]
    modifier.show_viewport = False
    assert seconds(tube) == []
    modifier.show_render = True
    assert seconds(tube) == ["Armature"]


def test_what_another_rig_does_is_no_second_time(character: Character) -> None:
    tube, _armature = character
    tube.modifiers.new("Face", "ARMATURE").object = rigs.make_armature(name="Face")
    assert seconds(tube) == []


def test_another_that_does_nothing_is_left_alone(character: Character) -> None:
    tube, armature = character
    idle = tube.modifiers.new("Idle", "ARMATURE")
    idle.object, idle.use_vertex_groups = armature, False
    tube.modifiers["Armature"].use_vertex_groups = True
    tube.update_tag()
    current_layer().update()
    assert idle.show_viewport


@pytest.mark.parametrize("keep", [False, True], ids=["in place of the modifier", "besides"])
@pytest.mark.parametrize(
    "is_portable", [False, pytest.param(True, marks=pytest.mark.blender(since=(5, 1)))], ids=["live", "portable"]
)
def test_apply_as_shape_key(character: Character, keep: bool, is_portable: bool) -> None:
    tube, armature = character
    smooth = tube.modifiers.new("Smooth", "SMOOTH")
    wanted = deformed(tube, armature)
    names = [modifier.name for modifier in tube.modifiers]
    rigs.select([tube])
    if is_portable:
        assert addon.ops.make_portable() == {"FINISHED"}
    assert addon.ops.apply_as_shape_key(keep_modifier=keep) == {"FINISHED"}
    basis, key = tube.data.shape_keys.key_blocks
    assert (basis.name, key.name, key.value) == ("Basis", "Spherical Blend Skinning", 0.0)
    found = np.array([point.co for point in key.data])
    assert error(found, wanted) < TOLERANCE
    assert smooth.show_viewport
    assert [modifier.name for modifier in tube.modifiers] == (names if keep else ["Smooth"])
    current_layer().update()
    if not keep:
        smooth.show_viewport = False
        key.value = 1.0
        assert error(rigs.evaluated(tube), wanted) < TOLERANCE
        assert tube.sbs.armature is None
        # The armature is in the collection and its user no more.
        assert [item.name for item in bpy.data.objects] == ["Rig", "Tube"]


def test_shape_keys_are_in_it(character: Character) -> None:
    """As with Blender's own: what keys do is in the new one."""
    tube, armature = character
    fat = rigs.add_shape(tube, (1.5, 1.5, 1.0), 0.5)
    rest = rigs.positions(tube.data) * (1.25, 1.25, 1.0)
    wanted = deformed(tube, armature, rest=rest)
    rigs.select([tube])
    assert addon.ops.apply_as_shape_key() == {"FINISHED"}
    key = tube.data.shape_keys.key_blocks[-1]
    assert error(np.array([point.co for point in key.data]), wanted) < TOLERANCE
    assert fat.value == 0.5


@pytest.mark.parametrize("why", ["shares its mesh", "Displace would work on this one as well"])
def test_no_shape_key(character: Character, why: str) -> None:
    tube, _armature = character
    if why.startswith("shares"):
        bpy.data.objects.new("Twin", tube.data)
    else:
        addon.module("engine.stack.stack").move(tube, tube.modifiers.new("Displace", "DISPLACE"), 0)
    rigs.select([tube])
    with pytest.raises(RuntimeError, match=why):
        addon.ops.apply_as_shape_key()
    assert tube.data.shape_keys is None and tube.sbs.bound
