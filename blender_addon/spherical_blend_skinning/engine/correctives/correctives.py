# SPDX-License-Identifier: GPL-3.0-or-later
"""Correctives of a mesh: shape keys that a bone drives, each with the pose and the surface that it was sculpted for.

The record of each lies in a custom property of the shape keys, so it is saved, copied and undone with these: the
bone and its swing, and the pose of the whole rig. Attributes of the mesh have where the sculpted vertices are in it
(`targets`). So shapes can be solved again when weights or the method have changed. The shape key of a corrective is
found by its driver, which follows renaming.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ...settings.given import evaluated, pose_of
from ...settings.typed import block_of_key, mesh_of
from .. import reading
from ..bake import bake, shape_keys
from ..stack import stack
from . import corrective_drivers, targets
from .corrective_solving import Solved, solve

_RECORDS = "sbs_correctives"
_CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
# Bones that are turned by less, in radians, are at rest.
_TURNED = np.radians(3.0)
# How far the value of a corrective may be from 1 in its own pose, where it is solved.
NEARLY_ONE = 1e-3
# Vertices that a shape moves by less, a share of the size, stay.
_STILL = 1e-6
# Swings that differ by less, in radians, are the same pose.
_SAME_SWING = 0.02
# A shape is mirrored if a larger share of its vertices have others on the other side.
_SMALLEST_SHARE = 0.5


@dataclass(frozen=True)
class Corrective:
    """A corrective of a mesh."""

    number: str  #: Its name in custom properties and drivers
    key: bpy.types.ShapeKey
    armature: bpy.types.Object
    bone: str
    swing: tuple[float, float]  #: (x, z): of the bone in the pose, in radians about its own axes at rest
    has_target: bool  #: Whether it has sculpted places, so that it can be solved again; not of one that `put` made

    @property
    def degrees(self) -> float:
        """By how much the bone is bent."""
        return float(np.degrees(np.hypot(*self.swing)))


def find(item: bpy.types.Object) -> list[Corrective]:
    """The correctives of a mesh object, in the order in which they were made."""
    keys = mesh_of(item).shape_keys
    found: list[Corrective] = []
    if keys is None:
        return found
    driven = corrective_drivers.find(keys)
    for number, record in _records(keys).items():
        if number in driven:
            x, z = record["swing"]
            has_target = "target" in record or targets.are_kept(mesh_of(item), number)
            found.append(Corrective(number, *driven[number], (x, z), has_target))
    return found


def _records(keys: bpy.types.Key) -> dict[str, Any]:
    records: Any = keys.get(_RECORDS)
    return {} if records is None else dict(records.items())


def choose_bone(
    item: bpy.types.Object, armature: bpy.types.Object, vertices: NDArray[np.intp], depsgraph: bpy.types.Depsgraph
) -> str:
    """The bone whose bending a sculpt is for: the bent bone that shares most of its vertices with its parent.

    Raises ValueError if no bone of theirs is bent.
    """
    names = {group.index: group.name for group in item.vertex_groups}
    shares: dict[str, float] = {}
    bones = pose_of(armature).bones
    for vertex in vertices.tolist():
        weights = {names.get(given.group, ""): given.weight for given in mesh_of(item).vertices[vertex].groups}
        for name, weight in weights.items():
            if name in bones:
                parent = bones[name].parent
                beside = weights.get(parent.name, 0.0) if parent is not None else 0.0
                shares[name] = shares.get(name, 0.0) + weight * (beside + 1e-3)
    bent = {
        name: share
        for name, share in shares.items()
        if share > 0 and np.hypot(*corrective_drivers.swing_of(armature, name, depsgraph)) > _TURNED
    }
    if not bent:
        raise ValueError("No bone of what was sculpted is bent: choose the bone that drives the shape")
    return max(bent, key=bent.__getitem__)


# --------------------------------------------------------------------------------------------------------- the pose --


def read_pose(armature: bpy.types.Object) -> dict[str, list[float]]:
    """The matrix of each bone that is not at rest, by rows."""
    bones = pose_of(armature).bones
    return {
        bone.name: np.array(bone.matrix_basis).reshape(-1).tolist()
        for bone in bones
        if bone.matrix_basis != Matrix.Identity(4)
    }


def set_pose(armature: bpy.types.Object, pose: Any) -> None:
    """Set a pose of `read_pose`; bones that it does not name are at rest."""
    for bone in pose_of(armature).bones:
        numbers = pose.get(bone.name)
        bone.matrix_basis = (
            Matrix.Identity(4) if numbers is None else Matrix(np.reshape(list(numbers), (4, 4)).tolist())
        )


@contextmanager
def in_pose(armature: bpy.types.Object, pose: Any) -> Iterator[None]:
    """A pose of `read_pose` meanwhile."""
    bones = pose_of(armature).bones
    # Matrices lose turns beyond half of one.
    before = [[(channel, tuple(getattr(bone, channel))) for channel in _CHANNELS] for bone in bones]
    set_pose(armature, pose)
    try:
        yield
    finally:
        for bone, channels in zip(bones, before, strict=True):
            for channel, value in channels:
                setattr(bone, channel, value)


def go_to_pose(corrective: Corrective) -> None:
    """Bend the bone of a corrective as in its pose, by its own rotation; its twist and all other bones stay."""
    bone = pose_of(corrective.armature).bones[corrective.bone]
    x, z = corrective.swing
    angle = float(np.hypot(x, z))
    _swing, twist = bone.matrix_basis.to_quaternion().to_swing_twist("Y")
    rotation = Quaternion(Vector((x, 0.0, z)), angle) @ Quaternion(Vector((0.0, 1.0, 0.0)), twist)
    place, _rotation, scale = bone.matrix_basis.decompose()
    bone.matrix_basis = Matrix.LocRotScale(place, rotation, scale)


# ----------------------------------------------------------------------------------------------------- adding, solving


def add(
    item: bpy.types.Object,
    armature: bpy.types.Object,
    bone: str,
    name: str,
    vertices: NDArray[np.intp],
    places: NDArray[np.float64],
    view_layer: bpy.types.ViewLayer,
) -> tuple[Corrective, Solved]:
    """Add a corrective, driven by a bone, for the vertices (M,) that were sculpted in the present pose.

    `places` (V, 3) is where all vertices are to be, in the space of the object. Of other vertices, those count
    that other shapes of the bone move: in this pose these shapes are gone.

    If that is impossible, a ValueError says why, and nothing has changed.
    """
    _check_relative(item)
    swing = corrective_drivers.swing_of(armature, bone, evaluated(view_layer))
    others = [other for other in find(item) if (other.armature, other.bone) == (armature, bone)]
    corrective_drivers.coefficients(np.array([*(other.swing for other in others), swing]))
    shape_keys.check(item)
    vertices = _concerned(item, others, vertices)
    keys = bake.with_basis(item)
    block = item.shape_key_add(name=name, from_mix=False)
    number = _free_number(keys)
    _keep(keys, number, {"swing": swing, "bone": bone, "pose": read_pose(armature)})
    targets.keep(item, armature, number, vertices, places)
    _drive(keys, armature, bone, [*others, Corrective(number, block, armature, bone, swing, True)])
    solved = _solve(item, block, vertices, places[vertices], view_layer)
    return next(each for each in find(item) if each.number == number), solved


def _check_relative(item: bpy.types.Object) -> None:
    """Refuse objects that show a single shape key, or absolute ones, as values then have no effect."""
    keys = mesh_of(item).shape_keys
    if keys is not None and (item.show_only_shape_key or not keys.use_relative):
        raise ValueError(f"{item.name} does not blend its shape keys: it shows one alone, or they are not relative")


def _concerned(item: bpy.types.Object, correctives: list[Corrective], vertices: NDArray[np.intp]) -> NDArray[np.intp]:
    """The vertices to solve for: the given ones, and all that shapes of some correctives move.

    Modifiers before ours may move vertices with their neighbors, as smoothing does, so then all.
    """
    modifier = bake.modifier_of(item)
    if modifier is not None and stack.before(item, modifier):
        return np.arange(len(mesh_of(item).vertices))
    moved = [np.flatnonzero(shape_keys.basis_and_deltas(each.key)[1].any(axis=1)) for each in correctives]
    return np.unique(np.concatenate([vertices, *moved]))


def replace(
    item: bpy.types.Object,
    corrective: Corrective,
    vertices: NDArray[np.intp],
    places: NDArray[np.float64],
    view_layer: bpy.types.ViewLayer,
) -> Solved:
    """Give a corrective another target in the present pose, which becomes its pose.

    Raises ValueError if that is impossible; it says why, and nothing has changed.
    """
    _check_relative(item)
    keys = block_of_key(corrective.key)
    swing = corrective_drivers.swing_of(corrective.armature, corrective.bone, evaluated(view_layer))
    alike = [each for each in find(item) if (each.armature, each.bone) == (corrective.armature, corrective.bone)]
    swings = [swing if each.number == corrective.number else each.swing for each in alike]
    corrective_drivers.coefficients(np.array(swings))
    vertices = _concerned(item, alike, vertices)
    armature, bone = corrective.armature, corrective.bone
    _keep(keys, corrective.number, {"swing": swing, "bone": bone, "pose": read_pose(armature)})
    targets.keep(item, armature, corrective.number, vertices, places)
    _drive(keys, armature, bone, alike)
    return _solve(item, corrective.key, vertices, places[vertices], view_layer)


def solve_again(
    item: bpy.types.Object, corrective: Corrective, view_layer: bpy.types.ViewLayer, others_stay: bool = False
) -> Solved:
    """Solve a corrective for its target anew, by the present weights, method and bones.

    Vertices without a target keep their deltas if they stay, and have none otherwise.

    Raises ValueError if its target or its pose cannot be had; it says why, and nothing has changed.
    """
    _check_relative(item)
    keys = block_of_key(corrective.key)
    record = _records(keys)[corrective.number]
    if not corrective.has_target:
        raise ValueError("It has no target: it was mirrored, or drafted for several bones together")
    with in_pose(corrective.armature, _pose_by_present_names(corrective, record)):
        # Goals of constraints may have moved. Where the shape has no effect, solving would flatten it.
        depsgraph = evaluated(view_layer)
        values: Any = keys.evaluated_get(depsgraph)
        if abs(values.key_blocks[corrective.key.name].value - 1.0) > NEARLY_ONE:
            degrees = np.degrees(
                np.hypot(*corrective_drivers.swing_of(corrective.armature, corrective.bone, depsgraph))
            )
            raise ValueError(
                f"{corrective.bone} was bent by {corrective.degrees:.0f}° and is now bent by "
                f"{degrees:.0f}°: bring the goals of its constraints back to where they were"
            )
        vertices, positions = _target(item, corrective, record)
        return _solve(item, corrective.key, vertices, positions, view_layer, others_stay)


def _target(
    item: bpy.types.Object, corrective: Corrective, record: dict[str, Any]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The vertices (M,) of a corrective, and where they are to be, (M, 3)."""
    if targets.are_kept(mesh_of(item), corrective.number):
        return targets.read(item, corrective.armature, corrective.number)
    # Files of earlier versions number the vertices; edits of the mesh have left these numbers behind.
    vertices = np.array(record["vertices"], np.intp)
    basis, deltas = shape_keys.basis_and_deltas(corrective.key)
    moved = np.flatnonzero(np.linalg.norm(deltas, axis=1) > _STILL * np.linalg.norm(np.ptp(basis, axis=0)))
    if vertices.max(initial=-1) >= len(basis) or len(np.setdiff1d(moved, vertices)):
        raise ValueError(f"{item.name} has other vertices than when it was sculpted: sculpt it again")
    return vertices, np.reshape(record["target"], (-1, 3)).astype(np.float64)


