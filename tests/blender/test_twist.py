# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists spread along limbs: as the library has them, along the bones that are ticked, through edits and time."""

from __future__ import annotations

import math
from pathlib import Path

import addon
import bpy
import limbs
import numpy as np
import pytest
import rigify_human
import rigs
from expected import deformed, error, kept_centers, read
from limbs import EXACT, LIMBS, assert_spread, bind_more, binding_of, pose, ticked, twist
from objects import ArmatureObject, Character, current_layer, current_scene


@pytest.fixture
def character() -> Character:
    return limbs.bound()


@pytest.mark.parametrize("method", ["LINEAR", "DUAL_QUATERNION", "RIGID", "SPHERICAL"])
def test_methods(character: Character, method: str) -> None:
    tube, armature = character
    tube.sbs.method = method
    across = 1.0 if method == "LINEAR" else 0.35
    assert_spread(tube, armature, across=across, method=method.lower())


def test_profile(character: Character) -> None:
    tube, armature = character
    before = rigs.evaluated(tube)
    tube.sbs.twist_profile = "SMOOTH"
    assert_spread(tube, armature, smooth=True)
    assert error(rigs.evaluated(tube), before) > 1e-3


def test_amount_across_joints(character: Character) -> None:
    tube, armature = character
    for across in (0.35, 0.0, 1.0, 0.8):
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


def test_amount_across_joints_without_limbs(character: Character) -> None:
    tube, armature = character
    for bone in armature.pose.bones:
        bone.sbs_twist = False
    for across in (0.35, 0.8):
        tube.sbs.twist_across = across
        assert error(rigs.evaluated(tube), limbs.deformed(tube, armature, (), across=across)) < EXACT
    tube.sbs.amount_method = "SPHERICAL"
    assert error(rigs.evaluated(tube), limbs.deformed(tube, armature, (), across=1.0)) < EXACT
    tube.sbs.amount_method = "LINEAR"
    tube.sbs.spread_twist = False
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < EXACT


def test_at_joints_of_a_rig_of_rigify() -> None:
    """It has no limb to spread a twist along, as it divides all itself: knees change, and limbs stay as they are."""
    body, rig = rigify_human.make()
    rigs.bind(body, rig)
    body.sbs.spread_twist = True
    assert limbs.ticked(rig) == []
    rigify_human.bend_knee(rig, 110.0)
    assert body.sbs.twist_across == pytest.approx(0.35)
    some = rigs.evaluated(body)
    amounts = rigs.state_of(body).amounts.amount.weights
    body.sbs.twist_across = 1.0
    spherical = rigs.evaluated(body)
    body.sbs.method = "LINEAR"
    linear = rigs.evaluated(body)

    found = read(body, rig)
    weights = dict(zip([bone.name for bone in found.bones], found.weights.T, strict=True))
    whole = found.weights.sum(axis=1)
    knee = (weights["DEF-thigh.L.001"] > 0.35 * whole) & (weights["DEF-shin.L"] > 0.35 * whole)
    assert knee.any()
    np.testing.assert_allclose(amounts[knee], 0.35, atol=1e-6)
    bend = spherical[knee] - linear[knee]
    assert np.linalg.norm(bend, axis=1).max() > 0.005, "of a knee of 10 cm"
    np.testing.assert_allclose(some[knee] - linear[knee], 0.35 * bend, atol=1e-5)
    for one in ("thigh", "shin", "upper_arm", "forearm"):
        pair = weights[f"DEF-{one}.L"], weights[f"DEF-{one}.L.001"]
        between = (np.minimum(*pair) > 0.2 * whole) & (sum(pair) > 0.9999 * whole)
        assert between.any(), one
        np.testing.assert_allclose(amounts[between], 1.0, atol=1e-3)


def test_bones_blending_has_no_other_twist(character: Character) -> None:
    tube, armature = character
    tube.sbs.method = "BONES_BLENDING"
    spread = rigs.evaluated(tube)
    assert rigs.state_of(tube).problem == ""
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
    """Linear is the shape by the Armature modifier, which spreads no twist."""
    tube, armature = character
    current_layer().update()
    difference = addon.module("comparison.difference").find(tube)
    assert error(difference.linear, deformed(tube, armature, method="linear")) < EXACT


