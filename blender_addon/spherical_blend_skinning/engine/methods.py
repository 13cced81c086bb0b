# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods that are chosen for an object, in the library's words."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ..core.blended import BonesChoice
from ..core.method import Method
from ..settings.properties import SBS_PG_object
from .states import State


def method_of(state: State, settings: SBS_PG_object) -> Method:
    """The method that an object is deformed by: about weighted centers as long as there are no optimized ones."""
    method = chosen(settings)
    has_centers = state.binding is not None and state.binding.centers is not None and state.centers.are_possible
    return replace(method, center="weighted") if method.center == "optimized" and not has_centers else method


def chosen(settings: SBS_PG_object) -> Method:
    """The chosen method."""
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
