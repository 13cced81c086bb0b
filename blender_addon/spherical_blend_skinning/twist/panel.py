# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel *Spread Twist*, below the settings of a mesh and of a rig: its checkbox, and the bones with their ticks."""

from __future__ import annotations

from typing import Any

import bpy

from ..blending import panel as blended_bones
from ..engine.stack import stack
from ..interface import character, owner
from ..interface.panels import ModifierPanel, SidebarPart
from ..interface.words import draw_words, wide
from ..settings.given import pose_of
from ..settings.limbs import BONE_TWIST, settings_of_pose_bone
from ..settings.properties import settings_of
from ..settings.typed import Panel, PanelMixin


class SBS_UL_twist_bones(bpy.types.UIList):
    """The bones that deform, or the limbs among them, each with its tick."""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: Any,
        item: Any,
        _icon: Any,
        _active_data: Any,
        _active_property: Any,
        _index: Any,
        _flags: Any,
    ) -> None:
        row = layout.row(align=True)
        row.use_property_split = False
        row.prop(item, BONE_TWIST, text="")
        row.label(text=item.name)

    def filter_items(self, _context: bpy.types.Context, data: Any, propname: str) -> Any:
        shows_all = settings_of(data.id_data).twist_all_bones
        shown = []
        for bone in getattr(data, propname):
            is_meant = shows_all or settings_of_pose_bone(bone).is_limb or getattr(bone, BONE_TWIST)
            has_name = self.filter_name.lower() in bone.name.lower()
            shown.append(self.bitflag_filter_item if bone.bone.use_deform and is_meant and has_name else 0)
        return shown, []


class _SpreadTwist(PanelMixin):
    bl_label = "Spread Twist"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = context.object
        return item is not None and _armature_of(item) is not None and not blended_bones.are_meant(item)

    def draw_header(self, context: bpy.types.Context) -> None:
        if context.object is not None:
            self.layout.prop(owner.shown_settings(context.object), "spread_twist", text="")

    def draw(self, context: bpy.types.Context) -> None:
        item = context.object
        armature = _armature_of(item) if item is not None else None
        if item is not None and armature is not None:
            _draw(self.layout, item, armature)


def _armature_of(item: bpy.types.Object) -> bpy.types.Object | None:
    """The armature of a mesh that is bound live, or one whose meshes share settings."""
    if item.type == "MESH":
        return settings_of(item).armature if stack.find(item) is not None else None
    if item.type != "ARMATURE":
        return None
    return item if settings_of(item).is_property_set("center") else None


def _draw(layout: bpy.types.UILayout, item: bpy.types.Object, armature: bpy.types.Object) -> None:
    settings = owner.shown_settings(item)
    layout.use_property_split = True
    layout.use_property_decorate = False
    layout.active = settings.spread_twist
    rig = settings_of(armature)
    if not rig.twist_found:
        if settings.spread_twist:
            draw_words(layout, character.hindrance(armature) or "The limbs have not been found yet", "INFO")
            layout.operator("sbs.find_limbs", icon="VIEWZOOM")
            _draw_across(layout, item, settings)
        return
    column = layout.column()
    column.enabled = armature.library is None
    wide(column).prop(rig, "twist_all_bones")
    column.template_list("SBS_UL_twist_bones", "", pose_of(armature), "bones", rig, "twist_row", rows=5, sort_lock=True)
    _draw_reason(column, armature, rig.twist_row)
    column.operator("sbs.find_limbs", text="Find Limbs Again", icon="FILE_REFRESH")

    column = layout.column()
    column.prop(settings, "twist_profile")
    _draw_across(column, item, settings)
    wide(column).prop(settings, "twist_follow")


def _draw_across(layout: bpy.types.UILayout, item: bpy.types.Object, settings: Any) -> None:
    """Draw how much of the method there is at joints, which has no effect where the same method is used elsewhere."""
    row = wide(layout)
    row.active = item.type == "ARMATURE" or settings.method != settings_of(item).amount_method
    row.prop(settings, "twist_across")


def _draw_reason(layout: bpy.types.UILayout, armature: bpy.types.Object, row: int) -> None:
    """Draw why the bone of a row is a limb, or why not."""
    ticked = sum(getattr(bone, BONE_TWIST) for bone in pose_of(armature).bones)
    if not ticked:
        draw_words(layout, "No bone is ticked, so that no twist is spread", "INFO")
    if row < len(pose_of(armature).bones):
        bone = pose_of(armature).bones[row]
        reason = settings_of_pose_bone(bone).twist_reason
        draw_words(layout, f"{bone.name}: {reason}" if reason else f"{bone.name} is new", "INFO")


class SBS_PT_modifier_twist(_SpreadTwist, ModifierPanel, Panel):
    bl_parent_id = "SBS_PT_modifier"


class SBS_PT_sidebar_twist(_SpreadTwist, SidebarPart, Panel):
    pass


CLASSES = (SBS_UL_twist_bones, SBS_PT_modifier_twist, SBS_PT_sidebar_twist)
