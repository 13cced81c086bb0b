# SPDX-License-Identifier: MIT
"""The direct solver of heat equations against dense and sparse solvers of others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import spsolve

from sbs.weights import _sparse
from sbs.weights._islands import make_surface

# Rows dominate by their diagonals, so that errors are those of rounding, times a few.
TOLERANCE = 1e-12


def equations(points, links, seed=0, *, one_way=0):
    """A matrix as that of heat: links are negative, diagonals as large as they are together and more at some rows."""
    random = np.random.default_rng(seed)
    links = np.asarray(links, np.intp).reshape(-1, 2)
    links = links[links[:, 0] != links[:, 1]]
    strengths = random.uniform(0.1, 2.0, len(links))
    rows = np.concatenate([links[:, 0], links[one_way:, 1]])
    columns = np.concatenate([links[:, 1], links[one_way:, 0]])
    values = -np.concatenate([strengths, strengths[one_way:]])
    diagonal = -np.bincount(rows, values, len(points)) + random.uniform(0.1, 1.0, len(points))
    everyone = np.arange(len(points))
    return _sparse.Matrix(
        len(points),
        np.concatenate([everyone, rows]),
        np.concatenate([everyone, columns]),
        np.concatenate([diagonal, values]),
    )


def as_scipy(matrix):
    return sparse.csc_matrix((matrix.values, (matrix.rows, matrix.columns)), shape=(matrix.size,) * 2)


def grid(rows, columns):
    numbers = np.arange(rows * columns).reshape(rows, columns)
    links = [(numbers[:, :-1], numbers[:, 1:]), (numbers[:-1], numbers[1:]), (numbers[:-1, :-1], numbers[1:, 1:])]
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in links])
    return np.stack(np.meshgrid(np.arange(rows), np.arange(columns), [0.0], indexing="ij"), -1).reshape(-1, 3), pairs


def assert_solves(matrix, points, sides):
    before = sides.copy()
    found = _sparse.solve(matrix, sides, points)
    assert np.array_equal(sides, before)
    wanted = spsolve(as_scipy(matrix), sides).reshape(sides.shape)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=TOLERANCE * np.abs(wanted).max(initial=1.0))


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (40, 50), (90, 90)])
def test_grids(shape):
    points, links = grid(*shape)
    sides = np.random.default_rng(1).uniform(size=(len(points), 3))
    assert_solves(equations(points, links), points, sides)


def test_links_in_one_direction():
    """As those of islands that hang on others."""
    points, links = grid(30, 30)
    far = np.random.default_rng(2).integers(len(points), size=(40, 2))
    assert_solves(equations(points, np.concatenate([far, links]), one_way=40), points, np.eye(len(points))[:, :5])


def test_hub():
    """A fan, whose middle is linked to all: it alone is what separates the others."""
    count = 3000
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    points = np.concatenate([np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1), np.zeros((1, 3))])
    around = np.stack([np.arange(count), (np.arange(count) + 1) % count], axis=1)
    spokes = np.stack([np.arange(count), np.full(count, count)], axis=1)
    links = np.concatenate([around, spokes])
    assert_solves(equations(points, links), points, np.eye(count + 1)[:, :2])
    parts = _sparse._dissect(np.arange(count + 1), links, points)
    assert max(map(len, parts)) <= _sparse.LEAF
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(count + 1))


def test_unknowns_at_one_place_and_apart():
    points = np.zeros((400, 3))
    assert_solves(equations(points, [(i, i + 1) for i in range(0, 399, 2)]), points, np.ones((400, 1)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 400), st.floats(0.0, 3.0))
def test_random(seed, count, density):
    random = np.random.default_rng(seed)
    links = random.integers(count, size=(int(density * count), 2))
    points = random.normal(size=(count, 3))
    assert_solves(equations(points, links, seed), points, random.normal(size=(count, 2)))


def test_singular():
    matrix = _sparse.Matrix(2, *np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), np.array([1.0, -1.0, -1.0, 1.0]))
    with pytest.raises(np.linalg.LinAlgError):
        _sparse.solve(matrix, np.ones((2, 1)), np.zeros((2, 3)))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3e-6, 1e-6, 3e-6]))
def test_near_vertices_are_one(seed, noise):
    """By all pairs: vertices are one that steps shorter than 1e-6 of the size connect."""
    random = np.random.default_rng(seed)
    base = np.concatenate([np.array([[0, 0, 0], [1, 1, 1]]) / np.sqrt(3), random.uniform(0, 0.5, (6, 3))])
    points = np.concatenate([base, base[random.integers(8, size=12)] + random.normal(size=(12, 3)) * noise])
    surface = make_surface(points, [[0, 1, 2]])
    scaled = surface.scaled(points)
    near = np.linalg.norm(scaled[:, None] - scaled, axis=2) < 1e-6
    reached = np.linalg.matrix_power(near.astype(float), len(points)) > 0
    assert np.array_equal(surface.vertex_of[:, None] == surface.vertex_of, reached)
