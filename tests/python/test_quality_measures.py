# SPDX-License-Identifier: MIT
"""Measures of quality and energies of surfaces against answers by hand; pops and jumps of paths.

All is float64; tolerances are some roundings of it, if not said.
"""

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


def test_bad_input() -> None:
    bad = CUBE.copy()
    bad[5, 2] = np.inf
    for positions, triangles, reason in (
        (CUBE, np.empty((0, 3), np.int32), "triangles"),
        (CUBE, [[0, 0, 1], [2, 2, 2]], "triangles"),
        (CUBE[:, :2], CUBE_FACES, "positions"),
        (CUBE, CUBE_FACES[:, :2], "triangles"),
        (CUBE, CUBE_FACES + 1, "8"),
        (bad, CUBE_FACES, "inf|finite"),
    ):
        with pytest.raises(ValueError, match=reason):
            make_surface(positions, triangles)
    gauge = Gauge(block())
    with pytest.raises(ValueError, match="positions"):
        gauge.measure(REST[:2], CUBE[:7])
    with pytest.raises(ValueError, match=r"positions\[5, 2\] is inf"):
        gauge.measure(REST[:2], bad)
    with pytest.raises(ValueError, match="positions"):
        gauge.pops(REST[None, :2], CUBE)


# ------------------------------------------------------------------------------------------------------------- energies


@pytest.mark.parametrize(
    ("scale", "energy"),
    [
        ([1, 1, 1], 0),
        ([2, 1, 1], 4 + 1 / 4 - 2),
        ([0.5, 1, 1], 4 + 1 / 4 - 2),
        ([2, 3, 1], 4 + 9 + 1 / 4 + 1 / 9 - 4),
        ([0, 1, 1], 0 + 100 - 2),  # a side that vanishes counts as a tenth
    ],
)
def test_surface_energy_of_a_stretched_sheet(scale: list[float], energy: float) -> None:
    points, triangles = grid(8)
    found = measures.surface_energies(make_surface(points, triangles), points * scale)
    np.testing.assert_allclose(found, energy, rtol=1e-12, atol=1e-12)


def test_surface_energy_is_the_mean_over_the_area_of_all_triangles() -> None:
    """Of a sheet of 8 squares' length one square is stretched by the factor 2, whatever the weights blend."""
    points, triangles = grid(8)
    mesh = sbs.Mesh(points, triangles, np.zeros((len(points), 1), np.int32), np.ones((len(points), 1)))
    gauge = Gauge(sbs.Character.from_mesh(mesh, sbs.Skeleton([-1], np.eye(4)[None])))
    moved = points + np.where(points[:, :1] > 4, [1, 0, 0], 0)
    measured = gauge.measure(np.eye(4)[None], moved)
    close(measured["surface_energy"], mean=(4 + 1 / 4 - 2) / 8)
    close(measured["bending"], total=0)


@pytest.mark.parametrize("degrees", [1, -30, 90, 179])
def test_bending_energy_of_a_fold(degrees: float) -> None:
    """Four squares of side 1 along the fold: 3 l^2 / (A1 + A2) = 3 for each of the four edges."""
    points, triangles = grid(8)
    turn = sbs.rotations.matrices_from_axis_angle([0, 1, 0], degrees, degrees=True)
    folded = np.where(points[:, :1] > 4, (points - [4, 0, 0]) @ turn.T + [4, 0, 0], points)
    surface = make_surface(points, triangles)
    assert measures.bending_energy(surface, folded) == pytest.approx(4 * 3 * np.radians(degrees) ** 2, rel=1e-9)
    # Folded at rest, the same fold is none, and to open it is as much.
    folded_surface = make_surface(folded, triangles)
    assert measures.bending_energy(folded_surface, folded) == pytest.approx(0, abs=1e-9)
    assert measures.bending_energy(folded_surface, points) == pytest.approx(4 * 3 * np.radians(degrees) ** 2, rel=1e-6)


