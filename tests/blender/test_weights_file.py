# SPDX-License-Identifier: GPL-3.0-or-later
"""A file with automatic weights, as `sbs weights` writes it, and what Blender's importer makes of it."""

from __future__ import annotations

from pathlib import Path

import addon
import bpy
import numpy as np
import pytest
from objects import MeshObject, character_of


def weights_in_blender(item: MeshObject, names: list[str]) -> np.ndarray:
    """Read weights back, a row for each vertex and a column for each joint."""
    columns = {
        item.vertex_groups[name].index: column for column, name in enumerate(names) if name in item.vertex_groups
    }
    dense = np.zeros((len(item.data.vertices), len(names)))
    for vertex in item.data.vertices:
        for group in vertex.groups:
            dense[vertex.index, columns[group.group]] = group.weight
    return dense


@pytest.mark.usefixtures("importer_of_old_blender")
@pytest.mark.parametrize("source", ["capsules", "heat"])
def test_blender_imports_automatic_weights(tmp_path: Path, source: str) -> None:
    sbs, weights = addon.module("core.library").load(), addon.module("core.library").load("weights")
    hand = sbs.load(Path(sbs.__file__).parent / "characters/data/hand.glb")
    if source == "capsules":
        capsules = weights.fit_capsules(hand.skeleton, hand.mesh.positions)
        made = weights.capsule_weights(hand.mesh.positions, capsules, limit=4)
    else:
        heads, tails = weights.bone_segments(hand.skeleton)
        heat = weights.heat_weights(hand.mesh.positions, hand.mesh.triangles, heads, tails)
        made = weights.limit(heat.joint_indices, heat.joint_weights, 4)
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
    # single precision in the file, and once more normalized there
    np.testing.assert_allclose(weights_in_blender(item, names), expected, atol=3e-7)
