# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag Vertex, by the pointer or by numbers, in the Weights menu of Weight Paint, and in the Pose menu."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector
from numpy.typing import NDArray

from ..core.dragging import Dragging, Patch, Reach
from ..engine.live import live, registry, states
from ..interface import rigged
from ..interface.action import Action
from ..settings.declared import choice, flag, integer, real, reals
from ..settings.given import manager_of, scene_of
from ..settings.properties import settings_of
from ..settings.typed import Menu, Operator, Result, mesh_of
from . import overlay
from .session import Session, begin, hindrance, prepare

# The fall-off of each curve of Blender's brushes; curves that sbs lacks count as the nearest.
_FALLOFFS = {
    "CONSTANT": "constant",
    "LIN": "linear",
    "SMOOTH": "smooth",
    "SMOOTHER": "smooth",
    "SPHERE": "sphere",
    "ROOT": "sphere",
    "SHARP": "quadratic",
    "SHARPER": "quadratic",
    "POW4": "quadratic",
    "INVSQUARE": "sphere",
}
_HINT = "Drag a vertex: left button   Radius: [ and ], or wheel while dragging   Undo a drag: Esc   End: Enter or Esc"
# How much a step changes the radius.
_STEP = 1.15


def active_brush(context: bpy.types.Context) -> tuple[float, str]:
    """The radius of the brush of Weight Paint in pixels, and its fall-off."""
    tools = context.tool_settings
    paint = tools.weight_paint if tools is not None else None
    brush = paint.brush if paint is not None else None
    # Since Blender 5.0 each mode has its own.
    unified: Any = getattr(paint, "unified_paint_settings", None) or getattr(tools, "unified_paint_settings", None)
    if brush is None:
        return (float(unified.size) if unified is not None else 50.0), "smooth"
    size = unified.size if unified is not None and unified.use_unified_size else brush.size
    return float(size), brush_falloff(brush)


def brush_falloff(brush: bpy.types.Brush) -> str:
    """The fall-off nearest to a brush's curve; by its name since Blender 5.0."""
    preset = getattr(brush, "curve_distance_falloff_preset", None) or getattr(brush, "curve_preset", "SMOOTH")
    return _FALLOFFS.get(str(preset), "smooth")


