# SPDX-License-Identifier: GPL-3.0-or-later
"""Point caches, and tables of joint sets, that the Blender add-on writes; it needs no Blender for that."""

from __future__ import annotations

import struct
import sys
import warnings
from pathlib import Path

import characters
import numpy as np
import pytest

import sbs

sys.path.append(str(Path(__file__).resolve().parents[2] / "blender_addon"))

from spherical_blend_skinning.core import pc2
from spherical_blend_skinning.core.joint_tables import NO_JOINT, joint_tables


def test_point_cache_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "two.pc2"
    with pc2.Writer(path, 1, 2, start=3.0, step=2.0) as writer:
        writer.write(np.array([[1.0, 2.0, 3.0]]))
        writer.write(np.array([[4.0, 5.0, 6.0]], np.float32)[::-1])
    header = b"POINTCACHE2\0" + struct.pack("<ii", 1, 1) + struct.pack("<ffi", 3.0, 2.0, 2)
    assert path.read_bytes() == header + struct.pack("<6f", 1, 2, 3, 4, 5, 6)
    points, start, step = pc2.read(path)
    assert (points.tolist(), start, step) == ([[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]], 3.0, 2.0)


def test_point_cache_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.pc2"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="1 samples of 2"), pc2.Writer(path, 1, 2) as writer:
        writer.write(np.zeros((1, 3)))
    with pytest.raises(KeyboardInterrupt), pc2.Writer(path, 1, 1) as writer:
        writer.write(np.zeros((1, 3)))
        raise KeyboardInterrupt
    assert [file.name for file in tmp_path.iterdir()] == ["a.pc2"]
    assert path.read_bytes() == b"old"


def test_point_cache_refuses(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 points"):
        pc2.Writer(tmp_path / "a.pc2", 0, 1)
    writer = pc2.Writer(tmp_path / "a.pc2", 2, 1)
    with pytest.raises(ValueError, match=r"\(3, 2\)"):
        writer.write(np.zeros((3, 2)))
    writer.write(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="all 1 samples"):
        writer.write(np.zeros((2, 3)))
    writer.close()
    data = (tmp_path / "a.pc2").read_bytes()
    for name, broken in (("is no PC2", b"POINTS" + data), ("cut off", data[:-1]), ("is no PC2", data[:20])):
        (tmp_path / "b.pc2").write_bytes(broken)
        with pytest.raises(ValueError, match=name):
            pc2.read(tmp_path / "b.pc2")
    (tmp_path / "b.pc2").write_bytes(data.replace(struct.pack("<i", 1), struct.pack("<i", 2), 1))
    with pytest.raises(ValueError, match="version 2"):
        pc2.read(tmp_path / "b.pc2")


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
