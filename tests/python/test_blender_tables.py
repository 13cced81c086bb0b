# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of joint sets that the Blender add-on writes; it needs no Blender for that."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import characters
import numpy as np
import pytest

import sbs

sys.path.append(str(Path(__file__).resolve().parents[2] / "blender_addon"))

from spherical_blend_skinning.core.joint_tables import NO_JOINT, joint_tables


def test_tables_by_hand() -> None:
    positions = np.array([[0, 0, 0], [2, 0, 0], [0, 4, 0], [1, 1, 1], [3, 3, 3]], np.float32)
    indices = [[2, 0, 1], [0, 2, 0], [1, 1, 0], [0, 0, 0], [2, 0, 0]]
    weights = [[0.25, 0.75, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [1.5, 0.5, 0.0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        skin = sbs.Skin(positions, indices, weights)
    tables = joint_tables(skin, positions)
    # The sets: none of vertex 3, {0, 2} of vertices 0, 1 and 4, {1} of vertex 2.
    assert tables.slot_joints.tolist() == [NO_JOINT, 0, 2, 1]
    assert tables.slot_sets.tolist() == [0, 1, 1, 2]
    assert tables.set_starts.tolist() == [0, 1, 3] and tables.set_sizes.tolist() == [1, 2, 1]
    np.testing.assert_allclose(tables.centroids, np.array([[1, 1, 1], [5 / 3, 1, 1], [0, 4, 0]]), rtol=1e-7)
    # Equal weights: the joint of the lowest number is the pivot.
    assert tables.group_pivots.tolist() == [0, 1, 2, 3] and tables.group_sets.tolist() == [0, 1, 1, 2]
    assert tables.vertex_groups.tolist() == [1, 1, 3, 0, 2]
    assert tables.vertex_weights.tolist() == [[0.25], [0.5], [0.0], [0.0], [0.25]]
    # The other slot of the groups of {0, 2}, then only pivots.
    assert tables.other_slots(3).tolist() == [[0, 0, 0], [2, 1, 1], [1, 2, 2], [3, 3, 3]]


@pytest.mark.parametrize("name", characters.NAMES)
def test_tables_give_the_weights_back(name: str) -> None:
    character = characters.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        skin = sbs.Skin(character.rest_positions, character.joint_indices, character.joint_weights)
    tables = joint_tables(skin, character.rest_positions)
    wanted = np.zeros((skin.vertex_count, skin.joint_count))
    rows = np.arange(skin.vertex_count)[:, None]
    np.add.at(wanted, (rows, character.joint_indices), character.joint_weights.astype(np.float64))
    wanted /= wanted.sum(axis=1, keepdims=True)

    found = np.zeros_like(wanted)
    other_slots = tables.other_slots(tables.vertex_weights.shape[1])
    for vertex, group in enumerate(tables.vertex_groups):
        pivot, joint_set = tables.group_pivots[group], tables.group_sets[group]
        first, size = tables.set_starts[joint_set], tables.set_sizes[joint_set]
        others = [slot for slot in range(first, first + size) if slot != pivot]
        weights = tables.vertex_weights[vertex].astype(np.float64)
        found[vertex, tables.slot_joints[others]] = weights[: size - 1]
        found[vertex, tables.slot_joints[pivot]] = 1.0 - weights.sum()
        assert not weights[size - 1 :].any()
        assert other_slots[group].tolist() == others + [pivot] * (len(weights) - len(others))
        assert tables.slot_joints[pivot] == wanted[vertex].argmax()
    # Each weight is rounded to float32.
    np.testing.assert_allclose(found, wanted, atol=2e-7)
