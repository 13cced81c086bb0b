# SPDX-License-Identifier: GPL-3.0-or-later
"""The live engine: the library deforms bound meshes in every frame and after every edit.

An update of an object reads what Blender says, decides what to write, and writes it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import library
from ...core.binding import Binding, Given
from ...core.blended import BlendedBinding
from ...core.flesh import Relaxation
from ...core.matrices import Floats
from ...core.method import Amount, Method
from ...core.muscles import Cover
from ...settings import preferences
from ...settings.properties import SBS_PG_object, settings_of
from ...settings.typed import armature_data
from .. import reading
from ..identity import key_of
from ..muscles import applied, bellies
from ..muscles.muscles import read_anew
from ..nodes import live_group, node_trees
from ..stack import carriers, stack, subject
from ..stack.subject import Positions, Subject
from . import flesh, methods, states, twists
from .states import Change, State


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
    """Bring bound objects up to date with their rigs, by the pose of a dependency graph, or of another one in `poses`.

    Returned is a state for each object, None if it is not in the dependency graph or has no modifier. Optimized centers
    are waited for if asked for.
    """
    changes = list(changes)
    read_anew()
    # All are read before the first is deformed: reading takes twice as long after a kernel has filled the caches.
    prepared = [_prepare(change, depsgraph, poses or depsgraph, wait) for change in changes]
    found = [state for state, _ in prepared]
    frames = [frame for _, frame in prepared if frame is not None]
    threads = _threads() if frames else None
    for frame in frames:
        _write(frame, threads)
    if not methods.is_linear_shown(depsgraph):
        _write_bellies(changes, found, depsgraph)
    return found


def shown(item: bpy.types.Object) -> Positions | None:
    """The vertices (V, 3) of an object as our modifier leaves them, in its space; None if it is not deformed now."""
    modifier, state = stack.find(item), states.state_of(item)
    if modifier is None or state is None or state.binding is None:
        return None
    carrier = node_trees.get_input(modifier, live_group.CARRIER)
    found = carrier and carriers.positions(carrier)
    return found if found is not None and len(found) == len(state.binding.surface.positions) else None


def must_not_wait(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether optimized centers are needed at once: without a window, or for a result that stays."""
    return bpy.app.background or depsgraph.mode == "RENDER"


def _prepare(
    change: Change, depsgraph: bpy.types.Depsgraph, poses: bpy.types.Depsgraph, wait: bool
) -> tuple[State | None, _Frame | None]:
    """The state of an object, and the frame to write, if any."""
    item = change.item
    modifier = stack.find(item)
    if modifier is None:
        return None, None
    evaluated = item.evaluated_get(depsgraph)
    if not evaluated.is_evaluated:
        known = states.state_of(item)
        if known is not None:
            known.miss(change)
        return None, None
    started = time.perf_counter()
    is_render = depsgraph.mode == "RENDER"
    in_render = is_render and bool(node_trees.get_input(modifier, live_group.USE_RENDER_CARRIER))
    state = states.provide(item, in_render)
    frame = None
    try:
        if modifier.show_render if is_render else modifier.show_viewport:
            seen = _read(Subject(item, evaluated, modifier, in_render), depsgraph, poses)
            frame = _decide(seen, state, change, wait or must_not_wait(depsgraph))
        else:
            # To be handled when it is shown again.
            state.invalidate()
            state.miss(change)
    except (ValueError, library.LibraryError) as error:
        state.fail(error)
        return state, None
    state.problem = ""
    state.unread = 0
    return state, frame and frame._replace(seconds=time.perf_counter() - started)


class _Seen(NamedTuple):
    """A bound object as Blender has it in a frame."""

    target: Subject
    settings: SBS_PG_object  #: Its settings
    carrier: bpy.types.Object
    #: The original one, and the evaluated one with the pose
    armature: bpy.types.Object
    posed: bpy.types.Object
    to_rig: Floats  #: (4, 4): from the mesh object's space to the armature's
    columns: NDArray[np.float32]  #: (B, 4, 4): the transposed matrices of the pose, see `reading.pose_columns`.
    positions: Positions | None  #: (V, 3), or None: the input of the modifier, if it can change in every frame
    rig: tuple[object, ...]  #: See `State.rig_key`.
    scene: bpy.types.Scene  #: Whose frame it is
    shows_linear: bool  #: Whether linear blending is shown, for comparison
    is_foreign: bool  #: Whether it is read for a render, but into the carrier of the viewport

    @property
    def matrices(self) -> NDArray[np.float32]:
        """The matrices of the pose, (B, 4, 4)."""
        return self.columns.transpose(0, 2, 1)


