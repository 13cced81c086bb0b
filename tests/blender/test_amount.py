# SPDX-License-Identifier: GPL-3.0-or-later
"""The amount of the method as numbers, for a mesh and for bones: set, keyed, driven, overridden, baked, rendered."""

from __future__ import annotations

from pathlib import Path

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error, read
from numpy.typing import NDArray
from objects import ArmatureObject, Character, MeshObject, current_layer, current_scene


def blended(
    tube: MeshObject, armature: ArmatureObject, amounts: NDArray[np.floating] | float, other: str = "linear"
) -> NDArray[np.float64]:
    """Spherical blending by amounts, for all vertices or for each, (V,)."""
    wholly = deformed(tube, armature)
    elsewhere = rigs.positions(tube.data) if other == "none" else deformed(tube, armature, method=other)
    return elsewhere + np.broadcast_to(amounts, len(wholly))[:, None] * (wholly - elsewhere)


def assert_blended(
    tube: MeshObject, armature: ArmatureObject, amounts: NDArray[np.floating] | float, other: str = "linear"
) -> None:
    assert error(rigs.evaluated(tube), blended(tube, armature, amounts, other)) < TOLERANCE


def by_bone(tube: MeshObject, armature: ArmatureObject, **amounts: float) -> NDArray[np.float64]:
    """The mean of the amounts of bones by the weights of each vertex; 1 for bones that are not named."""
    posed = read(tube, armature)
    values = np.array([amounts.get(bone.name, 1.0) for bone in posed.bones])
    means: NDArray[np.float64] = posed.weights @ values / posed.weights.sum(axis=1)
    return means


@pytest.mark.parametrize("other", ["linear", "dual_quaternion", "none"])
def test_of_a_mesh(character: Character, other: str) -> None:
    tube, armature = character
    tube.sbs.amount_method = other.upper()
    for amount in (0.25, 0.0, 1.0, 0.6):
        tube.sbs.amount = amount
        assert_blended(tube, armature, amount, other)
    assert error(rigs.evaluated(tube), deformed(tube, armature)) > 0.001


def test_of_bones(character: Character) -> None:
    tube, armature = character
    armature.pose.bones["B1"].sbs_amount = 0.0
    assert_blended(tube, armature, by_bone(tube, armature, B1=0.0))
    armature.pose.bones["B3"].sbs_amount = 0.3
    assert_blended(tube, armature, by_bone(tube, armature, B1=0.0, B3=0.3))
    rigs.turn(armature, seed=4)
    assert_blended(tube, armature, by_bone(tube, armature, B1=0.0, B3=0.3))
    # Weights that change take their bones' amounts along.
    tube.vertex_groups["B3"].add(list(range(100, 200)), 0.7, "REPLACE")
    tube.data.update()
    assert_blended(tube, armature, by_bone(tube, armature, B1=0.0, B3=0.3))


@pytest.mark.parametrize("other", ["linear", "none"])
def test_all_three_are_multiplied(character: Character, other: str) -> None:
    tube, armature = character
    painted = rigs.paint_amounts(tube)
    tube.sbs.amount_method = other.upper()
    tube.sbs.amount = 0.5
    armature.pose.bones["B2"].sbs_amount = 0.4
    assert_blended(tube, armature, 0.5 * painted * by_bone(tube, armature, B2=0.4), other)
    tube.sbs.amount_invert = True
    assert_blended(tube, armature, 0.5 * (1.0 - painted) * by_bone(tube, armature, B2=0.4), other)


def test_of_bendy_bones(character: Character) -> None:
    tube, armature = character
    armature.data.bones["B1"].bbone_segments = 4
    current_layer().update()
    wholly = rigs.evaluated(tube)
    tube.sbs.method = "LINEAR"
    linear = rigs.evaluated(tube)
    tube.sbs.method = "SPHERICAL"
    armature.pose.bones["B1"].sbs_amount = 0.25
    amounts = by_bone(tube, armature, B1=0.25)
    assert error(rigs.evaluated(tube), linear + amounts[:, None] * (wholly - linear)) < TOLERANCE


