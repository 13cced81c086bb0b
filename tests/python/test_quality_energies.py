# SPDX-License-Identifier: MIT
"""Energies of surfaces against answers by hand. All is float64; tolerances are some roundings of it, if not said."""

from __future__ import annotations

import numpy as np
import pytest
from measured import close
from solids import grid, tube

import sbs
from sbs.quality import Gauge, measures
from sbs.quality.surface import make_surface


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
