# SPDX-License-Identifier: GPL-3.0-or-later
"""The bound objects of the file, and upkeep of their carriers and modifiers."""

from __future__ import annotations

from collections.abc import Iterable, Set
from contextlib import suppress
from dataclasses import dataclass, field

import bpy

from ...settings import disabled_modifier
from ...settings import rig as rig_settings
from ...settings.properties import settings_of
from ...settings.typed import mesh_of
from ..identity import key_of
from ..muscles import muscle_list
from ..nodes import live_group, node_trees
from ..stack import carriers, earlier_files, stack, subject
from . import probes, states

# Bound objects, valid while the number of objects does not change: a lookup by name goes through all objects. They are
# forgotten before undo and loading replace them; using a deleted one raises an error.
_bound: list[bpy.types.Object] | None = None
_object_count = -1
# The addresses of all that bound objects depend on: themselves, their meshes, shape keys, armatures and armature data.
# Valid until undo or loading, before which `forget` is called; later another object may have such an address.
_concerned: set[int] = set()


def forget() -> None:
    """Forget the bound objects, so that the next query goes through the whole file."""
    global _bound
    _bound = None


def is_outdated() -> bool:
    """Whether objects have been added or removed since the last search."""
    return _last_found() is None


def _last_found() -> list[bpy.types.Object] | None:
    """The bound objects as of the last search, some maybe deleted; None if objects came or went since, or all."""
    return list(_bound) if _bound is not None and _object_count == len(bpy.data.objects) else None


def bound_objects() -> list[bpy.types.Object]:
    """The objects that have the modifier."""
    found = _last_found()
    if found is not None:
        with suppress(ReferenceError):
            if all(stack.find(item) is not None for item in found):
                return found
    found = [item for item in bpy.data.objects if item.type == "MESH" and stack.find(item) is not None]
    _remember(found)
    return list(found)


def _remember(bound: list[bpy.types.Object]) -> None:
    """Record the bound objects of the file."""
    global _bound, _object_count
    _bound, _object_count = bound, len(bpy.data.objects)
    watch(bound)


def once_bound_objects() -> list[bpy.types.Object]:
    """The objects that had the modifier in the last search, unchecked, for callers that check each anyway."""
    found = _last_found()
    if found is not None:
        with suppress(ReferenceError):
            for item in found:
                item.as_pointer()
            return found
    return bound_objects()


def watch(items: Iterable[bpy.types.Object]) -> None:
    """Record what bound objects depend on, for `concerns`."""
    global _concerned
    _concerned = {other.as_pointer() for item in items for other in _dependencies(item)}


def concerns(places: Set[int]) -> bool:
    """Whether data-blocks at these addresses may affect a bound object."""
    return _bound is None or not _concerned.isdisjoint(places)


def _dependencies(item: bpy.types.Object) -> list[bpy.types.ID]:
    """Dependencies of a bound object."""
    armature = settings_of(item).armature
    found = [item, item.data, mesh_of(item).shape_keys, armature, armature and armature.data]
    found += muscle_list.present_handles(armature) if armature is not None else []
    return [other for other in found if other is not None]


@dataclass
class _Census:
    """The objects of the file that are ours, found in one pass: files may have thousands."""

    #: The objects with the modifier, each beside it
    bound: list[tuple[bpy.types.Object, bpy.types.NodesModifier]] = field(default_factory=list)
    #: The objects whose modifier somebody removed or applied
    unbound: list[bpy.types.Object] = field(default_factory=list)
    helpers: list[bpy.types.Object] = field(default_factory=list)  #: Carriers and probes of this file

    @classmethod
    def take(cls) -> _Census:
        """The census of now."""
        found = cls()
        for item in bpy.data.objects:
            if item.type == "MESH":
                modifier = stack.find(item)
                if modifier is not None:
                    found.bound.append((item, modifier))
                elif item.library is None and settings_of(item).bound:
                    found.unbound.append(item)
                elif (carriers.is_carrier(item) or probes.is_probe(item)) and carriers.is_writable(item):
                    found.helpers.append(item)
        return found


