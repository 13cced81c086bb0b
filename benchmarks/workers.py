# SPDX-License-Identifier: MIT
"""Programs that time something themselves and answer for it: the other end of benchmarks/native/worker.h."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .rounds import Case


class Worker:
    """A running program that was given a workload, and a file for the positions that it deforms to.

    Parameters
    ----------
    command : sequence of str
        The program and its first arguments; the workload and the file follow.
    workload : Path
        As `Workload.write` writes it.
    environment : mapping
        Variables to set.

    Attributes
    ----------
    facts : dict
        What the program says of itself.

    Raises
    ------
    RuntimeError
        If the program ends before it is ready.
    """

    def __init__(self, command: Sequence[str], workload: Path, environment: Mapping[str, str] | None = None) -> None:
        self._positions = workload.with_suffix(f".{os.getpid()}.positions")
        self._command = [*command, str(workload), str(self._positions)]
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.facts: dict[str, Any] = json.loads(self._read_line())

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self._command)} ended with {self._process.wait()}")
        return line

    def ask(self, what: str, method: str, attributes: str, threads: int, repetitions: int) -> list[float]:
        """Have something done so many times; nanoseconds per frame of each."""
        assert self._process.stdin is not None
        print(what, method, attributes, threads, repetitions, file=self._process.stdin, flush=True)
        return [float(word) for word in self._read_line().split()]

    def case(
        self, system: str, what: str, method: str, attributes: str = "pn", threads: int = 1, isa: str = ""
    ) -> Case:
        """What `ask` does, as a case."""
        return Case(
            system, what, method, attributes, threads, isa, partial(self.ask, what, method, attributes, threads)
        )

    def positions(self, method: str) -> NDArray[np.float32]:
        """The mesh (V, 3) deformed by the first frame."""
        self.ask("positions", method, "p", 1, 1)
        try:
            return np.fromfile(self._positions, np.float32).reshape(-1, 3)
        finally:
            self._positions.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
