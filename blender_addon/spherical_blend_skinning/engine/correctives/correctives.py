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
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ...core import library
from ...settings.given import evaluated, pose_of
from ...settings.typed import block_of_key, mesh_of
from .. import reading
from ..bake import bake, shape_keys, stand_in
from ..live import states
from ..stack import stack
from . import corrective_drivers, swings, targets
from .corrective_solving import Solved, solve
from .swings import ALONG_BONE, Vector3

_RECORDS = "sbs_correctives"
_CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
# Bones that are turned by less, in radians, are at rest.
_TURNED = np.radians(3.0)
# How far the value of a corrective may be from 1 in its own pose, where it is solved.
NEARLY_ONE = 1e-3
# Vertices that a shape moves by less, a share of the size, stay.
_STILL = 1e-6
# A shape is mirrored if a larger share of its vertices have others on the other side.
_SMALLEST_SHARE = 0.5


@dataclass(frozen=True)
class Corrective:
    """A corrective of a mesh."""

    number: str  #: Its name in custom properties and drivers
    key: bpy.types.ShapeKey
    armature: bpy.types.Object
    bone: str
    axis: Vector3  #: The direction of the limb, in the axes of the bone at rest
    swing: Vector3  #: Of the limb in the pose: a rotation vector across it, in radians and the same axes
    has_target: bool  #: Whether it has sculpted places, so that it can be solved again; not of one that `put` made

    @property
    def degrees(self) -> float:
        """By how much the bone is bent."""
        return float(np.degrees(np.linalg.norm(self.swing)))


def find(item: bpy.types.Object) -> list[Corrective]:
    """The correctives of a mesh object, in the order in which they were made."""
    keys = mesh_of(item).shape_keys
    found: list[Corrective] = []
    if keys is None:
        return found
    driven = corrective_drivers.find(keys)
    for number, record in records(keys).items():
        if number in driven:
            key, armature, bone, _is_former = driven[number]
            axis, swing = _axis_and_swing(record)
            has_target = "target" in record or targets.are_kept(mesh_of(item), target_name(number, record))
            found.append(Corrective(number, key, armature, bone, axis, swing, has_target))
    return found


def _axis_and_swing(record: Any) -> tuple[Vector3, Vector3]:
    """The direction of the limb, and its swing; files of earlier versions have x and z of swings against the bone."""
    swing = [float(value) for value in record["swing"]]
    if len(swing) == 2:
        return ALONG_BONE, (swing[0], 0.0, swing[1])
    return swings.as_vector(np.array(record["axis"])), swings.as_vector(np.array(swing))


def foreign_reason(item: bpy.types.Object, armature: bpy.types.Object) -> str:
    """The two armatures, if a corrective is driven by another one than deforms its mesh; empty if it is the same."""
    own = bake.armature_of(item)
    if own is None or own == armature:
        return ""
    return f"{armature.name} drives it, and {own.name} deforms {item.name}"


def find_outdated(item: bpy.types.Object) -> list[Corrective]:
    """The correctives that were solved for other weights than the mesh has now."""
    now, keys = _weights(item), mesh_of(item).shape_keys
    if now is None or keys is None:
        return []
    known, kept = (None, "", now), records(keys)
    return [each for each in find(item) if each.has_target and kept[each.number].get("weights") not in known]


def _weights(item: bpy.types.Object) -> str | None:
    """A text that stands for the weights of an object; None if it is not deformed live."""
    state = states.state_of(item)
    return None if state is None or state.binding is None else state.binding.surface.weights.digest


def records(keys: bpy.types.Key) -> dict[str, Any]:
    """The record of each corrective, by numbers, whether or not its shape key and its bone are there."""
    found: Any = keys.get(_RECORDS)
    return {} if found is None else dict(found.items())


def target_name(number: str, record: dict[str, Any]) -> str:
    """The name of its target among the attributes of the mesh, which in earlier files is its number."""
    name: str = record.get("target_name", number)
    return name


