# SPDX-License-Identifier: MIT
"""No measure changes with seams, repaired weights, nor the size of a character; regions; triangles that cross."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np
import pytest
from measured import agree, close
from numpy.typing import ArrayLike, NDArray
from solids import CUBE, CUBE_FACES, arm, grid, taken_apart, turned

import sbs
import sbs.quality
from sbs import _core
from sbs.options import DeformOptions
from sbs.quality import Gauge, measures
from sbs.quality.surface import make_surface
from sbs.support.quantiles import weighted_quantiles

# -------------------------------------------------------------------------------------------------------------- welding


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
    np.testing.assert_array_equal(surface.surface_vertex[[0, 3, 6]], [0, 3, 0])
    np.testing.assert_array_equal(surface.kept[surface.surface_vertex[[1, 4, 7]]], [1, 4, 1])
    weights[3:6] = [0.3, 0.7]  # now it is the same, written otherwise
    assert len(np.unique(make_surface(points, triangles, joints, weights).surface_vertex[[0, 3, 6]])) == 1
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


# ------------------------------------------------------------------------------------------------ size, place and order


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


# -------------------------------------------------------------------------------------------------------------- regions


REST = np.tile(np.eye(4), (3, 1, 1))


def test_quantiles_count_by_weight() -> None:
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([1.0, 98.0, 1.0])
    np.testing.assert_array_equal(weighted_quantiles(values, weights, (0, 0.5, 0.985, 1)), [1, 1, 2, 3])


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

    motion = sbs.quality.MeasuredMotion("twist", ("",), matrices[None])
    linear = sbs.quality.chosen(["LBS"])
    alone = sbs.quality.evaluate(character, [motion], linear).results["twist", "LBS"]
    beside = sbs.quality.evaluate(character, [motion], linear | {"other": Named("other", {})})
    assert 1.2 * alone.value("edge", "low") < beside.results["twist", "LBS"].value("edge", "low")
    assert alone.value("thickness", "smallest") == beside.results["twist", "LBS"].value("thickness", "smallest")
    gauge = Gauge(character)
    shapes = [character.skin.deform(matrices, method="linear"), Elsewhere().deform(matrices)]
    assert np.count_nonzero(gauge.region(matrices, shapes)) > np.count_nonzero(gauge.region(matrices, shapes[:1]))


# ------------------------------------------------------------------------------------------------- triangles that cross


def gauge_of(points: NDArray[np.float64], triangles: NDArray[np.int32]) -> Gauge:
    """Of a mesh that follows one joint."""
    mesh = sbs.Mesh(points, triangles, np.zeros((len(points), 1), np.int32), np.ones((len(points), 1)))
    return Gauge(sbs.Character.from_mesh(mesh, sbs.Skeleton([-1], np.eye(4)[None])))


def two_sheets(apart: float) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """A sheet of 8 by 4 squares' lengths in the plane z = 0, and the same above it."""
    points, triangles = grid(8)
    return np.concatenate([points, points + np.array([0, 0, apart])]), np.concatenate(
        [triangles, triangles + len(points)]
    )


def all_pairs(points: NDArray[np.float64], triangles: NDArray[np.int32]) -> NDArray[np.bool_]:
    """By the signs of volumes: a side crosses a triangle if its ends are on both sides and it passes within."""
    corners = points[triangles]
    starts, ends = corners, np.roll(corners, -1, axis=1)

    def side_of(*corners: NDArray[np.float64]) -> NDArray[np.float64]:
        a, b, c, d = corners
        return np.asarray(np.sign(np.einsum("...i,...i->...", a - d, np.cross(b - d, c - d))))

    one, two = starts[:, None, :], ends[:, None, :]
    a, b, c = (corners[None, :, None, corner] for corner in range(3))
    sides = [side_of(one, two, *pair) for pair in ((a, b), (b, c), (c, a))]
    within = (sides[0] == sides[1]) & (sides[1] == sides[2])
    pierced = np.any((side_of(a, b, c, one) != side_of(a, b, c, two)) & within, axis=2)
    shared = np.any(triangles[:, None, :, None] == triangles[None, :, None, :], axis=(2, 3))
    crossing = (pierced | pierced.T) & ~shared
    return np.asarray(crossing.any(axis=1))


@pytest.mark.parametrize("count", [2, 40, 300])
def test_crossing_triangles_are_those_of_all_pairs(count: int) -> None:
    random = np.random.default_rng(count)
    points = (random.uniform(0, 1, (count, 1, 3)) + random.uniform(-0.15, 0.15, (count, 3, 3))).reshape(-1, 3)
    triangles = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    triangles[1::2, 0] = triangles[::2, 0]  # pairs share a vertex
    expected = all_pairs(points, triangles)
    np.testing.assert_array_equal(_core.triangles_crossing(points, triangles), expected)
    if count > 2:
        assert 0 < expected.sum() < count


def test_vertices_with_one_representative_are_one() -> None:
    points = np.array([[0, 0, 0], [4, 0, 0], [0, 3, 0], [0, 0, 0], [1, 1, -1], [1, 1, 1.0]])
    triangles = [[0, 1, 2], [3, 4, 5]]
    assert _core.triangles_crossing(points, triangles).all()
    assert not _core.triangles_crossing(points, triangles, representatives=_core.weld(points)).any()
    with pytest.raises(ValueError, match="representatives"):
        _core.triangles_crossing(points, triangles, representatives=[0, 1])


def test_a_sheet_that_is_pushed_through_another_crosses_where_it_passes() -> None:
    """The upper sheet is turned about its middle line: there one column of squares of each crosses the other."""
    points, triangles = two_sheets(0.5)
    gauge = gauge_of(points, triangles)
    count = len(points) // 2
    turned = points.copy()
    turned[count:, 2] = points[count:, 0] - 4.4
    crossing = gauge.crossing(turned)
    middle = points[triangles].mean(axis=1)[:, 0]
    assert set(np.unique(np.floor(middle[crossing]))) == {4.0}
    close(
        gauge.measure(np.eye(4)[None], turned)["crossing"],
        triangles=crossing.sum(),
        area=gauge.surface.areas[crossing].sum() / gauge.surface.areas.sum(),
    )
    assert not gauge.crossing(points).any()


def test_what_crosses_at_rest_does_not_count() -> None:
    points, triangles = two_sheets(0.5)
    points[len(points) // 2 :, 2] = points[len(points) // 2 :, 0] - 4.4
    gauge = gauge_of(points, triangles)
    close(gauge.measure(np.eye(4)[None], points * [1, 1, 2])["crossing"], triangles=0, area=0)
