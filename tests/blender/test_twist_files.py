# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists spread along limbs in files, duplicates, overrides, renders, bakes, exports, and as nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import addon
import bpy
import limbs
import numpy as np
import pytest
import renders
import rigs
from expected import deformed, error, kept_centers
from limbs import LIMBS, twist
from objects import ArmatureObject, Character, MeshObject, character_of, current_layer, current_scene, library

EXACT = 1e-6
# Nodes have single precision: rotations are taken out of matrices, and put into others.
NODES = 2e-6


@pytest.fixture
def character() -> Character:
    tube, armature = limbs.bound()
    pose(armature)
    return tube, armature


def pose(armature: ArmatureObject, seed: int = 1) -> None:
    rigs.turn(armature, seed=seed)
    twist(armature, "ForeArm", 160.0)


def assert_spread(
    tube: MeshObject, armature: ArmatureObject, *names: str, tolerance: float = EXACT, **options: Any
) -> None:
    current_layer().update()
    wanted = limbs.deformed(tube, armature, names or LIMBS, **options)
    assert error(wanted, deformed(tube, armature)) > 1e-3, "there must be a twist to spread"
    assert error(rigs.evaluated(tube), wanted) < tolerance


@pytest.mark.parametrize("linked", [False, True])
def test_duplicates(character: Character, linked: bool) -> None:
    tube, armature = character
    rigs.select([tube, armature])
    assert bpy.ops.object.duplicate(linked=linked) == {"FINISHED"}
    other, other_rig = character_of(bpy.context.selected_objects)
    assert other.sbs.armature == other_rig
    # Ticks are of the rig object: those of the copy are its own.
    other_rig.pose.bones["UpperArm"].sbs_twist = False
    pose(other_rig, seed=5)
    assert_spread(other, other_rig, "ForeArm")
    assert_spread(tube, armature)


def test_save_and_load(character: Character, tmp_path: Path) -> None:
    tube, armature = character
    tube.sbs.twist_across, tube.sbs.twist_profile = 0.25, "SMOOTH"
    armature.pose.bones["UpperArm"].sbs_twist = False
    tube, armature = rigs.reopen(tmp_path / "character.blend")
    assert_spread(tube, armature, "ForeArm", across=0.25, smooth=True)
    assert "radii long" in armature.pose.bones["UpperArm"].sbs.twist_reason
    assert armature.sbs.twist_found
    pose(armature, seed=3)
    assert_spread(tube, armature, "ForeArm", across=0.25, smooth=True)


def test_files_of_earlier_versions_keep_what_they_had(tmp_path: Path) -> None:
    tube, armature = limbs.make()
    rigs.bind(tube, armature)
    # As before there was such a setting.
    for name in ("spread_twist", "twist_profile", "twist_across", "twist_follow"):
        tube.sbs.property_unset(name)
        armature.sbs.property_unset(name)
    tube, armature = rigs.reopen(tmp_path / "earlier.blend")
    pose(armature)
    assert not tube.sbs.spread_twist
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < EXACT


def test_linked_and_overridden(character: Character, tmp_path: Path) -> None:
    rigs.save_library(tmp_path / "library.blend")
    tube, armature = rigs.override_character(tmp_path / "library.blend")
    pose(armature, seed=4)
    assert_spread(tube, armature)
    armature.pose.bones["UpperArm"].sbs_twist = False
    tube.sbs.twist_across = 0.75
    assert_spread(tube, armature, "ForeArm", across=0.75)
    rigs.reopen(tmp_path / "shot.blend")
    tube, armature = rigs.overridden()
    assert_spread(tube, armature, "ForeArm", across=0.75)
    rigs.select([tube])
    assert addon.ops.find_limbs() == {"FINISHED"}
    assert_spread(tube, armature, across=0.75)


def test_a_mesh_of_a_linked_rig(character: Character, tmp_path: Path) -> None:
    """Without an override, bones are those that were ticked in its file, and cannot be changed."""
    _, armature = character
    armature.pose.bones["UpperArm"].sbs_twist = False
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    rigs.close()
    with library(path, link=True) as (_there, here):
        here.objects = ["Rig"]
    armature = here.objects[0]
    current_scene().collection.objects.link(armature)
    tube = limbs.make_tube()
    current_layer().update()
    rigs.bind(tube, armature)
    tube.sbs.spread_twist = True
    assert_spread(tube, armature, "ForeArm")
    rigs.select([tube])
    assert not addon.ops.find_limbs.poll()


