# SPDX-License-Identifier: MIT
"""Normals of skin that covers a muscle, beside those of the surface that it forms, on skin that is fine and smooth."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import sbs
from sbs import muscles, rotations

Floats = NDArray[np.float64]

RINGS, SIDES = 360, 180


def grid_normals(positions: Floats) -> Floats:
    """Of a surface (rings, sides, 3) that is closed around: by differences from point to point, of second order."""
    along = np.gradient(positions, axis=0, edge_order=2)
    around = np.roll(positions, -1, axis=1) - np.roll(positions, 1, axis=1)
    across = np.cross(around, along)
    return np.asarray(across / np.linalg.norm(across, axis=2, keepdims=True))


def angles(normals: Floats, others: Floats) -> Floats:
    return np.asarray(np.degrees(np.arccos(np.clip((normals * others).sum(axis=1), -1, 1))))


def limb() -> sbs.Character:
    """A limb from x = -5 to 5 with a joint in the middle; beside its axis, oval, and thicker at one end."""
    x, angle = np.linspace(-5, 5, RINGS)[:, None], 2 * np.pi * np.arange(SIDES) / SIDES
    radius = 1.7 + 0.05 * x
    rest = np.stack(
        np.broadcast_arrays(x, radius * np.cos(angle) + 0.25, 0.9 * radius * np.sin(angle) + 0.1 * np.cos(0.4 * x)), -1
    )
    ring, side = np.meshgrid(np.arange(RINGS - 1), np.arange(SIDES), indexing="ij")
    here, beside = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
    triangles = np.concatenate(
        [np.stack([here, beside, here + SIDES], -1), np.stack([beside, beside + SIDES, here + SIDES], -1)]
    )
    share = np.broadcast_to(0.5 + 0.5 * np.tanh(x / 2), (RINGS, SIDES)).ravel()
    bind = np.tile(np.eye(4), (2, 1, 1))
    bind[0, 0, 3] = -5
    mesh = sbs.Mesh(
        positions=rest.reshape(-1, 3).astype(np.float32),
        triangles=triangles.reshape(-1, 3).astype(np.int32),
        joint_indices=np.tile(np.array([0, 1], np.int32), (RINGS * SIDES, 1)),
        joint_weights=np.stack([1 - share, share], -1),
        normals=grid_normals(rest).reshape(-1, 3).astype(np.float32),
    )
    return sbs.Character.from_mesh(mesh, sbs.Skeleton([-1, 0], bind, names=["upper", "lower"]))


@pytest.mark.parametrize("flattening", [1.0, 1.3])
@pytest.mark.parametrize("profile", [(), (0.3, 0.7, 1.0, 0.8, 0.3)], ids=["spindle", "profile"])
@pytest.mark.parametrize(("bend", "activation"), [(0.0, 1.0), (40.0, 0.0), (40.0, 1.0), (-40.0, 0.5)])
def test_normals_are_those_of_the_surface(
    profile: tuple[float, ...], flattening: float, bend: float, activation: float
) -> None:
    """In degrees, where skin moves: most of the error of normals that are left as they are goes.

    Skin of a bent limb is stretched and slides along the muscle, while the slopes of shares and distances on it are
    those at bind: so some remains.
    """
    character = limb()
    muscle = muscles.Muscle(
        name="one",
        joints=("upper", "upper", "lower"),
        points=((-4.5, 0.0, 0.0), (0.0, 0.3, 0.3), (4.5, 0.0, 0.0)),
        radius=0.9,
        reach=3.0,
        tendons=(0.05, 0.05),
        contraction=0.4,
        profile=profile,
        flattening=flattening,
        thin_direction=(0.0, 1.0, 0.2),
    )
    cover = muscles.bind(character, [muscle])
    local = np.stack([np.eye(3), rotations.matrices_from_axis_angle([0, 0, 1], bend, degrees=True)])
    matrices = character.skinning_matrices(local)
    before = np.asarray(character.skin.deform(matrices), np.float64)
    after, normals = before.copy(), grid_normals(before.reshape(RINGS, SIDES, 3)).reshape(-1, 3)
    left = normals.copy()
    cover.apply(after, matrices, normals=normals, activations=[activation])
    truth = grid_normals(after.reshape(RINGS, SIDES, 3)).reshape(-1, 3)
    moved = np.linalg.norm(after - before, axis=1) > 0
    found, kept = angles(normals, truth)[moved], angles(left, truth)[moved]
    assert len(found) > 50_000
    assert kept.mean() > 5
    assert found.mean() < (1 if bend == 0 else 3.5)
    assert found.mean() < 0.25 * kept.mean()
    assert np.percentile(found, 90) < 8
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-6)
    others = np.delete(np.arange(len(normals)), cover.skin_of(0).vertices)
    np.testing.assert_array_equal(normals[others], left[others])
