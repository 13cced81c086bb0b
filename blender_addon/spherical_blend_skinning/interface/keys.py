# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of ours, which artists find and change in Preferences > Keymap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

import bpy

from ..settings.typed import Key

__all__ = ["add", "remove"]

_added: dict[str, list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]]] = {}


def add(keymap: str, operator: str, key: Key, modifiers: dict[str, bool], *, name: str) -> None:
    """Have a key open a menu, before what Blender itself has it do.

    Parameters
    ----------
    keymap : str
        The name of one of Blender's.
    operator : str
        Which opens the menu.
    key, modifiers
        As ``KeyMapItems.new`` has them.
    name : str
        Of the menu.
    """
    own = bpy.context.window_manager.keyconfigs.addon
    if own is None:
        # Without windows there are no keys.
        return
    space: Literal["VIEW_3D", "EMPTY"] = "VIEW_3D" if keymap == "3D View" else "EMPTY"
    found = own.keymaps.new(name=keymap, space_type=space)
    new = cast("Callable[..., bpy.types.KeyMapItem]", found.keymap_items.new)
    item = new(operator, key, "PRESS", **modifiers)
    item.properties.name = name
    _added.setdefault(name, []).append((found, item))


def remove(name: str) -> None:
    """Take away the keys of a menu."""
    for keymap, item in _added.pop(name, []):
        keymap.keymap_items.remove(item)
