# SPDX-License-Identifier: GPL-3.0-or-later
"""Bind meshes to armatures, and unbind them."""

from __future__ import annotations

import bpy

from ..automatic_weights import operators as automatic_weights
from ..core.binding import Binding
from ..core.blended import BlendedBinding
from ..engine.bake import bake, portable
from ..engine.live import live, registry, states
from ..engine.nodes import live_group, node_trees
from ..engine.stack import carriers, stack
from ..interface import rigged
from ..interface.action import Action
from ..interface.selection import all_meshes_property, do_to_each, hindrance, live_meshes, our_meshes
from ..interface.selection import meshes as meshes_of
from ..settings import preferences
from ..settings import rig as rig_settings
from ..settings.declared import choice, flag, text
from ..settings.given import view_layer_of
from ..settings.properties import settings_of
from ..settings.typed import Operator


def bind(
    context: bpy.types.Context,
    item: bpy.types.Object,
    armature: bpy.types.Object,
    modifier_name: str = "",
    center: str = "",
) -> states.State:
    """Bind a mesh object that has not our modifier to an armature; return its state, which may tell a problem.

    Ours replaces the Armature modifier of that name, if it is of that armature; by default the first that is. The
    rotation center, by default that of the preferences, is for the first mesh of a rig, unless the rig has one already.
    """
    center = center or preferences.default_center(context)
    if armature.pose is None:
        # An object that a script has just made gets its pose when it is first evaluated.
        view_layer_of(context).update()
    rig_settings.join(item, armature, center, preferences.get(context).spread_twist)
    modifier = stack.attach(item, armature, _armature_modifier(item, armature, modifier_name))
    registry.adjust(item, modifier)
    registry.forget()
    rig_settings.weights_made(item)
    return rebind(context, item)


def _armature_modifier(
    item: bpy.types.Object, armature: bpy.types.Object | None, name: str
) -> bpy.types.ArmatureModifier | None:
    """The Armature modifier with a name, or the first, if it is of the armature; with None, of any armature."""
    found = (modifier for modifier in stack.armature_modifiers(item) if modifier.name == name)
    return next((modifier for modifier in found if armature in (None, modifier.object)), None)


def forget_centers(item: bpy.types.Object) -> None:
    """Forget the rotation centers of an object, so that they are found anew."""
    modifier = stack.find(item)
    if modifier is None:
        return
    for name in (live_group.CARRIER, live_group.RENDER_CARRIER):
        carrier = node_trees.get_input(modifier, name)
        if carrier is not None and carriers.is_writable(carrier):
            carriers.remove_centers(carrier)


def rebind(context: bpy.types.Context, item: bpy.types.Object) -> states.State:
    """Bind an object anew by its present vertices, weights and bones."""
    states.forget(item)
    forget_centers(item)
    item.update_tag()
    # The handlers bind objects that have no state.
    depsgraph = context.evaluated_depsgraph_get()
    state = states.state_of(item) or live.update(item, depsgraph)
    return state or states.State(problem="The object is not in the view layer")


def unbind(item: bpy.types.Object) -> None:
    """Remove our modifier, live or portable, and restore the Armature modifier."""
    if portable.find(item) is not None:
        portable.detach(item)
    else:
        stack.detach(item)
    states.forget(item)
    registry.forget()


def make_parent(item: bpy.types.Object, armature: bpy.types.Object) -> None:
    """Make an armature the parent of an object without moving it."""
    place = item.matrix_world.copy()
    item.parent = armature
    item.parent_type = "OBJECT"
    item.matrix_parent_inverse = armature.matrix_world.inverted()
    item.matrix_world = place


def describe(state: states.State) -> str:
    """The result of binding for the artist, with counts."""
    return state.problem if state.binding is None else ", ".join(counts(state.binding))


def counts(binding: Binding) -> list[str]:
    """The counts of a binding."""
    skin = binding.skin
    texts = [
        f"{skin.vertex_count} vertices",
        f"{len(binding.bones)} bones",
        f"{len(skin.joint_sets)} bone combinations",
    ]
    if isinstance(binding, BlendedBinding):
        texts.append(f"{binding.blended_bone_count} bones blended with their parents")
    if skin.unweighted_vertex_count:
        texts.append(f"{skin.unweighted_vertex_count} vertices without weights stay")
    return texts


def lack(item: bpy.types.Object, state: states.State) -> str:
    """The weights that a bound object lacks to move as a whole, in words; empty if it has all."""
    if state.binding is None or not state.binding.skin.unweighted_vertex_count:
        return ""
    skin = state.binding.skin
    was = settings_of(item).armature_modifier
    if skin.unweighted_vertex_count == skin.vertex_count:
        if was.use_bone_envelopes and not was.use_vertex_groups:
            return "The Armature modifier moved it by bone envelopes, which are no weights yet"
        return "No vertex has a weight for a bone, so that nothing moves"
    return "The Armature modifier moved these by bone envelopes" if was.use_bone_envelopes else ""


