# SPDX-License-Identifier: MIT
"""One run: workloads measured one after the other, all systems on each in turns."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import machine
from .results import Results
from .rounds import measure
from .systems import ISAS, check, library_cases, numpy_peers, package_cases, start_library
from .workers import Worker
from .workloads import Workload

if TYPE_CHECKING:
    from .peers import Peers


class Session:
    """A run in the making.

    Parameters
    ----------
    program : Path
        native/phases.c, built.
    folder : Path
        For temporary files.
    rounds : int
        As in `measure`.
    peers : Peers, optional
        The libraries beside NumPy.
    two_threads : bool
        Whether to time two threads too, which takes a machine that does nothing else.

    Attributes
    ----------
    results : Results
        What was measured up to now.
    """

    def __init__(
        self, program: Path, folder: Path, rounds: int, peers: Peers | None = None, two_threads: bool = True
    ) -> None:
        self.results = Results({}, [], [], [])
        self._program, self._folder, self._rounds = program, folder, rounds
        self._peers, self._two_threads = peers, two_threads

    def measure(self, workload: Workload) -> None:
        """Time all systems on a workload."""
        path = self._folder / "workload"
        workload.write(path)
        with ExitStack() as stack:
            library = self._start_library(path, stack)
            peers, versions = numpy_peers(workload), dict[str, str]()
            if self._peers is not None:
                more, versions = self._peers.start(workload, path, stack)
                peers += more
            check(peers, workload)
            cases = [case for isa, worker in library.items() for case in library_cases(worker, isa, self._two_threads)]
            cases += package_cases(workload, next(iter(library)))
            cases += [peer.case() for peer in peers]
            self.results.add(workload, measure(cases, self._rounds))
            self._describe(workload, next(iter(library.values())), versions)

    def _start_library(self, path: Path, stack: ExitStack) -> dict[str, Worker]:
        """A worker for each instruction set that the machine has, the best first."""
        workers = {isa: stack.enter_context(start_library(self._program, path, isa)) for isa in ISAS}
        return {isa: worker for isa, worker in workers.items() if worker.facts["instruction_set"] == isa}

    def _describe(self, workload: Workload, worker: Worker, versions: dict[str, str]) -> None:
        """Record the counts of a workload, and the machine."""
        facts: dict[str, Any] = dict(worker.facts)
        if not self.results.machine:
            self.results.machine.update(machine.describe(facts["compiler"]))
        self.results.machine["versions"] |= versions
        skin = workload.skin()
        solves = [skin.pose_report(matrices).solves for matrices in workload.skinning_matrices]
        counts = {key: value for key, value in facts.items() if key not in ("compiler", "instruction_set")}
        self.results.workloads.append(
            {
                "name": workload.name,
                "vertices": workload.vertex_count,
                "joints": workload.joint_count,
                "frames": workload.frame_count,
                "solves": sum(solves) / len(solves),
                **counts,
            }
        )