def choose_bone(
    item: bpy.types.Object, armature: bpy.types.Object, vertices: NDArray[np.intp], depsgraph: bpy.types.Depsgraph
) -> str:
    """The bone whose bending a sculpt is for: the bent bone that shares most of its vertices with its parent.

    Raises ValueError if no bone of theirs is bent.
    """
    names = {group.index: group.name for group in item.vertex_groups}
    shares: dict[str, float] = {}
    bones = pose_of(armature).bones
    axes = _axes(item, armature)
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
        if share > 0
        and np.linalg.norm(swings.swing_of(armature, name, axes.get(name, ALONG_BONE), depsgraph)) > _TURNED
    }
    if not bent:
        raise ValueError("No bone of what was sculpted is bent: choose the bone that drives the shape")
    return max(bent, key=bent.__getitem__)


def _axes(item: bpy.types.Object, armature: bpy.types.Object) -> dict[str, Vector3]:
    """The direction of the limb of each bone. A bone with correctives keeps the direction of its first corrective."""
    found = swings.limb_axes(armature)
    for each in reversed(find(item)):
        if each.armature == armature:
            found[each.bone] = each.axis
    return found


def swing_of(
    item: bpy.types.Object, armature: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph
) -> tuple[Vector3, Vector3]:
    """The direction of the limb of a bone, and its swing in the present pose."""
    axis = _axes(item, armature).get(bone, ALONG_BONE)
    return axis, swings.swing_of(armature, bone, axis, depsgraph)


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
    _swing, twist = swings.split(bone.matrix_basis.to_quaternion(), corrective.axis)
    rotation = swings.rotation_of(corrective.swing) @ twist
    place, _rotation, scale = bone.matrix_basis.decompose()
    bone.matrix_basis = Matrix.LocRotScale(place, rotation, scale)


def held_back(corrective: Corrective, depsgraph: bpy.types.Depsgraph) -> str:
    """The constraints that keep its bone from the rotation of `go_to_pose`, for the artist; empty if none does."""
    armature = corrective.armature.evaluated_get(depsgraph)
    bone = pose_of(armature).bones[corrective.bone]
    local = armature.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
    angle = local.to_quaternion().rotation_difference(bone.matrix_basis.to_quaternion()).angle
    angle = min(angle, 2.0 * np.pi - angle)
    if angle < _TURNED:
        return ""
    # Inverse kinematics of a bone moves those above it.
    holding = [
        f"{constraint.name} of {other.name}"
        for other in (bone, *bone.children_recursive)
        for constraint in other.constraints
        if not constraint.mute and (other == bone or constraint.type == "IK")
    ]
    by = " and ".join(holding) or "Another setting"
    return f"{by} keeps {bone.name} {np.degrees(angle):.0f}° from this pose: mute it, or move its goal"


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
    axis, swing = swing_of(item, armature, bone, evaluated(view_layer))
    others = [other for other in find(item) if (other.armature, other.bone) == (armature, bone)]
    corrective_drivers.check([other.swing for other in others], swing)
    shape_keys.check(item)
    vertices = _concerned(item, others, vertices)
    keys = bake.with_basis(item)
    block = item.shape_key_add(name=name, from_mix=False)
    number = _free_number(keys)
    target = targets.keep(item, armature, vertices, places)
    record = {"axis": axis, "swing": swing, "bone": bone, "pose": read_pose(armature), "target_name": target}
    _keep(keys, number, record)
    _drive(keys, armature, bone, [*others, Corrective(number, block, armature, bone, axis, swing, True)])
    solved = _solve(item, number, block, vertices, places[vertices], view_layer)
    return next(each for each in find(item) if each.number == number), solved


def check_rig(item: bpy.types.Object, corrective: Corrective) -> None:
    """Refuse a corrective that another armature drives than the one that deforms the mesh."""
    if reason := foreign_reason(item, corrective.armature):
        raise ValueError(f"{corrective.key.name}: {reason}. Choose {corrective.armature.name} for it, or remove it")


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
    check_rig(item, corrective)
    keys = block_of_key(corrective.key)
    axis, swing = swing_of(item, corrective.armature, corrective.bone, evaluated(view_layer))
    alike = _alike(item, corrective)
    corrective_drivers.check([each.swing for each in alike if each.number != corrective.number], swing)
    vertices = _concerned(item, alike, vertices)
    armature, bone = corrective.armature, corrective.bone
    _forget_target(item, corrective.number)
    target = targets.keep(item, armature, vertices, places)
    record = {"axis": axis, "swing": swing, "bone": bone, "pose": read_pose(armature), "target_name": target}
    _keep(keys, corrective.number, record)
    _drive(keys, armature, bone, alike)
    return _solve(item, corrective.number, corrective.key, vertices, places[vertices], view_layer)


