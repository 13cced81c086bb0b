# SPDX-License-Identifier: MIT
"""Heat weights: by hand, on meshes in all states, and where heat can't work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from surfaces import chain, moved, together, torn, tube

import sbs
from sbs import weights

# Positions and triangles, or heads and tails.
Pair = tuple[np.ndarray, np.ndarray]


def dense(result: weights.HeatWeights, joint_count: int = 2) -> np.ndarray:
    return weights.to_dense(result.joint_indices, result.joint_weights, joint_count)


def heat(mesh: Pair, bones: Pair | None = None, **options: Any) -> weights.HeatWeights:
    return weights.heat_weights(*mesh, *(chain(2) if bones is None else bones), **options)


def test_a_square_by_hand() -> None:
    """Two right triangles: the vertices 0 and 1 are at a distance of 1 from bone 0, 2 and 3 from bone 1, all seen."""
    positions = np.array([[0, 0, 0], [0, 2, 0], [2, 0, 0], [2, 2, 0]], float)
    triangles = np.array([[0, 2, 1], [1, 2, 3]])
    heads = np.array([[0, -1, 1], [2, -1, 1]], float)
    tails = np.array([[0, 3, 1], [2, 3, 1]], float)
    result = dense(heat((positions, triangles), (heads, tails), strength=1.0, prune=0))
    # Each side has one opposite angle, of 45 degrees: half of its cotangent is 0.5. Those of the diagonal are right
    # angles, of cotangent 0: it has the least weight that an edge may have. A triangle of area 2 gives each corner 2/3.
    areas = np.array([2 / 3, 4 / 3, 4 / 3, 2 / 3])
    laplacian = np.zeros((4, 4))
    for (a, b), weight in {(0, 1): 0.5, (0, 2): 0.5, (1, 3): 0.5, (2, 3): 0.5, (1, 2): 1e-3}.items():
        laplacian[[a, b], [b, a]] = -weight
    laplacian[range(4), range(4)] = -laplacian.sum(axis=1)
    expected = np.linalg.solve(laplacian + np.diag(areas), areas * np.array([1, 1, 0, 0]))
    np.testing.assert_allclose(result[:, 0], expected, rtol=1e-12)
    assert expected[1] > expected[0] > 0.5  # more area takes more of the heat of the own bone


def distances_to_bones(points: np.ndarray, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """Of points (V, 3) to segments (J, 3), (V, J)."""
    axes = tails - heads
    along = np.einsum("vjc,jc->vj", points[:, None] - heads, axes) / np.sum(axes**2, axis=1)
    distances: np.ndarray = np.linalg.norm(points[:, None] - heads - np.clip(along, 0, 1)[..., None] * axes, axis=2)
    return distances


def reference(
    positions: np.ndarray, triangles: np.ndarray, heads: np.ndarray, tails: np.ndarray, strength: float
) -> np.ndarray:
    """The equation (-L + H) w = H p of a surface without hidden bones, by SciPy's sparse direct solver."""
    positions = positions / np.linalg.norm(np.ptp(positions, axis=0))
    masses, ends, cotangents = np.zeros(len(positions)), [], []
    for triangle in triangles:
        for turn in range(3):
            apex, a, b = np.roll(triangle, turn)
            to_a, to_b = positions[a] - positions[apex], positions[b] - positions[apex]
            double_area = np.linalg.norm(np.cross(to_a, to_b))
            masses[apex] += double_area / 6
            ends += [(a, b), (b, a)]
            cotangents += 2 * [to_a @ to_b / double_area / 2]
    edges = scipy.sparse.coo_matrix((cotangents, np.transpose(ends)), (len(positions),) * 2).tocsr()
    edges.data = np.maximum(edges.data, 1e-3)
    laplacian = scipy.sparse.diags(np.asarray(edges.sum(axis=1)).ravel()) - edges
    bones = distances_to_bones(positions, heads, tails)
    nearest = bones <= (1 + 1e-9) * bones.min(axis=1, keepdims=True)
    heat = masses[:, None] * strength / bones**2 * nearest
    matrix = laplacian + scipy.sparse.diags(heat.sum(axis=1))
    solution: np.ndarray = scipy.sparse.linalg.spsolve(matrix.tocsc(), heat)
    return solution


