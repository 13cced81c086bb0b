# SPDX-License-Identifier: MIT
"""A skin with some weights changed is, to the last bit, the skin that is made anew."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from meshes import Precision, skin_arguments, skinning_matrices

import sbs
from sbs.options import Method

VERTICES, JOINTS = 60, 6
METHODS: tuple[Method, ...] = ("rigid", "linear", "spherical", "dual_quaternion")


def assert_same_skin(a: sbs.Skin, b: sbs.Skin) -> None:
    """All that can be asked of a skin has the same bits."""
    matrices = skinning_matrices(2, a.joint_count)
    assert a.joint_sets == b.joint_sets
    assert a.joint_set_of_vertex.tobytes() == b.joint_set_of_vertex.tobytes()
    assert a.weight_report == b.weight_report
    assert repr(a) == repr(b)
    assert a.unweighted_vertex_count == b.unweighted_vertex_count
    assert a.rotation_centers(matrices[0]).tobytes() == b.rotation_centers(matrices[0]).tobytes()
    assert a.pose_report(matrices[0]) == b.pose_report(matrices[0])
    for method in METHODS:
        for ours, theirs in zip(
            *(skin.deform_many(matrices, method=method, normals=True) for skin in (a, b)), strict=True
        ):
            assert ours.tobytes() == theirs.tobytes()
    for name in ("rest_positions", "rest_normals", "joint_indices", "joint_weights", "parents", "joint_positions"):
        ours, theirs = getattr(a, name), getattr(b, name)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def made_anew(skin: sbs.Skin) -> sbs.Skin:
    return sbs.Skin(
        skin.rest_positions,
        skin.joint_indices,
        skin.joint_weights,
        joint_count=skin.joint_count,
        parents=skin.parents,
        joint_positions=skin.joint_positions,
        rest_normals=skin.rest_normals,
    )


weight = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0, np.nan, -1.0, np.inf]), st.floats(0.0, 1.0))


@given(data=st.data(), dtype=st.sampled_from([np.float32, np.float64]), sets=st.integers(1, JOINTS))
def test_updates_are_new_skins(data: st.DataObject, dtype: Precision, sets: int) -> None:
    """Few joints make sets that many vertices share, many make sets that come and go."""
    arguments = skin_arguments(VERTICES, JOINTS, 3, dtype, normals=True)
    arguments["joint_indices"] %= sets
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        skin = sbs.Skin(**arguments)
        for _ in range(data.draw(st.integers(1, 3))):
            vertices = data.draw(st.lists(st.integers(0, VERTICES - 1), max_size=8))
            width = data.draw(st.integers(1, 4))
            shape = (len(vertices), width)
            row = st.lists(st.integers(0, JOINTS - 1), min_size=width, max_size=width)
            indices = np.array([data.draw(row) for _ in vertices], int).reshape(shape)
            values = np.array([[data.draw(weight) for _ in range(width)] for _ in vertices], dtype).reshape(shape)
            before = skin.joint_weights.copy()
            updated = skin.update_weights(indices, values, vertices=np.array(vertices, int))
            np.testing.assert_array_equal(skin.joint_weights, before)
            assert_same_skin(updated, made_anew(updated))
            skin = updated


def test_masks_negative_numbers_and_repetitions() -> None:
    skin = sbs.Skin(**skin_arguments(VERTICES, JOINTS, normals=True))
    mask = np.arange(VERTICES) == 7
    by_mask = skin.update_weights([[2]], [[1.0]], vertices=mask)
    assert_same_skin(skin.update_weights([[2]], [[1.0]], vertices=[7 - VERTICES]), by_mask)
    assert_same_skin(skin.update_weights([[4], [2]], [[1.0], [1.0]], vertices=[7, 7]), by_mask)


def test_float64_weights_for_float32_ones() -> None:
    skin = sbs.Skin(**skin_arguments(VERTICES, JOINTS, dtype=np.float32, normals=True))
    updated = skin.update_weights([[1, 2]], [[0.1, 0.9]], vertices=[5])
    assert updated.joint_weights.dtype == np.float64
    assert updated.joint_weights[5].tolist() == [0.1, 0.9, 0.0, 0.0]
    assert_same_skin(updated, made_anew(updated))
    same = updated.update_weights(np.zeros((0, 1), int), np.zeros((0, 1), np.float32), vertices=np.zeros(0, int))
    assert_same_skin(same, updated)


def test_warns_of_all_vertices() -> None:
    skin = sbs.Skin(**skin_arguments(VERTICES, JOINTS))
    with pytest.warns(sbs.WeightWarning, match=r"of 60 vertices: 1 with no weights"):
        once = skin.update_weights([[0]], [[0.0]], vertices=[5])
    with pytest.warns(sbs.WeightWarning, match=r"of 60 vertices: 2 with no weights") as caught:
        twice = once.update_weights([[0]], [[0.0]], vertices=[6])
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twice.update_weights([[0], [0]], [[1.0], [1.0]], vertices=[5, 6])


@pytest.mark.filterwarnings("ignore::sbs.WeightWarning")
def test_strict_looks_at_all_vertices() -> None:
    skin = sbs.Skin(**skin_arguments(VERTICES, JOINTS)).update_weights([[0]], [[0.5]], vertices=[9])
    with pytest.raises(ValueError, match=r"joint_weights\[9\]"):
        skin.update_weights([[0]], [[1.0]], vertices=[3], strict=True)
    skin.update_weights([[0]], [[1.0]], vertices=[9], strict=True)
    with pytest.raises(ValueError, match=r"joint_weights\[1, 0\] = -1.0"):
        skin.update_weights([[0], [0]], [[1.0], [-1.0]], vertices=[9, 2], strict=True)


@pytest.mark.parametrize(
    ("indices", "values", "message"),
    [
        ([0], [[1.0]], r"joint_indices.*\(1,\)"),
        (np.array([[2**64 - 1]], np.uint64), [[1.0]], r"joint_indices\[0, 0\] = 18446744073709551615"),
        ([[0]], [[0.5, 0.5]], "joint_weights"),
        ([[0], [1]], [[1.0], [1.0]], "vertices"),
        ([[0, 6]], [[0.5, 0.5]], r"joint_indices\[0, 1\] = 6"),
        ([[-1]], [[1.0]], r"joint_indices\[0, 0\] = -1"),
        ([[0.0]], [[1.0]], "joint_indices"),
    ],
)
def test_refuses(indices: Any, values: list[list[float]], message: str) -> None:
    skin = sbs.Skin(**skin_arguments(VERTICES, JOINTS))
    with pytest.raises((ValueError, TypeError), match=message):
        skin.update_weights(indices, values, vertices=[4])
    with pytest.raises(IndexError):
        skin.update_weights([[0]], [[1.0]], vertices=[VERTICES])


@pytest.mark.parametrize("width", [2, 5])
def test_all_weights(width: int) -> None:
    arguments, others = skin_arguments(normals=True), skin_arguments(influences=width, seed=5, normals=True)
    updated = sbs.Skin(**arguments).update_weights(others["joint_indices"], others["joint_weights"])
    for name in ("joint_indices", "joint_weights"):
        np.testing.assert_array_equal(getattr(updated, name)[:, :width], others[name])
    assert_same_skin(updated, made_anew(updated))
