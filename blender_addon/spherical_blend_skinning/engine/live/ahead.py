# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of the next frame, for simulations.

Blender calls handlers after a frame is evaluated, with its simulations. Cloth after our modifier, or cloth that touches
a bound mesh, would then be simulated with the pose of the frame before. So if there are simulations, rigs are posed
earlier, in a separate scene that contains only a probe for each bound mesh. The probe depends on all bones of the rig
and on the place of the mesh, but not on the shape of the mesh, so that nothing is simulated there. The scene is never
saved.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import bpy

from ...settings.given import evaluated
from ...settings.properties import settings_of
from ...settings.typed import has_key, mesh_of
from . import probes

_NAME = ".SBS Poses"
_MARK = "sbs_poses"
# Types of modifiers that simulate.
_SIMULATIONS = frozenset(["CLOTH", "DYNAMIC_PAINT", "FLUID", "PARTICLE_SYSTEM", "SOFT_BODY"])

# Whether a scene, by its address, has simulations; valid until something is edited.
_known: tuple[int, bool] | None = None


def forget() -> None:
    """Forget which scenes have simulations, because something may have changed."""
    global _known
    _known = None


def is_wanted(scene: bpy.types.Scene) -> bool:
    """Whether a scene has simulations."""
    global _known
    place = scene.as_pointer()
    if _known is None or _known[0] != place:
        _known = (place, _simulates(scene))
    return _known[1]


def _simulates(scene: bpy.types.Scene) -> bool:
    if has_key(scene, _MARK):
        return False
    world = scene.rigidbody_world
    if world is not None and world.enabled and world.collection is not None and len(world.collection.objects):
        return True
    trees: dict[bpy.types.NodeTree, bool] = {}
    for item in scene.objects:
        for modifier in item.modifiers:
            if modifier.type in _SIMULATIONS or (
                isinstance(modifier, bpy.types.NodesModifier) and _has_zone(modifier.node_group, trees)
            ):
                return True
    return False


def _has_zone(tree: bpy.types.NodeTree | None, known: dict[bpy.types.NodeTree, bool]) -> bool:
    """Whether a node group has a simulation zone, itself or in another group."""
    if tree is None:
        return False
    if tree not in known:
        known[tree] = False
        known[tree] = any(
            node.bl_idname == "GeometryNodeSimulationOutput" or _has_zone(getattr(node, "node_tree", None), known)
            for node in tree.nodes
        )
    return known[tree]


def depsgraph(scene: bpy.types.Scene, items: Iterable[bpy.types.Object]) -> bpy.types.Depsgraph:
    """The dependency graph with the poses and places of bound objects in the current frame of a scene."""
    poses = _find() or _new()
    _provide_probes(poses, items)
    for name in ("frame_map_old", "frame_map_new"):
        if getattr(poses.render, name) != getattr(scene.render, name):
            setattr(poses.render, name, getattr(scene.render, name))
    # Not by `frame_set`, which would call the handlers of scripts for this extra frame.
    poses.frame_current = scene.frame_current
    poses.frame_subframe = scene.frame_subframe
    return evaluated(poses.view_layers[0])


def remove() -> None:
    """Remove the scene with its probes, if there is one."""
    poses = _find()
    if poses is None:
        return
    meshes = set()
    for probe in list(poses.collection.objects):
        meshes.add(mesh_of(probe))
        bpy.data.objects.remove(probe)
    for mesh in meshes:
        bpy.data.meshes.remove(mesh)
    if len(bpy.data.scenes) > 1:
        bpy.data.scenes.remove(poses)


def _find() -> bpy.types.Scene | None:
    return next((scene for scene in bpy.data.scenes if scene.library is None and has_key(scene, _MARK)), None)


def _new() -> bpy.types.Scene:
    poses = bpy.data.scenes.new(_NAME)
    poses[_MARK] = True
    return poses


def _provide_probes(poses: bpy.types.Scene, items: Iterable[bpy.types.Object]) -> None:
    """Have a probe in the scene for each object, and no others."""
    wanted = {(item, settings_of(item).armature) for item in items}
    for probe in list(poses.collection.objects):
        place = cast("bpy.types.CopyTransformsConstraint", probe.constraints[0])
        pose = cast("bpy.types.ArmatureModifier", probe.modifiers[0])
        subjects = (place.target, pose.object)
        if subjects in wanted:
            wanted.remove(subjects)
        else:
            bpy.data.objects.remove(probe)
    for item, armature in wanted:
        others = poses.collection.objects
        probe = probes.new_dependent(armature, mesh_of(others[0]) if others else probes.new_mesh())
        cast("bpy.types.CopyTransformsConstraint", probe.constraints.new("COPY_TRANSFORMS")).target = item
        others.link(probe)
