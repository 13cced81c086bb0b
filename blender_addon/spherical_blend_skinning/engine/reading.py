# SPDX-License-Identifier: GPL-3.0-or-later
"""Read meshes and rigs from Blender into arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import TypeVar, cast

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..core.influences import VertexWeights, padded
from ..core.matrices import Floats, inverse, transposed
from ..core.rest import RestBones
from ..settings.given import pose_of
from ..settings.properties import SBS_PG_bone, settings_of_bone
from ..settings.typed import armature_data, mesh_of, values_of

_Number = TypeVar("_Number", bound=np.generic)


def matrix(value: Matrix) -> Floats:
    """A `mathutils.Matrix` as an array (4, 4)."""
    first, second, third, last = cast("tuple[Sequence[float], ...]", value)
    # Four times as fast as NumPy's conversion of rows.
    return np.array([*first, *second, *third, *last], np.float64).reshape(4, 4)


def place(item: bpy.types.Object, other: bpy.types.Object) -> Floats:
    """The matrix from the space of one object to that of another, (4, 4); do not write to it."""
    return _between(item.matrix_world.copy().freeze(), other.matrix_world.copy().freeze())


# Most objects do not move relative to their rig.
@lru_cache(maxsize=512)
def _between(inner: Matrix, outer: Matrix) -> Floats:
    # Copies, because Blender 4.5 refuses to read the rows of frozen matrices.
    result = inverse(matrix(outer.copy())) @ matrix(inner.copy())
    result.flags.writeable = False
    return result


def positions(mesh: bpy.types.Mesh) -> NDArray[np.float32]:
    """The vertices of a mesh, (V, 3)."""
    result = vectors(mesh, "position")
    if result is None:
        result = np.empty((len(mesh.vertices), 3), np.float32)
        mesh.vertices.foreach_get("co", result.reshape(-1))
    return result


def vectors(mesh: bpy.types.Mesh, name: str) -> NDArray[np.float32] | None:
    """The vectors (V, 3) of an attribute of vertices; None if there is none of that name."""
    attribute: bpy.types.Attribute | None = mesh.attributes.get(name)
    if attribute is None:
        return None
    result = np.empty((len(values_of(attribute)), 3), np.float32)
    values_of(attribute).foreach_get("vector", result.reshape(-1))
    return result


def write_vectors(mesh: bpy.types.Mesh, name: str, values: NDArray[np.floating]) -> None:
    """Write vectors (V, 3) to an attribute of vertices, which is added if there is none of that name."""
    attribute: bpy.types.Attribute | None = mesh.attributes.get(name)
    if attribute is None:
        attribute = mesh.attributes.new(name, "FLOAT_VECTOR", "POINT")
    values_of(attribute).foreach_set("vector", np.ascontiguousarray(values, np.float32).reshape(-1))


def key_points(block: bpy.types.ShapeKey) -> NDArray[np.float64]:
    """The vertices of a mesh by a shape key alone, (V, 3)."""
    found = np.empty(3 * len(block.data), np.float32)
    block.data.foreach_get("co", found)
    return found.reshape(-1, 3).astype(np.float64)


def triangles(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """The faces of a mesh cut into triangles, (T, 3)."""
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    return corners.reshape(-1, 3)


def vertex_weights(item: bpy.types.Object) -> VertexWeights:
    """The vertex groups of the mesh of an object."""
    elements = [list(vertex.groups) for vertex in mesh_of(item).vertices]
    counts = np.fromiter(map(len, elements), np.int32, len(elements))
    groups = np.array([element.group for element in chain.from_iterable(elements)], np.int32)
    weights = np.array([element.weight for element in chain.from_iterable(elements)], np.float32)
    return padded(counts, groups, weights)


def rig(armature: bpy.types.Object, posed: bpy.types.Object) -> RestBones:
    """The bones of an armature object at rest, in the order of its pose; of the second one, evaluated, their curves."""
    bones = armature_data(armature).bones
    names = tuple(pose_of(armature).bones.keys())
    # The pose has its own order, and for a moment after edits its bones differ from the armature's.
    number = {name: index for index, name in enumerate(bones.keys())}
    if not number.keys() >= set(names):
        raise ValueError("The pose has bones that the armature has no more")
    order = np.array([number[name] for name in names], np.intp)

    place = {name: index for index, name in enumerate(names)}
    members = [bones[name] for name in names]

    def read(name: str, dtype: type[_Number], width: int = 1) -> NDArray[_Number]:
        values: NDArray[_Number] = np.empty(width * len(bones), dtype)
        bones.foreach_get(name, values)
        return values.reshape(-1, width)[order]

    deforms, segments = read("use_deform", np.bool_).ravel(), read("bbone_segments", np.int32).ravel()
    curves = {}
    for index in np.flatnonzero(deforms & (segments > 1)).tolist():
        # Blender 3.4 has no other mapping.
        if getattr(members[index], "bbone_mapping_mode", "STRAIGHT") == "CURVED":
            curves[index] = _segment_ends(pose_of(posed).bones[index], rest=True)
    return RestBones(
        names=names,
        deforms=deforms,
        rests=transposed(read("matrix_local", np.float32, 16).reshape(-1, 4, 4)),
        lengths=read("length", np.float32).ravel().astype(np.float64),
        segments=segments,
        parents=np.array([place.get(bone.parent.name, -1) if bone.parent else -1 for bone in members], np.int32),
        marked=np.array([settings_of_bone(bone).bones_blending for bone in members], np.bool_),
        zones=np.array([_zone(settings_of_bone(bone)) for bone in members], np.float64).reshape(-1, 2),
        curves=curves,
    )


def _zone(settings: SBS_PG_bone) -> tuple[float, float]:
    """Where bones blending begins and ends along a bone, NaN if the radius of the limb determines it."""
    return (settings.t_min, settings.t_max) if settings.own_zone else (np.nan, np.nan)


def pose_columns(armature: bpy.types.Object) -> NDArray[np.float32]:
    """Bone to armature space of all bones in the pose, transposed, (B, 4, 4); the object must be an evaluated one."""
    bones = pose_of(armature).bones
    result = np.empty((len(bones), 4, 4), np.float32)
    bones.foreach_get("matrix", result.reshape(-1))
    return result


def segment_counts(armature: bpy.types.Object) -> NDArray[np.int32]:
    """How many segments each bone of an armature object has, (B,), in the order of the armature."""
    bones = armature_data(armature).bones
    counts = np.empty(len(bones), np.int32)
    bones.foreach_get("bbone_segments", counts)
    return counts


def segment_moves(armature: bpy.types.Object, bones: NDArray[np.intp]) -> list[Floats]:
    """How the ends of the segments of bending bones move from rest, for each an array (S + 1, 4, 4) in bone space."""
    moves = []
    for index in bones:
        bone = pose_of(armature).bones[int(index)]
        moves.append(_segment_ends(bone) @ inverse(_segment_ends(bone, rest=True)))
    return moves


def _segment_ends(bone: bpy.types.PoseBone, rest: bool = False) -> Floats:
    """The ends of the segments of an evaluated bending bone in its own space, (S + 1, 4, 4).

    Raises ValueError if Blender has not evaluated them since they were edited.
    """
    ends = range(bone.bone.bbone_segments + 1)
    try:
        return np.array([matrix(bone.bbone_segment_matrix(end, rest=rest)) for end in ends])
    except RuntimeError as error:
        raise ValueError(f"The segments of bone {bone.name} are not evaluated yet: change the frame") from error


def places_along(armature: bpy.types.Object, bone: int, points: NDArray[np.floating]) -> Floats:
    """Where points (N, 3) at rest in armature space are along a bending bone of an evaluated object, in segments."""
    # Blender maps one point per call. Its mapping has too many cases to repeat here.
    find = pose_of(armature).bones[bone].bbone_segment_index
    return np.array([sum(find(point)) for point in points.tolist()], np.float64)
