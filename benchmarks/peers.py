# SPDX-License-Identifier: MIT
"""What else deforms meshes by their joints: what `make bench-peers` times beside our own, by one thread each."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import igl
import numba
import numpy as np
import threadpoolctl
from numpy.typing import NDArray
from pxr import Gf, UsdSkel, Vt, Work

from sbs.options import Method

from .rounds import frame_by_frame
from .systems import Peer
from .workers import Worker
from .workloads import Floats, Singles, Workload

Unsigned = NDArray[np.uint32]

MOST_VERTICES = {"libigl": 100_000, "blender": 100_000}  # beyond, a dense matrix or the making of a mesh takes too long


@dataclass(frozen=True)
class Peers:
    """The libraries, and the programs for those that are none.

    Attributes
    ----------
    ozz : Path, optional
        native/ozz.cpp, compiled.
    blender : Path, optional
        A Python with ``bpy``.
    """

    ozz: Path | None
    blender: Path | None

    def start(self, workload: Workload, path: Path, stack: ExitStack) -> tuple[list[Peer], dict[str, str]]:
        """All that can take part in a workload, written to a file, and versions of programs; the stack ends them."""
        threadpoolctl.threadpool_limits(1)
        numba.set_num_threads(1)
        Work.SetConcurrencyLimit(1)
        found = [*_numba(workload), *_usd(workload)]
        versions = {}
        if workload.vertex_count <= MOST_VERTICES["libigl"]:
            found.append(_libigl(workload))
        if self.ozz is not None:
            worker = stack.enter_context(Worker([str(self.ozz)], path))
            found += [_of_worker(worker, "ozz", "linear", attributes) for attributes in ("p", "pn")]
        if self.blender is not None and workload.vertex_count <= MOST_VERTICES["blender"]:
            script = Path(__file__).with_name("blender.py")
            worker = stack.enter_context(Worker([str(self.blender), str(script)], path))
            versions["blender"] = worker.facts["version"]
            found.append(_of_worker(worker, "blender", "linear", "p"))
            found.append(_of_worker(worker, "blender", "dual_quaternion", "p"))
        return found, versions


def compile_ozz(checkout: Path, program: Path) -> Path:
    """Compile native/ozz.cpp with the sources of ozz-animation.

    Raises
    ------
    CalledProcessError
        If that fails.
    """
    program.parent.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).with_name("native") / "ozz.cpp"
    command = ["c++", "-std=c++17", "-O3", "-mavx2", "-mfma", "-DNDEBUG", f"-I{checkout / 'include'}", str(source)]
    command += [str(checkout / "src" / "geometry" / "runtime" / "skinning_job.cc"), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def _of_worker(worker: Worker, name: str, method: Method, attributes: str) -> Peer:
    """A peer that is a program."""
    run = partial(worker.ask, "frame", method, attributes, 1)
    return Peer(name, method, attributes, run, partial(worker.positions, method))


# ---------------------------------------------------------------------------------------------------------------- numba


@functools.cache
def _numba_kernels(influences: int) -> tuple[Callable[..., None], Callable[..., None]]:
    """LBS of positions, and of positions and normals, for a number of influences that the compiler knows."""

    def deform(m: Singles, joints: Unsigned, weights: Singles, points: Singles, out: Singles) -> None:
        for v in numba.prange(len(points)):
            x, y, z = points[v, 0], points[v, 1], points[v, 2]
            a = b = c = np.float32(0)
            for k in range(influences):
                w, j = weights[v, k], joints[v, k]
                a += w * (m[j, 0, 0] * x + m[j, 0, 1] * y + m[j, 0, 2] * z + m[j, 0, 3])
                b += w * (m[j, 1, 0] * x + m[j, 1, 1] * y + m[j, 1, 2] * z + m[j, 1, 3])
                c += w * (m[j, 2, 0] * x + m[j, 2, 1] * y + m[j, 2, 2] * z + m[j, 2, 3])
            out[v, 0], out[v, 1], out[v, 2] = a, b, c

    def deform_both(
        m: Singles, joints: Unsigned, weights: Singles, points: Singles, normals: Singles, out: Singles, turned: Singles
    ) -> None:
        for v in numba.prange(len(points)):
            a = b = c = d = e = f = g = h = i = s = t = u = np.float32(0)
            for k in range(influences):
                w, j = weights[v, k], joints[v, k]
                a += w * m[j, 0, 0]
                b += w * m[j, 0, 1]
                c += w * m[j, 0, 2]
                s += w * m[j, 0, 3]
                d += w * m[j, 1, 0]
                e += w * m[j, 1, 1]
                f += w * m[j, 1, 2]
                t += w * m[j, 1, 3]
                g += w * m[j, 2, 0]
                h += w * m[j, 2, 1]
                i += w * m[j, 2, 2]
                u += w * m[j, 2, 3]
            x, y, z = points[v, 0], points[v, 1], points[v, 2]
            out[v, 0], out[v, 1], out[v, 2] = (
                a * x + b * y + c * z + s,
                d * x + e * y + f * z + t,
                g * x + h * y + i * z + u,
            )
            x, y, z = normals[v, 0], normals[v, 1], normals[v, 2]
            turned[v, 0], turned[v, 1], turned[v, 2] = (
                a * x + b * y + c * z,
                d * x + e * y + f * z,
                g * x + h * y + i * z,
            )

    compiled = numba.njit(parallel=True, fastmath=True)
    return compiled(deform), compiled(deform_both)


def _numba(workload: Workload) -> Iterator[Peer]:
    deform, deform_both = _numba_kernels(workload.joint_indices.shape[1])
    frames = list(np.ascontiguousarray(workload.skinning_matrices[:, :, :3], np.float32))
    positions, normals = np.empty_like(workload.rest_positions), np.empty_like(workload.rest_normals)
    # Unsigned, so that an index needs no look at its sign.
    influences = (workload.joint_indices.astype(np.uint32), workload.joint_weights)

    def points(matrices: Singles) -> Singles:
        deform(matrices, *influences, workload.rest_positions, positions)
        return positions

    def both(matrices: Singles) -> None:
        deform_both(matrices, *influences, workload.rest_positions, workload.rest_normals, positions, normals)

    for attributes, function in (("p", points), ("pn", both)):
        yield Peer("numba", "linear", attributes, frame_by_frame(function, frames), lambda: points(frames[0]))


# ------------------------------------------------------------------------------------------------------------- usd-core


def _usd(workload: Workload) -> Iterator[Peer]:
    """UsdSkel works in place: each frame starts from what the one before has left, which costs the same."""
    influences = (
        Vt.IntArray.FromNumpy(workload.joint_indices.ravel()),
        Vt.FloatArray.FromNumpy(workload.joint_weights.ravel()),
        workload.joint_indices.shape[1],
    )
    rows = np.ascontiguousarray(workload.skinning_matrices.swapaxes(2, 3))  # row vectors
    frames = [
        (Vt.Matrix4dArray.FromNumpy(matrices), Vt.Matrix3dArray.FromNumpy(np.ascontiguousarray(matrices[:, :3, :3])))
        for matrices in rows
    ]
    points = Vt.Vec3fArray.FromNumpy(workload.rest_positions)
    normals = Vt.Vec3fArray.FromNumpy(workload.rest_normals)

    def deform(frame: tuple[Any, Any], method: str, target: Any) -> Any:
        if not UsdSkel.SkinPoints(method, Gf.Matrix4d(1), frame[0], *influences, target):
            raise RuntimeError("UsdSkel.SkinPoints failed")
        return target

    def deform_both(frame: tuple[Any, Any], method: str) -> None:
        deform(frame, method, points)
        if not UsdSkel.SkinNormals(method, Gf.Matrix3d(1), frame[1], *influences, normals):
            raise RuntimeError("UsdSkel.SkinNormals failed")

    def positions(method: str) -> Singles:
        return np.array(deform(frames[0], method, Vt.Vec3fArray.FromNumpy(workload.rest_positions.copy())))

    methods: tuple[tuple[Method, str], ...] = (("linear", "classicLinear"), ("dual_quaternion", "dualQuaternion"))
    for method, name in methods:
        in_place = partial(deform, method=name, target=points)
        yield Peer("usd-core", method, "p", frame_by_frame(in_place, frames), partial(positions, name))
        both = partial(deform_both, method=name)
        yield Peer("usd-core", method, "pn", frame_by_frame(both, frames), partial(positions, name))


# --------------------------------------------------------------------------------------------------------------- libigl


def _libigl(workload: Workload) -> Peer:
    """Its matrix of all vertices and all joints, made once, times the stacked matrices of the joints."""
    dense = np.zeros((workload.vertex_count, workload.joint_count))
    rows = np.arange(workload.vertex_count)
    for joints, weights in zip(workload.joint_indices.T, workload.joint_weights.T, strict=True):
        dense[rows, joints] += weights
    matrix = igl.lbs_matrix(workload.rest_positions.astype(np.float64), dense)
    frames = [
        np.ascontiguousarray(matrices[:, :3].transpose(0, 2, 1).reshape(-1, 3))
        for matrices in workload.skinning_matrices
    ]

    def deform(stacked: Floats) -> Floats:
        result: Floats = matrix @ stacked
        return result

    return Peer("libigl", "linear", "p", frame_by_frame(deform, frames), lambda: deform(frames[0]))
