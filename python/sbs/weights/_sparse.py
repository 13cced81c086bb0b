# SPDX-License-Identifier: MIT
"""Linear equations on a surface, solved directly: nested dissection, with dense blocks that NumPy eliminates.

George, A. 1973. Nested Dissection of a Regular Finite Element Mesh. SIAM Journal on Numerical Analysis 10(2).
Duff, I. S. and Reid, J. K. 1983. The Multifrontal Solution of Indefinite Sparse Symmetric Linear Equations. ACM
Transactions on Mathematical Software 9(3).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Matrix", "one_thread", "solve"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

LEAF = 96
"""Parts of so many unknowns, at most, are not divided any more."""


@dataclass(frozen=True)
class Matrix:
    """A sparse square matrix, as entries; those at the same place are added.

    Attributes
    ----------
    size : int
        W, the number of unknowns.
    rows, columns : (N,) ndarray of int
    values : (N,) ndarray
    """

    size: int
    rows: Indices
    columns: Indices
    values: Floats


@dataclass
class _Front:
    """A part of the unknowns that is eliminated at once.

    Attributes
    ----------
    own : (M,) ndarray
        The unknowns of the part.
    border : (B,) ndarray
        Those of later parts that are in equations with them, once earlier parts are gone.
    inner : (M, B) ndarray
        How the own unknowns depend on the border.
    """

    own: Indices
    border: Indices
    inner: Floats


@contextmanager
def one_thread() -> Iterator[None]:
    """Have NumPy's BLAS and LAPACK work by the calling thread alone.

    Most parts are so small that its threads wait for each other for longer than they work. Where threadpoolctl is not
    installed, as in Blender, whose NumPy has no threads, nothing is changed.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError:
        yield
        return
    with threadpool_limits(1, user_api="blas"):
        yield


def solve(matrix: Matrix, sides: Floats, places: Floats) -> Floats:
    """The solutions x of A x = b for several right-hand sides at once.

    No pivots are sought beyond a part: rows have to dominate by their diagonals, as those of heat equations do.

    Parameters
    ----------
    matrix : Matrix
    sides : (W, N) ndarray
    places : (W, 3) ndarray
        Where the unknowns are: what is near to each other should be in equations, and nothing else.

    Returns
    -------
    (W, N) ndarray

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is singular.
    """
    links = np.stack([matrix.rows, matrix.columns], axis=1)
    parts = _dissect(np.arange(matrix.size), links[links[:, 0] != links[:, 1]], places)
    part_of = np.empty(matrix.size, np.intp)
    for number, part in enumerate(parts):
        part_of[part] = number
    # Each entry belongs to the part that is eliminated first, and goes into the matrix of that front.
    owners = np.minimum(part_of[matrix.rows], part_of[matrix.columns])
    order = np.argsort(owners, kind="stable")
    rows, columns, values = matrix.rows[order], matrix.columns[order], matrix.values[order]
    bounds = np.searchsorted(owners[order], np.arange(len(parts) + 1))

    result = sides.copy()
    local = np.empty(matrix.size, np.intp)
    fronts: list[_Front] = []
    # What eliminated parts leave to others: by the part that takes it, unknowns and the matrix among them.
    left: dict[int, list[tuple[Indices, Floats]]] = {}
    for number, own in enumerate(parts):
        entries = slice(bounds[number], bounds[number + 1])
        given = left.pop(number, [])
        border = np.concatenate([rows[entries], columns[entries], *(unknowns for unknowns, _ in given)])
        border = np.unique(border[part_of[border] != number])
        local[own] = np.arange(len(own))
        local[border] = len(own) + np.arange(len(border))
        front = np.zeros((len(own) + len(border),) * 2)
        np.add.at(front, (local[rows[entries]], local[columns[entries]]), values[entries])
        for unknowns, rest in given:
            front[np.ix_(local[unknowns], local[unknowns])] += rest
        size = len(own)
        solved = np.linalg.solve(front[:size, :size], np.concatenate([front[:size, size:], result[own]], axis=1))
        inner, result[own] = solved[:, : len(border)], solved[:, len(border) :]
        if len(border):
            result[border] -= front[size:, :size] @ result[own]
            taker = int(part_of[border].min())
            left.setdefault(taker, []).append((border, front[size:, size:] - front[size:, :size] @ inner))
        fronts.append(_Front(own, border, inner))
    for done in reversed(fronts):
        result[done.own] -= done.inner @ result[done.border]
    return result


def _dissect(unknowns: Indices, links: Indices, places: Floats) -> list[Indices]:
    """Parts (M,) of unknowns in the order of elimination: two halves that no link joins, then what separates them.

    Parameters
    ----------
    unknowns : (U,) ndarray
    links : (L, 2) ndarray
        Pairs of these that are in one equation.
    places : (W, 3) ndarray
        Of all unknowns.
    """
    if len(unknowns) <= LEAF:
        return [unknowns] if len(unknowns) else []
    spread = places[unknowns]
    axis = int(np.ptp(spread, axis=0).argmax())
    middle = len(unknowns) // 2
    # Of unknowns at one place the lower number comes first, so that halves are halves.
    order = np.lexsort((unknowns, spread[:, axis]))
    side = np.full(len(places), -1, np.int8)
    side[unknowns[order[:middle]]] = 0
    side[unknowns[order[middle:]]] = 1
    sides = side[links]
    across = sides[:, 0] != sides[:, 1]
    ends = links[across].ravel()
    # Those of one half that are linked to the other one: of the half that has fewer, which may be the hub of a fan.
    separator = min((np.unique(ends[side[ends] == half]) for half in (0, 1)), key=len)
    side[separator] = 2
    parts = []
    for half in (0, 1):
        inside = (side[links] == half).all(axis=1)
        parts += _dissect(unknowns[side[unknowns] == half], links[inside], places)
    return [*parts, separator] if len(separator) else parts
