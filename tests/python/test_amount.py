# SPDX-License-Identifier: MIT
"""Two methods blended by a map of amounts."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meshes import Precision, skin_arguments, skinning_matrices

import sbs
from sbs.options import Method, MethodOptions

METHODS: list[Method] = ["rigid", "linear", "spherical", "dual_quaternion"]
VERTICES, JOINTS = 600, 6


def make_skin(dtype: Precision = np.float64, seed: int = 0) -> sbs.Skin:
    return sbs.Skin(**skin_arguments(VERTICES, JOINTS, 3, dtype, seed=seed, normals=True))


def same(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> bool:
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


def blended(base: np.ndarray, method: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """The expected result, in double."""
    a = amount.astype(np.float64)[:, None]
    return (1 - a) * base.astype(np.float64) + a * method.astype(np.float64)


def tolerance_of(skin: sbs.Skin) -> float:
    """The bound in sbs.h."""
    size = float(np.linalg.norm(np.ptp(skin.rest_positions, axis=0)))
    return (1e-6 if skin.dtype == np.float32 else 1e-13) * size


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("options", "base"),
    [
        ({"rotation": "average", "center": "weighted"}, {"method": "spherical", "center": "optimized"}),
        ({"method": "dual_quaternion"}, {"method": "spherical", "damping": 0.5}),
        ({"method": "dual_quaternion"}, {"rcond": 0.5}),
        ({}, {"method": "rigid"}),
    ],
)
def test_both_have_options(dtype: Precision, options: MethodOptions, base: MethodOptions) -> None:
    arguments = skin_arguments(VERTICES, JOINTS, 3, dtype)
    skin, matrices = sbs.Skin(**arguments, centers=arguments["rest_positions"] / 2), skinning_matrices(JOINTS)
    amount = np.random.default_rng(2).random(VERTICES)
    expected = blended(skin.deform(matrices, **base), skin.deform(matrices, **options), amount)
    found = skin.deform(matrices, **options, amount=amount, base=base)
    np.testing.assert_allclose(found, expected, rtol=0, atol=8 * float(np.finfo(dtype).eps) * np.abs(expected).max())


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(list(itertools.product(METHODS, METHODS))),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([np.float32, np.float64]),
)
def test_positions_are_blended_and_normals_normalized(
    seed: int, methods: tuple[Method, Method], dtype: Precision, amount_dtype: Precision
) -> None:
    generator = np.random.default_rng(seed)
    skin, matrices = make_skin(dtype, seed), skinning_matrices(JOINTS, seed=seed)
    amount = generator.choice([0, 1, 0.5, *generator.random(5)], VERTICES).astype(amount_dtype)
    base, method = methods
    positions, normals = skin.deform(matrices, method=method, base=base, amount=amount, normals=True)
    one_for_all = skin.deform(matrices, method=method, base=base, amount=0.25)
    of_each = skin.deform(matrices, method=method, base=base, amount=np.full(VERTICES, 0.25))
    np.testing.assert_array_equal(one_for_all, of_each)
    base_result = skin.deform(matrices, method=base, normals=True)
    method_result = skin.deform(matrices, method=method, normals=True)
    assert np.abs(positions - blended(base_result[0], method_result[0], amount)).max() <= tolerance_of(skin)
    expected = blended(base_result[1], method_result[1], amount)
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    error = np.abs(normals * lengths - expected).max(axis=1)  # short ones of normals that cancel point anywhere
    eps = float(np.finfo(dtype).eps)
    assert error.max() <= 32 * eps  # a sum of matrices may shorten a normal, which rounding then turns by more
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, rtol=16 * eps)


def test_many_frames_and_threads_give_the_same_bits() -> None:
    skin, matrices = make_skin(np.float32), skinning_matrices(5, JOINTS)
    amount = np.linspace(0, 1, VERTICES)
    one_by_one = [skin.deform(pose, amount=amount, normals=True, threads=1) for pose in matrices]
    for threads in (1, 3, None):
        positions, normals = skin.deform_many(matrices, amount=amount, normals=True, threads=threads)
        for frame, expected in enumerate(one_by_one):
            assert same((positions[frame], normals[frame]), expected)


def test_outputs_share_no_memory_with_the_amounts() -> None:
    skin = make_skin()
    memory = np.zeros(4 * VERTICES)
    with pytest.raises(ValueError, match="out shares memory with amount"):
        skin.deform(skinning_matrices(JOINTS), amount=memory[:VERTICES], out=memory[: 3 * VERTICES].reshape(-1, 3))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"amount": np.full(VERTICES, 1.5)}, ValueError, r"amount\[0\]"),
        ({"amount": -0.25}, ValueError, r"amount\[0\]"),
        ({"amount": np.r_[np.ones(VERTICES - 1), np.nan]}, ValueError, rf"amount\[{VERTICES - 1}\]"),
        ({"amount": np.ones(VERTICES + 1)}, ValueError, "amount"),
        ({"amount": np.ones((VERTICES, 1))}, ValueError, "amount"),
        ({"amount": "half"}, TypeError, "amount"),
        ({"base": "cubic"}, ValueError, "base"),
        ({"base": {"method": "cubic"}}, ValueError, r"base\['method'\]"),
        ({"base": {"damping": -1.0}}, ValueError, "damping"),
        ({"base": {"rcond": 2.0}}, ValueError, "rcond"),
        ({"base": 3}, TypeError, "base"),
        ({"base": {"twist": 1}}, TypeError, "twist"),
        ({"base": {"method": 1}}, TypeError, "method"),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], message: str) -> None:
    skin, matrices = make_skin(), skinning_matrices(JOINTS)
    with pytest.raises(error, match=message):
        skin.deform(matrices, **{"amount": 0.5, **options})
    with pytest.raises(error, match=message):
        skin.deform_many(matrices[None], **{"amount": 0.5, **options})
