# SPDX-License-Identifier: MIT
"""Optimized centers of rotation: by hand, against their definition, and all that can be wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import centers_reference
import characters
import numpy as np
import pytest
import surfaces

import sbs
from sbs import _core
from sbs.samples import load as load_sample

Arguments = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

# Sums of some thousand positive terms, whose exponents carry up to u^2 eps, in one order or another.
EXACT = 1e-12


def bent_tube() -> Arguments:
    """A tube along x, of length 6 and radius 0.5, whose two joints share it between x = 1 and 5."""
    positions, triangles = surfaces.tube(rings=25, sides=8)
    second = np.clip((positions[:, 0] - 1) / 4, 0, 1)
    return positions, triangles, np.tile([0, 1], (len(positions), 1)), np.stack([1 - second, second], axis=1)


def soup(seed: int = 0, vertices: int = 60, joints: int = 6, influences: int = 4) -> Arguments:
    """Triangles and weights without any order, some of no area; one joint, or none, influences some vertices."""
    rng = np.random.default_rng(seed)
    triangles = rng.integers(0, vertices, (2 * vertices, 3))
    triangles[:3, 1] = triangles[:3, 0]
    weights = rng.random((vertices, influences)) ** 3
    weights[:5, 1:] = 0
    weights[5] = 0
    indices = np.argsort(rng.random((vertices, joints)))[:, :influences]
    return rng.normal(size=(vertices, 3)), triangles, indices, weights


def relative(centers: np.ndarray, expected: np.ndarray, positions: np.ndarray) -> float:
    """The largest distance as a share of the size of the mesh."""
    return float(np.linalg.norm(centers - expected, axis=1).max() / np.linalg.norm(np.ptp(positions, axis=0)))


# ------------------------------------------------------------------------------------------------------ answers by hand


def test_one_triangle_has_one_center() -> None:
    positions = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 6.0]]
    centers = sbs.optimized_centers(
        positions, [[0, 1, 2]], [[0, 1]] * 3, [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]], refinement=np.inf
    )
    np.testing.assert_allclose(centers, [[1, 1, 2], [1, 1, 2], [0, 3, 6]], atol=1e-15)


def test_centers_of_a_tube_lie_on_its_axis() -> None:
    positions, triangles, indices, weights = bent_tube()
    centers = sbs.optimized_centers(positions, triangles, indices, weights, tolerance=0)
    blended = (weights > 0).all(axis=1)
    assert np.abs(centers[blended, 1:]).max() < EXACT
    # The axis is met where the weights are those of the vertex: within the width of the similarity, 0.1 of 4.
    middle = np.abs(positions[:, 0] - 3) < 1
    assert np.abs(centers[middle, 0] - positions[middle, 0]).max() < 0.1


def test_a_near_sigma_is_the_most_similar_part() -> None:
    """Exponents below the range of double do not leave a vertex without a center."""
    positions, triangles, indices, weights = bent_tube()
    centers = sbs.optimized_centers(positions, triangles, indices, weights, sigma=1e-6, refinement=np.inf)
    blended = (weights > 0).all(axis=1)
    # The nearest centroids are a third of a ring away.
    assert np.abs(centers[blended, 0] - positions[blended, 0]).max() < 6 / 24 / 3 + EXACT


def test_without_a_center_the_rest_position_stands() -> None:
    """At vertices of one influence; of none; and of two that no triangle has, as a vertex that is in no triangle."""
    positions, triangles, indices, weights = bent_tube()
    positions = np.concatenate([positions, [[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]])
    indices = np.concatenate([indices, [[0, 1], [1, 2]]])
    weights = np.concatenate([weights, [[0.0, 0.0], [0.5, 0.5]]])
    with pytest.warns(sbs.CenterWarning, match="1 of 204 vertices"):
        centers = sbs.optimized_centers(positions, triangles, indices, weights)
    has_none = ~(weights > 0).all(axis=1) | (indices[:, 1] == 2)
    np.testing.assert_array_equal(centers[has_none], positions[has_none])
    assert (centers[~has_none] != positions[~has_none]).any(axis=1).all()


# -------------------------------------------------------------------------------------------------------- the reference


@pytest.mark.filterwarnings("ignore::sbs.CenterWarning")
@pytest.mark.parametrize("refinement", [np.inf, 0.3, 0.1])
@pytest.mark.parametrize("make", [bent_tube, soup, partial(soup, 148, 8, 4, 2)])
def test_definition(make: Callable[[], Arguments], refinement: float) -> None:
    arguments = make()
    expected = centers_reference.optimized_centers(*arguments, refinement=refinement)
    centers = sbs.optimized_centers(*arguments, refinement=refinement, tolerance=0)
    assert relative(centers, expected, arguments[0]) < EXACT


@pytest.mark.parametrize("make", [bent_tube, soup])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-2, 0.1])
def test_merged_samples_are_near(make: Callable[[], Arguments], tolerance: float) -> None:
    """The exponential is off by `tolerance` at most; centers, in which errors cancel, by far less."""
    arguments = make()
    exact, (_, _, many) = _core.optimized_centers(*arguments, tolerance=0)
    merged, (_, _, few) = _core.optimized_centers(*arguments, tolerance=tolerance)
    assert few < many
    assert relative(merged, exact, arguments[0]) < tolerance / 10


def test_the_woman() -> None:
    """On a real character the default is as near as the documentation says, and both are the definition."""
    character = load_sample("woman")
    woman = character.mesh
    arguments = woman.positions, woman.triangles, woman.joint_indices, woman.joint_weights
    some = np.random.default_rng(0).choice(len(woman.positions), 12, replace=False)
    exact = sbs.optimized_centers(*arguments, tolerance=0)
    expected = centers_reference.optimized_centers(*arguments, vertices=some)
    assert relative(exact[some], expected, woman.positions) < EXACT
    assert relative(character.optimized_centers(), exact, woman.positions) < 2e-5


@pytest.mark.parametrize("name", ["hand_webxr", "rat_quaternius"])
def test_equal_influences_have_equal_centers(name: str) -> None:
    """Also where a character's vertices are there several times; triangles of the file are not needed for that."""
    made = characters.load(name)
    count = len(made.rest_positions) // 3
    triangles = np.arange(3 * count).reshape(-1, 3)
    centers = sbs.optimized_centers(made.rest_positions, triangles, made.joint_indices, made.joint_weights)
    dense = centers_reference.dense_weights(made.joint_indices, made.joint_weights)
    _, first, kind = np.unique(dense, axis=0, return_index=True, return_inverse=True)
    blended = np.count_nonzero(dense, axis=1) > 1
    assert (np.bincount(kind.ravel()[blended]) > 1).any()
    np.testing.assert_array_equal(centers[blended], centers[first[kind.ravel()]][blended])


