# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties that library overrides may change, and whose changes update the objects that depend on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import bpy

from .declared import pointer
from .typed import block_of

OVERRIDABLE: set[Literal["LIBRARY_OVERRIDABLE"]] = {"LIBRARY_OVERRIDABLE"}

_Value = TypeVar("_Value")


def follow(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Make the handlers update the object that settings belong to, or its dependents."""
    block_of(settings).update_tag()


def kept(make: Callable[..., _Value], *words: str, update: Any = follow, **options: Any) -> _Value:
    """A property that overrides may change, made by one of the functions of `declared`."""
    return make(*words, update=update, override=OVERRIDABLE, **options)


def kept_group(type: type[_Value]) -> _Value:  # noqa: A002 (as Blender names it)
    """The group of our settings of a data-block or a bone."""
    return pointer(name="Spherical Blend Skinning", type=type, override=OVERRIDABLE)
