# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones are blended, and in which zones: among the settings, in the sidebar tab, and in those of a bone."""

from __future__ import annotations

import bpy

from ..capsules.settings import capsule_settings_of
from ..engine.live import methods
from ..interface import owner
from ..interface.panels import PosePanel
from ..interface.words import draw_words
from ..settings.properties import SBS_PG_object, settings_of, settings_of_bone
from ..settings.typed import Panel, armature_data
from . import zones as bone_zones


def are_meant(item: bpy.types.Object) -> bool:
    """Whether a mesh, or a rig, blends bones, by its method or by the other method where the amount is less than 1."""
    if item.type == "MESH":
        return methods.bones_choice(settings_of(item)) is not None
    return owner.shown_settings(item).method == "BONES_BLENDING"


def draw(layout: bpy.types.UILayout, settings: SBS_PG_object) -> None:
    """Draw the choice of bones of a mesh or a rig, and how they are blended."""
    column = layout.column(align=True)
    row = column.row()
    row.prop(settings, "blended_bones", expand=True)
    if settings.blended_bones == "MARKED":
        column.operator("sbs.mark_bones", text="Mark Selected", icon="ADD").mark = True
        column.operator("sbs.mark_bones", text="Unmark Selected", icon="REMOVE").mark = False
    column = layout.column()
    column.prop(settings, "bones_profile")
    column.prop(settings, "zone_scale")


class SBS_PT_zones(PosePanel, Panel):
    bl_label = "Bones Blending"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        armature, bone = context.pose_object, context.active_pose_bone
        if armature is not None:
            layout.prop(capsule_settings_of(armature_data(armature)), "show_zones")
        layout.operator("sbs.fit_zones", icon="SHADERFX")
        if bone is None:
            return
        column = layout.column(align=True)
        column.label(text=bone.name, icon="BONE_DATA")
        column.prop(settings_of_bone(bone.bone), "bones_blending", text="Marked")
        _draw_zone(column, bone.bone)
        zone = bone_zones.find(bone)
        if zone is None:
            draw_words(column, "No mesh blends it with its parent", "INFO")
        elif not settings_of_bone(bone.bone).own_zone:
            draw_words(column, f"By the limb: {zone.t_min:.3g} to {zone.t_max:.3g}", "INFO")


def _draw_zone(layout: bpy.types.UILayout, bone: bpy.types.Bone) -> None:
    layout.prop(settings_of_bone(bone), "own_zone")
    if settings_of_bone(bone).own_zone:
        layout.prop(settings_of_bone(bone), "t_min")
        layout.prop(settings_of_bone(bone), "t_max")


def _draw_bone(panel: Panel, context: bpy.types.Context) -> None:
    # In Edit Mode a bone is another object; its properties are copied back on leaving.
    if context.bone is not None:
        panel.layout.prop(settings_of_bone(context.bone), "bones_blending")
        _draw_zone(panel.layout.column(align=True), context.bone)


CLASSES = (SBS_PT_zones,)
ENTRIES = (("BONE_PT_deform", _draw_bone),)