def _read(target: Subject, depsgraph: bpy.types.Depsgraph, poses: bpy.types.Depsgraph) -> _Seen:
    """Read a bound object. A ValueError tells the artist why nothing can be deformed."""
    item = target.item
    settings = settings_of(item)
    carrier = node_trees.get_input(target.modifier, target.carrier_input)
    if item.library is not None:
        raise ValueError("Linked, so it stays as it was saved: make a library override")
    if carrier is None or not carriers.is_writable(carrier):
        raise ValueError("Nothing carries positions to the modifier yet")
    armature = settings.armature
    if armature is None:
        # With an empty carrier the modifier passes input on.
        if carriers.count(carrier):
            carriers.resize(carrier, 0)
        raise ValueError("No armature")
    posed = armature.evaluated_get(poses)
    return _Seen(
        target=target,
        settings=settings,
        carrier=carrier,
        armature=armature,
        posed=posed,
        to_rig=reading.place(item.evaluated_get(poses), posed),
        columns=reading.pose_columns(posed),
        positions=target.moving_positions(),
        rig=(key_of(armature), key_of(armature_data(armature)), reading.segment_counts(armature).tobytes()),
        scene=poses.scene,
        shows_linear=methods.is_linear_shown(depsgraph),
        is_foreign=depsgraph.mode == "RENDER" and not target.in_render,
    )


class _Fleshed(NamedTuple):
    """Flesh in a pose."""

    relaxation: Relaxation
    pose: NDArray[np.float32]  #: (B, 4, 4)
    amount: float
    steps: int


class _Frame(NamedTuple):
    """A frame to write to a carrier, and how long it took to find it."""

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
    flesh: _Fleshed | None
    seconds: float = 0.0


def _decide(seen: _Seen, state: State, change: Change, at_once: bool) -> _Frame | None:
    """Update the state of an object, and find the frame to write; None if nothing has changed.

    With `at_once`, optimized centers are waited for. A ValueError tells the artist why nothing can be deformed.
    """
    mesh_changed, rig_changed = _find_changes(seen, state, change)
    binding = _bind(seen, state, mesh_changed, rig_changed)
    if methods.chosen(seen.settings).center == "optimized":
        provided = state.centers.provide(seen.target, seen.carrier, binding, mesh_changed, at_once)
        if provided is not binding:
            state.binding = binding = provided
            state.invalidate()
    else:
        state.centers.stop()
    state.amounts.update(seen.target.evaluated, seen.posed, binding)
    if state.muscles.update(seen.target, seen.armature, seen.posed, binding, seen.to_rig, mesh_changed):
        state.invalidate()
    if state.flesh.update(seen.target, seen.settings, binding, seen.to_rig, mesh_changed):
        state.invalidate()

    moves = reading.segment_moves(seen.posed, binding.bones[binding.segments > 1]) if binding.bends else []
    method, amount, amount_key = methods.method_of(state, seen.settings), state.amounts.amount, state.amounts.key
    cover, fleshed = state.muscles.cover, _flesh_of(seen, state, at_once)
    matrices = limb_twists = None
    if binding.limbs and seen.settings.twist_follow:
        matrices = binding.skinning_matrices(seen.matrices, seen.to_rig, moves)
        stride = twists.stride_of(seen.scene)
        limb_twists = state.history.twists(binding, matrices, seen.scene.frame_current_final, stride)
    if seen.shows_linear:
        method, amount, amount_key, limb_twists, cover = methods.LINEAR, None, b"", binding.untwisted, None
        fleshed = None
    keys = [move.tobytes() for move in moves] + ([limb_twists.tobytes()] if limb_twists is not None else [])
    pose = (
        seen.columns.tobytes(),
        seen.to_rig.tobytes(),
        method,
        amount_key,
        state.muscles.key,
        fleshed and (fleshed.amount, fleshed.steps),
        *keys,
    )
    if pose == state.pose and carriers.count(seen.carrier) == len(binding.surface.positions):
        return None
    if matrices is None:
        matrices = binding.skinning_matrices(seen.matrices, seen.to_rig, moves)
    _prepare_carrier(seen, state, binding)
    if cover is not None:
        cover.pose(seen.matrices)
    still = state.muscles.still
    return _Frame(state, binding, seen.carrier, pose, matrices, method, amount, limb_twists, cover, still, fleshed)


def _flesh_of(seen: _Seen, state: State, at_once: bool) -> _Fleshed | None:
    """The flesh of a frame: with more steps for a result that stays."""
    settings, relaxation = seen.settings, state.flesh.relaxation
    # Kept where the amount is 0: making it takes time, and the amount may come back.
    if relaxation is None or settings.flesh_amount <= 0.0:
        return None
    steps = settings.flesh_render_steps if at_once or flesh.stays else settings.flesh_steps
    return _Fleshed(relaxation, seen.matrices, settings.flesh_amount, steps)


def _find_changes(seen: _Seen, state: State, change: Change) -> tuple[bool, bool]:
    """Whether the vertices or weights of an object, and whether the bones at rest, may differ from bound ones."""
    mesh = change.mesh or state.missed_mesh
    rig = change.rig or state.missed_rig
    state.missed_mesh = state.missed_rig = False
    if seen.positions is not None and state.binding is not None:
        bound = state.binding.surface.positions
        mesh |= len(seen.positions) != len(bound)
        mesh |= seen.target.may_have_other_vertices() and not np.array_equal(seen.positions, bound)
    # Edits may come with a change of frame, which says only what it moves.
    rig |= seen.rig != state.rig_key
    rig |= state.binding is not None and len(seen.columns) != len(state.binding.rig.names)
    state.rig_key = seen.rig
    return mesh, rig


