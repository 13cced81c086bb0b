# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose probes: they make Blender pose a hidden rig.

A rig that is disabled in the viewport or in renders, itself or by its collections, is posed only if something visible
depends on it: a child, or an active Armature modifier. The probe is a mesh of one vertex in no collection with such a
modifier, and the modifier of the bound object refers to it. It costs up to a millisecond per frame.
"""

from __future__ import annotations

import bpy

from ...settings.typed import has_key, new_armature_modifier

_MARK = "sbs_pose_probe"


def new(armature: bpy.types.Object) -> bpy.types.Object:
    """A probe for an armature object."""
    probe = new_dependent(armature, new_mesh())
    probe[_MARK] = True
    return probe


def new_mesh() -> bpy.types.Mesh:
    """A mesh of one vertex."""
    mesh = bpy.data.meshes.new("SBS Pose Probe")
    mesh.vertices.add(1)
    return mesh


def new_dependent(armature: bpy.types.Object | None, mesh: bpy.types.Mesh) -> bpy.types.Object:
    """An object, in no collection, for which Blender poses an armature object."""
    item = bpy.data.objects.new("SBS Pose Probe", mesh)
    modifier = new_armature_modifier(item, "Armature")
    modifier.object = armature
    # Without vertex groups the modifier would otherwise ignore the pose.
    modifier.use_bone_envelopes = True
    return item


def is_probe(item: bpy.types.Object) -> bool:
    """Whether an object is a probe."""
    return has_key(item, _MARK)


def rig_of(probe: bpy.types.Object) -> bpy.types.Object | None:
    """The armature object that a probe is for."""
    return next((found.object for found in probe.modifiers if isinstance(found, bpy.types.ArmatureModifier)), None)


def is_needed(item: bpy.types.Object, armature: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> bool:
    """Whether an armature would not be posed for an object, in the viewport or in renders."""
    ancestor = item.parent
    while ancestor is not None:
        if ancestor == armature:
            return False
        ancestor = ancestor.parent
    return any(
        getattr(armature, hidden) or not _is_shown(armature, view_layer.layer_collection, hidden)
        for hidden in ("hide_viewport", "hide_render")
    )


def _is_shown(item: bpy.types.Object, layer: bpy.types.LayerCollection, hidden: str) -> bool:
    """Whether an object is in a collection that is enabled, with all collections above it."""
    if layer.exclude or getattr(layer.collection, hidden):
        return False
    return item.name in layer.collection.objects or any(_is_shown(item, child, hidden) for child in layer.children)