class SBS_OT_bind(Action, Operator):
    bl_idname = "sbs.bind"
    bl_label = "Bind with Spherical Blend Skinning"
    bl_description = "Deform the selected meshes by spherical blend skinning in place of their Armature modifiers"

    weights: str = choice(
        "Weights",
        "Where weights come from",
        items=(("KEEP", "Vertex Groups", "Those that meshes have, named after bones"), *automatic_weights.KINDS),
        options={"SKIP_SAVE"},
    )
    fit_capsules: bool = automatic_weights.fit_property()
    modifier: str = text(
        "Modifier",
        "The Armature modifier to replace; if empty, the one of the armature",
        options={"HIDDEN", "SKIP_SAVE"},
    )
    parent: bool = flag(
        "Parent", "Make the armature the parent of the meshes, too, which stay where they are", options={"SKIP_SAVE"}
    )
    all_meshes: bool = all_meshes_property()

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        name: str = properties.modifier
        if not name:
            return cls.bl_description
        return (
            f"Deform the mesh by spherical blend skinning in place of its Armature modifier {name}, which stays, hidden"
        )

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return hindrance(context) if meshes_of(context) else "Select a mesh, and the armature that is to deform it"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "weights")
        if self.weights == "CAPSULES":
            layout.prop(self, "fit_capsules")
        layout.prop(self, "parent")

    def run(self, context: bpy.types.Context) -> str | None:
        found = self._armatures(context)
        self._report_rigid_meshes(context, is_all=not found)
        armatures = {item: armature for item, armature in found.items() if armature is not None}
        for item in found:
            if item not in armatures:
                message = f"{item.name} has no armature: select one, or give it an Armature modifier"
                self.report({"WARNING"} if armatures else {"ERROR"}, message)
        weighted = self._make_weights(armatures)
        unbound = [item for item in armatures if bake.modifier_of(item) is None]
        for item in armatures:
            if item not in unbound and not weighted:
                self.report({"WARNING"}, f"{item.name} is bound already")
        done = do_to_each(self, unbound, lambda item: self._bind_one(context, item, armatures[item]))
        active = context.object
        if armatures and (active is None or active.type not in ("MESH", "ARMATURE")):
            # As after an import, whose root is active: the next steps are those of the armature.
            view_layer_of(context).objects.active = next(iter(armatures.values()))
        return "" if done or weighted else None

    def _armatures(self, context: bpy.types.Context) -> dict[bpy.types.Object, bpy.types.Object | None]:
        """The meshes to bind, each with its armature: a selected one, or the one that it has already."""
        if self.all_meshes:
            armature = rigged.rig_of(context)
            return {item: armature for item in meshes_of(context, True) if bake.modifier_of(item) is None}
        active = context.object
        selected = [active] if active is not None and active.type == "ARMATURE" else context.selected_objects
        found = {}
        for item in meshes_of(context):
            if rigged.moves_as_a_whole(item):
                continue
            replaced = _armature_modifier(item, None, self.modifier)
            found[item] = replaced.object if replaced is not None else stack.find_armature(item, selected)
        return found

    def _report_rigid_meshes(self, context: bpy.types.Context, is_all: bool) -> None:
        """Say which of the selected meshes are not bound since they move as a whole; an error if that is all."""
        wholes = [item.name for item in meshes_of(context, self.all_meshes) if rigged.moves_as_a_whole(item)]
        if wholes:
            words = "what is a child of a bone moves with it as a whole; clear its parent to have it deformed"
            self.report({"ERROR"} if is_all else {"INFO"}, f"{', '.join(wholes)}: {words}")

    def _make_weights(self, armatures: dict[bpy.types.Object, bpy.types.Object]) -> int:
        """Make weights if the artist wants it, rig by rig; return how many meshes got some."""
        if self.weights == "KEEP":
            return 0
        for armature in set(armatures.values()):
            found = [rigged.RiggedMesh(item, armature) for item in armatures if armatures[item] == armature]
            count = automatic_weights.make(found, self.weights, self.fit_capsules)
            self.report({"INFO"}, f"Assigned weights of {count} vertices by the bones of {armature.name}")
        return len(armatures)

    def _bind_one(self, context: bpy.types.Context, item: bpy.types.Object, armature: bpy.types.Object) -> None:
        if self.parent and item.parent != armature:
            make_parent(item, armature)
        state = bind(context, item, armature, self.modifier)
        self.report({"INFO"} if state.binding else {"WARNING"}, f"{item.name}: {describe(state)}")
        if missing := lack(item, state):
            self.report({"WARNING"}, f"{item.name}: {missing}. Bind with Heat or Capsules to make weights")
        elif state.binding and preferences.get(context).engine == "PORTABLE":
            try:
                portable.make_portable(item, context.evaluated_depsgraph_get())
            except ValueError as error:
                self.report({"WARNING"}, f"Moved by the add-on, not portable as the preferences ask for: {error}")


class SBS_OT_unbind(Action, Operator):
    bl_idname = "sbs.unbind"
    bl_label = "Unbind"
    bl_description = "Remove spherical blend skinning and restore the Armature modifier"

    all_meshes: bool = all_meshes_property()

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        if not our_meshes(context):
            return "No selected object is bound with spherical blend skinning"
        return "Leave Edit Mode first" if context.object is not None and context.object.mode == "EDIT" else ""

    def run(self, context: bpy.types.Context) -> str | None:
        unbound = do_to_each(self, our_meshes(context, self.all_meshes), unbind)
        return f"Unbound {unbound} object{'s' if unbound != 1 else ''}" if unbound else None


class SBS_OT_rebind(Action, Operator):
    bl_idname = "sbs.rebind"
    bl_label = "Refresh"
    bl_description = (
        "Read vertices, weights and bones anew. Edits and brushes need no press; a script that changed them behind "
        "Blender's back may"
    )

    all_meshes: bool = all_meshes_property()

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return hindrance(context) if live_meshes(context) else "No selected object is bound and moved by the add-on"

    def run(self, context: bpy.types.Context) -> str:
        for item in live_meshes(context, self.all_meshes):
            state = rebind(context, item)
            self.report({"INFO"} if state.binding else {"WARNING"}, f"{item.name}: {describe(state)}")
        return ""


CLASSES = (SBS_OT_bind, SBS_OT_unbind, SBS_OT_rebind)
