# SPDX-License-Identifier: MIT
"""Puts morph targets into a glTF file, behind those that it has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...rigging import affine
from ...rigging.shape_drivers import pose_drivers
from ...rigging.shapes import BlendShape
from ...rigging.triangle_mesh import Mesh
from ...support.text import well_formed
from .output import Json, Output
from .source import Part, Source

__all__ = ["fill_shapes", "find_mesh_nodes"]


def fill_shapes(output: Output, source: Source, mesh: Mesh, joint_maps: dict[int, NDArray[np.int64]]) -> bool:
    """Add the shapes of a mesh that its file does not have.

    Parameters
    ----------
    output : Output
        The file of the source.
    source : Source
        One that fits.
    mesh : Mesh
    joint_maps : dict of int to (J,) ndarray
        The character's joint of each joint of a skin, of skins that got more joints.

    Returns
    -------
    bool
        False if a mesh has primitives that are no part of the character, which would need targets, too; or a joint that
        drives is none of its skin's.
    """
    meshes, nodes = output.json["meshes"], output.json["nodes"]
    for part, before in zip(mesh.parts, source.mesh.parts, strict=True):
        known = len(before.shapes)
        shapes = mesh.shapes[part.shapes.start + known : part.shapes.stop]
        if not shapes:
            continue
        primitives = [each for each in source.parts if each.first in part.vertices]
        element = meshes[primitives[0].mesh]
        if len(primitives) != len(element["primitives"]):
            return False
        every = mesh.shapes[part.shapes.start : part.shapes.stop]
        names = [well_formed(shape.name) for shape in every]
        joint_map = joint_maps.get(primitives[0].skin, primitives[0].joint_map)
        places = np.full(len(source.rig.joints), -1)
        places[joint_map] = np.arange(len(joint_map))
        drivers = pose_drivers(source.rig, every, names, places)
        if any(_lacks_a_joint(driver) for driver in drivers):
            return False
        for primitive in primitives:
            _add_targets(output, element["primitives"][primitive.primitive], primitive, shapes)
        extras = element.get("extras")
        element["extras"] = {**(extras if isinstance(extras, dict) else {}), "targetNames": names}
        if drivers:
            element["extras"]["pose_drivers"] = drivers
        holders = [element, *(nodes[node] for node in find_mesh_nodes(output.json, primitives[0].mesh))]
        for holder in holders:
            if holder is element or holder.get("weights") is not None:
                weights = holder.get("weights") or [0.0] * known
                holder["weights"] = [*weights, *(shape.weight for shape in shapes)]
    return True


def find_mesh_nodes(content: Json, mesh: int) -> list[int]:
    """The nodes that have a mesh."""
    return [number for number, node in enumerate(content["nodes"]) if node.get("mesh") == mesh]


def _lacks_a_joint(driver: Json) -> bool:
    above = zip(driver["eval_space_bones"], driver["eval_space_joints"], strict=True)
    return min(driver["source_joints"]) < 0 or any(name is not None and joint < 0 for name, joint in above)


def _add_targets(output: Output, primitive: Json, part: Part, shapes: Sequence[BlendShape]) -> None:
    """Add shapes to a primitive, in the space of its positions; all targets get the same attributes."""
    inverse = affine.inverse(part.matrix[None])[0][:3, :3]
    targets = primitive.get("targets") or []
    with_normals = "NORMAL" in primitive["attributes"] and all("NORMAL" in target for target in targets)
    with_normals &= bool(targets) or any(shape.normals is not None for shape in shapes)
    for shape in shapes:
        moved = shape.moved(inverse)
        inside = (shape.vertices >= part.first) & (shape.vertices < part.first + part.count)
        rows = shape.vertices[inside] - np.int32(part.first)
        target = {"POSITION": output.sparse_accessor(part.count, rows, moved.offsets[inside], bounds=True)}
        if with_normals:
            normals = np.zeros_like(moved.offsets) if moved.normals is None else moved.normals
            target["NORMAL"] = output.sparse_accessor(part.count, rows, normals[inside], bounds=False)
        targets.append(target)
    primitive["targets"] = targets
