# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of the Weights menu."""

from __future__ import annotations

import bpy
import numpy as np

from ..core import library
from ..core.matrices import inverse, transform_points
from ..engine.stack import stack
from ..interface import owner, rigged
from ..interface.action import Action, RiggedAction
from ..settings import libraries, shared
from ..settings.declared import choice, flag, integer, real
from ..settings.typed import Operator, mesh_of
from . import tools

#: The *Strength at Joints* that goes with weights for spherical blending (docs/weights.md).
_AT_JOINTS = 0.5


class _ReadingAction(Action):
    """An operator that reads the weights of the active mesh."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        is_mesh = context.object is not None and context.object.type == "MESH"
        return rigged.hindrance(context) if is_mesh else "Select a mesh"


class _WeightsAction(_ReadingAction):
    """An operator that changes the weights of the active mesh."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return super().hindrance(context) or rigged.hindrance_to_change(context)


class SBS_OT_smooth_weights(_WeightsAction, Operator):
    bl_idname = "sbs.smooth_weights"
    bl_label = "Smooth over the Surface"
    bl_description = "Smooth the weights of all bones at once, across seams; locked groups keep theirs"

    iterations: int = integer("Iterations", "How many times weights move", default=2, min=1, soft_max=50)
    strength: float = real(
        "Strength", "How far weights move towards the mean of their neighbors", default=0.5, min=0.0, max=1.0
    )
    limit: int = shared.limit(0)

    def run(self, context: bpy.types.Context) -> str:
        (mesh,) = rigged.find(context)
        chosen = rigged.painted_vertices(mesh.item)
        smoothed = library.load("weights").smooth(
            mesh.positions,
            mesh.triangles,
            *mesh.influences(),
            iterations=self.iterations,
            strength=self.strength,
            limit=self.limit or len(mesh.names),
            mask=chosen,
            locked=mesh.locked,
        )
        return f"Smoothed the weights of {mesh.write(tools.dense(mesh, *smoothed), chosen)} vertices"


class SBS_OT_spherical_weights(RiggedAction, Operator):
    bl_idname = "sbs.spherical_weights"
    bl_label = "Weights for Spherical Blending"
    bl_description = (
        "Widen the transitions between bones, which spherical blending bends and twists more smoothly, and choose the"
        " settings that go with them. Hard parts stay hard, and locked groups keep their weights. Lock or leave out"
        " what is hard but painted softly, such as armor. Each use widens again, so use it once"
    )

    reach: float = real(
        "Widen By", "How much farther weights go, in radii of the limb", default=0.5, min=0.0, soft_max=1.0
    )
    limit: int = shared.limit(8)
    set_quality: bool = flag(
        "Set Quality",
        "Also choose the preset Quality, which spreads twists, and Strength at Joints of 0.5, as these weights want",
        default=True,
    )

    def run(self, context: bpy.types.Context) -> str:
        meshes = rigged.find(context)
        count = 0
        # Objects that share their data share weights, which are to be widened once.
        for mesh in {mesh_of(mesh.item): mesh for mesh in meshes}.values():
            chosen = rigged.painted_vertices(mesh.item)
            widened = library.load("weights").widen(
                transform_points(mesh.to_rig, mesh.positions),
                mesh.triangles,
                *mesh.influences(),
                *tools.ends(mesh),
                reach=self.reach,
                limit=self.limit or len(mesh.names),
                mask=chosen,
                locked=mesh.locked,
            )
            count += mesh.write(tools.dense(mesh, *widened), chosen)
        bound = [mesh.item for mesh in meshes if stack.find(mesh.item) is not None]
        for item in bound if self.set_quality else ():
            settings = owner.shown_settings(item)
            settings.preset = "QUALITY"
            settings.twist_across = _AT_JOINTS
        return f"Widened the weights of {count} vertices"


