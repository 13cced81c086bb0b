# SPDX-License-Identifier: MIT
"""Subdivision near joints, and curvature: a surface stays, attributes of new vertices, angles known beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from characters import DATA
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from surfaces import torn, tube

import sbs
from sbs import mesh, weights
from sbs.mesh import Subdivision, curvature, subdivide
from sbs.weights.subdivision import Scheme

SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
SQUARE_TRIANGLES = np.array([[0, 1, 2], [1, 3, 2]])


@pytest.fixture(scope="module")
def woman() -> sbs.Character:
    with resources.as_file(resources.files("sbs.characters") / "data" / "woman.glb") as path:
        return sbs.load(path)


def by_place(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Triangles whose corners are numbers of places."""
    places: np.ndarray = np.unique(positions, axis=0, return_inverse=True)[1].reshape(-1)[triangles]
    return places


def triangle_sides(triangles: np.ndarray) -> np.ndarray:
    return triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)


def euler_characteristic(places: np.ndarray) -> int:
    edges = np.unique(np.sort(triangle_sides(places), axis=1), axis=0)
    return len(np.unique(places)) - len(edges) + len(places)


def assert_closed(places: np.ndarray) -> None:
    """Every side meets one of the other direction: a vertex in the middle of an edge would leave three that don't."""
    there = np.unique(triangle_sides(places), axis=0)
    assert len(there) == 3 * len(places)
    back = np.unique(there[:, ::-1], axis=0)
    np.testing.assert_array_equal(there, back)


def vector_areas(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = np.moveaxis(positions[triangles], 1, 0)
    return np.cross(b - a, c - a) / 2


def assert_same_surface(positions: np.ndarray, triangles: np.ndarray, fine: Subdivision) -> None:
    """The parts of each triangle lie in it, wound alike, and add up to it."""
    new = fine.interpolate(positions)
    np.testing.assert_array_equal(new[: len(positions)], positions)
    before, parts = vector_areas(positions, triangles), vector_areas(new, fine.triangles)
    sums = np.zeros_like(before)
    np.add.at(sums, fine.sources, parts)
    size = np.ptp(positions, axis=0).max()
    np.testing.assert_allclose(sums, before, rtol=0, atol=1e-14 * size**2)  # a few roundings of double
    areas = np.zeros(len(before))
    np.add.at(areas, fine.sources, np.linalg.norm(parts, axis=1))
    np.testing.assert_allclose(areas, np.linalg.norm(before, axis=1), rtol=0, atol=1e-14 * size**2)
    assert (np.diff(fine.sources) >= 0).all()


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    share=st.floats(0.02, 1),
    scheme=st.sampled_from(["1:3", "1:4"]),
    levels=st.integers(1, 3),
    seams=st.booleans(),
)
def test_a_closed_surface_stays_closed_and_the_same(
    seed: int, share: float, scheme: Scheme, levels: int, seams: bool
) -> None:
    positions, triangles = tube(5, 6)
    if seams:
        positions, triangles = torn(positions, triangles)
    chosen = np.random.default_rng(seed).random(len(triangles)) < share
    fine = subdivide(positions, triangles, chosen, scheme=scheme, levels=levels)
    places = by_place(fine.interpolate(positions), fine.triangles)
    assert_closed(places)
    assert euler_characteristic(places) == 2
    assert_same_surface(positions, triangles, fine)
    counts = np.bincount(fine.sources, minlength=len(triangles))
    assert (counts[chosen] == (3 if scheme == "1:3" else 4) ** levels).all() or (scheme == "1:4" and levels > 1)
    assert (counts[chosen] >= (3 if scheme == "1:3" else 4) ** levels).all()
    if scheme == "1:3":
        assert (counts[~chosen] == 1).all()
    np.testing.assert_allclose(fine.shares.sum(axis=1), 1, rtol=0, atol=4e-16)
    assert (fine.shares >= 0).all()
    # each new vertex is a point of a triangle that it is a corner of
    for column in range(3):
        new = fine.triangles[:, column] >= fine.vertex_count
        rows = fine.triangles[new, column] - fine.vertex_count
        corners = triangles[fine.sources[new]]
        assert (np.equal(fine.parents[rows][:, :, None], corners[:, None, :]).any(axis=2)).all()


