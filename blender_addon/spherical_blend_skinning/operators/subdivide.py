# SPDX-License-Identifier: GPL-3.0-or-later
"""Finer faces where bones bend the mesh, after Kavan and Zara 2003."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from ..weights import rigged
from .selection import refuse

__all__ = ["CLASSES", "subdivide_near"]


def subdivide_near(mesh: rigged.RiggedMesh, bones: NDArray[np.bool_], levels: int) -> int:
    """Subdivide the faces all of whose vertices are most of all moved by one of some bones; returns how many.

    Vertices between others get what is between their weights, texture coordinates and other layers. Neighbors take the
    vertices on their edges in, so that nothing tears.

    Parameters
    ----------
    mesh : RiggedMesh
    bones : (J,) ndarray of bool
    levels : int
        How many times edges are halved.
    """
    weights = mesh.dense()
    near = bones[weights.argmax(axis=1)] & weights.any(axis=1)
    data = mesh.item.data
    edited = bmesh.new()
    try:
        edited.from_mesh(data)
        faces = [face for face in edited.faces if all(near[vertex.index] for vertex in face.verts)]
        if faces:
            edges = list({edge for face in faces for edge in face.edges})
            bmesh.ops.subdivide_edges(edited, edges=edges, cuts=2**levels - 1, use_grid_fill=True)
            edited.to_mesh(data)
    finally:
        edited.free()
    data.update()
    return len(faces)


class SBS_OT_subdivide_near_bones(bpy.types.Operator):
    bl_idname = "sbs.subdivide_near_bones"
    bl_label = "Subdivide Near Selected Bones"
    bl_description = "Make the faces finer that the selected bones move, so that they bend more smoothly"
    bl_options = {"REGISTER", "UNDO"}

    levels: bpy.props.IntProperty(
        name="Levels", description="How many times edges are halved", default=1, min=1, max=6, soft_max=3
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        reason = rigged.hindrance(context)
        return refuse(cls, reason) if reason else True

    def execute(self, context: bpy.types.Context) -> set[str]:
        count = vertices = 0
        for mesh in rigged.find(context):
            bones = rigged.selected_bones(mesh)
            if not bones.any():
                self.report({"ERROR"}, f"No bone of {mesh.armature.name} that deforms is selected")
                return {"CANCELLED"}
            before = len(mesh.item.data.vertices)
            count += subdivide_near(mesh, bones, self.levels)
            vertices += len(mesh.item.data.vertices) - before
        if not count:
            self.report({"WARNING"}, "No face is moved most of all by the selected bones")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Subdivided {count} faces; {vertices} vertices are new")
        return {"FINISHED"}


CLASSES = (SBS_OT_subdivide_near_bones,)
