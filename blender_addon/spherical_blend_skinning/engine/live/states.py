# SPDX-License-Identifier: GPL-3.0-or-later
"""The states of bound objects in the live engine.

Only arrays are remembered, no data-blocks of Blender, because undo and loading replace those.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
import numpy as np

from ...core.binding import Binding
from ...core.matrices import Floats
from ...settings.typed import mesh_of
from .. import reading
from ..identity import key_of
from ..muscles import bellies
from ..muscles.muscles import Muscles
from ..stack import subject
from . import twists
from .amounts import Amounts
from .centers import Centers
from .flesh import Flesh


@dataclass
class State:
    """The state of a bound object."""

    binding: Binding | None = None  #: None while there is a problem
    #: The keys of its last armature object and of that object's data, and how many segments bones have
    rig_key: tuple[object, ...] = (None,)
    amounts: Amounts = field(default_factory=Amounts)  #: How much of the method each vertex gets
    #: All that the positions in the carrier were computed from; empty if they must be computed anew
    pose: tuple[object, ...] = ()
    skinning_matrices: Floats | None = None  #: The matrices of these positions
    limb_twists: Floats | None = None  #: The twists of limbs, where they are not those of the matrices
    problem: str = ""  #: Why the object is not deformed, for the artist
    milliseconds: float = 0.0  #: How long the last frame took
    signature: tuple[object, ...] = ()  #: See `subject.signature`.
    #: Whether mesh or rig may have changed while the modifier was off, or the object was not evaluated
    missed_mesh: bool = False
    missed_rig: bool = False
    unread: int = 0  #: How many times in a row the input of the modifier could not be read
    centers: Centers = field(default_factory=Centers)  #: Its optimized centers
    history: twists.History = field(default_factory=twists.History)  #: The twists of its limbs in the frame before
    muscles: Muscles = field(default_factory=Muscles)  #: Its covered muscles
    flesh: Flesh = field(default_factory=Flesh)  #: By which its skin is relaxed

    def invalidate(self) -> None:
        """Have the next update write the carrier."""
        self.pose = ()

    def fail(self, error: Exception) -> None:
        """Set the reason why the object is not deformed, for the artist."""
        self.problem = str(error)
        self.unread += isinstance(error, subject.InputError)
        self.binding = None
        self.invalidate()

    def miss(self, change: Change) -> None:
        """Handle a change in the next update."""
        self.missed_mesh |= change.mesh
        self.missed_rig |= change.rig


class Change(NamedTuple):
    """An object to update."""

    item: bpy.types.Object  #: An original object that has the modifier
    #: Whether vertices and weights, or the bones at rest, may have changed, and not only the pose
    mesh: bool = False
    rig: bool = False


# The states of all objects, and separately those of renders whose vertices differ from the viewport.
_states: dict[tuple[int | str, bool], State] = {}


def provide(item: bpy.types.Object, in_render: bool) -> State:
    """The state of an object, in the viewport or in renders whose vertices differ from it; new if there is none."""
    key = (key_of(item), in_render)
    if key not in _states:
        _states[key] = State()
    return _states[key]


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
        state.invalidate()
    bellies.forget_poses()


def forget_twists() -> None:
    """Forget the twists of limbs in the frame before."""
    for state in _states.values():
        state.history.forget()


def look_for_centers(item: bpy.types.Object) -> bool:
    """Continue the search for an object's optimized centers if there is one; return whether it is still awaited."""
    state = state_of(item)
    if state is None or state.binding is None or not state.centers.are_awaited:
        return False
    binding = state.centers.look(item, state.binding)
    if binding is not state.binding:
        state.binding = binding
        state.invalidate()
        item.update_tag()
    return state.centers.are_awaited


def has_other_positions(item: bpy.types.Object) -> bool:
    """Whether vertices of an object's mesh have moved since it was bound, their number being the same."""
    state = state_of(item)
    if state is None or state.binding is None:
        return False
    bound = state.binding.surface.positions
    return len(bound) == len(mesh_of(item).vertices) and not np.array_equal(bound, reading.positions(mesh_of(item)))
