# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones are blended with their parents, and in which zones."""

from __future__ import annotations

import bpy
import numpy as np

from ..core.blended import BlendedBinding
from ..engine.live import states
from ..interface import rigged
from ..interface.action import Action
from ..settings import libraries
from ..settings.declared import flag
from ..settings.given import pose_of
from ..settings.properties import settings_of_bone
from ..settings.typed import Operator


class SBS_OT_mark_bones(Action, Operator):
    bl_idname = "sbs.mark_bones"
    bl_label = "Mark Selected Bones"
    bl_description = "Mark the selected bones for bones blending, or remove their marks"

    mark: bool = flag("Mark", "Otherwise marks are removed", default=True)

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        found = rigged.find(context)
        if not found:
            return "Select a mesh with an armature, or an armature that moves a mesh"
        armature = found[0].armature
        return "Leave Edit Mode first" if armature.mode == "EDIT" else libraries.hindrance([armature])

    def run(self, context: bpy.types.Context) -> str:
        mesh = rigged.find(context)[0]
        chosen = rigged.some_selected_bones(mesh)
        for bone, is_chosen in zip(mesh.bones, chosen, strict=True):
            if is_chosen and settings_of_bone(bone).bones_blending != self.mark:
                settings_of_bone(bone).bones_blending = self.mark
        marked = sum(settings_of_bone(bone).bones_blending for bone in mesh.bones)
        return f"{marked} of {len(mesh.bones)} bones are marked for bones blending"


class SBS_OT_fit_zones(Action, Operator):
    bl_idname = "sbs.fit_zones"
    bl_label = "Fit Bends"
    bl_description = (
        "Bend each selected bone, or each of all if none is selected, over several lengths. The one that stretches and "
        "folds the surface least becomes the bone's own"
    )

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        found = rigged.find(context)
        if problem := rigged.hindrance(context) or libraries.hindrance(mesh.armature for mesh in found):
            return problem
        return "" if any(_binding(mesh) for mesh in found) else "Choose the method Bones Blending first"

    def run(self, context: bpy.types.Context) -> str:
        found: dict[int, tuple[float, float]] = {}
        meshes = rigged.find(context)
        armature = meshes[0].armature
        bones = pose_of(armature).bones
        for mesh in meshes:
            binding = _binding(mesh)
            if binding is None:
                continue
            selected = rigged.selected_bones(mesh)
            names = np.array(mesh.names)[selected | ~selected.any()]
            chosen = np.isin(binding.rig.names, names)
            # Of several meshes the first that a bone bends decides.
            found = binding.fitted_zones(mesh.triangles, chosen) | found
        for place, (start, end) in found.items():
            own = settings_of_bone(bones[place].bone)
            # The start may push the end, but not the end the start.
            own.t_min, own.t_max, own.own_zone = start, end, True
        if not found:
            raise ValueError("No mesh blends a selected bone with its parent")
        return f"Fitted the bends of {len(found)} of {len(meshes[0].names)} bones"


def _binding(mesh: rigged.RiggedMesh) -> BlendedBinding | None:
    state = states.state_of(mesh.item)
    binding = state and state.binding
    return binding if isinstance(binding, BlendedBinding) else None


CLASSES = (SBS_OT_mark_bones, SBS_OT_fit_zones)
