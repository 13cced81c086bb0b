# SPDX-License-Identifier: MIT
"""Animations of a glTF file: channels and samplers to tracks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from ...rigging.animation import Animation, Animations, Interpolation, Track, TrackPath
from ...rigging.rig import Floats, Rig
from . import accessors
from .document import Document, Element

_COMPONENTS = {"translation": 3, "rotation": 4, "scale": 3}


@dataclass
class _Channels:
    """Channels with the same path, interpolation and times."""

    path: TrackPath
    interpolation: Interpolation
    times: Floats
    nodes: list[int] = field(default_factory=list)
    outputs: list[Element] = field(default_factory=list)


class AnimationReader:
    """Reads the animations that move a rig.

    Parameters
    ----------
    document : Document
    rig : Rig
    nodes : list of N int
        The node of the file behind each node of the rig.
    shape_nodes : dict of int to (int, int)
        The first blend shape at each node of the file that has any, and how many.
    """

    def __init__(
        self, document: Document, rig: Rig, nodes: list[int], shape_nodes: dict[int, tuple[int, int]] | None = None
    ) -> None:
        self._document = document
        self._rig = rig
        self._shape_nodes = shape_nodes or {}
        self._number = {node: i for i, node in enumerate(nodes)}
        self._has_matrix = rig.has_matrix.tolist()
        # Most channels share their times, by one accessor or by several with equal content.
        self._times: dict[int, Floats] = {}
        self._times_by_content: dict[bytes, Floats] = {}

    def read(self) -> tuple[Animations, list[int]]:
        """All animations of the file that move the rig, and their numbers. Raises FileError."""
        animations, numbers = [], []
        for number, element in enumerate(self._document.all("animations")):
            tracks = self._read_tracks(element)
            shapes = tuple(self._read_shape_tracks(element)) if self._shape_nodes else ()
            if tracks or shapes:
                name = element.string("name", f"animation_{number}")
                animations.append(Animation(name, tracks, self._rig, shapes))
                numbers.append(number)
        return Animations(animations), numbers

    def _read_tracks(self, animation: Element) -> tuple[Track, ...]:
        """Tracks of an animation; channels with the same path, interpolation and times make one track."""
        samplers = animation.children("samplers")
        groups: dict[tuple[str, str, int], _Channels] = {}
        for element in animation.children("channels"):
            self._read_channel(element, samplers, groups)
        return tuple(
            Track(
                path=group.path,
                interpolation=group.interpolation,
                nodes=np.array(group.nodes),
                times=group.times,
                values=self._read_values(group),
            )
            for group in groups.values()
        )

    def _read_channel(
        self, channel: Element, samplers: list[Element], groups: dict[tuple[str, str, int], _Channels]
    ) -> None:
        """Add a channel to its group, unless it moves morph targets or no node of the rig."""
        target = channel.child("target")
        path = target.string("path")
        if path not in _COMPONENTS or "node" not in target:
            return
        number = target.integer("node")
        node = self._number.get(number)
        if node is None:
            self._document.get("nodes", number, target, "node")
            return
        if self._has_matrix[node]:
            raise target.error("a node that is given by a matrix cannot be moved", "node")
        sampler, interpolation, times = self._read_sampler(channel, samplers)
        key = path, interpolation, id(times)
        group = groups.get(key)
        if group is None:
            group = _Channels(cast(TrackPath, path), interpolation, times)
            groups[key] = group
        accessor = self._document.follow("accessors", sampler, "output")
        needed = len(times) * (3 if interpolation == "CUBICSPLINE" else 1)
        if accessors.count(accessor) != needed:
            raise accessor.error(f"{accessors.count(accessor)} values, {needed} are needed for {len(times)} times")
        group.nodes.append(node)
        group.outputs.append(accessor)

    def _read_sampler(self, channel: Element, samplers: list[Element]) -> tuple[Element, Interpolation, Floats]:
        """The sampler of a channel, how it interpolates, and the times of its keys."""
        number = channel.integer("sampler")
        if number >= len(samplers):
            raise channel.error(f"{number}, but there are {len(samplers)} samplers", "sampler")
        sampler = samplers[number]
        interpolation = sampler.string("interpolation", "LINEAR")
        if interpolation not in ("LINEAR", "STEP", "CUBICSPLINE"):
            raise sampler.error(f"{interpolation[:20]!r} is no interpolation", "interpolation")
        return sampler, cast(Interpolation, interpolation), self._read_times(sampler)

    def _read_shape_tracks(self, animation: Element) -> Iterator[Track]:
        """Weights of morph targets: a track for each channel."""
        samplers = animation.children("samplers")
        for channel in animation.children("channels"):
            target = channel.child("target")
            if target.string("path") != "weights" or "node" not in target:
                continue
            first, count = self._shape_nodes.get(target.integer("node"), (0, 0))
            if not count:
                continue
            sampler, interpolation, times = self._read_sampler(channel, samplers)
            accessor = self._document.follow("accessors", sampler, "output")
            keys = (len(times), 3) if interpolation == "CUBICSPLINE" else (len(times),)
            needed = int(np.prod(keys)) * count
            if accessors.count(accessor) != needed:
                raise accessor.error(
                    f"{accessors.count(accessor)} values, {needed} are needed for {len(times)} times of {count} targets"
                )
            values = accessors.read_floats(self._document, accessor, "SCALAR").reshape(*keys, count, 1)
            yield Track("weights", interpolation, np.arange(first, first + count), times, values)

    def _read_times(self, sampler: Element) -> Floats:
        """Times of keys; equal times are the same array."""
        number = sampler.integer("input")
        if number not in self._times:
            accessor = self._document.follow("accessors", sampler, "input")
            times = accessors.read_floats(self._document, accessor, "SCALAR")[:, 0]
            for key in np.flatnonzero(np.diff(times) < 0.0)[:1]:
                raise accessor.error(f"time {key + 1} is before time {key}")
            self._times[number] = self._times_by_content.setdefault(times.tobytes(), times)
        return self._times[number]

    def _read_values(self, group: _Channels) -> Floats:
        """Keys (K, C, n), or (K, 3, C, n) with tangents; quaternions as (w, x, y, z), keys of unit length."""
        components = _COMPONENTS[group.path]
        cubic = group.interpolation == "CUBICSPLINE"
        values = accessors.read_stack(self._document, group.outputs, f"VEC{components}")
        if group.path == "rotation":
            values = values[:, :, [3, 0, 1, 2]]
            keys = values[:, 1::3] if cubic else values
            length = np.linalg.norm(keys, axis=2, keepdims=True)
            for channel, key, _ in np.argwhere(length == 0.0)[:1]:
                raise group.outputs[channel].error(f"key {key} is a quaternion of length 0")
            if not cubic:
                values /= length
        shape = (len(group.nodes), len(group.times), *((3,) if cubic else ()), components)
        return np.ascontiguousarray(np.moveaxis(values.reshape(shape), 0, -2))
