# SPDX-License-Identifier: GPL-3.0-or-later
"""The tools of `sbs.weights`, applied to the vertex groups of a mesh, for operators on weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import assignment, library
from ..core.matrices import Floats, transform_points
from ..interface import rigged
from ..settings.typed import mesh_of

# Defects by `sbs.weights.check`, in Blender's terms.
_DEFECTS = {
    "off_sum": "do not sum to 1",
    "too_many": "have too many bones",
    "unweighted": "have no weight",
    "unequal_seams": "differ from others at the same point",
}


def dense(mesh: rigged.RiggedMesh, joints: NDArray[np.int32], weights: NDArray[np.floating]) -> NDArray[np.float32]:
    """Influences (V, K) of a mesh as a matrix, (V, J)."""
    found: NDArray[np.float32] = library.load("weights").to_dense(joints, weights, len(mesh.names))
    return found


def ends(mesh: rigged.RiggedMesh) -> tuple[Floats, Floats]:
    """Heads and tails of the bones of a mesh, (J, 3), in armature space."""
    heads, tails = [bone.head_local for bone in mesh.bones], [bone.tail_local for bone in mesh.bones]
    return np.array(heads, np.float64), np.array(tails, np.float64)


class Checked(NamedTuple):
    """The result of a check."""

    vertices: NDArray[np.intp]  #: (N,): those with defects
    text: str  #: The defects, with counts


def check(mesh: rigged.RiggedMesh, *, limit: int) -> Checked:
    """Look for defects of the weights of a mesh; more bones at a vertex than the limit are too many, 0 for no limit."""
    found = library.load("weights").check(
        *mesh.influences(),
        len(mesh.names),
        positions=mesh.positions,
        triangles=mesh.triangles,
        max_influences=limit or None,
    )
    parts = {text: getattr(found, name) for name, text in _DEFECTS.items()}
    counts = [f"{len(vertices)} {text}" for text, vertices in parts.items() if len(vertices)]
    if found.unweighted_islands:
        counts.append(f"{len(found.unweighted_islands)} loose parts have no weight at all")
    idle = [mesh.names[joint] for joint in found.joints_without_weight]
    if idle:
        shown = ", ".join(idle[:3]) + (f" and {len(idle) - 3} more" if len(idle) > 3 else "")
        counts.append(f"bones without weight: {shown}")
    vertices = np.unique(np.concatenate(list(parts.values())))
    summary = f"{len(vertices)} of {len(mesh_of(mesh.item).vertices)} vertices have bad weights"
    return Checked(vertices, "; ".join([summary, *counts]))


def heat(mesh: rigged.RiggedMesh, *, limit: int) -> tuple[int, str]:
    """Automatic weights by heat; return how many vertices changed, and a text about the islands."""
    result = library.load("weights").heat_weights(
        transform_points(mesh.to_rig, mesh.positions), mesh.triangles, *ends(mesh), limit=limit or None
    )
    return assign(mesh, dense(mesh, result.joint_indices, result.joint_weights)), str(result.report)


def assign(mesh: rigged.RiggedMesh, new: NDArray[np.floating], chosen: NDArray[np.bool_] | None = None) -> int:
    """Write new weights (V, J), except of locked vertex groups; return how many vertices changed."""
    everyone = np.ones(len(mesh.names), bool)
    return mesh.write(assignment.assign(mesh.dense(), new.astype(np.float32), everyone, mesh.locked), chosen)
