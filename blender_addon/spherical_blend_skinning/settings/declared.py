# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of Blender's as fields of classes, which type checkers know by the types of their values.

Blender wants a property as the annotation of its name, ``limit: bpy.props.IntProperty(...)``. Here it is
``limit: int = integer("Limit", "Its description")``, which `leave_to_blender` turns into that annotation before the
class is registered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import bpy

if TYPE_CHECKING:
    #: Several groups of properties, which have names.
    Group = bpy.types.bpy_prop_collection_idprop
else:
    Group = list

_Value = TypeVar("_Value")


def _typed(make: Callable[..., object], _kind: type[_Value]) -> Callable[..., _Value]:
    """A function that makes properties by one of Blender's, by the type of their values."""

    def declare(name: str = "", description: str = "", **options: Any) -> _Value:
        return cast("_Value", make(name=name, description=description, **options))

    return declare


flag = _typed(bpy.props.BoolProperty, bool)
integer = _typed(bpy.props.IntProperty, int)
real = _typed(bpy.props.FloatProperty, float)
text = _typed(bpy.props.StringProperty, str)
choice = _typed(bpy.props.EnumProperty, str)


def pointer(type: type[_Value], name: str = "", description: str = "", **options: Any) -> _Value:  # noqa: A002 (as Blender names it)
    """A group of properties."""
    make = cast("Callable[..., object]", bpy.props.PointerProperty)
    return cast("_Value", make(type=type, name=name, description=description, **options))


def data_block(type: type[_Value], *words: str, **options: Any) -> _Value | None:  # noqa: A002 (as Blender names it)
    """A data-block of a type, or none."""
    return pointer(type, *words, **options)


def group(type: type[_Value], name: str = "", description: str = "", **options: Any) -> Group[_Value]:  # noqa: A002
    """Several groups of properties."""
    make = cast("Callable[..., object]", bpy.props.CollectionProperty)
    return cast("Group[_Value]", make(type=type, name=name, description=description, **options))


def reals(size: int, name: str = "", description: str = "", **options: Any) -> bpy.types.bpy_prop_array[float]:
    """Several numbers."""
    make = cast("Callable[..., object]", bpy.props.FloatVectorProperty)
    return cast("bpy.types.bpy_prop_array[float]", make(size=size, name=name, description=description, **options))


def leave_to_blender(cls: type) -> None:
    """Make annotations of the properties of a class and of its bases."""
    deferred = type(cast("object", flag()))
    for base in cls.__mro__:
        found = {name: value for name, value in vars(base).items() if isinstance(value, deferred)}
        for name, value in found.items():
            delattr(base, name)
            base.__annotations__[name] = value
