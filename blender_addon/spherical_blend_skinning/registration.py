# SPDX-License-Identifier: GPL-3.0-or-later
"""What the add-on adds to Blender, in order; it is taken away in the exact reverse."""

from __future__ import annotations

from types import ModuleType

import bpy

from . import handlers, menus, panels, preferences, properties
from .capsules import gizmo
from .capsules import live as live_capsules
from .capsules import operators as capsule_operators
from .capsules import overlay as capsule_overlay
from .capsules import panel as capsule_panel
from .capsules import settings as capsule_settings
from .operators import bake, bind, demo, portable
from .weights import menu as weights_menu
from .weights import operators as weights_operators

# Each has CLASSES, and may have register() and unregister() for what is not a class.
MODULES: tuple[ModuleType, ...] = (
    preferences,
    properties,
    bind,
    portable,
    bake,
    demo,
    panels,
    menus,
    handlers,
    capsule_settings,
    capsule_operators,
    capsule_panel,
    capsule_overlay,
    gizmo,
    live_capsules,
    weights_operators,
    weights_menu,
)


def register() -> None:
    for module in MODULES:
        for cls in module.CLASSES:
            bpy.utils.register_class(cls)
        if hasattr(module, "register"):
            module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        if hasattr(module, "unregister"):
            module.unregister()
        for cls in reversed(module.CLASSES):
            bpy.utils.unregister_class(cls)