def test_types() -> None:
    positions, triangles, indices, weights = soup()
    single, wider = np.float32, np.int64
    narrow = positions.astype(single), triangles.astype(np.uint16), indices.astype(wider), weights.astype(single)
    centers = sbs.optimized_centers(*narrow)
    assert centers.dtype == np.float64
    wide = narrow[0].astype(np.float64), triangles, indices, narrow[3].astype(np.float64)
    np.testing.assert_array_equal(centers, sbs.optimized_centers(*wide))


def test_threads_change_no_bit() -> None:
    arguments = soup(vertices=400)
    expected = sbs.optimized_centers(*arguments, threads=1)
    for threads in (2, 3, 7):
        np.testing.assert_array_equal(sbs.optimized_centers(*arguments, threads=threads), expected)


# ------------------------------------------------------------------------------------------------------------- progress


def test_progress_rises_from_0_to_1_or_ends_it() -> None:
    told: list[float] = []
    caller = threading.get_ident()

    def note(fraction: float) -> None:
        assert threading.get_ident() == caller
        told.append(fraction)

    arguments = soup(vertices=400)
    centers = sbs.optimized_centers(*arguments, progress=note)
    np.testing.assert_array_equal(centers, sbs.optimized_centers(*arguments))
    assert told == sorted(told)
    assert told[0] == 0
    assert told[-1] == 1
    assert len(told) > 10

    def stop(fraction: float) -> None:
        told.append(fraction)
        if len(told) == 20:
            raise KeyboardInterrupt

    told.clear()
    with pytest.raises(KeyboardInterrupt):
        sbs.optimized_centers(*arguments, progress=stop)
    assert len(told) == 20

    def spoil(fraction: float) -> None:
        triangles[:] = 2**30  # what a progress function does to the triangles comes too late

    triangles = arguments[1].astype(np.int32)
    spoilt = sbs.optimized_centers(arguments[0], triangles, *arguments[2:], progress=spoil)
    np.testing.assert_array_equal(spoilt, centers)