@pytest.mark.parametrize("scheme", ["1:3", "1:4"])
def test_all_triangles_of_a_tetrahedron(scheme: Scheme) -> None:
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    fine = subdivide(positions, triangles, np.ones(4, bool), scheme=scheme, levels=2)
    assert len(fine.triangles) == 4 * (9 if scheme == "1:3" else 16)
    assert len(fine.parents) == (4 * 4 if scheme == "1:3" else 6 * 3 + 4 * 3)
    assert_closed(fine.triangles)


@pytest.mark.parametrize("name", ["wolf_quaternius", "rat_quaternius", "arnaud_ozz"])
def test_seams_of_characters_stay_closed(name: str) -> None:
    with np.load(DATA / f"{name}.npz") as file:
        positions, triangles = file["rest_positions"].astype(np.float32), file["triangles"]
        joint_indices, joint_weights = file["joint_indices"], file["joint_weights"]

    def border(points: np.ndarray, faces: np.ndarray) -> float:
        """Length of the edges that have one triangle only."""
        places = np.sort(triangle_sides(by_place(points, faces)), axis=1)
        _, first, uses = np.unique(places, axis=0, return_index=True, return_counts=True)
        ends = points.astype(np.float64)[triangle_sides(faces)[first[uses == 1]]]
        return float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).sum())

    attached = mesh.heaviest_joints(joint_indices, joint_weights)
    joints, counts = np.unique(attached, return_counts=True)
    chosen = mesh.connected_triangles(triangles, attached, joints[np.argsort(counts)[-4:]])
    assert 0 < chosen.sum() < len(triangles)
    fine = subdivide(positions, triangles, chosen, levels=2)
    new = fine.interpolate(positions)
    assert new.dtype == np.float32
    # a seam that opened would double its length here; rounding of float32 moves middles by 1e-7
    assert border(new, fine.triangles) == pytest.approx(border(positions, triangles), rel=1e-5)

    # vertices at one point have one set of weights, to the last bit
    influences = fine.influences(joint_indices, joint_weights)
    alike = sbs.weights.Influences(*influences)
    place = np.unique(new, axis=0, return_inverse=True)[1].reshape(-1)
    first = np.unique(place, return_index=True)[1][place]
    added = np.flatnonzero((first >= fine.vertex_count) & (first != np.arange(len(new))))
    same = (alike.joint_indices[added] == alike.joint_indices[first[added]]).all(axis=1)
    same &= (alike.joint_weights[added] == alike.joint_weights[first[added]]).all(axis=1)
    assert same.all()


def test_weights_are_means_and_old_ones_stay() -> None:
    joint_indices = np.array([[0, 1], [1, 0], [2, 0], [3, 1]], np.int32)
    joint_weights = np.array([[0.75, 0.25], [1, 0], [2, 2], [0.5, 0.5]], np.float32)  # the third does not sum to 1
    fine = subdivide(SQUARE, SQUARE_TRIANGLES, [True, False], scheme="1:4")
    made = fine.influences(joint_indices, joint_weights)
    assert made.joint_weights.dtype == np.float32
    np.testing.assert_array_equal(made.joint_weights[:4, :2], joint_weights)
    old = weights.to_dense(joint_indices, joint_weights, 4)
    old /= old.sum(axis=1, keepdims=True)
    expected = np.einsum("nk,nkj->nj", fine.shares, old[fine.parents])
    np.testing.assert_allclose(weights.to_dense(*made, 4)[4:], expected, rtol=0, atol=1e-7)  # float32
    assert (np.diff(made.joint_weights[4:], axis=1) <= 0).all()


def test_normals_have_unit_length_and_other_attributes_are_linear() -> None:
    fine = subdivide(SQUARE, SQUARE_TRIANGLES, [True, False], scheme="1:3")
    normals = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 2]], np.float32)
    np.testing.assert_allclose(fine.normals(normals)[4], np.full(3, 3**-0.5), atol=1e-7)
    np.testing.assert_array_equal(fine.normals(np.zeros((4, 3)))[4], 0)
    np.testing.assert_allclose(fine.interpolate([0, 3, 6, 9])[4], 3, rtol=1e-15)
    colors = np.arange(4 * 2 * 3.0).reshape(4, 2, 3)
    assert fine.interpolate(colors).shape == (5, 2, 3)
    np.testing.assert_array_equal(fine.attachment([7, 5, 5, 9]), [7, 5, 5, 9, 5])
    np.testing.assert_array_equal(fine.attachment([7, 6, 5, 9])[4], 5)  # a tie


