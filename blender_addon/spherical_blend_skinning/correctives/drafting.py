# SPDX-License-Identifier: GPL-3.0-or-later
"""Correctives that the library drafts, made shape keys of the meshes of a rig."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ..core import library
from ..core.matrices import Floats
from ..engine import reading
from ..engine.bake import bake, shape_keys
from ..engine.correctives import correctives, swings
from ..interface.character import from_rig
from ..settings import libraries
from ..settings import rig as rig_settings
from ..settings.given import evaluated, pose_of
from ..settings.typed import mesh_of


class Drafted(NamedTuple):
    """Counts of a draft."""

    keys: int  #: How many shape keys were made
    left: dict[str, list[str]]  #: Drafts that are left out, by the reason
    refused: list[str]  #: Why meshes that drafts would move cannot have shape keys


def meshes(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes of a rig that get drafts."""
    return [item for item in rig_settings.meshes_of(armature) if bake.modifier_of(item) is not None]


def hindrance(armature: bpy.types.Object) -> str:
    """Why no mesh of a rig can get drafts, as all belong to libraries; empty if one can."""
    reasons = [libraries.hindrance([item]) for item in meshes(armature)]
    return reasons[0] if reasons and all(reasons) else ""


def draft(armature: bpy.types.Object, view_layer: bpy.types.ViewLayer, progress: Callable[[float], object]) -> Drafted:
    """Draft the hinges of a rig that are bent in the present pose, for all meshes that are bound to it.

    Raises ValueError if no mesh can get shape keys, no bone deforms, or no hinge is bent.
    """
    refused = {}
    for item in meshes(armature):
        try:
            shape_keys.positions_alone(item, view_layer)
        except ValueError as error:
            refused[item] = str(error)
    items = [item for item in meshes(armature) if item not in refused]
    if not items:
        raise ValueError("; ".join(refused.values()))
    made: Any = library.load("correctives").draft(
        from_rig(armature, with_triangles=True),
        poses=_pose(armature, view_layer)[None],
        progress=lambda share: progress(0.5 * share),
    )
    starts = _starts(armature)
    poses = Counter(drafted.target.skinning_matrices.tobytes() for drafted in made)
    keys = 0
    left: dict[str, list[str]] = {}
    with correctives.in_pose(armature, {}):
        for number, drafted in enumerate(made):
            progress(0.5 + 0.5 * number / len(made))
            is_alone = poses[drafted.target.skinning_matrices.tobytes()] == 1
            for item in items:
                try:
                    if is_alone:
                        keys += _add(item, armature, drafted, starts[item], view_layer)
                    else:
                        keys += _put(item, armature, drafted, starts[item])
                except ValueError as error:
                    left.setdefault(str(error), []).append(drafted.name)
    progress(1.0)
    moved = [drafted.shape.vertices for drafted in made]
    reasons = [why for item, why in refused.items() if any(_inside(item, each, starts[item]).any() for each in moved)]
    return Drafted(keys, left, reasons)


def _pose(armature: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> Floats:
    """The skinning matrices of the joints of a rig in its pose (J, 4, 4)."""
    posed = armature.evaluated_get(evaluated(view_layer))
    rests = reading.rig(armature, armature)
    joints, _parents = rests.joints()
    matrices = reading.pose_columns(posed).transpose(0, 2, 1)[joints].astype(np.float64)
    return np.asarray(matrices @ np.linalg.inv(rests.rests[joints]))


def _starts(armature: bpy.types.Object) -> dict[bpy.types.Object, int]:
    """Where the vertices of each mesh begin among those of the character."""
    starts, start = {}, 0
    for item in rig_settings.meshes_of(armature):
        starts[item] = start
        start += len(mesh_of(item).vertices)
    return starts


def _inside(item: bpy.types.Object, vertices: NDArray[np.int32], start: int) -> NDArray[np.bool_]:
    """Which of the character's vertices are of a mesh that begins at a number."""
    return (vertices >= start) & (vertices < start + len(mesh_of(item).vertices))


def _add(
    item: bpy.types.Object, armature: bpy.types.Object, drafted: Any, start: int, view_layer: bpy.types.ViewLayer
) -> int:
    """Add a drafted target of one mesh, to be met in its pose; how many shape keys that makes, 0 or 1."""
    target, bone = drafted.target, drafted.driver.joints[0]
    inside = _inside(item, target.vertices, start)
    if not inside.any():
        return 0
    swing = correctives.swing_about(armature, bone, Vector(drafted.coordinates[0].tolist()))
    correctives.set_pose(armature, {})
    pose_of(armature).bones[bone].matrix_basis = swings.rotation_of(swing).to_matrix().to_4x4()
    vertices = (target.vertices[inside] - start).astype(np.intp)
    to_item = np.linalg.inv(reading.place(item, armature))
    places = shape_keys.positions_alone(item, view_layer).astype(np.float64)
    places[vertices] = target.positions[inside] @ to_item[:3, :3].T + to_item[:3, 3]
    correctives.add(item, armature, bone, drafted.name, vertices, places, view_layer)
    return 1


def _put(item: bpy.types.Object, armature: bpy.types.Object, drafted: Any, start: int) -> int:
    """Add a shape drafted for several bones together: of each its part, as the library has shared it out."""
    shape, bone = drafted.shape, drafted.driver.joints[0]
    inside = _inside(item, shape.vertices, start)
    if not inside.any():
        return 0
    to_item = np.linalg.inv(reading.place(item, armature))
    deltas = np.zeros((len(mesh_of(item).vertices), 3))
    deltas[shape.vertices[inside] - start] = shape.deltas[inside] @ to_item[:3, :3].T
    swing = correctives.swing_about(armature, bone, Vector(drafted.coordinates[0].tolist()))
    correctives.put(item, armature, bone, swing, drafted.name, deltas)
    return 1
