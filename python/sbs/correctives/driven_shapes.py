# SPDX-License-Identifier: MIT
"""Correctives from the blend shapes of a file: which joint drives each, its animations tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..rigging.animation import Animation
from ..rigging.shapes import BlendShape
from ..skinning.shapes import Shape
from .correctives import Corrective, Correctives
from .drivers import Driver, Part, core_drivers, find_driver
from .making import made_for

__all__ = ["from_shapes"]

Floats = NDArray[np.float64]

LEAST_WEIGHT, LEAST_TURN = 0.05, 0.05
"""A shape has to come in by so much, and a joint to turn by so many radians then."""

MISFIT = 0.25
"""The root mean square by which weights may differ from a driver's, as a share of their own."""


def from_shapes(
    character: Character,
    joints: Mapping[str, Iterable[str | int]] | None = None,
    *,
    part: Part = "swing",
    fps: float = 30.0,
) -> Correctives:
    """Correctives from blend shapes that have drivers, or that animations move together with joints.

    Files of `as_blend_shapes` tell the drivers. Else the pose of a shape is that in which its weight is largest, and it
    is driven by the joint whose turns explain its weights best. Shapes that no joint explains, such as those of a face,
    are left out.

    Parameters
    ----------
    character : Character
        With blend shapes that have drivers, or with at least one animation of them and of joints.
    joints : mapping of str to iterable of str or int, optional
        By names of shapes, the joints that drive them; others are found.
    part : {"swing", "twist", "both"}
        The part of rotations that drives.
    fps : float
        How many frames of a second are looked at.

    Returns
    -------
    Correctives
        Their shapes are given: `Correctives.solve` leaves them as they are. They are for linear blending, as engines
        have it, or for the method that the file asks for.

    Raises
    ------
    KeyError
        If there is no shape or joint of a name.
    ValueError
        If two shapes have the same pose of the same joints, or `fps` is not positive.
    """
    given = {} if joints is None else {name: [*each] for name, each in joints.items()}
    shapes = {shape.name: number for number, shape in enumerate(character.mesh.shapes)}
    for name in given.keys() - shapes.keys():
        raise KeyError(f"no shape is named {name!r}")
    skeleton = character.skeleton
    alone = [find_driver(skeleton, [joint], part) for joint in range(len(skeleton))]
    result = Correctives(skeleton)
    made = made_for(character.skin, character.options or {"method": "linear"})
    result.insert(*(_corrective(name, parts, made) for name, parts in _driven(character, given).items()))
    moving = [animation for animation in character.animations if animation.shape_tracks]
    frames = [_frames(character, animation, fps) for animation in moving]
    if not frames:
        return result
    matrices, weights = (np.concatenate(arrays) for arrays in zip(*frames, strict=True))
    for name, number in shapes.items():
        if name in result:
            continue
        wanted = weights[:, number]
        peak = int(np.argmax(wanted))
        if wanted[peak] < LEAST_WEIGHT:
            continue
        drivers = [find_driver(skeleton, given[name], part)] if name in given else alone
        found = _best(character, drivers, matrices, wanted, peak, everything=name in given)
        if found is not None:
            driver, coordinates = found
            shape = character.mesh.shapes[number]
            own = Shape(shape.vertices, shape.offsets)
            result.insert(Corrective(name, driver, coordinates, None, own, made))
    return result


def _driven(character: Character, given: Mapping[str, object]) -> dict[str, list[BlendShape]]:
    """The shapes that have a driver, and are given no other, by name: those of all parts of the mesh."""
    found: dict[str, list[BlendShape]] = {}
    for shape in character.mesh.shapes:
        if shape.driver is not None and shape.name not in given:
            found.setdefault(shape.name, []).append(shape)
    return found


def _corrective(name: str, parts: list[BlendShape], made: str) -> Corrective:
    """The corrective of a shape that has a driver, from its pieces in the parts of the mesh."""
    given = parts[0].driver
    assert given is not None
    normals = [part.normals for part in parts if part.normals is not None]
    shape = Shape(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.offsets for part in parts]),
        np.concatenate(normals) if len(normals) == len(parts) else None,
    )
    driver = Driver(given.joints, given.parents, given.axes, cast("Part", given.part))
    return Corrective(name, driver, given.coordinates, None, shape, made)


def _frames(character: Character, animation: Animation, fps: float) -> tuple[Floats, Floats]:
    """Skinning matrices (F, J, 4, 4) and weights of shapes (F, S)."""
    times = np.array(animation.frames(fps)) / fps
    return animation.skinning_matrices(times), character.shape_motion(animation).weights(times)


def _best(
    character: Character, drivers: list[Driver], matrices: Floats, wanted: Floats, peak: int, *, everything: bool
) -> tuple[Driver, Floats] | None:
    """The driver whose weights are nearest to a shape's, with its coordinates where the shape's weight is 1."""
    skeleton = character.skeleton
    any_pose = [(driver, np.ones((len(driver.joints), 3))) for driver in drivers]
    coordinates = core_drivers(skeleton, any_pose).coordinates(matrices[peak][None])[0] / wanted[peak]
    ends = np.cumsum([len(driver.joints) for driver in drivers])
    poses = [
        (driver, rows)
        for driver, rows in zip(drivers, np.split(coordinates, ends[:-1]), strict=True)
        if everything or np.linalg.norm(rows) * wanted[peak] > LEAST_TURN
    ]
    if not poses:
        return None
    misfits = np.sqrt(np.mean((core_drivers(skeleton, poses).weights(matrices) - wanted[:, None]) ** 2, axis=0))
    best = int(np.argmin(misfits))
    return poses[best] if everything or misfits[best] <= MISFIT * np.sqrt(np.mean(wanted**2)) else None
