# SPDX-License-Identifier: GPL-3.0-or-later
"""Sculpts as their artist left them, kept beside all that the add-on keeps of them.

Attributes of the mesh have where its vertices were sculpted to, where they were in that pose without the correctives of
the bone, both in the space of the armature, and their weights. A property of the mesh has the pose, by labels of bones.
All of it goes through edits, files and undo as Blender's own data do, so it is known of each vertex that is still
there.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import addon
import bpy
import numpy as np
import rigs
from expected import Floats, array, move
from objects import ArmatureObject, MeshObject, armature_object, current_layer

if TYPE_CHECKING:
    from objects import Mesh

_RECORDS, _LABEL = "left_by_artist", "label_of_artist"
_numbers = itertools.count(1)
#: A vertex that all else brings elsewhere, a share of the size, is not where the artist saw it.
_AS_BEFORE = 2e-6
_SAME_WEIGHTS = 1e-6
#: How near to its sculpt a vertex stays, a share of the size, unless the add-on says how near it got.
MET = 2e-5


def _engine() -> Any:
    return addon.module("engine.correctives.correctives")


def find(item: MeshObject) -> list[Any]:
    """The correctives that the panel lists."""
    found: list[Any] = _engine().find(item)
    return found


def broken(item: MeshObject) -> dict[str, str]:
    """The shape keys that the panel lists as broken correctives, and why they are."""
    return {each.key.name: each.reason for each in addon.module("engine.correctives.broken").find(item)}


def pose_of(armature: ArmatureObject) -> dict[str, list[float]]:
    """The pose, by labels that bones keep whatever they are called."""
    bones: Any = armature.data.bones
    known: set[int] = set()
    for bone in bones:
        # Joined armatures may be copies, with the same labels.
        if bone.get(_LABEL) in {None, *known}:
            bone[_LABEL] = next(_numbers)
        known.add(bone[_LABEL])
    pose: dict[str, list[float]] = _engine().read_pose(armature)
    return {str(_label(armature, name)): numbers for name, numbers in pose.items()}


def _label(armature: ArmatureObject, name: str) -> Any:
    bone: Any = armature.data.bones[name]
    return bone[_LABEL]


def seen(item: MeshObject, armature: ArmatureObject) -> Floats:
    """The vertices after all modifiers, in the space of the armature."""
    current_layer().update()
    return in_armature(item, armature, rigs.evaluated(item))


def in_armature(item: bpy.types.Object, armature: ArmatureObject, points: Floats) -> Floats:
    return move(to_armature(item, armature), points)


def to_armature(item: bpy.types.Object, armature: ArmatureObject) -> Floats:
    """The matrix from mesh space to armature space."""
    # Blender keeps the places of armatures that are hidden up to date in evaluated ones alone.
    depsgraph = bpy.context.evaluated_depsgraph_get()
    inner, outer = (array(each.evaluated_get(depsgraph).matrix_world) for each in (item, armature))
    return np.linalg.inv(outer) @ inner


def settings_of(item: MeshObject) -> str:
    """How a mesh is deformed: vertices on the axis of a bone may stay where they were, but not where they go."""
    chosen, armature = item.sbs, armature_object(item.sbs.armature)
    twists = [bone.name for bone in armature.pose.bones if bone.sbs_twist]
    spread = (twists, chosen.twist_profile, chosen.twist_across) if chosen.spread_twist else ()
    segments = [bone.bbone_segments for bone in armature.data.bones]
    return repr((chosen.method, chosen.center, chosen.amount, spread, segments))


def weights_of(item: MeshObject) -> Floats:
    """Three numbers for each vertex (V, 3) that tell its weights from others."""
    armature = armature_object(item.sbs.armature)
    numbers = np.zeros((max((group.index for group in item.vertex_groups), default=0) + 1, 4))
    for group in item.vertex_groups:
        bone: Any = armature.data.bones.get(group.name)
        if bone is not None and bone.use_deform:
            numbers[group.index] = *np.random.default_rng(bone.get(_LABEL, 0)).uniform(size=3), 1.0
    found = np.zeros((len(item.data.vertices), 4))
    for vertex in item.data.vertices:
        for element in vertex.groups:
            found[vertex.index] += element.weight * numbers[element.group]
    return found[:, :3] / np.maximum(found[:, 3:], 1e-6)


def look(item: MeshObject, corrective: Any, pose: dict[str, list[float]]) -> tuple[Floats, Floats]:
    """The mesh in the pose of a corrective, and without the correctives of its bone."""
    armature = corrective.armature
    names = {str(bone[_LABEL]): bone.name for bone in armature.data.bones if _LABEL in bone}
    group = [each.key for each in find(item) if (each.armature, each.bone) == (armature, corrective.bone)]
    with _engine().in_pose(armature, {names[label]: numbers for label, numbers in pose.items() if label in names}):
        shown = seen(item, armature)
        for key in group:
            key.mute = True
        bare = seen(item, armature)
        for key in group:
            key.mute = False
    current_layer().update()
    return shown, bare


class Sculpt(NamedTuple):
    """Where an artist wants vertices, and how near the add-on says that it got."""

    places: Floats  #: In the space of the armature, (V, 3)
    wanted: (
        Floats  #: 2 for each vertex that was sculpted, 1 for others that were seen, 0 for those that may be anywhere
    )
    met: float  #: How near it got, a share of the size
    missed: int  #: How many vertices it says are crushed


class Left(NamedTuple):
    """A sculpt that was accepted."""

    number: str
    key: str
    pose: dict[str, list[float]]
    met: float  #: How near to it the add-on got, a share of the size
    settings: str  #: How the mesh was deformed
    joined: bool = False  #: Whether its mesh was joined with another

    def check(self, item: MeshObject, corrective: Any) -> bool:
        """Whether any vertex can be checked; each that can is where it was sculpted to."""
        places, wanted = self.read(item.data)
        known = wanted > 0.0
        shown_now, bare_now = look(item, corrective, self.pose)
        if len(shown_now) != len(places) or not known.any() or self.settings != settings_of(item):
            return False
        size = np.ptp(places[known], axis=0).max()
        bare, weights = (_read(item.data, name) for name in self.attributes()[2:])
        known &= np.linalg.norm(bare_now - bare, axis=1) < _AS_BEFORE * size
        known &= np.abs(weights_of(item) - weights).max(axis=1) < _SAME_WEIGHTS
        away = np.linalg.norm(shown_now - places, axis=1)[known].max(initial=0.0) / size
        assert away < self.met, f"{item.name}, {self.key}: {away:.2g} of the size from its sculpt"
        return bool(known.any())

    def read(self, mesh: Mesh) -> tuple[Floats, Floats]:
        """Where vertices are to be (V, 3); 2 for each that was sculpted, 1 for others that were seen, else 0."""
        tags, places = (_read(mesh, name) for name in self.attributes()[:2])
        # A new vertex has a mean of two tags, which is none.
        return places, np.where((tags[:, 0] > 0) & (tags[:, 1] == tags[:, 0] ** 2), tags[:, 2], 0.0)

    def attributes(self) -> list[str]:
        return [f"artist_{self.number}_{name}" for name in ("tags", "places", "bare", "weights")]


def left(mesh: Mesh) -> list[Left]:
    """All that is kept of a mesh."""
    return [Left(**values) for values in _records(mesh).values()]


def keep(item: MeshObject, corrective: Any, pose: dict[str, list[float]], sculpt: Sculpt, former: str = "") -> None:
    """Check and keep a sculpt that has been accepted or solved again; it may take the place of a former one."""
    shown, bare = look(item, corrective, pose)
    places, wanted = sculpt.places, sculpt.wanted.copy()
    away = np.linalg.norm(shown - places, axis=1) / np.ptp(places, axis=0).max()
    met = max(MET, 2.0 * sculpt.met)
    if sculpt.missed:
        wanted[np.argsort(away * (wanted > 0.0))[-sculpt.missed :]] = 0.0
    assert away[wanted > 0.0].max(initial=0.0) < met, f"{corrective.key.name} is {away[wanted > 0.0].max():.2g} away"
    forget(item.data, former)
    kept = Left(str(next(_numbers)), corrective.key.name, pose, met, settings_of(item))
    numbers = 1.0 + np.arange(len(places)) % 4000
    tags = np.column_stack([numbers, numbers**2, np.maximum(wanted, 1.0)])
    places = np.where(wanted[:, None] > 0.0, places, shown)
    for name, values in zip(kept.attributes(), (tags, places, bare, weights_of(item)), strict=True):
        attribute: Any = item.data.attributes.new(name, "FLOAT_VECTOR", "POINT")
        attribute.data.foreach_set("vector", values.astype(np.float32).ravel())
    write(item.data, [*left(item.data), kept])


def forget(mesh: Mesh, number: str) -> None:
    for kept in left(mesh):
        if kept.number == number:
            for name in kept.attributes():
                mesh.attributes.remove(mesh.attributes[name])
    write(mesh, [kept for kept in left(mesh) if kept.number != number])


def write(mesh: Any, kept: list[Left]) -> None:
    mesh[_RECORDS] = json.dumps({each.number: each._asdict() for each in kept})


def _records(mesh: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(mesh.get(_RECORDS, "{}"))
    return found


def _read(mesh: bpy.types.Mesh, name: str) -> Floats:
    attribute: Any = mesh.attributes[name]
    found = np.empty(3 * len(mesh.vertices), np.float32)
    attribute.data.foreach_get("vector", found)
    return found.reshape(-1, 3).astype(np.float64)
