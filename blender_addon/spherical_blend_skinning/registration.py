# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that the add-on registers in Blender, in order; it is unregistered in the reverse order."""

from __future__ import annotations

import importlib
import traceback
from types import ModuleType
from typing import Any

import bpy

from .core import library
from .settings import preferences
from .settings.declared import leave_to_blender

# Names of modules, imported later, so that the preferences can say which one cannot be loaded. Each may have
#     CLASSES     of Blender's types,
#     PROPERTIES  of Blender's own types, each with the type and its name,
#     ENTRIES     functions that draw in Blender's own menus and panels, each with the name of one,
# and register() and unregister() for other things.
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
    for cls in getattr(module, "CLASSES", ()):
        leave_to_blender(cls)
        bpy.utils.register_class(cls)
    for owner, name, value in getattr(module, "PROPERTIES", ()):
        setattr(owner, name, value)
    for place, draw in _entries(module):
        place.append(draw)
    if hasattr(module, "register"):
        module.register()
    _registered.append(module)


def _unregister(module: ModuleType) -> None:
    if hasattr(module, "unregister"):
        module.unregister()
    for place, draw in reversed(_entries(module)):
        place.remove(draw)
    for owner, name, _ in reversed(getattr(module, "PROPERTIES", ())):
        delattr(owner, name)
    for cls in reversed(getattr(module, "CLASSES", ())):
        bpy.utils.unregister_class(cls)


def _entries(module: ModuleType) -> list[tuple[Any, Any]]:
    """The menus and panels of this Blender that a module draws in, each with its function."""
    wanted = getattr(module, "ENTRIES", ())
    return [(getattr(bpy.types, name), draw) for name, draw in wanted if hasattr(bpy.types, name)]


def unregister() -> None:
    while _registered:
        _unregister(_registered.pop())