def test_bending_energy_goes_the_short_way_round() -> None:
    """From a fold by 170 degrees to one by -170 it is 20 degrees."""
    points, triangles = grid(8)
    shapes = []
    for degrees in (170, -170):
        turn = sbs.rotations.matrices_from_axis_angle([0, 1, 0], degrees, degrees=True)
        shapes.append(np.where(points[:, :1] > 4, (points - [4, 0, 0]) @ turn.T + [4, 0, 0], points))
    found = measures.bending_energy(make_surface(shapes[0], triangles), shapes[1])
    assert found == pytest.approx(4 * 3 * np.radians(20) ** 2, rel=1e-9)


def test_energies_of_a_twisted_tube() -> None:
    """A tube turned by a even twist of q per radius is sheared by q: s1 s2 = 1, s1^2 + s2^2 = 2 + q^2."""
    points, triangles = tube(rings=121, sides=240)
    angle = 0.5 * points[:, 0]
    turned_points = np.stack(
        [
            points[:, 0],
            np.cos(angle) * points[:, 1] - np.sin(angle) * points[:, 2],
            np.sin(angle) * points[:, 1] + np.cos(angle) * points[:, 2],
        ],
        axis=1,
    )
    found = measures.surface_energies(make_surface(points, triangles), turned_points)
    np.testing.assert_allclose(found, 2 * 0.5**2, rtol=1e-2)  # chords in place of arcs


# -------------------------------------------------------------------------------------------------------------- in time


def test_a_pop_of_known_size() -> None:
    path = np.zeros((8, 1, 3))
    path[:, 0, 0] = np.arange(8) * 0.01
    path[4:, 0, 1] += 0.5
    turns, jumps = measures.second_differences(path, 10.0)[:, 0], measures.jumps(path, 10.0)[:, 0]
    np.testing.assert_allclose(turns, [0, 0, 0.05, 0.05, 0, 0], atol=1e-15)
    np.testing.assert_allclose(jumps, [0, 0, (np.hypot(0.01, 0.5) - 0.02) / 10, 0, 0], rtol=1e-12, atol=1e-15)


def test_a_corner_is_no_jump() -> None:
    path = np.zeros((9, 1, 3))
    path[:, 0, 0] = np.abs(np.arange(9) - 4.0)
    assert measures.second_differences(path, 1.0).max() == 2
    assert measures.jumps(path, 1.0).max() == 0


def test_vertices_that_follow_a_joint_never_pop() -> None:
    """However fast the joint moves."""
    character = block()
    rng = np.random.default_rng(1)
    matrices = np.tile(np.eye(4), (6, 2, 1, 1))
    matrices[:, :, :3, :3] = sbs.rotations.matrices_from_quaternions(rng.normal(size=(6, 1, 4)))
    matrices[:, :, :3, 3] = rng.normal(size=(6, 1, 3))
    found = Gauge(character).pops(matrices, character.skin.deform_many(matrices))
    assert found["largest"].shape == found["high"].shape == (4,)
    assert found["jump"].shape == (3,)
    assert max(values.max() for values in found.values()) < 1e-14


def test_twisting_through_half_a_turn_pops_unless_it_is_linear() -> None:
    """From 179.5 to 180.5 degrees the short way round changes sides.

    A vertex of weights (1 - w, w) that was turned by w 179.5 degrees then is by -w 179.5: where weights are equal it
    jumps to the other side, by two radii. The size is sqrt(6^2 + 2^2 + 2^2).
    """
    character = arm()
    gauge = Gauge(character)
    path = np.stack([turned(character, "fore", [1, 0, 0], degrees) for degrees in np.arange(175.5, 185)])
    found = {
        method: gauge.pops(path, character.skin.deform_many(path, method=method))["jump"]
        for method in ("linear", "spherical", "dual_quaternion")
    }
    assert found["linear"].max() < 1e-12
    for method in ("spherical", "dual_quaternion"):
        assert found[method].argmax() == 3  # the steps from 1 to 7; the pop is step 4
        assert found[method].max() == pytest.approx(2 / np.sqrt(44), rel=0.03)  # steps of a degree move it by 0.017


def test_joints_that_vanish_leave_paths_as_they_are() -> None:
    character = arm()
    path = np.stack([turned(character, "fore", [1, 0, 0], degrees) for degrees in (0, 1, 2, 3)])
    path[2, 1, :3, :3] = 0
    found = Gauge(character).pops(path, character.skin.deform_many(path, method="linear"))
    assert np.isfinite(found["largest"]).all()
