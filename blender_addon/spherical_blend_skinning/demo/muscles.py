# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that demonstrates muscles: a woman bends elbows and a knee, with muscles and without."""

from __future__ import annotations

import bpy
from mathutils import Vector

from ..bind import operators as bind
from ..muscles import making
from ..settings.properties import settings_of
from . import woman
from .woman import Pair

# What bends by how many degrees, about which axis of the armature at rest.
_BENDS = (
    ("LeftForeArm", 120.0, Vector((0.0, -1.0, 0.0))),
    ("RightForeArm", 120.0, Vector((0.0, 1.0, 0.0))),
    ("LeftLeg", 90.0, Vector((1.0, 0.0, 0.0))),
)
# The muscles that bend the elbow: they are tense in the middle of the animation.
_TENSE = ("Biceps.L", "Biceps.R", "Forearm Flexors.L", "Forearm Flexors.R")


def build(context: bpy.types.Context) -> list[Pair]:
    """Add the demonstration to the scene, in a collection of its own, and go to the frame where joints are bent.

    Raises ValueError if the character cannot be imported.
    """
    characters = woman.line_up(context, "Muscle Demo", ("Linear Blend", "Spherical Blend", "With Muscles"))
    for _, rig in characters:
        woman.set_turns(rig, _BENDS)
    for body, rig in characters[1:]:
        bind.bind(context, body, rig)
    muscled, rig = characters[-1]
    _add_muscles(rig)
    woman.show(context, [muscled])
    return characters


def _add_muscles(armature: bpy.types.Object) -> None:
    making.fit(armature)
    muscles = settings_of(armature).muscles
    settings_of(armature).muscle_row = max(0, muscles.find(_TENSE[0]))
    for muscle in muscles:
        if muscle.name in _TENSE:
            for frame, value in zip(woman.FRAMES, (0.0, 1.0, 0.0), strict=True):
                muscle.activation = value
                muscle.keyframe_insert("activation", frame=frame)