def test_against_a_sparse_solver() -> None:
    """So many vertices that the solver dissects them several times over."""
    positions, triangles = tube(rings=81, sides=24)
    turned = Rotation.from_rotvec([0.3, 0.5, -0.2]).as_matrix()  # nothing is aligned with an axis, nothing is tied
    heads, tails = (ends @ turned.T for ends in chain(5))
    positions = positions[:-2] @ turned.T
    triangles = triangles[(triangles < len(positions)).all(axis=1)]  # an open one: no vertex touches a bone
    result = dense(heat((positions, triangles), (heads, tails), prune=0), 5)
    size = np.linalg.norm(np.ptp(positions, axis=0))
    expected = reference(positions, triangles, heads / size, tails / size, 4.0)
    np.testing.assert_allclose(result, expected, atol=1e-10)  # rounding times the condition, below 1e5


def test_progress_and_threads() -> None:
    told: list[float] = []
    alone = heat(tube(), threads=1, progress=told.append)
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, 1)
    np.testing.assert_array_equal(alone.joint_weights, heat(tube(), threads=3).joint_weights)

    def stop(fraction: float) -> None:
        if fraction > 0.5:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        heat(tube(), progress=stop)


def test_seams_and_flat_shading_change_nothing() -> None:
    mesh = tube()
    whole, pieces = heat(mesh), heat(torn(*mesh))
    corners = mesh[1].ravel()
    np.testing.assert_allclose(dense(pieces), dense(whole)[corners], atol=1e-12)
    assert pieces.report.islands == 1
    assert pieces.report.welded == len(corners) - len(mesh[0])
    for vertex in range(len(mesh[0])):
        rows = pieces.joint_weights[corners == vertex]
        assert (rows == rows[0]).all()


def test_vertices_that_nearly_coincide_are_welded() -> None:
    positions, triangles = torn(*tube())
    noise = np.random.default_rng(0).uniform(-1e-8, 1e-8, positions.shape)
    result = heat((positions + noise, triangles))
    assert result.report.islands == 1
    np.testing.assert_allclose(dense(result), dense(heat((positions, triangles))), atol=1e-5)


def test_holes_and_degenerate_triangles_do_no_harm() -> None:
    positions, triangles = tube()
    bad = [[3, 3, 3], [5, 5, 9], [0, 8, 16]]  # a point, an edge, and three vertices in a line
    holed = np.delete(triangles, [4, 5, 40, 41, 42], axis=0)
    result = heat((positions, np.concatenate([holed, bad])))
    assert result.report.method == "heat"
    assert result.report.degenerate_triangles == 3
    np.testing.assert_allclose(dense(result).sum(axis=1), 1, rtol=1e-14)
    assert np.abs(dense(result) - dense(heat((positions, triangles)))).max() < 0.15


def test_a_shirt_hangs_on_the_body() -> None:
    """A wider tube around a tube sees no bone; its weights follow the body's beneath."""
    body, shirt = tube(), tube(rings=9, length=4.0, radius=0.6)
    shirt = (moved(shirt[0], 1, 0, 0), shirt[1][(shirt[1] < 9 * 8).all(axis=1)])  # open ends
    shirt = (shirt[0][: 9 * 8], shirt[1])
    result = heat(together(body, shirt))
    (joined,) = result.report.joined
    assert (joined.island, joined.neighbor, joined.vertices, joined.reason) == (1, 0, 72, "sees no bone")
    assert joined.distance == pytest.approx(0.1, rel=0.1)  # radii of 0.6 and, at the corners, 0.5
    under = dense(result)[: len(body[0])]
    over = dense(result)[len(body[0]) :]
    np.testing.assert_allclose(under, dense(heat(body)), atol=1e-12)  # the body does not feel it
    for x in (2.0, 3.0, 4.0):
        ring = np.isclose(shirt[0][:, 0], x)
        np.testing.assert_allclose(over[ring, 0], under[np.isclose(body[0][:, 0], x), 0].mean(), atol=0.02)


