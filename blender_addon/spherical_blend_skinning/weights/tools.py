# SPDX-License-Identifier: GPL-3.0-or-later
"""The tools of `sbs.weights`, applied to the vertex groups of a mesh."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import assignment, library
from ..core.matrices import inverse, transform_points
from ..interface import rigged
from ..settings.typed import mesh_of

# What `sbs.weights.check` finds, in Blender's terms.
_DEFECTS = {
    "off_sum": "do not sum to 1",
    "too_many": "have too many bones",
    "unweighted": "have no weight",
    "unequal_seams": "differ from others at the same point",
}


class CopyResult(NamedTuple):
    """The result of mirroring or transferring weights."""

    changed: int  #: Vertices with other weights than before
    unmatched: NDArray[np.intp]  #: (N,): vertices that are too far from the source surface; they keep their weights


def smooth(
    mesh: rigged.RiggedMesh,
    *,
    iterations: int,
    strength: float,
    limit: int = 0,
    chosen: NDArray[np.bool_] | None = None,
) -> int:
    """Smooth weights over the surface, by default all (V,), and return how many vertices changed.

    Locked vertex groups keep theirs; at most so many bones move a vertex as the limit is, 0 for all. The rest is as of
    `sbs.weights.smooth`.
    """
    weights = library.load("weights")
    indices, values = mesh.influences()
    smoothed = weights.smooth(
        mesh.positions,
        mesh.triangles,
        indices,
        values,
        iterations=iterations,
        strength=strength,
        limit=limit or len(mesh.names),
        mask=chosen,
        locked=mesh.locked,
    )
    return mesh.write(weights.to_dense(*smoothed, len(mesh.names)), chosen)


def widen(mesh: rigged.RiggedMesh, *, reach: float, limit: int = 0, chosen: NDArray[np.bool_] | None = None) -> int:
    """Make weights for spherical blending from those that there are, and return how many vertices changed.

    The options are those of `smooth` and of `sbs.weights.widen`.
    """
    weights = library.load("weights")
    widened = weights.widen(
        transform_points(mesh.to_rig, mesh.positions),
        mesh.triangles,
        *mesh.influences(),
        np.array([bone.head_local for bone in mesh.bones], np.float64),
        np.array([bone.tail_local for bone in mesh.bones], np.float64),
        reach=reach,
        limit=limit or len(mesh.names),
        mask=chosen,
        locked=mesh.locked,
    )
    return mesh.write(weights.to_dense(*widened, len(mesh.names)), chosen)


def mirror(mesh: rigged.RiggedMesh, *, axis: str, source: str, tolerance: float) -> CopyResult:
    """Give one side of a mesh the weights of the other, mirrored in the mesh's own space, as `sbs.weights.mirror` does.

    The tolerance is how far the image of a vertex may be from the other side, as a share of the mesh's size.
    """
    weights = library.load("weights")
    heads = np.array([bone.head_local for bone in mesh.bones], np.float32)
    in_mesh = transform_points(inverse(mesh.to_rig), heads)
    counterparts = weights.mirror_joints(mesh.names, in_mesh, axis=axis).joints
    positions = mesh.positions
    size = float(np.linalg.norm(np.ptp(positions, axis=0)))
    result = weights.mirror(
        positions,
        mesh.triangles,
        *mesh.influences(),
        counterparts,
        source=source,
        axis=axis,
        tolerance=tolerance * size,
    )
    new = weights.to_dense(result.joint_indices, result.joint_weights, len(mesh.names))
    return CopyResult(_assign(mesh, new), result.unmatched)


def transfer(source: rigged.RiggedMesh, target: rigged.RiggedMesh, *, limit: int, max_distance: float) -> CopyResult:
    """Give a mesh the weights of the nearest points of another one of its armature, by their places in the scene.

    At most so many bones move a vertex as the limit is, 0 for all. Vertices that are farther than the distance, in the
    units of the armature and 0 for any, keep their weights.
    """
    weights = library.load("weights")
    result = weights.transfer(
        transform_points(source.to_rig, source.positions),
        source.triangles,
        *source.influences(),
        transform_points(target.to_rig, target.positions),
        limit=limit or None,
        max_distance=max_distance or None,
    )
    new = weights.to_dense(result.joint_indices, result.joint_weights, len(target.names))
    matched = np.ones(len(new), bool)
    matched[result.unmatched] = False
    return CopyResult(_assign(target, new, matched), result.unmatched)


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
    weights = library.load("weights")
    result = weights.heat_weights(
        transform_points(mesh.to_rig, mesh.positions),
        mesh.triangles,
        np.array([bone.head_local for bone in mesh.bones], np.float64),
        np.array([bone.tail_local for bone in mesh.bones], np.float64),
        limit=limit or None,
    )
    new = weights.to_dense(result.joint_indices, result.joint_weights, len(mesh.names))
    return _assign(mesh, new), str(result.report)


def _assign(mesh: rigged.RiggedMesh, new: NDArray[np.floating], chosen: NDArray[np.bool_] | None = None) -> int:
    """Write new weights of all bones, except locked vertex groups; return how many vertices changed."""
    everyone = np.ones(len(mesh.names), bool)
    old = mesh.dense()
    return mesh.write(assignment.assign(old, new.astype(np.float32), everyone, mesh.locked), chosen)
