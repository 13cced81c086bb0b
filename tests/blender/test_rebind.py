# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh that is up to date is the same after it is bound again: nothing depends on earlier edits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import error
from objects import Character, armature_named, current_layer, current_scene, mesh_named

# A share of the size of the mesh: places in armature space are computed anew in each frame, in single precision.
SAME = 1e-6


def character() -> Character:
    return mesh_named("Tube"), armature_named("Rig")


@pytest.fixture(autouse=True)
def _bound() -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rigs.bind(tube, armature, center="OPTIMIZED")
    rigs.turn(armature)
    current_layer().update()


def add_shape() -> None:
    rigs.add_shape(mesh_named("Tube"), (1.3, 0.8, 1.1))


def scaled() -> None:
    """Rotation centers are of the mesh, wherever it is."""
    tube, armature = character()
    tube.vertex_groups["B1"].add(list(range(100, 300, 3)), 0.9, "REPLACE")
    tube.data.update()
    current_layer().update()
    tube.scale = (1.0, 1.6, 0.7)
    armature.scale = (0.6, 1.4, 1.1)


def scaled_with_limbs() -> None:
    """Where vertices are along limbs depends on where the mesh is in armature space."""
    tube, _ = character()
    tube.sbs.spread_twist = True
    current_layer().update()
    tube.location.z = 0.5


def painted_unread() -> None:
    """The first shape key makes the modifier keep its input, which cannot be read in the same evaluation."""
    tube, _ = character()
    tube.vertex_groups["B1"].add(list(range(100, 300)), 0.9, "REPLACE")
    add_shape()


def without_some_faces() -> None:
    tube, _ = character()
    with rigs.editing(tube):
        bpy.ops.mesh.select_all(action="DESELECT")
    for face in tube.data.polygons[:200]:
        face.select = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.delete(type="ONLY_FACE")
    bpy.ops.object.mode_set(mode="OBJECT")


def painted_without_the_addon() -> None:
    addon.disable(wheels=False)
    tube, _ = character()
    tube.vertex_groups["B1"].add(list(range(100, 300)), 0.9, "REPLACE")
    tube.data.update()
    current_layer().update()
    addon.enable(wheels=False)
    tube.update_tag()


def moved_below_shapes() -> None:
    """Shape keys say where vertices are; where they are along a limb that is chosen later, they do not."""
    tube, armature = character()
    tube.sbs.spread_twist = True
    for bone in armature.pose.bones:
        bone.sbs_twist = False
    add_shape()
    current_layer().update()
    tube.data.vertices.foreach_set("co", (rigs.positions(tube.data) * (1.0, 1.0, 1.2)).astype(np.float32).ravel())
    tube.data.update()
    current_layer().update()
    armature.pose.bones["B1"].sbs_twist = True


def is_same() -> None:
    """Bind again, and compare."""
    current_layer().update()
    tube, _ = character()
    before = rigs.evaluated(tube)
    rigs.select([tube])
    assert addon.ops.rebind() == {"FINISHED"}
    current_layer().update()
    assert error(rigs.evaluated(tube), before) < SAME


@pytest.mark.parametrize(
    "change",
    [scaled, scaled_with_limbs, painted_unread, without_some_faces, painted_without_the_addon, moved_below_shapes],
)
def test_after(change: Callable[[], None]) -> None:
    change()
    is_same()


def test_after_a_file_was_loaded(tmp_path: Path) -> None:
    """Weights changed before the first evaluation of a file change the centers that it keeps."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    tube, _ = character()
    tube.vertex_groups["B1"].add(list(range(100, 300)), 0.9, "REPLACE")
    tube.data.update()
    is_same()


def shape_in_frames() -> None:
    add_shape()
    key = mesh_named("Tube").data.shape_keys.key_blocks["Wide"]
    for frame, value in ((1, 0.0), (20, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)


def modifier_in_frames() -> None:
    tube, _ = character()
    modifier = tube.modifiers.new("Before", "CAST")
    addon.module("engine.stack.stack").move(tube, modifier, 0)
    for frame, factor in ((1, 0.0), (20, 0.8)):
        modifier.factor = factor
        modifier.keyframe_insert("factor", frame=frame)


@pytest.mark.parametrize("animate", [shape_in_frames, modifier_in_frames])
def test_in_frames(animate: Callable[[], None]) -> None:
    """Places of vertices along a bone that bends depend on their input; rotation centers do not."""
    _, armature = character()
    armature.data.bones["B1"].bbone_segments = 4
    animate()
    for frame in (5, 15):
        current_scene().frame_set(frame)
        is_same()
