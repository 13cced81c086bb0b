# SPDX-License-Identifier: MIT
"""What `make bench` times: the C library and its parts, the Python package, and NumPy; and how others take part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbs.options import Method

from .rounds import Case, frame_by_frame
from .workers import Worker
from .workloads import Floats, Singles, Workload

ISAS = ("avx512", "avx2", "baseline")
METHODS: tuple[Method, ...] = ("rigid", "linear", "spherical", "dual_quaternion")
BLENDING = METHODS[1:]
VARIANTS = ("average", "weighted", "optimized", "half")
"""Spherical, with rotations or centers other than the default, the last in part: native/phases.c has these names."""
ATTRIBUTES = ("p", "pn")


def start_library(program: Path, workload: Path, isa: str) -> Worker:
    """Start benchmarks/native/phases.c with an instruction set; one that the machine lacks shows in its facts."""
    return Worker([str(program)], workload, {"SBS_ISA": isa})


def library_cases(worker: Worker, isa: str, two_threads: bool) -> list[Case]:
    """The library by one instruction set: whole frames, and their parts."""
    one = partial(worker.case, "sbs", isa=isa)
    cases = [one("frame", method, attributes) for method in METHODS for attributes in ATTRIBUTES]
    cases += [one("frame", variant, attributes) for variant in VARIANTS for attributes in ATTRIBUTES]
    cases += [one("alone", method, attributes) for method in (*BLENDING, *VARIANTS) for attributes in ATTRIBUTES]
    cases += [one(part, "spherical") for part in ("pose", "kernel", "apart", "many")]
    if two_threads:
        cases += [one(what, method, threads=2) for what in ("frame", "alone") for method in ("linear", "spherical")]
        cases.append(one("many", "spherical", threads=2))
    return cases


def package_cases(workload: Workload, isa: str) -> list[Case]:
    """Calls of `sbs.Skin.deform`, with arrays for the results."""
    skin = workload.skin()
    positions, normals = np.empty_like(workload.rest_positions), np.empty_like(workload.rest_normals)

    def deform(matrices: Floats, method: Method) -> None:
        skin.deform(matrices, method=method, out=positions, threads=1)

    def deform_normals(matrices: Floats, method: Method) -> None:
        skin.deform(matrices, method=method, out=positions, normals=True, out_normals=normals, threads=1)

    return [
        Case(
            "sbs.Skin",
            "frame",
            method,
            attributes,
            1,
            isa,
            frame_by_frame(partial(function, method=method), list(workload.skinning_matrices)),
        )
        for method in METHODS
        for attributes, function in (("p", deform), ("pn", deform_normals))
    ]


# ----------------------------------------------------------------------------------------------------- those of others

# How far others may be off our positions, as a share of the mesh's size: they compute in float32 at world coordinates.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Peer:
    """Somebody else's way of deforming a workload, by one thread.

    Attributes
    ----------
    name, method, attributes : str
        As in `Case`: its system.
    run : callable
        As in `Case`.
    positions : callable
        The mesh (V, 3) deformed by the first frame.
    """

    name: str
    method: Method
    attributes: str
    run: Callable[[int], list[float]]
    positions: Callable[[], NDArray[np.floating]]

    def case(self) -> Case:
        """To be timed."""
        return Case(self.name, "frame", self.method, self.attributes, 1, "", self.run)


def check(peers: Sequence[Peer], workload: Workload) -> None:
    """See that all do what they are compared for.

    Raises
    ------
    RuntimeError
        If the positions of a peer are not ours.
    """
    skin = workload.skin()
    size = np.linalg.norm(np.ptp(workload.rest_positions, axis=0))
    for peer in peers:
        ours = skin.deform(workload.skinning_matrices[0], method=peer.method)
        off = np.abs(peer.positions() - ours).max() / size
        if not off <= TOLERANCE:
            raise RuntimeError(f"{peer.name}, {peer.method}: {off:.1e} of the size off on {workload.name}")


def numpy_peers(workload: Workload) -> list[Peer]:
    """LBS as one writes it in NumPy: every vertex gets its blended matrix."""
    frames = list(workload.skinning_matrices)

    def blend(matrices: Floats) -> Singles:
        affine = matrices[:, :3].astype(np.float32)[workload.joint_indices]
        blended: Singles = np.einsum("vk,vkij->vij", workload.joint_weights, affine)
        return blended

    def move(blended: Singles) -> Singles:
        moved: Singles = np.einsum("vij,vj->vi", blended[:, :, :3], workload.rest_positions) + blended[:, :, 3]
        return moved

    def deform(matrices: Floats) -> Singles:
        return move(blend(matrices))

    def deform_both(matrices: Floats) -> tuple[Singles, Singles]:
        blended = blend(matrices)
        return move(blended), np.einsum("vij,vj->vi", blended[:, :, :3], workload.rest_normals)

    def positions() -> Singles:
        return deform(frames[0])

    return [
        Peer("numpy", "linear", "p", frame_by_frame(deform, frames), positions),
        Peer("numpy", "linear", "pn", frame_by_frame(deform_both, frames), positions),
    ]
