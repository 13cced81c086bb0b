# SPDX-License-Identifier: MIT
"""Morph targets that a file gets behind those that it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rigging import affine
from ..rigging.shape_drivers import pose_drivers
from ..rigging.shapes import BlendShape
from ..rigging.triangle_mesh import Mesh
from ..support.text import well_formed
from .source import Part, Source

__all__ = ["put_shapes"]

Floats = NDArray[np.float64]

Sparse = Callable[[int, NDArray[np.int32], Floats, bool], int]
"""Appends an accessor of so many vectors, some of which are not 0, with bounds or without."""


def put_shapes(
    json: dict[str, Any],
    source: Source,
    mesh: Mesh,
    joint_maps: dict[int, NDArray[np.int64]],
    sparse: Sparse,
) -> bool:
    """Adds the shapes of a mesh that its file does not have.

    Parameters
    ----------
    json : dict
        The file, which is changed.
    source : Source
        One that fits.
    mesh : Mesh
    joint_maps : dict of int to (J,) ndarray
        The character's joint of each joint of a skin, of skins that got more joints.
    sparse : callable
        See `Sparse`.

    Returns
    -------
    bool
        False if a mesh has primitives that are no part of the character, which would need targets, too; or a joint that
        drives is none of its skin's.
    """
    for number, part in enumerate(mesh.parts):
        known = len(source.mesh.parts[number].shapes)
        shapes = mesh.shapes[part.shapes.start + known : part.shapes.stop]
        if not shapes:
            continue
        primitives = [each for each in source.parts if each.first in part.vertices]
        element = json["meshes"][primitives[0].mesh]
        if len(primitives) != len(element["primitives"]):
            return False
        every = mesh.shapes[part.shapes.start : part.shapes.stop]
        names = [well_formed(shape.name) for shape in every]
        skin = primitives[0].skin
        joint_map = joint_maps.get(skin, primitives[0].joint_map)
        places = np.full(len(source.rig.joints), -1)
        places[joint_map] = np.arange(len(joint_map))
        drivers = pose_drivers(source.rig, every, names, places)
        if any(_lacks_a_joint(driver) for driver in drivers):
            return False
        for primitive in primitives:
            _put_targets(element["primitives"][primitive.primitive], primitive, shapes, sparse)
        extras = element.get("extras")
        element["extras"] = {**(extras if isinstance(extras, dict) else {}), "targetNames": names}
        if drivers:
            element["extras"]["pose_drivers"] = drivers
        holders = [element, *(json["nodes"][node] for node in mesh_nodes(json, primitives[0].mesh))]
        for holder in holders:
            if holder is element or holder.get("weights") is not None:
                before = holder.get("weights") or [0.0] * known
                holder["weights"] = [*before, *(shape.weight for shape in shapes)]
    return True


def mesh_nodes(json: dict[str, Any], mesh: int) -> list[int]:
    """The nodes that have a mesh."""
    return [number for number, node in enumerate(json["nodes"]) if node.get("mesh") == mesh]


def _lacks_a_joint(driver: dict[str, Any]) -> bool:
    above = zip(driver["eval_space_bones"], driver["eval_space_joints"], strict=True)
    return min(driver["source_joints"]) < 0 or any(name is not None and joint < 0 for name, joint in above)


def _put_targets(primitive: dict[str, Any], part: Part, shapes: Sequence[BlendShape], sparse: Sparse) -> None:
    """Adds shapes to a primitive, in the space of its positions; all targets get the same attributes."""
    inverse = affine.inverse(part.matrix[None])[0][:3, :3]
    targets = primitive.get("targets") or []
    with_normals = "NORMAL" in primitive["attributes"] and all("NORMAL" in target for target in targets)
    with_normals &= bool(targets) or any(shape.normals is not None for shape in shapes)
    for shape in shapes:
        moved = shape.moved(inverse)
        inside = (shape.vertices >= part.first) & (shape.vertices < part.first + part.count)
        rows = shape.vertices[inside] - np.int32(part.first)
        target = {"POSITION": sparse(part.count, rows, np.asarray(moved.offsets[inside], np.float64), True)}
        if with_normals:
            normals = np.zeros_like(moved.offsets) if moved.normals is None else moved.normals
            target["NORMAL"] = sparse(part.count, rows, np.asarray(normals[inside], np.float64), False)
        targets.append(target)
    primitive["targets"] = targets
