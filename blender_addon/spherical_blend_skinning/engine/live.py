# SPDX-License-Identifier: GPL-3.0-or-later
"""The live engine: the library deforms bound meshes in every frame and after every edit.

Only arrays are remembered of an object, no data-blocks of Blender, because undo and loading replace those.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import NamedTuple

import bpy
import numpy as np

from ..core import library
from ..core.bendy_bones import Along
from ..core.binding import Binding
from ..core.blended import BlendedBinding
from ..core.deformer import Amount, Method
from ..core.matrices import Floats
from ..core.muscles import Cover
from ..core.rest import BoundMesh, RestBones
from ..core.twist import Spread
from ..settings import preferences
from ..settings.properties import SBS_PG_object, settings_of
from ..settings.typed import armature_data, mesh_of
from . import applied, bellies, carriers, comparison, live_group, node_trees, reading, stack, subject, twists
from .amounts import Amounts
from .centers import Centers
from .identity import key_of
from .muscles import Muscles, read_anew

__all__ = [
    "Change",
    "State",
    "blends",
    "forget",
    "forget_poses",
    "forget_twists",
    "has_other_positions",
    "is_deformed",
    "look_for_centers",
    "method_of",
    "must_not_wait",
    "state_of",
    "update",
    "update_all",
]


@dataclass
class State:
    """The state of a bound object.

    Attributes
    ----------
    binding : Binding or None
        None while there is a problem.
    of_rig : tuple
        The keys of its armature object and of that's data, and how many segments bones have; also when it has lost it.
    amounts : Amounts
        How much of the method each vertex gets.
    pose : tuple
        The pose, and whatever else the positions in the carrier depend on.
    skinning_matrices : ndarray or None
        The matrices of these positions.
    limb_twists : ndarray or None
        The twists of limbs, where they are not those of the matrices.
    problem : str
        Why the object is not deformed, for the artist.
    milliseconds : float
        How long the last frame took.
    signature : tuple
        See `subject.signature`.
    missed_mesh, missed_rig : bool
        Whether mesh or rig may have changed while the modifier was off, or the object was not evaluated.
    unread : int
        How many times in a row the input of the modifier could not be read.
    centers : Centers
        Its optimized centers.
    history : History
        The twists of its limbs in the frame before.
    muscles : Muscles
        Those that it covers.
    """

    binding: Binding | None = None
    of_rig: tuple[object, ...] = (None,)
    amounts: Amounts = field(default_factory=Amounts)
    pose: tuple[object, ...] = ()
    skinning_matrices: Floats | None = None
    limb_twists: Floats | None = None
    problem: str = ""
    milliseconds: float = 0.0
    signature: tuple[object, ...] = ()
    missed_mesh: bool = False
    missed_rig: bool = False
    unread: int = 0
    centers: Centers = field(default_factory=Centers)
    history: twists.History = field(default_factory=twists.History)
    muscles: Muscles = field(default_factory=Muscles)

    def fail(self, error: Exception) -> None:
        """Set the reason why the object is not deformed, for the artist."""
        self.problem = str(error)
        self.unread += isinstance(error, subject.InputError)
        self.binding = None
        self.pose = ()

    def miss(self, change: Change) -> None:
        """Remember a change that is not handled now."""
        self.missed_mesh |= change.mesh
        self.missed_rig |= change.rig


class Change(NamedTuple):
    """An object to update.

    Attributes
    ----------
    item : Object
        An original object that has the modifier.
    mesh, rig : bool
        Whether vertices and weights, or the bones at rest, may have changed, and not only the pose.
    """

    item: bpy.types.Object
    mesh: bool = False
    rig: bool = False


class _Frame(NamedTuple):
    """What was read in order to write a carrier."""

    state: State
    binding: Binding
    carrier: bpy.types.Object
    pose: tuple[object, ...]
    skinning_matrices: Floats
    method: Method
    amount: Amount | None
    twists: Floats | None
    cover: Cover | None
    still: Binding | None
    seconds: float


# The states of all objects, and separately those of renders whose vertices differ from the viewport.
_states: dict[tuple[int | str, bool], State] = {}


def state_of(item: bpy.types.Object) -> State | None:
    """The state of an object, if there is one."""
    return _states.get((key_of(item), False))


def is_deformed(item: bpy.types.Object) -> bool:
    """Whether an object was deformed in its last update."""
    state = state_of(item)
    return state is not None and state.binding is not None


def forget(item: bpy.types.Object | None = None) -> None:
    """Forget the state of an object, or of all: it is bound anew in its next update."""
    keys = list(_states) if item is None else [(key_of(item), in_render) for in_render in (False, True)]
    for key in keys:
        if key in _states:
            _states.pop(key).centers.stop()
    bellies.forget_poses()


def forget_poses() -> None:
    """Make the next update of every object write its carrier."""
    for state in _states.values():
        state.pose = ()
    bellies.forget_poses()


def forget_twists() -> None:
    """Forget the twists of limbs in the frame before."""
    for state in _states.values():
        state.history.forget()


def update(
    item: bpy.types.Object, depsgraph: bpy.types.Depsgraph, *, mesh: bool = False, wait: bool = False
) -> State | None:
    """Update one bound object, as `update_all` does."""
    return update_all([Change(item, mesh)], depsgraph, wait=wait)[0]


def update_all(
    changes: Iterable[Change],
    depsgraph: bpy.types.Depsgraph,
    *,
    wait: bool = False,
    poses: bpy.types.Depsgraph | None = None,
) -> list[State | None]:
    """Bring bound objects up to date with their rigs.

    Parameters
    ----------
    changes : iterable of Change
    depsgraph : Depsgraph
        Evaluated; its pose is used. During rendering it is that of the render.
    wait : bool
        Whether to wait for optimized centers.
    poses : Depsgraph, optional
        Another one, used only for bones and the places of objects.

    Returns
    -------
    list of State or None
        For each object; None if it is not in the dependency graph, or has no modifier.
    """
    states, frames = [], []
    changes = list(changes)
    read_anew()
    # All are read before the first is deformed: reading takes twice as long after a kernel has filled the caches.
    for change in changes:
        state, frame = _read(change, depsgraph, poses or depsgraph, wait)
        states.append(state)
        if frame is not None:
            frames.append(frame)
    threads = _threads() if frames else None
    for frame in frames:
        _write(frame, threads)
    if not comparison.is_for(depsgraph):
        _write_bellies(changes, states, depsgraph)
    return states


def _write_bellies(changes: Sequence[Change], states: Sequence[State | None], depsgraph: bpy.types.Depsgraph) -> None:
    """Shape the bellies of rigs in the poses of updated objects, also where these are not new: one may be shown now."""
    done: set[bpy.types.Object] = set()
    for change, state in zip(changes, states, strict=True):
        cover = state.muscles.cover if state is not None and state.pose else None
        if state is None or cover is None or not cover.is_posed:
            continue
        armature = settings_of(change.item).armature
        # All meshes of a rig cover the same muscles.
        if armature is not None and armature not in done:
            done.add(armature)
            bellies.write(armature, cover, state.muscles.activations, state.pose, depsgraph)


def must_not_wait(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether optimized centers are needed at once: without a window, or for a result that stays."""
    return bpy.app.background or depsgraph.mode == "RENDER"


