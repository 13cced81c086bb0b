# SPDX-License-Identifier: MIT
"""Clients of Dask clusters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .extras import load

__all__ = ["check_address", "client_of", "wait_for_worker"]

_PATIENCE = 30
"""Seconds until a scheduler answers, and until it has a worker."""


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
def client_of(scheduler: Any) -> Iterator[Any]:
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


def wait_for_worker(client: Any) -> None:
    """Wait until a client's cluster can work.

    Raises
    ------
    TimeoutError
        If it has no worker.
    """
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        raise TimeoutError(f"the scheduler had no worker for {_PATIENCE} s") from error
