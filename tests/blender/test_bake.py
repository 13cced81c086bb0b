# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: baked shapes equal deformed ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from numpy.typing import NDArray
from objects import Character, MeshObject, current_layer, current_scene, mesh_named

FRAMES = range(1, 9)

# Shape keys are added to the first one: two roundings of numbers up to 4.
KEY_TOLERANCE = 1e-6


def make_character(name: str = "Tube") -> Character:
    armature, tube = rigs.make_armature(name=f"{name} Rig"), rigs.make_tube(name=name)
    tube.parent = armature
    rigs.bind(tube, armature)
    rigs.animate(armature, FRAMES[-1])
    current_scene().frame_start, current_scene().frame_end = FRAMES[0], FRAMES[-1]
    return tube, armature


def by_frame(item: MeshObject, frames: range = FRAMES) -> dict[int, NDArray[np.float64]]:
    current_layer().update()
    result = {}
    for frame in frames:
        current_scene().frame_set(frame)
        result[frame] = rigs.evaluated(item)
    return result


def assert_same_frames(item: MeshObject, wanted: dict[int, NDArray[np.float64]]) -> None:
    found = by_frame(item)
    for frame in FRAMES:
        np.testing.assert_array_equal(found[frame], wanted[frame])


def bake(items: Sequence[MeshObject], **options: Any) -> None:
    rigs.select(items)
    assert addon.ops.bake(**options) == {"FINISHED"}


def assert_cancels(text: str, items: Sequence[MeshObject], **options: Any) -> None:
    rigs.select(items)
    with pytest.raises(RuntimeError, match=text):
        addon.ops.bake(**options)


def our_modifier(item: MeshObject) -> bpy.types.Modifier:
    modifier: bpy.types.Modifier = addon.module("engine.bake.bake").modifier_of(item)
    return modifier


def test_point_cache(tmp_path: Path) -> None:
    tube, armature = make_character()
    current_scene().frame_set(5, subframe=0.25)
    wanted = by_frame(tube)
    current_scene().frame_set(5, subframe=0.25)
    bake([tube], directory=str(tmp_path))
    assert current_scene().frame_current_final == 5.25
    assert not our_modifier(tube).show_viewport and not our_modifier(tube).show_render
    assert [path.name for path in tmp_path.iterdir()] == ["Tube.pc2"]
    found = by_frame(tube)
    for frame in FRAMES:
        np.testing.assert_array_equal(found[frame], wanted[frame])
        current_scene().frame_set(frame)
        assert error(found[frame], deformed(tube, armature)) < TOLERANCE
    # It needs neither our modifier nor the rig.
    tube.modifiers.remove(our_modifier(tube))
    bpy.data.objects.remove(armature)
    assert_same_frames(tube, wanted)


def test_steps_and_own_range(tmp_path: Path) -> None:
    tube, _ = make_character()
    wanted = by_frame(tube)
    bake([tube], directory=str(tmp_path), use_scene_range=False, frame_start=2, frame_end=7, frame_step=2)
    found = by_frame(tube, range(2, 7))
    for frame in (2, 4, 6):
        np.testing.assert_array_equal(found[frame], wanted[frame])
    np.testing.assert_allclose(found[3], (wanted[2] + wanted[4]) / 2, atol=KEY_TOLERANCE)


def test_all_selected_meshes(tmp_path: Path) -> None:
    first, _ = make_character("Left/Hand")
    second, _ = make_character("Left:Hand")
    other = rigs.make_tube(name="Not bound")
    wanted = [by_frame(item) for item in (first, second)]
    bake([first, second, other], directory=str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 2
    assert not other.modifiers
    for item, expected in zip((first, second), wanted, strict=False):
        assert_same_frames(item, expected)


def test_modifiers_around(tmp_path: Path) -> None:
    tube, _ = make_character()
    rigs.add_shape(tube, (1.5, 1.0, 1.0))
    tube.modifiers.new("Subdivision", "SUBSURF").levels = 1
    wanted = by_frame(tube)
    bake([tube], directory=str(tmp_path))
    assert tube.modifiers["Subdivision"].show_viewport
    assert_same_frames(tube, wanted)


def test_bake_again(tmp_path: Path) -> None:
    tube, armature = make_character()
    bake([tube], directory=str(tmp_path))
    rigs.turn(armature, seed=3)
    for bone in armature.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=4)
    our_modifier(tube).show_viewport = True
    tube.modifiers["SBS Bake"].show_viewport = False
    wanted = by_frame(tube)
    bake([tube], directory=str(tmp_path))
    assert [modifier.type for modifier in tube.modifiers].count("MESH_CACHE") == 1
    assert_same_frames(tube, wanted)


@pytest.mark.parametrize("times", [1, 2])
def test_shape_keys(times: int) -> None:
    tube, _armature = make_character()
    rigs.add_shape(tube, (1.5, 1.0, 1.0), 0.5)
    wanted = by_frame(tube)
    for _ in range(times):
        bake([tube], target="SHAPE_KEYS")
    names = [key.name for key in tube.data.shape_keys.key_blocks]
    assert names == ["Basis", "Wide", *(f"SBS Frame {frame}" for frame in FRAMES)]
    found = by_frame(tube)
    for frame in FRAMES:
        np.testing.assert_allclose(found[frame], wanted[frame], atol=KEY_TOLERANCE)
    current_scene().frame_set(3, subframe=0.5)
    np.testing.assert_allclose(rigs.evaluated(tube), (wanted[3] + wanted[4]) / 2, atol=KEY_TOLERANCE)


def test_cancelled(tmp_path: Path) -> None:
    tube, _ = make_character()
    (tmp_path / "Tube.pc2").write_bytes(b"of before")
    module = addon.module("engine.bake.bake")
    shown = [(modifier.name, modifier.show_viewport, modifier.show_render) for modifier in tube.modifiers]
    for baking in (
        module.PointCacheBake(bpy.context, [tube], FRAMES, str(tmp_path)),
        module.ShapeKeyBake(bpy.context, [tube], FRAMES),
    ):
        with baking:
            steps = iter(baking)
            assert [next(steps), next(steps)] == [1, 2]
        assert shown == [(modifier.name, modifier.show_viewport, modifier.show_render) for modifier in tube.modifiers]
        assert tube.data.shape_keys is None
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"of before"]


def test_what_cannot_be_baked(tmp_path: Path) -> None:
    tube, _ = make_character()
    assert_cancels("[Ss]ave", [tube], directory="//cache")
    assert_cancels("first", [tube], use_scene_range=False, frame_start=5, frame_end=4)
    (tmp_path / "file").write_bytes(b"")
    assert_cancels("file", [tube], directory=str(tmp_path / "file"))
    rigs.put_first(tube, tube.modifiers.new("Smooth", "SMOOTH"))
    assert_cancels("Smooth", [tube], target="SHAPE_KEYS")
    tube.modifiers.remove(tube.modifiers["Smooth"])
    copy = tube.copy()
    current_scene().collection.objects.link(copy)
    assert_cancels("Tube", [tube], target="SHAPE_KEYS")
    rigs.select([rigs.make_tube(name="Other")])
    assert not addon.ops.bake.poll()


def test_relative_folder(tmp_path: Path) -> None:
    tube, _ = make_character()
    wanted = by_frame(tube)
    (tmp_path / "before").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "before" / "scene.blend"))
    bake([tube], directory="//cache")
    bpy.ops.wm.save_mainfile()
    (tmp_path / "before").rename(tmp_path / "after")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "after" / "scene.blend"))
    assert_same_frames(mesh_named("Tube"), wanted)
