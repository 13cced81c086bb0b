# SPDX-License-Identifier: GPL-3.0-or-later
"""Armature modifiers in place of ours while an exporter reads the file.

Game engines and their formats deform a mesh in one way: linearly, by the weights of its vertices. Exporters take these
from an Armature modifier; from any other modifier they take the vertices in the present pose. So while they run, our
modifier is hidden and the disabled Armature modifier is enabled again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import cast

import bpy

from ...settings.typed import owner_of
from ..live import ahead
from ..stack import stack
from . import bake

_active = 0


def is_active() -> bool:
    """Whether Armature modifiers replace ours at present; bound objects must not be updated meanwhile."""
    return _active > 0


def modifier_of(item: bpy.types.Object) -> bpy.types.ArmatureModifier | None:
    """The modifier that replaces ours on a bound object at present, if there is one."""
    armature = bake.armature_of(item) if is_active() else None
    return None if armature is None else stack.armature_modifier_of(item, armature)


@contextmanager
def armature_modifiers_instead() -> Iterator[int]:
    """Let Armature modifiers deform objects in place of ours, and yield how many; afterwards all settings are restored.

    Baked objects are deformed by their bake, so exporters find no skin for them.
    """
    global _active
    with ExitStack() as undoing:
        _active += 1
        count = 0
        undoing.callback(_end)
        # glTF has all scenes of a file.
        ahead.remove()
        for item in bpy.data.objects:
            modifier = bake.modifier_of(item) if item.type == "MESH" else None
            if modifier is None:
                continue
            if bake.is_baked(item):
                for other in stack.armature_modifiers(item):
                    if not stack.deforms(other):
                        _change(undoing, other, object=None)
            else:
                count += _stand_in(undoing, item, modifier)
        yield count


def _end() -> None:
    global _active
    _active -= 1


def _stand_in(undoing: ExitStack, item: bpy.types.Object, modifier: bpy.types.NodesModifier) -> bool:
    """Let an Armature modifier deform one object, if it has a rig."""
    armature = bake.armature_of(item)
    if armature is None:
        return False
    other = stack.armature_modifier_of(item, armature)
    if other is None:
        if item.library is not None:
            # Linked objects cannot get modifiers.
            return False
        other = cast(bpy.types.ArmatureModifier, item.modifiers.new("Armature", "ARMATURE"))
        undoing.callback(_remove, item, other.name)
        stack.move(item, other, list(item.modifiers).index(modifier) + 1)
    _change(undoing, modifier, show_viewport=False, show_render=False)
    _change(
        undoing,
        other,
        object=armature,
        show_viewport=True,
        show_render=True,
        use_vertex_groups=True,
        use_bone_envelopes=False,
    )
    return True


def _change(undoing: ExitStack, modifier: bpy.types.Modifier, **values: object) -> None:
    """Give settings of a modifier other values for the time being."""
    item, name = owner_of(modifier), modifier.name
    before = {setting: getattr(modifier, setting) for setting in values}
    undoing.callback(_set, item, name, before)
    _set(item, name, values)


def _set(item: bpy.types.Object, name: str, values: dict[str, object]) -> None:
    # By its name, because an exporter may cause modifiers to move in memory.
    modifier = item.modifiers[name]
    for setting, value in values.items():
        if getattr(modifier, setting) != value:
            setattr(modifier, setting, value)


def _remove(item: bpy.types.Object, name: str) -> None:
    item.modifiers.remove(item.modifiers[name])
