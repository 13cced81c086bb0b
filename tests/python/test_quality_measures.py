# SPDX-License-Identifier: MIT
"""Measures of quality against answers by hand. All is float64; tolerances are some roundings of it, if not said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from measured import close
from numpy.typing import ArrayLike
from solids import CUBE, CUBE_FACES, arm, block, grid, tube, turned

import sbs
from sbs.quality import Gauge, measures
from sbs.quality.caps import Parts, make_parts
from sbs.quality.surface import make_surface

REST = np.tile(np.eye(4), (3, 1, 1))


# -------------------------------------------------------------------------------------------------------------- volumes


def whole(triangles: ArrayLike) -> Parts:
    return make_parts(np.asarray(triangles, np.int32), np.zeros(len(np.asarray(triangles)), np.intp), 100)


def test_volume_of_a_cube_wherever_it_is() -> None:
    parts = whole(CUBE_FACES)
    assert parts.closed
    assert parts.volumes(CUBE) == pytest.approx([1], rel=1e-14)
    assert parts.volumes(2 * CUBE + 1000) == pytest.approx([8], rel=1e-12)
    assert whole(CUBE_FACES[:, ::-1]).volumes(CUBE) == pytest.approx([-1], rel=1e-14)
    assert parts.areas(CUBE) == pytest.approx([6], rel=1e-14)


@pytest.mark.parametrize("missing", [[0, 1], [0, 1, 2, 3], [0, 1, 4, 5], [3]])
def test_holes_are_closed(missing: list[int]) -> None:
    """Where a side, two that face each other, or half a side are missing, caps are those very sides.

    Where two that meet are missing, one rim goes around both, and the fan from its middle, 1/3 from either, cuts off
    two pyramids that have these sides for bases: 2 * 1/3 * 1/3.
    """
    parts = whole(np.delete(CUBE_FACES, missing, axis=0))
    assert not parts.closed
    expected = 7 / 9 if missing == [0, 1, 4, 5] else 1
    assert parts.volumes(CUBE + 7) == pytest.approx([expected], rel=1e-12)


def test_parts_of_a_tube_are_closed_each_for_itself() -> None:
    points, triangles = tube(rings=7, sides=24, length=6)
    label = (points[triangles, 0].max(axis=1) > 1).astype(np.intp)  # cut at x = 1
    parts = make_parts(triangles, label, len(points))
    polygon = 24 * np.sin(np.pi / 24) * np.cos(np.pi / 24)
    np.testing.assert_allclose(parts.volumes(points), [4 * polygon, 2 * polygon], rtol=1e-12)


def test_a_surface_that_is_no_manifold_has_a_volume_wherever_it_is() -> None:
    """Three triangles at one edge, one of them the wrong way round: the caps use the edge more than once."""
    triangles = [[0, 1, 2], [0, 1, 3], [1, 0, 4], [0, 1, 5]]
    points = np.random.default_rng(0).normal(size=(6, 3))
    parts = whole(triangles)
    assert parts.turns.max() == 2
    assert parts.volumes(points + np.array([100, -50, 20])) == pytest.approx(parts.volumes(points), rel=1e-9)


def test_a_flat_mesh_has_no_volume_and_no_limbs() -> None:
    points, triangles = grid(4)
    mesh = sbs.Mesh(points, triangles, np.zeros((len(points), 1), np.int32), np.ones((len(points), 1)))
    character = sbs.Character.from_mesh(mesh, sbs.Skeleton([-1], np.eye(4)[None]))
    gauge = Gauge(character)
    assert len(gauge.limbs) == 0
    measured = gauge.measure(np.eye(4)[None], 2 * points)
    assert np.isnan([*measured["volume"].values(), *measured["limb_volume"].values()]).all()
    close(measured["area"], smallest=4, largest=4)


# ----------------------------------------------------------------------------------------------- areas, edges and tears


def test_a_cube_twice_as_large() -> None:
    gauge = Gauge(block())
    matrices = np.tile(np.diag([2.0, 2, 2, 1]), (2, 1, 1))
    measured = gauge.measure(matrices, 2 * CUBE)
    close(measured["volume"], smallest=8, largest=8)
    close(measured["limb_volume"], smallest=8, largest=8)
    close(measured["area"], smallest=4, low=4, high=4, largest=4)
    close(measured["edge"], smallest=2, low=2, high=2, largest=2)
    close(measured["thickness"], smallest=2, low=2, high=2, largest=2)
    close(measured["tear"], high=0, largest=0)
    close(measured["seam"], largest=0)


@pytest.mark.parametrize("distance", [0.01, 0.5, 3, -0.5])
def test_a_tear_of_known_size(distance: float) -> None:
    """Half of a sheet of unit squares pulled away: one row of them is longer by the distance."""
    points, triangles = grid(8)
    surface = make_surface(points, triangles)
    moved = points + np.where(points[:, :1] > 4, [distance, 0, 0], 0)
    torn = measures.tears(surface, moved)
    assert torn.max() == pytest.approx(abs(distance), rel=1e-12)
    assert np.count_nonzero(torn > 1e-9) == 2 * 4  # the edges on both sides of the row


@pytest.mark.parametrize("degrees", [1, 30, 90, 180])
def test_a_fold_of_known_angle(degrees: int) -> None:
    """Both singular values are the same there, and so the rounding of their difference counts by its root."""
    points, triangles = grid(8)
    surface = make_surface(points, triangles)
    turn = sbs.rotations.matrices_from_axis_angle([0, 1, 0], degrees, degrees=True)
    folded = np.where(points[:, :1] > 4, (points - [4, 0, 0]) @ turn.T + [4, 0, 0], points)
    assert measures.tears(surface, folded).max() == pytest.approx(2 * np.sin(np.radians(degrees / 2)), rel=1e-7)


def test_tears_of_a_tube_are_the_second_differences_of_its_rings() -> None:
    """Rings that slide along the tube by any amounts, at a distance of 0.1.

    Between neighboring sides, whose normals differ by 1 degree, the gradient of a slide by u' differs by at most
    (1 + u' - sqrt(1 + u')) times the sine of that: less than the differences between rings.
    """
    points, triangles = tube(rings=61, sides=360)
    slide = 0.02 * np.cumsum(np.random.default_rng(3).uniform(-1, 1, 61))
    moved = points.copy()
    moved[:, 0] += np.repeat(slide, 360)
    second = np.abs(np.diff(slide, 2)) / 0.1
    torn = measures.tears(make_surface(points, triangles), moved)
    assert torn.max() == pytest.approx(second.max(), rel=1e-9)


def test_strain_is_1_where_areas_are_doubled_or_halved() -> None:
    points, triangles = grid(6)
    mesh = sbs.Mesh(points, triangles, np.zeros((len(points), 1), np.int32), np.ones((len(points), 1)))
    gauge = Gauge(sbs.Character.from_mesh(mesh, sbs.Skeleton([-1], np.eye(4)[None])))
    for scale in (2, 0.5):
        np.testing.assert_allclose(gauge.strain(points * [scale, 1, 1]), 1, rtol=1e-12)
    assert np.isfinite(gauge.strain(points * 0)).all()


# ------------------------------------------------------------------------------------------------------------ thickness


def test_distance_to_the_nearest_segment() -> None:
    heads, tails = np.array([[[0, 0, 0], [0, 9, 0]]] * 4, float), np.array([[[2, 0, 0], [0, 9, 0]]] * 4, float)
    points = np.array([[1, 1, 0], [-3, 4, 0], [3, 0, 0], [0, 8, 0]], float)
    np.testing.assert_allclose(measures.bone_distances(points, heads, tails), [1, 5, 1, 1], rtol=1e-15)
    heads[:, 1] = np.nan
    np.testing.assert_allclose(measures.bone_distances(points, heads, tails), [1, 5, 1, 8], rtol=1e-15)


@pytest.mark.parametrize(("degrees", "left"), [(180, 0), (170, np.cos(np.radians(85))), (90, np.sqrt(0.5))])
def test_a_twisted_tube_collapses_in_the_middle_by_lbs(degrees: int, left: float) -> None:
    """Where both joints have equal weights LBS keeps cos(angle / 2) of the radius; SBS and DQS keep all."""
    character = arm()
    gauge = Gauge(character)
    matrices = turned(character, "fore", [1, 0, 0], degrees)
    linear = gauge.measure(matrices, character.skin.deform(matrices, method="linear"))
    assert linear["thickness"]["smallest"] == pytest.approx(left, abs=1e-12)
    for method in ("spherical", "dual_quaternion"):
        measured = gauge.measure(matrices, character.skin.deform(matrices, method=method))
        close(measured["thickness"], smallest=1, low=1, high=1, largest=1)


def test_a_bent_tube_bulges_by_sbs() -> None:
    """Vertices move on arcs about the joint: those of the outer side, both bones behind them, keep sqrt(1 + x^2)."""
    character = arm(rings=61)
    gauge = Gauge(character)
    matrices = turned(character, "fore", [0, 0, 1], 90)
    points = character.skin.deform(matrices)
    thickness = gauge.thicknesses(matrices, np.asarray(points, np.float64)[gauge.surface.kept])
    outer = np.flatnonzero((character.mesh.positions[:, 1] < -0.999) & (np.abs(character.mesh.positions[:, 0]) < 0.45))
    expected = np.hypot(1, character.mesh.positions[outer, 0])
    assert len(outer) == 9
    np.testing.assert_allclose(thickness[outer], expected, rtol=1e-12)


def test_vertices_at_the_bone_have_no_thickness() -> None:
    character = arm()
    mesh = character.mesh
    nearer = np.array(mesh.positions)
    nearer[100] = [nearer[100, 0], 1e-9, 0]
    changed = sbs.Character.from_mesh(replace(mesh, positions=nearer), character.skeleton)
    measured = Gauge(changed).measure(REST, nearer)
    close(measured["thickness"], smallest=1, largest=1)


def test_vertices_without_weights_have_no_thickness_but_areas() -> None:
    mesh = replace(block().mesh, joint_weights=np.zeros((8, 1)))
    with pytest.warns(sbs.WeightWarning):
        character = sbs.Character.from_mesh(mesh, block().skeleton)
    measured = Gauge(character).measure(REST[:2], 2 * CUBE)
    assert np.isnan(list(measured["thickness"].values())).all()
    close(measured["area"], smallest=4, largest=4)
    path = np.tile(np.eye(4), (4, 2, 1, 1))
    assert Gauge(character).pops(path, np.tile(CUBE, (4, 1, 1)))["jump"].max() == 0


# ------------------------------------------------------------------------------------------------------------ bad input


def test_a_mesh_without_area_is_refused() -> None:
    with pytest.raises(ValueError, match="triangles: there is none that has an area"):
        make_surface(CUBE, np.empty((0, 3), np.int32))
    with pytest.raises(ValueError, match="triangles: there is none that has an area"):
        make_surface(CUBE, [[0, 0, 1], [2, 2, 2]])


@pytest.mark.parametrize(
    ("positions", "triangles", "reason"),
    [
        (CUBE[:, :2], CUBE_FACES, "positions"),
        (CUBE, CUBE_FACES[:, :2], "triangles"),
        (CUBE, CUBE_FACES + 1, "8"),
        (np.where(CUBE == 1, np.nan, CUBE), CUBE_FACES, "nan|NaN|finite"),
    ],
)
def test_what_is_no_mesh_is_refused(positions: np.ndarray, triangles: np.ndarray, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        make_surface(positions, triangles)


def test_bad_positions_are_refused() -> None:
    gauge = Gauge(block())
    with pytest.raises(ValueError, match=r"positions has shape \(7, 3\), expected \(8, 3\)"):
        gauge.measure(REST[:2], CUBE[:7])
    bad = CUBE.copy()
    bad[5, 2] = np.inf
    with pytest.raises(ValueError, match=r"positions\[5, 2\] is inf"):
        gauge.measure(REST[:2], bad)
    with pytest.raises(ValueError, match=r"positions has shape \(8, 3\), expected \(S, 8, 3\)"):
        gauge.pops(REST[None, :2], CUBE)
