# SPDX-License-Identifier: MIT
"""Measures of quality against answers by hand. All is float64; tolerances are some roundings of it, if not said."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from solids import CUBE, CUBE_FACES, arm, block, grid, tube, turned

import sbs
import sbs.quality
from sbs.options import DeformOptions
from sbs.quality import Gauge, measures
from sbs.quality.caps import Parts, make_parts
from sbs.quality.gauge import Statistics
from sbs.quality.surface import make_surface

REST = np.tile(np.eye(4), (3, 1, 1))


def whole(triangles: ArrayLike) -> Parts:
    return make_parts(np.asarray(triangles, np.int32), np.zeros(len(np.asarray(triangles)), np.intp), 100)


def close(statistics: Statistics, **expected: float) -> None:
    assert {name: statistics[name] for name in expected} == pytest.approx(expected, rel=1e-12, abs=1e-12)


# ------------------------------------------------------------------------------------------------------------- volumes


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


def test_a_tube_is_closed_at_both_ends() -> None:
    points, triangles = tube(rings=5, sides=24, length=3)
    polygon = 24 * np.sin(np.pi / 24) * np.cos(np.pi / 24)
    parts = whole(triangles) if len(points) < 100 else make_parts(triangles, np.zeros(len(triangles), int), len(points))
    assert parts.volumes(points) == pytest.approx([3 * polygon], rel=1e-12)
    assert len(parts.label_of_tip) == 2


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


def test_a_cube_flattened() -> None:
    measured = Gauge(block()).measure(REST[:2], CUBE * [1, 1, 0])
    close(measured["volume"], smallest=0, largest=0)
    close(measured["area"], smallest=0, largest=1)
    close(measured["edge"], smallest=0, largest=1)


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


def test_tears_do_not_see_smooth_stretching() -> None:
    """A sheet stretched by 3 in one direction has one gradient."""
    points, triangles = grid(8)
    torn = measures.tears(make_surface(points, triangles), points * [3, 1, 1])
    np.testing.assert_allclose(torn, 0, atol=1e-12)


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


# -------------------------------------------------------------------------------------------------------------- welding


def taken_apart(character: sbs.Character) -> sbs.Character:
    """Every triangle with corners of its own."""
    mesh = character.mesh
    corners = mesh.triangles.reshape(-1)
    apart = sbs.Mesh(
        mesh.positions[corners],
        np.arange(len(corners), dtype=np.int32).reshape(-1, 3),
        mesh.joint_indices[corners],
        mesh.joint_weights[corners],
    )
    return sbs.Character.from_mesh(apart, character.skeleton)


def agree(one: dict[str, Statistics], other: dict[str, Statistics], *, rtol: float) -> None:
    assert one.keys() == other.keys()
    for measure in one:
        assert one[measure] == pytest.approx(other[measure], rel=rtol, abs=1e-9), measure


def test_seams_make_no_difference() -> None:
    character = arm(rings=31, sides=24)
    apart = taken_apart(character)
    matrices = turned(character, "fore", [0, 0, 1], 100)
    one, other = (Gauge(each).measure(matrices, each.skin.deform(matrices)) for each in (character, apart))
    agree(one, other, rtol=1e-9)
    assert len(Gauge(apart).surface.kept) == character.skin.vertex_count


def test_bodies_that_touch_are_not_welded_but_seams_that_open_are_told() -> None:
    points = np.concatenate([CUBE, CUBE - [1, 0, 0]])
    triangles = np.concatenate([CUBE_FACES, CUBE_FACES + 8])
    joints = np.repeat([0, 1], 8)[:, None].astype(np.int32)
    surface = make_surface(points, triangles, joints, np.ones((16, 1)))
    assert len(surface.kept) == 16
    assert len(make_surface(points, triangles).kept) == 12
    skeleton = sbs.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)), names=["a", "b"])
    mesh = sbs.Mesh(points, triangles, joints, np.ones((16, 1)))
    character = sbs.Character.from_mesh(mesh, skeleton)
    moved = points - np.where(np.arange(16)[:, None] < 8, 0, [0.3, 0, 0])
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, 0, 3] = -0.3
    measured = Gauge(character).measure(matrices, moved)
    close(measured["seam"], largest=0.3 / np.sqrt(6))
    close(measured["edge"], smallest=1, largest=1)


def test_three_vertices_at_a_point_with_two_kinds_of_weights() -> None:
    points = np.zeros((9, 3))
    points[[1, 4, 7]], points[[2, 5, 8]] = [1, 0, 0], [[0, 1, 0], [0, 0, 1], [0, -1, 0]]
    triangles = np.arange(9).reshape(3, 3)
    joints = np.array([[0, 1]] * 3 + [[1, 0]] * 3 + [[0, 1]] * 3)
    weights = np.tile([0.7, 0.3], (9, 1))  # the second one the other way round
    surface = make_surface(points, triangles, joints, weights)
    np.testing.assert_array_equal(surface.vertex_of[[0, 3, 6]], [0, 3, 0])
    np.testing.assert_array_equal(surface.kept[surface.vertex_of[[1, 4, 7]]], [1, 4, 1])
    weights[3:6] = [0.3, 0.7]  # now it is the same, written otherwise
    assert len(np.unique(make_surface(points, triangles, joints, weights).vertex_of[[0, 3, 6]])) == 1
    padded = np.pad(joints, ((0, 0), (0, 1))), np.pad(weights, ((0, 0), (0, 1)))
    assert len(make_surface(points, triangles, *padded).kept) == 5


def test_what_has_no_area_is_left_out() -> None:
    points, triangles = grid(4)
    points = np.concatenate([points, [[2.5, 0, 0]]])
    triangles = np.concatenate([triangles, [[0, 0, 5], [10, 15, len(points) - 1]]])
    surface = make_surface(points, triangles)
    assert surface.sliver_count == 2
    assert len(surface.triangles) == 2 * 4 * 4
    assert np.isfinite(measures.tears(surface, points)).all()


# ----------------------------------------------------------------------------------------------------------- statistics


def test_quantiles_count_by_weight() -> None:
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([1.0, 98.0, 1.0])
    np.testing.assert_array_equal(measures.weighted_quantiles(values, weights, (0, 0.5, 0.985, 1)), [1, 1, 2, 3])


def test_hundredths_are_of_what_deforms() -> None:
    """Ever longer upper arms take part in the extremes, not in the hundredths."""
    character = arm()
    gauge = Gauge(character)
    matrices = turned(character, "fore", [1, 0, 0], 90)
    deforming = character.mesh.positions[gauge.region(matrices, []), 0]
    assert np.abs(deforming).max() < 1
    assert gauge.region(REST, []).all()
    measured = gauge.measure(matrices, character.skin.deform(matrices, method="linear"))
    assert measured["thickness"]["low"] < 0.72
    assert measured["thickness"]["largest"] == pytest.approx(1, rel=1e-12)


def moved_elsewhere(character: sbs.Character) -> tuple[np.ndarray, np.ndarray]:
    """A method that squeezes a ring of the upper arm to a quarter, where the joints' weights blend nothing."""
    points = np.array(character.mesh.positions)
    ring = np.abs(points[:, 0] + 2) < 0.25
    points[ring, 1:] /= 4
    return points, ring