def test_optimized_centers_are_found_for_it(character: Character) -> None:
    tube, armature = character
    tube.sbs.spread_twist = False
    tube.sbs.center = "OPTIMIZED"
    current_layer().update()
    before = kept_centers(tube)
    tube.sbs.spread_twist = True
    current_layer().update()
    spread = kept_centers(tube)
    assert before is not None and spread is not None
    assert np.abs(spread - before).max() > 0.01
    assert_spread(tube, armature, center="optimized", centers=spread)
    binding = binding_of(tube)
    positions, skin = binding.surface.positions, binding.skin
    shared = binding.twist.influences(binding.space.from_mesh(positions), skin.joint_indices, skin.joint_weights)
    find = addon.module("core.library").load().optimized_centers
    wanted = find(positions, rigs.triangles(tube.data), *shared, sigma=1.0)
    np.testing.assert_allclose(spread, wanted, atol=1e-6)
    tube.sbs.spread_twist = False
    current_layer().update()
    after = kept_centers(tube)
    assert after is not None
    np.testing.assert_allclose(after, before, atol=1e-6)


@pytest.fixture
def straight() -> Character:
    return limbs.bound_at_rest()


def test_limbs_are_found_when_it_is_switched_on(character: Character) -> None:
    tube, armature = character
    assert ticked(armature) == list(LIMBS)
    assert all(bone.sbs.twist_reason for bone in armature.pose.bones)
    assert_spread(tube, armature)
    assert_spread(tube, armature, *ticked(armature))
    assert error(rigs.evaluated(tube), deformed(tube, armature)) > 0.01


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
    assert addon.ops.find_limbs() == {"FINISHED"}
    assert ticked(armature) == list(LIMBS)
    assert_spread(tube, armature)
    for bone in armature.pose.bones:
        bone.sbs_twist = False
    assert error(rigs.evaluated(tube), limbs.deformed(tube, armature, ())) < EXACT


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
    sleeve = limbs.make_tube(name="Sleeve", only=LIMBS)
    bind_more(armature, arm, sleeve)
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
    glove = limbs.make_tube(name="Glove", only=("ForeArm", "Hand"))
    bind_more(armature, glove)
    assert glove.sbs.spread_twist
    assert [armature.pose.bones[limb.bone].name for limb in binding_of(glove).limbs] == list(LIMBS)


def test_a_mesh_that_no_limb_moves(character: Character) -> None:
    """As a head beside a body: its vertices are where they would be in one mesh, so that no seam opens."""
    tube, armature = character
    collar = rigs.make_tube(rows=11, name="Collar")
    collar.vertex_groups["B0"].name, collar.vertex_groups["B1"].name = "Shoulder", "Hand"
    rigs.bind(collar, armature)
    collar.sbs.spread_twist = True
    assert_spread(collar, armature)
    assert_spread(tube, armature)
    assert error(rigs.evaluated(collar), deformed(collar, armature)) > 0.01


def by_default() -> None:
    addon.preferences().property_unset("spread_twist")


def test_is_the_default_of_what_is_bound_anew() -> None:
    by_default()
    tube, armature = limbs.make()
    bind_more(armature, tube)
    assert (tube.sbs.scope, armature.sbs.spread_twist, tube.sbs.spread_twist) == ("RIG", True, True)
    assert ticked(armature) == list(LIMBS)
    pose(armature)
    assert_spread(tube, armature, center="optimized", centers=kept_centers(tube))
    # A choice stays, and so do the settings in files of earlier versions.
    tube.sbs.spread_twist = False
    assert addon.ops.unbind() == addon.ops.bind() == {"FINISHED"}
    assert not tube.sbs.spread_twist
    other = rigs.make_tube(name="Other")
    other.sbs.center = "JOINT_SET"
    bind_more(armature, other)
    assert not other.sbs.spread_twist


