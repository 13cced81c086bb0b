# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters made portable, and how they are held against the library."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import deformed, error, kept_centers
from objects import ArmatureObject, Character, MeshObject, current_layer

# Nodes have single precision, of which 6e-8 is lost in every operation: a difference of 1e-7 between joints is
# magnified by the distance of a center, for joint sets up to ten sizes in the poses below. The worst error is 1.3e-6.
TOLERANCE = 2e-6

# Earlier nodes cannot read bones, which test_old_blender is about.
needs_bone_info = pytest.mark.blender(since=(5, 1))


def make_character(bones: int = 4, center: str = "OPTIMIZED") -> Character:
    armature = rigs.make_armature(bones)
    tube = rigs.make_tube(bones)
    tube.parent = armature
    rigs.bind(tube, armature, center)
    rigs.turn(armature)
    return tube, armature


def make_portable(tube: MeshObject) -> bpy.types.NodesModifier:
    rigs.select([tube])
    assert addon.ops.make_portable() == {"FINISHED"}
    modifier: bpy.types.NodesModifier | None = addon.module("engine.bake.portable").find(tube)
    assert modifier is not None and not tube.sbs.bound
    return modifier


def library_says(tube: MeshObject, armature: ArmatureObject, **options: Any) -> np.ndarray:
    """The mesh as the library deforms it, about the centers that are kept for it, if there are such."""
    portable = addon.module("engine.bake.portable").find(tube)
    centers = kept_centers(tube) if portable is None else given_centers(portable)
    if centers is not None:
        options = {"center": "optimized", "centers": centers, **options}
    return deformed(tube, armature, **options)


def given_centers(modifier: bpy.types.NodesModifier) -> np.ndarray | None:
    """The centers that nodes were given; of vertices that one bone moves, it does not matter which."""
    joints, weights = (get_input(modifier, name).data.attributes for name in ("Joint Sets", "Weights"))
    if "center" not in joints:
        return None
    found = np.empty((len(joints["center"].data), 3), np.float32)
    joints["center"].data.foreach_get("vector", found.ravel())
    is_influence, numbers = np.empty(len(found), bool), np.empty(len(weights["influence"].data), np.int32)
    joints["is_influence"].data.foreach_get("value", is_influence)
    weights["influence"].data.foreach_get("value", numbers)
    return found[is_influence][numbers].astype(np.float64)


def assert_right(tube: MeshObject, armature: ArmatureObject) -> None:
    assert error(rigs.evaluated(tube), library_says(tube, armature)) < TOLERANCE


def assert_passes(tube: MeshObject) -> None:
    """The mesh comes through as it is."""
    np.testing.assert_array_equal(rigs.evaluated(tube), rigs.positions(tube.data))


def warnings(tube: MeshObject) -> list[str]:
    """What the modifiers of an object warn of."""
    current_layer().update()
    modifier: bpy.types.NodesModifier = addon.module("engine.bake.portable").find(tube)
    return [warning.message for warning in modifier.node_warnings]


def shapes_without_addon(folder: Path, names: Sequence[str], frames: Sequence[int]) -> list[list[np.ndarray]]:
    """The vertices of objects in frames of this file, in another process that knows neither the add-on nor the library.

    In a folder, for each frame the shape of each object.
    """
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "without.blend"))
    script = """
import json, sys, bpy, numpy as np
folder, names, frames = sys.argv[1], *map(json.loads, sys.argv[2:])
bpy.ops.wm.open_mainfile(filepath=folder + "/without.blend")
assert not hasattr(bpy.types.Object, "sbs")
for frame in frames:
    bpy.context.scene.frame_set(frame)
    for name in names:
        mesh = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        positions = np.empty((len(mesh.vertices), 3), np.float32)
        mesh.vertices.foreach_get("co", positions.ravel())
        np.save(f"{folder}/{name}{frame}.npy", positions)
assert not {"sbs", "spherical_blend_skinning"} & set(sys.modules)
"""
    given = [str(folder), json.dumps(list(names)), json.dumps(list(frames))]
    subprocess.run([sys.executable, "-c", script, *given], check=True)
    return [[np.load(folder / f"{name}{frame}.npy") for name in names] for frame in frames]


def set_input(modifier: bpy.types.NodesModifier, name: str, value: Any) -> None:
    addon.module("engine.nodes.node_trees").set_input(modifier, name, value)


def get_input(modifier: bpy.types.NodesModifier, name: str) -> Any:
    return addon.module("engine.nodes.node_trees").get_input(modifier, name)


def marked() -> list[str]:
    """All data-blocks of ours."""
    blocks = (*bpy.data.objects, *bpy.data.meshes, *bpy.data.node_groups)
    return sorted(block.name for block in blocks if block.name.startswith(("SBS", "Spherical")))
