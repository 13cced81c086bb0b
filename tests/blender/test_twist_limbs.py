# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists spread along limbs: which bones, as found and as the artist ticks them."""

from __future__ import annotations

import addon
import limbs
import numpy as np
import pytest
import rigs
from expected import deformed, error, kept_centers
from limbs import EXACT, LIMBS, assert_spread, binding_of, pose, ticked, twist
from objects import Character, current_layer


@pytest.fixture
def character() -> Character:
    return limbs.bound()


@pytest.fixture
def straight() -> Character:
    return limbs.bound_at_rest()


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
    sleeve = rigs.make_tube(name="Sleeve")
    for number, name in enumerate(limbs.NAMES):
        sleeve.vertex_groups[f"B{number}"].name = name
    for name in ("Shoulder", "Hand"):
        sleeve.vertex_groups.remove(sleeve.vertex_groups[name])
    current_layer().update()
    rigs.select([arm, sleeve, armature])
    assert addon.ops.bind() == {"FINISHED"}
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
    current_layer().update()
    assert addon.ops.bind() == {"FINISHED"}
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
    current_layer().update()
    assert error(rigs.evaluated(collar), deformed(collar, armature)) > 0.01


def by_default() -> None:
    """Have the preferences as they come."""
    addon.preferences().property_unset("spread_twist")


def test_is_the_default_of_what_is_bound_anew() -> None:
    by_default()
    tube, armature = limbs.make()
    rigs.select([tube, armature])
    current_layer().update()
    assert addon.ops.bind() == {"FINISHED"}
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
    rigs.select([other, armature])
    current_layer().update()
    assert addon.ops.bind() == {"FINISHED"}
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
        current_layer().update()
        assert addon.ops.bind() == {"FINISHED"}
        assert ticked(armature) == ([] if item == ring else list(LIMBS))
    # Not after the artist has chosen.
    armature.pose.bones["UpperArm"].sbs_twist = False
    other = rigs.make_tube(name="Other")
    rigs.select([other, armature])
    current_layer().update()
    assert addon.ops.bind() == {"FINISHED"}
    assert ticked(armature) == ["ForeArm"]


@pytest.mark.parametrize("kind", ["HEAT", "CAPSULES"])
def test_limbs_are_found_by_new_weights(kind: str) -> None:
    by_default()
    tube, armature = limbs.make()
    tube.vertex_groups.clear()
    rigs.select([tube, armature])
    current_layer().update()
    assert addon.ops.bind() == {"FINISHED"}
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
    assert "bendy" in armature.pose.bones["UpperArm"].sbs.twist_reason
    found = rigs.evaluated(tube)
    assert addon.module("engine.live.states").state_of(tube).problem == ""
    tube.sbs.spread_twist = False
    assert error(found, rigs.evaluated(tube)) > 1e-3
    # Where the forearm begins, it is turned as the upper arm is.
    tube.sbs.spread_twist = True
    for bone in armature.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    assert error(rigs.evaluated(tube), rigs.positions(tube.data)) < EXACT
