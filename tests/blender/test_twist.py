# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists spread along limbs: which bones, and the same as the library in every way that a mesh changes."""

from __future__ import annotations

import math
from pathlib import Path

import addon
import bpy
import limbs
import numpy as np
import pytest
import rigs
from expected import deformed, error, kept_centers
from limbs import LIMBS, twist

Character = tuple[bpy.types.Object, bpy.types.Object]

# As a share of the size of the mesh: Blender has positions in single precision.
EXACT = 1e-6


@pytest.fixture
def character() -> Character:
    """A bound tube and its posed armature, with twists spread, as by the checkbox."""
    tube, armature = limbs.make()
    rigs.bind(tube, armature)
    tube.sbs.spread_twist = True
    pose(armature)
    return tube, armature


def pose(armature: bpy.types.Object, degrees: float = 170.0) -> None:
    rigs.turn(armature)
    twist(armature, "ForeArm", degrees)


def assert_spread(tube: bpy.types.Object, armature: bpy.types.Object, *names: str, **options: object) -> None:
    assert error(rigs.evaluated(tube), limbs.deformed(tube, armature, names or LIMBS, **options)) < EXACT


def ticked(armature: bpy.types.Object) -> list[str]:
    return [bone.name for bone in armature.pose.bones if bone.sbs_twist]


def binding_of(tube: bpy.types.Object) -> object:
    bpy.context.view_layer.update()
    return addon.module("engine.live").state_of(tube).binding


# --------------------------------------------------------------------------------------------------------- which bones


def test_limbs_are_found_when_it_is_switched_on(character: Character) -> None:
    tube, armature = character
    assert ticked(armature) == list(LIMBS)
    reasons = {bone.name: bone.sbs.twist_reason for bone in armature.pose.bones}
    assert "radii long" in reasons["ForeArm"]
    assert reasons["Hand"] == "no limb, by its name: 'hand'"
    assert reasons["Shoulder"].startswith("a root")
    assert_spread(tube, armature)
    assert_spread(tube, armature, *ticked(armature))
    assert error(rigs.evaluated(tube), deformed(tube, armature)) > 0.01


@pytest.fixture
def straight() -> Character:
    """A tube at rest each of whose vertices has one bone, with twists spread."""
    tube, armature = limbs.make(rows=81)
    heights = rigs.positions(tube.data)[:, 2]
    for number, name in enumerate(limbs.NAMES):
        tube.vertex_groups[name].remove(range(len(heights)))
        inside = np.flatnonzero((heights > number - 1e-6) & (heights < number + 1 - 1e-6 + (number == 3)))
        tube.vertex_groups[name].add(inside.tolist(), 1.0, "REPLACE")
    rigs.bind(tube, armature)
    tube.sbs.spread_twist = True
    return tube, armature


def test_a_limb_keeps_its_radius(straight: Character) -> None:
    """Known answer: rings of a straight tube turn in proportion to their place, and stay as thick as they are."""
    tube, armature = straight
    twist(armature, "ForeArm", 170.0)
    rest, found = rigs.positions(tube.data), rigs.evaluated(tube)
    heights = rest[:, 2]
    along = (heights > 2.0 + 1e-6) & (heights < 3.0 - 1e-6)
    np.testing.assert_allclose(
        np.linalg.norm(found[along, :2], axis=1), np.linalg.norm(rest[along, :2], axis=1), rtol=1e-3
    )
    turned = np.degrees(np.angle((found[along] @ [1, 1j, 0]) / (rest[along] @ [1, 1j, 0])))
    # Four joints along the bone, between which rotations are blended linearly and normalized.
    np.testing.assert_allclose(turned, 170.0 * (heights[along] - 2.0), atol=0.3)