# ------------------------------------------------------------------------------------------------------------ bad input


def test_bad_weights_are_repaired_as_a_skin_does() -> None:
    positions, triangles, indices, weights = soup()
    indices = np.concatenate([indices, indices[:, :1], indices[:, :2]], axis=1)
    bad = np.full((60, 3), [0.0, np.nan, -2.0])
    bad[::2, 2] = np.inf
    centers = sbs.optimized_centers(positions, triangles, indices, np.concatenate([3 * weights, bad], axis=1))
    expected = sbs.optimized_centers(positions, triangles, indices[:, :4], weights)
    assert relative(centers, expected, positions) < EXACT


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"rest_positions": np.zeros((60, 2))}, ValueError, r"rest_positions has shape \(60, 2\)"),
        ({"rest_positions": np.zeros((59, 3))}, ValueError, r"rest_positions has shape \(59, 3\)"),
        ({"joint_weights": np.zeros((60, 3))}, ValueError, r"joint_weights \(60, 3\)"),
        ({"triangles": np.zeros((5, 4), int)}, ValueError, r"triangles has shape \(5, 4\)"),
        ({"triangles": np.zeros((0, 3), int)}, ValueError, "triangles must not be empty"),
        ({"triangles": [[0, 1, 2], [0, 60, 1]]}, ValueError, r"triangles\[1, 1\] = 60"),
        ({"triangles": [[0, 1, -1]]}, ValueError, r"triangles\[0, 2\] = -1"),
        ({"rest_positions": np.full((60, 3), np.nan)}, ValueError, r"rest_positions\[0, 0\] is nan"),
        ({"joint_indices": np.full((60, 4), -1)}, ValueError, r"joint_indices\[0, 0\] = -1"),
        *[({"sigma": number}, ValueError, "sigma") for number in (0.0, np.nan, np.inf)],
        *[({"refinement": number}, ValueError, "refinement") for number in (0.001, np.nan)],
        *[({"tolerance": number}, ValueError, "tolerance") for number in (-1e-3, np.inf)],
        ({"threads": 0}, ValueError, "threads"),
        ({"triangles": np.zeros((5, 3))}, TypeError, "triangles"),
        ({"joint_weights": np.zeros((60, 4), complex)}, TypeError, "joint_weights"),
        ({"sigma": "wide"}, TypeError, "sigma"),
        ({"progress": 1}, TypeError, "progress"),
    ],
)
@pytest.mark.parametrize("cached", [False, True])
def test_bad_input(changes: dict[str, Any], error: type[Exception], message: str, cached: bool, tmp_path: Path) -> None:
    names = ("rest_positions", "triangles", "joint_indices", "joint_weights")
    arguments: dict[str, Any] = dict(zip(names, soup(), strict=True)) | changes
    with pytest.raises(error, match=message):
        sbs.optimized_centers(**arguments, cache=tmp_path / "centers" if cached else None)
    assert not list(tmp_path.iterdir())
