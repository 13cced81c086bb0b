# SPDX-License-Identifier: GPL-3.0-or-later
"""When the live engine works: after every change of frame, and after edits of what belongs to a bound object."""

from __future__ import annotations

from collections.abc import Callable

import bpy
from bpy.app.handlers import persistent

from .engine import live, node_trees, registry, search, stack, subject

__all__ = ["CLASSES", "register", "unregister"]

CLASSES = ()

# Set while something happened to the file as a whole: all that is bound is looked at, whatever the updates say.
_all_changed = True


@persistent
def frame_changed(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if _is_in_the_way(depsgraph):
        return
    if depsgraph.mode != "RENDER" and (_all_changed or registry.is_outdated()):
        registry.tidy(depsgraph.view_layer)
    for state in live.update_all(map(live.Change, registry.once_bound_objects()), depsgraph):
        _await_centers(state)


@persistent
def depsgraph_updated(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    global _all_changed
    if depsgraph.mode == "RENDER" or _is_in_the_way(depsgraph):
        return
    changed = [update.id.original for update in depsgraph.updates]
    scene_changed = any(isinstance(item, (bpy.types.Scene, bpy.types.Collection)) for item in changed)
    # Some of it may be gone after tidying.
    places = {item.as_pointer() for item in changed}
    if not (_all_changed or scene_changed or registry.concerns(places)):
        return
    if _all_changed or scene_changed:
        registry.tidy(depsgraph.view_layer)
        if bpy.app.version < (4, 0, 0):
            # It loses what was written to the carrier of an object while that was hidden.
            live.forget_poses()

    def has_changed(item: bpy.types.ID | None) -> bool:
        return item is not None and item.as_pointer() in places

    bound = registry.bound_objects()
    changes = []
    for item in bound:
        armature = item.sbs.armature
        rig_changed = armature is not None and has_changed(armature.data)
        mesh_changed = has_changed(item.data) or has_changed(item.data.shape_keys)
        item_changed = has_changed(item)
        if item_changed or mesh_changed:
            mesh_changed |= _stack_changed(item)
        if _all_changed or scene_changed or rig_changed or mesh_changed or item_changed or has_changed(armature):
            changes.append(live.Change(item, mesh_changed or _all_changed, rig_changed or _all_changed))
    for state in live.update_all(changes, depsgraph):
        _await_centers(state)
        if state is not None and state.unread == 1:
            # Blender evaluates once more for what handlers change, but without calling them.
            _call_soon(look_again)
    registry.watch(bound)
    _all_changed = False


def _await_centers(state: live.State | None) -> None:
    """See to optimized centers that are due, or are looked for."""
    if state is not None and state.centers.are_awaited:
        _call_soon(look_for_centers)


def _call_soon(function: Callable[[], float | None], persistent: bool = False) -> None:
    """Have a function called by Blender's event loop."""
    # Without a window there is none, and Blender 4.5 hangs at its exit where a timer was registered.
    if not bpy.app.background and not bpy.app.timers.is_registered(function):
        bpy.app.timers.register(function, persistent=persistent)


def look_for_centers() -> float | None:
    """Start searches for optimized centers, tell how far they are, and have what they found shown."""
    if bpy.app.is_job_running("RENDER"):
        return 0.5
    waiting = [live.look_for_centers(item) for item in registry.bound_objects()]
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "PROPERTIES"):
                area.tag_redraw()
    return 0.1 if any(waiting) else None


def _is_in_the_way(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a view wants to write carriers that a render in the background is using."""
    return depsgraph.mode != "RENDER" and bpy.app.is_job_running("RENDER")


@persistent
def render_ended(*_arguments: object) -> None:
    # The job is still running, and not in Blender's main thread.
    _call_soon(_show_again, persistent=True)


def _show_again() -> float | None:
    """Have views show the pose of their own frame as soon as the render is over."""
    if bpy.app.is_job_running("RENDER"):
        return 0.1
    history_moved()
    for item in registry.bound_objects():
        item.update_tag()
    return None


def _stack_changed(item: bpy.types.Object) -> bool:
    """Whether something else may come to the modifier of an object than when it was last asked."""
    modifier = stack.find(item)
    registry.adjust(item, modifier)
    stack.show_in_weight_paint(item)
    state = live.state_of(item)
    if state is None:
        return False
    signature = subject.signature(item, modifier)
    differs = signature != state.signature
    state.signature = signature
    return differs


def look_again() -> None:
    """Have Blender update the bound objects whose modifiers keep their input only now."""
    for item in registry.bound_objects():
        state = live.state_of(item)
        if state is not None and state.unread:
            item.update_tag()


@persistent
def file_loaded(*_arguments: object) -> None:
    global _all_changed
    live.forget()
    node_trees.forget()
    registry.tidy()
    _all_changed = True


@persistent
def to_be_replaced(*_arguments: object) -> None:
    """Before undo and loading: hold no object that is not there any more."""
    registry.forget()


@persistent
def history_moved(*_arguments: object) -> None:
    global _all_changed
    live.forget_poses()
    registry.forget()
    _all_changed = True


_HANDLERS = (
    ("frame_change_post", frame_changed),
    ("depsgraph_update_post", depsgraph_updated),
    ("load_pre", to_be_replaced),
    ("load_post", file_loaded),
    ("undo_pre", to_be_replaced),
    ("undo_post", history_moved),
    ("redo_pre", to_be_replaced),
    ("redo_post", history_moved),
    ("render_complete", render_ended),
    ("render_cancel", render_ended),
)


def register() -> None:
    global _all_changed
    _all_changed = True
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in reversed(_HANDLERS):
        getattr(bpy.app.handlers, name).remove(handler)
    for timer in (_show_again, look_again, look_for_centers):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    live.forget()
    search.wait_for_all()
    node_trees.forget()
    registry.forget()