def test_ticks_of_the_artist(character: Character) -> None:
    tube, armature = character
    armature.pose.bones["UpperArm"].sbs_twist = False
    assert_spread(tube, armature, "ForeArm")
    armature.pose.bones["Hand"].sbs_twist = True
    assert error(rigs.evaluated(tube), limbs.deformed(tube, armature, ("ForeArm",))) > 1e-3
    # Off and on again, ticks stay; only when asked for, limbs are found again.
    tube.sbs.spread_twist = False
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < EXACT
    tube.sbs.spread_twist = True
    assert ticked(armature) == ["ForeArm", "Hand"]
    rigs.select([tube])
    assert bpy.ops.sbs.find_limbs() == {"FINISHED"}
    assert ticked(armature) == list(LIMBS)
    assert_spread(tube, armature)
    for bone in armature.pose.bones:
        bone.sbs_twist = False
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < EXACT


def test_a_root_spreads_the_twist_of_its_child() -> None:
    tube, armature = limbs.make()
    rigs.bind(tube, armature)
    tube.sbs.spread_twist = True
    for bone in armature.pose.bones:
        bone.sbs_twist = bone.name == "Shoulder"
    twist(armature, "UpperArm", 100.0)
    found = rigs.evaluated(tube)
    # At its head nothing turns; toward its tail, ever more.
    assert np.abs(found[: rigs.RING] - rigs.positions(tube.data)[: rigs.RING]).max() < EXACT
    assert error(found, deformed(tube, armature)) > 0.01


def test_all_meshes_of_a_rig() -> None:
    """Limbs are those of the character: a sleeve and a glove spread the same twists as the arm under them."""
    arm, armature = limbs.make()
    sleeve = rigs.make_tube(name="Sleeve")
    for number, name in enumerate(limbs.NAMES):
        sleeve.vertex_groups[f"B{number}"].name = name
    for name in ("Shoulder", "Hand"):
        sleeve.vertex_groups.remove(sleeve.vertex_groups[name])
    bpy.context.view_layer.update()
    rigs.select([arm, sleeve, armature])
    assert bpy.ops.sbs.bind() == {"FINISHED"}
    armature.sbs.center = "JOINT_SET"
    armature.sbs.spread_twist = True
    assert arm.sbs.spread_twist and sleeve.sbs.spread_twist
    assert ticked(armature) == list(LIMBS)
    pose(armature)
    assert_spread(arm, armature)
    limb_of = {limb.bone: limb for limb in binding_of(arm).limbs}
    for limb in binding_of(sleeve).limbs:
        other = limb_of[limb.bone]
        assert (limb.parent, limb.child) == (other.parent, other.child)
        np.testing.assert_array_equal(limb.tail, other.tail)
    # A mesh that is bound later shares it.
    glove = rigs.make_tube(name="Glove")
    glove.vertex_groups["B2"].name, glove.vertex_groups["B3"].name = "ForeArm", "Hand"
    rigs.select([glove, armature])
    bpy.context.view_layer.update()
    assert bpy.ops.sbs.bind() == {"FINISHED"}
    assert glove.sbs.spread_twist
    assert [armature.pose.bones[limb.bone].name for limb in binding_of(glove).limbs] == list(LIMBS)


def by_default() -> None:
    """Have the preferences as they come."""
    bpy.context.preferences.addons[addon.name()].preferences.property_unset("spread_twist")


def test_is_the_default_of_what_is_bound_anew() -> None:
    by_default()
    tube, armature = limbs.make()
    rigs.select([tube, armature])
    bpy.context.view_layer.update()
    assert bpy.ops.sbs.bind() == {"FINISHED"}
    assert (tube.sbs.scope, armature.sbs.spread_twist, tube.sbs.spread_twist) == ("RIG", True, True)
    assert ticked(armature) == list(LIMBS)
    pose(armature)
    assert_spread(tube, armature, center="optimized", centers=kept_centers(tube))
    # What was chosen stays, and so does what files of earlier versions have.
    tube.sbs.spread_twist = False
    assert bpy.ops.sbs.unbind() == bpy.ops.sbs.bind() == {"FINISHED"}
    assert not tube.sbs.spread_twist
    other = rigs.make_tube(name="Other")
    other.sbs.center = "JOINT_SET"
    rigs.select([other, armature])
    bpy.context.view_layer.update()
    assert bpy.ops.sbs.bind() == {"FINISHED"}
    assert not other.sbs.spread_twist


