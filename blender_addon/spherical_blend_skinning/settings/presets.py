# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets: settings for a purpose, chosen at once."""

from __future__ import annotations

import bpy

_SETTINGS = {
    "QUALITY": {
        "method": "SPHERICAL",
        "rotation": "QLERP",
        "center": "OPTIMIZED",
        "influence_limit": 0,
        "spread_twist": True,
    },
    "SPEED": {
        "method": "SPHERICAL",
        "rotation": "QLERP",
        "center": "JOINT_SET",
        "influence_limit": 4,
        "spread_twist": False,
    },
    "GAME": {"method": "LINEAR", "influence_limit": 4, "spread_twist": False},
}

#: With numbers, which a computed property needs.
ITEMS = (
    (
        "QUALITY",
        "Quality",
        "Smooth twist: Spherical Blend about the best pivots, by all bones, with twists spread along limbs",
        0,
    ),
    (
        "SPEED",
        "Speed",
        "Spherical Blend by four bones a vertex, about pivots that need no search: what is edited is seen at once",
        1,
    ),
    ("GAME", "Game", "The exported skin as in a game engine: linear, with four bones per vertex", 2),
    ("CUSTOM", "Custom", "Settings other than those of the presets", 3),
)
_CUSTOM = 3


def preset_number(settings: bpy.types.PropertyGroup) -> int:
    """The number of the preset with these settings."""
    for number, chosen in enumerate(_SETTINGS.values()):
        if all(getattr(settings, name) == value for name, value in chosen.items()):
            return number
    return _CUSTOM


def use(settings: bpy.types.PropertyGroup, number: int) -> None:
    """Change settings to those of a preset; Custom does not change them."""
    for name, value in _SETTINGS.get(ITEMS[number][0], {}).items():
        if getattr(settings, name) != value:
            setattr(settings, name, value)
