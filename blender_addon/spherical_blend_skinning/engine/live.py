# SPDX-License-Identifier: GPL-3.0-or-later
"""The live engine: bound meshes deformed by the library, frame by frame and edit by edit.

What is remembered of an object are arrays alone, no data-block of Blender, for undo and loading replace those.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import library
from ..core import influences
from ..core.binding import Amount, Binding, Surface
from ..core.matrices import Floats, inverse
from . import carriers, live_group, node_trees, reading, stack

__all__ = [
    "State",
    "forget",
    "forget_poses",
    "has_other_positions",
    "key_of",
    "needs_input",
    "renders_differ",
    "signature",
    "state_of",
    "update",
]

Positions = NDArray[np.float32]


@dataclass
class State:
    """What is remembered of a bound object.

    Attributes
    ----------
    binding : Binding or None
        None while there is a problem.
    amount : Amount or None
    amount_settings : tuple
        What it was made for.
    pose : tuple of bytes
        What the carrier was last written for.
    problem : str
        Why the object is not deformed, for the artist.
    milliseconds : float
        How long the last frame took.
    signature : tuple
        See `signature`.
    missed_mesh, missed_rig : bool
        What may have changed while the modifier was switched off.
    """

    binding: Binding | None = None
    amount: Amount | None = None
    amount_settings: tuple[str, bool, str] = ("", False, "")
    pose: tuple[bytes, ...] = ()
    problem: str = ""
    milliseconds: float = 0.0
    signature: tuple[object, ...] = ()
    missed_mesh: bool = False
    missed_rig: bool = False


# Of every object, and apart from it those of renders that have other vertices than the viewport.
_states: dict[tuple[int | str, bool], State] = {}


def key_of(item: bpy.types.ID) -> int | str:
    """What tells a data-block from all others while a file is open."""
    return getattr(item, "session_uid", None) or item.name_full


def state_of(item: bpy.types.Object) -> State | None:
    """What is remembered of an object, if anything."""
    return _states.get((key_of(item), False))


def forget(item: bpy.types.Object | None = None) -> None:
    """Remember nothing of an object, or of any: it is bound anew when next it is updated."""
    if item is None:
        _states.clear()
    else:
        for in_render in (False, True):
            _states.pop((key_of(item), in_render), None)


def forget_poses() -> None:
    """Have all carriers written again when next their objects are updated."""
    for state in _states.values():
        state.pose = ()


def update(
    item: bpy.types.Object, depsgraph: bpy.types.Depsgraph, *, mesh: bool = False, rig: bool = False
) -> State | None:
    """Bring a bound object up to date with its rig.

    Parameters
    ----------
    item : Object
        An original object that has the modifier.
    depsgraph : Depsgraph
        Evaluated; whose pose counts. During rendering it is the one of the render.
    mesh, rig : bool
        Whether vertices and weights, or the bones at rest, may have changed and not just the pose.

    Returns
    -------
    State or None
        None if the object is not in the dependency graph, or has no modifier.
    """
    evaluated = item.evaluated_get(depsgraph)
    modifier = stack.find(item)
    if modifier is None or not evaluated.is_evaluated:
        return None
    started = time.perf_counter()
    in_render = depsgraph.mode == "RENDER" and bool(node_trees.get_input(modifier, live_group.USE_RENDER_CARRIER))
    state = _states.setdefault((key_of(item), in_render), State())
    try:
        subject = _Subject(item, evaluated, modifier, in_render)
        if _deform(subject, depsgraph, state, mesh, rig):
            state.milliseconds = 1e3 * (time.perf_counter() - started)
        state.problem = ""
    except (ValueError, library.LibraryError) as error:
        state.problem = str(error)
        state.binding = None
        state.pose = ()
    return state


def _deform(subject: _Subject, depsgraph: bpy.types.Depsgraph, state: State, mesh: bool, rig: bool) -> bool:
    """Write the carrier of an object, unless nothing changed. A ValueError tells the artist why that can't be."""
    item = subject.item
    if not (subject.modifier.show_render if depsgraph.mode == "RENDER" else subject.modifier.show_viewport):
        # For when it is shown again.
        state.pose = ()
        state.missed_mesh |= mesh
        state.missed_rig |= rig
        return False
    mesh |= state.missed_mesh
    rig |= state.missed_rig
    state.missed_mesh = state.missed_rig = False
    armature = item.sbs.armature
    if armature is None or armature.type != "ARMATURE":
        raise ValueError("No armature")
    carrier = node_trees.get_input(subject.modifier, subject.carrier_input)
    if item.library is not None:
        raise ValueError("Linked, so it stays as it was saved: make a library override")
    if carrier is None or not carriers.is_writable(carrier):
        raise ValueError("Nothing carries positions to the modifier yet")
    posed = armature.evaluated_get(depsgraph)
    to_rig = inverse(reading.matrix(posed.matrix_world)) @ reading.matrix(subject.evaluated.matrix_world)
    matrices = reading.pose_matrices(posed)

    binding = state.binding
    positions = subject.moving_positions()
    mesh |= positions is not None and binding is not None and len(positions) != len(binding.surface.positions)
    rig |= binding is not None and len(matrices) != len(binding.rig.names)
    binding = _bind(subject, armature, positions, to_rig, state, mesh, rig)

    moves = reading.segment_moves(posed, binding.bones[binding.segments > 1]) if binding.bends else []
    method = item.sbs.method.lower()
    pose = (matrices.tobytes(), to_rig.tobytes(), method.encode(), *(move.tobytes() for move in moves))
    vertex_count = len(binding.surface.positions)
    if pose == state.pose and carriers.count(carrier) == vertex_count:
        return False
    if carriers.count(carrier) != vertex_count:
        if depsgraph.mode == "RENDER" and not subject.in_render:
            raise ValueError("The modifiers before give other vertices in renders than in the viewport")
        carriers.resize(carrier, vertex_count)
    skinning_matrices = binding.skinning_matrices(matrices, to_rig, moves)
    carriers.write(carrier, binding.deform(skinning_matrices, method, state.amount, _threads()))
    state.pose = pose
    return True


