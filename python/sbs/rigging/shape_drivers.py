# SPDX-License-Identifier: MIT
"""The drivers of shapes in files, for engines. docs/pose-drivers.schema.json is the schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support import rotations
from .content import SkinnedMesh, bind_skeleton
from .rig import Floats, Rig, decompose
from .shapes import BlendShape, ShapeDriver

__all__ = ["driven_shapes", "pose_drivers"]


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
        Without a driver they are left out.
    names : sequence of str
        The names of the shapes in the file.
    places : (J,) ndarray, optional
        The number of each joint in the file, if it is another.
    """
    skeleton = bind_skeleton(rig)
    bind = _bind_rotations(rig)
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


def _bind_rotations(rig: Rig) -> Floats:
    """From the axes of each joint to those of bind space, (J, 3, 3)."""
    _, quaternions, _ = decompose(rig.bind_matrices)
    return rotations.matrices_from_quaternions(quaternions)


def _driver(driver: ShapeDriver, joints: list[int], parents: list[int], bind: Floats) -> dict[str, Any]:
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


def driven_shapes(surface: SkinnedMesh, contents: Sequence[Any], rig: Rig) -> tuple[BlendShape, ...]:
    """The shapes of a surface with the drivers that its file has for each part."""
    shapes = list(surface.shapes)
    for part, content in zip(surface.parts, contents, strict=True):
        if isinstance(content, list) and part.shapes:
            drivers = _read_pose_drivers(content, rig)
            for number in part.shapes:
                shapes[number] = replace(shapes[number], driver=drivers.get(shapes[number].name))
    return tuple(shapes)


def _read_pose_drivers(content: list[Any], rig: Rig) -> dict[str, ShapeDriver]:
    """The inverse of `pose_drivers`: drivers by the names of shapes. Damaged ones, or of other joints, are left out."""
    skeleton, bind = bind_skeleton(rig), _bind_rotations(rig)
    found = {}
    for driver in content:
        try:
            joints, parents = tuple(driver["source_bones"]), tuple(driver["eval_space_bones"])
            numbers = [-1 if name is None else skeleton.index(name) for name in parents]
            above = [bind[number] if number >= 0 else np.eye(3) for number in numbers]
            skeleton.indices(joints)
            axes = _rows(driver["twist_axes"], above)
            poses = {each["driven_name"]: _rows(each["target_rotations"], above) for each in driver["pose_targets"]}
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        named = (*joints, *(name for name in parents if name is not None), *poses)
        names_are_texts = all(isinstance(name, str) for name in named)
        if names_are_texts and len(joints) == len(parents) > 0 and driver.get("part") in ("swing", "twist", "both"):
            directions = tuple((float(x), float(y), float(z)) for x, y, z in axes)
            for name, rows in poses.items():
                found[name] = ShapeDriver(joints, parents, directions, driver["part"], rows)
    return found


def _rows(content: Any, above: list[Floats]) -> Floats:
    """Vectors (n, 3) in bind space, from vectors in the axes of the joints above. Raises ValueError."""
    rows = np.array(content, np.float64)
    if rows.shape != (len(above), 3) or not np.isfinite(rows).all():
        raise ValueError(f"vectors have shape {rows.shape}, expected ({len(above)}, 3)")
    return np.stack([turn @ row for turn, row in zip(above, rows, strict=True)])
