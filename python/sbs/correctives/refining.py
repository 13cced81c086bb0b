# SPDX-License-Identifier: MIT
"""Shapes that were made in a pose each, refined to meet many poses, in which several of them act, as well as can be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Offsets", "refine"]

Floats = NDArray[np.float64]

Offsets = tuple[NDArray[np.int32], Floats]
"""Vertices (M,) and their offsets at rest (M, 3)."""

RIDGE = 0.1
"""How much a change of a shape counts in comparison with an error of the same size in a pose where it acts wholly."""

ACTS = 1e-6
"""A weight below this adds nothing that could be seen."""


def refine(shapes: Sequence[Offsets], poses: Sequence[Offsets], weights: Floats, vertex_count: int) -> list[Offsets]:
    """Shapes on the same vertices as before, that leave less of the offsets that poses need.

    Parameters
    ----------
    shapes : sequence of P Offsets
    poses : sequence of R Offsets
        Those that poses need; others need none.
    weights : (R, P) ndarray
        How much of each shape there is in each pose.
    vertex_count : int

    Returns
    -------
    list of P Offsets
        By least squares of the offsets that poses still lack, and of changes of shapes times `RIDGE`.
    """
    moves = np.zeros((len(shapes), vertex_count), np.bool_)
    for number, (vertices, _) in enumerate(shapes):
        moves[number, vertices] = True
    patterns, labels = np.unique(np.packbits(moves, axis=0), axis=1, return_inverse=True)
    labels = labels.reshape(-1)
    needed, given = _Table(poses, labels), _Table(shapes, labels)
    places = np.empty(vertex_count, np.intp)
    refined = [offsets.copy() for _, offsets in shapes]
    for label, pattern in enumerate(patterns.T):
        acting = np.flatnonzero(np.unpackbits(pattern, count=len(shapes)))
        members = np.flatnonzero(labels == label)
        if not len(acting):
            continue
        places[members] = np.arange(len(members))
        before = given.dense(label, places, len(members))[acting]
        seen = np.flatnonzero((weights[:, acting] > ACTS).any(axis=1))
        own = weights[np.ix_(seen, acting)]
        missing = needed.dense(label, places, len(members))[seen] - np.tensordot(own, before, 1)
        square = own.T @ own + RIDGE * np.eye(len(acting))
        after = before + np.tensordot(np.linalg.solve(square, own.T), missing, 1)
        for number, offsets in zip(acting.tolist(), after, strict=True):
            refined[number][np.searchsorted(shapes[number][0], members)] = offsets
    return [(vertices, offsets) for (vertices, _), offsets in zip(shapes, refined, strict=True)]


class _Table:
    """Rows of offsets, found by the labels of vertices."""

    def __init__(self, rows: Sequence[Offsets], labels: NDArray[np.intp]) -> None:
        self._count = len(rows)
        vertices = np.concatenate([vertices for vertices, _ in rows])
        order = np.argsort(labels[vertices], kind="stable")
        self._vertices, self._labels = vertices[order], labels[vertices][order]
        self._rows = np.repeat(np.arange(len(rows)), [len(vertices) for vertices, _ in rows])[order]
        self._offsets = np.concatenate([offsets for _, offsets in rows])[order]

    def dense(self, label: int, places: NDArray[np.intp], count: int) -> Floats:
        """The offsets (rows, count, 3) of all vertices with a label, each at its place."""
        first, end = np.searchsorted(self._labels, [label, label + 1])
        found = np.zeros((self._count, count, 3))
        found[self._rows[first:end], places[self._vertices[first:end]]] = self._offsets[first:end]
        return found
