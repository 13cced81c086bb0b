# SPDX-License-Identifier: MIT
"""Animations of a glTF file: channels and samplers to tracks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from ..animation import Animation, Interpolation, Track, TrackPath
from ..rig import Floats, Rig
from . import accessors
from .document import Document, Element

_COMPONENTS = {"translation": 3, "rotation": 4, "scale": 3}


@dataclass
class _Channel:
    path: TrackPath
    interpolation: Interpolation
    node: int
    times: Floats
    values: Floats


class AnimationReader:
    """Reads the animations that move a rig.

    Parameters
    ----------
    document : Document
    rig : Rig
    nodes : list of N int
        The node of the file behind each node of the rig.
    """

    def __init__(self, document: Document, rig: Rig, nodes: list[int]) -> None:
        self._document = document
        self._rig = rig
        self._number = {node: i for i, node in enumerate(nodes)}
        # Channels mostly share their times, by one accessor or by several that hold the same.
        self._times: dict[int, Floats] = {}
        self._times_by_content: dict[bytes, Floats] = {}

    def read(self) -> tuple[Animation, ...]:
        """All animations of the file that move the rig. Raises FileError."""
        animations = []
        for number, element in enumerate(self._document.all("animations")):
            tracks = self._read_tracks(element)
            if tracks:
                animations.append(Animation(element.string("name", f"animation_{number}"), tracks, self._rig))
        return tuple(animations)

    def _read_tracks(self, animation: Element) -> tuple[Track, ...]:
        """Tracks of an animation; channels of one path, interpolation and set of times make one track."""
        samplers = animation.children("samplers")
        groups: dict[tuple[TrackPath, Interpolation, int], list[_Channel]] = {}
        for element in animation.children("channels"):
            channel = self._read_channel(element, samplers)
            if channel is not None:
                key = (channel.path, channel.interpolation, id(channel.times))
                groups.setdefault(key, []).append(channel)
        return tuple(
            Track(
                path=path,
                interpolation=interpolation,
                nodes=np.array([channel.node for channel in channels]),
                times=channels[0].times,
                values=np.stack([channel.values for channel in channels], axis=-2),
            )
            for (path, interpolation, _), channels in groups.items()
        )

    def _read_channel(self, channel: Element, samplers: list[Element]) -> _Channel | None:
        """A channel, or None where it moves no node of the rig, or morph targets."""
        target = channel.child("target")
        path = target.string("path")
        if path not in _COMPONENTS or "node" not in target:
            return None
        self._document.follow("nodes", target, "node")
        node = self._number.get(target.integer("node"))
        if node is None:
            return None
        if self._rig.has_matrix[node]:
            raise target.error("a node that is given by a matrix cannot be moved", "node")
        number = channel.integer("sampler")
        if number >= len(samplers):
            raise channel.error(f"{number}, but there are {len(samplers)} samplers", "sampler")
        sampler = samplers[number]
        interpolation = sampler.string("interpolation", "LINEAR")
        if interpolation not in ("LINEAR", "STEP", "CUBICSPLINE"):
            raise sampler.error(f"{interpolation[:20]!r} is no interpolation", "interpolation")
        times = self._read_times(sampler)
        return _Channel(
            path=cast(TrackPath, path),
            interpolation=cast(Interpolation, interpolation),
            node=node,
            times=times,
            values=self._read_values(sampler, path, interpolation, len(times)),
        )

    def _read_times(self, sampler: Element) -> Floats:
        """Times of keys; the same array for the same times."""
        number = sampler.integer("input")
        if number not in self._times:
            accessor = self._document.follow("accessors", sampler, "input")
            times = accessors.read_floats(self._document, accessor, "SCALAR")[:, 0]
            for key in np.flatnonzero(np.diff(times) < 0.0)[:1]:
                raise accessor.error(f"time {key + 1} is before time {key}")
            self._times[number] = self._times_by_content.setdefault(times.tobytes(), times)
        return self._times[number]

    def _read_values(self, sampler: Element, path: str, interpolation: str, key_count: int) -> Floats:
        """Keys (K, n), or (K, 3, n) with tangents; quaternions as (w, x, y, z), of unit length where they are keys."""
        accessor = self._document.follow("accessors", sampler, "output")
        components = _COMPONENTS[path]
        cubic = interpolation == "CUBICSPLINE"
        needed = key_count * (3 if cubic else 1)
        if accessors.count(accessor) != needed:
            raise accessor.error(f"{accessors.count(accessor)} values, {needed} are needed for {key_count} times")
        values = accessors.read_floats(self._document, accessor, f"VEC{components}")
        if path == "rotation":
            values = values[:, [3, 0, 1, 2]]
            length = np.linalg.norm(values, axis=1, keepdims=True)
            keys = slice(1, None, 3) if cubic else slice(None)
            if np.any(length[keys] == 0.0):
                raise accessor.error(f"key {int(np.argmin(length[keys]))} is a quaternion of length 0")
            if not cubic:
                values /= length
        return values.reshape(key_count, 3, components) if cubic else values