def test_attachment_is_of_the_heaviest_joint() -> None:
    indices = [[0, 1, 1], [2, 1, 0], [3, 2, 0], [0, 0, 0]]
    given = np.array([[0.4, 0.3, 0.3], [0.5, 0.5, 0], [np.nan, 0.1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(mesh.heaviest_joints(indices, given), [1, 1, 2, -1])
    with pytest.raises(ValueError, match=r"joint_indices has shape \(2, 1\), joint_weights \(1, 2\)"):
        mesh.heaviest_joints([[0], [1]], [[1, 0]])


def test_near_a_joint_of_a_character(woman: sbs.Character, tmp_path: Path) -> None:
    fine = mesh.subdivide_near_joints(woman, ["LeftForeArm", woman.skeleton.index("LeftArm")])
    count = len(woman.mesh.positions)
    chosen = mesh.triangles_near_joints(woman, ["LeftForeArm", "LeftArm"])
    assert len(fine.mesh.triangles) > len(woman.mesh.triangles) + 3 * chosen.sum()
    np.testing.assert_array_equal(fine.mesh.positions[:count], woman.mesh.positions)
    assert_closed(fine.mesh.triangles)
    assert euler_characteristic(fine.mesh.triangles) == euler_characteristic(woman.mesh.triangles)
    assert fine.mesh.normals is not None
    np.testing.assert_allclose(np.linalg.norm(fine.mesh.normals[count:], axis=1), 1, rtol=0, atol=2e-7)
    # a new vertex with weights that are means, deformed linearly, is not far from between its parents
    assert not any((fine.skin.weight_report.nan, fine.skin.weight_report.off_sum, fine.skin.weight_report.unweighted))
    fine.save(tmp_path / "fine.glb")
    np.testing.assert_array_equal(sbs.load(tmp_path / "fine.glb").mesh.triangles, fine.mesh.triangles)


def test_parts_of_connected_triangles_are_connected(woman: sbs.Character) -> None:
    """So that levels that go on with the parts follow the definition."""
    joint = woman.skeleton.index("LeftForeArm")
    chosen = mesh.triangles_near_joints(woman, [joint])
    fine = subdivide(woman.mesh.positions, woman.mesh.triangles, chosen)
    attached = mesh.heaviest_joints(*fine.influences(woman.mesh.joint_indices, woman.mesh.joint_weights))
    np.testing.assert_array_equal(mesh.connected_triangles(fine.triangles, attached, joint), chosen[fine.sources])


def test_degenerate_triangles_and_loose_vertices() -> None:
    positions = np.array([*SQUARE, [1, 0, 0], [7, 7, 7]])
    triangles = np.array([[0, 1, 2], [1, 3, 2], [1, 4, 3], [2, 2, 2]])
    fine = subdivide(positions, triangles, np.ones(4, bool), scheme="1:4")
    places = by_place(fine.interpolate(positions), fine.triangles)
    proper = places[[len(set(row)) == 3 for row in places]]
    assert len(proper) == 8
    edges = np.unique(np.sort(triangle_sides(proper), axis=1), axis=0, return_counts=True)[1]
    assert sorted(set(edges)) == [1, 2]
    assert not np.isin(fine.triangles, 5).any()
    assert not np.isin(fine.parents, 5).any()


def test_bad_input(woman: sbs.Character) -> None:
    usual: dict[str, Any] = {"positions": SQUARE, "triangles": SQUARE_TRIANGLES, "chosen": [True, False]}
    fine = subdivide(**usual)
    flat = strip()

    def bent(**options: Any) -> sbs.Character:
        return mesh.subdivide_bent(flat, lambda character: folded(character, 90), **options)

    cases: list[tuple[Callable[..., object], dict[str, Any], str]] = [
        (subdivide, usual | {"chosen": [True]}, "chosen"),
        (subdivide, usual | {"chosen": [1, 0]}, "chosen"),
        (subdivide, usual | {"triangles": [[0, 1, 9], [0, 1, 2]]}, r"triangles\[0, 2\] = 9"),
        (subdivide, usual | {"positions": SQUARE * np.nan}, r"positions\[0, 0\] is nan"),
        (subdivide, usual | {"scheme": "1:5"}, "scheme"),
        (subdivide, usual | {"levels": 0}, "levels"),
        (subdivide, usual | {"levels": 40}, "levels"),
        (fine.interpolate, {"values": [1, 2, 3]}, "values"),
        (fine.influences, {"joint_indices": np.zeros((4, 1), int), "joint_weights": np.ones((4, 2))}, "joint_weights"),
        (mesh.subdivide_near_joints, {"character": woman, "joints": ["Tail"]}, "'Tail'"),
        (mesh.subdivide_near_joints, {"character": woman, "joints": [31]}, "joint 31"),
        (
            mesh.subdivide_near_joints,
            {"character": woman, "joints": ["Hips", "LeftArm"], "attachment": np.zeros(13380, int)},
            "'LeftArm'",
        ),
        (mesh.subdivide_near_joints, {"character": woman, "joints": ["LeftArm"], "attachment": [0, 1]}, "attachment"),
        (bent, {"degrees": -1.0}, "degrees"),
        (bent, {"degrees": np.nan}, "degrees"),
        (bent, {"levels": 0}, "levels"),
        (bent, {"scheme": "1:5"}, "1:5"),
    ]
    for call, options, text in cases:
        with pytest.raises((ValueError, TypeError, KeyError), match=text):
            call(**options)
    with pytest.raises(ValueError, match="positions"):
        mesh.subdivide_bent(flat, lambda character: folded(character, 90)[:, :2])


# ------------------------------------------------------------------------------------------------ where poses need it


def strip(columns: int = 6) -> sbs.Character:
    """Squares along x in two rows, each cut in two, about a joint at the middle."""
    x, y = np.meshgrid(np.arange(columns + 1.0) - columns / 2, [0.0, 1.0, 2.0], indexing="ij")
    positions = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corners = 3 * np.arange(columns)[:, None] + [0, 1]
    a = corners.ravel()
    triangles = np.concatenate([np.stack([a, a + 3, a + 4], axis=1), np.stack([a, a + 4, a + 1], axis=1)])
    indices, weights = np.zeros((len(positions), 1), np.int32), np.ones((len(positions), 1))
    mesh = sbs.Mesh(positions, triangles.astype(np.int32), indices, weights)
    return sbs.Character.from_mesh(mesh, sbs.Skeleton([-1], np.eye(4)[None]))


def folded(character: sbs.Character, *degrees: float) -> np.ndarray:
    """Frames in which the half beyond x = 0 is turned up about y."""
    frames = []
    for angle in np.radians(degrees):
        points = np.array(character.mesh.positions)
        beyond = points[:, 0] > 0
        points[beyond] = points[beyond, :1] * [np.cos(angle), 0, np.sin(angle)] + points[beyond] * [0, 1, 0]
        frames.append(points)
    return np.stack(frames)


def test_only_what_a_pose_curves_is_divided() -> None:
    """Of each row one triangle at both sides of the fold has an edge on it, and after a level two of its four parts."""
    flat = strip()
    once = mesh.subdivide_bent(flat, lambda character: folded(character, 10, 30), degrees=20, levels=1)
    expected = mesh.subdivide(
        flat.mesh.positions,
        flat.mesh.triangles,
        mesh.curvature(folded(flat, 30)[0], flat.mesh.triangles) > 0.1,
    )
    np.testing.assert_array_equal(once.mesh.triangles, expected.triangles)
    assert (mesh.curvature(folded(flat, 30)[0], flat.mesh.triangles) > 0.1).sum() == 4
    twice = mesh.subdivide_bent(flat, lambda character: folded(character, 30), degrees=20, levels=2)
    places = twice.mesh.positions[:, 0]
    assert np.sort(np.abs(places[places != 0])).min() == 0.25
    assert not ((np.abs(places) > 1) & (np.abs(places) % 1 != 0)).any()
    assert np.sort(twice.mesh.positions[places == 0, 1]).tolist() == np.arange(0, 2.25, 0.25).tolist()


@pytest.mark.parametrize("degrees", [30.1, 180])
def test_what_bends_less_stays(degrees: float) -> None:
    flat = strip()
    same = mesh.subdivide_bent(flat, lambda character: folded(character, 30), degrees=degrees)
    np.testing.assert_array_equal(same.mesh.triangles, flat.mesh.triangles)
    np.testing.assert_array_equal(same.mesh.positions, flat.mesh.positions)


def test_what_is_creased_at_rest_is_not_bent() -> None:
    flat = strip()
    creased = flat.with_mesh(replace(flat.mesh, positions=folded(flat, 40)[0]))
    same = mesh.subdivide_bent(creased, lambda character: np.asarray(character.mesh.positions)[None], degrees=1)
    assert len(same.mesh.triangles) == len(flat.mesh.triangles)


# ------------------------------------------------------------------------------------------------------------ curvature


def slow_curvature(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Of a closed surface, triangle by triangle, neighbors found by comparing all corners."""
    corners = [[tuple(point) for point in positions[triangle]] for triangle in triangles]
    result = np.zeros(len(triangles))
    for i, mine in enumerate(corners):
        for j, theirs in enumerate(corners):
            if i != j and len(set(mine) & set(theirs)) == 2:
                normals = [np.cross(np.subtract(b, a), np.subtract(c, a)) for a, b, c in (mine, theirs)]
                cosine = normals[0] @ normals[1] / np.prod(np.linalg.norm(normals, axis=1))
                result[i] = max(result[i], np.arccos(np.clip(cosine, -1, 1)))
    return result


@pytest.mark.parametrize("seams", [False, True])
def test_curvature_of_a_dented_tube(seams: bool) -> None:
    positions, triangles = tube(5, 6)
    dented = positions + 0.1 * np.random.default_rng(1).normal(size=positions.shape)
    expected = slow_curvature(dented, triangles)
    if seams:
        positions = positions[triangles.ravel()]
        dented, triangles = torn(dented, triangles)
    found = curvature(dented, triangles, rest_positions=positions)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)  # arccos loses digits of small angles
    np.testing.assert_array_equal(curvature(np.stack([positions, dented]), triangles)[1], found)


def test_curvature_of_a_cube() -> None:
    positions = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    squares = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = np.array([[a, b, c] for a, b, c, d in squares] + [[a, c, d] for a, b, c, d in squares])
    np.testing.assert_allclose(curvature(positions, triangles), np.pi / 2, rtol=1e-15)
    fine = subdivide(positions, triangles, np.ones(12, bool), levels=2)
    angles = np.degrees(curvature(fine.interpolate(positions), fine.triangles))
    assert set(angles.round(9)) == {0.0, 90.0}


def test_unmoved_seams_tell_neighbors_of_a_torn_surface() -> None:
    """Neighbors are found at rest: where deformation tears a seam apart, they still are."""
    positions, triangles = torn(
        np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), np.array([[0, 1, 2], [1, 3, 2]])
    )
    apart = positions.copy()
    apart[3:] = apart[3:] @ np.diag([1.0, 1.0, -1.0]) + [0, 0, 5]
    apart[4, 2] = 9
    assert curvature(apart, triangles).max() == 0
    assert (curvature(apart, triangles, rest_positions=positions) > 1).all()


def test_what_has_no_area_has_no_curvature() -> None:
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [2, 2, 1], [9, 9, 9]])
    triangles = np.array([[0, 1, 2], [1, 3, 2], [1, 4, 3]])  # the second has its corners on a line
    np.testing.assert_array_equal(curvature(positions, triangles), 0)


@pytest.mark.parametrize(
    ("positions", "triangles", "rest", "message"),
    [
        ([1, 2, 3], [[0, 1, 2]], None, r"positions.*\(3,\)"),
        (np.empty((0, 3, 3)), [[0, 1, 2]], None, "positions"),
        (np.eye(3), [[0, 1, 3]], None, r"triangles\[0, 2\] = 3"),
        (np.eye(3), [[0, 1, 2]], np.eye(3)[:2], "positions"),
        (np.eye(3) + np.inf, [[0, 1, 2]], np.eye(3), r"positions\[0, 0\] is inf"),
    ],
)
def test_bad_curvature(positions: ArrayLike, triangles: ArrayLike, rest: ArrayLike | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        curvature(positions, triangles, rest_positions=rest)
