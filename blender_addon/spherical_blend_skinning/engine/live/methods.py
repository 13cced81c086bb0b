# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods that are chosen for an object, in the library's words, and linear blending for comparison with them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import bpy

from ...core.blended import BonesChoice
from ...core.method import Method
from ...settings.properties import SBS_PG_object
from .states import State


def method_of(state: State, settings: SBS_PG_object) -> Method:
    """The method that an object is deformed by: about weighted centers as long as there are no optimized ones."""
    method = chosen(settings)
    has_centers = state.binding is not None and state.binding.centers is not None and state.centers.are_possible
    return replace(method, center="weighted") if method.center == "optimized" and not has_centers else method


def chosen(settings: SBS_PG_object) -> Method:
    name = settings.method
    return _method_named(name, settings.rotation, settings.center) if name == "SPHERICAL" else _method_named(name)


@cache
def _method_named(*names: str) -> Method:
    return Method(*(name.lower() for name in names))


def bones_choice(settings: SBS_PG_object) -> BonesChoice | None:
    """Which bones are blended by bones blending, and how; None if it is not chosen."""
    if "BONES_BLENDING" not in (settings.method, settings.amount_method):
        return None
    return BonesChoice(settings.blended_bones == "MARKED", settings.bones_profile.lower(), settings.zone_scale)


#: The method to compare with: Blender's Armature modifier without Preserve Volume.
LINEAR = Method("linear")

_shows_linear = False


def is_linear_shown(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a dependency graph should show linear blending in place of the chosen method. Renders never do."""
    return _shows_linear and depsgraph.mode != "RENDER"


def show_linear(shown: bool) -> None:
    """Make views show linear blending, or the chosen method, when objects are next updated."""
    global _shows_linear
    _shows_linear = shown
