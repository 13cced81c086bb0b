# SPDX-License-Identifier: MIT
"""Work shared out to the workers of a Dask cluster."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .._core import version as installed
from .extras import load

__all__ = ["Task", "check_address", "connected", "results_by_workers"]

_PATIENCE = 30
"""Seconds until a scheduler answers, and until it has a worker."""

_ATTEMPTS = 5
"""How often in a row all workers may be lost before anything is done."""


@dataclass(frozen=True)
class Task:
    """One call of a function by a worker.

    Attributes
    ----------
    name : str
        For messages: "frames 3 to 5".
    key : object
        Comes back with its result.
    shared : tuple
        The first arguments, which other tasks have, too: each is sent to all workers once.
    own : tuple
        The other arguments.
    """

    name: str
    key: Any
    shared: tuple[Any, ...]
    own: tuple[Any, ...]


def check_address(scheduler: Any) -> None:
    """See that an address of a scheduler, if it is one, is well-formed and of a known machine.

    Raises
    ------
    ValueError
        If it is malformed.
    OSError
        If no machine has that name.
    MissingExtraError
        If Dask's `distributed` is not installed.
    """
    addressing = load("distributed.comm.addressing", "Dask", "clusters")
    if not isinstance(scheduler, str):
        return
    try:
        place = addressing.resolve_address(scheduler)
        port = re.search(r":(-?\d+)$", place)
        if port is not None and not 0 < int(port[1]) < 65536:
            raise ValueError(f"no port is {port[1]}")
    except ValueError as error:
        raise ValueError(f"scheduler {scheduler!r} is no address such as 'tcp://farm:8786': {error}") from None
    except OSError as error:
        raise OSError(f"scheduler {scheduler!r}: {error.strerror or error}") from None


@contextmanager
def connected(scheduler: Any) -> Iterator[Any]:
    """A client of the scheduler at an address, closed at the end; or the client that was given.

    Raises
    ------
    ValueError
        If the address is malformed, or cannot be connected to as this machine is set up.
    OSError
        If no scheduler answers there.
    MissingExtraError
        If Dask's `distributed` is not installed.
    """
    check_address(scheduler)
    if not isinstance(scheduler, str):
        yield scheduler
        return
    client_type: Any = load("distributed", "Dask", "clusters").Client
    client = client_type.__new__(client_type)
    try:
        client.__init__(scheduler, timeout=_PATIENCE, set_as_default=False, name="sbs")
    except BaseException as error:
        client.status = "closed"  # else it waits a minute for the connection that it never had, then tells of that
        if isinstance(error, TypeError):
            raise ValueError(f"scheduler {scheduler!r}: {error}") from None
        raise
    with client:
        yield client


def results_by_workers(client: Any, function: Callable[..., Any], tasks: Iterable[Task]) -> Iterator[tuple[Any, Any]]:
    """Call a function for each task on the workers of a cluster.

    Tasks of workers that are lost are done again by others. Shared arguments are sent anew if all workers that had them
    are gone.

    Yields
    ------
    key, result
        Of each task, as soon as it is done.

    Raises
    ------
    TimeoutError
        If the cluster has no worker.
    ChildProcessError
        If all workers are lost again and again, or one task ends several of them.
    RuntimeError
        If a worker has another version of this package.
    Exception
        Raised by the function.
    """
    run = _Run(client, function, tasks)
    fruitless = 0
    while run.left:
        fruitless += 1
        for result in run.until_workers_are_lost():
            fruitless = 0
            yield result
        if fruitless == _ATTEMPTS:
            raise ChildProcessError(f"all workers were lost {_ATTEMPTS} times, before they had done anything")


class _Run:
    """Tasks on their way to workers and back."""

    def __init__(self, client: Any, function: Callable[..., Any], tasks: Iterable[Task]) -> None:
        self._distributed = load("distributed", "Dask", "clusters")
        self._client, self._function = client, function
        self.left = deque(tasks)
        self._under_way: dict[Any, Task] = {}
        self._sent: dict[int, Any] = {}

    def until_workers_are_lost(self) -> Iterator[tuple[Any, Any]]:
        """Send shared arguments and tasks, until none is left or the workers that had them are gone."""
        self._sent.clear()
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise TimeoutError(f"the scheduler had no worker for {_PATIENCE} s") from error
        futures = self._distributed.as_completed(loop=self._client.loop, with_results=False)
        lost: list[Task] = []
        self._submit(futures)
        for future in futures:
            task = self._under_way.pop(future)
            if future.status == "error":
                raise self._explained(task, future.exception())
            try:
                result = future.result()  # who had it may be lost only now
            except CancelledError:
                lost.append(task)
            else:
                yield task.key, result
            future.release()
            if not lost:
                self._submit(futures)
        self.left.extend(lost)

    def _submit(self, futures: Any) -> None:
        """Keep all workers busy, but hold no more results in memory than that takes."""
        most = 2 * max(1, sum(self._client.nthreads().values()))
        while self.left and len(self._under_way) < most:
            task = self.left[0]
            try:
                shared = [self._on_workers(argument) for argument in task.shared]
            except OSError:  # a worker ended before it had them: they are sent again when the others answer
                if self._client.status != "running":
                    raise
                return
            future = self._client.submit(_call, self._function, installed, *shared, *task.own, pure=False)
            self._under_way[future] = self.left.popleft()
            futures.add(future)

    def _on_workers(self, argument: object) -> Any:
        """The copies of an argument on all workers, sent when it is first needed."""
        if id(argument) not in self._sent:
            self._sent[id(argument)] = self._client.scatter(argument, broadcast=True, hash=False)
        return self._sent[id(argument)]

    def _explained(self, task: Task, error: BaseException) -> BaseException:
        if isinstance(error, self._distributed.scheduler.KilledWorker):
            return ChildProcessError(f"{task.name} ended several workers: have they enough memory?")
        return error


def _call(function: Callable[..., Any], version: str, *arguments: Any) -> Any:
    """Call a function on a worker, which has to have the version of this package of whoever asked."""
    if version != installed:
        raise RuntimeError(f"a worker has version {installed} of sbs, not {version}")
    return function(*arguments)
