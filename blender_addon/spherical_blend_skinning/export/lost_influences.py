# SPDX-License-Identifier: GPL-3.0-or-later
"""Influences of bones that an exporter leaves out, for the artist: Blender's for glTF writes four unless told."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..core import influences
from ..engine import reading
from ..engine.bake import bake
from ..settings.typed import armature_data


def describe(operator: Any) -> str:
    """Influences of bound meshes that an exporter's options lose, and a remedy; empty if none."""
    if getattr(operator, "export_all_influences", True):
        return ""
    # Blender 3.4 has no choice of the number.
    written = getattr(operator, "export_influence_nb", 4)
    counts = {item.name: _most(item) for item in bpy.data.objects if item.type == "MESH"}
    lost = [f"{name} ({count})" for name, count in counts.items() if count > written]
    if not lost:
        return ""
    return (
        f"Written are the heaviest {written} bones of each vertex; some follow more: {', '.join(lost)}. To write all, "
        f"tick the option of the export for all bone influences; to see what is written, set Limit to {written}"
    )


def _most(item: bpy.types.Object) -> int:
    """How many bones move a vertex of a bound mesh at most."""
    armature = bake.armature_of(item) if bake.modifier_of(item) is not None else None
    if armature is None:
        return 0
    bones = armature_data(armature).bones
    names = [group.name for group in item.vertex_groups]
    groups = [0 if name in bones and bones[name].use_deform else -1 for name in names]
    _, weights = influences.influences(reading.vertex_weights(item), np.array(groups, np.int32))
    return int(np.count_nonzero(weights, axis=1).max(initial=0))