def look_for_centers(item: bpy.types.Object) -> bool:
    """Continue the search for an object's optimized centers if there is one; return whether it is still awaited."""
    state = state_of(item)
    if state is None or state.binding is None or not state.centers.are_awaited:
        return False
    binding = state.centers.look(item, state.binding)
    if binding is not state.binding:
        state.binding = binding
        state.pose = ()
        item.update_tag()
    return state.centers.are_awaited


def _read(
    change: Change, depsgraph: bpy.types.Depsgraph, poses: bpy.types.Depsgraph, wait: bool
) -> tuple[State, _Frame | None] | tuple[None, None]:
    """The state of an object, and what to write for it, if anything."""
    item = change.item
    evaluated = item.evaluated_get(depsgraph)
    modifier = stack.find(item)
    if modifier is None:
        return None, None
    if not evaluated.is_evaluated:
        hidden = state_of(item)
        if hidden is not None:
            hidden.miss(change)
        return None, None
    started = time.perf_counter()
    in_render = depsgraph.mode == "RENDER" and bool(node_trees.get_input(modifier, live_group.USE_RENDER_CARRIER))
    key = (key_of(item), in_render)
    state = _states.get(key)
    if state is None:
        state = _states[key] = State()
    try:
        target = subject.Subject(item, evaluated, modifier, in_render)
        frame = _frame(target, depsgraph, poses, state, change, wait, started)
    except (ValueError, library.LibraryError) as error:
        state.fail(error)
        return state, None
    state.problem = ""
    state.unread = 0
    return state, frame