def test_limbs_are_found_by_meshes_one_after_the_other() -> None:
    """The first that is bound may be one that no limb moves."""
    by_default()
    arm, armature = limbs.make()
    ring = rigs.make_tube(name="Ring")
    ring.vertex_groups["B3"].name = "Hand"
    for number in range(3):
        ring.vertex_groups.remove(ring.vertex_groups[f"B{number}"])
    for item in (ring, arm):
        rigs.select([item, armature])
        bpy.context.view_layer.update()
        assert bpy.ops.sbs.bind() == {"FINISHED"}
        assert ticked(armature) == ([] if item == ring else list(LIMBS))
    # Not after the artist has chosen.
    armature.pose.bones["UpperArm"].sbs_twist = False
    other = rigs.make_tube(name="Other")
    rigs.select([other, armature])
    bpy.context.view_layer.update()
    assert bpy.ops.sbs.bind() == {"FINISHED"}
    assert ticked(armature) == ["ForeArm"]


@pytest.mark.parametrize("kind", ["HEAT", "CAPSULES"])
def test_limbs_are_found_by_new_weights(kind: str) -> None:
    by_default()
    tube, armature = limbs.make()
    tube.vertex_groups.clear()
    rigs.select([tube, armature])
    bpy.context.view_layer.update()
    assert bpy.ops.sbs.bind() == {"FINISHED"}
    assert tube.sbs.spread_twist and ticked(armature) == []
    rigs.select([tube])
    assert bpy.ops.sbs.automatic_weights(weights=kind) == {"FINISHED"}
    assert ticked(armature) == list(LIMBS)


def test_chosen_before_it_is_bound() -> None:
    tube, armature = limbs.make()
    tube.sbs.spread_twist = True
    assert not ticked(armature)
    rigs.bind(tube, armature)
    pose(armature)
    assert ticked(armature) == list(LIMBS)
    assert_spread(tube, armature)


def test_limbs_cannot_be_found_in_edit_mode() -> None:
    tube, armature = limbs.make()
    rigs.bind(tube, armature)
    rigs.select([tube])
    bpy.ops.object.mode_set(mode="EDIT")
    tube.sbs.spread_twist = True
    assert not ticked(armature) and not armature.sbs.twist_found
    assert not bpy.ops.sbs.find_limbs.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.sbs.find_limbs() == {"FINISHED"}
    pose(armature)
    assert_spread(tube, armature)


def test_bendy_bones(character: Character) -> None:
    """The segments of a bone spread its twist themselves; limbs beside it hang on its last one."""
    tube, armature = character
    armature.data.bones["UpperArm"].bbone_segments = 4
    rigs.select([tube])
    assert bpy.ops.sbs.find_limbs() == {"FINISHED"}
    assert ticked(armature) == ["ForeArm"]
    assert "bendy" in armature.pose.bones["UpperArm"].sbs.twist_reason
    found = rigs.evaluated(tube)
    assert addon.module("engine.live").state_of(tube).problem == ""
    tube.sbs.spread_twist = False
    assert error(found, rigs.evaluated(tube)) > 1e-3
    # Where the forearm begins, it is turned as the upper arm is.
    tube.sbs.spread_twist = True
    for bone in armature.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    assert error(rigs.evaluated(tube), rigs.positions(tube.data)) < EXACT


# --------------------------------------------------------------------------------------------------------- as deformed


@pytest.mark.parametrize("method", ["LINEAR", "DUAL_QUATERNION", "RIGID", "SPHERICAL"])
def test_methods(character: Character, method: str) -> None:
    tube, armature = character
    tube.sbs.method = method
    across = 1.0 if method == "LINEAR" else 0.4
    assert_spread(tube, armature, across=across, method=method.lower())


def test_profile(character: Character) -> None:
    tube, armature = character
    before = rigs.evaluated(tube)
    tube.sbs.twist_profile = "SMOOTH"
    assert_spread(tube, armature, smooth=True)
    assert error(rigs.evaluated(tube), before) > 1e-3


