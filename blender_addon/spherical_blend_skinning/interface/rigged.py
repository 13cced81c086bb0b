# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh object with the armature that moves it: read as arrays, with vertex groups written back."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import influences, library
from ..core.matrices import Floats
from ..engine import reading
from ..engine.bake import bake
from ..engine.stack import stack
from ..settings import libraries
from ..settings.given import pose_of, view_layer_of
from ..settings.muscles import is_part, rig_of_part
from ..settings.properties import settings_of
from ..settings.typed import mesh_of


class RiggedMesh:
    """The vertex groups of a mesh that are named after the deforming bones of an armature. Neither is in Edit Mode.

    Joints are those bones, J of them, in the order of the armature's pose.
    """

    def __init__(self, item: bpy.types.Object, armature: bpy.types.Object) -> None:
        self.item = item
        self.armature = armature
        #: The bones, as Blender's objects.
        posed = armature.pose.bones if armature.pose is not None else ()
        self.bones = [pose_bone.bone for pose_bone in posed if pose_bone.bone.use_deform]
        #: Their names.
        self.names = tuple(bone.name for bone in self.bones)

    @property
    def parents(self) -> list[int]:
        """The joint above each, past bones that do not deform; -1 for roots."""
        number = {name: joint for joint, name in enumerate(self.names)}
        return [
            next((number[above.name] for above in bone.parent_recursive if above.name in number), -1)
            for bone in self.bones
        ]

    @property
    def positions(self) -> NDArray[np.float32]:
        """The vertices, (V, 3), in the space of the mesh object."""
        return reading.positions(mesh_of(self.item))

    @property
    def to_rig(self) -> Floats:
        """From the space of the mesh object to that of the armature, (4, 4)."""
        return reading.place(self.item, self.armature)

    @property
    def triangles(self) -> NDArray[np.int32]:
        """The faces as triangles, (T, 3)."""
        return reading.triangles(mesh_of(self.item))

    @property
    def locked(self) -> NDArray[np.bool_]:
        """Whether the vertex group of each joint is locked, (J,)."""
        groups = self.item.vertex_groups
        return np.array([name in groups and groups[name].lock_weight for name in self.names], bool)

    def influences(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The weights for `sbs.weights`: joint_indices and joint_weights, (V, K)."""
        number = {name: joint for joint, name in enumerate(self.names)}
        groups = [number.get(group.name, -1) for group in self.item.vertex_groups]
        return influences.influences(reading.vertex_weights(self.item), np.array(groups, np.int32))

    def dense(self) -> NDArray[np.float32]:
        """The weights as a matrix, (V, J)."""
        dense: NDArray[np.float32] = library.load("weights").to_dense(*self.influences(), len(self.names))
        return dense

    def write(self, weights: NDArray[np.float32], chosen: NDArray[np.bool_] | None = None) -> int:
        """Write weights (V, J) to the vertex groups, of chosen vertices (V,) or all; return how many have changed.

        A weight of 0 removes the vertex from the group; missing groups are added when a vertex gets into them.
        """
        differs = self.dense() != weights
        if chosen is not None:
            differs &= chosen[:, None]
        groups = self.item.vertex_groups
        for joint in np.flatnonzero(differs.any(axis=0)):
            changed = np.flatnonzero(differs[:, joint])
            values = weights[changed, joint]
            name = self.names[joint]
            group = groups.get(name) or groups.new(name=name)
            group.remove(changed[values == 0].tolist())
            # Vertices with equal weights are written at once, because most of the time is spent in calls.
            distinct, kind = np.unique(values, return_inverse=True)
            order = np.argsort(kind, kind="stable")
            ends = np.cumsum(np.bincount(kind, minlength=len(distinct)))
            for value, vertices in zip(distinct.tolist(), np.split(changed[order], ends[:-1]), strict=True):
                if value > 0:
                    group.add(vertices.tolist(), value, "REPLACE")
        mesh_of(self.item).update()
        return int(differs.any(axis=1).sum())


def find(context: bpy.types.Context) -> list[RiggedMesh]:
    """The meshes to work on: the active one, or for an active armature, the selected ones that it moves.

    If none of these is selected, all meshes in the view layer that the armature moves.
    """
    active = context.object
    if active is None:
        return []
    if active.type == "MESH":
        armature = rig_of(context, or_selected=True)
        return [] if armature is None else [RiggedMesh(active, armature)]
    if active.type != "ARMATURE":
        return []
    moved = moved_by(active, view_layer_of(context))
    selected = [item for item in moved if item.select_get()]
    return [RiggedMesh(item, active) for item in selected or moved]


def moved_by(armature: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    """The mesh objects of a view layer whose vertices an armature moves, or would move if they had weights.

    Meshes that a bone moves as a whole do not count.
    """
    return [item for item in view_layer.objects if item.type == "MESH" and _is_moved_by(item, armature)]


def rig_of(context: bpy.types.Context, *, or_selected: bool = False) -> bpy.types.Object | None:
    """The active armature, or that of the active mesh, belly or handle.

    If the mesh is not bound, `or_selected` prefers a selected armature.
    """
    active = context.object
    if active is not None and is_part(active):
        return rig_of_part(active)
    if active is None or active.type not in ("ARMATURE", "MESH"):
        return None
    return (
        active if active.type == "ARMATURE" else _armature_of(active, context.selected_objects if or_selected else [])
    )


def some_rig(context: bpy.types.Context, *, or_selected: bool = False) -> bpy.types.Object:
    """The armature of `rig_of`; a ValueError says that there is none."""
    armature = rig_of(context, or_selected=or_selected)
    if armature is None:
        raise ValueError("Select an armature, or a mesh that one moves")
    return armature


def _is_moved_by(item: bpy.types.Object, armature: bpy.types.Object) -> bool:
    # This must be fast: most objects are neither, and panels call it with every redraw.
    if is_part(item):
        return False
    if not len(item.modifiers) and item.parent != armature:
        return False
    return not moves_as_a_whole(item) and _armature_of(item, []) == armature


def moves_as_a_whole(item: bpy.types.Object) -> bool:
    """Whether a mesh object is a child of a bone, with no modifier that deforms it: a sword, a helmet."""
    if item.parent is None or item.parent_type != "BONE":
        return False
    return bake.modifier_of(item) is None and not stack.armature_modifiers(item)


def _armature_of(item: bpy.types.Object, selected: list[bpy.types.Object]) -> bpy.types.Object | None:
    """The armature that moves a mesh."""
    bound_to = settings_of(item).armature if bake.modifier_of(item) is not None else None
    return bound_to if bound_to is not None else stack.find_armature(item, selected)


def hindrance(context: bpy.types.Context) -> str:
    """Why there are no weights to work on, for the artist; empty if there are."""
    if problem := library.problem():
        return problem
    rigged = find(context)
    if not rigged:
        return "Select a mesh with an armature, or an armature that moves a mesh"
    for mesh in rigged:
        if "EDIT" in (mesh.item.mode, mesh.armature.mode):
            return "Leave Edit Mode first"
        if mesh.armature.pose is None:
            return f"{mesh.armature.name} has no pose before Blender evaluates it in a view layer"
        if not mesh.names:
            return f"{mesh.armature.name} has no bone that deforms"
        if not len(mesh_of(mesh.item).vertices):
            return f"{mesh.item.name} has no vertices"
    return ""


def hindrance_to_change(context: bpy.types.Context) -> str:
    """Why these meshes or their weights cannot be changed; empty if they can."""
    return hindrance(context) or libraries.hindrance(mesh.item for mesh in find(context))


def selected_bones(mesh: RiggedMesh) -> NDArray[np.bool_]:
    """Which of the joints of a mesh are selected bones, (J,)."""
    # Blender 5.0 stores the selection in the pose, earlier versions in the armature.
    pose_bones: list[Any] = [pose_of(mesh.armature).bones[name] for name in mesh.names]
    return np.array([bone.select if hasattr(bone, "select") else bone.bone.select for bone in pose_bones], np.bool_)


def some_selected_bones(mesh: RiggedMesh) -> NDArray[np.bool_]:
    """The same, (J,); a ValueError says that there are none."""
    selected = selected_bones(mesh)
    if not selected.any():
        raise ValueError(f"No bone of {mesh.armature.name} that deforms is selected")
    return selected


def selected_vertices(item: bpy.types.Object) -> NDArray[np.bool_]:
    """Which vertices of a mesh object are selected, (V,)."""
    selected = np.empty(len(mesh_of(item).vertices), np.bool_)
    mesh_of(item).vertices.foreach_get("select", selected)
    return selected


def select_vertices(item: bpy.types.Object, vertices: NDArray[np.intp]) -> None:
    """Select exactly the vertices (N,) of a mesh object, and no edge or face."""
    mesh = mesh_of(item)
    chosen = np.zeros(len(mesh.vertices), np.bool_)
    chosen[vertices] = True
    mesh.vertices.foreach_set("select", chosen)
    mesh.polygons.foreach_set("select", np.zeros(len(mesh.polygons), np.bool_))
    if bpy.app.version < (3, 5, 0):
        mesh.edges.foreach_set("select", np.zeros(len(mesh.edges), np.bool_))
    elif ".select_edge" in mesh.attributes:
        # Without it no edge is selected. Blender 5.0 gives new meshes one with a wrong type, and crashes if it is set.
        mesh.attributes.remove(mesh.attributes[".select_edge"])
    mesh.update()


def painted_vertices(item: bpy.types.Object) -> NDArray[np.bool_] | None:
    """The selected vertices, (V,), if the selection masks Weight Paint; else None."""
    mesh = mesh_of(item)
    return selected_vertices(item) if mesh.use_paint_mask or mesh.use_paint_mask_vertex else None
