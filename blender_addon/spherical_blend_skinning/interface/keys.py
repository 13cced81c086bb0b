# SPDX-License-Identifier: GPL-3.0-or-later
"""Our keys, which artists can change in Preferences > Keymap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast

import bpy

from ..settings.given import manager_of
from ..settings.typed import Key

__all__ = ["add", "remove"]

_added: dict[str, list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]]] = {}


def add(keymap: str, operator: str, key: Key, modifiers: dict[str, bool], *, name: str) -> None:
    """Let a key open a menu, before Blender's own use of the key.

    Parameters
    ----------
    keymap : str
        The name of one of Blender's keymaps.
    operator : str
        The operator that opens the menu.
    key, modifiers
        As for ``KeyMapItems.new``.
    name : str
        Of the menu.
    """
    own = manager_of(bpy.context).keyconfigs.addon
    if own is None:
        # Without a window there are no keys.
        return
    space: Literal["VIEW_3D", "EMPTY"] = "VIEW_3D" if keymap == "3D View" else "EMPTY"
    found = own.keymaps.new(name=keymap, space_type=space)
    new = cast("Callable[..., bpy.types.KeyMapItem]", found.keymap_items.new)
    item = new(operator, key, "PRESS", **modifiers)
    cast("Any", item.properties).name = name
    _added.setdefault(name, []).append((found, item))


def remove(name: str) -> None:
    """Remove the keys of a menu."""
    for keymap, item in _added.pop(name, []):
        keymap.keymap_items.remove(item)
