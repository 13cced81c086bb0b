# SPDX-License-Identifier: MIT
"""The C library and its parts, and NumPy on a workload: times in turns."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sbs.options import Method

from .results import Results, describe_machine
from .timing import Run, frame_by_frame, measure
from .workloads import Floats, Singles, Workload

if TYPE_CHECKING:
    from .peers import Peers

ISAS = ("avx512", "avx2", "baseline")
METHODS: tuple[Method, ...] = ("rigid", "linear", "spherical", "dual_quaternion")
BLENDING = METHODS[1:]
VARIANTS = ("average", "weighted", "optimized", "half")
"""Spherical, with rotations or centers other than the default, the last in part: native/phases.c has these names."""
ATTRIBUTES = ("p", "pn")
# Threads stay awake for a while in case that more work comes: ours for 30 microseconds, threads of OpenMP for about
# so many seconds. They would be in the way of the next in turn.
SETTLE = 0.003
TOLERANCE = 1e-5
"""How far others may be off our positions, as a share of the mesh's size: they compute in float32."""


class Worker:
    """A running program that times a workload: the other end of the dialogue in native/worker.h.

    The command is followed by the file of the workload, as `Workload.write` writes it, and a file for positions.
    `facts` is the program's own description.

    Raises
    ------
    RuntimeError
        If the program ends before it is ready.
    """

    def __init__(
        self, stack: ExitStack, command: Sequence[str], workload: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._positions = workload.with_suffix(f".{os.getpid()}.positions")
        self._process = stack.enter_context(
            subprocess.Popen(
                [*command, str(workload), str(self._positions)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, **(environment or {})},
            )
        )
        self.facts: dict[str, Any] = json.loads(self._read_line())

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args!r} ended with {self._process.wait()}")
        return line

    def ask(self, part: str, method: str, attributes: str, threads: int, repetitions: int) -> list[float]:
        """Have something done so many times; nanoseconds per frame of each."""
        assert self._process.stdin is not None
        print(part, method, attributes, threads, repetitions, file=self._process.stdin, flush=True)
        times = [float(word) for word in self._read_line().split()]
        if threads > 1:
            time.sleep(SETTLE)
        return times

    def run(self, part: str, method: str, attributes: str = "pn", threads: int = 1) -> Run:
        """`ask` with all but the number of repetitions."""
        return partial(self.ask, part, method, attributes, threads)

    def positions(self, method: str) -> NDArray[np.float32]:
        """The mesh (V, 3) deformed by the first frame."""
        self.ask("positions", method, "p", 1, 1)
        try:
            return np.fromfile(self._positions, np.float32).reshape(-1, 3)
        finally:
            self._positions.unlink(missing_ok=True)


@dataclass(frozen=True)
class Peer:
    """Another way of deforming a workload, by one thread."""

    name: str
    method: Method
    attributes: str
    run: Run
    positions: Callable[[], NDArray[np.floating]]  # the mesh (V, 3) deformed by the first frame

    def check(self, workload: Workload) -> None:
        """See that it does the work that it is compared for.

        Raises
        ------
        RuntimeError
            If its positions are not ours.
        """
        ours = workload.skin().deform(workload.skinning_matrices[0], method=self.method)
        off = np.abs(self.positions() - ours).max() / np.linalg.norm(np.ptp(workload.rest_positions, axis=0))
        if not off <= TOLERANCE:
            raise RuntimeError(f"{self.name}, {self.method}: {off:.1e} of the size off on {workload.name}")


def numpy_peer(workload: Workload) -> Peer:
    """LBS as one writes it in NumPy: every vertex gets its blended matrix."""

    def deform(matrices: Floats) -> tuple[Singles, Singles]:
        affine = matrices[:, :3].astype(np.float32)[workload.joint_indices]
        blended = np.einsum("vk,vkij->vij", workload.joint_weights, affine)
        turned, moved = (
            np.einsum("vij,vj->vi", blended[:, :, :3], vectors)
            for vectors in (workload.rest_normals, workload.rest_positions)
        )
        return moved + blended[:, :, 3], turned

    frames = workload.skinning_matrices
    return Peer("numpy", "linear", "pn", frame_by_frame(deform, list(frames)), lambda: deform(frames[0])[0])


Cases = dict[tuple[str, str, str, str, str, int], Run]
"""By system, instruction set, part, method, attributes and threads."""


def library_cases(worker: Worker, isa: str, two_threads: bool) -> Cases:
    """The library by one instruction set: whole frames, and their parts."""
    asked = [("frame", method, attributes, 1) for method in (*METHODS, *VARIANTS) for attributes in ATTRIBUTES]
    asked += [("alone", method, attributes, 1) for method in (*BLENDING, *VARIANTS) for attributes in ATTRIBUTES]
    asked += [(part, "spherical", "pn", 1) for part in ("pose", "apart", "many")]
    if two_threads:
        asked += [(part, method, "pn", 2) for part in ("frame", "alone") for method in ("linear", "spherical")]
    return {("sbs", isa, *case): worker.run(*case) for case in asked}


def measure_workload(
    results: Results,
    workload: Workload,
    program: Path,
    rounds: int,
    *,
    peers: Peers | None = None,
    two_threads: bool = True,
) -> None:
    """Time all systems on a workload, and add them to the results.

    The program is native/phases.c. Timing two threads, too, takes a machine that does nothing else.
    """
    with ExitStack() as stack:
        path = Path(stack.enter_context(tempfile.TemporaryDirectory()), "workload")
        workload.write(path)
        started = {isa: Worker(stack, [str(program)], path, {"SBS_ISA": isa}) for isa in ISAS}
        library = {isa: worker for isa, worker in started.items() if worker.facts["instruction_set"] == isa}
        others, versions = [numpy_peer(workload)], dict[str, str]()
        if peers is not None:
            more, versions = peers.start(workload, path, stack)
            others += more
        cases: Cases = {}
        for isa, worker in library.items():
            cases |= library_cases(worker, isa, two_threads)
        for peer in others:
            peer.check(workload)
            cases[peer.name, "", "frame", peer.method, peer.attributes, 1] = peer.run
        for case, timing in zip(cases, measure(list(cases.values()), rounds), strict=True):
            results.timings[workload.name, workload.vertex_count, *case] = timing
        facts = dict(next(iter(library.values())).facts)
    compiler = facts.pop("compiler")
    facts.pop("instruction_set")
    if not results.machine:
        results.machine.update(describe_machine(compiler))
    results.machine["versions"] |= versions
    skin = workload.skin()
    solves = [skin.pose_report(matrices).solves for matrices in workload.skinning_matrices]
    results.workloads.append(
        {
            "name": workload.name,
            "vertices": workload.vertex_count,
            "joints": workload.joint_count,
            "frames": len(workload.skinning_matrices),
            "solves": sum(solves) / len(solves),
            **facts,
        }
    )
