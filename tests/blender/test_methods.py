# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations and rotation centers beyond the paper's, in the live engine."""

from __future__ import annotations

from pathlib import Path

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error

# The package that the add-on itself uses, which in a built archive may be its own.
sbs = addon.module("library").load()


@pytest.fixture
def character() -> tuple[bpy.types.Object, bpy.types.Object]:
    """A bound tube of triangles and quadrilaterals, and its posed armature."""
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rigs.bind(tube, armature)
    rigs.turn(armature)
    return tube, armature


def carrier_of(tube: bpy.types.Object) -> bpy.types.Object:
    modifier = addon.module("engine.stack").find(tube)
    return addon.module("engine.node_trees").get_input(modifier, addon.module("engine.live_group").CARRIER)


def centers_of(tube: bpy.types.Object) -> np.ndarray:
    """The centers that the file keeps."""
    found = addon.module("engine.carriers").centers(carrier_of(tube), len(tube.data.vertices))
    assert found is not None
    return found.astype(np.float64)


def triangles_of(tube: bpy.types.Object) -> np.ndarray:
    tube.data.calc_loop_triangles()
    return np.array([triangle.vertices for triangle in tube.data.loop_triangles], np.int32)


def assert_right(tube: bpy.types.Object, armature: bpy.types.Object, **options: object) -> None:
    assert error(rigs.evaluated(tube), deformed(tube, armature, **options)) < TOLERANCE


@pytest.mark.parametrize(
    ("rotation", "center"), [("average", "joint_set"), ("qlerp", "weighted"), ("average", "weighted")]
)
def test_methods(character: tuple[bpy.types.Object, bpy.types.Object], rotation: str, center: str) -> None:
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


def test_optimized_centers(character: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    tube, armature = character
    tube.sbs.center = "OPTIMIZED"
    bpy.context.view_layer.update()
    groups = np.zeros((len(tube.data.vertices), 4))
    for vertex in tube.data.vertices:
        for entry in vertex.groups:
            groups[vertex.index, entry.group] = entry.weight
    everyone = np.broadcast_to(np.arange(4), groups.shape)
    wanted = sbs.optimized_centers(rigs.positions(tube.data), triangles_of(tube), everyone, groups)
    # The carrier keeps them in float32.
    np.testing.assert_allclose(centers_of(tube), wanted, atol=1e-6)
    for seed in (1, 2):
        rigs.turn(armature, seed=seed)
        assert_right(tube, armature, center="optimized", centers=wanted)
    tube.location = (0.2, 0.3, 0.0)
    tube.scale = (2.0, 1.0, 1.0)
    assert_right(tube, armature, center="optimized", centers=wanted)


def test_optimized_centers_stay_until_rebind(character: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    tube, armature = character
    tube.sbs.center = "OPTIMIZED"
    bpy.context.view_layer.update()
    before = centers_of(tube)
    tube.vertex_groups["B1"].add(list(range(200, 400)), 0.9, "REPLACE")
    tube.data.update()
    assert_right(tube, armature, center="optimized", centers=before)
    assert np.array_equal(centers_of(tube), before)
    rigs.select([tube])
    assert bpy.ops.sbs.rebind() == {"FINISHED"}
    after = centers_of(tube)
    assert np.abs(after - before).max() > 0.01
    assert_right(tube, armature, center="optimized", centers=after)


def test_optimized_centers_are_saved(
    character: tuple[bpy.types.Object, bpy.types.Object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tube, armature = character
    tube.sbs.center = "OPTIMIZED"
    bpy.context.view_layer.update()
    centers = centers_of(tube)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    monkeypatch.delattr(addon.module("core.binding").Binding, "optimized_centers")
    bpy.ops.wm.read_homefile(use_factory_startup=False, use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    tube, armature = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    rigs.turn(armature, seed=4)
    assert_right(tube, armature, center="optimized", centers=centers)


def test_optimized_centers_of_other_vertices(character: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    tube, armature = character
    tube.sbs.center = "OPTIMIZED"
    bpy.context.view_layer.update()
    tube.data = rigs.make_tube(rows=30, name="Other").data
    bpy.context.view_layer.update()
    assert_right(tube, armature, center="optimized", centers=centers_of(tube))
    tube.modifiers.new("Mirror", "MIRROR")
    addon.module("engine.stack").move(tube, tube.modifiers["Mirror"], 0)
    bpy.context.view_layer.update()
    addon.module("handlers").look_again()
    bpy.context.view_layer.update()
    assert "faces" in addon.module("engine.live").state_of(tube).problem


@pytest.mark.blender(since=(5, 1))
@pytest.mark.parametrize(("name", "value"), [("rotation", "AVERAGE"), ("center", "WEIGHTED")])
def test_nodes_refuse(character: tuple[bpy.types.Object, bpy.types.Object], name: str, value: str) -> None:
    tube, _armature = character
    setattr(tube.sbs, name, value)
    rigs.select([tube])
    with pytest.raises(RuntimeError, match="nodes know"):
        bpy.ops.sbs.make_portable()
    assert tube.sbs.bound
