# SPDX-License-Identifier: GPL-3.0-or-later
"""Binding meshes to armatures, and back."""

from __future__ import annotations

import bpy

from .. import preferences
from ..engine import carriers, live, live_group, node_trees, portable, registry, stack
from .selection import do_to_each, hindrance, live_meshes, our_meshes, refuse

__all__ = ["CLASSES", "bind", "counts", "describe", "make_parent", "rebind", "unbind"]


def bind(
    context: bpy.types.Context,
    item: bpy.types.Object,
    armature: bpy.types.Object,
    modifier_name: str = "",
    center: str = "",
) -> live.State:
    """Bind a mesh object to an armature.

    Parameters
    ----------
    context : Context
    item : Object
        A mesh without the modifier.
    armature : Object
    modifier_name : str
        The Armature modifier whose place ours takes; by default the one of that armature.
    center : str
        What vertices turn about if that is not chosen for the object; by default what the preferences say.

    Returns
    -------
    State
        With the binding, or a problem in words.
    """
    if not item.sbs.is_property_set("center"):
        # Files from before, in which it is not set, stay with what was the default then: that of the property.
        item.sbs.center = center or preferences.center_of_new(context)
    armature_modifier = item.modifiers.get(modifier_name)
    stack.attach(item, armature, armature_modifier)
    registry.adjust(item, stack.find(item))
    registry.forget()
    return rebind(context, item)


def forget_centers(item: bpy.types.Object) -> None:
    """Have the rotation centers of an object found anew."""
    modifier = stack.find(item)
    for name in (live_group.CARRIER, live_group.RENDER_CARRIER):
        carrier = node_trees.get_input(modifier, name)
        if carrier is not None and carriers.is_writable(carrier):
            carriers.keep_centers(carrier, None)


def rebind(context: bpy.types.Context, item: bpy.types.Object) -> live.State:
    """Bind an object anew by its vertices, weights and bones as they are."""
    live.forget(item)
    forget_centers(item)
    item.update_tag()
    # The handlers bind what they know nothing of.
    depsgraph = context.evaluated_depsgraph_get()
    state = live.state_of(item) or live.update(item, depsgraph)
    return state or live.State(problem="The object is not in the view layer")


def unbind(item: bpy.types.Object) -> None:
    """Take the modifier away, live or portable; the Armature modifier is again what it was."""
    if portable.find(item) is not None:
        portable.detach(item)
    else:
        stack.detach(item)
    live.forget(item)
    registry.forget()


def make_parent(item: bpy.types.Object, armature: bpy.types.Object) -> None:
    """Make an armature the parent of an object, which stays where it is."""
    place = item.matrix_world.copy()
    item.parent = armature
    item.parent_type = "OBJECT"
    item.matrix_parent_inverse = armature.matrix_world.inverted()
    item.matrix_world = place


def describe(state: live.State) -> str:
    """What came of binding, with counts."""
    return state.problem if state.binding is None else ", ".join(counts(state))


def counts(state: live.State) -> list[str]:
    """What was bound."""
    skin = state.binding.skin
    texts = [f"{skin.vertex_count} vertices", f"{len(state.binding.bones)} bones", f"{len(skin.joint_sets)} joint sets"]
    if state.binding.blends:
        texts.append(f"{state.binding.blended_bone_count} bones blended with their parents")
    if skin.unweighted_vertex_count:
        texts.append(f"{skin.unweighted_vertex_count} vertices without weights stay")
    return texts


class SBS_OT_bind(bpy.types.Operator):
    bl_idname = "sbs.bind"
    bl_label = "With Spherical Blend Skinning"
    bl_description = "Deform the mesh by spherical blend skinning in place of its Armature modifier"
    bl_options = {"REGISTER", "UNDO"}

    modifier: bpy.props.StringProperty(
        name="Modifier",
        description="The Armature modifier to replace; if empty, the one of the armature",
        options={"HIDDEN", "SKIP_SAVE"},
    )
    parent: bpy.props.BoolProperty(
        name="Parent",
        description="Make the armature the parent of the mesh, too, which stays where it is",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = context.object
        if item is None or (
            item.type != "MESH" and not any(other.type == "MESH" for other in context.selected_objects)
        ):
            return refuse(cls, "Select a mesh, and the armature that is to deform it")
        if reason := hindrance(context):
            return refuse(cls, reason)
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        armatures = dict(_pairs(context))

        def bind_one(item: bpy.types.Object) -> None:
            armature = armatures[item]
            if armature is None:
                raise ValueError(f"{item.name} has no armature: select one, or give it an Armature modifier")
            if self.parent and item.parent != armature:
                make_parent(item, armature)
            state = bind(context, item, armature, self.modifier)
            self.report({"INFO"} if state.binding else {"WARNING"}, f"{item.name}: {describe(state)}")
            if state.binding and preferences.get(context).engine == "PORTABLE":
                try:
                    portable.make_portable(item, context.evaluated_depsgraph_get())
                except ValueError as error:
                    self.report({"WARNING"}, f"Bound live, not portable as the preferences ask for: {error}")

        unbound = []
        for item in armatures:
            if stack.find(item) is None:
                unbound.append(item)
            else:
                self.report({"WARNING"}, f"{item.name} is bound already")
        return {"FINISHED"} if do_to_each(self, unbound, bind_one) else {"CANCELLED"}


def _pairs(context: bpy.types.Context) -> list[tuple[bpy.types.Object, bpy.types.Object | None]]:
    """The meshes to bind, each with its armature.

    That is the active mesh; where an armature is active, as for parenting, the selected meshes.
    """
    active = context.object
    if active.type == "MESH":
        others = [item for item in context.selected_objects if item != active]
        return [(active, stack.find_armature(active, others))]
    meshes = [item for item in context.selected_objects if item.type == "MESH"]
    return [(item, stack.find_armature(item, [active])) for item in meshes]


class SBS_OT_unbind(bpy.types.Operator):
    bl_idname = "sbs.unbind"
    bl_label = "Unbind"
    bl_description = "Remove spherical blend skinning; the Armature modifier is again as it was before"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not our_meshes(context):
            return refuse(cls, "No selected object is bound with spherical blend skinning")
        if context.object is not None and context.object.mode == "EDIT":
            return refuse(cls, "Leave Edit Mode first")
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        unbound = do_to_each(self, our_meshes(context), unbind)
        if unbound:
            self.report({"INFO"}, f"Unbound {unbound} object{'s' if unbound != 1 else ''}")
        return {"FINISHED"} if unbound else {"CANCELLED"}


class SBS_OT_rebind(bpy.types.Operator):
    bl_idname = "sbs.rebind"
    bl_label = "Rebind"
    bl_description = "Bind anew by vertices, weights and bones as they are now"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not live_meshes(context):
            return refuse(cls, "No selected object is bound and live")
        if reason := hindrance(context):
            return refuse(cls, reason)
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        for item in live_meshes(context):
            state = rebind(context, item)
            self.report({"INFO"} if state.binding else {"WARNING"}, f"{item.name}: {describe(state)}")
        return {"FINISHED"}


CLASSES = (SBS_OT_bind, SBS_OT_unbind, SBS_OT_rebind)