def candidates(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The bound objects whose vertices can be dragged: the active one, or those of the active armature."""
    active = context.object
    if active is None:
        return []
    if active.type == "ARMATURE":
        moved = [item for item in registry.bound_objects() if settings_of(item).armature == active]
        return [item for item in moved if item.visible_get()]
    return [active] if active.type == "MESH" else []


def find_vertex(
    context: bpy.types.Context, place: tuple[float, float]
) -> tuple[bpy.types.Object, int, NDArray[np.float32]] | None:
    """The vertex under a place in the region: its object, its number, and where it is in the object's space."""
    region, view = context.region, context.region_data
    depsgraph = context.evaluated_depsgraph_get()
    found = candidates(context)
    if region is None or view is None or not found:
        return None
    origin = view3d_utils.region_2d_to_origin_3d(region, view, place)
    direction = view3d_utils.region_2d_to_vector_3d(region, view, place)
    for _ in range(32):  # through objects in front
        hit, where, _normal, _face, item, _matrix = scene_of(context).ray_cast(depsgraph, origin, direction)
        if not hit or item is None:
            return None
        if item.original in found:
            break
        origin = where + 1e-4 * max(1.0, where.length) * direction
    else:
        return None
    original = item.original
    positions = live.shown(original)
    if positions is None:
        return None
    local = np.array(original.matrix_world.inverted_safe() @ where, np.float32)
    vertex = int(np.linalg.norm(positions - local, axis=1).argmin())
    return original, vertex, positions[vertex]


class SBS_OT_drag_vertex(Action, Operator):
    bl_idname = "sbs.drag_vertex"
    bl_label = "Drag Vertex"
    bl_description = (
        "Drag a vertex to where it should be in this pose: its weights follow, and those of others within the radius"
        " of the brush. An arc or a patch shows where its bones can take it"
    )

    vertex: int = integer("Vertex", "The vertex, of the active object", default=0, min=0)
    offset: bpy.types.bpy_prop_array[float] = reals(
        3, "Offset", "How far it should go, in the space of the object", subtype="TRANSLATION"
    )
    radius: float = real(
        "Radius",
        "How far from the vertex others go along, in the mesh at rest",
        default=0.1,
        min=1e-6,
        subtype="DISTANCE",
    )
    falloff: str = choice(
        "Falloff",
        "How much of the way others go",
        items=[
            ("smooth", "Smooth", ""),
            ("sphere", "Sphere", ""),
            ("linear", "Linear", ""),
            ("quadratic", "Sharp", ""),
            ("constant", "Constant", ""),
        ],
    )
    selected_bones: bool = flag(
        "Selected Bones", "Vertices may get the selected bones, and not only those of the vertex that is dragged"
    )

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        found = candidates(context)
        return hindrance(found[0]) if found else "Select a bound mesh, or pose its armature"

    def run(self, context: bpy.types.Context) -> str:
        """Without a pointer, by numbers."""
        item = candidates(context)[0]
        session = begin(item, self.vertex)
        count = session.drag(np.array(self.offset, np.float32), self._reach(item, self.radius))
        return f"Changed the weights of {count} vertices"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        if context.area is None or context.area.type != "VIEW_3D":
            return self.execute(context)
        self._session: Session | None = None
        self._pressed = (0.0, 0.0)
        self._radius = self.radius
        self._patch_session: Session | None = None
        self._patch: Patch | None = None
        self._known: tuple[object, Dragging] | None = None
        self._pixels, self.falloff = active_brush(context)
        context.area.header_text_set(_HINT)
        self._area = context.area
        manager_of(context).modal_handler_add(self)
        self._hover(context, event)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        try:
            return self._modal(context, event)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return self._end()
        except BaseException:
            self._end()
            raise

    def _modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        if event.type == "LEFTMOUSE" and event.value == "PRESS" and self._session is None:
            return self._press(context, event)
        if event.type == "LEFTMOUSE" and event.value == "RELEASE" and self._session is not None:
            self._session = None
            bpy.ops.ed.undo_push(message=self.bl_label)
            self._hover(context, event)
            return {"RUNNING_MODAL"}
        if event.type in ("MOUSEMOVE", "INBETWEEN_MOUSEMOVE"):
            self._follow(context, event)
            return {"RUNNING_MODAL"} if self._session is not None else {"PASS_THROUGH"}
        if event.type in ("ESC", "RIGHTMOUSE") and event.value == "PRESS":
            if self._session is None:
                return self._end()
            self._session.cancel()
            self._session = None
            overlay.hide()
            return {"RUNNING_MODAL"}
        if event.type in ("RET", "NUMPAD_ENTER") and event.value == "PRESS":
            return self._end()
        if self._changes_radius(event):
            self._follow(context, event)
            return {"RUNNING_MODAL"}
        # The view is moved between drags; during one nothing else happens.
        return {"RUNNING_MODAL"} if self._session is not None else {"PASS_THROUGH"}

    def cancel(self, _context: bpy.types.Context) -> None:
        self._end()

    def _press(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        place = _place(event)
        region = context.region
        if region is None or not (0 <= place[0] < region.width and 0 <= place[1] < region.height):
            return {"PASS_THROUGH"}
        found = find_vertex(context, place)
        if found is None:
            return {"PASS_THROUGH"}
        item, vertex, _point = found
        self._session = begin(item, vertex, self._prepared(item))
        self._known = None  # its weights are about to change
        self._pressed = place
        self._radius = self._radius_at(context, item, self._session.start)
        self._follow(context, event)
        return {"RUNNING_MODAL"}

    def _follow(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        """Drag on, or show the vertex to drag."""
        session = self._session
        if session is None:
            self._hover(context, event)
            return
        item = session.item
        world = item.matrix_world @ Vector(session.start.tolist())
        then, now = (_at_depth(context, place, world) for place in (self._pressed, _place(event)))
        way = np.array(item.matrix_world.inverted_safe().to_3x3() @ (now - then), np.float32)
        if way.any():
            session.drag(way, self._reach(item, self._radius))
        if self._patch_session is not session:
            self._patch_session, self._patch = session, session.patch()
        overlay.show(overlay.Shown(item.matrix_world.copy(), session.reached(), self._radius, self._patch))
        self._area.tag_redraw()

    def _hover(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        found = find_vertex(context, _place(event))
        self._area.tag_redraw()
        if found is None:
            overlay.hide()
            return
        item, vertex, point = found
        patch = self._prepared(item).patch(vertex) if not hindrance(item) else None
        radius = self._radius_at(context, item, point)
        overlay.show(overlay.Shown(item.matrix_world.copy(), point, radius, patch))

    def _prepared(self, item: bpy.types.Object) -> Dragging:
        """The `Dragging` of an object, made anew where its pose or weights have changed."""
        state = states.state_of(item)
        key = (item.name, state and (id(state.binding), state.pose))
        if self._known is None or self._known[0] != key:
            self._known = key, prepare(item)
        return self._known[1]

    def _changes_radius(self, event: bpy.types.Event) -> bool:
        wheel = self._session is not None
        up = event.type == "RIGHT_BRACKET" or (wheel and event.type == "WHEELUPMOUSE")
        down = event.type == "LEFT_BRACKET" or (wheel and event.type == "WHEELDOWNMOUSE")
        if not (up or down) or event.value != "PRESS":
            return False
        factor = _STEP if up else 1.0 / _STEP
        self._pixels *= factor
        self._radius *= factor
        return True

    def _radius_at(self, context: bpy.types.Context, item: bpy.types.Object, point: NDArray[np.float32]) -> float:
        """The radius of the brush, in the space of an object, as large as it is on the screen at a point."""
        world = item.matrix_world @ Vector(point.tolist())
        region = context.region
        middle = (0.5 * region.width, 0.5 * region.height) if region is not None else (0.0, 0.0)
        aside = (middle[0] + self._pixels, middle[1])
        across = (_at_depth(context, aside, world) - _at_depth(context, middle, world)).length
        return max(across / max(item.matrix_world.median_scale, 1e-12), 1e-6)

    def _reach(self, item: bpy.types.Object, radius: float) -> Reach:
        """The reach, by the settings of the mesh and of its vertex groups."""
        armature = settings_of(item).armature
        state = states.state_of(item)
        if armature is None or state is None or state.binding is None:
            raise ValueError(f"{item.name} is not deformed now")
        names = state.binding.rig.names
        groups = item.vertex_groups
        locked = tuple(bone for bone, name in enumerate(names) if name in groups and groups[name].lock_weight)
        bones = None
        if self.selected_bones:
            mesh = rigged.RiggedMesh(item, armature)
            chosen = {name for name, one in zip(mesh.names, rigged.selected_bones(mesh), strict=True) if one}
            bones = tuple(bone for bone, name in enumerate(names) if name in chosen)
        return Reach(radius, self.falloff, bones, locked, "x" if mesh_of(item).use_mirror_x else "")

    def _end(self) -> Result:
        if self._session is not None:
            self._session.cancel()
            self._session = None
        overlay.hide()
        self._area.header_text_set(None)
        self._area.tag_redraw()
        # Each drag is a step of undo already.
        return {"CANCELLED"}


def _place(event: bpy.types.Event) -> tuple[float, float]:
    return float(event.mouse_region_x), float(event.mouse_region_y)


def _at_depth(context: bpy.types.Context, place: tuple[float, float], depth: Vector) -> Vector:
    """The point of the scene under a place in the region that is as far away as another point."""
    region, view = context.region, context.region_data
    if region is None or view is None:
        return depth
    return view3d_utils.region_2d_to_location_3d(region, view, place, depth)


def _draw_entry(menu: Menu, _context: bpy.types.Context) -> None:
    menu.layout.separator()
    menu.layout.operator("sbs.drag_vertex", icon="CON_TRACKTO")


CLASSES = (SBS_OT_drag_vertex,)
ENTRIES = (("VIEW3D_MT_paint_weight", _draw_entry), ("VIEW3D_MT_pose", _draw_entry))
