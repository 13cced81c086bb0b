# SPDX-License-Identifier: MIT
"""Choice of the shapes that are worth most, of many that were drafted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..rigging.skeleton import Skeleton
from .drivers import Driver, core_drivers

__all__ = ["Candidates", "choose"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Poses of joints that bend together, of which the first may become shapes.

    Attributes
    ----------
    skeleton : Skeleton
    drivers : tuple of n Driver
        One of each joint.
    coordinates : (n, P, 3) ndarray
        Where the drivers are in the poses that may become shapes.
    matrices : (R, J, 3, 4) ndarray
        All poses, those first.
    products : (R, R) ndarray
        Inner products of the offsets that the rest pose needs in each pose.
    """

    skeleton: Skeleton
    drivers: tuple[Driver, ...]
    coordinates: Floats
    matrices: Floats
    products: Floats

    @cached_property
    def importance(self) -> float:
        """The factor of squares: joints count by distances, or else the trunk would be all that counts."""
        whole = float(np.sqrt(np.trace(self.products)))
        return 1.0 / whole if whole > 0 else 0.0

    def left(self, kept: Sequence[int]) -> float:
        """How much is left of the offsets in all poses, with the shapes of some: a sum of squares, by importance."""
        by_pose = np.eye(len(self.products))
        for driver, coordinates in zip(self.drivers, self.coordinates, strict=True):
            if kept:
                own = core_drivers(self.skeleton, [(driver, coordinates[each, None]) for each in kept])
                by_pose[:, kept] -= own.weights(self.matrices) / len(self.drivers)
        return self.importance * float(np.einsum("rs,st,rt->", by_pose, self.products, by_pose))

    def cheapest(self, kept: list[int]) -> tuple[float, int]:
        """The shape that is missed least of some, and how much more is left without it, for each joint."""
        now = self.left(kept)
        more = [self.left([other for other in kept if other != each]) - now for each in kept]
        place = int(np.argmin(more))
        return more[place] / len(self.drivers), kept[place]


def choose(groups: Sequence[Candidates], most: int | None, share: float) -> list[list[int]]:
    """The poses of each group that become shapes: the others were left out one by one, the least missed first.

    Parameters
    ----------
    groups : sequence of Candidates
    most : int or None
        So many shapes at most; poses of joints that bend together make one for each joint.
    share : float
        Without `most`: the share of the root mean square of all offsets, by importance, that may be left. If all shapes
        leave more, so many are kept that leave the least.
    """
    kept = [list(range(each.coordinates.shape[1])) for each in groups]
    count = sum(len(each) * len(group.drivers) for each, group in zip(kept, groups, strict=True))
    limit = share**2 * sum(group.left([]) for group in groups)
    left = sum(group.left(each) for group, each in zip(groups, kept, strict=True))
    cheapest = [group.cheapest(each) if each else (np.inf, -1) for group, each in zip(groups, kept, strict=True)]
    while any(kept):
        number = int(np.argmin([more for more, _ in cheapest]))
        more, pose = cheapest[number]
        size = len(groups[number].drivers)
        is_wanted = more > 0 and (left + more * size > limit if most is None else count <= most)
        if is_wanted:
            break
        kept[number].remove(pose)
        left, count = left + more * size, count - size
        cheapest[number] = groups[number].cheapest(kept[number]) if kept[number] else (np.inf, -1)
    return kept
