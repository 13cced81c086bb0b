# SPDX-License-Identifier: GPL-3.0-or-later
"""Finer faces where bones bend the mesh, after Kavan and Zara 2003."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import library
from ..core.matrices import transform_points
from ..engine import reading
from ..interface import rigged
from ..interface.action import RiggedAction
from ..settings.declared import choice, integer
from ..settings.typed import Operator, mesh_of


def attachment(mesh: rigged.RiggedMesh) -> NDArray[np.int32]:
    """The joint that each vertex is attached to, (V,), as in bones blending: that of the bone whose head is near.

    These are vertices on both sides of the head: at the end of the parent, and along the bone up to where the next one
    begins to bend. -1 for vertices without weights.
    """
    rig = reading.rig(mesh.armature, mesh.armature)
    bones, parents = rig.joints()
    sbs = library.load()
    bound = sbs.bones_blending(
        sbs.Skeleton(parents, rig.rests[bones]),
        transform_points(mesh.to_rig, mesh.positions),
        influences=mesh.influences(),
        tails=np.array([bone.tail_local for bone in mesh.bones], np.float64),
    )
    attachment: NDArray[np.int32] = bound.attachment
    return attachment


def heaviest(mesh: rigged.RiggedMesh) -> NDArray[np.int32]:
    """The heaviest joint of each vertex, (V,); -1 for vertices without weights."""
    joints: NDArray[np.int32] = library.load().mesh.heaviest_joints(*mesh.influences())
    return joints


def subdivide_near(mesh: rigged.RiggedMesh, near: NDArray[np.bool_], levels: int, scheme: str = "1:4") -> int:
    """Divide the faces whose vertices are all chosen (V,), so many times; return how many.

    New vertices get interpolated weights, texture coordinates and other layers. The surface stays closed: neighbors
    include the new vertices on their edges. By the scheme 1:4 edges are halved; by 1:3 faces get a vertex at their
    center, and no edge is split.
    """
    data = mesh_of(mesh.item)
    edited = bmesh.new()
    try:
        edited.from_mesh(data)
        faces = [face for face in edited.faces if all(near[vertex.index] for vertex in face.verts)]
        count = len(faces)
        if faces and scheme == "1:4":
            edges = list({edge for face in faces for edge in face.edges})
            bmesh.ops.subdivide_edges(edited, edges=edges, cuts=2**levels - 1, use_grid_fill=True)
        elif faces:
            for _ in range(levels):
                faces = bmesh.ops.poke(edited, faces=faces, center_mode="MEAN")["faces"]
        if faces:
            edited.to_mesh(data)
    finally:
        edited.free()
    data.update()
    return count


class SBS_OT_subdivide_near_bones(RiggedAction, Operator):
    bl_idname = "sbs.subdivide_near_bones"
    bl_label = "Subdivide Near Selected Bones"
    bl_description = "Subdivide the faces that bend with the selected bones, so that they bend more smoothly"

    where: str = choice(
        "Where",
        "Which faces are near a bone",
        items=(
            (
                "JOINT",
                "Both Sides of Joint",
                "Faces around its head, which bend with it, also at the end of its parent",
            ),
            ("BONE", "Along Bone", "Faces that it moves most"),
        ),
    )
    scheme: str = choice(
        "Scheme",
        "How faces are divided",
        items=(
            (
                "1:4",
                "1:4, at Edges",
                "Edges are halved: a face becomes four, and its neighbors include the new vertices",
            ),
            ("1:3", "1:3, at Centers", "A triangle becomes three around a vertex in its middle; no edge is split"),
        ),
    )
    levels: int = integer("Levels", "How many times faces are divided", default=1, min=1, max=6, soft_max=3)

    def run(self, context: bpy.types.Context) -> str | None:
        count = vertices = 0
        for mesh in rigged.find(context):
            bones = rigged.some_selected_bones(mesh)
            before = len(mesh_of(mesh.item).vertices)
            belongs = attachment(mesh) if self.where == "JOINT" else heaviest(mesh)
            near = (belongs >= 0) & bones[belongs]
            count += subdivide_near(mesh, near, self.levels, self.scheme)
            vertices += len(mesh_of(mesh.item).vertices) - before
        if not count:
            self.report({"WARNING"}, "No face lies near the selected bones")
            return None
        return f"Subdivided {count} faces; {vertices} vertices are new"


CLASSES = (SBS_OT_subdivide_near_bones,)
