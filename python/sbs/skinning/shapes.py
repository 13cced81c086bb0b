# SPDX-License-Identifier: MIT
"""Sparse changes of the rest pose, which a skin adds before it is deformed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import Shapes as CoreShapes
from .._core import Skin as CoreSkin

__all__ = ["Shape", "Shapes"]


class Shape(NamedTuple):
    """A sparse change of the rest pose.

    Attributes
    ----------
    vertices : (M,) ndarray of int
    deltas : (M, 3) ndarray
        The offsets that it adds to their rest positions.
    normal_deltas : (M, 3) ndarray, optional
        And to their rest normals, whose sum becomes a unit vector again.
    """

    vertices: NDArray[Any]
    deltas: NDArray[Any]
    normal_deltas: NDArray[Any] | None = None


class Bound(Protocol):
    """A `Skin`, which shapes are made for."""

    _core: CoreSkin


class Shapes:
    """Shapes in the order of a skin, for the options ``shapes`` and ``shape_weights`` of `Skin.deform`. Immutable.

    Parameters
    ----------
    skin : Skin
        The only one that takes them.
    shapes : iterable of Shape or tuple
        Deltas that one shape has of the same vertex are added.

    Raises
    ------
    ValueError
        If there are none, shapes of arrays disagree, a vertex is out of range, a number is NaN or infinite, or there
        are normals, but the skin has none.
    TypeError
        If an array holds neither real numbers nor, for vertices, integers.

    Examples
    --------
    >>> import numpy as np
    >>> import sbs
    >>> skin = sbs.Skin([[0.0, 1.0, 0.0]], [[0]], [[1.0]])
    >>> shapes = sbs.correctives.Shapes(skin, [([0], [[0.0, 0.0, 1.0]])])
    >>> skin.deform(np.eye(4)[None], shapes=shapes, shape_weights=[0.5])
    array([[0. , 1. , 0.5]])
    """

    def __init__(self, skin: Bound, shapes: Iterable[Shape | tuple[ArrayLike, ...]]) -> None:
        given = [Shape(*map(_array, shape)) for shape in shapes]
        for number, shape in enumerate(given):
            for name, rows in (("deltas", shape.deltas), ("normal_deltas", shape.normal_deltas)):
                if rows is not None and rows.shape != (len(shape.vertices), 3):
                    expected = f"({len(shape.vertices)}, 3) for its vertices"
                    raise ValueError(f"shapes[{number}]: {name} has shape {rows.shape}, expected {expected}")
        self._offsets = np.cumsum([0, *(len(shape.vertices) for shape in given)])
        vertices = [shape.vertices for shape in given if len(shape.vertices)]
        deltas = [shape.deltas for shape in given if len(shape.vertices)]
        normals = None
        if any(shape.normal_deltas is not None for shape in given):
            normals = np.concatenate(
                [
                    np.zeros((len(shape.vertices), 3)) if shape.normal_deltas is None else shape.normal_deltas
                    for shape in given
                ]
            )
        self._vertices = np.concatenate(vertices) if vertices else np.empty(0, np.int32)
        self._deltas = np.concatenate(deltas) if deltas else np.empty((0, 3), skin._core.rest_positions.dtype)
        self._core = CoreShapes(
            skin._core,
            self._offsets[1:],
            self._vertices,
            self._deltas,
            normal_deltas=normals,
        )

    @property
    def vertices(self) -> NDArray[np.int32]:
        """The vertices of all shapes, one after the other, (M,), a new array."""
        return np.array(self._vertices, np.int32)

    @property
    def deltas(self) -> NDArray[np.float64]:
        """The offsets that shapes add to the rest positions of these, (M, 3), a new array."""
        return np.array(self._deltas, np.float64)

    @property
    def shape_of_vertex(self) -> NDArray[np.intp]:
        """The shape that each of these belongs to, (M,), a new array."""
        return np.repeat(np.arange(len(self)), np.diff(self._offsets))

    def __len__(self) -> int:
        return self._core.shape_count

    def __repr__(self) -> str:
        return f"<sbs.correctives.Shapes, shapes: {len(self)}>"


def _array(given: ArrayLike | None) -> Any:
    """An array, of shape (0,) for an empty list of vertices; None stays."""
    return None if given is None else np.asarray(given)