def test_tiny_islands_hang_on_what_they_sit_on_and_on_each_other() -> None:
    body = tube(rings=25, sides=12)
    button = np.array([[0, 0, 0], [0.05, 0, 0], [0, 0.05, 0]]), np.array([[0, 1, 2]])
    on_body = (moved(button[0], 2.0, 0, 0.52), button[1])
    on_button = (moved(button[0], 2.0, 0, 0.53), button[1])
    result = heat(together(body, on_button, on_body))
    assert [(j.island, j.neighbor, j.reason) for j in result.report.joined] == [(1, 2, "tiny"), (2, 0, "tiny")]
    shares = dense(result)
    here = shares[np.isclose(body[0][:, 0], 2.0).nonzero()[0]].mean(axis=0)
    np.testing.assert_allclose(shares[-6:], np.tile(here, (6, 1)), atol=0.02)
    assert "island 1 of 3 vertices: tiny, joined to island 2" in str(result.report)


def test_a_vertex_of_no_triangle_takes_part() -> None:
    positions, triangles = tube()
    result = heat((np.concatenate([positions, [[5.5, 0, 0.6]]]), triangles))
    (joined,) = result.report.joined
    assert (joined.reason, joined.vertices) == ("no triangles", 1)
    assert dense(result)[-1, 1] > 0.9


def test_equally_near_bones_share() -> None:
    positions, triangles = tube()
    heads, tails = chain(1)
    result = dense(heat((positions, triangles), (np.repeat(heads, 3, axis=0), np.repeat(tails, 3, axis=0))), 3)
    np.testing.assert_allclose(result, 1 / 3, rtol=1e-12)


def test_only_allowed_joints_get_weight() -> None:
    mesh, bones = tube(), chain(3)
    by_numbers = heat(mesh, bones, joints=[0, 2])
    assert set(np.unique(by_numbers.joint_indices[by_numbers.joint_weights > 0])) == {0, 2}
    by_flags = heat(mesh, bones, joints=[True, False, True])
    np.testing.assert_array_equal(by_numbers.joint_weights, by_flags.joint_weights)


def test_limit_and_prune() -> None:
    mesh = tube(rings=25)
    result = heat(mesh, chain(6), limit=2, prune=0.05)
    assert result.joint_indices.shape[1] == 2
    np.testing.assert_allclose(result.joint_weights.sum(axis=1), 1, rtol=1e-14)
    assert result.joint_weights[result.joint_weights > 0].min() > 0.05 / 1.05 - 1e-12


def test_scale_and_place_change_nothing() -> None:
    (positions, triangles), (heads, tails) = tube(), chain(2)
    expected = dense(heat((positions, triangles)))
    for scale in (1e-6, 1e6):
        offset = scale * np.array([3.0, -2.0, 1.0])
        result = heat((scale * positions + offset, triangles), (scale * heads + offset, scale * tails + offset))
        np.testing.assert_allclose(dense(result), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("mesh", "reason"),
    [
        ((tube()[0], np.empty((0, 3), np.int32)), "the mesh has no surface"),
        ((np.zeros((3, 3)), np.array([[0, 1, 2]])), "the mesh has no surface"),
        ((tube()[0], np.repeat(np.arange(30), 3).reshape(-1, 3)), "the mesh has no surface"),
    ],
)
def test_capsules_where_there_is_no_surface(mesh: Pair, reason: str) -> None:
    result = heat(mesh)
    assert (result.report.method, result.report.reason) == ("capsules", reason)
    np.testing.assert_allclose(result.joint_weights.sum(axis=1), 1, rtol=1e-12)


def test_capsules_for_loose_triangles() -> None:
    rng = np.random.default_rng(1)
    corners = rng.uniform([0, -1, -1], [6, 1, 1], (200, 1, 3)) + rng.uniform(-0.02, 0.02, (200, 3, 3))
    result = heat((corners.reshape(-1, 3), np.arange(600).reshape(-1, 3)))
    assert result.report.method == "capsules"
    assert result.report.reason == "the surface is in tiny pieces"
    assert (result.joint_weights.sum(axis=1) > 0.999).all()


