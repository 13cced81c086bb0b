# SPDX-License-Identifier: MIT
"""Frames of many characters, deformed on the machines of a Dask cluster.

Every character is sent to the workers once, then they deform chunks of frames. A worker that sees the file writes its
chunk itself, at its place; a worker on another file system sends it back. Chunks of lost workers are done by others.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._core import version as installed
from ..rigging.animation import Animation
from ..rigging.shapes import ShapeMotion
from ..skinning.options import CorrectedOptions
from ..skinning.skin import Skin
from ..support.callers import warn
from ..support.clusters import Task, check_address, connected, results_by_workers
from .baking import Relaxation, chunks, deformed, make_frames
from .caches import Frames, RawCache
from .table import with_role, written
from .unfinished import Place, Unfinished, digest, put

__all__ = ["Job", "bake_on"]


@dataclass(frozen=True)
class Job:
    """Frames of one character, and where they go.

    Attributes
    ----------
    path : str or path-like
        Its ending chooses the format: one whose frames have one size, .pc2, .mdd or .npy.
    skin : Skin
    animation : Animation
    numbers : range
        The frames, at ``number / fps`` seconds, consecutive; `Animation.frames` are all.
    fps : float
    options : CorrectedOptions
        As `Skin.deform_many` takes them.
    shapes : ShapeMotion, optional
        Blend shapes of the mesh, from `Character.shape_motion`.
    flesh : sbs.Flesh, optional
        By which the deformed skin is relaxed.
    """

    path: str | Path
    skin: Skin
    animation: Animation
    numbers: range
    fps: float = 24.0
    options: CorrectedOptions = field(default_factory=CorrectedOptions)
    shapes: ShapeMotion | None = None
    flesh: Relaxation | None = None

    @functools.cached_property
    def cache(self) -> type[RawCache]:
        """The format."""
        cache = written(Path(self.path), "frames").frames
        if cache is None or not issubclass(cache, RawCache):
            raise ValueError(f"{Path(self.path).name!r} does not end in {_endings()}, which are written in any order")
        return cache

    @functools.cached_property
    def frames(self) -> Frames:
        """The frames that are written."""
        return make_frames(self.skin, self.numbers, self.fps, first=self.animation.first_frame(self.fps))


@dataclass(frozen=True)
class _Work:
    """All that a worker needs for a chunk of a job beside the skin, which several jobs may share."""

    animation: Animation
    cache: type[RawCache]
    frames: Frames
    options: CorrectedOptions
    shapes: ShapeMotion | None
    flesh: Relaxation | None
    place: Place

    def span(self, part: range) -> tuple[int, int]:
        """Where frames are in the file: their offset and their size in bytes."""
        size = self.cache.frame_size(self.frames)
        return len(self.cache.header(self.frames)) + (part[0] - self.frames.numbers[0]) * size, len(part) * size


@dataclass(frozen=True)
class _Chunk:
    """Frames that a worker has deformed and written, or that are to be written: then with their data."""

    offset: int
    size: int
    checksum: int
    instruction_set: str
    data: bytes | None


def bake_on(scheduler: Any, jobs: Sequence[Job], *, progress: Callable[[int], object] | None = None) -> None:
    """Write frames of characters as caches of positions, deformed by the workers of a Dask cluster.

    The files equal those of `bake` to the last bit, if all machines have the same instruction set (a UserWarning says
    when they don't). A file appears when all of it is written. If the run ends before, done frames stay beside it, as
    FILE.part and FILE.journal, and the next run with the same arguments goes on from there.

    Parameters
    ----------
    scheduler : str or distributed.Client
        The address of a scheduler, such as ``"tcp://farm:8786"``.
    jobs : sequence of Job
    progress : callable, optional
        Called with the number of frames that are done, of all jobs, from time to time.

    Raises
    ------
    ValueError
        If the address is malformed, a format is not known or is not written in any order, there are no frames, two
        jobs have one file, or a position is not finite.
    MissingExtraError
        If Dask's `distributed` is not installed.
    OSError
        If a file cannot be written, no scheduler or no worker answers, or workers end again and again.
    RuntimeError
        If a worker has another version of this package.
    """
    check_address(scheduler)
    tasks: list[Task] = []
    done = 0
    paths = [Path(job.path).absolute() for job in jobs]
    for path in {path for path in paths if paths.count(path) > 1}:
        raise ValueError(f"{path} is the file of {paths.count(path)} jobs")
    with ExitStack() as stack:
        files: list[Unfinished] = []
        for job, path in zip(jobs, paths, strict=True):
            header = job.cache.header(job.frames)
            size = len(header) + job.cache.frame_size(job.frames) * len(job.numbers)
            identity = digest(
                installed,
                job.cache.__name__,
                job.skin,
                job.animation,
                job.numbers,
                job.fps,
                dict(job.options),
                job.shapes,
                job.flesh,
            )
            files.append(file := stack.enter_context(Unfinished(path, identity, size)))
            file.write(0, header)
            work = _Work(job.animation, job.cache, job.frames, job.options, job.shapes, job.flesh, file.place)
            for part in chunks(job.frames):
                if work.span(part) in file.pieces:
                    done += len(part)
                else:
                    tasks.append(Task(f"frames {part[0]} to {part[-1]}", (file, part), (job.skin, work), (part,)))
        if progress is not None:
            progress(done)
        instruction_sets: set[str] = set()
        if tasks:
            client = stack.enter_context(connected(scheduler))
            for (file, part), chunk in results_by_workers(client, _deform_chunk, tasks):
                if chunk.data is not None:
                    file.write(chunk.offset, chunk.data)
                file.record(chunk.offset, chunk.size, chunk.checksum)
                instruction_sets.add(chunk.instruction_set)
                done += len(part)
                if progress is not None:
                    progress(done)
        if len(instruction_sets) > 1:
            names = ", ".join(sorted(instruction_sets))
            warn(f"workers have several instruction sets ({names}): frames differ in their last bits", UserWarning)
        for file in files:
            file.finish()


def _deform_chunk(skin: Skin, work: _Work, part: range) -> _Chunk:
    """Deform frames on a worker, with one thread, because a worker runs as many tasks at once as it has threads."""
    times = work.frames.times(part)
    given: Any = {"threads": 1, "shapes": work.shapes, "flesh": work.flesh}
    rows, _ = deformed(skin, work.animation, times, part, False, work.options, **given)
    data = np.ascontiguousarray(work.cache.encoded(rows)).data.cast("B")
    offset, size = work.span(part)
    is_here = work.place.is_here()
    if is_here:
        put(work.place.part, offset, data)
    return _Chunk(offset, size, zlib.crc32(data), skin.instruction_set, None if is_here else bytes(data))


def _endings() -> str:
    rows = [row for row in with_role("frames") if row.frames is not None and issubclass(row.frames, RawCache)]
    return ", ".join(suffix for row in rows for suffix in row.suffixes)