def test_a_method_that_deforms_elsewhere_is_measured_there() -> None:
    character = arm()
    gauge = Gauge(character)
    matrices = turned(character, "fore", [1, 0, 0], 1)
    points, ring = moved_elsewhere(character)
    points = np.where(ring[:, None], points, character.skin.deform(matrices, method="linear"))
    region = gauge.region(matrices, [points])
    assert region[ring].all()
    assert gauge.measure(matrices, points)["thickness"]["low"] == pytest.approx(0.25, rel=1e-9)


def test_hundredths_are_of_one_region_for_all_methods() -> None:
    """Beside one that moves the whole upper arm, hundredths of the others are of that, too; alone they are not."""
    character = arm()
    matrices = turned(character, "fore", [1, 0, 0], 170)

    class Elsewhere:
        def deform(self, _: ArrayLike, /, **_options: Unpack[DeformOptions]) -> np.ndarray:
            points = np.asarray(character.skin.deform(matrices, method="linear"))
            return np.where(points[:, :1] < -1, points + np.array([0, 0.1, 0]), points)

        def deform_many(self, many: ArrayLike, /, **_options: Unpack[DeformOptions]) -> np.ndarray:
            return np.stack([self.deform(each) for each in np.asarray(many)])

    class Named(sbs.quality.NamedMethod):
        def skin(self, _: sbs.Character) -> Elsewhere:
            return Elsewhere()

    motion = sbs.quality.Motion("twist", ("",), matrices[None])
    linear = sbs.quality.chosen(["LBS"])
    alone = sbs.quality.evaluate(character, [motion], linear).results["twist", "LBS"]
    beside = sbs.quality.evaluate(character, [motion], linear | {"other": Named("other", {})})
    assert 1.2 * alone.value("edge", "low") < beside.results["twist", "LBS"].value("edge", "low")
    assert alone.value("thickness", "smallest") == beside.results["twist", "LBS"].value("thickness", "smallest")
    gauge = Gauge(character)
    shapes = [character.skin.deform(matrices, method="linear"), Elsewhere().deform(matrices)]
    assert np.count_nonzero(gauge.region(matrices, shapes)) > np.count_nonzero(gauge.region(matrices, shapes[:1]))


