# SPDX-License-Identifier: MIT
"""Shapes for linear blending, as every engine has it: with them a pose looks as by another method."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..rigging.skeleton import Skeleton
from ..skinning.options import BlendOptions
from ..skinning.skin import Skin
from ..support import rotations
from .correctives import Correctives
from .drivers import Driver
from .solving import After, Solution, finished

__all__ = ["pose_alone", "to_linear"]

Floats = NDArray[np.float64]

STEP = 45.0
"""Degrees from one pose to the next."""

TOLERANCE = 1e-5
"""Deltas below this share of the size are dropped."""


def to_linear(
    correctives: Correctives,
    skin: Skin,
    linear_skin: Skin,
    *,
    step: float = STEP,
    triangles: ArrayLike | None = None,
    tolerance: float = TOLERANCE,
    after: After | None = None,
    **options: Unpack[BlendOptions],
) -> tuple[Correctives, dict[str, Solution]]:
    """Correctives for linear blending that look as these do by another method, in their poses.

    Each is solved in the pose in which only its joints are turned. So a shape corrects linear blending at these
    joints, everywhere on the mesh: morph targets for an engine, by the same drivers. Between the poses they are
    approximate. `Correctives.meet` then meets targets in their own poses, in which other joints may be turned, too.

    Parameters
    ----------
    correctives : Correctives
        Solved.
    skin : Skin
        The skin that they were solved for, such as one with centers and a twist.
    linear_skin : Skin
        The skin for linear blending, such as ``character.skin``.
    step : float
        Poses in between are added, so that no joint turns by more degrees from one to the next: the error of linear
        blending grows with the square of the angle, and weights evenly.
    triangles, tolerance
        As of `Correctives.solve`.
    after, method, rotation, center, damping, rcond, amount, base
        Options of the other method, as of `Correctives.solve`.

    Returns
    -------
    Correctives
        Poses in between are named "knee 1/2" of "knee".
    solutions : dict of str to Solution

    Raises
    ------
    ValueError
        As `Correctives.solve`, and if `step` is not positive.

    Warns
    -----
    SingularVertexWarning
        Where linear blending crushes vertices.
    """
    skeleton = correctives.skeleton
    result = Correctives(skeleton)
    if not step > 0:
        raise ValueError(f"step must be positive, not {step}")
    for each in correctives:
        count = int(np.ceil(_angle(each.coordinates) / step - 1e-6))
        for number in range(1, count + 1):
            coordinates = each.coordinates * number / count
            if number < count and _is_near(correctives, each.driver, coordinates, step / 3):
                continue
            matrices = pose_alone(skeleton, each.driver, coordinates)
            posed = finished(skin, matrices, correctives, after, options)
            name = each.name if number == count else f"{each.name} {number}/{count}"
            result.add(matrices, posed, joints=each.driver.joints, name=name, part=each.driver.part)
    return result, result.solve(linear_skin, triangles=triangles, tolerance=tolerance, method="linear")


def _angle(coordinates: Floats) -> float:
    """The largest angle of a joint, in degrees."""
    return float(np.degrees(np.linalg.norm(coordinates, axis=1)).max())


def _is_near(correctives: Correctives, driver: Driver, coordinates: Floats, degrees: float) -> bool:
    """Whether a driver has a pose so near to these coordinates."""
    return any(each.driver == driver and _angle(each.coordinates - coordinates) < degrees for each in correctives)


def pose_alone(skeleton: Skeleton, driver: Driver, coordinates: Floats) -> Floats:
    """Skinning matrices (J, 3, 4) of a pose in which the joints of a driver have some coordinates, and no other turns.

    A joint's own rotation follows that of its parent, about where it is at bind.
    """
    turns = np.tile(np.eye(3), (len(skeleton), 1, 1))
    for joint, axis, vector in zip(skeleton.indices(driver.joints), driver.axes, coordinates, strict=True):
        twist = np.dot(vector, axis) * np.asarray(axis)
        both = rotations.matrices_from_rotation_vectors(np.stack([vector - twist, twist]))
        turns[joint] = both[0] @ both[1]
    found = np.empty((len(skeleton), 3, 4))
    for joint in skeleton.order.tolist():
        parent, place = int(skeleton.parents[joint]), skeleton.joint_positions[joint]
        own = np.concatenate([turns[joint], (place - turns[joint] @ place)[:, None]], axis=1)
        if parent < 0:
            found[joint] = own
        else:
            found[joint, :, :3] = found[parent, :, :3] @ own[:, :3]
            found[joint, :, 3] = found[parent, :, :3] @ own[:, 3] + found[parent, :, 3]
    return found
