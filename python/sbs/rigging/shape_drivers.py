# SPDX-License-Identifier: MIT
"""What files tell engines of the poses that drive shapes. docs/pose-drivers.schema.json is the schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import rotations
from .content import bind_skeleton
from .rig import Rig, decompose
from .shapes import BlendShape, ShapeDriver

__all__ = ["pose_drivers"]


def pose_drivers(
    rig: Rig, shapes: Sequence[BlendShape], names: Sequence[str], places: NDArray[np.intp] | None = None
) -> list[dict[str, Any]]:
    """The drivers of shapes, with the poses of each.

    Rotations and axes are in the axes of the joint that each turns against, so an engine needs no more of a pose than
    rotations between joints.

    Parameters
    ----------
    rig : Rig
    shapes : sequence of BlendShape
        Those without a driver are left out.
    names : sequence of str
        What the shapes are called in the file.
    places : (J,) ndarray, optional
        The number of each joint in the file, if it is another.
    """
    skeleton = bind_skeleton(rig)
    _, quaternions, _ = decompose(rig.bind_matrices)
    bind = rotations.matrices_from_quaternions(quaternions)
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for number, shape in enumerate(shapes):
        driver = shape.driver
        if driver is None:
            continue
        key = driver.joints, driver.parents, driver.axes, driver.part
        joints = skeleton.indices(driver.joints)
        parents = [-1 if name is None else skeleton.index(name) for name in driver.parents]
        if key not in found:
            found[key] = _driver(driver, joints, parents, bind)
            if places is not None:
                found[key]["source_joints"] = places[joints].tolist()
                found[key]["eval_space_joints"] = [int(places[parent]) if parent >= 0 else -1 for parent in parents]
        targets = [
            (row @ bind[parent] if parent >= 0 else row).tolist()
            for row, parent in zip(driver.coordinates, parents, strict=True)
        ]
        found[key]["pose_targets"].append({"driven_name": names[number], "target_rotations": targets})
    return list(found.values())


def _driver(driver: ShapeDriver, joints: list[int], parents: list[int], bind: Any) -> dict[str, Any]:
    """A driver without poses."""
    rest, axes = [], []
    for joint, parent, axis in zip(joints, parents, driver.axes, strict=True):
        above = bind[parent].T if parent >= 0 else rotations.matrices_from_quaternions([1.0, 0.0, 0.0, 0.0])
        w, x, y, z = rotations.quaternions_from_matrices(above @ bind[joint]).tolist()
        rest.append([x, y, z, w])
        axes.append((above @ axis).tolist())
    return {
        "source_bones": list(driver.joints),
        "source_joints": joints,
        "eval_space_bones": list(driver.parents),
        "eval_space_joints": parents,
        "rest_rotations": rest,
        "twist_axes": axes,
        "part": driver.part,
        "pose_targets": [],
    }
