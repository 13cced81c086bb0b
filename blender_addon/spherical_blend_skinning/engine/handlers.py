# SPDX-License-Identifier: GPL-3.0-or-later
"""The handlers that run the live engine: after every change of frame, and after edits that affect a bound object."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import bpy

from ..core import library
from ..settings.given import manager_of, view_layer_of
from ..settings.properties import settings_of
from ..settings.typed import mesh_of, persistent
from .bake import portable, shown_armature, stand_in
from .live import ahead, live, registry, search, states
from .muscles import bellies, muscle_list
from .nodes import node_trees
from .stack import stack, subject

# Set when something happened to the file as a whole: all bound objects are then checked, whatever the updates are.
_all_changed = True

# Receives the updates of evaluations that our handlers cause.
_listener: Callable[[bpy.types.Depsgraph], None] | None = None

# Whatever edits an object updates one of these besides.
_EDITED_TYPES: Final = ("MESH", "KEY", "ARMATURE", "COLLECTION", "SCENE")


@dataclass
class _Updates:
    """The data-blocks that evaluations updated, as far as they are relevant."""

    #: Whether a change of frame updated them
    in_frame_change: bool
    #: The address of each, and whether it was edited rather than animated
    places: dict[int, bool] = field(default_factory=dict)
    #: The mesh objects among them
    meshes: list[bpy.types.Object] = field(default_factory=list)
    #: Whether objects may have come, gone or been hidden
    scene: bool = False

    def add(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Add those of the last evaluation."""
        if self.in_frame_change and not any(depsgraph.id_type_updated(kind) for kind in _EDITED_TYPES):
            # Most changes of frame edit nothing, but update many objects.
            return
        for update in depsgraph.updates:
            evaluated = update.id
            if self.in_frame_change and isinstance(evaluated, bpy.types.Object):
                # Nothing tells an edited one from one that has only moved, but an edit updates another block besides.
                continue
            item = evaluated and evaluated.original
            if item is None:
                continue
            # An edit updates everything of a data-block; an animated value updates only the geometry.
            edited = not self.in_frame_change or update.is_updated_transform
            self.places[item.as_pointer()] = self.places.get(item.as_pointer(), False) or edited
            if isinstance(item, bpy.types.Object):
                if item.type == "MESH":
                    self.meshes.append(item)
            elif isinstance(item, bpy.types.Collection):
                self.scene = True
            elif isinstance(item, bpy.types.Scene):
                self.scene |= not self.in_frame_change or item.animation_data is None

    @property
    def are_edits(self) -> bool:
        """Whether any data-block was edited."""
        return any(self.places.values())

    def has(self, item: bpy.types.ID | None) -> bool:
        """Whether a data-block is among them."""
        return item is not None and item.as_pointer() in self.places

    def has_edited_mesh(self, item: bpy.types.Object) -> bool:
        """Whether the mesh of an object may have other vertices or weights, more than a frame's shape keys make."""
        mesh, keys = mesh_of(item), mesh_of(item).shape_keys
        if self.places.get(mesh.as_pointer(), False) or (keys and self.places.get(keys.as_pointer(), False)):
            return True
        # Strokes of some brushes update the geometry alone.
        return self.has(mesh) and (keys is None or item.mode != "OBJECT")


@persistent
def frame_change_starts(scene: bpy.types.Scene, *_arguments: object) -> None:
    _be_last("frame_change_post", frame_changed)
    # While a render runs in the background, only that may write carriers; it is not in the main thread.
    in_view = threading.current_thread() is threading.main_thread()
    if not (stand_in.is_active() or (in_view and bpy.app.is_job_running("RENDER"))):
        shown_armature.adjust(registry.once_bound_objects())
        _pose_ahead(scene)


def _pose_ahead(scene: bpy.types.Scene) -> None:
    """Deform bound objects for the next frame before it is evaluated, if it has simulations."""
    bound = registry.once_bound_objects()
    if not bound or not ahead.is_wanted(scene):
        return
    bound = [item for item in bound if states.is_deformed(item)]
    live.update_all(map(states.Change, bound), _poses(scene, bound))


