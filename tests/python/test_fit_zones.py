# SPDX-License-Identifier: MIT
"""Zones of bones blending that are fitted: against a search by formulas of its own, in other poses, and bad input."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from surfaces import tube

import sbs
from sbs import poses
from sbs.quality import fit_zones, measures
from sbs.quality.surface import RestSurface, make_surface

SCALES = 0.75, 1.0, 1.5, 2.5


def arm(length: float = 3.0) -> sbs.Skeleton:
    """Upper arm, forearm and hand along x; the elbow is at the origin."""
    bind = np.tile(np.eye(4), (3, 1, 1))
    bind[:, 0, 3] = [-length, 0, length]
    return sbs.Skeleton([-1, 0, 1], bind, ["upper", "fore", "hand"])


def sleeve(rings: int = 33, radius: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    positions, triangles = tube(rings, 8, length=6.0, radius=radius)
    return positions - [3, 0, 0], triangles


def energies(rest: np.ndarray, posed: np.ndarray, triangles: np.ndarray) -> tuple[float, float]:
    """Triangle by triangle, and edge by edge: s1^2 + s2^2 + s1^-2 + s2^-2 - 4, and 3 l^2 / (A1 + A2) (angle)^2."""
    stretched = area = folded = 0.0
    beside: dict[frozenset[int], list[np.ndarray]] = {}
    for corners in triangles:
        sides, moved = ((points[corners[1:]] - points[corners[0]]).T for points in (rest, posed))
        own = float(np.linalg.norm(np.cross(*sides.T)) / 2)
        frame, _ = np.linalg.qr(sides)
        squares = np.linalg.svd(moved @ np.linalg.inv(frame.T @ sides), compute_uv=False) ** 2
        stretched += own * (squares.sum() + (1 / np.maximum(squares, 0.01)).sum() - 4)
        area += own
        for first, second in ((0, 1), (1, 2), (2, 0)):
            beside.setdefault(frozenset((corners[first], corners[second])), []).append(corners)
    for edge, pair in beside.items():
        if len(pair) < 2:
            continue
        one, other = edge
        length = np.linalg.norm(rest[one] - rest[other])
        areas = sum(np.linalg.norm(np.cross(*(rest[corners[1:]] - rest[corners[0]]))) / 2 for corners in pair)
        folded += float(3 * length**2 / areas) * (fold(posed, edge, pair) - fold(rest, edge, pair)) ** 2
    return stretched / area, folded


def fold(points: np.ndarray, edge: frozenset[int], pair: list[np.ndarray]) -> float:
    """The angle between two triangles; less than 0 where they open to the outside."""
    normals = [np.cross(*(points[corners[1:]] - points[corners[0]])) for corners in pair]
    unit = [normal / np.linalg.norm(normal) for normal in normals]
    (apex,) = set(pair[1].tolist()) - edge
    side = (points[apex] - points[min(edge)]) @ unit[0]
    return float(-np.sign(side) * np.arccos(np.clip(unit[0] @ unit[1], -1, 1)))


@pytest.mark.parametrize(("radius", "profile"), [(0.8, "linear"), (0.5, "smoothstep")])
def test_the_best_of_sixteen(radius: float, profile: Any) -> None:
    """The energies of all triangles that are in one of the zones, with all poses of the elbow worked out here."""
    rest, triangles = sleeve(radius=radius)
    skeleton = arm()
    ends = [min(scale * 1.2 * radius, 1.5) for scale in SCALES]
    tried = [
        sbs.bones_blending(skeleton, rest, joints=["fore"], t_min=-start, t_max=end, profile=profile)
        for start, end in product(ends, ends)
    ]
    between = np.any([(each.t > 0) & (each.t < 1) & (each.attachment == 1) for each in tried], axis=0)
    near = triangles[between[triangles].any(axis=1)]
    sums = []
    for each in tried:
        loss = 0.0
        for degrees in (45, 90, 120):
            local = poses.turned(skeleton, "fore", poses.axes(skeleton, 1)[0], degrees)
            matrices = skeleton.skinning_matrices(skeleton.forward(local))
            posed = each.skin().deform(matrices, **each.options)
            loss += sum(np.log(energy + 0.01) for energy in energies(rest, posed, near))
        sums.append(loss)
    best = tried[int(np.argmin(sums))]
    found = fit_zones(skeleton, rest, triangles, joints=["fore"], profile=profile)
    np.testing.assert_allclose([found.t_min[1], found.t_max[1]], [best.t_min[1], best.t_max[1]], rtol=1e-12)
    assert sorted(sums)[1] > min(sums) + 1e-3
    np.testing.assert_array_equal(found.t, best.t)


def losses(surface: RestSurface, positions: np.ndarray) -> list[float]:
    points = positions[surface.kept].astype(np.float64)
    stretched = np.average(measures.surface_energies(surface, points), weights=surface.areas)
    return [float(stretched), measures.bending_energy(surface, points), float(measures.tears(surface, points).mean())]


@pytest.mark.parametrize("name", ["hand", "woman"])
def test_is_better_in_poses_that_it_has_not_seen(name: Any) -> None:
    """Bent by other angles, bent aside and twisted: less stretched, torn and folded at nearly every joint."""
    character = sbs.samples.load(name)
    mesh, skeleton = character.mesh, character.skeleton
    rest = mesh.positions.astype(np.float64)
    influences = mesh.joint_indices, mesh.joint_weights
    both = (
        fit_zones(skeleton, rest, mesh.triangles, influences=influences),
        sbs.bones_blending(skeleton, rest, influences=influences),
    )
    ratios = []
    for joint in np.flatnonzero(np.isfinite(both[0].t_min)).tolist():
        between = np.any([(each.attachment == joint) & (each.t > 0) & (each.t < 1) for each in both], axis=0)
        if between.sum() < 8:
            continue
        used, corners = np.unique(mesh.triangles[between[mesh.triangles].any(axis=1)], return_inverse=True)
        surface = make_surface(rest[used], corners.reshape(-1, 3))
        bend, twist = poses.axes(skeleton, joint)
        turns = (bend, 60), (bend, 105), (np.cross(bend, twist), 60), (twist, 90)
        local = np.stack([poses.turned(skeleton, joint, axis, degrees) for axis, degrees in turns])
        matrices = skeleton.skinning_matrices(skeleton.forward(local))
        new, old = (
            np.array([losses(surface, points) for points in each.skin().deform_many(matrices, **each.options)[:, used]])
            for each in both
        )
        ratios.append(np.log((new + 0.01) / (old + 0.01)).mean(axis=0))
    means = np.exp(np.mean(ratios, axis=0))
    assert (means < [0.9, 0.9, 0.97]).all()
    assert (np.exp(np.mean(ratios, axis=1)) > 1.05).mean() < 0.1


def test_left_and_right_are_alike() -> None:
    woman = sbs.samples.load("woman")
    mesh = woman.mesh
    found = fit_zones(
        woman.skeleton, mesh.positions, mesh.triangles, influences=(mesh.joint_indices, mesh.joint_weights)
    )
    for name in ("Arm", "ForeArm", "UpLeg", "Leg"):
        left, right = (woman.skeleton.index(side + name) for side in ("Left", "Right"))
        ends = found.t_min[left], found.t_max[left]
        np.testing.assert_allclose(ends, [found.t_min[right], found.t_max[right]], rtol=1e-2)


def test_ends_that_are_given_stay() -> None:
    rest, triangles = sleeve()
    default = sbs.bones_blending(arm(), rest)
    both = fit_zones(arm(), rest, triangles, t_min=-0.3, t_max=0.4)
    np.testing.assert_array_equal(both.t, sbs.bones_blending(arm(), rest, t_min=-0.3, t_max=0.4).t)
    one = fit_zones(arm(), rest, triangles, t_min=[np.nan, -0.3, np.nan])
    assert one.t_min[1] == -0.3
    scales = one.t_max[1:] / default.t_max[1:]
    np.testing.assert_allclose(scales, [min(SCALES, key=lambda scale: abs(scale - found)) for found in scales])


def test_seams_are_closed() -> None:
    """Vertices of its own for each triangle: the folds are those of the surface without seams."""
    rest, triangles = sleeve()
    joined = fit_zones(arm(), rest, triangles, joints=["fore"])
    torn = fit_zones(arm(), rest[triangles.ravel()], np.arange(triangles.size).reshape(-1, 3), joints=["fore"])
    np.testing.assert_allclose([torn.t_min[1], torn.t_max[1]], [joined.t_min[1], joined.t_max[1]], rtol=0.05)


def test_where_there_is_no_surface_zones_are_the_default() -> None:
    rest, _ = sleeve()
    found = fit_zones(arm(), rest, np.empty((0, 3), np.int32))
    default = sbs.bones_blending(arm(), rest)
    np.testing.assert_array_equal(found.t_min, default.t_min)
    np.testing.assert_array_equal(found.t, default.t)
    flat = fit_zones(arm(), rest, [[0, 0, 1]])
    np.testing.assert_array_equal(flat.t, default.t)


def test_vertices_that_follow_nothing() -> None:
    rest, triangles = sleeve()
    attachment = sbs.bones_blending(arm(), rest).attachment.copy()
    attachment[0] = -1
    found = fit_zones(arm(), rest, triangles, attachment=attachment)
    assert found.attachment[0] == -1
    with pytest.warns(sbs.WeightWarning, match="1 with no weights"):
        found.skin()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"triangles": [[0, 1]]}, ValueError, r"triangles has shape \(1, 2\)"),
        ({"triangles": [[0, 1, 999999]]}, ValueError, "999999"),
        ({"triangles": [[0.0, 1.0, 2.0]]}, TypeError, "triangles"),
        ({"joints": ["tail"]}, KeyError, "tail"),
        ({"joints": ["upper"]}, ValueError, "'upper' has no parent"),
        ({"profile": "cubic"}, ValueError, "cubic"),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], message: str) -> None:
    rest, triangles = sleeve()
    with pytest.raises(error, match=message):
        fit_zones(arm(), rest, **{"triangles": triangles, **options})