def _bind(
    subject: _Subject,
    armature: bpy.types.Object,
    positions: Positions | None,
    to_rig: Floats,
    state: State,
    mesh: bool,
    rig: bool,
) -> Binding:
    """The binding of an object, brought up to date as far as it is not."""
    settings = subject.item.sbs
    limit = settings.influence_limit
    old = state.binding
    if old is not None and subject.item.mode == "EDIT":
        # The mesh that is edited is not to be had; on leaving, it is looked at again.
        return old
    amount_settings = (settings.amount_group, settings.amount_invert, settings.amount_method)
    if old is None or mesh:
        surface = subject.surface()
        state.signature = signature(subject.item, subject.modifier)
    else:
        surface = old.surface
    if positions is not None and surface.positions is not positions:
        surface = Surface(positions, surface.weights, surface.groups)
    bones = reading.rig(armature) if old is None or rig else old.rig

    same_weights = old is not None and surface.has_weights_of(old.surface)
    if old is None or not same_weights or limit != old.limit or not bones.same_as(old.rig) or not old.fits(to_rig):
        state.binding = Binding(library.load(), bones, surface, to_rig, limit)
        state.pose = ()
    elif not np.array_equal(surface.positions, old.surface.positions):
        state.binding = old.with_positions(surface.positions)
        state.pose = ()
    if not same_weights or amount_settings != state.amount_settings:
        state.amount = _amount(surface, *amount_settings)
        state.amount_settings = amount_settings
        state.pose = ()
    return state.binding


def _threads() -> int | None:
    """How many threads the artist allows."""
    addon = bpy.context.preferences.addons.get(__package__.rpartition(".")[0])
    return addon.preferences.threads or None if addon is not None else None


def _amount(surface: Surface, group: str, invert: bool, method: str) -> Amount | None:
    if group not in surface.groups:
        return None
    weights = influences.group_weights(surface.weights, surface.groups.index(group))
    return Amount(1.0 - weights if invert else weights, method.lower())


