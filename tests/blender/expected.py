# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes of a posed character by the library, read from Blender vertex by vertex and bone by bone."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import addon
import bpy
import numpy as np
import rigs
from mathutils import Matrix
from numpy.typing import NDArray
from objects import ArmatureObject, MeshObject, PoseBone, current_layer

Floats = NDArray[np.float64]

# A share of the size of the mesh; positions are carried in single precision.
TOLERANCE = 1e-5


class Posed(NamedTuple):
    """A character as it is posed.

    A matrix from the space of the mesh to that of the armature; the J bones that deform; weights (V, J); and skinning
    matrices (J, 4, 4) in armature space.
    """

    to_rig: Floats
    bones: list[PoseBone]
    weights: Floats
    matrices: Floats


def read(item: MeshObject, armature: ArmatureObject, mesh: bpy.types.Mesh | None = None) -> Posed:
    depsgraph = bpy.context.evaluated_depsgraph_get()
    posed = armature.evaluated_get(depsgraph)
    to_rig = np.linalg.inv(array(posed.matrix_world)) @ array(item.evaluated_get(depsgraph).matrix_world)
    if mesh is None:
        mesh = cast(bpy.types.Mesh, item.data)
    bones = [bone for bone in posed.pose.bones if bone.bone.use_deform]
    names = [bone.name for bone in bones]
    weights = np.zeros((len(mesh.vertices), len(bones)))
    for vertex in mesh.vertices:
        for entry in vertex.groups:
            name = item.vertex_groups[entry.group].name
            if name in names:
                weights[vertex.index, names.index(name)] = entry.weight
    matrices = np.array([array(bone.matrix) @ np.linalg.inv(array(bone.bone.matrix_local)) for bone in bones])
    matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
    return Posed(to_rig, bones, weights, matrices)


