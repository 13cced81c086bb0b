# SPDX-License-Identifier: GPL-3.0-or-later
"""One drag of a vertex of a bound object: from the pose that is shown to its vertex groups."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import library
from ..core.dragging import Dragging, Patch, Reach, Rows
from ..engine import reading
from ..engine.live import live, methods, states
from ..engine.stack import stack
from ..settings import libraries
from ..settings.properties import settings_of
from ..settings.typed import mesh_of


def hindrance(item: bpy.types.Object | None) -> str:
    """Why no vertex of an object can be dragged, for the artist; empty if one can."""
    if problem := library.problem():
        return problem
    if item is None or item.type != "MESH":
        return "Select a bound mesh"
    modifier = stack.find(item)
    if modifier is None:
        return f"{item.name} is not bound by the live modifier"
    if item.mode == "EDIT":
        return "Leave Edit Mode first"
    if reason := libraries.hindrance([item]):
        return reason
    if any(other.type not in stack.DEFORMING for other in stack.before(item, modifier)):
        return f"Modifiers before the one that deforms {item.name} add or remove vertices"
    state = states.state_of(item)
    if state is None or state.binding is None or state.skinning_matrices is None:
        return (state and state.problem) or f"{item.name} is not deformed now"
    return ""


@dataclass
class Session:
    """A drag. The object is not kept: undo may replace it."""

    name: str  #: Of the object
    vertex: int
    start: NDArray[np.float32]  #: (3,): where the vertex was, in the space of the object
    dragging: Dragging
    groups: tuple[str, ...]  #: The vertex group of each bone of the pose; empty for bones that do not deform
    _first: dict[int, list[tuple[int, float]]] = field(default_factory=dict)

    @property
    def item(self) -> bpy.types.Object:
        return bpy.data.objects[self.name, None]  # type: ignore[index]  # and not one of a library, as stubs don't know

    def drag(self, way: NDArray[np.floating], reach: Reach) -> int:
        """Take the vertex so far (3,) in the space of the object; return how many vertices have been dragged along."""
        rows = self.dragging.drag(self.vertex, way, reach)
        self._remember(rows)
        self._write(rows)
        return len(rows.vertices)

    def cancel(self) -> None:
        """Restore the weights from before, to the last bit."""
        rows = self.dragging.cancel()
        item = self.item
        indices = {item.vertex_groups[name].index for name in self.groups if name in item.vertex_groups}
        for vertex in rows.vertices.tolist():
            was = dict(self._first[vertex])
            for index in indices - was.keys():
                item.vertex_groups[index].remove([vertex])
            for index, weight in was.items():
                item.vertex_groups[index].add([vertex], weight, "REPLACE")
        mesh_of(item).update()

    def patch(self) -> Patch | None:
        """Where weights can take the vertex."""
        return self.dragging.patch(self.vertex)

    def reached(self) -> NDArray[np.float32]:
        """Where the vertex has got, (3,)."""
        return self.start + self.dragging.moved(self.vertex)

    def _remember(self, rows: Rows) -> None:
        vertices = mesh_of(self.item).vertices
        for vertex in rows.vertices.tolist():
            if vertex not in self._first:
                self._first[vertex] = [(element.group, element.weight) for element in vertices[vertex].groups]

    def _write(self, rows: Rows) -> None:
        """Write weights to vertex groups; those of other bones of the rig lose the vertices."""
        item = self.item
        groups = item.vertex_groups
        numbers = {groups[name].index: bone for bone, name in enumerate(self.groups) if name in groups}
        for vertex, bones, weights in zip(*(part.tolist() for part in rows), strict=True):
            new = {bone: weight for bone, weight in zip(bones, weights, strict=True) if weight > 0.0}
            for element in list(mesh_of(item).vertices[vertex].groups):
                bone = numbers.get(element.group)
                if bone is None:
                    continue
                weight = new.pop(bone, None)
                if weight is None:
                    groups[element.group].remove([vertex])
                elif weight != element.weight:
                    groups[element.group].add([vertex], weight, "REPLACE")
            for bone, weight in new.items():
                name = self.groups[bone]
                group = groups.get(name) or groups.new(name=name)
                group.add([vertex], weight, "REPLACE")
        mesh_of(item).update()


def prepare(item: bpy.types.Object) -> Dragging:
    """The `Dragging` of an object, as it is deformed now.

    Raises ValueError if `hindrance` has a reason, or the deformation is not one that drags follow.
    """
    if reason := hindrance(item):
        raise ValueError(reason)
    state = states.state_of(item)
    if state is None or state.binding is None or state.skinning_matrices is None:
        raise ValueError(f"{item.name} is not deformed now")
    return Dragging(
        library.load(),
        library.load("weights"),
        state.binding,
        reading.triangles(mesh_of(item)),
        state.skinning_matrices,
        methods.method_of(state, settings_of(item)),
        state.amounts.amount,
        state.limb_twists,
    )


def begin(item: bpy.types.Object, vertex: int, dragging: Dragging | None = None) -> Session:
    """Begin a drag, with what `prepare` returned for the object as it is, if that is at hand.

    Raises ValueError as `prepare`; or if there is no such vertex.
    """
    dragging = dragging or prepare(item)
    state, positions = states.state_of(item), live.shown(item)
    if state is None or state.binding is None or positions is None:
        raise ValueError(f"{item.name} is not deformed now")
    if not 0 <= vertex < len(positions):
        raise ValueError(f"{item.name} has no vertex {vertex}")
    rig = state.binding.rig
    groups = tuple(name if deforms else "" for name, deforms in zip(rig.names, rig.deforms.tolist(), strict=True))
    return Session(item.name, vertex, positions[vertex], dragging, groups)
