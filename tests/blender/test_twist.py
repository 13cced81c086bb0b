# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists spread along limbs: the same as the library, by every method and option."""

from __future__ import annotations

import addon
import bpy
import limbs
import numpy as np
import pytest
import rigify_human
import rigs
from expected import deformed, error, kept_centers
from limbs import EXACT, assert_spread, binding_of
from objects import Character, current_layer


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
    rig = rigify_human.generate()
    body = rigify_human.flesh(rig)
    rigs.select([rig, body])
    assert bpy.ops.object.parent_set(type="ARMATURE_AUTO") == {"FINISHED"}
    rigs.bind(body, rig)
    body.sbs.spread_twist = True
    assert limbs.ticked(rig) == []
    rigify_human.bend_knee(rig, 110.0)
    assert body.sbs.twist_across == pytest.approx(0.35)
    some = rigs.evaluated(body)
    amounts = addon.module("engine.live.states").state_of(body).amounts.amount.weights
    body.sbs.twist_across = 1.0
    spherical = rigs.evaluated(body)
    body.sbs.method = "LINEAR"
    linear = rigs.evaluated(body)

    weights = {group.name: np.zeros(len(some)) for group in body.vertex_groups}
    for vertex in body.data.vertices:
        for entry in vertex.groups:
            weights[body.vertex_groups[entry.group].name][vertex.index] = entry.weight
    whole = sum(weights.values())
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


def test_amounts_are_computed_once(character: Character) -> None:
    tube, armature = character
    current_layer().update()
    amounts = addon.module("engine.live.states").state_of(tube).amounts
    before = amounts.amount
    binding = binding_of(tube)
    rigs.turn(armature, seed=8)
    assert_spread(tube, armature)
    assert amounts.amount is before
    assert binding_of(tube) is binding


def test_limit(character: Character) -> None:
    tube, armature = character
    tube.sbs.influence_limit = 2
    current_layer().update()
    # Two bones, of which each may be two joints along a limb.
    assert binding_of(tube).skin.max_influences <= 4
    tube.sbs.influence_limit = 0
    assert_spread(tube, armature)


def test_bones_blending_has_no_other_twist(character: Character) -> None:
    tube, armature = character
    tube.sbs.method = "BONES_BLENDING"
    spread = rigs.evaluated(tube)
    assert addon.module("engine.live.states").state_of(tube).problem == ""
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
    current_layer().update()
    difference = addon.module("comparison.difference").find(tube)
    assert error(difference.linear, deformed(tube, armature, method="linear")) < EXACT
    comparison = addon.module("engine.live.methods")
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
    current_layer().update()
    before = kept_centers(tube)
    tube.sbs.spread_twist = True
    current_layer().update()
    spread = kept_centers(tube)
    assert before is not None and spread is not None
    assert np.abs(spread - before).max() > 0.01
    assert_spread(tube, armature, center="optimized", centers=spread)
    sbs = addon.module("core.library").load()
    binding = binding_of(tube)
    tube.data.calc_loop_triangles()
    faces = np.array([triangle.vertices for triangle in tube.data.loop_triangles], np.int32)
    positions, skin = binding.surface.positions, binding.skin
    shared = binding.twist.influences(binding.space.from_mesh(positions), skin.joint_indices, skin.joint_weights)
    wanted = sbs.optimized_centers(positions, faces, *shared, sigma=1.0)
    np.testing.assert_allclose(spread, wanted, atol=1e-6)
    tube.sbs.spread_twist = False
    current_layer().update()
    after = kept_centers(tube)
    assert after is not None
    np.testing.assert_allclose(after, before, atol=1e-6)