def test_amount_across_joints(character: Character) -> None:
    tube, armature = character
    for across in (0.4, 0.0, 1.0, 0.8):
        tube.sbs.twist_across = across
        assert_spread(tube, armature, across=across)
    # Where the rest is the same method, there is nothing to blend.
    tube.sbs.amount_method = "SPHERICAL"
    assert_spread(tube, armature, across=1.0)
    tube.sbs.amount_method = "LINEAR"
    # It multiplies the other amounts.
    tube.sbs.amount = 0.5
    whole = limbs.deformed(tube, armature, across=0.8)
    linear = limbs.deformed(tube, armature, across=1.0, method="linear")
    assert error(rigs.evaluated(tube), 0.5 * (whole + linear)) < EXACT
    bone = armature.pose.bones["ForeArm"]
    bone.sbs_amount = 0.0
    assert error(rigs.evaluated(tube), 0.5 * (whole + linear)) > 1e-3
    bone.sbs_amount = 1.0
    tube.sbs.amount = 1.0
    assert_spread(tube, armature, across=0.8)


def test_amounts_are_computed_once(character: Character) -> None:
    tube, armature = character
    bpy.context.view_layer.update()
    amounts = addon.module("engine.live").state_of(tube).amounts
    before = amounts.amount
    binding = binding_of(tube)
    rigs.turn(armature, seed=8)
    assert_spread(tube, armature)
    assert amounts.amount is before
    assert binding_of(tube) is binding


def test_limit(character: Character) -> None:
    tube, armature = character
    tube.sbs.influence_limit = 2
    bpy.context.view_layer.update()
    # Two bones, of which each may be two joints along a limb.
    assert binding_of(tube).skin.max_influences <= 4
    tube.sbs.influence_limit = 0
    assert_spread(tube, armature)


def test_bones_blending_has_no_other_twist(character: Character) -> None:
    tube, armature = character
    tube.sbs.method = "BONES_BLENDING"
    spread = rigs.evaluated(tube)
    assert addon.module("engine.live").state_of(tube).problem == ""
    tube.sbs.spread_twist = False
    assert error(rigs.evaluated(tube), spread) == 0.0
    tube.sbs.spread_twist = True
    tube.sbs.method = "SPHERICAL"
    assert_spread(tube, armature)


def test_game_shows_what_is_exported(character: Character) -> None:
    tube, armature = character
    tube.sbs.preset = "GAME"
    assert not tube.sbs.spread_twist
    assert error(rigs.evaluated(tube), deformed(tube, armature, method="linear", limit=4)) < EXACT
    assert tube.sbs.preset == "GAME"
    tube.sbs.spread_twist = True
    assert tube.sbs.preset == "CUSTOM"
    tube.sbs.preset = "QUALITY"
    assert tube.sbs.spread_twist
    tube.sbs.preset = "SPEED"
    assert not tube.sbs.spread_twist


def test_compare_with_linear(character: Character) -> None:
    """It is what the Armature modifier shows, which spreads no twist."""
    tube, armature = character
    bpy.context.view_layer.update()
    difference = addon.module("comparison.difference").find(tube)
    assert error(difference.linear, deformed(tube, armature, method="linear")) < EXACT
    comparison = addon.module("engine.comparison")
    comparison.show_linear(True)
    try:
        tube.update_tag()
        assert error(rigs.evaluated(tube), deformed(tube, armature, method="linear")) < EXACT
    finally:
        comparison.show_linear(False)
    tube.update_tag()
    assert_spread(tube, armature)


