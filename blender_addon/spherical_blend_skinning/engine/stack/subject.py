# SPDX-License-Identifier: GPL-3.0-or-later
"""The input of a bound object's modifier: its mesh, or the result of shape keys and earlier modifiers."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import influences
from ...core.binding import Binding
from ...core.rest import BoundMesh
from ...settings.given import manager_of
from ...settings.typed import mesh_of, values_of
from .. import reading
from ..nodes import live_group
from . import stack

Positions = NDArray[np.float32]


class InputError(ValueError):
    """The input of the modifier cannot be read in this evaluation."""


class Subject:
    """A bound object in a dependency graph, and the input of its modifier there."""

    def __init__(
        self, item: bpy.types.Object, evaluated: bpy.types.Object, modifier: bpy.types.NodesModifier, in_render: bool
    ) -> None:
        self.item = item
        self.evaluated = evaluated
        self.modifier = modifier
        self.in_render = in_render
        self.carrier_input = live_group.RENDER_CARRIER if in_render else live_group.CARRIER
        self._kept_input = input_to_keep(item, modifier)
        self._moves = self._kept_input != live_group.NOTHING

    def moving_positions(self) -> Positions | None:
        """Positions (V, 3), if they can change in every frame and can be read now."""
        if not self._moves:
            return None
        kept = self._kept()
        return kept and kept[0]

    def surface(self) -> BoundMesh:
        """Positions and weights. Raises ValueError if they cannot be read now."""
        groups = tuple(self.item.vertex_groups.keys())
        mesh = mesh_of(self.item)
        kept = self._kept() if self._moves else (reading.positions(mesh), None)
        if kept is None:
            raise InputError("What comes to the modifier cannot be read")
        positions, sources = kept
        if any(other.type not in stack.DEFORMING for other in stack.before(self.item, self.modifier)):
            weights = reading.vertex_weights(self.evaluated)
            if sources is not None:
                weights = influences.take_vertices(weights, sources)
        else:
            weights = reading.vertex_weights(self.item)
        if len(weights.groups) != len(positions):
            raise InputError("What comes to the modifier cannot be read")
        basis = reading.positions(mesh) if self._moves and len(mesh.vertices) == len(positions) else None
        return BoundMesh(positions, weights, groups, basis)

    def may_have_other_vertices(self) -> bool:
        """Whether the modifiers before may make other vertices of the mesh when it moves, even if as many."""
        return any(other.type not in stack.STEADY for other in stack.before(self.item, self.modifier))

    def has_faces(self) -> bool:
        """Whether the input has the faces of the mesh, which optimized centers need."""
        is_same = all(other.type in stack.DEFORMING for other in stack.before(self.item, self.modifier))
        return is_same and len(mesh_of(self.item).polygons) > 0

    def triangles(self) -> NDArray[np.int32]:
        """The faces of the input cut into triangles, (T, 3), if `has_faces`."""
        return reading.triangles(mesh_of(self.item))

    def _kept(self) -> tuple[Positions, NDArray[np.int64] | None] | None:
        """The input that the modifier stored in the evaluated mesh.

        If later modifiers add vertices, also the index of the first vertex with each position; otherwise None.
        """
        mesh = mesh_of(self.evaluated)
        positions = reading.vectors(mesh, live_group.INPUT_POSITION)
        if positions is not None and self._kept_input == live_group.POSITIONS:
            return positions, None
        if positions is None or live_group.INPUT_INDEX not in mesh.attributes:
            return None
        index = np.empty(len(positions), np.float32)
        values_of(mesh.attributes[live_group.INPUT_INDEX]).foreach_get("value", index)
        if np.array_equal(index, np.arange(len(index), dtype=np.float32)):
            return positions, None
        sources = influences.first_occurrences(index)
        return (positions[sources], sources) if sources is not None else None


def optimized_centers(binding: Binding, triangles: NDArray[np.int32]) -> NDArray[np.float32]:
    """The optimized centers of a binding for faces (T, 3); shows progress."""
    manager = manager_of(bpy.context)
    manager.progress_begin(0.0, 1.0)
    try:
        return binding.optimized_centers(triangles, manager.progress_update)
    finally:
        manager.progress_end()


def input_to_keep(item: bpy.types.Object, modifier: bpy.types.NodesModifier) -> int:
    """How much of its input the modifier has to keep: nothing if no shape keys or other modifiers move vertices before.

    Modifiers after it may add vertices, or remove some; the index tells the others.
    """
    if mesh_of(item).shape_keys is None and not stack.before(item, modifier):
        return live_group.NOTHING
    is_same = all(other.type in stack.DEFORMING for other in stack.after(item, modifier))
    return live_group.POSITIONS if is_same else live_group.POSITIONS_AND_INDEX


def faces_before(
    item: bpy.types.Object, modifier: bpy.types.NodesModifier, depsgraph: bpy.types.Depsgraph
) -> NDArray[np.int32]:
    """The faces of the modifier's input as triangles (T, 3); it and later modifiers are hidden meanwhile.

    Only for operators, because the dependency graph is evaluated anew.
    """
    with stack.only_before(item, modifier):
        depsgraph.update()
        found = reading.triangles(mesh_of(item.evaluated_get(depsgraph)))
    depsgraph.update()
    return found


def signature(item: bpy.types.Object, modifier: bpy.types.NodesModifier) -> tuple[object, ...]:
    """A cheap key that changes if the vertices or weights of the modifier's input may have changed."""
    return (
        len(mesh_of(item).vertices),
        item.mode == "EDIT",
        tuple(item.vertex_groups.keys()),
        tuple(
            (other.name, _values(other)) for other in stack.before(item, modifier) if other.type not in stack.DEFORMING
        ),
    )


def _values(modifier: bpy.types.Modifier) -> tuple[object, ...]:
    """The plain values among the settings of a modifier."""
    values = []
    for definition in modifier.bl_rna.properties:
        if definition.type in ("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING") and not definition.identifier.startswith(
            ("execution_time", "is_active", "show_expanded")
        ):
            value = getattr(modifier, definition.identifier)
            values.append(tuple(value) if getattr(definition, "is_array", False) else value)
    return tuple(values)


def renders_differ(item: bpy.types.Object, modifier: bpy.types.NodesModifier) -> bool:
    """Whether the input of the modifier may have other vertices in renders than in the viewport."""
    for other in stack.before(item, modifier):
        is_finer = isinstance(other, bpy.types.SubsurfModifier | bpy.types.MultiresModifier) and (
            other.levels != other.render_levels
        )
        # Nodes may depend on where they are evaluated.
        if other.type == "NODES" or (
            other.type not in stack.DEFORMING and (is_finer or other.show_viewport != other.show_render)
        ):
            return True
    return False