def _pose_by_present_names(corrective: Corrective, record: dict[str, Any]) -> dict[str, Any]:
    """The pose of a corrective, whose own bone may have another name by now.

    Raises ValueError if other bones of it are gone.
    """
    pose = dict(record["pose"].items())
    former = record.get("bone", corrective.bone)
    if former in pose:
        pose[corrective.bone] = pose.pop(former)
    gone = sorted(set(pose) - set(pose_of(corrective.armature).bones.keys()))
    if gone:
        raise ValueError(
            f"{corrective.armature.name} has no {', '.join(gone)}, posed when it was sculpted: "
            "give renamed bones their former names, or sculpt it again"
        )
    return pose


def _keep(keys: bpy.types.Key, number: str, record: dict[str, Any]) -> None:
    values: Any = keys
    if _RECORDS not in values:
        values[_RECORDS] = {}
    values[_RECORDS][number] = record


def _drive(keys: bpy.types.Key, armature: bpy.types.Object, bone: str, correctives: list[Corrective]) -> None:
    records = _records(keys)
    poses = {each.number: (each.key, tuple(records[each.number]["swing"])) for each in correctives}
    if poses:
        corrective_drivers.write_drivers(keys, armature, bone, poses)


def _solve(
    item: bpy.types.Object,
    block: bpy.types.ShapeKey,
    vertices: NDArray[np.intp],
    positions: NDArray[np.float64],
    view_layer: bpy.types.ViewLayer,
    others_stay: bool = False,
) -> Solved:
    muted, block.mute = block.mute, False
    try:
        return solve(item, block, vertices, positions, view_layer, others_stay)
    finally:
        block.mute = muted