def deformed(
    item: MeshObject,
    armature: ArmatureObject,
    method: str = "spherical",
    rest: Floats | None = None,
    mesh: bpy.types.Mesh | None = None,
    limit: int | None = None,
    centers: Floats | None = None,
    **options: Any,
) -> Floats:
    """A mesh deformed by `sbs.Skin` in armature space, in double, and brought back to its own space, (V, 3).

    The mesh and its rest positions are those of the object unless they are given. Centers are in the mesh's space.
    """
    # The package that the add-on itself uses, which in a built archive may be its own.
    sbs = addon.module("core.library").load()
    to_rig, bones, weights, matrices = read(item, armature, mesh)
    if rest is None:
        rest = np.array([vertex.co for vertex in (mesh or item.data).vertices], np.float64)
    if limit is not None:
        dropped = np.argsort(-weights, axis=1, kind="stable")[:, limit:]
        np.put_along_axis(weights, dropped, 0.0, axis=1)
    indices = np.broadcast_to(np.arange(len(bones)), weights.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        more = {} if centers is None else {"centers": move(to_rig, centers)}
        skin = sbs.Skin(move(to_rig, rest), indices, weights, joint_count=len(bones), **more)
    return move(np.linalg.inv(to_rig), skin.deform(matrices, method=method, **options))


def bones_blended(
    item: MeshObject,
    armature: ArmatureObject,
    marked: Sequence[str] | None = None,
    rest: Floats | None = None,
    zones: Mapping[str, tuple[float, float]] | None = None,
    **options: Any,
) -> Floats:
    """As `deformed`, by `sbs.bones_blending` with options; for the bones of these names, or all.

    Some bones may say their zones themselves. Rest positions tell where the vertices are that move; those of the mesh,
    how far along bones.
    """
    sbs = addon.module("core.library").load()
    to_rig, bones, weights, matrices = read(item, armature)
    zones = zones or {}
    places = np.array([vertex.co for vertex in item.data.vertices], np.float64)
    names = [bone.name for bone in bones]
    blending = sbs.bones_blending(
        skeleton(sbs, bones),
        move(to_rig, places),
        joints=marked,
        influences=(np.broadcast_to(np.arange(len(bones)), weights.shape), weights),
        tails=[bone.bone.tail_local for bone in bones],
        t_min=[zones.get(name, (np.nan, np.nan))[0] for name in names],
        t_max=[zones.get(name, (np.nan, np.nan))[1] for name in names],
        **options,
    )
    if rest is not None:
        blending = replace(blending, rest_positions=move(to_rig, rest))
    return move(np.linalg.inv(to_rig), blending.skin().deform(matrices, **blending.options))


def fitted_zones(sbs: Any, item: MeshObject, armature: ArmatureObject) -> dict[str, tuple[float, float]]:
    """The zones of `sbs.quality.fit_zones`, by the names of bones that have a parent."""
    to_rig, bones, weights, _ = read(item, armature)
    item.data.calc_loop_triangles()
    found = sbs.quality.fit_zones(
        skeleton(sbs, bones),
        move(to_rig, np.array([vertex.co for vertex in item.data.vertices], np.float64)),
        [triangle.vertices[:] for triangle in item.data.loop_triangles],
        influences=(np.broadcast_to(np.arange(len(bones)), weights.shape), weights),
        tails=[bone.bone.tail_local for bone in bones],
    )
    ends = zip(found.t_min.tolist(), found.t_max.tolist(), strict=True)
    return {bone.name: zone for bone, zone in zip(bones, ends, strict=True) if np.isfinite(zone[0])}


def skeleton(sbs: Any, bones: Sequence[PoseBone]) -> Any:
    """The `sbs.Skeleton` of bones at rest; others between them are passed over."""
    names = [bone.name for bone in bones]
    parents = [next((names.index(b.name) for b in bone.parent_recursive if b.name in names), -1) for bone in bones]
    return sbs.Skeleton(parents, [array(bone.bone.matrix_local) for bone in bones], names)


def body(
    sbs: Any,
    bones: Sequence[PoseBone],
    places: Floats,
    weights: Floats,
    faces: NDArray[np.int32] | None = None,
    normals: Floats | None = None,
) -> Any:
    """The `sbs.Character` of bones and vertices (V, 3) with weights (V, J), in armature space."""
    indices = np.broadcast_to(np.arange(len(bones)), weights.shape)
    faces = np.empty((0, 3), np.int32) if faces is None else faces
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        return sbs.Character.from_mesh(sbs.Mesh(places, faces, indices, weights, normals), skeleton(sbs, bones))


def assert_right(item: MeshObject, armature: ArmatureObject, method: str = "spherical", **options: Any) -> None:
    assert error(rigs.evaluated(item), deformed(item, armature, method, **options)) < TOLERANCE


def in_world(item: MeshObject) -> Floats:
    """The vertices of an object after all of its modifiers, (V, 3), in world space."""
    current_layer().update()
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return move(array(evaluated.matrix_world), rigs.evaluated(item))


def kept_centers(item: MeshObject) -> Floats | None:
    """The rotation centers that the file keeps for a bound mesh, (V, 3) in its space; None if there are none."""
    modifier = addon.module("engine.stack.stack").find(item)
    name = addon.module("engine.nodes.live_group").CARRIER
    carrier = addon.module("engine.nodes.node_trees").get_input(modifier, name)
    found = addon.module("engine.stack.carriers").centers(carrier, len(item.data.vertices))
    return None if found is None else found.astype(np.float64)


def array(matrix: Matrix) -> Floats:
    """A matrix of Blender's, (4, 4), in double, which NumPy would not make of it by itself."""
    return np.array(matrix, np.float64)


def move(matrix: NDArray[np.floating[Any]], points: NDArray[np.floating[Any]]) -> Floats:
    """Points (V, 3) moved by a matrix (4, 4)."""
    moved: Floats = points @ matrix[:3, :3].T + matrix[:3, 3]
    return moved


def error(found: Floats, wanted: Floats) -> float:
    """The largest distance between vertices, as a share of the size of the mesh."""
    assert found.shape == wanted.shape
    size = np.ptp(wanted, axis=0).max()
    return float(np.linalg.norm(found - wanted, axis=1).max() / size)
