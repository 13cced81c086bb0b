# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the comparison with linear blending in the sidebar tab."""

from __future__ import annotations

import bpy

from ..engine.live import registry
from ..interface.panels import SidebarPart
from ..settings.typed import Panel
from . import overlay
from .operators import KEY
from .settings import comparison_of


class SBS_PT_comparison(SidebarPart, Panel):
    bl_label = "Compare with Linear"

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        return bool(registry.bound_objects())

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_decorate = False
        settings = comparison_of(context)
        layout.label(text=f"Hold {KEY} over the view to see it", icon="INFO")
        layout.row().prop(settings, "shown", expand=True)
        if settings.shown == "HEAT_MAP":
            layout.use_property_split = True
            layout.prop(settings, "largest")
            for item in registry.bound_objects():
                largest = overlay.largest_distance(item)
                if largest is not None:
                    layout.label(text=f"{item.name}: up to {largest:.3g}", icon="DRIVER_DISTANCE")


CLASSES = (SBS_PT_comparison,)
