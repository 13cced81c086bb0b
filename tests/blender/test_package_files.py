# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that the package writes, as Blender reads them."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import in_world, read
from objects import character_of, current_scene, mesh_object, mesh_objects

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
        expected = hand.skin.deform(animation.skinning_matrices(frame / 24))
        # MDD has times, between which Blender interpolates.
        np.testing.assert_allclose(rigs.evaluated(carrier), expected, rtol=0, atol=0 if kind == "PC2" else 1e-7)


@pytest.mark.blender(since=(4, 5))
def test_blender_makes_alembic_of_a_cache_in_usd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code in docs/formats.md; the cache is Blender's own here, of a triangle whose one corner rises."""
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
    (found,) = mesh_objects(bpy.data.objects)
    current_scene().frame_set(240)
    assert np.linalg.norm(rigs.evaluated(found), axis=1).max() == pytest.approx(2**0.5, abs=1e-6)


DATA = Path(__file__).parents[1] / "data"

# From y upward to z upward.
UPRIGHT = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])


@pytest.mark.blender(since=(4, 5))
def test_blender_deforms_it_alike() -> None:
    current_scene().render.fps = 24
    bpy.ops.wm.usd_import(filepath=str(DATA / "arm.usda"))
    character = sbs.load(DATA / "arm.glb")
    (mesh,) = mesh_objects(bpy.data.objects)
    for frame in (0, 12, 24):  # keys
        current_scene().frame_set(frame)
        placed = in_world(mesh)
        expected = character.skin.deform(character.animations[0].skinning_matrices(frame / 24), method="linear")
        np.testing.assert_allclose(placed, expected @ UPRIGHT.T, atol=1e-6 * float(np.ptp(expected)))


@pytest.mark.usefixtures("importer_of_old_blender")
def test_blender_imports_automatic_weights(tmp_path: Path) -> None:
    sbs, weights = addon.module("core.library").load(), addon.module("core.library").load("weights")
    hand = sbs.load(Path(sbs.__file__).parent / "characters/data/hand.glb")
    capsules = weights.fit_capsules(hand.skeleton, hand.mesh.positions)
    made = weights.capsule_weights(hand.mesh.positions, capsules, limit=4)
    character = sbs.Character.from_mesh(
        sbs.Mesh(
            positions=hand.mesh.positions,
            normals=hand.mesh.normals,
            triangles=hand.mesh.triangles,
            joint_indices=made.joint_indices,
            joint_weights=made.joint_weights.astype(np.float32),
        ),
        hand.skeleton,
    )
    path = tmp_path / "hand.glb"
    character.save(path)

    bpy.ops.import_scene.gltf(filepath=str(path), merge_vertices=False)
    item, armature = character_of(item for item in bpy.data.objects if item.type != "MESH" or item.vertex_groups)
    names = list(hand.skeleton.names)
    assert {bone.name for bone in armature.data.bones} >= set(names)
    assert len(item.data.vertices) == len(hand.mesh.positions)
    expected = weights.to_dense(made.joint_indices, made.joint_weights, len(names))
    found = read(item, armature)
    columns = [[bone.name for bone in found.bones].index(name) for name in names]
    # single precision in the file, and once more normalized there
    np.testing.assert_allclose(found.weights[:, columns], expected, atol=3e-7)
