# SPDX-License-Identifier: GPL-3.0-or-later
"""Sculpt Corrective, Accept and Cancel, and operators on the correctives of a list."""

from __future__ import annotations

import math

import bpy

from ..engine.bake import bake
from ..engine.correctives import broken, correctives
from ..engine.correctives.correctives import Corrective
from ..interface import character, rigged
from ..interface.action import Action
from ..interface.selection import hindrance, linked_reason, our_meshes
from ..settings import libraries
from ..settings.declared import text
from ..settings.given import evaluated, manager_of, view_layer_of
from ..settings.properties import settings_of
from ..settings.typed import Operator, block_of_key, mesh_of
from . import drafting, sculpt


def mesh_to_sculpt(context: bpy.types.Context) -> bpy.types.Object | None:
    """The bound mesh that is meant: the active or the selected one, or the only one of the active rig."""
    found = our_meshes(context)
    return context.object if context.object in found else found[0] if len(found) == 1 else None


def _some_mesh(context: bpy.types.Context) -> bpy.types.Object:
    """The mesh of `mesh_to_sculpt`; a ValueError says that there is none."""
    item = mesh_to_sculpt(context)
    if item is None:
        raise ValueError("Select one mesh that is deformed by spherical blend skinning")
    return item


def _mesh_hindrance(context: bpy.types.Context, to_change: bool = True) -> str:
    """Why the correctives of a mesh cannot be changed, or not even posed; empty if they can."""
    try:
        item = _some_mesh(context)
    except ValueError as error:
        return hindrance(context) or str(error)
    return hindrance(context) or (libraries.hindrance([item]) if to_change else linked_reason(item))


def _some_sculpt(context: bpy.types.Context) -> sculpt.Sculpt:
    """The present sculpt; a ValueError says that there is none."""
    now = sculpt.present(context)
    if now is None:
        raise ValueError("Nothing is sculpted in a pose")
    return now


