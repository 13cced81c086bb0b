# SPDX-License-Identifier: GPL-3.0-or-later
"""Point caches that the package writes, as Blender's Mesh Cache modifier reads them."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import addon
import bpy
import numpy as np
import pytest
from objects import current_scene, mesh_object

FORMATS = Path(__file__).parents[2] / "docs/formats.md"

# The package that the add-on itself uses, which in a built archive may be its own.
sbs = addon.module("core.library").load()
formats = importlib.import_module(".formats", sbs.__name__)


@pytest.mark.parametrize(("suffix", "kind"), [(".pc2", "PC2"), (".mdd", "MDD")])
def test_mesh_cache_plays_what_was_deformed(tmp_path: Path, suffix: str, kind: str) -> None:
    hand = sbs.load(Path(sbs.__file__).parent / "characters/data/hand.glb")
    animation = hand.animations[0]
    formats.bake(tmp_path / f"fist{suffix}", hand.skin, animation, range(25), fps=24)

    mesh = bpy.data.meshes.new("hand")
    mesh.from_pydata(hand.mesh.positions.tolist(), [], hand.mesh.triangles.tolist())
    carrier = mesh_object(bpy.data.objects.new("hand", mesh))
    current_scene().collection.objects.link(carrier)
    current_scene().render.fps = 24
    modifier = carrier.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format = kind
    modifier.filepath = str(tmp_path / f"fist{suffix}")
    modifier.frame_start = 0
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"  # as they are
    for frame in (0, 7, 24):
        current_scene().frame_set(frame)
        evaluated = carrier.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        found = np.empty(3 * len(evaluated.vertices), np.float32)
        evaluated.vertices.foreach_get("co", found)
        expected = hand.skin.deform(animation.skinning_matrices(frame / 24))
        # MDD has times, between which Blender interpolates.
        np.testing.assert_allclose(found.reshape(-1, 3), expected, rtol=0, atol=0 if kind == "PC2" else 1e-7)


@pytest.mark.blender(since=(4, 5))
def test_blender_makes_alembic_of_a_cache_in_usd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What docs/formats.md shows; the cache is Blender's own here, of a triangle whose one corner rises."""
    mesh = bpy.data.meshes.new("run")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    item = mesh_object(bpy.data.objects.new("run", mesh))
    current_scene().collection.objects.link(item)
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="up")
    key.data[2].co.z = 1
    for frame, value in ((0, 0.0), (240, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    current_scene().frame_start, current_scene().frame_end = 0, 240
    monkeypatch.chdir(tmp_path)
    bpy.ops.wm.usd_export(filepath=str(tmp_path / "run.usdc"), export_animation=True, export_shapekeys=False)
    (block,) = (found for found in re.findall(r"```python\n(.*?)```", FORMATS.read_text(), re.DOTALL) if "bpy" in found)
    exec(block, {})
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.alembic_import(filepath="run.abc")
    (found,) = (one for one in bpy.data.objects if one.type == "MESH")
    current_scene().frame_set(240)
    evaluated = found.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    assert max(vertex.co.length for vertex in evaluated.vertices) == pytest.approx(2**0.5, abs=1e-6)
