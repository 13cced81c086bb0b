# SPDX-License-Identifier: MIT
"""Deform and write the frames of an animation, a few at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, Unpack

import numpy as np
from numpy.typing import NDArray

from ..rigging.animation import Animation
from ..rigging.shapes import ShapeMotion
from ..rigging.triangle_mesh import MeshPart
from ..skinning.gpu import Deformer
from ..skinning.options import CorrectedOptions
from ..skinning.skin import Skin
from ..support.files import replacing
from .caches import Frames
from .table import written

__all__ = ["bake", "chunks", "deformed", "make_frames"]

# Bytes of positions that are deformed at once: enough for all threads, and done in much less than a second.
_CHUNK = 8 << 20

Rows = NDArray[np.floating[Any]]


class Relaxation(Protocol):
    """Flesh that moves deformed skin, in place: `sbs.Flesh`. `bare` is the skin without shapes."""

    def apply(
        self,
        positions: Rows,
        skinning_matrices: Rows,
        *,
        normals: Rows | None = None,
        bare: Rows | None = None,
        threads: int | None = None,
    ) -> None: ...


class Cover(Protocol):
    """A cover that moves deformed skin, in place: `sbs.muscles.MuscleCover`."""

    def apply(
        self, positions: Rows, skinning_matrices: Rows, *, normals: Rows | None = None, threads: int | None = None
    ) -> None: ...


def chunks(frames: Frames) -> Iterator[range]:
    """The numbers of the frames, as many at a time as are deformed at once."""
    count = max(1, _CHUNK // (12 * frames.vertex_count))
    for first in range(0, len(frames.numbers), count):
        yield frames.numbers[first : first + count]


def deformed(
    skin: Skin,
    animation: Animation,
    times: NDArray[np.float64],
    numbers: range,
    normals: bool,
    options: CorrectedOptions,
    out: Rows | None = None,
    threads: int | None = None,
    shapes: ShapeMotion | None = None,
    muscles: Cover | None = None,
    deformer: Deformer | None = None,
    flesh: Relaxation | None = None,
) -> tuple[Rows, Rows | None]:
    """Positions (F, V, 3) of frames, and their normals if asked for.

    Raises
    ------
    ValueError
        If a number is not finite: matrices may move vertices beyond the range of float32.
    """
    matrices = animation.skinning_matrices(times)
    rows: tuple[Rows, Rows | None]
    if deformer is not None:
        made: Any = deformer.deform_many(matrices, normals=normals, out=out, threads=threads)
        rows = made if normals else (made, None)
    elif shapes is not None and shapes.shapes:
        rows = _deformed_shapes(skin, matrices, times, normals, options, out, threads, shapes)
    elif normals:
        rows = skin.deform_many(matrices, normals=True, out=out, threads=threads, **options)
    else:
        rows = skin.deform_many(matrices, out=out, threads=threads, **options), None
    if flesh is not None:
        has_shapes = options.get("correctives") is not None or (shapes is not None and bool(shapes.shapes))
        plain: CorrectedOptions = {**options, "correctives": None}
        bare = skin.deform_many(matrices, threads=threads, **plain) if has_shapes else None
        flesh.apply(rows[0], matrices, normals=rows[1], bare=bare, threads=threads)
    if muscles is not None:
        muscles.apply(rows[0], matrices, normals=rows[1], threads=threads)
    for array, what in zip(rows, ("position", "normal"), strict=True):
        # A sum takes a tenth of the time; if it is not finite, check all numbers.
        with np.errstate(over="ignore", invalid="ignore"):
            if array is None or np.isfinite(array.sum()):
                continue
        for frame, vertex, _ in np.argwhere(~np.isfinite(array))[:1]:
            raise ValueError(
                f"the {what} of vertex {vertex} in frame {numbers[int(frame)]} is not finite: nothing is written"
            )
    return rows


def _deformed_shapes(
    skin: Skin,
    matrices: NDArray[np.float64],
    times: NDArray[np.float64],
    normals: bool,
    options: CorrectedOptions,
    out: Rows | None,
    threads: int | None,
    shapes: ShapeMotion,
) -> tuple[Rows, Rows | None]:
    """The same, of rest positions that differ from frame to frame."""
    positions = np.empty((len(times), skin.vertex_count, 3), skin.dtype) if out is None else out
    directions = np.empty_like(positions) if normals else None
    for frame, time in enumerate(times.tolist()):
        rest = shapes.rest_positions(time)
        if directions is None:
            skin.deform(matrices[frame], rest_positions=rest, out=positions[frame], threads=threads, **options)
        else:
            both: Any = {"out": positions[frame], "out_normals": directions[frame]}
            skin.deform(matrices[frame], rest_positions=rest, normals=True, threads=threads, **both, **options)
    return positions, directions


def make_frames(
    skin: Skin,
    numbers: range,
    fps: float,
    triangles: NDArray[np.int32] | None = None,
    parts: tuple[MeshPart, ...] = (),
    dtype: np.dtype[Any] | None = None,
    first: int = 0,
) -> Frames:
    """The frames of a skin, by default in its type.

    Raises
    ------
    ValueError
        If there are no frames, or no rate.
    """
    if not len(numbers) or numbers.step != 1:
        raise ValueError(f"numbers is {numbers}, at least one frame is needed, and a step of 1")
    if not (np.isfinite(fps) and fps > 0.0):
        raise ValueError(f"fps is {fps}, a number above 0 is needed")
    corners = np.zeros((0, 3), np.int32) if triangles is None else np.asarray(triangles, np.int32)
    return Frames(numbers, fps, skin.vertex_count, dtype or skin.dtype, corners, parts, skin.has_normals, first)


def bake(
    path: str | Path,
    skin: Skin,
    animation: Animation,
    numbers: range,
    *,
    fps: float = 24.0,
    triangles: NDArray[np.int32] | None = None,
    parts: tuple[MeshPart, ...] = (),
    shapes: ShapeMotion | None = None,
    muscles: Cover | None = None,
    deformer: Deformer | None = None,
    flesh: Relaxation | None = None,
    progress: Callable[[int], object] | None = None,
    **options: Unpack[CorrectedOptions],
) -> None:
    """Write frames of an animation as a cache of positions, a few at a time.

    Parameters
    ----------
    path : str or path-like
        Its ending chooses the format: .pc2, .mdd, .npy, .npz or .usdc. The file appears when all of it is written.
    skin : Skin
    animation : Animation
    numbers : range
        The frames, at ``number / fps`` seconds, consecutive; `Animation.frames` are all. Formats that count frames
        count from `Animation.first_frame`.
    fps : float, optional
    triangles : (T, 3) ndarray, optional
        Of the mesh; needed for formats that contain them, .usdc, .glb and .npz.
    parts : tuple of MeshPart, optional
        Of the mesh, `Mesh.parts`, for formats that contain several meshes (USD, GLB). Others have the vertices of all,
        one part behind the other.
    shapes : ShapeMotion, optional
        Blend shapes of the mesh, from `Character.shape_motion`, which are applied first.
    muscles : sbs.muscles.MuscleCover, optional
        Of the same character, which the deformed skin covers then.
    deformer : sbs.gpu.Deformer, optional
        Of the same skin, which a graphics processor then deforms in its way, in float32, without blend shapes.
    flesh : sbs.Flesh, optional
        Of the same character, by which the deformed skin is relaxed.
    progress : callable, optional
        Called with the number of frames that are done, from time to time.
    **options
        As `Skin.deform_many` takes them.

    Raises
    ------
    ValueError
        If the format is not known, there are no frames, triangles are missing, or a position is not finite; or there
        are both muscles and blend shapes, for muscles are bound to the mesh at rest; or there is a deformer beside
        blend shapes or options.
    OSError
        If the file cannot be written.
    """
    if muscles is not None and shapes is not None and shapes.shapes:
        raise ValueError("muscles are bound to the mesh at rest, which blend shapes change: give one of both")
    if deformer is not None and (options or (shapes is not None and shapes.shapes)):
        raise ValueError("a deformer has its options, and deforms without blend shapes")
    target = Path(path)
    open_cache = written(target, "frames").frames
    assert open_cache is not None  # a format with that role has one
    if open_cache.has_faces and (triangles is None or not len(triangles)):
        raise ValueError(f"{target.name} holds a mesh with faces: triangles are needed")
    dtype = None if deformer is None else np.dtype(np.float32)
    frames = make_frames(skin, numbers, fps, triangles, parts, dtype, animation.first_frame(fps))
    with (
        replacing(target) as temporary,
        open_cache(temporary, frames) as cache,
        ThreadPoolExecutor(1, "sbs-writer") as writer,
    ):
        done = 0
        rooms: list[Rows] = []  # the same memory for all, which the system need not clear each time
        written_last: tuple[Future[None], int] | None = None
        normals = cache.normals and skin.has_normals
        for number, part in enumerate(chunks(frames)):
            # While one chunk is written the next one is deformed.
            if number < 2:
                rooms.append(np.empty((len(part), skin.vertex_count, 3), frames.dtype))
            out = rooms[number % 2][: len(part)]
            times = frames.times(part)
            rows = deformed(
                skin,
                animation,
                times,
                part,
                normals,
                options,
                out,
                shapes=shapes,
                muscles=muscles,
                deformer=deformer,
                flesh=flesh,
            )
            if written_last is not None:
                done += _finished(written_last, done, progress)
            written_last = writer.submit(cache.append, *rows), len(part)
        if written_last is not None:
            _finished(written_last, done, progress)


def _finished(last: tuple[Future[None], int], done: int, progress: Callable[[int], object] | None) -> int:
    """Wait until a chunk is written, and tell how many frames are done with it; the number of its frames."""
    last[0].result()
    if progress is not None:
        progress(done + last[1])
    return last[1]
