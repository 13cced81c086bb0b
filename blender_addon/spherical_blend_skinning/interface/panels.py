# SPDX-License-Identifier: GPL-3.0-or-later
"""Where panels are shown; to be mixed into a `bpy.types.Panel`."""

from __future__ import annotations

import bpy

from ..settings.typed import PanelMixin


class ModifierPanel(PanelMixin):
    """A panel among the modifiers of a mesh."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "modifier"


class SidebarPanel(PanelMixin):
    """A panel in our tab of the 3D view's sidebar."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "SBS"


class SidebarPart(SidebarPanel):
    """A panel below the settings in our tab, at first closed. It is shown with them, or not at all."""

    bl_parent_id = "SBS_PT_sidebar"
    bl_options = {"DEFAULT_CLOSED"}


class PosePanel(SidebarPart):
    """Such a panel in Pose Mode."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode == "POSE"
