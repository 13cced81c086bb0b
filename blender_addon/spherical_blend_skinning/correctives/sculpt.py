# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface to sculpt: an object of its own with the posed vertices, so brushes hit the visible surface.

It stands in for the mesh, which is hidden meanwhile. A file has one at most. All that is known of it lies in a custom
property of the scene, and in an attribute with where its vertices were, so saving, loading and undo need no care of
ours. If artists delete the surface, the mesh is shown again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..engine import reading
from ..engine.bake import bake, shape_keys
from ..engine.correctives import correctives
from ..settings.given import scene_of, view_layer_of
from ..settings.typed import mesh_of, persistent

_STATE = "sbs_sculpt"
_ATTRIBUTE = "sbs_posed"
# Vertices that moved by less were not sculpted: a share of the size.
_STILL = 1e-6
# A mesh that is farther, a share of the size, from where it was is in another pose.
_ELSEWHERE = 1e-4

# Whether an exporter finds the mesh in the place of the surface.
_is_aside = False


@dataclass(frozen=True)
class Sculpt:
    """The sculpt that is open."""

    scene: bpy.types.Scene  #: Where it is
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
        armature, values = bake.armature_of(self.item), _state(self.scene)
        if armature is None or "pose" not in values:
            yield
            return
        with correctives.in_pose(armature, values["pose"]):
            before = reading.vectors(mesh_of(self.surface), _ATTRIBUTE)
            now = shape_keys.positions_alone(self.item, view_layer)
            assert before is not None
            if np.linalg.norm(now - before, axis=1).max() > _ELSEWHERE * np.linalg.norm(np.ptp(before, axis=0)):
                raise ValueError(
                    f"{self.item.name} is not as it was when this sculpt began, in frame {values['frame']}: go back to "
                    "it, and bring goals of constraints, shape keys and settings back"
                )
            yield


def _state(scene: bpy.types.Scene) -> Any:
    """All that is known of the sculpt of a scene; empty if there is none."""
    values: Any = scene
    return values.get(_STATE, {})


def _of(scene: bpy.types.Scene) -> Sculpt | None:
    state = _state(scene)
    surface, item = state.get("surface"), state.get("item")
    return Sculpt(scene, surface, item, state["number"]) if surface is not None and item is not None else None


def present(context: bpy.types.Context) -> Sculpt | None:
    """The sculpt of the scene, whatever object is active; None if there is none."""
    return _of(scene_of(context))


def _in_file() -> Sculpt | None:
    return next(filter(None, map(_of, bpy.data.scenes)), None)


def hindrance() -> str:
    """Why no other sculpt can be opened, and no mesh be baked; empty if none is open in the file."""
    now = _in_file()
    return f"Accept or cancel the sculpt of {now.item.name} in {now.scene.name} first" if now is not None else ""


def begin(context: bpy.types.Context, item: bpy.types.Object, number: str = "") -> Sculpt:
    """Put the surface in the place of a bound mesh, and enter Sculpt Mode.

    Raises ValueError if the mesh has no shape of its own, or modifiers before ours change the number of its vertices.
    """
    scene = scene_of(context)
    positions = shape_keys.positions_alone(item, view_layer_of(context))
    before = context.object
    state = {"item": item, "number": number, "before": before or item, "frame": scene.frame_current}
    state["mode"] = before.mode if before is not None else "OBJECT"
    _to_object_mode(context)
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
    armature = bake.armature_of(item)
    if armature is not None:
        state["pose"] = correctives.read_pose(armature)
    values: Any = scene
    values[_STATE] = state | {"surface": surface}
    sculpt = Sculpt(scene, surface, item, number)
    _stand_in(sculpt)
    resume(context, sculpt)
    return sculpt


def _stand_in(sculpt: Sculpt) -> None:
    """Show the surface, and hide the mesh."""
    for collection in sculpt.item.users_collection:
        if sculpt.surface.name not in collection.objects:
            collection.objects.link(sculpt.surface)
    _hide(sculpt.scene, sculpt.item, True)


def _hide(scene: bpy.types.Scene, item: bpy.types.Object, is_hidden: bool) -> None:
    for layer in scene.view_layers:
        if item.name in layer.objects:
            item.hide_set(is_hidden, view_layer=layer)


def resume(context: bpy.types.Context, sculpt: Sculpt) -> None:
    """Enter Sculpt Mode of the surface."""
    _activate(context, sculpt.surface)
    bpy.ops.object.mode_set(mode="SCULPT")


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
    """Take the surface of a paused sculpt away, and go back to where the artist came from.

    But not to sculpting the rest mesh.
    """
    state = _state(sculpt.scene)
    before, mode = state["before"], state["mode"]
    mesh = mesh_of(sculpt.surface)
    bpy.data.objects.remove(sculpt.surface)
    bpy.data.meshes.remove(mesh)
    _close(sculpt.scene)
    target = before if before is not None and before.name in view_layer_of(context).objects else None
    _activate(context, target or sculpt.item)
    if target is not None and mode == "POSE":
        bpy.ops.object.mode_set(mode="POSE")


def _close(scene: bpy.types.Scene) -> None:
    """Show the mesh, and forget all that was known of the sculpt."""
    values: Any = scene
    item = values.pop(_STATE)["item"]
    if item is not None:
        _hide(scene, item, False)


def pause(context: bpy.types.Context, sculpt: Sculpt, *, is_repeated: bool) -> None:
    """Leave Sculpt Mode, so the surface has its shape, and the mode of whatever else is active."""
    _to_object_mode(context, is_repeated=is_repeated)
    if sculpt.surface.mode != "OBJECT":
        _activate(context, sculpt.surface)
        _to_object_mode(context, is_repeated=is_repeated)


def _to_object_mode(context: bpy.types.Context, *, is_repeated: bool = False) -> None:
    """Leave the mode of the active object.

    Undo gets a step of its own before Sculpt Mode is left. If the last one were a stroke, undo would put the object
    that is active by then into Sculpt Mode, and bring back nothing. That step is there already if the operator is
    repeated.
    """
    if context.object is None or context.object.mode == "OBJECT":
        return
    if context.object.mode == "SCULPT" and not is_repeated:
        bpy.ops.ed.undo_push(message="Sculpted")
    bpy.ops.object.mode_set(mode="OBJECT")


@contextmanager
def aside() -> Iterator[None]:
    """The mesh in the place of the surface meanwhile, where an exporter would find that."""
    global _is_aside
    now = _in_file()
    if now is None:
        yield
        return
    is_active = bpy.context.object == now.surface
    _is_aside = True
    _hide(now.scene, now.item, False)
    for collection in now.surface.users_collection:
        collection.objects.unlink(now.surface)
    try:
        yield
    finally:
        _is_aside = False
        # Undo may have replaced it.
        now = _in_file()
        if now is not None:
            _stand_in(now)
            if is_active:
                _activate(bpy.context, now.surface)


@persistent
def _deleted(*_arguments: object) -> None:
    """End a sculpt whose surface or mesh was deleted."""
    # Blender 3.4 crashes if data is removed here. Data without users is not saved.
    for scene in bpy.data.scenes if not _is_aside else ():
        state = _state(scene)
        if state and not all(item and item.name in scene.objects for item in (state["surface"], state["item"])):
            _close(scene)


HANDLERS = (("depsgraph_update_post", _deleted),)


def _activate(context: bpy.types.Context, item: bpy.types.Object) -> None:
    view_layer = view_layer_of(context)
    for other in list(view_layer.objects.selected):
        other.select_set(False)
    item.select_set(True)
    view_layer.objects.active = item