def test_optimized_centers_are_found_for_it(character: Character) -> None:
    tube, armature = character
    tube.sbs.spread_twist = False
    tube.sbs.center = "OPTIMIZED"
    bpy.context.view_layer.update()
    before = kept_centers(tube)
    tube.sbs.spread_twist = True
    bpy.context.view_layer.update()
    spread = kept_centers(tube)
    assert np.abs(spread - before).max() > 0.01
    assert_spread(tube, armature, center="optimized", centers=spread)
    sbs = addon.module("core.library").load()
    binding = binding_of(tube)
    tube.data.calc_loop_triangles()
    faces = np.array([triangle.vertices for triangle in tube.data.loop_triangles], np.int32)
    wanted = sbs.optimized_centers(
        binding.surface.positions, faces, binding.skin.joint_indices, binding.skin.joint_weights
    )
    np.testing.assert_allclose(spread, wanted, atol=1e-6)
    tube.sbs.spread_twist = False
    bpy.context.view_layer.update()
    np.testing.assert_allclose(kept_centers(tube), before, atol=1e-6)


def test_off_is_as_before(character: Character) -> None:
    tube, _armature = character
    tube.sbs.spread_twist = False
    bpy.context.view_layer.update()
    binding = binding_of(tube)
    assert binding.limbs == () and binding.spread is None
    assert binding.skin.joint_count == 4
    state = addon.module("engine.live").state_of(tube)
    assert state.amounts.amount is None


# --------------------------------------------------------------------------------------------------------------- edits


def test_weights_are_painted(character: Character) -> None:
    tube, armature = character
    rigs.evaluated(tube)
    binding = binding_of(tube)
    tube.vertex_groups["ForeArm"].add(list(range(200, 330)), 0.9, "REPLACE")
    tube.vertex_groups["UpperArm"].remove(list(range(240, 260)))
    tube.data.update()
    assert_spread(tube, armature)
    assert binding_of(tube)._twist is binding._twist, "painting must not look for limbs again"
    # A limb that moved no vertex here until now.
    tube.vertex_groups["UpperArm"].remove(range(len(tube.data.vertices)))
    tube.data.update()
    assert_spread(tube, armature)
    tube.vertex_groups["UpperArm"].add(list(range(150, 350)), 0.7, "REPLACE")
    tube.data.update()
    assert_spread(tube, armature)


def test_the_mesh_is_edited(character: Character) -> None:
    tube, armature = character
    rigs.evaluated(tube)
    for vertex in tube.data.vertices:
        vertex.co.z *= 0.9
    tube.data.update()
    assert_spread(tube, armature)


def test_shape_keys_move_no_vertex_along_its_limb(character: Character) -> None:
    tube, armature = character
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.3
        point.co.x *= 1.2
    rest = np.array([point.co for point in key.data])
    key.value = 1.0
    assert_spread(tube, armature, rest=rest)
    skin = binding_of(tube).skin
    key.value = 0.5
    basis = rigs.positions(tube.data)
    assert_spread(tube, armature, rest=0.5 * (rest + basis))
    np.testing.assert_array_equal(binding_of(tube).skin.joint_weights, skin.joint_weights)


def test_bones_are_renamed(character: Character) -> None:
    tube, armature = character
    armature.data.bones["ForeArm"].name = "Elbow to Wrist"
    assert ticked(armature) == ["UpperArm", "Elbow to Wrist"]
    assert_spread(tube, armature, "UpperArm", "Elbow to Wrist")


def test_bones_are_edited(character: Character) -> None:
    tube, armature = character
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["Hand"].head.z += 0.3
    armature.data.edit_bones.new("New").tail = (0.0, 0.0, -1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert ticked(armature) == list(LIMBS)
    assert_spread(tube, armature)


def test_a_bone_that_moves_nothing_ends_no_limb(character: Character) -> None:
    tube, armature = character
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="EDIT")
    socket = armature.data.edit_bones.new("Socket")
    socket.parent = armature.data.edit_bones["ForeArm"]
    socket.head, socket.tail = (0.5, 0.0, 2.5), (0.7, 0.0, 2.5)
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.select([tube])
    assert bpy.ops.sbs.find_limbs() == {"FINISHED"}
    assert ticked(armature) == list(LIMBS)
    assert_spread(tube, armature)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (1.3, 0.7, 1.0), (-1.0, 1.0, 1.0)])
