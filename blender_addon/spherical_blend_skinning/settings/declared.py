# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of Blender's as fields of classes, which type checkers know by the types of their values.

Blender wants a property as the annotation of its name, ``limit: bpy.props.IntProperty(...)``. Here it is
``limit: int = integer(...)``, which `leave_to_blender` turns into that annotation before the class is registered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import bpy

if TYPE_CHECKING:
    #: Several groups of properties, which have names.
    Group = bpy.types.bpy_prop_collection_idprop
else:
    Group = list

_Value = TypeVar("_Value")
_Options = ParamSpec("_Options")


def _typed(make: Callable[_Options, None], _kind: type[_Value]) -> Callable[_Options, _Value]:
    """A function of Blender's that makes properties, by the type of their values."""
    return cast("Callable[_Options, _Value]", make)


flag = _typed(bpy.props.BoolProperty, bool)
integer = _typed(bpy.props.IntProperty, int)
real = _typed(bpy.props.FloatProperty, float)
text = _typed(bpy.props.StringProperty, str)
choice = _typed(bpy.props.EnumProperty, str)


def pointer(type: type[_Value], **options: Any) -> _Value:  # noqa: A002 (as Blender names it)
    """A group of properties."""
    return cast("_Value", cast("Callable[..., object]", bpy.props.PointerProperty)(type=type, **options))


def data_block(type: type[_Value], **options: Any) -> _Value | None:  # noqa: A002 (as Blender names it)
    """A data-block of a type, or none."""
    return pointer(type, **options)


def group(type: type[_Value], **options: Any) -> Group[_Value]:  # noqa: A002 (as Blender names it)
    """Several groups of properties."""
    return cast("Group[_Value]", cast("Callable[..., object]", bpy.props.CollectionProperty)(type=type, **options))


def reals(size: int, **options: Any) -> bpy.types.bpy_prop_array[float]:
    """Several numbers."""
    make = cast("Callable[..., object]", bpy.props.FloatVectorProperty)
    return cast("bpy.types.bpy_prop_array[float]", make(size=size, **options))


def leave_to_blender(cls: type) -> None:
    """Make annotations of the properties of a class and of its bases."""
    deferred = type(cast("object", flag()))
    for base in cls.__mro__:
        found = {name: value for name, value in vars(base).items() if isinstance(value, deferred)}
        for name, value in found.items():
            delattr(base, name)
            base.__annotations__[name] = value