@pytest.mark.parametrize("scale", [100.0, 0.01])
def test_a_character_whose_joints_are_scaled_is_measured_against_its_own_size(scale: float) -> None:
    """An armature of another scale than the mesh: in its bind pose nothing is lost or won."""
    character = arm(rings=25, sides=16)
    rig = character.rig
    local = np.array(rig.local_matrices)
    local[rig.joints[0]] = np.diag([scale, scale, scale, 1]) @ local[rig.joints[0]]
    scaled = replace(character, rig=replace(rig, local_matrices=local))
    gauge = Gauge(scaled)
    assert gauge.surface.size == pytest.approx(scale * Gauge(character).surface.size, rel=1e-12)
    bound = turned(scaled, "fore", [1, 0, 0], 0)
    measured = gauge.measure(bound, scaled.skin.deform(bound, method="linear"))
    for measure in ("volume", "limb_volume", "area", "edge", "thickness"):
        assert list(measured[measure].values()) == pytest.approx([1] * len(measured[measure]), rel=1e-9)
    results, pops = [], []
    for each in (character, scaled):
        path = np.stack([turned(each, "fore", [1, 0, 0], degrees) for degrees in np.arange(177.5, 183)])
        shapes = each.skin.deform_many(path)
        results.append(Gauge(each).measure(path[0], shapes[0]))
        pops.append(Gauge(each).pops(path, shapes)["jump"])
    agree(*results, rtol=1e-8)
    np.testing.assert_allclose(pops[0], pops[1], rtol=1e-8, atol=1e-12)


# ------------------------------------------------------------------------------------------------------------- energies


@pytest.mark.parametrize(
    ("scale", "energy"),
    [
        ([1, 1, 1], 0),
        ([2, 1, 1], 4 + 1 / 4 - 2),
        ([0.5, 1, 1], 4 + 1 / 4 - 2),
        ([2, 3, 1], 4 + 9 + 1 / 4 + 1 / 9 - 4),
        ([0, 1, 1], 0 + 100 - 2),  # what vanishes counts as a tenth
    ],
)
def test_surface_energy_of_a_stretched_sheet(scale: list[float], energy: float) -> None:
    points, triangles = grid(8)
    found = measures.surface_energies(make_surface(points, triangles), points * scale)
    np.testing.assert_allclose(found, energy, rtol=1e-12, atol=1e-12)


