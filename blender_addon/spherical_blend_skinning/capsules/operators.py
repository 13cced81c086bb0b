# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of capsules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..interface import rigged
from ..interface.selection import allow, refuse
from ..settings import shared
from ..settings.declared import flag, text
from ..settings.typed import Operator, OperatorMixin, Report, Result, armature_data
from . import assign, files

__all__ = ["CLASSES", "armature_of"]


class SBS_OT_assign_from_capsules(Operator):
    bl_idname = "sbs.assign_from_capsules"
    bl_label = "Assign from Capsules"
    bl_description = "Assign weights by the inner and outer capsules of the bones: their radii and envelope distances"
    bl_options = {"REGISTER", "UNDO"}

    falloff: str = shared.falloff()
    outside: str = shared.outside()
    limit: int = shared.limit(4)
    only_selected_bones: bool = flag(
        name="Only Selected Bones", description="Other bones share what the selected ones leave", default=False
    )
    only_selected_vertices: bool = flag(
        name="Only Selected Vertices", description="Other vertices keep their weights", default=False
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return allow(cls, rigged.hindrance(context))

    def execute(self, context: bpy.types.Context) -> Result:
        changed = outside = 0
        for mesh in rigged.find(context):
            bones = rigged.selected_bones(mesh) if self.only_selected_bones else None
            if bones is not None and not bones.any():
                self.report({"ERROR"}, f"No bone of {mesh.armature.name} that deforms is selected")
                return {"CANCELLED"}
            result = assign.assign(
                mesh,
                chosen_bones=bones,
                chosen_vertices=rigged.selected_vertices(mesh.item) if self.only_selected_vertices else None,
                falloff=self.falloff.lower(),
                outside=self.outside.lower(),
                limit=self.limit,
            )
            changed += result.changed
            outside += result.outside
        self.report({"INFO"}, f"Assigned weights of {changed} vertices; {outside} are outside of all capsules")
        return {"FINISHED"}


class SBS_OT_fit_capsules(Operator):
    bl_idname = "sbs.fit_capsules"
    bl_label = "Fit Capsules to Mesh"
    bl_description = "Set the radii and envelope distances of the bones so that their capsules fit the mesh"
    bl_options = {"REGISTER", "UNDO"}

    only_selected_bones: bool = flag(
        name="Only Selected Bones", description="Other bones keep their capsules", default=False
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return allow(cls, rigged.hindrance(context))

    def execute(self, context: bpy.types.Context) -> Result:
        meshes = rigged.find(context)
        if armature_data(meshes[0].armature).library is not None:
            self.report({"ERROR"}, f"{meshes[0].armature.name} belongs to a library")
            return {"CANCELLED"}
        bones = rigged.selected_bones(meshes[0]) if self.only_selected_bones else None
        if bones is not None and not bones.any():
            self.report({"ERROR"}, f"No bone of {meshes[0].armature.name} that deforms is selected")
            return {"CANCELLED"}
        count = assign.fit(meshes, bones)
        self.report({"INFO"}, f"Fitted the capsules of {count} bones")
        return {"FINISHED"}


def armature_of(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active armature, or that of the active mesh."""
    if context.object is not None and context.object.type == "ARMATURE":
        return context.object
    meshes = rigged.find(context)
    return meshes[0].armature if meshes else None


class _CapsuleFile(OperatorMixin):
    """What export and import have in common."""

    filename_ext = ".json"
    if TYPE_CHECKING:
        filepath: str
    filter_glob: str = text(default="*.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        armature = armature_of(context)
        if armature is None:
            return refuse(cls, "Select an armature, or a mesh that has one")
        return allow(cls, "Leave Edit Mode first" if armature.mode == "EDIT" else "")


class SBS_OT_export_capsules(_CapsuleFile, Operator, ExportHelper):  # type: ignore[misc]  # as in Blender
    bl_idname = "sbs.export_capsules"
    bl_label = "Export Capsules"
    bl_description = "Write the capsules of all bones that deform to a JSON file"

    def execute(self, context: bpy.types.Context) -> Result:
        armature = armature_of(context)
        if armature is None:
            return {"CANCELLED"}
        try:
            count = files.export_file(armature, self.filepath)
        except OSError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Wrote the capsules of {count} bones")
        return {"FINISHED"}


class SBS_OT_import_capsules(_CapsuleFile, Operator, ImportHelper):  # type: ignore[misc]  # as in Blender
    bl_idname = "sbs.import_capsules"
    bl_label = "Import Capsules"
    bl_description = "Give bones the capsules with their names from a JSON file"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> Result:
        armature = armature_of(context)
        if armature is None:
            return {"CANCELLED"}
        try:
            found, unknown = files.import_file(armature, self.filepath)
        except (OSError, ValueError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        kind: Report = {"WARNING"} if unknown else {"INFO"}
        self.report(kind, f"{found} bones have the capsules of the file; it has {unknown} of bones that are not here")
        return {"FINISHED"} if found else {"CANCELLED"}


CLASSES = (SBS_OT_assign_from_capsules, SBS_OT_fit_capsules, SBS_OT_export_capsules, SBS_OT_import_capsules)