def remove(item: bpy.types.Object, corrective: Corrective) -> None:
    """Remove a corrective with its shape key and its drivers."""
    keys = block_of_key(corrective.key)
    rest = [each for each in find(item) if each.number != corrective.number]
    corrective_drivers.remove_drivers(keys, corrective.number)
    values: Any = keys
    del values[_RECORDS][corrective.number]
    targets.forget(mesh_of(item), corrective.number)
    item.shape_key_remove(corrective.key)
    alike = [each for each in rest if (each.armature, each.bone) == (corrective.armature, corrective.bone)]
    if alike:
        _drive(keys, corrective.armature, corrective.bone, alike)


# ----------------------------------------------------------------------------------------------- shapes that are known


def put(
    item: bpy.types.Object,
    armature: bpy.types.Object,
    bone: str,
    swing: tuple[float, float],
    name: str,
    deltas: NDArray[np.float64],
) -> Corrective:
    """Add a corrective by its shape, without a target; one of the same pose of the bone is written over.

    The swing is (x, z) of the bone in the pose; the shape adds the deltas (V, 3) at rest, in the space of the object.
    If that is impossible, a ValueError says why, and nothing has changed.
    """
    _check_relative(item)
    shape_keys.check(item)
    alike = [each for each in find(item) if (each.armature, each.bone) == (armature, bone)]
    same = next((each for each in alike if np.hypot(*np.subtract(each.swing, swing)) < _SAME_SWING), None)
    if same is None:
        corrective_drivers.coefficients(np.array([*(each.swing for each in alike), swing]))
    keys = bake.with_basis(item)
    block = item.shape_key_add(name=name, from_mix=False) if same is None else same.key
    number = _free_number(keys) if same is None else same.number
    basis, _deltas = shape_keys.basis_and_deltas(block)
    block.data.foreach_set("co", (basis + deltas).astype(np.float32).reshape(-1))
    _keep(keys, number, {"swing": swing})
    targets.forget(mesh_of(item), number)
    made = Corrective(number, block, armature, bone, swing, False)
    _drive(keys, armature, bone, [*(each for each in alike if each.number != number), made])
    keys.update_tag()
    return made


