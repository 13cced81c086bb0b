# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights that follow the capsules of an armature while they are dragged."""

from __future__ import annotations

import bpy
import numpy as np

from ..engine.live import live as engine
from ..interface.rigged import RiggedMesh, moved_by
from ..settings import libraries
from ..settings.typed import mesh_of, persistent
from . import assign
from . import bones as bone_capsules
from .bones import BoneCapsules
from .settings import capsule_settings_of

# The capsules of each armature that last assigned weights, by its full name.
_seen: dict[str, BoneCapsules] = {}


@persistent
def depsgraph_updated(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if depsgraph.mode == "RENDER":
        return
    for update in depsgraph.updates:
        data = update.id.original if isinstance(update.id, bpy.types.Armature) else None
        if data is not None and capsule_settings_of(data).live:
            _follow(data, depsgraph)


def _follow(data: bpy.types.Armature, depsgraph: bpy.types.Depsgraph) -> None:
    """Assign weights to the meshes of an armature if its capsules have changed."""
    view_layer = depsgraph.view_layer
    if view_layer is None:
        return
    bones = [bone for bone in (data.edit_bones if data.is_editmode else data.bones) if bone.use_deform]
    if not bones:
        return
    now, last = bone_capsules.read(bones), _seen.get(data.name_full)
    _seen[data.name_full] = now
    if last is None or all(map(np.array_equal, now, last)):
        return
    number = {bone.name: joint for joint, bone in enumerate(bones)}
    options = capsule_settings_of(data)
    for armature in view_layer.objects:
        if armature.data != data:
            continue
        for item in moved_by(armature, view_layer):
            mesh = RiggedMesh(item, armature)
            # While bones are added or removed in Edit Mode, the pose still has the old ones.
            if item.mode == "EDIT" or not len(mesh_of(item).vertices) or not number.keys() >= set(mesh.names):
                continue
            if libraries.hindrance([item]):
                continue
            order = [number[name] for name in mesh.names]
            assign.assign(
                mesh,
                falloff=options.falloff.lower(),
                outside=options.outside.lower(),
                limit=options.limit,
                capsules=now.select(order),
            )
            # Changes by a handler are not among the updates that handlers get, so notify the engine.
            engine.update(item, depsgraph, mesh=True)


@persistent
def forget(*_arguments: object) -> None:
    """Forget the capsules: undo has restored the weights that belong to the restored capsules."""
    _seen.clear()


HANDLERS = (
    ("depsgraph_update_post", depsgraph_updated),
    ("load_post", forget),
    ("undo_post", forget),
    ("redo_post", forget),
)


def unregister() -> None:
    _seen.clear()
