# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that the add-on registers in Blender, in order; it is unregistered in the reverse order."""

from __future__ import annotations

import importlib
import traceback
from types import ModuleType

import bpy

from .core import library
from .settings import preferences
from .settings.declared import leave_to_blender

# Names of modules, imported later, so that the preferences can say which one cannot be loaded. Each has CLASSES, and
# may have register() and unregister() for other things than classes.
_NAMES = (
    "settings.properties",
    "automatic_weights.operators",
    "bind.operators",
    "method.operators",
    "portable.operators",
    "bake.operators",
    "export.operators",
    "shape_key.operators",
    "shape_key.menu",
    "demo.operators",
    "blending.operators",
    "amount.operators",
    "twist.operators",
    "subdivide.operators",
    "muscles.operators",
    "bind.panel",
    "twist.panel",
    "amount.panel",
    "muscles.panel",
    "export.exporters",
    "export.compiled",
    "bind.menu",
    "pie.menu",
    "engine.handlers",
    "capsules.settings",
    "capsules.operators",
    "capsules.panel",
    "capsules.overlay",
    "capsules.handles",
    "capsules.live",
    "zones.panel",
    "zones.overlay",
    "zones.handles",
    "comparison.settings",
    "comparison.operators",
    "comparison.overlay",
    "comparison.panel",
    "drag.overlay",
    "drag.operators",
    "drag.menu",
    "weights.operators",
    "weights.menu",
)

_registered: list[ModuleType] = []


def register() -> None:
    _register(preferences)
    try:
        modules = [importlib.import_module(f".{name}", __package__) for name in _NAMES]
    except Exception as error:
        # Otherwise Blender would disable the whole add-on, and with it the page that tells the artist why.
        traceback.print_exc()
        library.found_defect(error)
        return
    library.found_defect(None)
    for module in modules:
        _register(module)


def _register(module: ModuleType) -> None:
    for cls in module.CLASSES:
        leave_to_blender(cls)
        bpy.utils.register_class(cls)
    if hasattr(module, "register"):
        module.register()
    _registered.append(module)


def unregister() -> None:
    while _registered:
        module = _registered.pop()
        if hasattr(module, "unregister"):
            module.unregister()
        for cls in reversed(module.CLASSES):
            bpy.utils.unregister_class(cls)
