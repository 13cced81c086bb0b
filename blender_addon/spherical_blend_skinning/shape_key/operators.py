# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply as Shape Key, which Blender cannot do for modifiers made of nodes.

Its entries are in Object > Apply, and beside the shape keys of a mesh.
"""

from __future__ import annotations

import bpy

from ..bind import operators as bind
from ..engine.bake import bake, shape_keys
from ..engine.stack import stack
from ..interface.action import Action
from ..interface.selection import do_to_each, our_meshes, our_meshes_hindrance
from ..settings import libraries
from ..settings.declared import flag
from ..settings.given import view_layer_of
from ..settings.typed import Menu, Operator


class SBS_OT_apply_as_shape_key(Action, Operator):
    bl_idname = "sbs.apply_as_shape_key"
    bl_label = "Spherical Blend Skinning to Shape Key"
    bl_description = "Replace the modifier by a shape key with its result in this pose"

    keep_modifier: bool = flag("Keep Modifier", "Stay bound, as Save as Shape Key of other modifiers does")

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return our_meshes_hindrance(context) or libraries.hindrance(our_meshes(context))

    def run(self, context: bpy.types.Context) -> str | None:
        def apply(item: bpy.types.Object) -> None:
            key = shape_keys.add(item, view_layer_of(context))
            if not self.keep_modifier:
                _take_away(item)
            self.report({"INFO"}, f"{item.name}: {len(key.data)} vertices in the shape key {key.name}")

        return "" if do_to_each(self, our_meshes(context), apply) else None


def _take_away(item: bpy.types.Object) -> None:
    """Remove our modifier as applying does: the disabled Armature modifier stays disabled."""
    armature = bake.armature_of(item)
    other = stack.armature_modifier_of(item, armature) if armature is not None else None
    name = other.name if other is not None and not stack.deforms(other) else ""
    bind.unbind(item)
    if name in item.modifiers:
        item.modifiers.remove(item.modifiers[name])
    stack.clear(item)


def _draw_entry(menu: Menu, context: bpy.types.Context) -> None:
    if our_meshes(context):
        menu.layout.separator()
        menu.layout.operator("sbs.apply_as_shape_key", icon="SHAPEKEY_DATA")


CLASSES = (SBS_OT_apply_as_shape_key,)
# The menu of a single modifier cannot be extended.
ENTRIES = (("VIEW3D_MT_object_apply", _draw_entry), ("MESH_MT_shape_key_context_menu", _draw_entry))
