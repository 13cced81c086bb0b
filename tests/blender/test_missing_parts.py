# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on without an active object, and without the pose of a rig that was just made."""

from __future__ import annotations

import addon
import bpy
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import ArmatureObject, armature_object, current_layer, current_scene


def select_without_active(*items: bpy.types.Object) -> None:
    current_layer().objects.active = None
    for item in items:
        item.select_set(True)


def unposed(armature: ArmatureObject) -> ArmatureObject:
    """A second object of an armature, to which Blender has given no pose yet."""
    item = armature_object(bpy.data.objects.new("Unposed", armature.data))
    assert item.pose is None
    return item


def test_binds_selected_objects_without_an_active_one() -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    select_without_active(tube, armature)
    tube.sbs.center = "JOINT_SET"
    assert addon.ops.bind() == {"FINISHED"}
    rigs.turn(armature)
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE


def test_transfer_asks_for_an_active_mesh() -> None:
    # A poll that raises is printed, which the fixture of all tests finds.
    select_without_active(rigs.make_tube())
    assert not addon.ops.transfer_weights.poll()


def test_automatic_weights_of_a_mesh_and_a_selected_armature() -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    tube.vertex_groups.clear()
    rigs.select([tube, armature])
    assert addon.ops.automatic_weights() == {"FINISHED"}
    assert sorted(tube.vertex_groups.keys()) == ["B0", "B1", "B2", "B3"]


def test_twists_of_a_rig_without_a_pose() -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rig = unposed(armature)
    rigs.bind(tube, armature)
    tube.sbs.armature = rig
    tube.sbs.spread_twist = True
    # They are looked for when asked again: the panel offers that, and says why they were not found.
    assert not rig.sbs.twist_found
    assert "no pose" in addon.module("interface.character").hindrance(rig)


@pytest.mark.parametrize("is_shown", [True, False])
def test_binds_to_a_rig_without_a_pose(is_shown: bool) -> None:
    rig, tube = unposed(rigs.make_armature()), rigs.make_tube()
    addon.preferences().spread_twist = True
    if is_shown:
        current_scene().collection.objects.link(rig)
    state = addon.module("bind.operators").bind(bpy.context, tube, rig)
    assert not state.problem
    assert rig.sbs.twist_found == is_shown