def _bind(seen: _Seen, state: State, mesh_changed: bool, rig_changed: bool) -> Binding:
    """The binding of an object, brought up to date as far as it is not."""
    old, target, settings = state.binding, seen.target, seen.settings
    if old is not None and target.item.mode == "EDIT":
        # A mesh in Edit Mode cannot be read; it is read again on leaving.
        return old
    if old is None or mesh_changed:
        surface = target.surface()
        state.signature = subject.signature(target.item, target.modifier)
    else:
        surface = old.surface
    if seen.positions is not None and surface.positions is not seen.positions:
        surface = replace(surface, positions=seen.positions)
    if old is None or rig_changed:
        applied.follow(seen.armature)
        bones = reading.rig(seen.armature, seen.posed)
    else:
        bones = old.rig

    along = partial(reading.places_along, seen.posed) if bones.curves else None
    choice = methods.bones_choice(settings)
    # Bones blending turns vertices along bones already.
    is_current = not (mesh_changed or rig_changed)
    spread = None if choice else twists.read(settings, seen.armature, old.spread if old else None, is_current)
    given = Given(bones, surface, seen.to_rig, settings.influence_limit, along, spread)
    binding: Binding
    if choice and isinstance(old, BlendedBinding):
        binding = old.chosen(choice).rebound(given)
    elif choice:
        binding = BlendedBinding(library.load(), given, choice)
    elif old is not None and not old.blends:
        binding = old.rebound(given)
    else:
        binding = Binding(library.load(), given)
    if binding is not old:
        if old is not None and binding.skin is not old.skin and not binding.has_centers_of(old):
            state.centers.outdate()
        state.binding = binding
        state.invalidate()
    return binding


def _prepare_carrier(seen: _Seen, state: State, binding: Binding) -> None:
    """Make a carrier for the vertices of a binding, and have it keep their centers for the file."""
    vertex_count = len(binding.surface.positions)
    if carriers.count(seen.carrier) != vertex_count:
        if seen.is_foreign:
            raise ValueError("The modifiers before give other vertices in renders than in the viewport")
        carriers.resize(seen.carrier, vertex_count)
    if binding.centers is not None:
        state.centers.save(seen.carrier, binding.centers)


def _write(frame: _Frame, threads: int | None) -> None:
    """Deform a mesh, and write its carrier."""
    started = time.perf_counter()
    state = frame.state
    try:
        # Muscles come last: their skin is not to be pulled away from them.
        skin = _covering(frame, _relaxed(frame, _deformed(frame, frame.binding, threads), threads), threads)
    except ValueError as error:
        state.fail(error)
        return
    carriers.write(frame.carrier, frame.binding.space.to_mesh(skin))
    state.pose = frame.pose
    state.skinning_matrices, state.limb_twists = frame.skinning_matrices, frame.twists
    state.milliseconds = 1e3 * (frame.seconds + time.perf_counter() - started)


def _deformed(frame: _Frame, binding: Binding, threads: int | None) -> Positions:
    """Skin (V, 3) deformed for a frame by its binding, or by another one, in its space."""
    return binding.deform(frame.skinning_matrices, frame.method, frame.amount, threads, twists=frame.twists)


def _relaxed(frame: _Frame, skin: Positions, threads: int | None) -> Positions:
    """Deformed skin (V, 3), relaxed, in its space. Shape keys and modifiers before move it as without."""
    if frame.flesh is None:
        return skin
    relaxation, pose, amount, steps = frame.flesh
    plain = frame.binding.without_shapes()
    bare = None if plain is None else _deformed(frame, plain, threads)
    return relaxation.apply(skin, bare, pose, amount=amount, steps=steps, threads=threads)


def _covering(frame: _Frame, skin: Positions, threads: int | None) -> Positions:
    """Deformed skin (V, 3) that covers muscles, in its space."""
    if frame.cover is None:
        return skin
    activations, still = frame.state.muscles.activations, frame.still
    if still is None:
        return frame.cover.apply(skin, activations, threads)
    bare = _deformed(frame, still, threads)
    return skin + (frame.cover.apply(bare, activations, threads) - bare)


def _write_bellies(changes: Sequence[Change], found: Sequence[State | None], depsgraph: bpy.types.Depsgraph) -> None:
    """Shape the bellies of rigs in the poses of updated objects, also where these are not new: one may be shown now."""
    done: set[bpy.types.Object] = set()
    for change, state in zip(changes, found, strict=True):
        cover = state.muscles.cover if state is not None and state.pose else None
        if state is None or cover is None or not cover.is_posed:
            continue
        armature = settings_of(change.item).armature
        # All meshes of a rig cover the same muscles.
        if armature is not None and armature not in done:
            done.add(armature)
            bellies.write(armature, cover, state.muscles.activations, state.pose, depsgraph)


def _threads() -> int | None:
    """How many threads the artist allows."""
    return preferences.get(bpy.context).threads or None
