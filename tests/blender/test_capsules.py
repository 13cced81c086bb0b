# SPDX-License-Identifier: GPL-3.0-or-later
"""Capsules of bones, and the weights that come from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import addon
import bpy
import expected
import numpy as np
import pytest
import rigs
from numpy.typing import NDArray
from objects import ArmatureObject, Character, MeshObject, current_layer

# Blender keeps coordinates, radii and weights in float32.
TOLERANCE = 1e-6


@pytest.fixture
def character() -> Character:
    """A tube and its armature, each with a place of its own, and capsules of different radii."""
    armature = rigs.make_armature()
    mesh = rigs.make_tube()
    mesh.modifiers.new("Armature", "ARMATURE").object = armature
    mesh.location = armature.location = (1.0, -2.0, 0.5)
    mesh.scale = (2.0, 2.0, 2.0)
    armature.scale = (2.0, 2.0, 2.0)
    for number, bone in enumerate(armature.data.bones):
        bone.head_radius = 0.25 + 0.05 * number if number else 0.1
        bone.tail_radius = 0.3 + 0.05 * number
        bone.envelope_distance = 0.4
        bone.envelope_weight = 1.0 + number
    rigs.select([mesh])
    current_layer().update()
    return mesh, armature


def test_falloffs_of_bones(character: Character) -> None:
    mesh, armature = character
    addon.ops.assign_from_capsules(limit=0)
    usual = rigs.weights(mesh)
    own = [None, "smooth", "quadratic", None]
    for bone, falloff in zip(armature.data.bones, own, strict=True):
        bone.sbs.capsule_falloff = falloff.upper() if falloff else "AS_OTHERS"
    for falloff in ("linear", "quadratic"):
        addon.ops.assign_from_capsules(limit=0, falloff=falloff.upper())
        wanted = expected_weights(mesh, armature, own=own, falloff=falloff)
        np.testing.assert_allclose(rigs.weights(mesh), wanted, atol=TOLERANCE)
    assert np.abs(wanted - usual).max() > 0.01
    # Weights follow; in Edit Mode bones have the falloffs that they have otherwise.
    armature.data.sbs.live = True
    armature.data.sbs.falloff = "QUADRATIC"
    armature.data.sbs.limit = 0
    current_layer().update()
    armature.data.bones["B2"].sbs.capsule_falloff = "AS_OTHERS"
    current_layer().update()
    wanted = expected_weights(mesh, armature, own=[None, "smooth", None, None], falloff="quadratic")
    np.testing.assert_allclose(rigs.weights(mesh), wanted, atol=TOLERANCE)
    with rigs.editing(armature):
        bone_capsules = addon.module("capsules.bones")
        found = bone_capsules.read(list(armature.data.edit_bones)).falloffs
        assert list(found) == [None, "smooth", None, None]


def expected_weights(
    item: MeshObject, armature: ArmatureObject, own: list[str | None] | None = None, **options: Any
) -> NDArray[np.float64]:
    weights = addon.module("core.library").load("weights")
    inner = [(0.1, 0.3), (0.3, 0.35), (0.35, 0.4), (0.4, 0.45)]
    capsules = weights.Capsules(
        [bone.head_local for bone in armature.data.bones],
        [bone.tail_local for bone in armature.data.bones],
        inner,
        np.add(inner, 0.4),
        multipliers=[1.0, 2.0, 3.0, 4.0],
        falloffs=own,
    )
    found: NDArray[np.float64] = weights.capsule_weights(rigs.positions(item.data), capsules, dense=True, **options)
    return found


@pytest.mark.parametrize("falloff", ["LINEAR", "SMOOTH", "QUADRATIC"])
def test_assign(character: Character, falloff: str) -> None:
    mesh, armature = character
    # Connected bones have at the head the radius of the tail of their parents.
    armature.data.bones["B2"].head_radius = 0.9
    assert addon.ops.assign_from_capsules(falloff=falloff, limit=2) == {"FINISHED"}
    wanted = expected_weights(mesh, armature, falloff=falloff.lower(), limit=2)
    np.testing.assert_allclose(rigs.weights(mesh), wanted, atol=TOLERANCE)
    # From the armature.
    rigs.select([armature])
    mesh.vertex_groups.clear()
    assert addon.ops.assign_from_capsules(limit=0) == {"FINISHED"}
    np.testing.assert_allclose(rigs.weights(mesh), expected_weights(mesh, armature), atol=TOLERANCE)


def test_selected_vertices(character: Character) -> None:
    mesh, armature = character
    before = rigs.weights(mesh)
    chosen = np.arange(len(mesh.data.vertices)) % 3 == 0
    addon.module("interface.rigged").select_vertices(mesh, np.flatnonzero(chosen))
    assert addon.ops.assign_from_capsules(limit=0, only_selected_vertices=True) == {"FINISHED"}
    after = rigs.weights(mesh)
    np.testing.assert_array_equal(after[~chosen], before[~chosen])
    np.testing.assert_allclose(after[chosen], expected_weights(mesh, armature)[chosen], atol=TOLERANCE)


def test_locked_groups_stay(character: Character) -> None:
    mesh, _ = character
    bpy.ops.object.vertex_group_normalize_all(group_select_mode="ALL", lock_active=False)
    mesh.vertex_groups["B1"].lock_weight = True
    before = rigs.weights(mesh)
    assert addon.ops.assign_from_capsules(limit=0) == {"FINISHED"}
    after = rigs.weights(mesh)
    np.testing.assert_array_equal(after[:, 1], before[:, 1])
    np.testing.assert_allclose(after.sum(axis=1), 1.0, atol=TOLERANCE)
    assert not np.allclose(after, before, atol=0.01)


def test_selected_bones(character: Character) -> None:
    mesh, armature = character
    bpy.ops.object.vertex_group_normalize_all(group_select_mode="ALL", lock_active=False)
    before = rigs.weights(mesh)
    rigs.select_bones(armature, "B2")
    assert addon.ops.assign_from_capsules(limit=0, only_selected_bones=True) == {"FINISHED"}
    after = rigs.weights(mesh)
    others = [0, 1, 3]
    # A vertex that had no other bone keeps the chosen one.
    shared = before[:, others].sum(axis=1) > 0
    np.testing.assert_allclose(after[shared, 2], expected_weights(mesh, armature)[shared, 2], atol=TOLERANCE)
    np.testing.assert_allclose(after.sum(axis=1), 1.0, atol=TOLERANCE)
    # The others share the rest as they did before.
    ratio = after[:, others].sum(axis=1, keepdims=True) / np.maximum(before[:, others].sum(axis=1, keepdims=True), 1e-9)
    np.testing.assert_allclose(after[:, others], before[:, others] * ratio, atol=TOLERANCE)


def test_fit(character: Character) -> None:
    mesh, armature = character
    assert addon.ops.fit_capsules() == {"FINISHED"}
    for bone in armature.data.bones:
        # The tube is an ellipse of half axes 0.4 and 0.5 about the bones.
        for radius in (bone.head_radius, bone.tail_radius):
            assert 0.2 - TOLERANCE <= radius <= 0.5
            assert radius + bone.envelope_distance > 0.5
    assert addon.ops.assign_from_capsules() == {"FINISHED"}
    np.testing.assert_allclose(rigs.weights(mesh).sum(axis=1), 1.0, atol=TOLERANCE)


def test_files(character: Character, tmp_path: Path) -> None:
    _, armature = character
    bones = armature.data.bones
    bones["B1"].sbs.capsule_falloff = "SMOOTH"
    read = addon.module("capsules.bones").read
    before = read(bones)
    path = str(tmp_path / "capsules.json")
    assert addon.ops.export_capsules(filepath=path) == {"FINISHED"}
    for bone in bones:
        bone.head_radius = bone.tail_radius = bone.envelope_distance = bone.envelope_weight = 0.7
        bone.sbs.capsule_falloff = "LINEAR"
    assert addon.ops.import_capsules(filepath=path) == {"FINISHED"}
    for now, then in zip(read(bones), before, strict=True):
        if then.dtype == object:
            assert now.tolist() == then.tolist()
        else:
            np.testing.assert_allclose(now, then, atol=TOLERANCE)


def test_files_that_are_no_capsules(character: Character, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"format": "something"}')
    with pytest.raises(RuntimeError, match="capsules"):
        addon.ops.import_capsules(filepath=str(path))
    with pytest.raises(RuntimeError, match="missing"):
        addon.ops.import_capsules(filepath=str(tmp_path / "missing.json"))


@pytest.mark.parametrize("in_edit_mode", [False, True])
def test_weights_follow_a_radius(character: Character, in_edit_mode: bool) -> None:
    mesh, armature = character
    armature.data.bones["B2"].envelope_distance = 0.1
    current_layer().update()
    settings = armature.data.sbs
    settings.limit = 0
    settings.live = True
    before = rigs.weights(mesh)
    current_layer().update()
    np.testing.assert_array_equal(rigs.weights(mesh), before)
    rigs.select([armature])
    if in_edit_mode:
        bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones if in_edit_mode else armature.data.bones
    bones["B2"].envelope_distance = 0.4
    armature.data.update_tag()
    current_layer().update()
    np.testing.assert_allclose(rigs.weights(mesh), expected_weights(mesh, armature), atol=TOLERANCE)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_bound_mesh_follows_a_radius(character: Character) -> None:
    mesh, armature = character
    rigs.bind(mesh, armature)
    rigs.turn(armature)
    armature.data.sbs.live = True
    before = rigs.evaluated(mesh)
    armature.data.bones["B2"].envelope_distance = 0.6
    # The first update tells the handler, the second one shows the shape that it wrote.
    for _ in range(2):
        current_layer().update()
    assert expected.error(rigs.evaluated(mesh), before) > 0.01
    assert expected.error(rigs.evaluated(mesh), expected.deformed(mesh, armature)) < expected.TOLERANCE
