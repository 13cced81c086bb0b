# SPDX-License-Identifier: GPL-3.0-or-later
"""Point caches that the package writes, as Blender's Mesh Cache modifier reads them."""

from __future__ import annotations

import importlib
from pathlib import Path

import addon
import bpy
import numpy as np
import pytest

# The package that the add-on itself uses, which in a built archive may be its own.
sbs = addon.module("core.library").load()
formats = importlib.import_module(".formats", sbs.__name__)


@pytest.mark.parametrize(("suffix", "kind"), [(".pc2", "PC2"), (".mdd", "MDD")])
def test_mesh_cache_plays_what_was_deformed(tmp_path: Path, suffix: str, kind: str) -> None:
    hand = sbs.load(Path(sbs.__file__).parent / "demo/data/hand.glb")
    animation = hand.animations[0]
    formats.bake(tmp_path / f"fist{suffix}", hand.skin, animation, range(25), fps=24)

    mesh = bpy.data.meshes.new("hand")
    mesh.from_pydata(hand.mesh.positions.tolist(), [], hand.mesh.triangles.tolist())
    carrier = bpy.data.objects.new("hand", mesh)
    bpy.context.scene.collection.objects.link(carrier)
    bpy.context.scene.render.fps = 24
    modifier = carrier.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format = kind
    modifier.filepath = str(tmp_path / f"fist{suffix}")
    modifier.frame_start = 0
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"  # as they are
    for frame in (0, 7, 24):
        bpy.context.scene.frame_set(frame)
        evaluated = carrier.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        found = np.empty(3 * len(evaluated.vertices), np.float32)
        evaluated.vertices.foreach_get("co", found)
        expected = hand.skin.deform(animation.skinning_matrices(frame / 24))
        # MDD has times, between which Blender interpolates.
        np.testing.assert_allclose(found.reshape(-1, 3), expected, rtol=0, atol=0 if kind == "PC2" else 1e-7)