def solve_again(
    item: bpy.types.Object, corrective: Corrective, view_layer: bpy.types.ViewLayer, others_stay: bool = False
) -> Solved:
    """Solve a corrective for its target anew, by the present weights, method and bones.

    Vertices without a target keep their deltas if they stay, and have none otherwise.

    Raises ValueError if its target or its pose cannot be had; it says why, and nothing has changed.
    """
    _check_relative(item)
    check_rig(item, corrective)
    keys = block_of_key(corrective.key)
    record = records(keys)[corrective.number]
    if not corrective.has_target:
        raise ValueError("It has no target: it was mirrored, or drafted for several bones together")
    with in_pose(corrective.armature, _pose_by_present_names(corrective, record)):
        # Goals of constraints may have moved. Where the shape has no effect, solving would flatten it.
        depsgraph = evaluated(view_layer)
        values: Any = keys.evaluated_get(depsgraph)
        if abs(values.key_blocks[corrective.key.name].value - 1.0) > NEARLY_ONE:
            now = swings.swing_of(corrective.armature, corrective.bone, corrective.axis, depsgraph)
            degrees = np.degrees(np.linalg.norm(now))
            raise ValueError(
                f"{corrective.bone} was bent by {corrective.degrees:.0f}° and is now bent by "
                f"{degrees:.0f}°: bring the goals of its constraints back to where they were"
            )
        vertices, positions = _target(item, corrective, record)
        if corrective_drivers.find(keys)[corrective.number].is_former:
            _drive(keys, corrective.armature, corrective.bone, _alike(item, corrective))
        return _solve(item, corrective.number, corrective.key, vertices, positions, view_layer, others_stay)


def _alike(item: bpy.types.Object, corrective: Corrective) -> list[Corrective]:
    """All correctives of its bone."""
    return [each for each in find(item) if (each.armature, each.bone) == (corrective.armature, corrective.bone)]


