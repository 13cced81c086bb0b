# SPDX-License-Identifier: GPL-3.0-or-later
"""Place, add, mirror and remove muscles, and select their objects."""

from __future__ import annotations

import bpy

from ..core import library
from ..engine import deleted_muscles, muscle_list
from ..interface import character, rigged
from ..interface.selection import allow, refuse
from ..settings.declared import choice
from ..settings.given import view_layer_of
from ..settings.muscles import PARTS
from ..settings.typed import Operator, OperatorMixin, Result, settings_of
from . import making

__all__ = ["CLASSES"]


def _hindrance(context: bpy.types.Context) -> str:
    """Why muscles cannot be changed; empty if they can."""
    armature = rigged.rig_of(context)
    if armature is None:
        return "Select an armature, or a mesh that one moves"
    if armature.library is not None:
        return f"{armature.name} belongs to a library; make a library override of it"
    if context.object.mode == "EDIT" or armature.mode == "EDIT":
        return "Leave Edit Mode first"
    return library.problem()


class _OfRig(OperatorMixin):
    """An operator on the muscles of an armature."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return allow(cls, _hindrance(context))


class _OfMuscle(_OfRig):
    """An operator on the muscle that is shown."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        armature = rigged.rig_of(context)
        rows = deleted_muscles.present_rows(armature) if armature is not None else []
        if armature is None or not rows:
            return refuse(cls, "There is no muscle")
        if _row_shown(armature) not in rows:
            return refuse(cls, "Choose a muscle in the list")
        return True


def _row_shown(armature: bpy.types.Object) -> int:
    settings = settings_of(armature)
    return max(0, min(settings.muscle_row, len(settings.muscles) - 1))


def _shown(context: bpy.types.Context) -> tuple[bpy.types.Object, int]:
    """The armature and the row of the muscle that is shown."""
    armature = rigged.rig_of(context)
    assert armature is not None
    return armature, _row_shown(armature)


class SBS_OT_fit_muscles(_OfRig, Operator):
    bl_idname = "sbs.fit_muscles"
    bl_label = "Fit Muscles"
    bl_description = (
        "Place nine muscles on each side of a human body, by the names of its bones (Rigify, MakeHuman, Mixamo and "
        "others) and the thickness of flesh around them. Muscles of the same names are placed anew"
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        armature = rigged.rig_of(context)
        return super().poll(context) and armature is not None and allow(cls, character.hindrance(armature))

    def execute(self, context: bpy.types.Context) -> Result:
        armature = rigged.rig_of(context)
        assert armature is not None
        try:
            count = making.fit(armature)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Muscles placed: {count}")
        return {"FINISHED"}


class SBS_OT_add_muscle(_OfRig, Operator):
    bl_idname = "sbs.add_muscle"
    bl_label = "Add Muscle"
    bl_description = (
        "Add a muscle from the other selected bone to the active one, or from the parent of the active one. Then move "
        "its handles to where it begins and ends"
    )

    def execute(self, context: bpy.types.Context) -> Result:
        armature = rigged.rig_of(context)
        assert armature is not None
        bones = _chosen(context, armature)
        if bones is None:
            self.report({"ERROR"}, "Select the bone that the muscle moves, in Pose Mode")
            return {"CANCELLED"}
        names = {muscle.name for muscle in settings_of(armature).muscles}
        side = bpy.utils.flip_name(bones[1].name) != bones[1].name
        ending = f".{_side(bones[1].name)}" if side else ""
        name, number = f"Muscle{ending}", 1
        while name in names:
            number += 1
            name = f"Muscle {number}{ending}"
        making.between(armature, name, *bones)
        self.report({"INFO"}, f"{name} is added; muscles: {len(settings_of(armature).muscles)}")
        return {"FINISHED"}


def _side(bone: str) -> str:
    """L or R, as the name of a bone says."""
    name = bone.lower()
    is_left = name.startswith("left") or name.endswith("left") or name[-2:] in (".l", "_l", "-l", " l")
    return "L" if is_left or name[:2] in ("l.", "l_", "l-", "l ") else "R"


def _chosen(context: bpy.types.Context, armature: bpy.types.Object) -> tuple[bpy.types.Bone, bpy.types.Bone] | None:
    """The bones of origin and insertion, by what is active and selected."""
    active: bpy.types.PoseBone | None = context.active_pose_bone
    if active is None or active.id_data != armature:
        return None
    others = [bone for bone in context.selected_pose_bones or () if bone != active and bone.id_data == armature]
    origin = others[0] if others else active.parent or active
    return origin.bone, active.bone


class SBS_OT_remove_muscle(_OfMuscle, Operator):
    bl_idname = "sbs.remove_muscle"
    bl_label = "Remove Muscle"
    bl_description = "Remove the muscle with its belly, its handles and its keys"

    def execute(self, context: bpy.types.Context) -> Result:
        armature, row = _shown(context)
        try:
            muscle_list.remove(armature, row)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        muscle_list.remove_deleted(armature)
        self.report({"INFO"}, f"Muscles left: {len(settings_of(armature).muscles)}")
        return {"FINISHED"}


class SBS_OT_mirror_muscle(_OfMuscle, Operator):
    bl_idname = "sbs.mirror_muscle"
    bl_label = "Mirror Muscle"
    bl_description = "Have the same muscle on the other side of the armature, with bones found by their names"

    def execute(self, context: bpy.types.Context) -> Result:
        armature, row = _shown(context)
        try:
            name = making.mirror(armature, row)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{name} is placed; muscles: {len(settings_of(armature).muscles)}")
        return {"FINISHED"}


class SBS_OT_add_via_point(_OfMuscle, Operator):
    bl_idname = "sbs.add_via_point"
    bl_label = "Add Via Point"
    bl_description = "Add a point that draws the path of the muscle towards itself; a muscle has at most two"

    def execute(self, context: bpy.types.Context) -> Result:
        try:
            count = making.place_via(*_shown(context))
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Points of the path: {count}")
        return {"FINISHED"}


class SBS_OT_select_muscle(_OfMuscle, Operator):
    bl_idname = "sbs.select_muscle"
    bl_label = "Select"
    bl_description = "Select this object of the muscle, to move it with Blender's own tools"

    part: str = choice(
        name="Part",
        description="Which object of the muscle",
        items=[(part, part.replace("_", " ").title(), "") for part in (*PARTS, "belly")],
        options={"SKIP_SAVE"},
    )

    def execute(self, context: bpy.types.Context) -> Result:
        armature, row = _shown(context)
        item = deleted_muscles.part_of(armature, row, self.part)
        objects = view_layer_of(context).objects
        if item is None or item.name not in objects:
            self.report({"ERROR"}, "It is not in the view layer")
            return {"CANCELLED"}
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.selected_objects:
            other.select_set(False)
        item.hide_set(False)
        item.select_set(True)
        objects.active = item
        self.report({"INFO"}, f"1 object selected: {item.name}")
        return {"FINISHED"}


CLASSES = (
    SBS_OT_fit_muscles,
    SBS_OT_add_muscle,
    SBS_OT_remove_muscle,
    SBS_OT_mirror_muscle,
    SBS_OT_add_via_point,
    SBS_OT_select_muscle,
)
