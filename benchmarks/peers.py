# SPDX-License-Identifier: MIT
"""Other libraries and programs that deform meshes by their joints, by one thread each."""

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

from .systems import Peer, Worker
from .timing import frame_by_frame
from .workloads import Floats, Singles, Workload

Unsigned = NDArray[np.uint32]

MOST_VERTICES = {"libigl": 100_000, "blender": 100_000}  # beyond, a dense matrix or the making of a mesh takes too long
BLENDER_METHODS: tuple[Method, ...] = ("linear", "dual_quaternion")


@dataclass(frozen=True)
class Peers:
    """The libraries, and programs."""

    ozz: Path | None  # native/ozz.cpp, compiled
    blender: Path | None  # a Python with ``bpy``

    def start(self, workload: Workload, path: Path, stack: ExitStack) -> tuple[list[Peer], dict[str, str]]:
        """All that can take part in a workload, written to a file, and versions of programs; the stack ends them."""
        threadpoolctl.threadpool_limits(1)
        numba.set_num_threads(1)
        Work.SetConcurrencyLimit(1)
        found, versions = [_numba(workload), *_usd(workload)], {}
        if workload.vertex_count <= MOST_VERTICES["libigl"]:
            found.append(_libigl(workload))
        if self.ozz is not None:
            found.append(_peer_of(Worker(stack, [str(self.ozz)], path), "ozz", "linear", "pn"))
        if self.blender is not None and workload.vertex_count <= MOST_VERTICES["blender"]:
            worker = Worker(stack, [str(self.blender), str(Path(__file__).with_name("blender.py"))], path)
            versions["blender"] = worker.facts["version"]
            found += [_peer_of(worker, "blender", method, "p") for method in BLENDER_METHODS]
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


def _peer_of(worker: Worker, name: str, method: Method, attributes: str) -> Peer:
    """A peer that is a program."""
    return Peer(name, method, attributes, worker.run("frame", method, attributes), partial(worker.positions, method))


# ---------------------------------------------------------------------------------------------------------------- numba


@functools.cache
def _numba_kernel(influences: int) -> Callable[..., None]:
    """LBS of positions and normals, for a number of influences that the compiler knows."""

    def deform(
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
            out[v, 0] = a * x + b * y + c * z + s
            out[v, 1] = d * x + e * y + f * z + t
            out[v, 2] = g * x + h * y + i * z + u
            x, y, z = normals[v, 0], normals[v, 1], normals[v, 2]
            turned[v, 0] = a * x + b * y + c * z
            turned[v, 1] = d * x + e * y + f * z
            turned[v, 2] = g * x + h * y + i * z

    compiled: Callable[..., None] = numba.njit(parallel=True, fastmath=True)(deform)
    return compiled


def _numba(workload: Workload) -> Peer:
    kernel = _numba_kernel(workload.joint_indices.shape[1])
    frames = list(np.ascontiguousarray(workload.skinning_matrices[:, :, :3], np.float32))
    positions, normals = np.empty_like(workload.rest_positions), np.empty_like(workload.rest_normals)
    # Unsigned, so that an index needs no look at its sign.
    influences = (workload.joint_indices.astype(np.uint32), workload.joint_weights)

    def deform(matrices: Singles) -> Singles:
        kernel(matrices, *influences, workload.rest_positions, workload.rest_normals, positions, normals)
        return positions

    return Peer("numba", "linear", "pn", frame_by_frame(deform, frames), lambda: deform(frames[0]))


# ------------------------------------------------------------------------------------------------------------- usd-core


def _usd(workload: Workload) -> Iterator[Peer]:
    """UsdSkel works in place: each frame starts from the results of the one before, which costs the same."""
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

    def deform(frame: tuple[Any, Any], method: str, target: Any = points) -> Any:
        if not (
            UsdSkel.SkinPoints(method, Gf.Matrix4d(1), frame[0], *influences, target)
            and UsdSkel.SkinNormals(method, Gf.Matrix3d(1), frame[1], *influences, normals)
        ):
            raise RuntimeError("UsdSkel failed")
        return target

    def positions(method: str) -> Singles:
        return np.array(deform(frames[0], method, Vt.Vec3fArray.FromNumpy(workload.rest_positions.copy())))

    methods: tuple[tuple[Method, str], ...] = (("linear", "classicLinear"), ("dual_quaternion", "dualQuaternion"))
    for method, name in methods:
        run = frame_by_frame(partial(deform, method=name), frames)
        yield Peer("usd-core", method, "pn", run, partial(positions, name))


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
