# SPDX-License-Identifier: GPL-3.0-or-later
"""Binding with new weights in one step, and messages about meshes without any."""

from __future__ import annotations

import addon
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import Character, MeshObject, current_layer


@pytest.fixture
def bare() -> Character:
    """A tube without vertex groups, and a posed armature that is active; both are selected."""
    armature, tube = rigs.make_armature(), rigs.make_tube()
    tube.vertex_groups.clear()
    rigs.turn(armature)
    # New objects can't be selected before.
    current_layer().update()
    rigs.select([armature, tube])
    return tube, armature


def sums(tube: MeshObject) -> list[float]:
    return [sum(entry.weight for entry in vertex.groups) for vertex in tube.data.vertices]


@pytest.mark.parametrize("weights", ["HEAT", "CAPSULES"])
def test_one_step(bare: Character, weights: str) -> None:
    tube, armature = bare
    still = rigs.evaluated(tube)
    armature.sbs.center = "JOINT_SET"
    assert addon.ops.bind(parent=True, weights=weights) == {"FINISHED"}
    assert tube.parent == armature
    np.testing.assert_allclose(sums(tube), 1.0, atol=1e-5)
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE
    assert error(rigs.evaluated(tube), still) > 0.05


def test_new_weights_of_what_is_bound(bare: Character) -> None:
    tube, _ = bare
    addon.ops.bind()
    assert sums(tube) == [0.0] * len(tube.data.vertices)
    assert addon.ops.bind(weights="HEAT") == {"FINISHED"}
    np.testing.assert_allclose(sums(tube), 1.0, atol=1e-5)
    assert [modifier.type for modifier in tube.modifiers].count("NODES") == 1


def test_capsules_are_fitted_only_if_new(bare: Character) -> None:
    armature = bare[1]
    bones = armature.data.bones
    addon.ops.bind(weights="CAPSULES")
    fitted = [bone.envelope_distance for bone in bones]
    assert 0.25 not in fitted
    bones["B1"].envelope_distance = 0.7
    addon.ops.automatic_weights(weights="CAPSULES")
    assert bones["B1"].envelope_distance == pytest.approx(0.7)
    addon.ops.automatic_weights(weights="CAPSULES", fit_capsules=True)
    assert [bone.envelope_distance for bone in bones] == pytest.approx(fitted)


def test_no_weights_are_a_warning(bare: Character, capfd: pytest.CaptureFixture[str]) -> None:
    assert addon.ops.bind() == {"FINISHED"}
    assert "Warning: Tube: No vertex has a weight" in capfd.readouterr().out


@pytest.mark.parametrize(("by_groups", "said"), [(False, "moved it by bone envelopes"), (True, "moved these by bone")])
def test_envelopes_are_told(bare: Character, by_groups: bool, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    """They are no weights: neither those of all vertices, nor of what no vertex group has."""
    tube, armature = bare
    modifier = tube.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    modifier.use_bone_envelopes, modifier.use_vertex_groups = True, by_groups
    if by_groups:
        tube.vertex_groups.new(name="B0").add([0, 1, 2], 1.0, "REPLACE")
    assert addon.ops.bind() == {"FINISHED"}
    printed = capfd.readouterr().out
    assert "Warning: Tube: The Armature" in printed and said in printed
    assert addon.ops.automatic_weights(weights="CAPSULES") == {"FINISHED"}
    np.testing.assert_allclose(sums(tube), 1.0, atol=1e-5)


def test_locked_groups_keep_their_weights(bare: Character) -> None:
    tube, _ = bare
    group = tube.vertex_groups.new(name="B2")
    group.add([0, 1, 2], 0.5, "REPLACE")
    group.lock_weight = True
    addon.ops.bind(weights="HEAT")
    assert [group.weight(vertex) for vertex in (0, 1, 2)] == [0.5] * 3


def test_without_bones_that_deform(bare: Character) -> None:
    tube, armature = bare
    for bone in armature.data.bones:
        bone.use_deform = False
    with pytest.raises(RuntimeError, match="Rig has no bone that deforms"):
        addon.ops.bind(weights="HEAT")
    assert not tube.modifiers and tube.parent is None
