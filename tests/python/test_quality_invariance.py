# SPDX-License-Identifier: MIT
"""No measure changes with seams, repaired weights, nor with the place, size and order of a character."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measured import agree, close
from solids import CUBE, CUBE_FACES, arm, grid, taken_apart, turned

import sbs
from sbs.quality import Gauge, measures
from sbs.quality.surface import make_surface

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


@settings(max_examples=15)
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
