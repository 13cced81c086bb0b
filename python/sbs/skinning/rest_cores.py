# SPDX-License-Identifier: MIT
"""Skins of `sbs._core` with other rest positions, such as blend shapes make, for some calls at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core

__all__ = ["RestCores"]


class RestCores:
    """Lends copies of a core whose rest positions have been moved; those given back serve later calls.

    Parameters
    ----------
    core : _core.Skin
        It is lent itself where the rest positions are its own.
    """

    def __init__(self, core: _core.Skin) -> None:
        self._core = core
        # As many as threads were at work at once. Lists are safe to share among threads.
        self._spare: list[_core.Skin] = []

    @contextmanager
    def lent(self, rest_positions: ArrayLike | None) -> Iterator[_core.Skin]:
        """The core, or one with other rest positions that nobody else uses for the time being."""
        if rest_positions is None:
            yield self._core
            return
        try:
            moved = self._spare.pop()
        except IndexError:
            moved = self._copy()
        try:
            moved.move(rest_positions, self._centers_at(rest_positions))
            yield moved
        finally:
            self._spare.append(moved)

    def moved(self, rest_positions: ArrayLike | None) -> dict[str, Any]:
        """Other rest positions with the centers that go with them, as arguments of the core; nothing for its own."""
        if rest_positions is None:
            return {}
        return {"rest_positions": rest_positions, "centers": self._centers_at(rest_positions)}

    def _copy(self) -> _core.Skin:
        core = self._core
        return _core.Skin(
            core.rest_positions,
            core.joint_indices,
            core.joint_weights,
            joint_count=core.joint_count,
            parents=core.parents,
            joint_positions=core.joint_positions,
            rest_normals=core.rest_normals,
            centers=core.centers,
            twist=core.twist,
        )

    def _centers_at(self, rest_positions: ArrayLike) -> NDArray[np.float64] | None:
        """The centers of other rest positions: what is blended linearly stays its own center."""
        centers, rest = self._core.centers, self._core.rest_positions
        if centers is None:
            return None
        own = (centers == rest).all(axis=1, keepdims=True)
        return np.where(own, np.asarray(rest_positions, rest.dtype), centers)