def _write(frame: _Frame, threads: int | None) -> None:
    """Deform a mesh, and write its carrier."""
    started = time.perf_counter()
    state = frame.state
    try:
        skin = _covering(frame, _deformed(frame, frame.binding, threads), threads)
    except ValueError as error:
        state.fail(error)
        return
    carriers.write(frame.carrier, frame.binding.space.to_mesh(skin))
    state.pose = frame.pose
    state.skinning_matrices, state.limb_twists = frame.skinning_matrices, frame.twists
    state.milliseconds = 1e3 * (frame.seconds + time.perf_counter() - started)


def _deformed(frame: _Frame, binding: Binding, threads: int | None) -> subject.Positions:
    """Skin (V, 3) deformed for a frame by its binding, or by another one, in its space."""
    return binding.deform(frame.skinning_matrices, frame.method, frame.amount, threads, twists=frame.twists)


def _covering(frame: _Frame, skin: subject.Positions, threads: int | None) -> subject.Positions:
    """Deformed skin (V, 3) that covers muscles, in its space."""
    if frame.cover is None:
        return skin
    activations, still = frame.state.muscles.activations, frame.still
    if still is None:
        return frame.cover.apply(skin, activations, threads)
    bare = _deformed(frame, still, threads)
    return skin + (frame.cover.apply(bare, activations, threads) - bare)


def _frame(
    target: subject.Subject,
    depsgraph: bpy.types.Depsgraph,
    poses: bpy.types.Depsgraph,
    state: State,
    change: Change,
    wait: bool,
    started: float,
) -> _Frame | None:
    """What to write, or None if nothing has changed. A ValueError tells the artist why it is impossible."""
    item = target.item
    if not (target.modifier.show_render if depsgraph.mode == "RENDER" else target.modifier.show_viewport):
        # To be handled when it is shown again.
        state.pose = ()
        state.miss(change)
        return None
    mesh = change.mesh or state.missed_mesh
    rig = change.rig or state.missed_rig
    state.missed_mesh = state.missed_rig = False
    settings = settings_of(item)
    carrier = node_trees.get_input(target.modifier, target.carrier_input)
    if item.library is not None:
        raise ValueError("Linked, so it stays as it was saved: make a library override")
    if carrier is None or not carriers.is_writable(carrier):
        raise ValueError("Nothing carries positions to the modifier yet")
    armature = settings.armature
    if armature is None:
        # Without vertices to take it passes on what comes to it.
        if carriers.count(carrier):
            carriers.resize(carrier, 0)
        raise ValueError("No armature")
    posed = armature.evaluated_get(poses)
    to_rig = reading.place(item.evaluated_get(poses), posed)
    columns = reading.pose_columns(posed)

    binding = state.binding
    positions = target.moving_positions()
    if positions is not None and binding is not None:
        bound = binding.surface.positions
        mesh |= len(positions) != len(bound)
        mesh |= target.may_have_other_vertices() and not np.array_equal(positions, bound)
    # Edits may come with a change of frame, which says only what it moves.
    segments = reading.segment_counts(armature)
    of_rig = (key_of(armature), key_of(armature_data(armature)), segments.tobytes())
    rig |= of_rig != state.of_rig or (binding is not None and len(columns) != len(binding.rig.names))
    state.of_rig = of_rig
    binding = _bind(target, armature, posed, positions, to_rig, state, mesh, rig)

    moves = reading.segment_moves(posed, binding.bones[binding.segments > 1]) if binding.bends else []
    method = _method(settings)
    vertex_count = len(binding.surface.positions)
    if method.center == "optimized":
        provided = state.centers.provide(target, carrier, binding, mesh, wait or must_not_wait(depsgraph))
        if provided is not binding:
            state.binding = binding = provided
            state.pose = ()
        method = method_of(state, settings)
    else:
        state.centers.stop()
    state.amounts.update(target.evaluated, posed, binding)
    amount, amount_key = state.amounts.amount, state.amounts.key
    matrices = found = None
    if binding.limbs and settings.twist_follow:
        matrices = binding.skinning_matrices(columns.transpose(0, 2, 1), to_rig, moves)
        scene = poses.scene
        found = state.history.twists(binding, matrices, scene.frame_current_final, twists.stride_of(scene))
    if state.muscles.update(target, armature, posed, binding, to_rig, mesh):
        state.pose = ()
    cover = state.muscles.cover
    if comparison.is_for(depsgraph):
        method, amount, amount_key = comparison.LINEAR, None, b""
        found, cover = binding.untwisted, None
    keys = [move.tobytes() for move in moves] + ([found.tobytes()] if found is not None else [])
    pose = (columns.tobytes(), to_rig.tobytes(), method, amount_key, state.muscles.key, *keys)
    carried = carriers.count(carrier)
    if pose == state.pose and carried == vertex_count:
        return None
    if carried != vertex_count:
        if depsgraph.mode == "RENDER" and not target.in_render:
            raise ValueError("The modifiers before give other vertices in renders than in the viewport")
        carriers.resize(carrier, vertex_count)
    if binding.centers is not None:
        state.centers.save(carrier, binding.centers)
    if matrices is None:
        matrices = binding.skinning_matrices(columns.transpose(0, 2, 1), to_rig, moves)
    if cover is not None:
        cover.pose(columns.transpose(0, 2, 1))
    seconds = time.perf_counter() - started
    still = state.muscles.still
    return _Frame(state, binding, carrier, pose, matrices, method, amount, found, cover, still, seconds)


