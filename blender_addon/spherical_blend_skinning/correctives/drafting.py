# SPDX-License-Identifier: GPL-3.0-or-later
"""Correctives that the library drafts, made shape keys of the meshes of a rig."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ..core import library
from ..core.matrices import Floats
from ..engine import bake, correctives, reading, shape_keys
from ..interface.character import from_rig
from ..settings import rig as rig_settings
from ..settings.given import evaluated, pose_of
from ..settings.typed import mesh_of

__all__ = ["Drafted", "draft"]


class Drafted(NamedTuple):
    """What came of a draft.

    Attributes
    ----------
    keys : int
        How many shape keys were made.
    left : int
        How many drafts are of several bones together, as of fingers, or of a pose that has a corrective: these are
        left out.
    """

    keys: int
    left: int


def draft(armature: bpy.types.Object, view_layer: bpy.types.ViewLayer, progress: Callable[[float], object]) -> Drafted:
    """Draft the hinges of a rig that are bent in the present pose, for all meshes that are bound to it.

    Raises
    ------
    ValueError
        If a mesh cannot get shape keys, no bone deforms, or no hinge is bent.
    """
    items = [item for item in rig_settings.meshes_of(armature) if bake.modifier_of(item) is not None]
    for item in items:
        shape_keys.check(item)
    made: Any = library.load("correctives").draft(
        from_rig(armature, with_triangles=True),
        poses=_pose(armature, view_layer)[None],
        progress=lambda share: progress(0.5 * share),
    )
    starts = _starts(armature)
    before = correctives.read_pose(armature)
    keys = left = 0
    try:
        for number, drafted in enumerate(made):
            progress(0.5 + 0.5 * number / len(made))
            if len(drafted.driver.joints) != 1:
                left += 1
                continue
            bone = drafted.driver.joints[0]
            correctives.set_pose(armature, {})
            _swing(armature, bone, drafted.coordinates[0])
            for item in items:
                try:
                    keys += _add(item, armature, bone, drafted, starts[item], view_layer)
                except ValueError:
                    left += 1
    finally:
        correctives.set_pose(armature, before)
    progress(1.0)
    return Drafted(keys, left)


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


def _swing(armature: bpy.types.Object, bone: str, turned: Any) -> None:
    """Turn a bone at rest by a rotation vector in armature space."""
    posed = pose_of(armature).bones[bone]
    axis = posed.bone.matrix_local.to_3x3().inverted() @ Vector(np.asarray(turned, float).tolist())
    posed.matrix_basis = Quaternion(axis, axis.length).to_matrix().to_4x4()


def _add(
    item: bpy.types.Object,
    armature: bpy.types.Object,
    bone: str,
    drafted: Any,
    start: int,
    view_layer: bpy.types.ViewLayer,
) -> int:
    """Add what was drafted of one mesh; how many shape keys that makes, 0 or 1."""
    count = len(mesh_of(item).vertices)
    target = drafted.target
    inside = (target.vertices >= start) & (target.vertices < start + count)
    if not inside.any():
        return 0
    vertices = (target.vertices[inside] - start).astype(np.intp)
    from_rig_space = np.linalg.inv(reading.place(item, armature))
    places = shape_keys.positions_alone(item, view_layer).astype(np.float64)
    places[vertices] = target.positions[inside] @ from_rig_space[:3, :3].T + from_rig_space[:3, 3]
    correctives.add(item, armature, bone, drafted.name, vertices, places, view_layer)
    return 1
