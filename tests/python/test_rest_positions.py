# SPDX-License-Identifier: MIT
"""Other rest positions for a pose, as blend shapes make them: as a skin that is made with them."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from meshes import Precision, skin_arguments, skinning_matrices

import sbs
from sbs.options import Method

VERTICES, JOINTS = 200, 6
RNG = np.random.default_rng(8)
# Of a mesh of size 5, by both. The centroids of joint sets are those at bind, to which the damping draws centers.
CLOSE = 5e-6


def arguments(dtype: Precision, **more: Any) -> dict[str, Any]:
    return {**skin_arguments(VERTICES, JOINTS, 3, dtype, normals=True), **more}


def shaped(rest: np.ndarray) -> np.ndarray:
    return (rest + RNG.normal(scale=0.3, size=rest.shape)).astype(rest.dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_is_a_skin_made_anew(dtype: Precision) -> None:
    given = arguments(dtype)
    skin = sbs.Skin(**given)
    matrices = skinning_matrices(2, JOINTS)
    before = skin.deform(matrices[0])
    for _ in range(2):
        rest = shaped(skin.rest_positions)
        anew = sbs.Skin(**{**given, "rest_positions": rest})
        methods: tuple[Method, ...] = ("rigid", "linear", "spherical", "dual_quaternion")
        for method in methods:
            for ours, theirs in zip(
                skin.deform(matrices[1], method=method, rest_positions=rest, normals=True),
                anew.deform(matrices[1], method=method, normals=True),
                strict=True,
            ):
                assert ours.dtype == dtype
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=CLOSE)
        half: sbs.DeformOptions = {"amount": np.linspace(0, 1, VERTICES), "base": "DQS"}
        np.testing.assert_allclose(
            skin.deform(matrices[1], rest_positions=rest, **half), anew.deform(matrices[1], **half), rtol=0, atol=CLOSE
        )
    assert skin.deform(matrices[0]).tobytes() == before.tobytes()  # and the skin itself is what it was


def test_optimized_centers_stay_where_they_are() -> None:
    """Those of vertices that are their own centers go with them, so that these are blended linearly as before."""
    given = arguments(np.float64)
    rest = given["rest_positions"]
    centers = np.where(np.arange(VERTICES)[:, None] % 3 == 0, rest, rest + 0.25)
    skin = sbs.Skin(**given, centers=centers)
    other = shaped(rest)
    moved = np.where(np.arange(VERTICES)[:, None] % 3 == 0, other, centers)
    anew = sbs.Skin(**{**given, "rest_positions": other}, centers=moved)
    matrices = skinning_matrices(1, JOINTS)[0]
    np.testing.assert_allclose(
        skin.deform(matrices, center="optimized", rest_positions=other),
        anew.deform(matrices, center="optimized"),
        rtol=0,
        atol=1e-14,
    )


def test_many_threads_at_once() -> None:
    given = arguments(np.float32)
    skin = sbs.Skin(**given)
    matrices = skinning_matrices(1, JOINTS)[0]
    shapes = [shaped(skin.rest_positions) for _ in range(16)]
    expected = [skin.deform(matrices, rest_positions=rest, threads=1) for rest in shapes]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda rest: skin.deform(matrices, rest_positions=rest), shapes * 8))
    for positions, wanted in zip(found, expected * 8, strict=True):
        assert positions.tobytes() == wanted.tobytes()


def test_other_weights_are_not_mixed_up() -> None:
    given = arguments(np.float64)
    skin = sbs.Skin(**given)
    matrices, rest = skinning_matrices(1, JOINTS)[0], shaped(skin.rest_positions)
    skin.deform(matrices, rest_positions=rest)
    rigid = skin.update_weights([[1]] * VERTICES, [[1.0]] * VERTICES)
    np.testing.assert_allclose(
        rigid.deform(matrices, rest_positions=rest), rest @ matrices[1, :3, :3].T + matrices[1, :3, 3], atol=1e-12
    )
    one = skin.update_weights([[1]], [[1.0]], vertices=[4])
    np.testing.assert_allclose(
        one.deform(matrices, rest_positions=rest)[4], matrices[1, :3, :3] @ rest[4] + matrices[1, :3, 3], atol=1e-12
    )
    again = pickle.loads(pickle.dumps(skin))
    assert again.deform(matrices, rest_positions=rest).tobytes() == skin.deform(matrices, rest_positions=rest).tobytes()


def test_what_is_no_mesh() -> None:
    skin = sbs.Skin(**arguments(np.float64))
    matrices, good = skinning_matrices(1, JOINTS)[0], shaped(skin.rest_positions)
    expected = skin.deform(matrices, rest_positions=good)
    for rest, message in (
        (good[1:], r"rest_positions.*\(199, 3\)"),
        (good[:, :2], r"rest_positions.*\(200, 2\)"),
        (np.zeros(3), r"rest_positions.*\(3,\)"),
        (good * np.nan, r"rest_positions\[0, 0\] is nan"),
        (good.astype(complex), "rest_positions"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            skin.deform(matrices, rest_positions=rest)
    np.testing.assert_array_equal(skin.deform(matrices, rest_positions=good), expected)