def _free_number(keys: bpy.types.Key) -> str:
    return str(max(map(int, _records(keys)), default=0) + 1)


def swing_about(armature: bpy.types.Object, bone: str, turned: Vector) -> tuple[float, float]:
    """The swing of a bone that is turned by a rotation vector in the axes of the armature, across the bone."""
    own = pose_of(armature).bones[bone].bone.matrix_local.to_3x3().inverted() @ turned
    return float(own.x), float(own.z)


def mirror(item: bpy.types.Object, corrective: Corrective) -> tuple[Corrective, int]:
    """Make the corrective of the other side, across x of the armature, by the names of bones.

    Returned besides is how many of the vertices have none where the other side would be. Raises ValueError if most have
    none, the bone has no other side, or as `put`.
    """
    armature, bone, key = corrective.armature, corrective.bone, corrective.key
    other = bpy.utils.flip_name(bone)
    bones = pose_of(armature).bones
    if other == bone or other not in bones:
        raise ValueError(f"{bone} has no other side: no bone is named {other}")
    # A rotation vector keeps its x and changes its other signs as it is mirrored across x.
    x, z = corrective.swing
    turned = bones[bone].bone.matrix_local.to_3x3() @ Vector((x, 0.0, z))
    swing = swing_about(armature, other, Vector((turned.x, -turned.y, -turned.z)))
    to_armature = reading.place(item, armature)
    across = np.linalg.inv(to_armature) @ np.diag([-1.0, 1.0, 1.0, 1.0]) @ to_armature
    basis, deltas = shape_keys.basis_and_deltas(key)
    moved = np.flatnonzero(deltas.any(axis=1))
    others, missing = shape_keys.other_sides(mesh_of(item), basis, across, moved)
    count = len(moved)
    if count - missing <= _SMALLEST_SHARE * count:
        raise ValueError(
            f"{item.name}: only {count - missing} of the {count} vertices of {key.name} have another across x of "
            f"{armature.name}. If the other side is an object of its own, sculpt it there; else Symmetrize the mesh"
        )
    mirrored = np.where(others[:, None] < 0, 0.0, deltas[others] @ across[:3, :3].T)
    # The side is in the name of the bone, before its angle.
    name = re.sub(r"^.*?(?=( [\d.]+)?$)", lambda words: bpy.utils.flip_name(words[0]), key.name, count=1)
    return put(item, armature, other, swing, name, mirrored), missing
