# SPDX-License-Identifier: MIT
"""What a skin holds and shows, and every way to call it."""

import copy
import gc
import pickle
import sys
import warnings
import weakref
from typing import Literal

import numpy as np
import pytest
from meshes import Precision, skin_arguments, skinning_matrices

import sbs
from sbs.options import Method

METHODS: list[Method] = ["rigid", "linear", "spherical", "dual_quaternion"]
DTYPES = [np.float32, np.float64]
ARRAYS: tuple[
    Literal["rest_positions", "joint_indices", "joint_weights", "parents", "joint_positions", "rest_normals"], ...
] = ("rest_positions", "joint_indices", "joint_weights", "parents", "joint_positions", "rest_normals")


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# ------------------------------------------------------------------------------------------------------- what it shows


@pytest.mark.parametrize("dtype", DTYPES)
def test_attributes(dtype: Precision) -> None:
    arguments = skin_arguments(40, 6, 3, dtype, normals=True)
    skin = sbs.Skin(**arguments)
    assert (skin.vertex_count, skin.joint_count, skin.max_influences) == (40, 6, 3)
    assert skin.dtype == dtype
    assert skin.has_normals
    assert skin.unweighted_vertex_count == 0
    assert skin.instruction_set == sbs.build_info()["instruction_set"]
    assert "40 vertices (float" in repr(skin)
    plain = sbs.Skin([[0.0, 0.0, 0.0]], [[0]], [[1.0]])
    assert not plain.has_normals
    assert (plain.parents, plain.joint_positions, plain.rest_normals) == (None, None, None)
    assert "1 vertex (float64), 1 joint" in repr(plain)
    assert copy.copy(skin) is skin  # immutable


def test_arrays_are_copied_and_shown_read_only() -> None:
    arguments = skin_arguments(normals=True)
    skin = sbs.Skin(**arguments)
    for name in ARRAYS:
        held = getattr(skin, name)
        assert not np.shares_memory(held, arguments[name]), name
        assert same_bits(held, arguments[name]), name
        assert not held.flags.writeable, name
        assert arguments[name].flags.writeable, name
        with pytest.raises(AttributeError):
            setattr(skin, name, arguments[name])


def test_other_arrays_are_converted_to_the_documented_types() -> None:
    skin = sbs.Skin(
        np.arange(6).reshape(2, 3),
        np.array([[0], [1]], dtype=np.uint64),
        np.ones((2, 1), dtype=np.float16),
        parents=np.array([-1, 0], dtype=np.int8),
        joint_positions=np.zeros((2, 3), dtype=np.float32),
        rest_normals=np.ones((2, 3), dtype=np.float32),
    )
    dtypes = [getattr(skin, name).dtype for name in ARRAYS]
    assert dtypes == [np.float64, np.int32, np.float32, np.int32, np.float64, np.float64]
    np.testing.assert_array_equal(skin.joint_indices, [[0], [1]])
    np.testing.assert_array_equal(skin.parents, [-1, 0])


def test_joint_sets_against_python_sets() -> None:
    arguments = skin_arguments(200, 5, 3)
    arguments["joint_weights"][::3, 0] = 0.0
    arguments["joint_weights"][::3] /= arguments["joint_weights"][::3].sum(axis=1, keepdims=True)
    arguments["joint_weights"][7] = 0.0
    with pytest.warns(sbs.WeightWarning):
        skin = sbs.Skin(**arguments)
    expected = [
        tuple(sorted(joint for joint, weight in zip(joints, weights, strict=True) if weight > 0))
        for joints, weights in zip(arguments["joint_indices"].tolist(), arguments["joint_weights"], strict=True)
    ]
    assert skin.joint_sets == sorted(set(expected))
    assert skin.joint_sets[0] == ()
    assert [skin.joint_sets[s] for s in skin.joint_set_of_vertex] == expected
    assert skin.joint_set_of_vertex.dtype == np.int32
    trivial = {s for s in set(expected) if len(s) < 2 or (len(s) == 2 and s[1] - s[0] == 1)}
    assert skin.nontrivial_joint_set_count == len(set(expected) - trivial)
    assert skin.unweighted_vertex_count == 1


def test_joint_count_is_taken_from_what_is_there() -> None:
    positions, indices, weights = np.zeros((1, 3)), [[2]], [[1.0]]
    assert sbs.Skin(positions, indices, weights).joint_count == 3
    assert sbs.Skin(positions, indices, weights, joint_count=8).joint_count == 8
    assert sbs.Skin(positions, indices, weights, parents=[-1, 0, 1, 2]).joint_count == 4
    assert sbs.Skin(positions, indices, weights, joint_positions=np.zeros((5, 3))).joint_count == 5


# ------------------------------------------------------------------------------------------------------------ weights