class _Subject:
    """An object in a dependency graph, and what comes to its modifier: its mesh, or what is made of that before."""

    def __init__(
        self,
        item: bpy.types.Object,
        evaluated: bpy.types.Object,
        modifier: bpy.types.NodesModifier,
        in_render: bool,
    ) -> None:
        self.item = item
        self.evaluated = evaluated
        self.modifier = modifier
        self.in_render = in_render
        self.carrier_input = live_group.RENDER_CARRIER if in_render else live_group.CARRIER
        self._moves = needs_input(item, modifier)

    def moving_positions(self) -> Positions | None:
        """Positions (V, 3) if they can change with every frame and can be read now."""
        if not self._moves:
            return None
        kept = self._kept()
        return kept and kept[0]

    def surface(self) -> Surface:
        """Positions and weights. A ValueError if they can't be read now."""
        groups = tuple(group.name for group in self.item.vertex_groups)
        mesh = self.item.data
        kept = self._kept() if self._moves else (reading.positions(mesh), None)
        if kept is None:
            raise ValueError("What comes to the modifier cannot be read")
        positions, sources = kept
        if any(other.type not in stack.DEFORMING for other in stack.before(self.item, self.modifier)):
            weights = reading.vertex_weights(self.evaluated.data)
            if sources is not None:
                weights = influences.of_vertices(weights, sources)
        else:
            weights = reading.vertex_weights(mesh)
        if len(weights.groups) != len(positions):
            raise ValueError("What comes to the modifier cannot be read")
        return Surface(positions, weights, groups)

    def _kept(self) -> tuple[Positions, NDArray[np.int64] | None] | None:
        """The input that the modifier kept, and which vertices of the outcome have it if modifiers after add some."""
        attributes = self.evaluated.data.attributes
        if live_group.INPUT_POSITION not in attributes or live_group.INPUT_INDEX not in attributes:
            return None
        attribute = attributes[live_group.INPUT_POSITION]
        positions = np.empty((len(attribute.data), 3), np.float32)
        attribute.data.foreach_get("vector", positions.reshape(-1))
        index = np.empty(len(positions), np.float32)
        attributes[live_group.INPUT_INDEX].data.foreach_get("value", index)
        if np.array_equal(index, np.arange(len(index), dtype=np.float32)):
            return positions, None
        sources = influences.first_of_each(index)
        return (positions[sources], sources) if sources is not None else None


def needs_input(item: bpy.types.Object, modifier: bpy.types.NodesModifier) -> bool:
    """Whether the modifier has to keep what comes to it: shape keys or other modifiers change the mesh before."""
    return item.data.shape_keys is not None or bool(stack.before(item, modifier))


def signature(item: bpy.types.Object, modifier: bpy.types.NodesModifier) -> tuple[object, ...]:
    """What tells, at little cost, that other vertices or weights may come to the modifier of an object."""
    return (
        len(item.data.vertices),
        item.mode == "EDIT",
        tuple(group.name for group in item.vertex_groups),
        tuple(
            (other.name, _values(other)) for other in stack.before(item, modifier) if other.type not in stack.DEFORMING
        ),
    )


def _values(modifier: bpy.types.Modifier) -> tuple[object, ...]:
    """The settings of a modifier that are plain values."""
    values = []
    for definition in modifier.bl_rna.properties:
        if definition.type in ("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING") and not definition.identifier.startswith(
            ("execution_time", "is_active", "show_expanded")
        ):
            value = getattr(modifier, definition.identifier)
            values.append(tuple(value) if getattr(definition, "is_array", False) else value)
    return tuple(values)


def has_other_positions(item: bpy.types.Object) -> bool:
    """Whether the mesh of an object is no longer the one that was bound, of as many vertices."""
    state = state_of(item)
    if state is None or state.binding is None:
        return False
    bound = state.binding.surface.positions
    return len(bound) == len(item.data.vertices) and not np.array_equal(bound, reading.positions(item.data))


def renders_differ(item: bpy.types.Object, modifier: bpy.types.NodesModifier) -> bool:
    """Whether other vertices may come to the modifier in renders than in the viewport."""
    for other in stack.before(item, modifier):
        levels = other.type in ("SUBSURF", "MULTIRES") and other.levels != other.render_levels
        # What nodes do may depend on where they are evaluated.
        if other.type == "NODES" or (
            other.type not in stack.DEFORMING and (levels or other.show_viewport != other.show_render)
        ):
            return True
    return False
