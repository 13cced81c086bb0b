# SPDX-License-Identifier: MIT
"""What must hold for the optimized centers of any mesh."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_centers import EXACT, Arguments, relative, soup

import sbs
from sbs import rotations

# What holds of centers holds where a vertex is like no part of such a mesh, too: it is its own center then.
pytestmark = pytest.mark.filterwarnings("ignore::sbs.CenterWarning")

MESHES = st.builds(
    soup,
    seed=st.integers(0, 2**32 - 1),
    vertices=st.integers(8, 40),
    joints=st.integers(4, 7),
    influences=st.integers(2, 4),
)
REFINEMENT = st.sampled_from([np.inf, 0.3, 0.1])
TOLERANCE = st.sampled_from([0.0, 1e-2])

thorough = settings(max_examples=25)


@thorough
@given(MESHES, REFINEMENT, TOLERANCE, st.integers(0, 2**32 - 1), st.sampled_from([1e-150, 1e-3, 1.0, 1e3, 1e150]))
def test_centers_move_with_the_mesh(
    mesh: Arguments, refinement: float, tolerance: float, seed: int, scale: float
) -> None:
    """Cells are of weights, not of space, so what is merged stays so, too."""
    rng = np.random.default_rng(seed)
    turn = rotations.matrices_from_quaternions(rng.normal(size=4))
    positions, *rest = mesh
    offset = scale * rng.normal(size=3)
    centers = sbs.optimized_centers(positions, *rest, refinement=refinement, tolerance=tolerance)
    moved = sbs.optimized_centers(
        scale * positions @ turn.T + offset, *rest, refinement=refinement, tolerance=tolerance
    )
    assert relative(moved / scale, centers @ turn.T + offset / scale, positions) < EXACT


@thorough
@given(MESHES, TOLERANCE, st.integers(0, 2**32 - 1))
def test_order_and_padding_of_influences_change_no_bit(mesh: Arguments, tolerance: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    positions, triangles, indices, weights = mesh
    order = np.argsort(rng.random(indices.shape), axis=1)
    padding = rng.integers(0, indices.max() + 1, (len(indices), 2)), np.zeros((len(indices), 2))
    shuffled = [
        np.concatenate([np.take_along_axis(array, order, axis=1), more], axis=1)
        for array, more in zip((indices, weights), padding, strict=True)
    ]
    np.testing.assert_array_equal(
        sbs.optimized_centers(positions, triangles, *shuffled, tolerance=tolerance),
        sbs.optimized_centers(positions, triangles, indices, weights, tolerance=tolerance),
    )


@thorough
@given(MESHES, st.integers(0, 2**32 - 1))
def test_order_of_vertices_and_triangles_is_irrelevant(mesh: Arguments, seed: int) -> None:
    """But for the order of sums."""
    rng = np.random.default_rng(seed)
    positions, triangles, indices, weights = mesh
    order = rng.permutation(len(positions))
    places = np.argsort(order)
    renamed = rng.permutation(places[triangles])[:, rng.permutation(3)]
    centers = sbs.optimized_centers(positions[order], renamed, indices[order], weights[order], tolerance=0)
    expected = sbs.optimized_centers(positions, triangles, indices, weights, tolerance=0)
    assert relative(centers, expected[order], positions) < EXACT


@thorough
@given(MESHES, REFINEMENT)
def test_a_triangle_may_be_there_in_parts(mesh: Arguments, refinement: float) -> None:
    """Cut in two by a side from a corner, where weights do not vary, it is the same surface."""
    positions, triangles, indices, weights = mesh
    # Halves of a triangle of no area have one of a rounding error.
    triangles = triangles[(np.diff(np.sort(triangles, axis=1), axis=1) > 0).all(axis=1)]
    a, b, c = triangles.T
    corners = triangles.size + np.arange(len(triangles))  # in the middle of b and c; all have the influences of a
    torn = np.concatenate([positions[triangles.ravel()], (positions[b] + positions[c]) / 2])
    owner = np.concatenate([np.repeat(a, 3), a])
    i, j, k = np.arange(triangles.size).reshape(-1, 3).T
    whole, halves = np.stack([i, j, k], axis=1), np.concatenate([[i, j, corners], [i, corners, k]], axis=1).T
    one, other = (
        sbs.optimized_centers(torn, t, indices[owner], weights[owner], refinement=refinement, tolerance=0.0)
        for t in (whole, halves)
    )
    assert relative(one, other, positions) < EXACT


@thorough
@given(MESHES)
@example(soup(seed=8002, vertices=8, joints=4, influences=2))  # a vertex is like few of the parts
def test_cutting_triangles_changes_little(mesh: Arguments) -> None:
    """
    What is left is the error of the midpoint rule within parts, along whose edges weights differ by 0.1.

    So parts of a triangle as large as the mesh have up to a tenth of its size, and their middles represent them to half
    of that.
    """
    one, other = (sbs.optimized_centers(*mesh, refinement=refinement, tolerance=0) for refinement in (0.1, 0.025))
    assert relative(one, other, mesh[0]) < 0.05


@thorough
@given(MESHES, TOLERANCE)
@example(soup(seed=148, vertices=8, joints=4, influences=2), 0.0)  # one vertex is like none of it
def test_centers_are_within_the_surface(mesh: Arguments, tolerance: float) -> None:
    """A mean of its points; samples that are merged to first order may go beyond by their error."""
    positions, triangles, *_ = mesh
    centers = sbs.optimized_centers(*mesh, tolerance=tolerance)
    used = positions[np.unique(triangles)]
    blended = (centers != positions).any(axis=1)
    slack = (EXACT + tolerance) * np.ptp(used, axis=0)
    assert (centers[blended] >= used.min(axis=0) - slack).all()
    assert (centers[blended] <= used.max(axis=0) + slack).all()
