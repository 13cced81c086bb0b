# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights from the capsules of bones, and capsules from the mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import assignment, library
from ..core.matrices import transform_points
from ..interface.rigged import RiggedMesh
from ..settings.typed import armature_data
from . import bones as bone_capsules
from .bones import BoneCapsules


class Assigned(NamedTuple):
    """The result of assigning weights."""

    changed: int  #: Vertices with other weights than before
    outside: int  #: Vertices outside of all outer capsules


def assign(
    mesh: RiggedMesh,
    *,
    chosen_bones: NDArray[np.bool_] | None = None,
    chosen_vertices: NDArray[np.bool_] | None = None,
    falloff: str = "linear",
    outside: str = "nearest",
    limit: int = 0,
    capsules: BoneCapsules | None = None,
) -> Assigned:
    """Weight vertices by capsules of the bones: by default, by the capsules that the bones have.

    The chosen bones (J,) get these weights, and the others share the rest; locked vertex groups keep theirs. At most so
    many bones move a vertex as the limit is, 0 for all. The rest is as of `sbs.weights.capsule_weights`.
    """
    weights = library.load("weights")
    points = points_in_rig(mesh)
    given = weights.Capsules(**(capsules or bone_capsules.read(mesh.bones))._asdict())
    new = weights.capsule_weights(points, given, falloff=falloff, outside=outside, limit=limit or None, dense=True)
    if chosen_bones is None:
        chosen_bones = np.ones(len(mesh.names), bool)
    combined = assignment.assign(mesh.dense(), new, chosen_bones, mesh.locked)
    concerned = points if chosen_vertices is None else points[chosen_vertices]
    return Assigned(
        changed=mesh.write(combined, chosen_vertices), outside=given.count_outside(concerned) if len(concerned) else 0
    )


def fit(meshes: Sequence[RiggedMesh], chosen_bones: NDArray[np.bool_] | None = None) -> int:
    """Fit the capsules of bones, by default all (J,), around all meshes of an armature; return how many."""
    mesh = meshes[0]
    points = np.concatenate([points_in_rig(other) for other in meshes])
    fitted = library.load("weights").fit_capsules(_as_skeleton(mesh), points, enabled=_are_heads(len(mesh.names)))
    if chosen_bones is None:
        chosen_bones = np.ones(len(mesh.names), bool)
    chosen = np.flatnonzero(chosen_bones)
    bones: list[bpy.types.Bone] = [mesh.bones[bone] for bone in chosen]
    bone_capsules.write(bones, fitted.inner_radii[chosen], fitted.outer_radii[chosen])
    armature_data(mesh.armature).update_tag()
    return len(bones)


def _as_skeleton(mesh: RiggedMesh) -> Any:
    """The J bones as a `sbs.Skeleton` of 2 J joints: each head with its tail as a child, which defines the bones."""
    count = len(mesh.names)
    present = bone_capsules.read(mesh.bones)
    matrices = np.tile(np.eye(4), (2 * count, 1, 1))
    matrices[:, :3, 3] = np.concatenate([present.heads, present.tails])
    parents = np.concatenate([np.full(count, -1), np.arange(count)])
    return library.load().Skeleton(parents, matrices)


def _are_heads(count: int) -> NDArray[np.bool_]:
    return np.arange(2 * count) < count


def points_in_rig(mesh: RiggedMesh) -> NDArray[np.float32]:
    """The vertices of a mesh, (V, 3), in the space of its armature."""
    return transform_points(mesh.to_rig, mesh.positions)
