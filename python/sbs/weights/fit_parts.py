# SPDX-License-Identifier: MIT
"""Parts of a mesh to which weights are fitted one after the other, or by the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..support.clusters import client_of, wait_for_worker
from ..support.extras import load

__all__ = ["fit_parts"]

CHUNKS = 50
"""The number of parts that the mesh is divided into; progress is reported after each."""

Fitted = tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]


def fit_parts(
    of_vertices: dict[str, Any],
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
    of_vertices : dict
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

    def tasks() -> Iterator[tuple[dict[str, Any], NDArray[Any]]]:
        for part in parts:
            rows = {name: None if rows is None else rows[part] for name, rows in of_vertices.items()}
            yield rows, posed[:, part]

    with ExitStack() as stack:
        found: Iterator[tuple[int, Fitted]]
        if scheduler is None:
            found = ((i, _fit(*task, matrices, options, threads)) for i, task in enumerate(tasks()))
        else:
            found = _on_workers(stack, scheduler, tasks(), matrices, options)
        results: list[Fitted | None] = [None] * len(parts)
        done = 0
        for number, result in found:
            results[number] = result
            done += parts[number].stop - parts[number].start
            if progress is not None:
                progress(done / count)
    indices, weights, errors = (np.concatenate(arrays) for arrays in zip(*filter(None, results), strict=True))
    return indices, weights, errors


def _fit(
    of_vertices: dict[str, Any],
    posed: NDArray[Any],
    matrices: NDArray[Any],
    options: dict[str, Any],
    threads: int | None,
) -> Fitted:
    given = dict(of_vertices)
    return _core.fit_weights(given.pop("rest_positions"), posed, matrices, **given, **options, threads=threads)


def _fit_there(task: tuple[Any, Any], matrices: NDArray[Any], options: dict[str, Any], version: str) -> Fitted:
    """Run on a worker, with one thread, because a worker runs as many tasks at once as it has threads."""
    if _core.version != version:
        raise RuntimeError(f"a worker has version {_core.version} of sbs, not {version}")
    return _fit(*task, matrices, options, 1)


def _on_workers(
    stack: ExitStack,
    scheduler: Any,
    tasks: Iterator[tuple[Any, Any]],
    matrices: NDArray[Any],
    options: dict[str, Any],
) -> Iterator[tuple[int, Fitted]]:
    """The numbers of parts with their results, as these come."""
    distributed = load("distributed", "Dask", "clusters")
    client = stack.enter_context(client_of(scheduler))
    wait_for_worker(client)
    shared = client.scatter(matrices, broadcast=True, hash=False)
    futures = {
        client.submit(_fit_there, task, shared, options, _core.version, pure=False): number
        for number, task in enumerate(tasks)
    }
    for future, result in distributed.as_completed(futures, with_results=True, loop=client.loop):
        yield futures[future], result
