# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that demonstrates the add-on: a woman twists her arm, by linear and by spherical blending, and spread."""

from __future__ import annotations

import bpy

from ..bind import operators as bind
from ..settings.properties import settings_of
from ..settings.typed import armature_data
from . import woman
from .woman import Pair

_BONE = "LeftForeArm"
_DEGREES = 170.0


def build(context: bpy.types.Context) -> list[Pair]:
    """Add the demo to the scene, in a collection of its own, and go to the frame where the arm is twisted.

    Raises ValueError if the character cannot be imported.
    """
    titles = ("Linear Blend", "Spherical Blend", "Spread Twist")
    characters = woman.line_up(context, "Spherical Blend Skinning Demo", titles)
    for _, rig in characters:
        bone = armature_data(rig).bones[_BONE]
        woman.set_turns(rig, [(_BONE, _DEGREES, bone.children[0].head_local - bone.head_local)])
    for (body, rig), spreads in zip(characters[1:], (False, True), strict=True):
        settings_of(rig).spread_twist = spreads
        bind.bind(context, body, rig)
    woman.show(context, [body for body, _ in characters])
    return characters
