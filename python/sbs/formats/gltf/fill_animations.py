# SPDX-License-Identifier: MIT
"""Puts the animations of a character into a glTF file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...rigging.animation import Animation, Track
from ...rigging.triangle_mesh import Mesh
from ...support.text import well_formed
from .fill_shapes import find_mesh_nodes
from .output import Json, Output
from .source import Source

__all__ = ["fill_animations"]


def fill_animations(output: Output, source: Source, mesh: Mesh, animations: Sequence[Animation]) -> None:
    """Keep the animations that the character still has, and all that do not move it; add the others.

    An animation of the file that got other weights of shapes or more tracks keeps everything else.
    """
    more_shapes = source.lacks_shapes(mesh)
    if not more_shapes and list(map(id, animations)) == [id(animation) for animation, _ in source.animations]:
        return
    numbers = {id(animation): number for animation, number in source.animations}
    there = output.elements("animations")
    others = [element for number, element in enumerate(there) if number not in numbers.values()]
    ours = []
    for animation in animations:
        if not more_shapes and id(animation) in numbers:
            ours.append(there[numbers[id(animation)]])
            continue
        begins = next(((old, number) for old, number in source.animations if _begins_as(animation, old)), None)
        before = (there[begins[1]], len(begins[0].tracks)) if begins else ({"samplers": [], "channels": []}, 0)
        ours.append(_make_animation(output, source, mesh, animation, *before))
    output.json["animations"] = [each for each in ours if each["channels"]] + others  # glTF has none that moves nothing
    if not output.json["animations"]:
        del output.json["animations"]


def _begins_as(animation: Animation, old: Animation) -> bool:
    """Whether an animation has all tracks of an old one, and perhaps more behind these."""
    return bool(old.tracks) and list(map(id, animation.tracks[: len(old.tracks)])) == list(map(id, old.tracks))


def _make_animation(output: Output, source: Source, mesh: Mesh, animation: Animation, before: Json, known: int) -> Json:
    """An animation: some known tracks of one that the file has, and all others and weights of shapes anew."""
    shape_nodes = _find_shape_nodes(output, source, mesh)
    samplers = [*before["samplers"]]
    channels = [channel for channel in before["channels"] if not _is_of_shapes(channel, shape_nodes)]

    def add_channel(track: Track, times: int, keys: NDArray[np.floating], node: int) -> None:
        keys_number = output.accessor(keys.astype(np.float32))
        samplers.append({"input": times, "output": keys_number, "interpolation": track.interpolation})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": track.path}})

    for track in animation.tracks[known:]:
        times = output.accessor(_key_times(track), bounds=True)
        for column, node in enumerate(track.nodes.tolist()):
            add_channel(track, times, _find_keys(track, column), source.nodes[node])
    for node, shapes in shape_nodes.items():
        rest = [shape.weight for shape in mesh.shapes[shapes.start : shapes.stop]]
        for track in _join_shape_tracks(animation.shape_tracks, shapes, rest):
            times = output.accessor(_key_times(track), bounds=True)
            add_channel(track, times, track.values.reshape(-1), node)
    name = well_formed(animation.name)
    return {**before, "channels": channels, "samplers": samplers} | ({"name": name} if name else {})


def _find_shape_nodes(output: Output, source: Source, mesh: Mesh) -> dict[int, range]:
    """The shapes at each of the file's nodes that has any."""
    if not source.lacks_shapes(mesh):
        return {node: range(first, first + count) for node, (first, count) in source.shape_nodes.items()}
    numbers = {part.first: part.mesh for part in source.parts}
    return {
        node: part.shapes
        for part in mesh.parts
        for node in find_mesh_nodes(output.json, numbers[part.vertices.start])
        if len(part.shapes)
    }


def _is_of_shapes(channel: Json, shape_nodes: dict[int, range]) -> bool:
    """Whether a channel has the weights of the character's shapes."""
    target = channel["target"]
    return target.get("path") == "weights" and target.get("node") in shape_nodes


def _key_times(track: Track) -> NDArray[np.float32]:
    """Times as glTF needs them, in float32 and strictly increasing: keys that round to one time follow each other."""
    if track.times[-1] > np.finfo(np.float32).max:
        raise ValueError(f"a key at {track.times[-1]:g} s is later than the last time of glTF, which has float32")
    bits = track.times.astype(np.float32).view(np.int32).astype(np.int64)
    bits = np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)  # ordered as the numbers, also below 0
    places = np.arange(len(bits))
    bits = np.maximum.accumulate(bits - places) + places
    return np.where(bits < 0, -bits | -0x80000000, bits).astype(np.int32).view(np.float32)


def _find_keys(track: Track, column: int) -> NDArray[np.floating]:
    """The keys (K, n) of one node of a track, or its tangents and keys (3 K, n); quaternions as (x, y, z, w)."""
    values = track.values[..., column, :]
    if track.path == "rotation":
        values = np.roll(values, -1, axis=-1)
    return values.reshape(-1, values.shape[-1])


def _join_shape_tracks(tracks: Sequence[Track], shapes: range, rest: Sequence[float]) -> list[Track]:
    """Tracks of the weights of all shapes of a mesh, as glTF has them; shapes without a track keep those at rest.

    Tracks of some of the shapes that have their own times become linear ones at all of these times.
    """
    found = [track for track in tracks if np.isin(track.nodes, shapes).any()]
    if not found or (len(found) == 1 and np.array_equal(found[0].nodes, shapes)):
        return found
    times = np.unique(np.concatenate([track.times for track in found]))
    values = np.tile(np.array(rest, np.float64)[None, :, None], (len(times), 1, 1))
    for track in found:
        inside = np.isin(track.nodes, shapes)
        values[:, track.nodes[inside] - shapes.start] = track.sample(times)[:, inside]
    return [Track("weights", "LINEAR", np.array(shapes), times, values)]
