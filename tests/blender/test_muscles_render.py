# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders of characters with muscles: pictures are those of the mesh that the library covers, posed and tense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import renders
import rigs
from expected import Floats
from muscled import add, bend, covered, make_character, muscle_of, without
from objects import ArmatureObject, Character, MeshObject, current_layer, current_scene, mesh_named, new_mesh
from renders import Picture, assert_same, share_that_differs, still

FRAMES = range(1, 8, 3)


@pytest.fixture
def scene() -> bpy.types.Scene:
    return renders.make_scene(FRAMES, pixels=64)


@pytest.fixture
def character() -> Character:
    """A tube that bends, with a muscle that is tense by keys, and one that is by a driver."""
    tube, armature = make_character()
    second = add(armature, "Extensor.L", side=-0.2)
    second.contraction = 0.4
    second.driver_add("activation").driver.expression = "frame / 7"
    for frame, degrees, value in ((FRAMES[0], 0.0, 0.0), (FRAMES[-1], 70.0, 1.0)):
        bend(armature, degrees)
        armature.pose.bones["B2"].keyframe_insert("rotation_quaternion", frame=frame)
        muscle_of(armature, 0).activation = value
        muscle_of(armature, 0).keyframe_insert("activation", frame=frame)
    return tube, armature


def statue(tube: MeshObject, positions: Floats) -> MeshObject:
    """A mesh without modifiers that has these vertices."""
    mesh = new_mesh("Statue")
    faces = [tuple(polygon.vertices) for polygon in tube.data.polygons]
    mesh.from_pydata(positions.tolist(), [], faces)
    item = bpy.data.objects.new("Statue", mesh)
    current_scene().collection.objects.link(item)
    return mesh_named(item.name)


def pictures_of_statues(scene: bpy.types.Scene, folder: Path, tube: MeshObject, rig: ArmatureObject) -> list[Any]:
    """What each frame looks like as the library has it, and without muscles."""
    found = []
    tube.hide_render = True
    for frame in FRAMES:
        scene.frame_set(frame)
        current_layer().update()
        shapes = covered(tube, rig), without(tube)
        pictures = []
        for number, shape in enumerate(shapes):
            item = statue(tube, shape)
            pictures.append(still(scene, folder / f"statue-{frame}-{number}.exr"))
            bpy.data.objects.remove(item)
        found.append(pictures)
    tube.hide_render = False
    return found


def assert_seen(ours: list[Picture], statues: list[Any]) -> None:
    for found, (wanted, _) in zip(ours, statues, strict=True):
        assert_same(found, wanted)
    assert share_that_differs(ours[-1], statues[-1][1]) > 0.01, "muscles must be seen"


def test_stills(scene: bpy.types.Scene, character: Character, tmp_path: Path) -> None:
    """Each shows what the viewport shows, keys and drivers included."""
    tube, armature = character
    statues = pictures_of_statues(scene, tmp_path, tube, armature)
    ours = []
    for frame in FRAMES:
        scene.frame_set(frame)
        current_layer().update()
        shown = rigs.evaluated(tube)
        ours.append(still(scene, tmp_path / f"{frame}.exr"))
        np.testing.assert_array_equal(rigs.evaluated(tube), shown)
    assert_seen(ours, statues)


@pytest.mark.parametrize("is_from_file", [False, True], ids=["open", "from a file"])
def test_animation(scene: bpy.types.Scene, character: Character, tmp_path: Path, is_from_file: bool) -> None:
    tube, armature = character
    statues = pictures_of_statues(scene, tmp_path, tube, armature)
    # Handles and bellies are hidden, as an artist hides them before a render.
    for layer in current_layer().layer_collection.children:
        layer.exclude = True
    scene.frame_set(4)
    if is_from_file:
        rigs.reopen(tmp_path / "shot.blend")
    assert_seen(renders.animation(current_scene(), tmp_path, "ours", FRAMES), statues)


def test_handles_and_bellies_are_not_seen(scene: bpy.types.Scene, character: Character, tmp_path: Path) -> None:
    tube, armature = character
    tube.hide_render = True
    add(armature, "Large.L", side=0.3, radius=0.1)
    scene.frame_set(4)
    assert np.ptp(still(scene, tmp_path / "nothing.exr").reshape(-1, 4)[:, 0]) < 1e-6


def test_motion_blur(scene: bpy.types.Scene, character: Character, tmp_path: Path) -> None:
    """Against what the library says at each moment that Cycles asks for, in a Mesh Cache."""
    tube, armature = character
    cached = statue(tube, covered(tube, armature))
    ends = (FRAMES[1], FRAMES[1])
    renders.show_in_between(scene, cached, tmp_path / "reference.pc2", ends, lambda: covered(tube, armature))
    scene.frame_set(FRAMES[1])
    current_layer().update()
    scene.render.use_motion_blur = True
    cached.hide_render = True
    ours = still(scene, tmp_path / "ours.exr")
    tube.hide_render, cached.hide_render = True, False
    assert_same(ours, still(scene, tmp_path / "theirs.exr"))