def _bind(
    target: subject.Subject,
    armature: bpy.types.Object,
    posed: bpy.types.Object,
    positions: subject.Positions | None,
    to_rig: Floats,
    state: State,
    mesh: bool,
    rig: bool,
) -> Binding:
    """The binding of an object, brought up to date as far as it is not."""
    settings = settings_of(target.item)
    old = state.binding
    if old is not None and target.item.mode == "EDIT":
        # A mesh in Edit Mode cannot be read; it is read again on leaving.
        return old
    if old is None or mesh:
        surface = target.surface()
        state.signature = subject.signature(target.item, target.modifier)
    else:
        surface = old.surface
    if positions is not None and surface.positions is not positions:
        surface = replace(surface, positions=positions)
    if old is None or rig:
        applied.follow(armature)
        bones = reading.rig(armature, posed)
    else:
        bones = old.rig

    along = partial(reading.places_along, posed) if bones.curves else None
    limit, blended = settings.influence_limit, blends(settings)
    # Bones blending turns vertices along bones already.
    spread = None if blended else twists.read(settings, armature, old.spread if old else None, not (mesh or rig))
    if old is None or old.blends != blended:
        binding = _new_binding(bones, surface, to_rig, limit, along, blended, spread)
    else:
        binding = old.rebound(bones, surface, to_rig, limit, along, spread)
    if binding is not old:
        if old is not None and not binding.has_centers_of(old):
            state.centers.outdate()
        state.binding = binding
        state.pose = ()
    return binding


def method_of(state: State, settings: SBS_PG_object) -> Method:
    """The method that an object is deformed by: about weighted centers as long as there are no optimized ones."""
    method = _method(settings)
    has_centers = state.binding is not None and state.binding.centers is not None and state.centers.are_possible
    return replace(method, center="weighted") if method.center == "optimized" and not has_centers else method


def _method(settings: SBS_PG_object) -> Method:
    """The chosen method, in the library's words."""
    name = settings.method
    return _method_named(name, settings.rotation, settings.center) if name == "SPHERICAL" else _method_named(name)


@cache
def _method_named(*names: str) -> Method:
    return Method(*(name.lower() for name in names))


def _new_binding(
    rig: RestBones,
    surface: BoundMesh,
    to_rig: Floats,
    limit: int,
    along: Along | None,
    blended: str,
    spread: Spread | None,
) -> Binding:
    if blended:
        return BlendedBinding(library.load(), rig, surface, to_rig, limit, along, blends=blended)
    return Binding(library.load(), rig, surface, to_rig, limit, along, spread)


def blends(settings: SBS_PG_object) -> str:
    """Which bones are blended by bones blending, if it is chosen."""
    chosen = (settings.method, settings.amount_method)
    return settings.blended_bones.lower() if "BONES_BLENDING" in chosen else ""


def _threads() -> int | None:
    """How many threads the artist allows."""
    return preferences.get(bpy.context).threads or None


def has_other_positions(item: bpy.types.Object) -> bool:
    """Whether vertices of an object's mesh have moved since it was bound, their number being the same."""
    state = state_of(item)
    if state is None or state.binding is None:
        return False
    bound = state.binding.surface.positions
    return len(bound) == len(mesh_of(item).vertices) and not np.array_equal(bound, reading.positions(mesh_of(item)))
