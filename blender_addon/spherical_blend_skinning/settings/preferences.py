# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of the add-on in Blender's preferences: options for all files, and problems of the installation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import bpy

from ..core import library
from .choices import CENTERS
from .declared import choice, flag, integer


class SBS_AP_preferences(bpy.types.AddonPreferences):
    bl_idname = library.ADDON

    threads: int = integer(
        "Threads",
        "The most threads that deform a mesh; 0 for as many as the processor has",
        default=0,
        min=0,
        soft_max=64,
    )
    engine: str = choice(
        "Default Engine",
        "How a newly bound mesh is deformed",
        items=[
            ("LIVE", "This Add-on", "In every frame, the fastest"),
            (
                "PORTABLE",
                "Portable",
                "By geometry nodes, also where this add-on is not installed (Blender 5.1 or later)",
            ),
        ],
        default="LIVE",
    )

    center: str = choice(
        "Default Pivot",
        "What a newly bound mesh turns vertices about. Portable ones know none By Weights: they get the best ones",
        items=CENTERS,
        default="OPTIMIZED",
    )

    spread_twist: bool = flag(
        "Default Spread Twist",
        "Spread the twists of limbs along their bones on newly bound meshes, if their armature has limbs",
        default=True,
    )

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.layout
        problem = library.problem()
        if problem:
            box = layout.box()
            box.alert = True
            box.label(text="Spherical Blend Skinning cannot deform anything", icon="ERROR")
            box.label(text=problem)
            return
        layout.use_property_split = True
        layout.prop(self, "engine")
        layout.prop(self, "center")
        layout.prop(self, "spread_twist")
        layout.prop(self, "threads")
        column = layout.column(align=True)
        for number, text in enumerate(_about_library()):
            column.label(text=text, icon="BLANK1" if number else "INFO")


def _about_library() -> list[str]:
    """Version and build of the library."""
    info = library.load().build_info()
    return [f"Library {info['version']}", f"Instruction set: {info['instruction_set']}", f"LAPACK: {info['lapack']}"]


def get(context: bpy.types.Context) -> SBS_AP_preferences | SimpleNamespace:
    """The preferences of the add-on; the defaults if it was enabled for one session only.

    With ``blender --addons`` and ``addon_utils.enable`` Blender's preferences have no entry for it.
    """
    everything = context.preferences
    addon: bpy.types.Addon | None = everything.addons.get(library.ADDON) if everything is not None else None
    if addon is not None:
        return cast("SBS_AP_preferences", addon.preferences)
    properties: Any = SBS_AP_preferences.bl_rna.properties
    return SimpleNamespace(**{name: properties[name].default for name in SBS_AP_preferences.__annotations__})


def default_center(context: bpy.types.Context, *, is_portable: bool = False) -> str:
    """The setting ``center`` of a newly bound mesh, from the preferences, or one that portable meshes can have."""
    chosen = get(context)
    # Nodes cannot compute weighted centers.
    is_known = chosen.center != "WEIGHTED" or not (is_portable or chosen.engine == "PORTABLE")
    return chosen.center if is_known else "OPTIMIZED"


CLASSES = (SBS_AP_preferences,)
