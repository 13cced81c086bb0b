# SPDX-License-Identifier: GPL-3.0-or-later
"""Place, add, mirror and remove muscles, and select their objects."""

from __future__ import annotations

import bpy

from ..core import library
from ..engine.muscles import muscle_list
from ..interface import character, rigged
from ..interface.action import Action
from ..interface.selection import linked_reason
from ..settings.declared import choice
from ..settings.given import view_layer_of
from ..settings.muscles import PARTS
from ..settings.properties import settings_of
from ..settings.typed import Operator
from . import making


class _RigAction(Action):
    """An operator on the muscles of an armature."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        armature = rigged.rig_of(context)
        if armature is None:
            return "Select an armature, or a mesh that one moves"
        if "EDIT" in (armature.mode, context.object.mode if context.object is not None else ""):
            return "Leave Edit Mode first"
        return linked_reason(armature) or library.problem()


class _MuscleAction(_RigAction):
    """An operator on the muscle that is shown."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        if reason := super().hindrance(context):
            return reason
        armature = rigged.some_rig(context)
        rows = muscle_list.present_rows(armature)
        if not rows:
            return "There is no muscle"
        return "" if _row_shown(armature) in rows else "Choose a muscle in the list"


def _row_shown(armature: bpy.types.Object) -> int:
    settings = settings_of(armature)
    return max(0, min(settings.muscle_row, len(settings.muscles) - 1))


def _shown(context: bpy.types.Context) -> tuple[bpy.types.Object, int]:
    """The armature and the row of the muscle that is shown."""
    armature = rigged.some_rig(context)
    return armature, _row_shown(armature)


class SBS_OT_fit_muscles(_RigAction, Operator):
    bl_idname = "sbs.fit_muscles"
    bl_label = "Fit Muscles"
    bl_description = (
        "Place nine muscles on each side of a human body, by the names of its bones (Rigify, MakeHuman, Mixamo and "
        "others) and the thickness of flesh around them. Muscles of the same names are placed anew"
    )

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return super().hindrance(context) or character.hindrance(rigged.some_rig(context))

    def run(self, context: bpy.types.Context) -> str:
        return f"Muscles placed: {making.fit(rigged.some_rig(context))}"


class SBS_OT_add_muscle(_RigAction, Operator):
    bl_idname = "sbs.add_muscle"
    bl_label = "Add Muscle"
    bl_description = (
        "Add a muscle from the other selected bone to the active one, or from the parent of the active one. Then move "
        "its handles to where it begins and ends"
    )

    def run(self, context: bpy.types.Context) -> str:
        armature = rigged.some_rig(context)
        bones = _chosen(context, armature)
        if bones is None:
            raise ValueError("Select the bone that the muscle moves, in Pose Mode")
        names = {muscle.name for muscle in settings_of(armature).muscles}
        side = bpy.utils.flip_name(bones[1].name) != bones[1].name
        ending = f".{_side(bones[1].name)}" if side else ""
        name, number = f"Muscle{ending}", 1
        while name in names:
            number += 1
            name = f"Muscle {number}{ending}"
        making.between(armature, name, *bones)
        return f"{name} is added; muscles: {len(settings_of(armature).muscles)}"


def _side(bone: str) -> str:
    """L or R, as the name of a bone says."""
    name = bone.lower()
    is_left = name.startswith("left") or name.endswith("left") or name[-2:] in (".l", "_l", "-l", " l")
    return "L" if is_left or name[:2] in ("l.", "l_", "l-", "l ") else "R"


def _chosen(context: bpy.types.Context, armature: bpy.types.Object) -> tuple[bpy.types.Bone, bpy.types.Bone] | None:
    """Bones of origin and insertion, from active and selected bones."""
    active: bpy.types.PoseBone | None = context.active_pose_bone
    if active is None or active.id_data != armature:
        return None
    others = [bone for bone in context.selected_pose_bones or () if bone != active and bone.id_data == armature]
    origin = others[0] if others else active.parent or active
    return origin.bone, active.bone


class SBS_OT_remove_muscle(_MuscleAction, Operator):
    bl_idname = "sbs.remove_muscle"
    bl_label = "Remove Muscle"
    bl_description = "Remove the muscle with its belly, its handles and its keys"

    def run(self, context: bpy.types.Context) -> str:
        armature, row = _shown(context)
        muscle_list.remove(armature, row)
        muscle_list.remove_deleted(armature)
        return f"Muscles left: {len(settings_of(armature).muscles)}"


class SBS_OT_mirror_muscle(_MuscleAction, Operator):
    bl_idname = "sbs.mirror_muscle"
    bl_label = "Mirror Muscle"
    bl_description = "Have the same muscle on the other side of the armature, with bones found by their names"

    def run(self, context: bpy.types.Context) -> str:
        armature, row = _shown(context)
        name = making.mirror(armature, row)
        return f"{name} is placed; muscles: {len(settings_of(armature).muscles)}"


class SBS_OT_add_via_point(_MuscleAction, Operator):
    bl_idname = "sbs.add_via_point"
    bl_label = "Add Via Point"
    bl_description = "Add a point that draws the path of the muscle towards itself; a muscle has at most two"

    def run(self, context: bpy.types.Context) -> str:
        return f"Points of the path: {making.place_via(*_shown(context))}"


class SBS_OT_select_muscle(_MuscleAction, Operator):
    bl_idname = "sbs.select_muscle"
    bl_label = "Select"
    bl_description = "Select this object of the muscle, to move it with Blender's own tools"

    part: str = choice(
        "Part",
        "Which object of the muscle",
        items=[(part, part.replace("_", " ").title(), "") for part in (*PARTS, "belly")],
        options={"SKIP_SAVE"},
    )

    def run(self, context: bpy.types.Context) -> str:
        armature, row = _shown(context)
        item = muscle_list.present_part(armature, row, self.part)
        objects = view_layer_of(context).objects
        if item is None or item.name not in objects:
            raise ValueError("It is not in the view layer")
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.selected_objects:
            other.select_set(False)
        item.hide_set(False)
        item.select_set(True)
        objects.active = item
        return f"1 object selected: {item.name}"


CLASSES = (
    SBS_OT_fit_muscles,
    SBS_OT_add_muscle,
    SBS_OT_remove_muscle,
    SBS_OT_mirror_muscle,
    SBS_OT_add_via_point,
    SBS_OT_select_muscle,
)