def tidy(view_layer: bpy.types.ViewLayer | None = None) -> bool:
    """Give every bound object its own carrier, and remove leftovers. Not for use in renders.

    With a view layer, it also provides probes for rigs hidden there, and returns whether there are new ones.
    """
    if is_outdated():
        # Whatever may have come from another file.
        earlier_files.tidy()
    census = _Census.take()
    muscle_list.tidy()
    for item in census.unbound:
        if states.has_other_positions(item):
            # The modifier was applied, so the mesh contains the pose and is no longer bound.
            stack.clear(item)
        else:
            stack.restore_armature_modifier(item)
    ours = [(item, modifier) for item, modifier in census.bound if item.library is None]
    used = _provide_carriers(ours)
    present_probes = [item for item in census.helpers if probes.is_probe(item)]
    probed = False
    if view_layer is not None:
        needed, probed = _probe_hidden_rigs(ours, present_probes, view_layer)
        used.update(needed)
    else:
        used.update(present_probes)
    for item in census.helpers:
        if item not in used:
            carriers.remove(item)
    _remember([item for item, _ in census.bound])
    return probed


def _provide_carriers(bound: Iterable[tuple[bpy.types.Object, bpy.types.NodesModifier]]) -> set[bpy.types.Object]:
    """Have each bound object of this file use carriers of its own; return all of them."""
    owned: set[bpy.types.Object] = set()
    for item, modifier in bound:
        settings_of(item).bound = True
        adjust(item, modifier)
        for name in (live_group.CARRIER, live_group.RENDER_CARRIER):
            carrier = node_trees.get_input(modifier, name)
            if carrier is None and name == live_group.RENDER_CARRIER:
                continue
            if carrier is None or carrier in owned or not carriers.is_writable(carrier):
                carrier = carriers.new(item.name)
                node_trees.set_input(modifier, name, carrier)
            owned.add(carrier)
    return owned


def _probe_hidden_rigs(
    bound: Iterable[tuple[bpy.types.Object, bpy.types.NodesModifier]],
    present: Iterable[bpy.types.Object],
    view_layer: bpy.types.ViewLayer,
) -> tuple[list[bpy.types.Object], bool]:
    """Provide a probe for each hidden rig; return the probes in use, and whether any object got a new one."""
    rig_probes: dict[bpy.types.Object, bpy.types.Object] = {}
    for item in present:
        rig = probes.rig_of(item)
        if rig is not None:
            rig_probes.setdefault(rig, item)
    used: list[bpy.types.Object] = []
    got_one = False
    for item, modifier in bound:
        armature = settings_of(item).armature
        probe = None
        if armature is not None and probes.is_needed(item, armature, view_layer):
            probe = rig_probes.get(armature) or probes.new(armature)
            rig_probes[armature] = probe
            used.append(probe)
        if node_trees.get_input(modifier, live_group.POSE_PROBE) != probe:
            node_trees.set_input(modifier, live_group.POSE_PROBE, probe)
            got_one |= probe is not None
    return used, got_one


def adjust(item: bpy.types.Object, modifier: bpy.types.NodesModifier) -> None:
    """Make a modifier keep its input, and give it a carrier for renders, only where needed; follow another rig."""
    if item.library is not None:
        return
    _adjust_rig(item)
    live_group.choose(modifier, subject.input_to_keep(item, modifier))
    renders_differ = subject.renders_differ(item, modifier)
    if bool(node_trees.get_input(modifier, live_group.USE_RENDER_CARRIER)) != renders_differ:
        carrier = carriers.new(item.name) if renders_differ else None
        node_trees.set_input(modifier, live_group.RENDER_CARRIER, carrier)
        node_trees.set_input(modifier, live_group.USE_RENDER_CARRIER, renders_differ)


def _adjust_rig(item: bpy.types.Object) -> None:
    """Have a modifier say which rig a bound object has; if that is another one than before, follow it."""
    state = states.state_of(item)
    before = state.rig_key[0] if state is not None else None
    if disabled_modifier.find(item) is None:
        known = (other for other in bpy.data.objects if before is not None and key_of(other) == before)
        stack.add_disabled(item, next(known, None))
    armature = settings_of(item).armature
    if armature is not None and before not in (None, key_of(armature)):
        rig_settings.follow(settings_of(item))