def test_weight_warning_counts_vertices_by_kind() -> None:
    weights = np.array([[np.nan, 1.0], [np.inf, 1.0], [-1.0, 1.0], [0.0, 0.0], [0.7, 0.7], [0.5, 0.5], [0.5, 0.5]])
    indices = np.array([[0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [1, 1], [0, 1]])
    with pytest.warns(sbs.WeightWarning) as caught:
        skin = sbs.Skin(np.zeros((7, 3)), indices, weights)
    assert skin.weight_report == sbs.WeightReport(1, 1, 1, 1, 1, 1)
    assert skin.unweighted_vertex_count == 1
    assert len(caught) == 1
    assert str(caught[0].message).count("1 with") == 6
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("joints", "weights", "message"),
    [
        ([0, 1], [np.nan, 1.0], r"joint_weights\[1, 0\] = nan"),
        ([0, 1], [1.0, np.inf], r"joint_weights\[1, 1\] = inf"),
        ([0, 1], [-1.0, 1.0], r"joint_weights\[1, 0\] = -1.0"),
        ([0, 1], [0.0, 0.0], r"joint_weights\[1\]"),
        ([0, 1], [0.7, 0.7], r"joint_weights\[1\]"),
        ([1, 1], [0.5, 0.5], r"joint_weights\[1\]"),
    ],
)
def test_strict_refuses_what_would_be_repaired(joints: list[int], weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sbs.Skin(np.zeros((2, 3)), [[0, 1], joints], [[1.0, 0.0], weights], strict=True)


def test_strict_accepts_good_weights() -> None:
    arguments = skin_arguments()
    assert same_bits(
        sbs.Skin(**arguments, strict=True).deform(skinning_matrices(6)),
        sbs.Skin(**arguments).deform(skinning_matrices(6)),
    )


# ---------------------------------------------------------------------------------------------------------- deforming


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", METHODS)
def test_last_rows_and_types_of_matrices_make_no_difference(method: Method, dtype: Precision) -> None:
    skin, matrices = sbs.Skin(**skin_arguments(dtype=dtype)), skinning_matrices(6).astype(np.float32)
    expected = skin.deform(matrices, method=method)
    assert same_bits(expected, skin.deform(matrices[:, :3], method=method))
    assert same_bits(expected, skin.deform(matrices.astype(np.float64), method=method))


def test_default_method_is_spherical() -> None:
    skin = sbs.Skin(**skin_arguments())
    matrices = skinning_matrices(6)
    results = {method: skin.deform(matrices, method=method).tobytes() for method in METHODS}
    assert len(set(results.values())) == len(METHODS)
    assert skin.deform(matrices).tobytes() == results["spherical"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("many", [False, True])
def test_out_receives_the_same_bits_and_is_returned(dtype: Precision, many: bool) -> None:
    skin = sbs.Skin(**skin_arguments(dtype=dtype, normals=True))
    deform = skin.deform_many if many else skin.deform
    matrices = skinning_matrices(2, 6) if many else skinning_matrices(6)
    expected = deform(matrices, normals=True)
    out, out_normals = np.full_like(expected[0], np.nan), np.full_like(expected[1], np.nan)
    result = deform(matrices, normals=True, out=out, out_normals=out_normals)
    assert result[0] is out
    assert result[1] is out_normals
    assert same_bits(out, expected[0])
    assert same_bits(out_normals, expected[1])
    only_positions = np.full_like(out, np.nan)
    assert deform(matrices, out=only_positions) is only_positions
    assert same_bits(only_positions, expected[0])


def test_normals_are_unit_or_zero() -> None:
    arguments = skin_arguments(normals=True)
    arguments["rest_normals"][3] = 0.0
    for method in METHODS:
        _, normals = sbs.Skin(**arguments).deform(skinning_matrices(6), method=method, normals=True)
        lengths = np.linalg.norm(normals, axis=1)
        # a rounding for each of the operations of a normalization
        np.testing.assert_allclose(np.delete(lengths, 3), 1.0, rtol=8 * float(np.finfo(np.float64).eps))
        assert lengths[3] == 0.0


def test_rotation_centers_and_report() -> None:
    skin = sbs.Skin(**skin_arguments(40, 6, 3))
    matrices = skinning_matrices(6)
    centers = skin.rotation_centers(matrices)
    assert centers.shape == (len(skin.joint_sets), 3)
    assert centers.dtype == np.float64
    sets = skin.nontrivial_joint_set_count
    assert skin.pose_report(matrices) == sbs.PoseReport(sets, sets, 0)
    stretched = matrices.copy()
    stretched[2, :3, 0] *= 1.5
    assert skin.pose_report(stretched) == sbs.PoseReport(sets, sets, 1)
    assert not same_bits(skin.rotation_centers(matrices, rcond=1e-3), centers)
    assert not same_bits(skin.rotation_centers(matrices, damping=1.0), centers)


# -------------------------------------------------------------------------------------------------- copies and pickles


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", DTYPES)
def test_pickle_gives_the_same_bits(dtype: Precision, protocol: int) -> None:
    arguments = skin_arguments(dtype=dtype, normals=True)
    arguments["joint_indices"] = arguments["joint_indices"].astype(np.int64)
    skin = sbs.Skin(**arguments, joint_count=6)
    again = pickle.loads(pickle.dumps(skin, protocol))
    for method in METHODS:
        expected = skin.deform(skinning_matrices(6), method=method, normals=True)
        actual = again.deform(skinning_matrices(6), method=method, normals=True)
        assert all(same_bits(a, b) for a, b in zip(actual, expected, strict=True))
    assert all(same_bits(getattr(again, name), getattr(skin, name)) for name in ARRAYS)
    assert again.joint_sets == skin.joint_sets


def test_unpickling_does_not_warn_again() -> None:
    with pytest.warns(sbs.WeightWarning):
        skin = sbs.Skin(np.zeros((1, 3)), [[0]], [[0.5]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(skin)).weight_report == skin.weight_report


def test_arrays_are_released_with_the_skin() -> None:
    arguments = skin_arguments(normals=True)
    before = {name: sys.getrefcount(array) for name, array in arguments.items()}
    skin = sbs.Skin(**arguments)
    skin.deform(skinning_matrices(6), normals=True)
    with pytest.raises(ValueError, match="out has shape"):
        skin.deform(skinning_matrices(6), out=np.zeros(3))
    del skin
    assert {name: sys.getrefcount(array) for name, array in arguments.items()} == before


def test_skin_in_a_cycle_is_collected() -> None:
    skin = sbs.Skin(**skin_arguments())
    vars(skin)["itself"] = skin
    reference = weakref.ref(skin)
    del skin
    gc.collect()
    assert reference() is None
