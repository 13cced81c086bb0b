# SPDX-License-Identifier: GPL-3.0-or-later
"""A pie menu with frequent commands for posing and painting."""

from __future__ import annotations

import bpy

from ..capsules.settings import capsule_settings_of
from ..engine.bake import bake
from ..interface import owner, rigged
from ..settings.given import view_layer_of
from ..settings.typed import Menu, armature_data


class SBS_MT_pie(Menu):
    bl_label = "Spherical Blend Skinning"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return rigged.rig_of(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        pie = self.layout.menu_pie()
        armature, active = rigged.rig_of(context), context.object
        if armature is None or active is None:
            return
        meshes = rigged.moved_by(armature, view_layer_of(context))
        bound = [item for item in meshes if bake.modifier_of(item) is not None]
        # West, east, south, north, and the corners: north-west, north-east, south-west, south-east.
        if bound:
            settings = owner.shown_settings(active if active in bound else armature)
            for preset in ("SPEED", "QUALITY", "GAME"):
                pie.prop_enum(settings, "preset", preset)
        else:
            for _ in range(3):
                pie.separator()
        if len(bound) < len(meshes):
            pie.operator("sbs.bind", text="Bind All Meshes", icon="ARMATURE_DATA").all_meshes = True
        else:
            pie.operator("sbs.rebind", icon="FILE_REFRESH").all_meshes = True
        pie.prop(capsule_settings_of(armature_data(armature)), "show_capsules", icon="META_CAPSULE")
        pie.operator("sbs.assign_from_capsules")
        pie.operator("sbs.automatic_weights", text="Heat Weights", icon="LIGHT_SUN").weights = "HEAT"
        pie.operator("sbs.unbind", icon="X").all_meshes = True


CLASSES = (SBS_MT_pie,)
KEYS = (("3D View", "wm.call_menu_pie", "D", {"ctrl": True, "shift": True}, {"name": SBS_MT_pie.__name__}),)
