# SPDX-License-Identifier: GPL-3.0-or-later
"""Where panels are shown; to be mixed into a `bpy.types.Panel`."""

from __future__ import annotations

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


class PosePanel(SidebarPanel):
    """Such a panel in Pose Mode, at first closed."""

    bl_context = "posemode"
    bl_options = {"DEFAULT_CLOSED"}