def test_mesh_and_rig_anywhere(character: Character, scale: tuple[float, float, float]) -> None:
    tube, armature = character
    tube.location = (0.1, -0.2, 0.05)
    tube.scale = scale
    armature.location = (3.0, 1.0, 0.0)
    armature.rotation_euler = (0.3, 0.5, -1.0)
    tube.rotation_euler = (0.3, 0.5, -1.0)
    tube.location += armature.location
    assert_spread(tube, armature)
    armature.scale = (0.5, 0.5, 0.5)
    tube.scale *= 0.5
    assert_spread(tube, armature)


def test_scaled_and_mirrored_bones(character: Character) -> None:
    tube, armature = character
    armature.pose.bones["ForeArm"].scale = (1.2, 0.9, 1.1)
    armature.pose.bones["UpperArm"].scale = (1.0, 1.3, 1.0)
    assert_spread(tube, armature)
    # A mirrored bone beside one that is not: vertices between them are unspecified, but the limb is not.
    armature.pose.bones["ForeArm"].scale = (-1.0, 1.0, 1.0)
    assert_spread(tube, armature)


def test_bones_between_that_do_not_deform(character: Character) -> None:
    """A twist is relative to the nearest bone above that deforms."""
    tube, armature = character
    armature.data.bones["UpperArm"].use_deform = False
    assert_spread(tube, armature, "ForeArm")
    limb = binding_of(tube).limbs[0]
    assert armature.pose.bones[limb.parent].name == "Shoulder"


def test_undo() -> None:
    tube, armature = limbs.make()
    rigs.bind(tube, armature)
    pose(armature)
    rigs.select([tube])
    bpy.ops.ed.undo_push(message="Start")
    tube.sbs.spread_twist = True
    bpy.ops.ed.undo_push(message="Spread")
    armature.pose.bones["UpperArm"].sbs_twist = False
    bpy.ops.ed.undo_push(message="Tick")

    def objects() -> Character:
        return bpy.data.objects["Tube"], bpy.data.objects["Rig"]

    assert_spread(*objects(), "ForeArm")
    bpy.ops.ed.undo()
    assert_spread(*objects())
    bpy.ops.ed.undo()
    assert ticked(objects()[1]) == [] and not objects()[1].sbs.twist_found
    assert error(rigs.evaluated(objects()[0]), deformed(*objects())) < EXACT
    bpy.ops.ed.redo()
    assert_spread(*objects())
    bpy.ops.ed.redo()
    assert_spread(*objects(), "ForeArm")


def test_find_limbs_is_one_step_of_undo(character: Character) -> None:
    tube, armature = character
    armature.pose.bones["UpperArm"].sbs_twist = False
    rigs.select([tube])
    bpy.ops.ed.undo_push(message="Before")
    assert bpy.ops.sbs.find_limbs("EXEC_DEFAULT", True) == {"FINISHED"}
    assert ticked(bpy.data.objects["Rig"]) == list(LIMBS)
    bpy.ops.ed.undo()
    assert ticked(bpy.data.objects["Rig"]) == ["ForeArm"]
    assert_spread(bpy.data.objects["Tube"], bpy.data.objects["Rig"], "ForeArm")


# --------------------------------------------------------------------------------------------------- beyond half a turn


# Degrees from frame to frame. No two joints of a limb are then ever half a turn apart, where rounding would decide
# which way they are blended.
STEP = 19.0


def wind(armature: bpy.types.Object, frames: int = 21) -> None:
    """Turn the forearm by `STEP` in each frame."""
    bone = armature.pose.bones["ForeArm"]
    bone.rotation_mode = "AXIS_ANGLE"
    for frame in (1, frames):
        bone.rotation_axis_angle = (math.radians(STEP * (frame - 1)), 0.0, 1.0, 0.0)
        bone.keyframe_insert("rotation_axis_angle", frame=frame)
    for curve in addon.module("engine.curves").collections(armature):
        for path in curve:
            for point in path.keyframe_points:
                point.interpolation = "LINEAR"


def own(degrees: float) -> np.ndarray:
    """Twists of both limbs where the forearm alone is turned."""
    return np.radians([[0.0, 0.0], [degrees, 0.0]])


