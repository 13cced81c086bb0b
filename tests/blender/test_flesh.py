# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh: as the library has it, with masks and shape keys, baked, saved, undone."""

from __future__ import annotations

from pathlib import Path

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import error
from numpy.typing import NDArray
from objects import Character, current_layer, current_scene, mesh_object


@pytest.fixture
def character() -> Character:
    tube, armature = rigs.make_bound()
    rigs.turn(armature)
    return tube, armature


def frame_of(character: Character) -> NDArray[np.float64]:
    current_layer().update()
    return rigs.evaluated(character[0])


def test_as_the_library_has_it(character: Character) -> None:
    tube, armature = character
    before = frame_of(character)
    tube.sbs.use_flesh = True
    found = frame_of(character)
    sbs = addon.module("core.library").load()
    rests = np.array([bone.matrix_local for bone in armature.data.bones], np.float64)
    poses = np.array([bone.matrix for bone in armature.pose.bones], np.float64)
    to_rig = np.array(armature.matrix_world.inverted() @ tube.matrix_world, np.float64)
    assert np.allclose(to_rig, np.eye(4))
    weights = rigs.weights(tube)
    weights = weights / weights.sum(axis=1, keepdims=True)
    joints = np.tile(np.arange(4), (len(before), 1))
    mesh = sbs.Mesh(rigs.positions(tube.data), rigs.triangles(tube.data), joints, weights)
    skeleton = sbs.Skeleton([-1, 0, 1, 2], rests, [bone.name for bone in armature.data.bones])
    flesh = sbs.Flesh(sbs.Character.from_mesh(mesh, skeleton))
    wanted = flesh.relax(poses @ np.linalg.inv(rests), before)
    assert error(found, before) > 1e-3
    # in float32, by another sum of the weights
    assert error(found, wanted) < 1e-4


def test_amount_steps_and_mask(character: Character) -> None:
    tube, _ = character
    before = frame_of(character)
    tube.sbs.use_flesh = True
    whole = frame_of(character)
    tube.sbs.flesh_amount = 0.5
    assert error(frame_of(character), 0.5 * (before + whole)) < 1e-6
    tube.sbs.flesh_amount = 0.0
    np.testing.assert_array_equal(frame_of(character), before)
    tube.sbs.flesh_amount = 1.0
    np.testing.assert_array_equal(frame_of(character), whole)
    tube.sbs.flesh_render_steps = 3
    assert error(frame_of(character), whole) > 1e-5
    group = tube.vertex_groups.new(name="Soft")
    soft = list(range(0, len(before), 2))
    group.add(soft, 1.0, "REPLACE")
    tube.sbs.flesh_mask = "Soft"
    masked = frame_of(character)
    held = np.setdiff1d(np.arange(len(before)), soft)
    np.testing.assert_array_equal(masked[held], before[held])
    assert error(masked, before) > 1e-4
    tube.sbs.use_flesh = False
    np.testing.assert_array_equal(frame_of(character), before)


def test_shape_keys_are_no_strain(character: Character) -> None:
    """A key that moves all vertices by one vector moves those of the bone that is not posed by that vector."""
    tube, armature = character
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
    tube.sbs.use_flesh = True
    before = frame_of(character)
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Smile")
    for number in range(20):
        key.data[number].co.z += 0.2
    key.value = 1.0
    moved = frame_of(character) - before
    assert np.abs(moved[:20] - (0, 0, 0.2)).max() < 1e-5


def test_bakes_have_it_and_copies_too(character: Character, tmp_path: Path) -> None:
    tube, armature = character
    rigs.animate(armature, 3)
    tube.sbs.use_flesh = True
    twin = tube.copy()
    current_scene().collection.objects.link(twin)
    current_scene().frame_start, current_scene().frame_end = 1, 3
    wanted = []
    for frame in range(1, 4):
        current_scene().frame_set(frame)
        wanted.append(rigs.evaluated(tube))
        np.testing.assert_array_equal(rigs.evaluated(mesh_object(twin)), wanted[-1])
    rigs.select([tube])
    assert addon.ops.bake(directory=str(tmp_path)) == {"FINISHED"}
    for frame in range(1, 4):
        current_scene().frame_set(frame)
        assert error(rigs.evaluated(tube), wanted[frame - 1]) < 1e-6


def test_undo_and_file(character: Character, tmp_path: Path) -> None:
    tube, _ = character
    before = frame_of(character)
    bpy.ops.ed.undo_push(message="Bound")
    tube.sbs.use_flesh = True
    relaxed = frame_of(character)
    bpy.ops.ed.undo_push(message="Flesh")
    np.testing.assert_array_equal(frame_of(rigs.undo()), before)
    np.testing.assert_array_equal(frame_of(rigs.redo()), relaxed)
    reopened = rigs.reopen(tmp_path / "flesh.blend")
    np.testing.assert_array_equal(frame_of(reopened), relaxed)


@pytest.mark.blender(since=(5, 1))
def test_a_portable_mesh_has_none(character: Character) -> None:
    tube, _ = character
    tube.sbs.use_flesh = True
    frame_of(character)
    rigs.select([tube])
    with pytest.raises(RuntimeError, match="flesh"):
        addon.ops.make_portable()
