# SPDX-License-Identifier: MIT
"""Joints whose rotations drive, and their poses, as the core takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..rigging.bones import bone_segments
from ..rigging.skeleton import Skeleton

__all__ = ["PARTS", "Driver", "Part", "core_drivers", "find_coordinates", "find_driver"]

Floats = NDArray[np.float64]

Part = Literal["swing", "twist", "both"]
PARTS: tuple[Part, ...] = ("swing", "twist", "both")


@dataclass(frozen=True)
class Driver:
    """Joints whose rotations drive together, each against another one. `sbs/drivers.h` has the formula.

    Attributes
    ----------
    joints : tuple of str
    parents : tuple of str or None
        The joint that each of them turns against; None for the model.
    axes : tuple of (x, y, z)
        The direction of the bone of each at bind, a unit vector.
    part : {"swing", "twist", "both"}
        The part of the rotation that drives: the swing of the bone, its twist, or both.
    """

    joints: tuple[str, ...]
    parents: tuple[str | None, ...]
    axes: tuple[tuple[float, float, float], ...]
    part: Part = "swing"


def find_driver(skeleton: Skeleton, joints: Sequence[str | int], part: Part) -> Driver:
    """The driver of joints, in the order of the skeleton, each against its parent.

    Raises
    ------
    KeyError, ValueError
        If there are none, one of them is not in the skeleton, or the part is unknown.
    """
    if part not in PARTS:
        raise ValueError(f"part must be one of {[*PARTS]}, not {part!r}")
    numbers = sorted(set(skeleton.indices(joints)))
    if not numbers:
        raise ValueError("joints is empty: a pose needs a joint that drives it")
    heads, tails = bone_segments(skeleton)
    bones = tails - heads
    lengths = np.linalg.norm(bones, axis=1)
    axes = []
    for joint in numbers:
        # A joint without a bone has no twist that differs from its swing: any direction will do.
        x, y, z = bones[joint] / lengths[joint] if lengths[joint] > 0 else (0.0, 1.0, 0.0)
        axes.append((float(x), float(y), float(z)))
    above = [int(skeleton.parents[joint]) for joint in numbers]
    return Driver(
        tuple(skeleton.names[joint] for joint in numbers),
        tuple(None if parent < 0 else skeleton.names[parent] for parent in above),
        tuple(axes),
        part,
    )


def core_drivers(skeleton: Skeleton, poses: Sequence[tuple[Driver, Floats]]) -> _core.Drivers:
    """The core's drivers of poses, each with its coordinates (n, 3), in their order.

    Raises
    ------
    ValueError
        If two poses of a driver are too near each other, or one is too near the rest pose.
    """
    drivers = list(dict.fromkeys(driver for driver, _ in poses))
    parents = [[-1 if name is None else skeleton.index(name) for name in driver.parents] for driver in drivers]
    return _core.Drivers(
        len(skeleton),
        np.cumsum([len(driver.joints) for driver in drivers]),
        np.concatenate([skeleton.indices(driver.joints) for driver in drivers]),
        np.concatenate(parents),
        np.concatenate([driver.axes for driver in drivers]),
        [PARTS.index(driver.part) for driver in drivers],
        [drivers.index(driver) for driver, _ in poses],
        np.concatenate([coordinates for _, coordinates in poses]),
    )


def find_coordinates(skeleton: Skeleton, driver: Driver, skinning_matrices: ArrayLike) -> Floats:
    """The coordinates (n, 3) of a driver's joints in a pose: rotation vectors of the part that drives."""
    any_pose = np.ones((len(driver.joints), 3))
    found: Floats = core_drivers(skeleton, [(driver, any_pose)]).coordinates(np.asarray(skinning_matrices)[None])[0]
    return found