def _target(
    item: bpy.types.Object, corrective: Corrective, record: dict[str, Any]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The vertices (M,) of a corrective, and where they are to be, (M, 3)."""
    name = target_name(corrective.number, record)
    if targets.are_kept(mesh_of(item), name):
        return targets.read(item, corrective.armature, name)
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
    known = records(keys)
    poses = {each.number: (each.key, _axis_and_swing(known[each.number])[1]) for each in correctives}
    if poses:
        corrective_drivers.write_drivers(keys, armature, bone, correctives[0].axis, poses)


def _solve(
    item: bpy.types.Object,
    number: str,
    block: bpy.types.ShapeKey,
    vertices: NDArray[np.intp],
    positions: NDArray[np.float64],
    view_layer: bpy.types.ViewLayer,
    others_stay: bool = False,
) -> Solved:
    """`corrective_solving.solve`, also of a muted key; a ValueError leaves its shape as it was."""
    muted, block.mute = block.mute, False
    before = reading.key_points(block)
    try:
        solved = solve(item, block, vertices, positions, view_layer, others_stay)
    except ValueError:
        block.data.foreach_set("co", before.astype(np.float32).reshape(-1))
        block_of_key(block).update_tag()
        raise
    finally:
        block.mute = muted
    # An export leaves no trace.
    if not stand_in.is_active():
        values: Any = block_of_key(block)
        values[_RECORDS][number]["weights"] = _weights(item) or ""
    return solved


def remove(item: bpy.types.Object, corrective: Corrective) -> None:
    """Remove a corrective with its shape key and its drivers."""
    keys = block_of_key(corrective.key)
    rest = [each for each in find(item) if each.number != corrective.number]
    forget(item, corrective.number)
    item.shape_key_remove(corrective.key)
    alike = [each for each in rest if (each.armature, each.bone) == (corrective.armature, corrective.bone)]
    if alike:
        _drive(keys, corrective.armature, corrective.bone, alike)


def forget(item: bpy.types.Object, number: str) -> None:
    """Remove all of a corrective but its shape key."""
    values: Any = mesh_of(item).shape_keys
    corrective_drivers.remove_drivers(values, number)
    _forget_target(item, number)
    del values[_RECORDS][number]


def _forget_target(item: bpy.types.Object, number: str) -> None:
    keys = mesh_of(item).shape_keys
    record = records(keys).get(number) if keys is not None else None
    if record is not None:
        targets.forget(mesh_of(item), target_name(number, record))


# ----------------------------------------------------------------------------------------------- shapes that are known


def put(
    item: bpy.types.Object,
    armature: bpy.types.Object,
    bone: str,
    swing: Vector3,
    name: str,
    deltas: NDArray[np.float64],
) -> Corrective:
    """Add a corrective by its shape, without a target; one of the same pose of the bone is written over.

    The swing is a rotation vector of the bone in the pose, in its axes at rest; the shape adds the deltas (V, 3) at
    rest, in the space of the object.
    If that is impossible, a ValueError says why, and nothing has changed.
    """
    _check_relative(item)
    shape_keys.check(item)
    alike = [each for each in find(item) if (each.armature, each.bone) == (armature, bone)]
    axis = _axes(item, armature).get(bone, ALONG_BONE)
    swing, _twist = swings.split(swings.rotation_of(swing), axis)
    near = corrective_drivers.SAME_SWING
    same = next((each for each in alike if np.linalg.norm(np.subtract(each.swing, swing)) < near), None)
    if same is None:
        corrective_drivers.check([each.swing for each in alike], swing)
    keys = bake.with_basis(item)
    block = item.shape_key_add(name=name, from_mix=False) if same is None else same.key
    number = _free_number(keys) if same is None else same.number
    basis, _deltas = shape_keys.basis_and_deltas(block)
    block.data.foreach_set("co", (basis + deltas).astype(np.float32).reshape(-1))
    _forget_target(item, number)
    _keep(keys, number, {"axis": axis, "swing": swing})
    made = Corrective(number, block, armature, bone, axis, swing, False)
    _drive(keys, armature, bone, [*(each for each in alike if each.number != number), made])
    keys.update_tag()
    return made


def _free_number(keys: bpy.types.Key) -> str:
    return str(max(map(int, records(keys)), default=0) + 1)


def swing_about(armature: bpy.types.Object, bone: str, turned: Vector) -> Vector3:
    """A rotation vector in the axes of the armature, in those of a bone at rest."""
    own = pose_of(armature).bones[bone].bone.matrix_local.to_3x3().inverted() @ turned
    return swings.as_vector(np.array(own))


def _other_side(armature: bpy.types.Object, bone: str) -> str:
    """The bone across x of the armature, by the names or places of all. Raises ValueError if there is none."""
    bones = list(pose_of(armature).bones)
    numbers = {each.name: number for number, each in enumerate(bones)}
    found = library.load("weights").mirror_joints(
        list(numbers),
        np.array([each.bone.head_local for each in bones], np.float64),
        parents=[-1 if each.parent is None else numbers[each.parent.name] for each in bones],
    )
    other: str = bones[found.joints[numbers[bone]]].name
    if other == bone:
        raise ValueError(f"{bone} has no other side: no bone has its name, or its place, there")
    return other


def _flipped(words: str, bone: str, other: str) -> str:
    """A name for the other side of a bone."""
    return words.replace(bone, other) if bone in words else bpy.utils.flip_name(words)


def mirror(item: bpy.types.Object, corrective: Corrective) -> tuple[Corrective, int]:
    """Make the corrective of the other side, across x of the armature, by the names of bones, or else their places.

    Returned besides is how many of the vertices have none where the other side would be. Raises ValueError if most have
    none, the bone has no other side, or as `put`.
    """
    armature, bone, key = corrective.armature, corrective.bone, corrective.key
    other = _other_side(armature, bone)
    bones = pose_of(armature).bones
    # A rotation vector keeps its x and changes its other signs as it is mirrored across x.
    turned = bones[bone].bone.matrix_local.to_3x3() @ Vector(corrective.swing)
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
    name = re.sub(r"^.*?(?=( [\d.]+)?$)", lambda words: _flipped(words[0], bone, other), key.name, count=1)
    return put(item, armature, other, swing, name, mirrored), missing
