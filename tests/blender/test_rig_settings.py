# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that the meshes of a character share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import addon
import bpy
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import Family, Object, armature_named, current_layer, mesh_named


@pytest.fixture
def character() -> Family:
    """A posed armature, and three tubes that are bound to it one after the other."""
    armature = rigs.make_armature()
    tubes = [rigs.make_tube(rows=9 + number, name=f"Part{number}") for number in range(3)]
    for tube in tubes:
        rigs.select([tube, armature])
        current_layer().update()
        assert addon.ops.bind() == {"FINISHED"}
    rigs.turn(armature)
    return armature, tubes


def methods(items: Sequence[Object]) -> list[str]:
    return [item.sbs.method for item in items]


def test_new_meshes_share_settings(character: Family) -> None:
    armature, tubes = character
    assert [tube.sbs.scope for tube in tubes] == ["RIG"] * 3
    assert [tube.sbs.center for tube in tubes] == ["OPTIMIZED"] * 3
    armature.sbs.method = "DUAL_QUATERNION"
    armature.sbs.influence_limit = 2
    assert methods(tubes) == ["DUAL_QUATERNION"] * 3
    assert [tube.sbs.influence_limit for tube in tubes] == [2] * 3
    armature.sbs.influence_limit = 0
    for tube in tubes:
        assert error(rigs.evaluated(tube), deformed(tube, armature, method="dual_quaternion")) < TOLERANCE
    new = rigs.make_tube(name="New")
    rigs.select([new, armature])
    current_layer().update()
    addon.ops.bind()
    assert new.sbs.method == "DUAL_QUATERNION"


def test_a_mesh_has_its_own(character: Family) -> None:
    """A setting changed for one mesh is its own, and goes to no other, until the mesh shares it."""
    armature, tubes = character
    tubes[1].sbs.method = "LINEAR"
    assert (tubes[1].sbs.scope, methods(tubes)) == ("MESH", ["SPHERICAL", "LINEAR", "SPHERICAL"])
    armature.sbs.method = "RIGID"
    assert methods(tubes) == ["RIGID", "LINEAR", "RIGID"]
    tubes[1].sbs.scope = "RIG"
    assert methods(tubes) == ["RIGID"] * 3


def test_apply_to_all_meshes(character: Family) -> None:
    armature, tubes = character
    tubes[1].sbs.method = "LINEAR"
    tubes[1].sbs.influence_limit = 3
    rigs.select(tubes[1:2])
    assert addon.ops.share_settings() == {"FINISHED"}
    assert methods([*tubes, armature]) == ["LINEAR"] * 4
    assert {tube.sbs.influence_limit for tube in tubes} == {3}
    assert {tube.sbs.scope for tube in tubes} == {"RIG"}


def test_what_was_chosen_before(character: Family) -> None:
    """A script that chooses settings and binds then has them for that mesh alone."""
    armature, tubes = character
    new = rigs.make_tube(name="New")
    new.sbs.method = "LINEAR"
    rigs.select([new, armature])
    current_layer().update()
    addon.ops.bind()
    assert (new.sbs.scope, new.sbs.method, methods(tubes)) == ("MESH", "LINEAR", ["SPHERICAL"] * 3)


def test_files_from_before(character: Family, tmp_path: Path) -> None:
    """In them no mesh says whose its settings are, and an armature has none."""
    armature, tubes = character
    tubes[0].sbs.method = "LINEAR"
    for tube in tubes:
        tube.sbs.property_unset("scope")
    for name in ("method", "rotation", "center", "blended_bones", "influence_limit"):
        armature.sbs.property_unset(name)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    armature, tubes = armature_named("Rig"), [mesh_named(f"Part{number}") for number in range(3)]
    armature.sbs.method = "RIGID"
    assert methods(tubes) == ["LINEAR", "SPHERICAL", "SPHERICAL"]
    rigs.select(tubes[1:2])
    addon.ops.unbind()
    addon.ops.bind()
    assert (tubes[1].sbs.scope, tubes[1].sbs.center) == ("MESH", "OPTIMIZED")
    new = rigs.make_tube(name="New")
    armature.sbs.property_unset("method")
    rigs.select([new, armature])
    current_layer().update()
    addon.ops.bind()
    assert (new.sbs.scope, new.sbs.method) == ("RIG", "LINEAR"), "as a mesh that is bound already"


def test_unbinding_keeps_whose_they_are(character: Family) -> None:
    armature, tubes = character
    rigs.select(tubes)
    addon.ops.unbind()
    armature.sbs.method = "LINEAR"
    rigs.select([*tubes, armature])
    addon.ops.bind()
    assert methods(tubes) == ["LINEAR"] * 3


@pytest.mark.parametrize("owner", ["rig", "mesh"])
def test_presets(character: Family, owner: str) -> None:
    armature, tubes = character
    armature.sbs.spread_twist = True
    settings = (armature if owner == "rig" else tubes[0]).sbs
    assert settings.preset == "QUALITY"
    for preset, expected in {
        "SPEED": ("SPHERICAL", "QLERP", "JOINT_SET", 4),
        "GAME": ("LINEAR", "QLERP", "JOINT_SET", 4),
        "QUALITY": ("SPHERICAL", "QLERP", "OPTIMIZED", 0),
    }.items():
        settings.preset = preset
        assert settings.preset == preset
        values = (settings.method, settings.rotation, settings.center, settings.influence_limit)
        assert values == expected
        assert (tubes[1].sbs.preset == preset) == (owner == "rig" or preset == "QUALITY")
    settings.rotation = "AVERAGE"
    assert settings.preset == "CUSTOM"
    settings.preset = "CUSTOM"
    assert settings.rotation == "AVERAGE"
    assert (tubes[0].sbs.scope == "RIG") == (owner == "rig")