def _poses(scene: bpy.types.Scene, bound: list[bpy.types.Object]) -> bpy.types.Depsgraph:
    """A dependency graph with the next poses of bound objects."""
    with _told(lambda _depsgraph: None):
        return ahead.depsgraph(scene, [item for item in bound if settings_of(item).armature is not None])


@persistent
def depsgraph_update_starts(_scene: bpy.types.Scene, *_arguments: object) -> None:
    _be_last("depsgraph_update_post", depsgraph_updated)


def _be_last(name: str, handler: Callable[..., None]) -> None:
    """Move our handler after those of scripts, which may change the evaluated objects."""
    handlers = getattr(bpy.app.handlers, name)
    if handler in handlers and handlers[-1] is not handler:
        handlers.remove(handler)
        handlers.append(handler)


def _scripts_follow(name: str) -> bool:
    """Whether there are handlers of that name that are not of this add-on."""
    own = f"{library.ADDON}."
    return any(not getattr(handler, "__module__", "").startswith(own) for handler in getattr(bpy.app.handlers, name))


# Blender evaluates again what handlers change, but without calling them. So dependents of changes here or by a
# script are evaluated here.


@persistent
def frame_changed(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if _is_in_the_way(depsgraph):
        return
    updates = _Updates(in_frame_change=True)
    updates.add(depsgraph)
    if updates.are_edits or updates.scene:
        ahead.forget()
        bellies.forget()
    is_outdated = updates.are_edits and _scripts_follow("frame_change_post")
    if depsgraph.mode != "RENDER":
        _follow_names(updates)
        if _all_changed or updates.scene or registry.is_outdated():
            is_outdated |= _tidy(depsgraph)
    bound = registry.once_bound_objects()
    changes = _changes(bound, updates, depsgraph)
    # From a separate scene: Blender 5.0 was seen to crash some time after its own scene had been evaluated twice in one
    # change of frame.
    poses = _poses(depsgraph.scene, bound) if is_outdated and depsgraph.scene is not None else None
    _update(bound, changes, updates, depsgraph, poses)


@persistent
def depsgraph_updated(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if _listener is not None:
        _listener(depsgraph)
        return
    if _is_in_the_way(depsgraph) or depsgraph.mode == "RENDER":
        return
    updates = _Updates(in_frame_change=False)
    updates.add(depsgraph)
    if updates.places:
        ahead.forget()
        bellies.forget()
    if _scripts_follow("depsgraph_update_post"):
        _evaluate(depsgraph, updates.add)
    shown_armature.adjust(bpy.data.objects if _all_changed else updates.meshes)
    _follow_names(updates)
    if not (_all_changed or updates.scene or registry.concerns(updates.places.keys())):
        return
    # Rigs that are hidden are posed from now on.
    is_outdated = (_all_changed or updates.scene) and _tidy(depsgraph)
    bound = registry.bound_objects()
    changes = _changes(bound, updates, depsgraph)
    if is_outdated:
        # Not in a scene of its own: that would have the animation where the pose has been edited.
        _evaluate(depsgraph)
    _update(bound, changes, updates, depsgraph)


def _follow_names(updates: _Updates) -> None:
    """Have nodes of portable objects know bones that may have been renamed."""
    if _all_changed or (updates.places and any(map(updates.has, bpy.data.armatures))):
        portable.follow_names()


def _tidy(depsgraph: bpy.types.Depsgraph) -> bool:
    """Look after carriers and probes; return whether a hidden rig has got a probe, so that it is to be posed."""
    is_probed = registry.tidy(depsgraph.view_layer)
    if bpy.app.version < (4, 0, 0):
        # Blender loses the positions of a carrier that were written while its object was hidden.
        states.forget_poses()
    return is_probed


def _changes(bound: list[bpy.types.Object], updates: _Updates, depsgraph: bpy.types.Depsgraph) -> list[states.Change]:
    """Possible changes of bound objects; unchanged objects are left out."""
    in_render = depsgraph.mode == "RENDER"
    return list(filter(None, (_change(item, updates, in_render) for item in bound)))


def _change(item: bpy.types.Object, updates: _Updates, in_render: bool) -> states.Change | None:
    """Possible changes of a bound object; None if there are none."""
    if not (updates.places or _all_changed):
        return states.Change(item)
    armature = settings_of(item).armature
    rig_changed = _all_changed or (armature is not None and updates.has(armature.data))
    mesh_changed = updates.has_edited_mesh(item)
    item_changed = updates.has(item) and not updates.in_frame_change
    if item_changed or mesh_changed or _all_changed:
        mesh_changed |= _stack_changed(item, in_render)
    if updates.in_frame_change or _all_changed or updates.scene or rig_changed or mesh_changed or item_changed:
        return states.Change(item, mesh_changed or _all_changed, rig_changed)
    if updates.has(armature) or (armature is not None and any(map(updates.has, muscle_list.present_handles(armature)))):
        return states.Change(item)
    return None


def _update(
    bound: list[bpy.types.Object],
    changes: list[states.Change],
    updates: _Updates,
    depsgraph: bpy.types.Depsgraph,
    poses: bpy.types.Depsgraph | None = None,
) -> None:
    """Bring bound objects up to date."""
    global _all_changed
    updated = live.update_all(changes, depsgraph, poses=poses)
    if depsgraph.mode != "RENDER":
        late = [
            change for change, state in zip(changes, updated, strict=True) if state is not None and state.unread == 1
        ]
        if late:
            # Their modifiers have only now begun to keep their input.
            _evaluate(depsgraph)
            live.update_all([change._replace(mesh=True) for change in late], depsgraph)
        if updates.are_edits or _all_changed:
            registry.watch(bound)
            _all_changed = False
    for state in updated:
        _await_centers(state)


def _evaluate(
    depsgraph: bpy.types.Depsgraph, listener: Callable[[bpy.types.Depsgraph], None] = lambda _depsgraph: None
) -> None:
    """Let Blender evaluate what handlers changed, if anything, and pass the updates to `listener`."""
    if bpy.app.version < (4, 0, 0) and depsgraph.id_type_updated("SCENE") and depsgraph.scene is not None:
        # If an object was tagged after a modifier was added, an evaluation here leaves the evaluated view layer without
        # its `object_bases_array`, unless it evaluates the scene too. The next evaluation then crashes, in
        # `BKE_object_eval_eval_base_flags`.
        depsgraph.scene.update_tag()
    with _told(listener):
        if depsgraph.mode != "RENDER" and depsgraph.view_layer == bpy.context.view_layer:
            # Does nothing if nothing has changed.
            bpy.context.evaluated_depsgraph_get()
        else:
            depsgraph.update()


@contextmanager
def _told(listener: Callable[[bpy.types.Depsgraph], None]) -> Iterator[None]:
    """Pass the updates of evaluations to `listener` instead of handling them."""
    global _listener
    _listener = listener
    try:
        yield
    finally:
        _listener = None


def _await_centers(state: states.State | None) -> None:
    """Handle searches for optimized centers that are due or running."""
    if state is not None and state.centers.are_awaited:
        _call_soon(look_for_centers)


def _call_soon(function: Callable[[], float | None], persistent: bool = False) -> None:
    """Call a function from Blender's event loop."""
    # Without a window there is no event loop, and Blender 4.5 hangs at exit if a timer was registered.
    if not bpy.app.background and not bpy.app.timers.is_registered(function):
        bpy.app.timers.register(function, persistent=persistent)


def look_for_centers() -> float | None:
    """Start searches for optimized centers, show their progress, and show their results."""
    if bpy.app.is_job_running("RENDER"):
        return 0.5
    waiting = [states.look_for_centers(item) for item in registry.bound_objects()]
    for window in manager_of(bpy.context).windows:
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "PROPERTIES"):
                area.tag_redraw()
    return 0.1 if any(waiting) else None


def _is_in_the_way(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a view would write carriers while a background render uses them, or during an export."""
    global _all_changed
    if stand_in.is_active():
        # Its evaluation contains earlier edits.
        _all_changed = True
        return True
    return depsgraph.mode != "RENDER" and bpy.app.is_job_running("RENDER")


@persistent
def render_begins(*_arguments: object) -> None:
    shown_armature.set_in_render(True)


@persistent
def render_ended(*_arguments: object) -> None:
    shown_armature.set_in_render(False)
    # The job is still running, in another thread than Blender's main one.
    _call_soon(_show_again, persistent=True)


def _show_again() -> float | None:
    """Make views show the pose of their own frame when the render has ended."""
    if bpy.app.is_job_running("RENDER"):
        return 0.1
    history_moved()
    _tag_all()
    return None


def _tag_all() -> None:
    """Have handlers called for all bound objects."""
    for item in registry.bound_objects():
        item.update_tag()


def _stack_changed(item: bpy.types.Object, in_render: bool) -> bool:
    """Whether the input of an object's modifier may have changed since the last check."""
    modifier = stack.find(item)
    if modifier is None:
        return False
    if not in_render:
        registry.adjust(item, modifier)
    state = states.state_of(item)
    if state is None:
        return False
    signature = subject.signature(item, modifier)
    differs = signature != state.signature
    state.signature = signature
    return differs


@persistent
def file_loaded(*_arguments: object) -> None:
    global _all_changed
    states.forget()
    node_trees.forget()
    ahead.remove()
    ahead.forget()
    registry.tidy()
    muscle_list.remove_all_deleted()
    _all_changed = True
    # Blender evaluates the file without calling handlers. Until they are called, panels know nothing of it, and a mesh
    # that was saved before its last change was evaluated, or whose library has changed, is shown as before that.
    if bpy.app.background:
        view_layer_of(bpy.context).update()
        _tag_all()
        view_layer_of(bpy.context).update()
    else:
        _call_soon(_tag_all, persistent=True)


@persistent
def to_be_replaced(*_arguments: object) -> None:
    """Before undo and loading: keep no references to objects that will be replaced."""
    # Blender 3.4 crashes when it evaluates that scene with objects that undo has replaced.
    ahead.remove()
    registry.forget()
    muscle_list.put_back()


@persistent
def playback_ended(*_arguments: object) -> None:
    ahead.remove()


@persistent
def save_starts(*_arguments: object) -> None:
    ahead.remove()
    muscle_list.set_aside()


@persistent
def save_ended(*_arguments: object) -> None:
    muscle_list.put_back()


@persistent
def history_moved(*_arguments: object) -> None:
    global _all_changed
    ahead.remove()
    ahead.forget()
    states.forget_poses()
    registry.forget()
    muscle_list.find()
    _all_changed = True


HANDLERS = (
    ("frame_change_pre", frame_change_starts),
    ("depsgraph_update_pre", depsgraph_update_starts),
    ("frame_change_post", frame_changed),
    ("depsgraph_update_post", depsgraph_updated),
    ("load_pre", to_be_replaced),
    ("load_post", file_loaded),
    ("save_pre", save_starts),
    ("save_post", save_ended),
    # Blender 3.4 has no handlers for this and the end of playback.
    ("save_post_fail", save_ended),
    ("animation_playback_post", playback_ended),
    ("undo_pre", to_be_replaced),
    ("undo_post", history_moved),
    ("redo_pre", to_be_replaced),
    ("redo_post", history_moved),
    ("render_init", render_begins),
    ("render_complete", render_ended),
    ("render_cancel", render_ended),
)


def register() -> None:
    global _all_changed
    _all_changed = True
    _tag_bound_objects()


def _tag_bound_objects() -> None:
    """Tag bound objects, so that Blender calls handlers at the next evaluation: it calls none if nothing has changed.

    While an add-on is enabled there is no bpy.data, only what windows show; at Blender's start not even that.
    """
    with suppress(IndexError):
        for window in manager_of(bpy.context).windows:
            for item in window.scene.objects:
                if item.type == "MESH" and stack.find(item) is not None:
                    item.update_tag()


def unregister() -> None:
    for timer in (_show_again, _tag_all, look_for_centers):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    states.forget()
    ahead.remove()
    search.wait_for_all()
    node_trees.forget()
    registry.forget()