@pytest.fixture
def winding(character: Character) -> Character:
    tube, armature = character
    for bone in armature.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    tube.sbs.twist_follow = True
    wind(armature)
    return tube, armature


def test_twists_go_on_from_frame_to_frame(winding: Character) -> None:
    tube, armature = winding
    for frame in range(1, 22):
        bpy.context.scene.frame_set(frame)
        assert_spread(tube, armature, twists=own(STEP * (frame - 1)), frames=8)
    # And back; in parts of frames, as motion blur does.
    for moment in np.arange(21.0, 1.0, -0.25).tolist():
        bpy.context.scene.frame_set(int(moment), subframe=moment % 1.0)
        assert_spread(tube, armature, twists=own(STEP * (moment - 1)), frames=8)


def test_nothing_jumps(straight: Character) -> None:
    """No vertex moves more than the bone turns it; without history some do."""
    tube, armature = straight
    wind(armature)

    def largest_step() -> float:
        shapes = []
        for frame in range(1, 22):
            bpy.context.scene.frame_set(frame)
            shapes.append(rigs.evaluated(tube))
        return float(np.linalg.norm(np.diff(shapes, axis=0), axis=2).max())

    # Half a unit about its axis, and a bit more where rotations are blended linearly and normalized.
    assert largest_step() > 0.5
    tube.sbs.twist_follow = True
    assert largest_step() < 1.05 * 0.5 * math.radians(STEP)


def test_a_jump_has_no_history(winding: Character) -> None:
    tube, armature = winding
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(16)
    assert_spread(tube, armature, twists=own(15 * STEP - 360.0), frames=8)
    bpy.context.scene.frame_set(17)
    assert_spread(tube, armature, twists=own(16 * STEP - 360.0), frames=8)
    # Rendering every third frame is none.
    bpy.context.scene.frame_step = 3
    for frame in (1, 4, 7, 10, 13):
        bpy.context.scene.frame_set(frame)
    assert_spread(tube, armature, twists=own(12 * STEP), frames=8)


def test_edits_in_a_frame_continue_the_frame_before(winding: Character) -> None:
    tube, armature = winding
    for frame in range(1, 17):
        bpy.context.scene.frame_set(frame)
    bone = armature.pose.bones["ForeArm"]
    for degrees in (330.0, 120.0, 450.0):
        bone.rotation_axis_angle[0] = math.radians(degrees)
        # The one nearest to that of frame 15.
        bpy.context.view_layer.update()
        nearest = degrees + 360.0 * round((14 * STEP - degrees) / 360.0)
        assert_spread(tube, armature, twists=own(nearest), frames=8)


def test_without_history_the_short_way(winding: Character) -> None:
    tube, armature = winding
    tube.sbs.twist_follow = False
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
    assert_spread(tube, armature, twists=own(11 * STEP - 360.0))
    assert_spread(tube, armature)


def test_painting_forgets_no_history(winding: Character) -> None:
    tube, armature = winding
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
    tube.vertex_groups["ForeArm"].add(list(range(200, 330)), 0.9, "REPLACE")
    tube.data.update()
    assert_spread(tube, armature, twists=own(11 * STEP), frames=8)
    armature.pose.bones["UpperArm"].sbs_twist = False
    assert_spread(tube, armature, "ForeArm", twists=own(11 * STEP - 360.0)[1:], frames=8)


@pytest.mark.parametrize("step", [1, 4])
def test_bake_goes_on_from_frame_to_frame(winding: Character, tmp_path: Path, step: int) -> None:
    tube, armature = winding
    bpy.context.scene.frame_set(7)
    rigs.select([tube])
    assert bpy.ops.sbs.bake(
        directory=str(tmp_path), use_scene_range=False, frame_start=1, frame_end=21, frame_step=step
    ) == {"FINISHED"}
    for frame in (17, 21, 1, 9):
        bpy.context.scene.frame_set(frame)
        assert_spread(tube, armature, twists=own(STEP * (frame - 1)), frames=8)
