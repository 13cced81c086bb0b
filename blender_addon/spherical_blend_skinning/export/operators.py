# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's export to USD, with the skins of bound characters.

Blender's operator is written in C and runs by itself after its dialog is confirmed. So this one has its own dialog with
the same options, and calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import ExportHelper

from ..correctives import sculpt
from ..engine.bake import bake
from ..engine.correctives import linear_shapes
from ..engine.muscles import muscle_list
from ..interface.action import Action
from ..settings.declared import text
from ..settings.given import scene_of, view_layer_of
from ..settings.typed import Menu, Operator, Result

# Options that are set here or not shown, because this is the export of armatures.
_OWN = ("filepath", "export_armatures")

_PROPERTIES: dict[str, Callable[..., object]] = {
    "BOOLEAN": bpy.props.BoolProperty,
    "ENUM": bpy.props.EnumProperty,
    "FLOAT": bpy.props.FloatProperty,
    "INT": bpy.props.IntProperty,
    "STRING": bpy.props.StringProperty,
}


def _options() -> dict[str, bpy.types.Property]:
    """The options of Blender's operator; none if it does not write armatures, as before Blender 4.1."""
    if "usd_export" not in dir(bpy.ops.wm):
        return {}
    usd_export: Any = bpy.ops.wm.usd_export
    found = {option.identifier: option for option in usd_export.get_rna_type().properties}
    if "export_armatures" not in found:
        return {}
    return {
        name: option
        for name, option in found.items()
        if not (option.is_hidden or option.is_readonly or name in _OWN) and option.type in _PROPERTIES
    }


def _copied(option: Any) -> object:
    """A new property with the settings of another."""
    values: dict[str, object] = {"name": option.name, "description": option.description, "default": option.default}
    if option.type == "ENUM":
        values["items"] = [(item.identifier, item.name, item.description) for item in option.enum_items]
    elif option.type in ("FLOAT", "INT"):
        values |= {limit: getattr(option, f"hard_{limit}") for limit in ("min", "max")}
    return _PROPERTIES[option.type](**values)


class SBS_OT_export_usd(Action, Operator, ExportHelper):  # type: ignore[misc]  # as in Blender
    bl_idname = "sbs.export_usd"
    bl_label = "Export USD, Skinned"
    bl_description = "Export to Universal Scene Description, bound characters with their bones and weights"
    bl_options = {"PRESET"}

    filename_ext = ".usdc"
    if TYPE_CHECKING:
        filepath: str
    # Any of USD's suffixes is accepted; Blender chooses the format by it.
    check_extension = None
    filter_glob: str = text(default="*.usd;*.usda;*.usdc;*.usdz", options={"HIDDEN"})

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        if any(item.type == "MESH" and bake.modifier_of(item) is not None for item in scene_of(context).objects):
            return ""
        return "Nothing in this scene is bound: Blender's own entry exports it as well"

    def run(self, context: bpy.types.Context) -> str | None:
        given = {name: getattr(self, name) for name in _options()}
        usd_export: Any = bpy.ops.wm.usd_export
        skins = linear_shapes.armature_modifiers_instead(view_layer_of(context))
        with sculpt.aside(), muscle_list.left_out(), skins as written:
            try:
                result: Result = usd_export(filepath=self.filepath, export_armatures=True, **given)
            except RuntimeError as error:
                # Errors that Blender's operator reports.
                raise ValueError(str(error).strip()) from error
        for reason in written.left:
            self.report({"WARNING"}, reason)
        count = written.skins
        return f"Wrote the skins of {count} bound object{'s' if count != 1 else ''}" if result == {"FINISHED"} else None


def _draw_entry(menu: Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator("sbs.export_usd", text="Universal Scene Description, Skinned (.usd*)")


SBS_OT_export_usd.__annotations__ |= {name: _copied(option) for name, option in _options().items()}
CLASSES = (SBS_OT_export_usd,) if _options() else ()
ENTRIES = (("TOPBAR_MT_file_export", _draw_entry),) if CLASSES else ()
