# SPDX-License-Identifier: MIT
"""Frames of many characters, deformed on the machines of a Dask cluster.

Every character is sent to the workers once, then they deform chunks of frames. A worker that sees the file writes its
chunk itself, at its place; those of another file system send it back. Chunks of workers that are lost are done again by
others.
"""

from __future__ import annotations

import functools
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._core import version as installed
from ..options import BlendOptions
from ..rigging.animation import Animation
from ..rigging.shapes import ShapeMotion
from ..skinning.skin import Skin
from ..support.callers import warn
from ..support.clusters import check_address, client_of, wait_for_worker
from ..support.extras import load
from .baking import chunks, deformed, frames_of
from .caches import Frames, RawCache
from .table import with_role, written
from .unfinished import Place, Unfinished, digest, put

__all__ = ["Job", "bake_on"]

# How often in a row characters are sent anew because all workers that had them are gone.
_ATTEMPTS = 5


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
    options : BlendOptions
        As `Skin.deform_many` takes them.
    shapes : ShapeMotion, optional
        Blend shapes of the mesh, from `Character.shape_motion`.
    """

    path: str | Path
    skin: Skin
    animation: Animation
    numbers: range
    fps: float = 24.0
    options: BlendOptions = field(default_factory=BlendOptions)
    shapes: ShapeMotion | None = None

    @functools.cached_property
    def cache(self) -> type[RawCache]:
        """The format."""
        cache = written(Path(self.path), "frames").frames
        if cache is None or not issubclass(cache, RawCache):
            raise ValueError(f"{Path(self.path).name!r} does not end in {_endings()}, which are written in any order")
        return cache

    @functools.cached_property
    def frames(self) -> Frames:
        """What is written."""
        return frames_of(self.skin, self.numbers, self.fps)


@dataclass(frozen=True)
class _Work:
    """What a worker needs for any chunk of a job, beside the skin, which several jobs may have in common."""

    animation: Animation
    cache: type[RawCache]
    frames: Frames
    options: BlendOptions
    shapes: ShapeMotion | None
    place: Place
    version: str

    def span(self, part: range) -> tuple[int, int]:
        """Where frames are in the file: their offset and their size in bytes."""
        size = self.cache.frame_size(self.frames)
        return len(self.cache.header(self.frames)) + (part[0] - self.frames.numbers[0]) * size, len(part) * size


@dataclass(frozen=True)
class _Done:
    """A chunk that was written, or that is to be written."""

    offset: int
    size: int
    checksum: int
    instruction_set: str
    data: bytes | None


def bake_on(scheduler: Any, jobs: Sequence[Job], *, progress: Callable[[int], object] | None = None) -> None:
    """Write frames of characters as caches of positions, deformed by the workers of a Dask cluster.

    The files equal those of `bake` to the last bit, if all machines have the same instruction set (a UserWarning says
    when they don't). A file appears when all of it is written. If the run ends before, what is done stays beside it, as
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
    distributed = load("distributed", "Dask", "clusters")
    left: deque[tuple[int, range]] = deque()
    total = 0
    paths = [Path(job.path).absolute() for job in jobs]
    for path in {path for path in paths if paths.count(path) > 1}:
        raise ValueError(f"{path} is the file of {paths.count(path)} jobs")
    with ExitStack() as stack:
        files, works = [], []
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
            )
            files.append(file := stack.enter_context(Unfinished(path, identity, size)))
            file.write(0, header)
            work = _Work(job.animation, job.cache, job.frames, job.options, job.shapes, file.place, installed)
            works.append((job.skin, work))
            for part in chunks(job.frames):
                if work.span(part) in file.pieces:
                    total += len(part)
                else:
                    left.append((len(files) - 1, part))
        if progress is not None:
            progress(total)
        if left:
            client = stack.enter_context(client_of(scheduler))
            _Run(distributed, client, files, works, left, total, progress).finish()
        for file in files:
            file.finish()