def test_keyed(character: Character) -> None:
    tube, armature = character
    bone = armature.pose.bones["B1"]
    for frame, amount in ((1, 0.0), (21, 1.0)):
        tube.sbs.amount = bone.sbs_amount = amount
        assert tube.keyframe_insert("sbs.amount", frame=frame)
        assert bone.keyframe_insert("sbs_amount", frame=frame)
    for frame in (1, 11, 21, 6, 1):
        current_scene().frame_set(frame)
        evaluated = tube.evaluated_get(bpy.context.evaluated_depsgraph_get())
        whole = evaluated.sbs.amount
        assert (frame == 1) == (whole == 0.0) and (frame == 21) == (whole == 1.0)
        assert_blended(tube, armature, whole * by_bone(tube, armature, B1=whole))


def test_driven(character: Character) -> None:
    tube, armature = character
    drivers = [(tube.driver_add("sbs.amount"), 1.0), (armature.driver_add('pose.bones["B2"].sbs_amount'), 0.5)]
    for curve, factor in drivers:
        variable = curve.driver.variables.new()
        variable.name = "x"
        variable.targets[0].id = armature
        variable.targets[0].data_path = "location.x"
        curve.driver.expression = f"{factor} * x"
    for x in (0.5, 1.0, 0.0, 0.8):
        armature.location.x = x
        assert_blended(tube, armature, x * by_bone(tube, armature, B2=0.5 * x))
    # Curves that overshoot.
    armature.driver_remove('pose.bones["B2"].sbs_amount')
    armature.pose.bones["B2"].sbs_amount = 1.0
    for value, amount in (("1.7", 1.0), ("-0.5", 0.0)):
        drivers[0][0].driver.expression = value
        assert_blended(tube, armature, amount)


def test_set_for_selected_bones(character: Character) -> None:
    tube, armature = character
    rigs.select([armature])
    assert not addon.ops.set_bone_amounts.poll()
    bpy.ops.object.mode_set(mode="POSE")
    rigs.select_bones(armature, "B1", "B2")
    assert addon.ops.set_bone_amounts(amount=1.0, set_others=True, others=0.0) == {"FINISHED"}
    assert [bone.sbs_amount for bone in armature.pose.bones] == [0.0, 1.0, 1.0, 0.0]
    assert_blended(tube, armature, by_bone(tube, armature, B0=0.0, B3=0.0))
    assert addon.ops.set_bone_amounts(amount=0.5) == {"FINISHED"}
    assert [bone.sbs_amount for bone in armature.pose.bones] == [0.0, 0.5, 0.5, 0.0]
    rigs.select_bones(armature)
    with pytest.raises(RuntimeError, match="No bone is selected"):
        addon.ops.set_bone_amounts()
    assert addon.ops.set_bone_amounts(amount=1.0, set_others=True, others=1.0) == {"FINISHED"}
    assert_blended(tube, armature, 1.0)


def test_library_override(character: Character, tmp_path: Path) -> None:
    rigs.save_library(tmp_path / "library.blend")
    tube, armature = rigs.override_character(tmp_path / "library.blend")
    tube.sbs.amount = 0.5
    armature.pose.bones["B2"].sbs_amount = 0.25
    assert_blended(tube, armature, 0.5 * by_bone(tube, armature, B2=0.25))
    rigs.reopen(tmp_path / "shot.blend")
    tube, armature = rigs.overridden()
    assert tube.sbs.amount == 0.5
    assert_blended(tube, armature, 0.5 * by_bone(tube, armature, B2=0.25))


@pytest.mark.blender(since=(5, 1))
def test_portable(character: Character) -> None:
    tube, armature = character
    painted = rigs.paint_amounts(tube)
    tube.sbs.amount = 0.5
    armature.pose.bones["B2"].sbs_amount = 0.25
    rigs.select([tube])
    tube.keyframe_insert("sbs.amount", frame=1)
    with pytest.raises(RuntimeError, match="animated"):
        addon.ops.make_portable()
    tube.animation_data_clear()
    tube.sbs.amount = 0.5
    armature.keyframe_insert('pose.bones["B2"].sbs_amount', frame=1)
    with pytest.raises(RuntimeError, match="animated"):
        addon.ops.make_portable()
    armature.animation_data_clear()
    assert addon.ops.make_portable() == {"FINISHED"}
    rigs.turn(armature, seed=8)
    assert_blended(tube, armature, 0.5 * painted * by_bone(tube, armature, B2=0.25))
