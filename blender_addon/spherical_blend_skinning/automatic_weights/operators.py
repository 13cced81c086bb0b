# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights made for meshes as they are bound, or for meshes without."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..capsules import assign as capsules
from ..capsules.settings import capsule_settings_of
from ..interface import rigged
from ..interface.action import RiggedAction
from ..interface.selection import all_meshes_property, meshes
from ..settings import libraries
from ..settings import rig as rig_settings
from ..settings.declared import choice, flag
from ..settings.typed import Operator, armature_data, mesh_of
from ..weights import tools

KINDS = (
    ("HEAT", "Heat", "By heat that spreads over the surface from the bones, also for meshes of loose parts"),
    ("CAPSULES", "Capsules", "By the inner and outer capsules of the bones: their radii and envelope distances"),
)

#: The envelope of a new bone: radii of head and tail, distance.
_NEW_ENVELOPE = (0.1, 0.05, 0.25)
_LIMIT = 4


def make(found: Sequence[rigged.RiggedMesh], kind: str, fit: bool) -> int:
    """Give meshes weights for all bones, and return how many vertices changed. Locked vertex groups keep theirs.

    All are of one armature. The kind is `HEAT` or `CAPSULES`, which are first fitted to the meshes, if wanted or if all
    bones still have those of new bones. An armature without bones that deform, and a mesh without vertices or faces, is
    a ValueError.
    """
    for mesh in found:
        if not mesh.names:
            raise ValueError(f"{mesh.armature.name} has no bone that deforms")
        if not len(mesh_of(mesh.item).vertices):
            raise ValueError(f"{mesh.item.name} has no vertices")
        if reason := libraries.hindrance([mesh.item]):
            raise ValueError(reason)
    if kind == "HEAT":
        return sum(tools.heat(mesh, limit=_LIMIT)[0] for mesh in found)
    armature = found[0].armature
    if not libraries.hindrance([armature]) and (fit or all(map(_is_new, found[0].bones))):
        capsules.fit(found)
    settings = capsule_settings_of(armature_data(armature))
    return sum(
        capsules.assign(
            mesh, falloff=settings.falloff.lower(), outside=settings.outside.lower(), limit=settings.limit
        ).changed
        for mesh in found
    )


def fit_property() -> bool:
    """The property of operators that can fit capsules first."""
    return flag(
        "Fit Capsules",
        "Fit the capsules to the meshes first. Capsules that were never changed are always fitted",
        default=False,
        options={"SKIP_SAVE"},
    )


def _is_new(bone: bpy.types.Bone) -> bool:
    """Whether the envelope of a bone is still that of a new one."""
    envelope = (bone.head_radius, bone.tail_radius, bone.envelope_distance)
    return all(abs(value - new) < 1e-6 for value, new in zip(envelope, _NEW_ENVELOPE, strict=True))


class SBS_OT_automatic_weights(RiggedAction, Operator):
    bl_idname = "sbs.automatic_weights"
    bl_label = "Automatic Weights"
    bl_description = "Make weights for the selected meshes by the bones of their armature; locked groups keep theirs"

    weights: str = choice("Weights", "How weights are made", items=KINDS)
    fit_capsules: bool = fit_property()
    all_meshes: bool = all_meshes_property()

    def draw(self, _context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.layout.prop(self, "weights")
        if self.weights == "CAPSULES":
            self.layout.prop(self, "fit_capsules")

    def run(self, context: bpy.types.Context) -> str:
        armature = rigged.some_rig(context, or_selected=True)
        found = [rigged.RiggedMesh(item, armature) for item in meshes(context, self.all_meshes)]
        count = make(found, self.weights, self.fit_capsules)
        for mesh in found:
            rig_settings.weights_made(mesh.item)
        return f"Assigned weights of {count} vertices in {', '.join(mesh.item.name for mesh in found)}"


CLASSES = (SBS_OT_automatic_weights,)
