# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of capsules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..interface import rigged
from ..interface.action import Action, RiggedAction
from ..settings import libraries, shared
from ..settings.declared import flag, text
from ..settings.typed import Operator
from . import assign, files


class SBS_OT_assign_from_capsules(RiggedAction, Operator):
    bl_idname = "sbs.assign_from_capsules"
    bl_label = "Assign from Capsules"
    bl_description = "Assign weights by the inner and outer capsules of the bones: their radii and envelope distances"

    falloff: str = shared.falloff()
    outside: str = shared.outside()
    limit: int = shared.limit(4)
    only_selected_bones: bool = flag(
        "Only Selected Bones", "Other bones share what the selected ones leave", default=False
    )
    only_selected_vertices: bool = flag("Only Selected Vertices", "Other vertices keep their weights", default=False)

    def run(self, context: bpy.types.Context) -> str:
        changed = outside = 0
        for mesh in rigged.find(context):
            result = assign.assign(
                mesh,
                chosen_bones=rigged.some_selected_bones(mesh) if self.only_selected_bones else None,
                chosen_vertices=rigged.selected_vertices(mesh.item) if self.only_selected_vertices else None,
                falloff=self.falloff.lower(),
                outside=self.outside.lower(),
                limit=self.limit,
            )
            changed += result.changed
            outside += result.outside
        return f"Assigned weights of {changed} vertices; {outside} are outside of all capsules"


class SBS_OT_fit_capsules(Action, Operator):
    bl_idname = "sbs.fit_capsules"
    bl_label = "Fit Capsules to Mesh"
    bl_description = "Set the radii and envelope distances of the bones so that their capsules fit the mesh"

    only_selected_bones: bool = flag("Only Selected Bones", "Other bones keep their capsules", default=False)

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return rigged.hindrance(context) or libraries.hindrance(mesh.armature for mesh in rigged.find(context))

    def run(self, context: bpy.types.Context) -> str:
        meshes = rigged.find(context)
        count = assign.fit(meshes, rigged.some_selected_bones(meshes[0]) if self.only_selected_bones else None)
        return f"Fitted the capsules of {count} bones"


class _CapsuleFile(Action):
    """An operator on a file of capsules."""

    filename_ext = ".json"
    if TYPE_CHECKING:
        filepath: str
    filter_glob: str = text(default="*.json", options={"HIDDEN"})

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        armature = rigged.rig_of(context, or_selected=True)
        if armature is None:
            return "Select an armature, or a mesh that has one"
        return "Leave Edit Mode first" if armature.mode == "EDIT" else ""


class SBS_OT_export_capsules(_CapsuleFile, Operator, ExportHelper):  # type: ignore[misc]  # as in Blender
    bl_idname = "sbs.export_capsules"
    bl_label = "Export Capsules"
    bl_options = set()
    bl_description = "Write the capsules of all bones that deform to a JSON file"

    def run(self, context: bpy.types.Context) -> str:
        armature = rigged.some_rig(context, or_selected=True)
        return f"Wrote the capsules of {files.export_file(armature, self.filepath)} bones"


class SBS_OT_import_capsules(_CapsuleFile, Operator, ImportHelper):  # type: ignore[misc]  # as in Blender
    bl_idname = "sbs.import_capsules"
    bl_label = "Import Capsules"
    bl_description = "Give bones the capsules with their names from a JSON file"

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return super().hindrance(context) or libraries.hindrance([rigged.some_rig(context, or_selected=True)])

    def run(self, context: bpy.types.Context) -> str | None:
        armature = rigged.some_rig(context, or_selected=True)
        found, unknown = files.import_file(armature, self.filepath)
        message = f"{found} bones have the capsules of the file; it has {unknown} of bones that are not here"
        self.report({"WARNING"} if unknown else {"INFO"}, message)
        return "" if found else None


CLASSES = (SBS_OT_assign_from_capsules, SBS_OT_fit_capsules, SBS_OT_export_capsules, SBS_OT_import_capsules)