def test_surface_energy_of_a_shear_has_the_singular_values_of_the_shear() -> None:
    points, triangles = grid(8)
    stretches = np.linalg.svd(np.array([[1, 0.7], [0, 1]]), compute_uv=False)
    found = measures.surface_energies(make_surface(points, triangles), points @ [[1, 0, 0], [0.7, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(found, (stretches**2 + stretches**-2).sum() - 4, rtol=1e-12)


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
    points, triangles = tube(rings=241, sides=480)
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


def test_limbs_are_parts_with_volume() -> None:
    gauge = Gauge(arm())
    assert list(gauge.limbs) == [0, 1]
    points = gauge.surface.positions
    np.testing.assert_allclose(gauge.limb_volumes(points), 1, rtol=1e-15)
    np.testing.assert_allclose(gauge.limb_volumes(points * [1, 1, 0.5]), 0.5, rtol=1e-12)


def test_a_flat_mesh_has_no_volume_and_no_limbs() -> None:
    points, triangles = grid(4)
    mesh = sbs.Mesh(points, triangles, np.zeros((len(points), 1), np.int32), np.ones((len(points), 1)))
    character = sbs.Character.from_mesh(mesh, sbs.Skeleton([-1], np.eye(4)[None]))
    gauge = Gauge(character)
    assert len(gauge.limbs) == 0
    measured = gauge.measure(np.eye(4)[None], 2 * points)
    assert np.isnan([*measured["volume"].values(), *measured["limb_volume"].values()]).all()
    close(measured["area"], smallest=4, largest=4)


def test_vertices_without_weights_have_no_thickness_but_areas() -> None:
    mesh = replace(block().mesh, joint_weights=np.zeros((8, 1)))
    with pytest.warns(sbs.WeightWarning):
        character = sbs.Character.from_mesh(mesh, block().skeleton)
    measured = Gauge(character).measure(REST[:2], 2 * CUBE)
    assert np.isnan(list(measured["thickness"].values())).all()
    close(measured["area"], smallest=4, largest=4)
    path = np.tile(np.eye(4), (4, 2, 1, 1))
    assert Gauge(character).pops(path, np.tile(CUBE, (4, 1, 1)))["jump"].max() == 0


def test_bad_weights_count_as_the_skin_repairs_them() -> None:
    character = arm(rings=13, sides=12)
    indices = np.pad(character.mesh.joint_indices, ((0, 0), (0, 2)))
    weights = 0.5 * np.pad(character.mesh.joint_weights, ((0, 0), (0, 2)))
    indices[:, 2], weights[:, 2] = indices[:, 0], weights[:, 0]  # one joint twice
    weights[:, 3] = np.resize([np.nan, np.inf, -1], len(weights))
    weights[:, 1] *= 2
    with pytest.warns(sbs.WeightWarning):
        bad = sbs.Character.from_mesh(
            replace(character.mesh, joint_indices=indices, joint_weights=weights), character.skeleton
        )
    matrices = turned(character, "fore", [0, 0, 1], 100)
    one, other = (Gauge(each).measure(matrices, each.skin.deform(matrices)) for each in (character, bad))
    agree(one, other, rtol=1e-9)


def test_strain_is_1_where_areas_are_doubled_or_halved() -> None:
    points, triangles = grid(6)
    mesh = sbs.Mesh(points, triangles, np.zeros((len(points), 1), np.int32), np.ones((len(points), 1)))
    gauge = Gauge(sbs.Character.from_mesh(mesh, sbs.Skeleton([-1], np.eye(4)[None])))
    for scale in (2, 0.5):
        np.testing.assert_allclose(gauge.strain(points * [scale, 1, 1]), 1, rtol=1e-12)
    assert np.isfinite(gauge.strain(points * 0)).all()


# ---------------------------------------------------------------------------------------------------------- invariances


@settings(max_examples=15, deadline=None)
@given(
    quaternion=st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1),
    offset=st.tuples(*[st.floats(-5, 5)] * 3),
    degrees=st.floats(-160, 160),
)
def test_moving_all_changes_nothing(quaternion: tuple[float, ...], offset: tuple[float, ...], degrees: float) -> None:
    character = arm(rings=25, sides=16)
    gauge = Gauge(character)
    matrices = turned(character, "fore", [1, 2, 3], degrees)
    move = np.eye(4)
    move[:3, :3], move[:3, 3] = sbs.rotations.matrices_from_quaternions(quaternion), offset
    points = character.skin.deform(matrices, method="linear")
    moved = points @ move[:3, :3].T + move[:3, 3]
    agree(gauge.measure(matrices, points), gauge.measure(move @ matrices, moved), rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_scaling_all_changes_nothing(scale: float) -> None:
    character = arm(rings=25, sides=16)
    bind = np.array(character.skeleton.bind_matrices)
    bind[:, :3, 3] *= scale
    skeleton = sbs.Skeleton(character.skeleton.parents, bind, names=character.skeleton.names)
    scaled = sbs.Character.from_mesh(replace(character.mesh, positions=scale * character.mesh.positions), skeleton)
    poses = ((each, turned(each, "fore", [0, 0, 1], 110)) for each in (character, scaled))
    one, other = (Gauge(each).measure(matrices, each.skin.deform(matrices)) for each, matrices in poses)
    agree(one, other, rtol=1e-8)


def test_order_changes_nothing() -> None:
    character = arm(rings=25, sides=16)
    rng = np.random.default_rng(5)
    mesh, count = character.mesh, character.skin.vertex_count
    order = rng.permutation(count)
    place = np.argsort(order)
    triangles = place[rng.permutation(mesh.triangles)].astype(np.int32)
    turns = (np.arange(3) + rng.integers(0, 3, (len(triangles), 1))) % 3
    triangles = np.take_along_axis(triangles, turns, axis=1)
    shuffled = sbs.Character.from_mesh(
        sbs.Mesh(mesh.positions[order], triangles, mesh.joint_indices[order], mesh.joint_weights[order]),
        character.skeleton,
    )
    matrices = turned(character, "fore", [0, 0, 1], 110)
    one, other = (Gauge(each).measure(matrices, each.skin.deform(matrices)) for each in (character, shuffled))
    agree(one, other, rtol=1e-8)


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