def test_render_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script of a farm switches it on and renders: limbs are found, and used in the first picture."""
    tube, armature = limbs.make()
    rigs.bind(tube, armature)
    twist(armature, "ForeArm", 150.0)
    tube.sbs.spread_twist = True
    given: list[np.ndarray] = []
    monkeypatch.setattr(addon.module("engine.stack.carriers"), "write", lambda _carrier, points: given.append(points))
    renders.still(renders.make_scene(range(1, 2), pixels=8), tmp_path / "picture.exr")
    assert error(given[-1].astype(np.float64), limbs.deformed(tube, armature)) < EXACT


@pytest.mark.blender(since=(5, 1))
@pytest.mark.parametrize("center", ["OPTIMIZED", "JOINT_SET"])
@pytest.mark.parametrize("across", [0.35, 1.0])
def test_portable(character: Character, center: str, across: float) -> None:
    tube, armature = character
    tube.sbs.center = center
    tube.sbs.twist_across = across
    current_layer().update()
    options: dict[str, Any] = {"across": across}
    if center == "OPTIMIZED":
        options |= {"center": "optimized", "centers": kept_centers(tube)}
    assert_spread(tube, armature, **options)
    rigs.select([tube])
    assert addon.ops.make_portable() == {"FINISHED"}
    assert addon.module("engine.bake.portable").find(tube) is not None
    for seed in (1, 2, 3):
        pose(armature, seed)
        assert_spread(tube, armature, tolerance=NODES, **options)
    # Turned about by almost half a turn, and not at all.
    for degrees in (179.0, -179.0, 0.0):
        twist(armature, "ForeArm", degrees)
        assert error(rigs.evaluated(tube), limbs.deformed(tube, armature, **options)) < NODES
    armature.pose.bones["ForeArm"].scale = (1.2, 0.9, 1.1)
    armature.pose.bones["UpperArm"].scale = (1.0, 1.3, 1.0)
    pose(armature, 6)
    assert_spread(tube, armature, tolerance=NODES, **options)
    assert addon.ops.make_live() == {"FINISHED"}
    assert tube.sbs.spread_twist
    assert_spread(tube, armature, **(options if center == "JOINT_SET" else {**options, "centers": kept_centers(tube)}))


@pytest.mark.blender(since=(5, 1))
def test_portable_without_limbs(character: Character) -> None:
    """Less of the method at joints is kept, though no twist is spread."""
    tube, armature = character
    for bone in armature.pose.bones:
        bone.sbs_twist = False
    rigs.select([tube])
    assert addon.ops.make_portable() == {"FINISHED"}
    assert error(rigs.evaluated(tube), limbs.deformed(tube, armature, ())) < NODES


@pytest.mark.blender(since=(5, 1))
def test_portable_anywhere(character: Character) -> None:
    tube, armature = character
    tube.location, tube.rotation_euler, tube.scale = (0.1, 0.2, 0.0), (0.2, 0.1, 0.0), (1.2, 0.8, 1.0)
    armature.location, armature.rotation_euler = (1.0, 2.0, 3.0), (0.1, -0.4, 1.0)
    tube.parent = armature
    current_layer().update()
    rigs.select([tube])
    assert addon.ops.make_portable() == {"FINISHED"}
    assert_spread(tube, armature, tolerance=NODES)
    armature.location.x += 5.0
    armature.scale = (2.0, 2.0, 2.0)
    assert_spread(tube, armature, tolerance=NODES)


@pytest.mark.blender(since=(5, 1))
def test_portable_leaves_nothing_behind(character: Character) -> None:
    tube, _armature = character
    groups = {tree.name for tree in bpy.data.node_groups}
    rigs.select([tube])
    assert addon.ops.make_portable() == {"FINISHED"}
    assert any("Twist" in tree.name for tree in bpy.data.node_groups)
    assert addon.ops.make_live() == {"FINISHED"}
    assert {tree.name for tree in bpy.data.node_groups} == groups
    tube.sbs.spread_twist = False
    assert addon.ops.make_portable() == {"FINISHED"}
    assert not any("Twist" in tree.name for tree in bpy.data.node_groups)


@pytest.mark.blender(since=(5, 1))
def test_portable_has_no_history(character: Character) -> None:
    tube, _armature = character
    tube.sbs.twist_follow = True
    rigs.select([tube])
    with pytest.raises(RuntimeError, match="Tube"):
        addon.ops.make_portable()
    assert addon.module("engine.stack.stack").find(tube) is not None
    tube.sbs.twist_follow = False
    assert addon.ops.make_portable() == {"FINISHED"}