class _Run:
    """Chunks on their way to workers and back."""

    def __init__(
        self,
        distributed: Any,
        client: Any,
        files: list[Unfinished],
        works: list[tuple[Skin, _Work]],
        left: deque[tuple[int, range]],
        done: int,
        progress: Callable[[int], object] | None,
    ) -> None:
        self._distributed, self._client = distributed, client
        self._files, self._works, self._left = files, works, left
        self._done, self._progress = done, progress
        self._sent: dict[int, Any] = {}
        self._under_way: dict[Any, tuple[int, range]] = {}
        self._instruction_sets: set[str] = set()

    def finish(self) -> None:
        """Do all that is left."""
        fruitless = 0
        while self._left:
            before = self._done
            self._try()
            fruitless = fruitless + 1 if self._done == before else 0
            if self._left and fruitless == _ATTEMPTS:
                raise ChildProcessError(f"all workers were lost {_ATTEMPTS} times, before they had done anything")
        if len(self._instruction_sets) > 1:
            names = ", ".join(sorted(self._instruction_sets))
            warn(f"workers have several instruction sets ({names}): frames differ in their last bits", UserWarning)

    def _try(self) -> None:
        """Send the characters, then chunks, until nothing is left or all who had the characters are gone."""
        self._sent.clear()
        wait_for_worker(self._client)
        results = self._distributed.as_completed(loop=self._client.loop, with_results=False)
        lost: list[tuple[int, range]] = []
        self._submit(results)
        for future in results:
            chunk = self._under_way.pop(future)
            if future.status == "error":
                raise self._explained(chunk[1], future.exception())
            try:
                done = future.result()  # who had it may be lost only now
            except CancelledError:
                lost.append(chunk)
            else:
                self._take(chunk, done)
            future.release()
            if not lost:
                self._submit(results)
        self._left.extend(lost)

    def _submit(self, results: Any) -> None:
        """Keep all workers busy, but hold no more chunks in memory than that takes."""
        most = 2 * max(1, sum(self._client.nthreads().values()))
        while self._left and len(self._under_way) < most:
            job, part = self._left[0]
            try:
                skin, work = (self._on_workers(thing) for thing in self._works[job])
            except OSError:  # a worker ended before it had them: they are sent again when those that are left answer
                if self._client.status != "running":
                    raise
                return
            future = self._client.submit(_deform_chunk, skin, work, part, pure=False)
            self._under_way[future] = self._left.popleft()
            results.add(future)

    def _on_workers(self, thing: object) -> Any:
        """What all workers have a copy of, sent when it is first needed."""
        if id(thing) not in self._sent:
            self._sent[id(thing)] = self._client.scatter(thing, broadcast=True, hash=False)
        return self._sent[id(thing)]

    def _take(self, chunk: tuple[int, range], done: _Done) -> None:
        job, part = chunk
        if done.data is not None:
            self._files[job].write(done.offset, done.data)
        self._files[job].record(done.offset, done.size, done.checksum)
        self._instruction_sets.add(done.instruction_set)
        self._done += len(part)
        if self._progress is not None:
            self._progress(self._done)

    def _explained(self, part: range, error: BaseException) -> BaseException:
        if isinstance(error, self._distributed.scheduler.KilledWorker):
            return ChildProcessError(f"frames {part[0]} to {part[-1]} ended several workers: have they enough memory?")
        return error


def _deform_chunk(skin: Skin, work: _Work, part: range) -> _Done:
    """Deform frames on a worker, with one thread, because a worker runs as many tasks at once as it has threads."""
    if work.version != installed:
        raise RuntimeError(f"a worker has version {installed} of sbs, not {work.version}")
    times = work.frames.times(part)
    rows, _ = deformed(skin, work.animation, times, part, False, work.options, threads=1, shapes=work.shapes)
    data = np.ascontiguousarray(work.cache.encoded(rows)).data.cast("B")
    offset, size = work.span(part)
    is_here = work.place.is_here()
    if is_here:
        put(work.place.part, offset, data)
    return _Done(offset, size, zlib.crc32(data), skin.instruction_set, None if is_here else bytes(data))


def _endings() -> str:
    rows = [row for row in with_role("frames") if row.frames is not None and issubclass(row.frames, RawCache)]
    return ", ".join(suffix for row in rows for suffix in row.suffixes)
