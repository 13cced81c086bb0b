# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators, preferences and the add-on as a whole: reasons are given, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import Character, active_object, current_layer, mesh_object

# Those that read the file alone.
CHANGE_NOTHING = {"compare_with_linear", "export_capsules", "export_usd"}


def names() -> list[str]:
    return dir(addon.ops)


@pytest.fixture
def character() -> Character:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    tube.modifiers.new("Armature", "ARMATURE").object = armature
    rigs.turn(armature)
    rigs.select([tube])
    return tube, armature


def test_undo() -> None:
    for name in names():
        options: set[str] = getattr(getattr(bpy.types, f"SBS_OT_{name}"), "bl_options", set())
        assert name in CHANGE_NOTHING or {"REGISTER", "UNDO"} <= options, name


def test_each_says_why_it_cannot_work() -> None:
    for name in names():
        operator = getattr(addon.ops, name)
        if name in ("demo", "muscle_demo"):
            rigs.make_armature()
            bpy.ops.object.mode_set(mode="EDIT")
        assert not operator.poll(), name
        # Blender's own words, where an operator gives none, are "failed, context is incorrect".
        with pytest.raises(RuntimeError, match=r"poll\(\) (?!failed, context is incorrect)[A-Z]\w+ "):
            operator()
        if name in ("demo", "muscle_demo"):
            bpy.ops.object.mode_set(mode="OBJECT")
            bpy.data.objects.remove(active_object())


NEED_NO_LIBRARY = {
    "accept_corrective",
    "cancel_corrective",
    "compare_with_linear",
    "export_capsules",
    "export_usd",
    "import_capsules",
    "make_live",
    "mark_bones",
    "set_bone_amounts",
    "share_settings",
    "transfer_weights",
    "unbind",
}


def test_without_the_library(character: Character, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but removing refuses, with the reason, and panels show that."""
    library = addon.module("core.library")

    def fail() -> None:
        raise library.LibraryError("The wheel is missing")

    addon.ops.bind()
    monkeypatch.setattr(library, "load", fail)
    for name in sorted(set(names()) - NEED_NO_LIBRARY):
        if name == "make_portable" and bpy.app.version < (5, 1, 0):
            continue
        with pytest.raises(RuntimeError, match="The wheel is missing"):
            getattr(addon.ops, name)()
    assert addon.ops.unbind() == {"FINISHED"}


def in_use() -> list[str]:
    blocks = (*bpy.data.objects, *bpy.data.meshes, *bpy.data.node_groups)
    return sorted(block.name for block in blocks if block.users)


@pytest.mark.blender(since=(5, 1))
@pytest.mark.parametrize("removed", [False, True], ids=["", "the Armature modifier was removed"])
def test_unbind_what_is_portable(character: Character, removed: bool) -> None:
    tube, armature = character
    before = in_use()
    tube.sbs.center = "JOINT_SET"
    assert addon.ops.make_portable() == {"FINISHED"}
    if removed:
        tube.modifiers.remove(next(modifier for modifier in tube.modifiers if modifier.type == "ARMATURE"))
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE
    assert addon.ops.unbind() == {"FINISHED"}
    assert [modifier.type for modifier in tube.modifiers] == ["ARMATURE"]
    assert tube.modifiers[0].show_viewport and tube.modifiers[0].use_vertex_groups
    assert in_use() == before
    twin = rigs.make_tube(name="Twin")
    twin.modifiers.new("Armature", "ARMATURE").object = armature
    np.testing.assert_array_equal(rigs.evaluated(tube), rigs.evaluated(twin))


@pytest.fixture
def for_this_session() -> Iterator[None]:
    """As ``blender --addons`` and scripts of farms switch add-ons on."""
    addon.disable(wheels=False)
    addon.enable(wheels=False, default_set=False)
    everything = bpy.context.preferences
    assert everything is not None and addon.name() not in everything.addons
    yield
    addon.disable(wheels=False)
    addon.enable(wheels=False)


def test_without_preferences(for_this_session: None) -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rigs.select([tube, armature])
    assert addon.ops.bind() == {"FINISHED"}
    assert tube.sbs.center == "OPTIMIZED" and tube.sbs.spread_twist
    tube.sbs.center = "JOINT_SET"
    tube.sbs.spread_twist = False
    rigs.turn(armature)
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE


HANDLERS = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]


def traces() -> dict[str, list[str]]:
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
    tube, armature = rigs.make_bound(rows=21)
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


@pytest.mark.blender(before=(5, 1))
def test_nothing_is_portable_in_old_blender(character: Character) -> None:
    tube, armature = character
    rigs.bind(tube, armature)
    assert not addon.ops.make_portable.poll()
    with pytest.raises(ValueError, match=r"5\.1"):
        addon.module("engine.bake.portable").make_portable(tube, bpy.context.evaluated_depsgraph_get())
    assert tube.sbs.bound
