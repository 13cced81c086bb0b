# SPDX-License-Identifier: MIT
"""One muscle, as it is described."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Muscle", "Point", "as_point"]

Point = tuple[float, float, float]


def as_point(numbers: Iterable[float]) -> Point:
    """Three numbers as a point."""
    x, y, z = map(float, numbers)
    return x, y, z


@dataclass(frozen=True)
class Muscle:
    """A belly between two tendons, along a path over joints. Lengths are in the unit of the mesh, places in bind space.

    Attributes
    ----------
    name : str
    joints : tuple of 2 to 4 str
        The joint that each point of the path moves with; origin first, insertion last.
    points : tuple of 2 to 4 (x, y, z)
        The path at bind: the Bezier curve of these points. It begins at the first and ends at the last, and is drawn
        towards those between.
    radius : float
        The largest of the belly at bind.
    reach : float
        How far from the muscle's surface skin is moved: with all of the movement up to half of it, then with less.
    side : {"left", "right", ""}
        Of the body.
    tendons : (float, float)
        Which shares of the path at bind are tendon, at origin and insertion. Tendons keep their length.
    profile : tuple of float
        Radii at equal steps along the belly, as shares of the largest. Empty: a spindle.
    flattening : float
        How many times wider than thick the belly is.
    thin_direction : (x, y, z)
        In which direction it is thin, at bind, if it is flattened.
    thin_joint : str
        The joint that the direction turns with; "" is the first of `joints`.
    contraction : float
        By which share full activation shortens the belly.
    most_growth : float
        The largest factor that radii grow by. A belly that reaches it loses volume; see `MuscleCover.measure`.
    covered : tuple of str
        Joints whose skin the muscle moves. Empty: those from the joint of the origin to that of the insertion, along
        the skeleton.

    All numbers are checked when muscles are bound, see `bind`.
    """

    name: str
    joints: tuple[str, ...]
    points: tuple[Point, ...]
    radius: float
    reach: float
    side: str = ""
    tendons: tuple[float, float] = (0.0, 0.0)
    profile: tuple[float, ...] = ()
    flattening: float = 1.0
    thin_direction: Point = (0.0, 0.0, 0.0)
    thin_joint: str = ""
    contraction: float = 0.2
    most_growth: float = 2.0
    covered: tuple[str, ...] = ()
