# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations and rotation centers beyond the paper's, in the live engine."""

from __future__ import annotations

from typing import Any

import addon
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import ArmatureObject, Character, MeshObject


@pytest.fixture
def character() -> Character:
    """A bound tube of triangles and quadrilaterals, and its posed armature."""
    return rigs.make_character()


def assert_right(tube: MeshObject, armature: ArmatureObject, **options: Any) -> None:
    assert error(rigs.evaluated(tube), deformed(tube, armature, **options)) < TOLERANCE


@pytest.mark.parametrize(
    ("rotation", "center"), [("average", "joint_set"), ("qlerp", "weighted"), ("average", "weighted")]
)
def test_methods(character: Character, rotation: str, center: str) -> None:
    tube, armature = character
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


@pytest.mark.blender(since=(5, 1))
@pytest.mark.parametrize(("name", "value"), [("rotation", "AVERAGE"), ("center", "WEIGHTED")])
def test_nodes_refuse(character: Character, name: str, value: str) -> None:
    tube, _armature = character
    setattr(tube.sbs, name, value)
    rigs.select([tube])
    with pytest.raises(RuntimeError, match="nodes know"):
        addon.ops.make_portable()
    assert tube.sbs.bound
