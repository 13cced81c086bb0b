# SPDX-License-Identifier: MIT
"""Correctives as blend shapes of a character, for files that engines and other programs read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..rigging.animation import Animation, Animations, Track
from ..rigging.shapes import BlendShape, ShapeDriver
from ..rigging.triangle_mesh import Mesh, MeshPart
from .correctives import Corrective, Correctives

__all__ = ["as_blend_shapes"]

Floats = NDArray[np.float64]


def as_blend_shapes(character: Character, correctives: Correctives, *, fps: float = 60.0) -> Character:
    """The character with correctives as blend shapes, whose weights are keys of every animation.

    Saved files then look like ``character.skin.deform(..., method="linear", correctives=)`` in every program that knows
    blend shapes; `to_linear` brings correctives of other methods to linear blending. The shapes have their drivers
    (`BlendShape.driver`), which GLB and USD files tell engines.

    Parameters
    ----------
    character : Character
    correctives : Correctives
        Solved for linear blending.
    fps : float
        Keys a second, beside those at the keys of the animation.

    Returns
    -------
    Character
        Shapes that it has already stay, but for those of the same names; without these all else of its glTF file is
        kept. A mesh of several parts gets in each part the shapes of all drivers that change it.

    Raises
    ------
    ValueError
        If a corrective has no shape yet, or one of a vertex that the mesh does not have; or `fps` is not positive and
        finite.
    """
    for each in correctives:
        if each.shape is None:
            raise ValueError(f"{each.name!r} is not solved")
        if len(each.shape.vertices) and each.shape.vertices.max() >= len(character.mesh.positions):
            raise ValueError(f"{each.name!r} is of another mesh: it has vertex {each.shape.vertices.max()}")
    mesh, kept, added = _with_shapes(character.mesh, correctives)
    animations = [_with_weights(animation, correctives, kept, added, fps) for animation in character.animations]
    return replace(character, mesh=mesh, animations=Animations(animations))


def _with_shapes(mesh: Mesh, correctives: Correctives) -> tuple[Mesh, dict[int, int], dict[int, int]]:
    """The mesh with its shapes and those of correctives.

    Also returns the new numbers of shapes that were kept, by the old ones; and for the number of each that was added
    that of its corrective.
    """
    shapes: list[BlendShape] = []
    parts: list[MeshPart] = []
    kept: dict[int, int] = {}
    added: dict[int, int] = {}
    for part in mesh.parts or (MeshPart("", range(len(mesh.positions)), range(len(mesh.shapes))),):
        start = len(shapes)
        for number in part.shapes:
            if mesh.shapes[number].name not in correctives:
                kept[number] = len(shapes)
                shapes.append(mesh.shapes[number])
        drivers = {each.driver for each in correctives if len(_blend_shape(each, part.vertices).vertices)}
        for number, each in enumerate(correctives):
            # An engine finds weights by all poses of a driver, also by those that change nothing here.
            if each.driver in drivers:
                added[len(shapes)] = number
                shapes.append(_blend_shape(each, part.vertices))
        parts.append(MeshPart(part.name, part.vertices, range(start, len(shapes))))
    return replace(mesh, shapes=tuple(shapes), parts=tuple(parts) if mesh.parts else ()), kept, added


def _blend_shape(corrective: Corrective, vertices: range) -> BlendShape:
    """The blend shape of a corrective at some vertices."""
    driver, shape = corrective.driver, corrective.shape
    assert shape is not None
    inside = (shape.vertices >= vertices.start) & (shape.vertices < vertices.stop)
    return BlendShape(
        corrective.name,
        np.asarray(shape.vertices[inside], np.int32),
        np.asarray(shape.deltas[inside], np.float32),
        normals=None if shape.normal_deltas is None else np.asarray(shape.normal_deltas[inside], np.float32),
        driver=ShapeDriver(driver.joints, driver.parents, driver.axes, driver.part, corrective.coordinates),
    )


def _with_weights(
    animation: Animation, correctives: Correctives, kept: dict[int, int], added: dict[int, int], fps: float
) -> Animation:
    """An animation with keys of the weights of correctives, and its own of the shapes that were kept."""
    tracks = []
    for track in animation.shape_tracks:
        columns = [column for column, node in enumerate(track.nodes.tolist()) if node in kept]
        if columns:
            nodes = np.array([kept[int(track.nodes[column])] for column in columns])
            tracks.append(replace(track, nodes=nodes, values=track.values[..., columns, :]))
    if added:
        keys = [track.times for track in (*animation.tracks, *animation.shape_tracks)]
        times = np.unique(np.concatenate([np.array(animation.frames(fps)) / fps, *keys]))
        weights = correctives.weights(animation.skinning_matrices(times))[:, list(added.values())]
        tracks.append(Track("weights", "LINEAR", np.array([*added]), times, weights[..., None]))
    return replace(animation, shape_tracks=tuple(tracks))
