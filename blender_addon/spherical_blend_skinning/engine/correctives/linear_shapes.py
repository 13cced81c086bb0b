# SPDX-License-Identifier: GPL-3.0-or-later
"""Armature modifiers in place of ours while an exporter reads the file, with correctives solved for these.

Armature modifiers blend linearly. So in the pose in which its bone alone is bent, a corrective makes the mesh look as
ours does there; and vertices that were sculpted are where they were sculpted, in the pose of the sculpt. Afterwards all
shape keys are as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Quaternion, Vector
from numpy.typing import NDArray

from ...settings.given import evaluated, pose_of
from ...settings.typed import armature_data, block_of_key, mesh_of
from .. import reading
from ..bake import bake, shape_keys, stand_in
from ..stack import stack
from . import correctives
from .corrective_solving import solve
from .correctives import Corrective

# A vertex that is as near to where it is to be, a share of the size, keeps its delta.
_ALIKE = 1e-6
_UNSOLVED = "not solved for linear blending"


class StandIn(NamedTuple):
    """The objects of which an exporter writes skins."""

    skins: int  #: How many there are
    left: list[str]  #: Which correctives are not as they look here, and why


class _Mesh(NamedTuple):
    item: bpy.types.Object
    looks: list[tuple[Corrective, NDArray[np.float32]]]  #: With the mesh (V, 3) in the pose of its bone alone


@contextmanager
def armature_modifiers_instead(view_layer: bpy.types.ViewLayer) -> Iterator[StandIn]:
    """Let Armature modifiers deform objects in place of ours, and correctives suit them; restore all afterwards."""
    left: list[str] = []
    meshes = [mesh for item in bpy.data.objects if (mesh := _look(item, view_layer, left)) is not None]
    with stand_in.armature_modifiers_instead() as count, ExitStack() as undoing:
        for mesh in meshes:
            for corrective, _ in mesh.looks:
                points = reading.key_points(corrective.key).astype(np.float32)
                undoing.callback(_write, mesh.item, corrective.key.name, points)
            with _shown(mesh.item, [corrective for corrective, _ in mesh.looks]):
                left += _solve(mesh, view_layer)
        view_layer.update()
        yield StandIn(count, left)


def _look(item: bpy.types.Object, view_layer: bpy.types.ViewLayer, left: list[str]) -> _Mesh | None:
    """A mesh that has correctives and gets an Armature modifier; reasons against that are added to a list."""
    if item.type != "MESH" or bake.modifier_of(item) is None or bake.is_baked(item):
        return None
    found = correctives.find(item)
    if not found:
        return None
    try:
        if item.mode == "EDIT":
            raise ValueError("Leave Edit Mode first")
        if item.name not in view_layer.objects:
            raise ValueError(f"it is not in the view layer {view_layer.name}: show its collection there")
        with _shown(item, found):
            if not item.visible_get(view_layer=view_layer):
                raise ValueError("it is hidden with its collection: show that")
            looks = []
            for corrective in found:
                with _bone_alone(corrective):
                    looks.append((corrective, shape_keys.positions_alone(item, view_layer)))
            return _Mesh(item, looks)
    except ValueError as error:
        names = ", ".join(corrective.key.name for corrective in found)
        left.append(f"{item.name}: {names} {_UNSOLVED}: {error}")
        return None


def _solve(mesh: _Mesh, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Solve all correctives of a mesh below its Armature modifier; why some are not as they look here."""
    item, left = mesh.item, {}
    for corrective, look in mesh.looks:
        with _bone_alone(corrective):
            present = shape_keys.positions_alone(item, view_layer)
            values: Any = block_of_key(corrective.key).evaluated_get(evaluated(view_layer))
            if abs(values.key_blocks[corrective.key.name].value - 1.0) > correctives.NEARLY_ONE:
                left[corrective.number] = f"{_UNSOLVED}: drivers hold {corrective.bone}, so it cannot be bent alone"
                continue
            size = np.linalg.norm(np.ptp(present, axis=0))
            vertices = np.flatnonzero(np.linalg.norm(look - present, axis=1) > _ALIKE * size)
            places = look[vertices].astype(np.float64)
            if missed := solve(item, corrective.key, vertices, places, view_layer, others_stay=True).missed:
                left[corrective.number] = f"has {missed} vertices that linear blending crushes, as near as can be"
    for corrective, _ in mesh.looks:
        if corrective.has_target:
            try:
                correctives.solve_again(item, corrective, view_layer, others_stay=True)
            except ValueError as error:
                reason = f"looks as here with {corrective.bone} bent alone, not in the pose of its sculpt: {error}"
                left.setdefault(corrective.number, reason)
            else:
                left.pop(corrective.number, None)
    return [f"{item.name}: {each.key.name} {left[each.number]}" for each, _ in mesh.looks if each.number in left]


def _write(item: bpy.types.Object, name: str, points: NDArray[np.float32]) -> None:
    # By its name, because an exporter may cause shape keys to move in memory.
    keys = mesh_of(item).shape_keys
    assert keys is not None
    keys.key_blocks[name].data.foreach_set("co", points.reshape(-1))
    keys.update_tag()
    item.update_tag()


@contextmanager
def _shown(item: bpy.types.Object, found: list[Corrective]) -> Iterator[None]:
    """Show a mesh as `shape_keys.positions_alone` reads it, with its correctives and the pose of their armatures."""
    is_hidden = item.hide_get()
    with ExitStack() as undoing:
        undoing.callback(item.hide_set, is_hidden)
        item.hide_set(False)
        undoing.enter_context(stack.only_before(item, shape_keys.present_modifier(item), and_it=True))
        _set(undoing, item, "hide_viewport", False)
        for corrective in found:
            _set(undoing, corrective.key, "mute", False)
            _set(undoing, armature_data(corrective.armature), "pose_position", "POSE")
        yield


@contextmanager
def _bone_alone(corrective: Corrective) -> Iterator[None]:
    """Bend the bone of a corrective as in its pose, with all other bones at rest, for the time being."""
    swing = Vector(corrective.swing)
    turn = Quaternion(swing, swing.length).to_matrix().to_4x4()
    with ExitStack() as undoing:
        for bone in pose_of(corrective.armature).bones:
            for constraint in bone.constraints:
                _set(undoing, constraint, "mute", True)
        undoing.enter_context(correctives.in_pose(corrective.armature, {corrective.bone: np.array(turn).reshape(-1)}))
        yield


def _set(undoing: ExitStack, owner: Any, name: str, value: object) -> None:
    before = getattr(owner, name)
    if before != value:
        undoing.callback(setattr, owner, name, before)
        setattr(owner, name, value)