def test_capsules_for_bones_that_nobody_sees() -> None:
    """The only bone is a point in a tiny box within the tube."""
    box, triangles = tube(rings=3, length=0.1, radius=0.05)
    point = np.array([[3.0, 0.0, 0.0]])
    result = heat(together(tube(), (moved(box, 2.95, 0, 0), triangles)), (point, point))
    assert (result.report.method, result.report.reason) == ("capsules", "the surface sees no bone")
    np.testing.assert_array_equal(result.joint_weights, 1)


def test_given_capsules_are_used_where_heat_is_not() -> None:
    """They give all to the second joint, which the first is not allowed to share."""
    heads, tails = chain(2)
    capsules = weights.Capsules(heads, tails, [[0, 0], [9, 9]], [[0, 0], [9, 9]])
    points = (tube()[0][:-2], np.empty((0, 3), np.int32))
    assert dense(heat(points, capsules=capsules))[:, 0].max() == 0
    assert dense(heat(points, capsules=capsules, joints=[0]))[:, 0].min() == 1
    with pytest.raises(ValueError, match="there are 2 capsules for 3 joints"):
        heat(points, chain(3), capsules=capsules)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 60), st.integers(1, 6), st.sampled_from([0, 1, 2]))
def test_any_mesh_gets_weights_of_sum_one(seed: int, vertices: int, triangles: int, joints: int, grid: int) -> None:
    """Soups of triangles, also on a coarse grid where points coincide and triangles degenerate."""
    rng = np.random.default_rng(seed)
    positions = rng.normal(size=(vertices, 3))
    if grid:
        positions = np.round(positions * grid)
    faces = rng.integers(0, vertices, (triangles, 3)).astype(np.int32)
    heads, tails = rng.normal(size=(2, joints, 3))
    tails[0] = heads[0]
    result = heat((positions, faces), (heads, tails))
    assert np.isfinite(result.joint_weights).all()
    assert (result.joint_weights >= 0).all()
    np.testing.assert_allclose(result.joint_weights.sum(axis=1), 1, rtol=1e-9)
    shares = dense(result, joints)
    _, where = np.unique(positions, axis=0, return_inverse=True)
    for place in np.unique(where):
        assert (shares[where.ravel() == place] == shares[where.ravel() == place][0]).all()
    sbs.Skin(positions, result.joint_indices, result.joint_weights, joint_count=joints, strict=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positions": np.empty((0, 3))}, "positions"),
        ({"positions": np.full((106, 3), np.nan)}, r"positions\[0, 0\] is nan"),
        ({"positions": np.zeros((106, 2))}, r"positions.*\(106, 2\)"),
        ({"triangles": np.array([[0, 1, 106]])}, r"triangles\[0, 2\] = 106"),
        ({"triangles": np.array([[0.0, 1.0, 2.0]])}, "triangles"),
        ({"heads": np.zeros((2, 2))}, r"heads.*\(2, 2\)"),
        ({"heads": np.zeros((3, 3))}, r"heads.*\(3, 3\)"),
        ({"tails": np.array([[0, 0, 0], [0, np.inf, 0]])}, r"tails\[1, 1\] is inf"),
        ({"joints": []}, "joints"),
        ({"joints": [2]}, r"joints\[0\] = 2"),
        ({"joints": [True]}, "joints"),
        ({"joints": [0.5]}, "joints"),
        ({"strength": 0.0}, "strength"),
        ({"strength": np.nan}, "strength"),
        ({"prune": 1.5}, "prune"),
        ({"limit": 0}, "limit"),
        ({"progress": 1}, "progress"),
    ],
)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    (positions, triangles), (heads, tails) = tube(), chain(2)
    arguments = {"positions": positions, "triangles": triangles, "heads": heads, "tails": tails} | change
    with pytest.raises((ValueError, TypeError), match=message):
        weights.heat_weights(**arguments)


def test_extreme_strength_does_not_fail() -> None:
    for strength in (1e-300, 1e300):
        result = heat(tube(), strength=strength)
        np.testing.assert_allclose(result.joint_weights.sum(axis=1), 1, rtol=1e-9)
