# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that the add-on registers in Blender, in order; it is unregistered in the reverse order."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import bpy

from .core import library
from .settings import preferences
from .settings.declared import leave_to_blender
from .settings.given import manager_of

# Names of modules, imported later, so that the preferences can say which one cannot be loaded. Each may have
#     CLASSES     of Blender's types,
#     PROPERTIES  of Blender's own types, each with the type and its name,
#     ENTRIES     functions that draw in Blender's own menus and panels, each with the name of one,
#     HANDLERS    functions that Blender calls, each with the name of a list in bpy.app.handlers,
#     KEYS        that artists can change in Preferences > Keymap: a keymap, an operator, a key, its modifiers and the
#                 operator's properties; they come before Blender's own use of the key,
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
    "demo.operators",
    "blending.operators",
    "twist.operators",
    "subdivide.operators",
    "muscles.operators",
    "correctives.operators",
    "bind.panel",
    "correctives.panel",
    "correctives.broken_panel",
    "twist.panel",
    "flesh.panel",
    "muscles.panel",
    "export.exporters",
    "export.compiled",
    "bind.menu",
    "pie.menu",
    "engine.handlers",
    "capsules.settings",
    "capsules.operators",
    "capsules.panel",
    "method.panel",
    "capsules.overlay",
    "capsules.handles",
    "capsules.live",
    "blending.panel",
    "blending.overlay",
    "blending.handles",
    "comparison.settings",
    "comparison.operators",
    "comparison.overlay",
    "comparison.panel",
    "drag.overlay",
    "drag.operators",
    "weights.operators",
    "weights.menu",
)

_registered: list[ModuleType] = []
# The keys of each module.
_keys: dict[ModuleType, list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]]] = {}


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
    for place, function in _functions(module):
        place.append(function)
    _keys[module] = list(_add_keys(module))
    if hasattr(module, "register"):
        module.register()
    _registered.append(module)


def _unregister(module: ModuleType) -> None:
    if hasattr(module, "unregister"):
        module.unregister()
    for keymap, item in _keys.pop(module):
        keymap.keymap_items.remove(item)
    for place, function in reversed(_functions(module)):
        place.remove(function)
    for owner, name, _ in reversed(getattr(module, "PROPERTIES", ())):
        delattr(owner, name)
    for cls in reversed(getattr(module, "CLASSES", ())):
        bpy.utils.unregister_class(cls)


def _functions(module: ModuleType) -> list[tuple[Any, Any]]:
    """The functions of a module that draw in menus and panels or are called by Blender, each with where it belongs."""
    wanted: tuple[tuple[object, str], ...] = ((bpy.types, "ENTRIES"), (bpy.app.handlers, "HANDLERS"))
    return [
        (getattr(owner, name), function)
        for owner, kind in wanted
        for name, function in getattr(module, kind, ())
        # Not every Blender has all of them.
        if hasattr(owner, name)
    ]


def _add_keys(module: ModuleType) -> Iterator[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]]:
    own = manager_of(bpy.context).keyconfigs.addon
    if own is None:
        # Without a window there are no keys.
        return
    for keymap, operator, key, modifiers, properties in getattr(module, "KEYS", ()):
        found = own.keymaps.new(name=keymap, space_type="VIEW_3D" if keymap == "3D View" else "EMPTY")
        item = found.keymap_items.new(operator, key, "PRESS", **modifiers)
        for name, value in properties.items():
            setattr(item.properties, name, value)
        yield found, item


def unregister() -> None:
    while _registered:
        _unregister(_registered.pop())
