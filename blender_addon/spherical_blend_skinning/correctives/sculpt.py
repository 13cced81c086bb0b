# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface to sculpt: an object of its own with the posed vertices, so brushes hit the visible surface.

It stands in for the mesh, which is hidden meanwhile. All that is known of it lies in its custom properties and in an
attribute with where its vertices were, so saving, loading and undo need no care of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ..engine import reading
from ..engine.bake import bake, shape_keys
from ..engine.correctives import correctives
from ..settings.given import scene_of, view_layer_of
from ..settings.typed import has_key, mesh_of

_ITEM, _NUMBER, _BEFORE, _MODE = "sbs_sculpt_of", "sbs_sculpt_number", "sbs_sculpt_before", "sbs_sculpt_mode"
_POSE, _FRAME = "sbs_sculpt_pose", "sbs_sculpt_frame"
_ATTRIBUTE = "sbs_posed"
# Vertices that moved by less were not sculpted: a share of the size.
_STILL = 1e-6
# A mesh that is farther, a share of the size, from where it was is in another pose.
_ELSEWHERE = 1e-4


@dataclass(frozen=True)
class Sculpt:
    """The sculpt that is open."""

    surface: bpy.types.Object  #: The posed copy that brushes work on
    item: bpy.types.Object  #: The bound mesh that it stands for
    number: str  #: The number of the edited corrective; empty for a new one

    def moved(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The vertices that were sculpted, and where all are now (V, 3).

        Raises ValueError if the surface has another number of vertices than before, or nothing was sculpted.
        """
        mesh = mesh_of(self.surface)
        attribute: Any = mesh.attributes.get(_ATTRIBUTE)
        count = len(mesh_of(self.item).vertices)
        if attribute is None or len(mesh.vertices) != count:
            raise ValueError(
                f"{self.surface.name} has {len(mesh.vertices)} vertices, and {self.item.name} {count}: "
                "tools that change the topology cannot be used here"
            )
        now, before = np.empty((count, 3), np.float32), np.empty((count, 3), np.float32)
        mesh.vertices.foreach_get("co", now.reshape(-1))
        attribute.data.foreach_get("vector", before.reshape(-1))
        distances = np.linalg.norm(now - before, axis=1)
        moved = np.flatnonzero(distances > _STILL * np.linalg.norm(np.ptp(before, axis=0)))
        if not len(moved):
            raise ValueError("Nothing was sculpted")
        return moved, now.astype(np.float64)

    @contextmanager
    def in_its_pose(self, view_layer: bpy.types.ViewLayer) -> Iterator[None]:
        """The pose in which it began, whatever frame or pose is shown.

        Raises ValueError if the mesh is elsewhere in this pose, as goals of constraints or other shape keys moved.
        """
        armature, values = bake.armature_of(self.item), cast(Any, self.surface)
        if armature is None or not has_key(self.surface, _POSE):
            yield
            return
        with correctives.in_pose(armature, values[_POSE]):
            before = reading.vectors(mesh_of(self.surface), _ATTRIBUTE)
            now = shape_keys.positions_alone(self.item, view_layer)
            assert before is not None
            if np.linalg.norm(now - before, axis=1).max() > _ELSEWHERE * np.linalg.norm(np.ptp(before, axis=0)):
                raise ValueError(
                    f"{self.item.name} is not as it was when this sculpt began, in frame {values[_FRAME]}: go back to "
                    "it, and bring goals of constraints, shape keys and settings back"
                )
            yield


def present(context: bpy.types.Context) -> Sculpt | None:
    """The sculpt of the active object; None if it is none."""
    surface = context.object
    if surface is None or not has_key(surface, _ITEM):
        return None
    values: Any = surface
    item = values[_ITEM]
    return Sculpt(surface, item, values.get(_NUMBER, "")) if isinstance(item, bpy.types.Object) else None


def begin(context: bpy.types.Context, item: bpy.types.Object, number: str = "") -> Sculpt:
    """Put the surface in the place of a bound mesh, and enter Sculpt Mode.

    Raises ValueError if the mesh has no shape of its own, or modifiers before ours change the number of its vertices.
    """
    view_layer = view_layer_of(context)
    positions = shape_keys.positions_alone(item, view_layer)
    before = context.object
    mode = before.mode if before is not None else "OBJECT"
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    mesh = mesh_of(item).copy()
    mesh.name = f"{item.name}, posed"
    surface = bpy.data.objects.new(mesh.name, mesh)
    _remove_shape_keys(surface)
    mesh.vertices.foreach_set("co", positions.reshape(-1))
    attribute: Any = mesh.attributes.new(_ATTRIBUTE, "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", positions.reshape(-1))
    mesh.update()
    surface.matrix_world = item.matrix_world
    surface.show_wire = item.show_wire
    surface.hide_render = True
    values: Any = surface
    values[_ITEM], values[_NUMBER], values[_BEFORE], values[_MODE] = item, number, before or item, mode
    armature = bake.armature_of(item)
    if armature is not None:
        values[_POSE], values[_FRAME] = correctives.read_pose(armature), scene_of(context).frame_current
    for collection in item.users_collection:
        collection.objects.link(surface)
    item.hide_set(True)
    _activate(context, surface)
    bpy.ops.object.mode_set(mode="SCULPT")
    return Sculpt(surface, item, number)


def _remove_shape_keys(item: bpy.types.Object) -> None:
    """Remove the shape keys of a copied mesh."""
    keys = mesh_of(item).shape_keys
    if keys is None:
        return
    name = keys.name
    item.shape_key_clear()
    # Before Blender 5.2, copying a mesh counts one user of its shape keys too many, so they would stay in the file.
    left = [keys for keys in bpy.data.shape_keys if keys.name == name and keys.library is None]
    bpy.data.batch_remove(left)


def end(context: bpy.types.Context, sculpt: Sculpt) -> None:
    """Take the surface away, and go back to where the artist came from, but not to sculpting the rest mesh."""
    values: Any = sculpt.surface
    before, mode = values.get(_BEFORE), values.get(_MODE, "OBJECT")
    leave(context)
    mesh = mesh_of(sculpt.surface)
    bpy.data.objects.remove(sculpt.surface)
    bpy.data.meshes.remove(mesh)
    sculpt.item.hide_set(False)
    target = before if isinstance(before, bpy.types.Object) and before.name in view_layer_of(context).objects else None
    _activate(context, target or sculpt.item)
    if target is not None and mode == "POSE":
        bpy.ops.object.mode_set(mode="POSE")


def leave(context: bpy.types.Context) -> None:
    """Leave Sculpt Mode, so the mesh has the sculpted shape."""
    if context.object is not None and context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


def _activate(context: bpy.types.Context, item: bpy.types.Object) -> None:
    view_layer = view_layer_of(context)
    for other in list(view_layer.objects.selected):
        other.select_set(False)
    item.select_set(True)
    view_layer.objects.active = item
