# SPDX-License-Identifier: GPL-3.0-or-later
"""Types that stubs of Blender lack, in one place; nothing is checked at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import bpy

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import IconItems, OperatorReturnItems, WmReportItems

    Icon = IconItems
    Report = set[WmReportItems]
    Result = set[OperatorReturnItems]

    # Classes with a layout.
    class Menu(bpy.types.Menu):
        layout: bpy.types.UILayout

    class Operator(bpy.types.Operator):
        layout: bpy.types.UILayout

    class Panel(bpy.types.Panel):
        layout: bpy.types.UILayout

    # Bases of mix-ins for classes of these kinds.
    GizmoGroupMixin = bpy.types.GizmoGroup
    OperatorMixin = Operator
    PanelMixin = Panel
    PropertyGroupMixin = bpy.types.PropertyGroup
else:
    Icon = str
    Report = Result = set
    Menu, Operator, Panel = bpy.types.Menu, bpy.types.Operator, bpy.types.Panel
    GizmoGroupMixin = OperatorMixin = PanelMixin = PropertyGroupMixin = object

_Handler = TypeVar("_Handler", bound=Callable[..., None])


def mesh_of(item: bpy.types.Object) -> bpy.types.Mesh:
    """The data of an object that is a mesh."""
    return cast("bpy.types.Mesh", item.data)


def armature_data(item: bpy.types.Object) -> bpy.types.Armature:
    return cast("bpy.types.Armature", item.data)


def owner_of(part: bpy.types.Modifier | bpy.types.PoseBone | bpy.types.PropertyGroup) -> bpy.types.Object:
    """The object that has a modifier, a posed bone or a group of properties."""
    return cast("bpy.types.Object", part.id_data)


def block_of(settings: bpy.types.PropertyGroup) -> bpy.types.ID:
    """The data-block that a group of properties belongs to."""
    return cast("bpy.types.ID", settings.id_data)


def block_of_key(key: bpy.types.ShapeKey) -> bpy.types.Key:
    """The shape keys that one of them is among."""
    return cast("bpy.types.Key", key.id_data)


def animation_of(block: bpy.types.ID) -> bpy.types.AnimData | None:
    return cast("bpy.types.AnimData", block.animation_data)  # type: ignore[attr-defined]  # blocks that can have one


def new_armature_modifier(item: bpy.types.Object, name: str) -> bpy.types.ArmatureModifier:
    """One more modifier of an object."""
    return cast("bpy.types.ArmatureModifier", item.modifiers.new(name, "ARMATURE"))


def values_of(attribute: bpy.types.Attribute) -> bpy.types.bpy_prop_collection[Any]:
    """The values of an attribute of a mesh."""
    # Each type of attributes has its own.
    return cast("bpy.types.bpy_prop_collection[Any]", attribute.data)  # type: ignore[attr-defined]


def default_of(socket: bpy.types.NodeSocket) -> Any:
    """The value of a socket that nothing is linked to."""
    return socket.default_value  # type: ignore[attr-defined]  # of each of its types


def set_default(socket: bpy.types.NodeSocket, value: object) -> None:
    socket.default_value = value  # type: ignore[attr-defined]  # of each of its types


def has_key(owner: bpy.types.ID | bpy.types.PropertyGroup, key: str) -> bool:
    """Whether a data-block or a group has a custom property."""
    return key in owner  # type: ignore[operator]  # data-blocks are mappings, which the stubs do not say


def persistent(handler: _Handler) -> _Handler:
    """A handler that stays when another file is loaded."""
    return cast("_Handler", bpy.app.handlers.persistent(handler))