class SBS_OT_sculpt_corrective(Action, Operator):
    bl_idname = "sbs.sculpt_corrective"
    bl_label = "Sculpt Corrective"
    bl_description = (
        "Sculpt the mesh as it is in this pose. When it is accepted, it becomes a shape key that the pose drives"
    )

    number: str = text(options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return sculpt.hindrance() or _mesh_hindrance(context)

    def run(self, context: bpy.types.Context) -> str:
        item = _some_mesh(context)
        if self.number:
            corrective = _numbered(item, self.number)
            correctives.check_rig(item, corrective)
            _go_to_pose(self, context, corrective)
        surface = sculpt.begin(context, item, self.number).surface
        return f"Sculpt the {len(mesh_of(surface).vertices)} vertices of {item.name} as they should look, and accept"


class SBS_OT_accept_corrective(Action, Operator):
    bl_idname = "sbs.accept_corrective"
    bl_label = "Accept Corrective"
    bl_description = "Make a shape key of what was sculpted, driven by the bone that is bent here"

    bone: str = text("Bone", "The bone that drives it. None: the bent one of what was sculpted")
    key_name: str = text("Name", "Of the shape key. None: that of the bone and its angle")

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        now = sculpt.present(context)
        return "Nothing is sculpted in a pose" if now is None else hindrance(context) or libraries.hindrance([now.item])

    def run(self, context: bpy.types.Context) -> str:
        now = _some_sculpt(context)
        item, view_layer = now.item, view_layer_of(context)
        is_sculpting = now.surface.mode == "SCULPT"
        sculpt.pause(context, now, is_repeated=self.options.is_repeat)
        try:
            vertices, places = now.moved()
            item.hide_set(False)
            with now.in_its_pose(view_layer):
                if now.number:
                    corrective = _numbered(item, now.number)
                    solved = correctives.replace(item, corrective, vertices, places, view_layer)
                else:
                    armature = bake.armature_of(item)
                    if armature is None:
                        raise ValueError(f"{item.name} has no armature")
                    depsgraph = evaluated(view_layer)
                    bone = self.bone or correctives.choose_bone(item, armature, vertices, depsgraph)
                    if armature.pose is None or bone not in armature.pose.bones:
                        raise ValueError(f"{armature.name} has no bone {bone}")
                    _axis, swing = correctives.swing_of(item, armature, bone, depsgraph)
                    degrees = round(math.degrees(math.hypot(*swing)))
                    name = self.key_name or f"{bone} {degrees}"
                    corrective, solved = correctives.add(item, armature, bone, name, vertices, places, view_layer)
        except ValueError:
            item.hide_set(True)
            if is_sculpting:
                sculpt.resume(context, now)
            raise
        sculpt.end(context, now)
        settings_of(item).corrective_row = block_of_key(corrective.key).key_blocks.find(corrective.key.name)
        if solved.missed:
            self.report(
                {"WARNING"},
                f"{solved.missed} vertices are crushed in this pose, and as near to what was sculpted as can be",
            )
        return (
            f"{corrective.key.name}: {len(vertices)} vertices, driven by {corrective.bone}, "
            f"met within {solved.error:.1g} of the size"
        )


class SBS_OT_cancel_corrective(Action, Operator):
    bl_idname = "sbs.cancel_corrective"
    bl_label = "Cancel Corrective"
    bl_description = "Forget what was sculpted in this pose"

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return "" if sculpt.present(context) is not None else "Nothing is sculpted in a pose"

    def run(self, context: bpy.types.Context) -> str:
        now = _some_sculpt(context)
        sculpt.pause(context, now, is_repeated=self.options.is_repeat)
        sculpt.end(context, now)
        return f"{now.item.name} is as before: {len(mesh_of(now.item).vertices)} vertices"


class _OfList(Action):
    """An operator on one corrective of the active mesh, or on all."""

    number: str = text(options={"HIDDEN", "SKIP_SAVE"})
    changes_mesh = True

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        reason = _mesh_hindrance(context, cls.changes_mesh)
        return reason or ("" if correctives.find(_some_mesh(context)) else "It has no correctives")

    def chosen(self, context: bpy.types.Context) -> tuple[bpy.types.Object, list[Corrective]]:
        """The mesh, and the corrective of the number, or all without one."""
        item = _some_mesh(context)
        return item, [_numbered(item, self.number)] if self.number else correctives.find(item)


class SBS_OT_go_to_corrective(_OfList, Operator):
    bl_idname = "sbs.go_to_corrective"
    bl_label = "Go to Pose"
    bl_description = "Bend the bone as in the pose of this corrective"

    changes_mesh = False

    def run(self, context: bpy.types.Context) -> str:
        corrective = self.chosen(context)[1][0]
        is_there = _go_to_pose(self, context, corrective)
        return f"{corrective.bone} is bent by {corrective.degrees:.0f}°" if is_there else ""


class SBS_OT_mirror_corrective(_OfList, Operator):
    bl_idname = "sbs.mirror_corrective"
    bl_label = "Mirror Corrective"
    bl_description = "Make it for the other side, too: across x of the armature, and by the names of the bones"

    def run(self, context: bpy.types.Context) -> str:
        item, chosen = self.chosen(context)
        for corrective in chosen:
            sculpted = {each.number for each in correctives.find(item) if each.has_target}
            made, missing = correctives.mirror(item, corrective)
            if made.number in sculpted:
                self.report(
                    {"WARNING"},
                    f"{made.key.name} was sculpted, and is now the mirror image of {corrective.key.name}: "
                    "undo this to keep the sculpt",
                )
            if missing:
                self.report({"WARNING"}, f"{missing} vertices of {made.key.name} have none on the other side")
        return f"Mirrored {len(chosen)} corrective{'s' if len(chosen) != 1 else ''}"


class SBS_OT_solve_correctives(_OfList, Operator):
    bl_idname = "sbs.solve_correctives"
    bl_label = "Solve Again"
    bl_description = "Meet again what was sculpted, after weights, bones or the method have changed"

    def run(self, context: bpy.types.Context) -> str:
        item, chosen = self.chosen(context)
        sculpted = [corrective for corrective in chosen if corrective.has_target]
        if not sculpted:
            raise ValueError("None of these has a target: they were mirrored, or drafted for several bones together")
        solved, refused = [], []
        for each in sculpted:
            try:
                solved.append(correctives.solve_again(item, each, view_layer_of(context)))
            except ValueError as error:
                refused.append(f"{each.key.name} is as it was: {error}")
        if not solved:
            raise ValueError("; ".join(refused))
        for reason in refused:
            self.report({"WARNING"}, reason)
        missed = sum(each.missed for each in solved)
        if missed:
            self.report({"WARNING"}, f"{missed} vertices are crushed in these poses, and as near as can be")
        return f"Solved {len(solved)}, met within {max(each.error for each in solved):.1g} of the size"


class SBS_OT_draft_correctives(Action, Operator):
    bl_idname = "sbs.draft_correctives"
    bl_label = "Draft Correctives"
    bl_description = (
        "Let the skin relax around the elbows, knees and other hinges that are bent in this pose, and make shape keys "
        "of it that the bones drive. This takes some seconds; they can be edited like those that are sculpted"
    )

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        armature = rigged.rig_of(context)
        if armature is None or not our_meshes(context, all_meshes=True):
            return "Select a mesh that is deformed by spherical blend skinning, or its armature"
        return hindrance(context) or drafting.hindrance(armature) or character.hindrance(armature)

    def run(self, context: bpy.types.Context) -> str:
        armature, manager = rigged.some_rig(context), manager_of(context)
        manager.progress_begin(0.0, 1.0)
        try:
            made = drafting.draft(armature, view_layer_of(context), manager.progress_update)
        finally:
            manager.progress_end()
        for reason in made.refused:
            self.report({"WARNING"}, f"{reason}. Meshes over it or below may come through it")
        for reason, names in made.left.items():
            self.report({"WARNING"}, f"{len(names)} left out, {', '.join(names)}. {reason}")
        return f"Drafted {made.keys} shape keys for {armature.name}"


class SBS_OT_remove_corrective(_OfList, Operator):
    bl_idname = "sbs.remove_corrective"
    bl_label = "Remove Corrective"
    bl_description = "Delete it with its shape key and its drivers"

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        reason = _mesh_hindrance(context)
        return reason or ("" if broken.find(_some_mesh(context)) else super().hindrance(context))

    def run(self, context: bpy.types.Context) -> str:
        item = _some_mesh(context)
        lost = next((each for each in broken.find(item) if each.number == self.number), None)
        if lost is not None:
            name = lost.key.name
            broken.remove(item, lost)
            return f"Removed the broken {name}"
        item, chosen = self.chosen(context)
        for corrective in chosen:
            correctives.remove(item, corrective)
        return f"Removed {len(chosen)} corrective{'s' if len(chosen) != 1 else ''}"


def _go_to_pose(operator: Operator, context: bpy.types.Context, corrective: Corrective) -> bool:
    """Bend the bone of a corrective as in its pose; return whether it gets there, and else report why not."""
    correctives.go_to_pose(corrective)
    reason = correctives.held_back(corrective, evaluated(view_layer_of(context)))
    if reason:
        operator.report({"WARNING"}, reason)
    return not reason


def _numbered(item: bpy.types.Object, number: str) -> Corrective:
    found = next((each for each in correctives.find(item) if each.number == number), None)
    if found is None:
        raise ValueError(f"{item.name} has lost this corrective: its shape key or its bone was deleted")
    return found


CLASSES = (
    SBS_OT_sculpt_corrective,
    SBS_OT_accept_corrective,
    SBS_OT_cancel_corrective,
    SBS_OT_go_to_corrective,
    SBS_OT_mirror_corrective,
    SBS_OT_solve_correctives,
    SBS_OT_remove_corrective,
    SBS_OT_draft_correctives,
)
HANDLERS = sculpt.HANDLERS
KEYS: tuple[object, ...] = tuple(
    (keymap, SBS_OT_sculpt_corrective.bl_idname, "K", {"ctrl": True, "shift": True}, {})
    for keymap in ("Pose", "Object Mode", "Sculpt")
)
