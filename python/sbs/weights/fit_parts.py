# SPDX-License-Identifier: MIT
"""Parts of a mesh to which weights are fitted one after the other, or by the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..support.clusters import Task, connected, results_by_workers

__all__ = ["fit_parts"]

CHUNKS = 50
"""The number of parts that the mesh is divided into; progress is reported after each."""

Fitted = tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]


def fit_parts(
    by_vertex: dict[str, Any],
    posed: NDArray[Any],
    matrices: NDArray[Any],
    options: dict[str, Any],
    *,
    threads: int | None,
    scheduler: Any,
    progress: Callable[[float], object] | None,
) -> Fitted:
    """Fit weights, as `_core.fit_weights`, to parts of a mesh.

    Parameters
    ----------
    by_vertex : dict
        Arguments with a row for each vertex, among them ``rest_positions``, or None.
    posed : (F, V, 3) ndarray
    matrices : (F, J, 4, 4) or (F, J, 3, 4) ndarray
    options : dict
        Other arguments.
    threads : int, optional
        Here; workers of a cluster have one for each task.
    scheduler : str or distributed.Client, optional
        Where the parts are fitted.
    progress : callable, optional
        Called with the fraction of the vertices that are done.
    """
    count = posed.shape[1]
    whole = progress is None and scheduler is None
    size = count if whole else -(-count // CHUNKS)
    parts = [slice(first, min(first + size, count)) for first in range(0, count, size)]

    def take_arguments(part: slice) -> tuple[NDArray[Any], dict[str, Any]]:
        rows = {name: None if rows is None else rows[part] for name, rows in by_vertex.items()}
        return posed[:, part], {**rows, **options}

    with ExitStack() as stack:
        found: Iterator[tuple[int, Fitted]]
        if scheduler is None:
            found = ((number, _fit(matrices, *take_arguments(part), threads)) for number, part in enumerate(parts))
        else:
            tasks = [
                Task(f"vertices {part.start} to {part.stop - 1}", number, (matrices,), (*take_arguments(part), 1))
                for number, part in enumerate(parts)
            ]
            found = results_by_workers(stack.enter_context(connected(scheduler)), _fit, tasks)
        results: list[Fitted | None] = [None] * len(parts)
        done = 0
        for number, result in found:
            results[number] = result
            done += parts[number].stop - parts[number].start
            if progress is not None:
                progress(done / count)
    indices, weights, errors = (np.concatenate(arrays) for arrays in zip(*filter(None, results), strict=True))
    return indices, weights, errors


def _fit(matrices: NDArray[Any], posed: NDArray[Any], options: dict[str, Any], threads: int | None) -> Fitted:
    """Fit one part, on a worker with one thread, because a worker runs as many tasks at once as it has threads."""
    twist = options.pop("twist")  # which a task brings as what can be pickled
    core = None if twist is None else twist._core
    return _core.fit_weights(posed=posed, skinning_matrices=matrices, twist=core, **options, threads=threads)