def test_limbs_are_found_by_meshes_one_after_the_other() -> None:
    by_default()
    arm, armature = limbs.make()
    for item in (limbs.make_tube(name="Ring", only=("Hand",)), arm):
        bind_more(armature, item)
        assert ticked(armature) == (list(LIMBS) if item == arm else [])
    # Not after the artist has chosen.
    armature.pose.bones["UpperArm"].sbs_twist = False
    bind_more(armature, rigs.make_tube(name="Other"))
    assert ticked(armature) == ["ForeArm"]


@pytest.mark.parametrize("kind", ["HEAT", "CAPSULES"])
def test_limbs_are_found_by_new_weights(kind: str) -> None:
    by_default()
    tube, armature = limbs.make()
    tube.vertex_groups.clear()
    bind_more(armature, tube)
    assert tube.sbs.spread_twist and ticked(armature) == []
    rigs.select([tube])
    assert addon.ops.automatic_weights(weights=kind) == {"FINISHED"}
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
    with rigs.editing(tube):
        tube.sbs.spread_twist = True
        assert not ticked(armature) and not armature.sbs.twist_found
        assert not addon.ops.find_limbs.poll()
    assert addon.ops.find_limbs() == {"FINISHED"}
    pose(armature)
    assert_spread(tube, armature)


def test_bendy_bones(character: Character) -> None:
    """The segments of a bone spread its twist themselves; limbs beside it hang on its last one."""
    tube, armature = character
    armature.data.bones["UpperArm"].bbone_segments = 4
    rigs.select([tube])
    assert addon.ops.find_limbs() == {"FINISHED"}
    assert ticked(armature) == ["ForeArm"]
    found = rigs.evaluated(tube)
    assert rigs.state_of(tube).problem == ""
    tube.sbs.spread_twist = False
    assert error(found, rigs.evaluated(tube)) > 1e-3
    # Where the forearm begins, it is turned as the upper arm is.
    tube.sbs.spread_twist = True
    for bone in armature.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    assert error(rigs.evaluated(tube), rigs.positions(tube.data)) < EXACT


def test_weights_are_painted(character: Character) -> None:
    tube, armature = character
    rigs.evaluated(tube)
    binding = binding_of(tube)
    tube.vertex_groups["ForeArm"].add(list(range(200, 330)), 0.9, "REPLACE")
    tube.vertex_groups["UpperArm"].remove(list(range(240, 260)))
    tube.data.update()
    assert_spread(tube, armature)
    assert binding_of(tube).twist is binding.twist, "painting must not look for limbs again"
    # A limb that moved no vertex here until now.
    tube.vertex_groups["UpperArm"].remove(range(len(tube.data.vertices)))
    tube.data.update()
    assert_spread(tube, armature)
    tube.vertex_groups["UpperArm"].add(list(range(150, 350)), 0.7, "REPLACE")
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
    np.testing.assert_array_equal(binding_of(tube).skin.joint_set_of_vertex, skin.joint_set_of_vertex)


def test_bones_are_renamed(character: Character) -> None:
    tube, armature = character
    armature.data.bones["ForeArm"].name = "Elbow to Wrist"
    assert ticked(armature) == ["UpperArm", "Elbow to Wrist"]
    assert_spread(tube, armature, "UpperArm", "Elbow to Wrist")


def test_bones_are_edited(character: Character) -> None:
    tube, armature = character
    with rigs.editing(armature):
        armature.data.edit_bones["Hand"].head.z += 0.3
        armature.data.edit_bones.new("New").tail = (0.0, 0.0, -1.0)
    assert ticked(armature) == list(LIMBS)
    assert_spread(tube, armature)


def test_a_bone_that_moves_nothing_ends_no_limb(character: Character) -> None:
    tube, armature = character
    with rigs.editing(armature):
        socket = armature.data.edit_bones.new("Socket")
        socket.parent = armature.data.edit_bones["ForeArm"]
        socket.head, socket.tail = (0.5, 0.0, 2.5), (0.7, 0.0, 2.5)
    rigs.select([tube])
    assert addon.ops.find_limbs() == {"FINISHED"}
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
    assert_spread(tube, armature, "ForeArm")
    assert_spread(*rigs.undo())
    tube, armature = rigs.undo()
    assert ticked(armature) == [] and not armature.sbs.twist_found
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < EXACT
    assert_spread(*rigs.redo())
    assert_spread(*rigs.redo(), "ForeArm")