class SBS_OT_mirror_weights(_WeightsAction, Operator):
    bl_idname = "sbs.mirror_weights"
    bl_label = "Mirror, Tolerant of Asymmetry"
    bl_description = (
        "Give one side the weights of the nearest points of the other. Vertices that find none keep theirs, and"
        " become selected"
    )

    axis: str = choice(
        "Axis",
        "The mirror is perpendicular to this axis of the object",
        items=[("X", "X", ""), ("Y", "Y", ""), ("Z", "Z", "")],
    )
    source: str = choice(
        "Copy from",
        "The side that keeps its weights",
        items=[("POSITIVE", "Positive Side", ""), ("NEGATIVE", "Negative Side", "")],
    )
    tolerance: float = real(
        "Tolerance",
        "How far the sides may differ, as a share of the size of the mesh",
        default=0.01,
        min=0.0,
        soft_max=0.2,
        precision=3,
    )

    def run(self, context: bpy.types.Context) -> str:
        (mesh,) = rigged.find(context)
        weights, axis = library.load("weights"), self.axis.lower()
        heads = np.array([bone.head_local for bone in mesh.bones], np.float32)
        in_mesh = transform_points(inverse(mesh.to_rig), heads)
        positions = mesh.positions
        found = weights.mirror_joints(mesh.names, in_mesh, parents=mesh.parents, axis=axis)
        result = weights.mirror(
            positions,
            mesh.triangles,
            *mesh.influences(),
            found.joints,
            source=self.source.lower(),
            axis=axis,
            tolerance=self.tolerance * float(np.linalg.norm(np.ptp(positions, axis=0))),
        )
        changed = tools.assign(mesh, tools.dense(mesh, result.joint_indices, result.joint_weights))
        if len(result.unmatched):
            rigged.select_vertices(mesh.item, result.unmatched)
        text = f"Mirrored the weights of {changed} vertices; {len(result.unmatched)} found no partner"
        if len(found.unmatched):
            alone = ", ".join(mesh.names[joint] for joint in found.unmatched[:5])
            text += f"; {len(found.unmatched)} bones off the mirror have no other side: {alone}"
        self.report({"WARNING"} if len(result.unmatched) or len(found.unmatched) else {"INFO"}, text)
        return ""


class SBS_OT_check_weights(_ReadingAction, Operator):
    bl_idname = "sbs.check_weights"
    bl_label = "Check Weights"
    bl_description = "Look for vertices without weights, with sums that are not 1, or with too many bones; select them"

    limit: int = shared.limit(4, "More bones at a vertex are too many; 0 for no limit")

    def run(self, context: bpy.types.Context) -> str:
        (mesh,) = rigged.find(context)
        result = tools.check(mesh, limit=self.limit)
        rigged.select_vertices(mesh.item, result.vertices)
        self.report({"WARNING"} if len(result.vertices) else {"INFO"}, result.text)
        return ""


class SBS_OT_heat_weights(_WeightsAction, Operator):
    bl_idname = "sbs.heat_weights"
    bl_label = "Heat Weights"
    bl_description = "Automatic weights by heat, also for meshes of loose parts; locked groups keep theirs"

    limit: int = shared.limit(4)

    def run(self, context: bpy.types.Context) -> str:
        (mesh,) = rigged.find(context)
        count, report = tools.heat(mesh, limit=self.limit)
        return f"Assigned weights of {count} vertices by {report}"


class SBS_OT_transfer_weights(_ReadingAction, Operator):
    bl_idname = "sbs.transfer_weights"
    bl_label = "Transfer"
    bl_description = "Give the other selected meshes the weights of the nearest points of the active one"

    limit: int = shared.limit(0)
    max_distance: float = real(
        "Distance",
        "Vertices that are farther keep their weights; 0 for any distance",
        default=0.0,
        min=0.0,
        subtype="DISTANCE",
    )

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        lack = "" if _others(context) else "Select the meshes that are to get weights, and then the one that has them"
        return super().hindrance(context) or lack or libraries.hindrance(_others(context))

    def run(self, context: bpy.types.Context) -> str:
        (source,) = rigged.find(context)
        targets = _others(context)
        changed = unmatched = 0
        for item in targets:
            target = rigged.RiggedMesh(item, source.armature)
            # By their places in the space of their armature.
            result = library.load("weights").transfer(
                transform_points(source.to_rig, source.positions),
                source.triangles,
                *source.influences(),
                transform_points(target.to_rig, target.positions),
                limit=self.limit or None,
                max_distance=self.max_distance or None,
            )
            new = tools.dense(target, result.joint_indices, result.joint_weights)
            matched = np.ones(len(new), bool)
            matched[result.unmatched] = False
            changed += tools.assign(target, new, matched)
            unmatched += len(result.unmatched)
        text = f"Transferred weights to {changed} vertices of {len(targets)} meshes; {unmatched} are too far"
        self.report({"WARNING"} if unmatched else {"INFO"}, text)
        return ""


def _others(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected meshes, without the active one, that have their own vertices."""
    active = context.object
    if active is None:
        return []
    return [
        item
        for item in context.selected_objects
        if item.type == "MESH" and item.data != active.data and item.mode != "EDIT" and len(mesh_of(item).vertices)
    ]


CLASSES = (
    SBS_OT_smooth_weights,
    SBS_OT_spherical_weights,
    SBS_OT_mirror_weights,
    SBS_OT_check_weights,
    SBS_OT_heat_weights,
    SBS_OT_transfer_weights,
)
