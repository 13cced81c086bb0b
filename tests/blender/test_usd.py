# SPDX-License-Identifier: GPL-3.0-or-later
"""USD files that the package writes, as Blender imports them: tests/python/test_usd.py sees that it writes this one."""

from __future__ import annotations

from pathlib import Path

import addon
import bpy
import numpy as np
import pytest
from objects import current_scene

# The package that the add-on itself uses, which in a built archive may be its own.
sbs = addon.module("core.library").load()

DATA = Path(__file__).parents[1] / "data"

# From y upward to z upward.
UPRIGHT = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])


@pytest.mark.blender(since=(4, 5))
def test_blender_deforms_it_alike() -> None:
    current_scene().render.fps = 24
    bpy.ops.wm.usd_import(filepath=str(DATA / "arm.usda"))
    character = sbs.load(DATA / "arm.glb")
    (mesh,) = (thing for thing in bpy.data.objects if thing.type == "MESH")
    for frame in (0, 12, 24):  # keys
        current_scene().frame_set(frame)
        evaluated = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        found = np.empty(3 * len(evaluated.vertices), np.float32)
        evaluated.vertices.foreach_get("co", found)
        world = np.array(mesh.matrix_world)
        placed = found.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
        expected = character.skin.deform(character.animations[0].skinning_matrices(frame / 24), method="linear")
        np.testing.assert_allclose(placed, expected @ UPRIGHT.T, atol=1e-6 * float(np.ptp(expected)))