# Degrees from frame to frame. No two joints of a limb are then ever half a turn apart, where rounding would decide
# which way they are blended.
STEP = 19.0


def wind(armature: ArmatureObject, frames: int = 21) -> None:
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
        current_scene().frame_set(frame)
        assert_spread(tube, armature, twists=own(STEP * (frame - 1)), frames=8)
    # And back; in parts of frames, as motion blur does.
    for moment in np.arange(21.0, 1.0, -0.75).tolist():
        current_scene().frame_set(int(moment), subframe=moment % 1.0)
        assert_spread(tube, armature, twists=own(STEP * (moment - 1)), frames=8)


def test_nothing_jumps(straight: Character) -> None:
    """No vertex moves more than the bone turns it; without history some do."""
    tube, armature = straight
    wind(armature)

    def largest_step() -> float:
        shapes = []
        for frame in range(1, 22):
            current_scene().frame_set(frame)
            shapes.append(rigs.evaluated(tube))
        return float(np.linalg.norm(np.diff(shapes, axis=0), axis=2).max())

    # Half a unit about its axis, and a bit more where rotations are blended linearly and normalized.
    assert largest_step() > 0.5
    tube.sbs.twist_follow = True
    assert largest_step() < 1.05 * 0.5 * math.radians(STEP)


def test_a_jump_has_no_history(winding: Character) -> None:
    tube, armature = winding
    current_scene().frame_set(1)
    current_scene().frame_set(16)
    assert_spread(tube, armature, twists=own(15 * STEP - 360.0), frames=8)
    current_scene().frame_set(17)
    assert_spread(tube, armature, twists=own(16 * STEP - 360.0), frames=8)
    # Rendering every third frame is none.
    current_scene().frame_step = 3
    for frame in (1, 4, 7, 10, 13):
        current_scene().frame_set(frame)
    assert_spread(tube, armature, twists=own(12 * STEP), frames=8)


def test_edits_in_a_frame_continue_the_frame_before(winding: Character) -> None:
    tube, armature = winding
    for frame in range(1, 17):
        current_scene().frame_set(frame)
    bone = armature.pose.bones["ForeArm"]
    for degrees in (330.0, 120.0, 450.0):
        bone.rotation_axis_angle[0] = math.radians(degrees)
        # The angle nearest to the twist of frame 15.
        current_layer().update()
        nearest = degrees + 360.0 * round((14 * STEP - degrees) / 360.0)
        assert_spread(tube, armature, twists=own(nearest), frames=8)


def test_without_history_the_short_way(winding: Character) -> None:
    tube, armature = winding
    tube.sbs.twist_follow = False
    for frame in range(1, 13):
        current_scene().frame_set(frame)
    assert_spread(tube, armature, twists=own(11 * STEP - 360.0))
    assert_spread(tube, armature)


def test_painting_forgets_no_history(winding: Character) -> None:
    tube, armature = winding
    for frame in range(1, 13):
        current_scene().frame_set(frame)
    tube.vertex_groups["ForeArm"].add(list(range(200, 330)), 0.9, "REPLACE")
    tube.data.update()
    assert_spread(tube, armature, twists=own(11 * STEP), frames=8)
    armature.pose.bones["UpperArm"].sbs_twist = False
    assert_spread(tube, armature, "ForeArm", twists=own(11 * STEP - 360.0)[1:], frames=8)


@pytest.mark.parametrize("step", [1, 4])
def test_bake_goes_on_from_frame_to_frame(winding: Character, tmp_path: Path, step: int) -> None:
    tube, armature = winding
    current_scene().frame_set(7)
    rigs.select([tube])
    assert addon.ops.bake(
        directory=str(tmp_path), use_scene_range=False, frame_start=1, frame_end=21, frame_step=step
    ) == {"FINISHED"}
    for frame in (17, 21, 1, 9):
        current_scene().frame_set(frame)
        assert_spread(tube, armature, twists=own(STEP * (frame - 1)), frames=8)
