# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on comes and goes without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import addon
import bpy
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import current_layer, mesh_object

HANDLERS = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]


def traces() -> dict[str, list[str]]:
    """All that an add-on can leave behind in Blender."""
    handlers = [f"{name}: {item!r}" for name in HANDLERS for item in getattr(bpy.app.handlers, name)]
    menus = [
        f"{name}: {draw!r}"
        for name in dir(bpy.types)
        for draw in getattr(getattr(getattr(bpy.types, name), "draw", None), "_draw_funcs", [])
    ]
    properties = [
        f"{kind.__name__}.{name}"
        for kind in (bpy.types.Object, bpy.types.Armature, bpy.types.Scene, bpy.types.WindowManager, bpy.types.Bone)
        for name, _ in kind.bl_rna.properties.items()
    ]
    own_keys: Any = bpy.data.window_managers[0].keyconfigs.addon
    keys = [
        f"{keymap.name}: {item.idname} {getattr(item.properties, 'name', '')}"
        for keymap in own_keys.keymaps
        for item in keymap.keymap_items
    ]
    return {
        "keys": keys,
        "classes": sorted(kind.__name__ for kind in subclasses(bpy.types.bpy_struct) if is_registered(kind)),
        "operators": dir(addon.ops),
        "handlers": handlers,
        "menus": menus,
        "properties": properties,
    }


def subclasses(kind: type) -> Iterator[type]:
    found: list[type] = kind.__subclasses__()
    for derived in found:
        yield derived
        yield from subclasses(derived)


def is_registered(kind: type) -> bool:
    return getattr(kind, "is_registered", False) and kind.__module__.startswith(addon.name())


def test_nothing_is_left_behind() -> None:
    with_addon = traces()
    addon.disable()
    without = traces()
    assert any("SBS" in name or "sbs" in name for name in with_addon["classes"])
    assert sum("SBS_MT" in name for name in with_addon["keys"]) == 2
    for kind, found in without.items():
        assert not [name for name in found if "sbs" in name.lower() or addon.ID in name], kind
    for _ in range(2):
        addon.enable()
        assert traces() == with_addon
        addon.disable()
        assert traces() == without
    addon.enable()


@pytest.mark.parametrize("linked", [False, True])
def test_what_changed_while_it_was_off(linked: bool) -> None:
    """A script, an undo or a change of frame may do so; the artist edits nothing after that."""
    armature, tube = rigs.make_armature(), rigs.make_tube(rows=21)
    rigs.bind(tube, armature)
    tubes = [tube]
    if linked:
        rigs.select([tube])
        bpy.ops.object.duplicate(linked=True)
        tubes.append(mesh_object(bpy.context.object))
    current_layer().update()
    addon.disable(wheels=False)
    rigs.turn(armature)
    tube.vertex_groups[1].add(list(range(100)), 0.7, "REPLACE")
    tube.data.update()
    current_layer().update()
    addon.enable(wheels=False)
    current_layer().update()
    for item in tubes:
        assert error(rigs.evaluated(item), deformed(item, armature)) < TOLERANCE
