# SPDX-License-Identifier: MIT
"""Some of the meshes of a character, with their animations, options and file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..skinning.options import BlendOptions
from ..support.names import nearest_name
from .animation import Animation, Animations, Track
from .rig import Rig
from .triangle_mesh import Mesh

__all__ = ["KeptFile", "Selection", "part_numbers", "selected", "source_with_nodes", "unknown"]


@runtime_checkable
class KeptFile(Protocol):
    """A file that a character is written into: `Character.source`."""

    def of_parts(self, whole: Mesh, part: Selection, animations: dict[int, Animation]) -> object | None:
        """The same file for some parts of a mesh; None if the whole no longer fits it.

        `animations` has the animations of the parts by the identity of the whole's.
        """

    def with_nodes(self, before: Rig, rig: Rig) -> object | None:
        """The same file with the nodes that a rig has behind those before; None if it has other nodes before."""


@dataclass(frozen=True)
class Selection:
    """Some parts of a character.

    Attributes
    ----------
    numbers : list of int
    mesh : Mesh
    animations : Animations
    options : BlendOptions
    source : optional
    """

    numbers: list[int]
    mesh: Mesh
    animations: Animations
    options: BlendOptions
    source: object


def source_with_nodes(source: object, before: Rig, rig: Rig) -> object | None:
    """The source of a character with the new nodes of its rig; None if it can't have them."""
    return source.with_nodes(before, rig) if isinstance(source, KeptFile) else None


def unknown(name: str, names: Sequence[str]) -> str:
    """The message about a name that no mesh has."""
    return f"no mesh is named {name!r}; there are: {', '.join(names) or 'none with a name'}{nearest_name(name, names)}"


def part_numbers(mesh: Mesh, names: Sequence[str]) -> list[int]:
    """The parts of a mesh with these names.

    Raises
    ------
    ValueError
        If no part has such a name, or one is named twice.
    """
    known = [part.name for part in mesh.parts]
    for name in names:
        if name not in known:
            raise ValueError(unknown(name, known))
        if names.count(name) > 1:
            raise ValueError(f"mesh {name!r} is named twice")
    return [known.index(name) for name in names]


def selected(
    mesh: Mesh, animations: Animations, options: BlendOptions, source: object, numbers: Sequence[int]
) -> Selection:
    """Some parts of a character's mesh, with their animations, options and source."""
    chosen = sorted(numbers)
    part = mesh.of_parts(chosen)
    shapes = [shape for number in chosen for shape in mesh.parts[number].shapes if shape < len(mesh.shapes)]
    moving = Animations(_renumbered(animation, shapes) if mesh.shapes else animation for animation in animations)
    rows = np.concatenate([np.asarray(mesh.parts[number].vertices) for number in chosen])
    count = len(mesh.positions)
    own = {key: _chosen_rows(value, rows, count) for key, value in options.items()}
    result = Selection(chosen, part, moving, cast(BlendOptions, own), None)
    if isinstance(source, KeptFile):
        by_identity = {id(old): new for old, new in zip(animations, moving, strict=True)}
        result = replace(result, source=source.of_parts(mesh, result, by_identity))
    return result


def _chosen_rows(value: Any, rows: NDArray[np.intp], count: int) -> Any:
    """The value of some vertices of an option that has one for each vertex."""
    return value[rows] if isinstance(value, np.ndarray) and value.ndim > 0 and len(value) == count else value


def _renumbered(animation: Animation, shapes: list[int]) -> Animation:
    """The same with the tracks of some shapes alone, by their new numbers."""
    number = {old: new for new, old in enumerate(shapes)}
    tracks = []
    for track in animation.shape_tracks:
        columns = [column for column, shape in enumerate(track.nodes.tolist()) if shape in number]
        if columns:
            nodes = np.array([number[int(track.nodes[column])] for column in columns])
            tracks.append(Track("weights", track.interpolation, nodes, track.times, track.values[..., columns, :]))
    return replace(animation, shape_tracks=tuple(tracks))
