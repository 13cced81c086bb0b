# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties that several operators and settings share."""

from __future__ import annotations

from typing import Any

from .choices import CAPSULE_FALLOFFS, CAPSULE_OUTSIDES
from .declared import choice, integer, real


def factor(name: str, description: str, default: float = 1.0, **options: Any) -> float:
    """A number from 0 to 1; `options` are those of `bpy.props.FloatProperty`."""
    return real(name, description, default=default, min=0.0, max=1.0, subtype="FACTOR", **options)


def limit(
    default: int,
    description: str = "Leave a vertex weights of so many bones at most, the heaviest; 0 for all",
    name: str = "Weights per Vertex",
    **options: Any,
) -> int:
    """A number of bones per vertex; `options` are those of `bpy.props.IntProperty`."""
    return integer(name, description, default=default, min=0, soft_max=8, **options)


def falloff() -> str:
    """How weights of capsules fall."""
    return choice("Falloff", "How a weight falls from the inner capsule to the outer one", items=CAPSULE_FALLOFFS)


def outside() -> str:
    """How vertices outside of all capsules move."""
    return choice("Vertices Outside", "Weights of vertices that are in no capsule", items=CAPSULE_OUTSIDES)
