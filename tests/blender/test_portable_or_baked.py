# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Portable where nodes cannot do it for all meshes: one press makes some portable, and bakes the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import addon
import bpy
import muscled
import numpy as np
import pytest
import rigify_human
import rigs
from expected import error
from objects import ArmatureObject, MeshObject, current_layer, current_scene
from portables import TOLERANCE, needs_bone_info, shapes_without_addon

pytestmark = needs_bone_info

FRAMES = range(1, 6)


Family = tuple[MeshObject, MeshObject, ArmatureObject]


@pytest.fixture
def character() -> Family:
    """A body with muscles and a shirt without, on one rig that bends in some frames."""
    body, armature = muscled.make_character()
    shirt = rigs.make_tube(rows=21, name="Shirt")
    rigs.bind(shirt, armature)
    shirt.sbs.use_muscles = False
    for frame in (FRAMES[0], FRAMES[-1]):
        muscled.bend(armature, 15.0 * frame)
        armature.pose.bones["B2"].keyframe_insert("rotation_quaternion", frame=frame)
    current_scene().frame_start, current_scene().frame_end = FRAMES[0], FRAMES[-1]
    return body, shirt, armature


def shapes(items: Sequence[MeshObject]) -> list[list[np.ndarray]]:
    """The vertices of some objects in each frame."""
    found = []
    for frame in FRAMES:
        current_scene().frame_set(frame)
        current_layer().update()
        found.append([rigs.evaluated(item) for item in items])
    return found


def assert_alike(found: list[list[np.ndarray]], wanted: list[list[np.ndarray]]) -> None:
    for here, there in zip(found, wanted, strict=True):
        assert all(error(each, other) < TOLERANCE for each, other in zip(here, there, strict=True))


def is_portable(item: MeshObject) -> bool:
    return addon.module("engine.bake.portable").find(item) is not None


def is_baked(item: MeshObject) -> bool:
    baked: bool = addon.module("engine.bake.bake").is_baked(item)
    return baked


def press(items: Sequence[MeshObject], **options: Any) -> None:
    rigs.select(items)
    assert addon.ops.make_portable(**options) == {"FINISHED"}


def test_one_press(character: Family, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body, shirt, _ = character
    wanted = shapes([body, shirt])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    press([body, shirt])
    assert is_portable(shirt) and not is_baked(shirt)
    assert is_baked(body) and not is_portable(body)
    assert "Portable: Shirt. Baked, frames 1 to 5: Tube, as nodes know no muscles" in capfd.readouterr().out
    assert_alike(shapes([body, shirt]), wanted)
    assert_alike(shapes_without_addon(tmp_path, ("Tube", "Shirt"), FRAMES), wanted)


def test_once_more_after_another_animation(character: Family, tmp_path: Path) -> None:
    body, shirt, armature = character
    press([body, shirt], directory=str(tmp_path))
    muscled.bend(armature, 20.0)
    armature.pose.bones["B2"].keyframe_insert("rotation_quaternion", frame=FRAMES[-1])
    press([body, shirt], directory=str(tmp_path))
    found = shapes([body, shirt])
    assert is_baked(body) and is_portable(shirt)
    # As if it had never been baked.
    body.modifiers.remove(body.modifiers["SBS Bake"])
    addon.module("engine.bake.bake").modifier_of(body).show_viewport = True
    current_layer().update()
    assert_alike(found, shapes([body, shirt]))


def test_a_file_that_was_never_saved(character: Family) -> None:
    """There is nowhere to bake to; what nodes can do is done all the same, and the live one stays."""
    body, shirt, _ = character
    wanted = shapes([body, shirt])
    rigs.select([body, shirt])
    with pytest.raises(
        RuntimeError, match=r"Portable: Shirt\. Not baked: Tube, as nodes know no muscles\. Save the fil"
    ):
        addon.ops.make_portable()
    assert is_portable(shirt) and not is_baked(body) and addon.module("engine.stack.stack").find(body) is not None
    assert_alike(shapes([body, shirt]), wanted)


def test_what_is_baked_to_shape_keys(character: Family) -> None:
    body, shirt, _ = character
    wanted = shapes([body, shirt])
    rigs.select([body])
    assert addon.ops.bake(target="SHAPE_KEYS") == {"FINISHED"}
    rigs.select([body, shirt])
    with pytest.raises(RuntimeError, match="Tube is baked to shape keys, which need no add-on"):
        addon.ops.make_portable()
    assert is_baked(body) and is_portable(shirt)
    assert_alike(shapes([body, shirt]), wanted)


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("method", "DUAL_QUATERNION", "nodes know no Dual Quaternion"),
        ("rotation", "AVERAGE", "nodes know linear rotations alone"),
        ("center", "WEIGHTED", "nodes know no weighted centers"),
    ],
)
def test_other_settings(
    setting: str, value: str, reason: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rigs.bind(tube, armature)
    rigs.animate(armature, FRAMES[-1])
    current_scene().frame_start, current_scene().frame_end = FRAMES[0], FRAMES[-1]
    setattr(tube.sbs, setting, value)
    wanted = shapes([tube])
    press([tube], directory=str(tmp_path))
    assert is_baked(tube) and f"Baked, frames 1 to 5: Tube, as {reason}" in capfd.readouterr().out
    assert_alike(shapes([tube]), wanted)


def test_a_rig_of_rigify(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A body with muscles, gloves on bones that bend, eyes on bones that do not: one press for all."""
    rig = rigify_human.generate()
    body = rigify_human.flesh(rig)
    rigs.select([rig, body])
    assert bpy.ops.object.parent_set(type="ARMATURE_AUTO") == {"FINISHED"}
    gloves, eyes = body.copy(), body.copy()
    for item, name in ((gloves, "Gloves"), (eyes, "Eyes")):
        item.name, item.data = name, body.data.copy()
        current_scene().collection.objects.link(item)
    for name in [group.name for group in eyes.vertex_groups if rig.data.bones[group.name].bbone_segments > 1]:
        eyes.vertex_groups.remove(eyes.vertex_groups[name])
    items = [body, gloves, eyes]
    for item in items:
        rigs.bind(item, rig)
        item.sbs.use_muscles = item == body
    rigs.select([body])
    assert addon.ops.fit_muscles() == {"FINISHED"}
    for frame in (FRAMES[0], FRAMES[-1]):
        rigify_human.bend_elbow(rig, 15.0 * frame).keyframe_insert("rotation_euler", frame=frame)
    current_scene().frame_start, current_scene().frame_end = FRAMES[0], FRAMES[-1]
    wanted = shapes(items)
    assert error(wanted[0][0], wanted[-1][0]) > 0.01
    press(items, directory=str(tmp_path))
    assert [is_baked(item) for item in items] == [True, True, False] and is_portable(eyes)
    said = capfd.readouterr().out
    assert "Portable: Eyes. Baked, frames 1 to 5: Body, as nodes know no muscles; Gloves, as nodes cannot read" in said
    assert_alike(shapes(items), wanted)
