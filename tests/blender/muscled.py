# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters with muscles for the tests, and their skin as the library covers these muscles."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import addon
import numpy as np
import rigs
from expected import Floats, body, error, move, read
from mathutils import Quaternion
from objects import ArmatureObject, Character, MeshObject, current_layer

# A share of the size of the mesh: Blender has positions and matrices in single precision, of which feet and radii are
# found, and where a muscle is tense its ends are steep. Near the bound at which Newton's method takes one more step,
# one of two calculations takes it; a step changes up to 2.1e-5.
EXACT = 3e-5


def engine(name: str) -> Any:
    return addon.module(f"engine.{name}")


def making() -> Any:
    return addon.module("muscles.making")


def add(
    armature: ArmatureObject, name: str = "Flexor.L", radius: float = 0.12, side: float = 0.2, **numbers: object
) -> Any:
    """A muscle from the second bone of the tube over a via point to the third, on one side."""
    point = making().Point
    path = [point("B1", (side, 0.0, 1.2)), point("B1", (side, 0.0, 1.8)), point("B2", (side, 0.0, 2.6))]
    row = making().add(armature, name, path, {"radius": radius, "reach": 0.5, **numbers})
    return muscle_of(armature, row)


def list_of(armature: ArmatureObject) -> list[Any]:
    return list(armature.sbs.muscles)


def is_there(item: Any) -> bool:
    """Whether an object is not deleted: one that something refers to stays in the file."""
    return item is not None and bool(item.library is not None or item.users_collection)


def used(armature: ArmatureObject) -> list[Any]:
    """The muscles that skin has to cover: a deleted belly takes its muscle with it."""
    return [muscle for muscle in list_of(armature) if muscle.use and (is_there(muscle.belly) or not muscle.was_shown)]


def muscle_of(armature: ArmatureObject, which: int | str) -> Any:
    return armature.sbs.muscles[which]


def bend(armature: ArmatureObject, degrees: float = 70.0, bone: str = "B2") -> None:
    """Bend towards the muscle."""
    armature.pose.bones[bone].rotation_quaternion = Quaternion((0.0, 0.0, 1.0), -math.radians(degrees))


def name_sides(armature: ArmatureObject) -> None:
    """Give the bones of the muscle names of the left side."""
    for old, new in (("B1", "Upper.L"), ("B2", "Lower.L")):
        armature.data.bones[old].name = new


def add_right_side(armature: ArmatureObject) -> None:
    """Give these bones counterparts, at the same place."""
    with rigs.editing(armature):
        for name in ("Upper", "Lower"):
            bone, other = armature.data.edit_bones.new(f"{name}.R"), armature.data.edit_bones[f"{name}.L"]
            bone.head, bone.tail = other.head, other.tail


def make_character() -> Character:
    tube, armature = rigs.make_bound(rows=81)
    add(armature)
    bend(armature)
    return tube, armature


def described(sbs: Any, armature: ArmatureObject) -> list[Any]:
    """The muscles of the armature for the library, by their objects as they are in the rest pose."""
    pose = armature.data.pose_position
    armature.data.pose_position = "REST"
    current_layer().update()
    from_world = armature.matrix_world.inverted()
    found = []
    for muscle in used(armature):
        handles = [muscle.origin, muscle.via, muscle.second_via, muscle.insertion]
        handles = [handle for handle in handles if is_there(handle)]
        if is_there(muscle.origin) and is_there(muscle.insertion):
            found.append(
                sbs.muscles.Muscle(
                    name=muscle.name,
                    joints=tuple(handle.parent_bone for handle in handles),
                    points=tuple(tuple(from_world @ handle.matrix_world.translation) for handle in handles),
                    radius=muscle.radius,
                    reach=muscle.reach,
                    tendons=(muscle.tendon_at_origin, muscle.tendon_at_insertion),
                    profile=tuple(muscle.radii) if muscle.profile == "RADII" else (),
                    flattening=muscle.flattening,
                    thin_direction=(1.0, 0.0, 0.0),
                    contraction=muscle.contraction,
                    most_growth=muscle.most_growth,
                )
            )
    armature.data.pose_position = pose
    current_layer().update()
    return found


def covered(tube: MeshObject, armature: ArmatureObject, rest: Floats | None = None) -> Floats:
    """The mesh deformed by `sbs` in armature space with its muscles, brought back to its own space, (V, 3)."""
    sbs = addon.module("core.library").load()
    muscles = described(sbs, armature)
    to_rig, bones, weights, matrices = read(tube, armature)
    faces = rigs.triangles(tube.data)
    if np.linalg.det(to_rig[:3, :3]) < 0.0:
        faces = faces[:, ::-1]
    places = move(to_rig, rigs.positions(tube.data) if rest is None else rest)
    corners = places[faces]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros_like(places)
    np.add.at(normals, faces, areas[:, None])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    character = body(sbs, bones, places, weights, faces, normals)
    found = np.array(character.skin.deform(matrices))
    if muscles:
        activations = [
            muscle.activation for muscle in used(armature) if is_there(muscle.origin) and is_there(muscle.insertion)
        ]
        sbs.muscles.bind(character, muscles).apply(found, matrices, activations=np.clip(activations, 0.0, 1.0))
    return move(np.linalg.inv(to_rig), found)


def uncovered(tube: MeshObject, armature: ArmatureObject, rest: Floats | None = None) -> Floats:
    """As `covered`, without muscles."""
    covering = [muscle for muscle in list_of(armature) if muscle.use]
    for muscle in covering:
        muscle.use = False
    try:
        return covered(tube, armature, rest)
    finally:
        for muscle in covering:
            muscle.use = True


def assert_right(tube: MeshObject, armature: ArmatureObject, rest: Floats | None = None) -> Floats:
    current_layer().update()
    found = rigs.evaluated(tube)
    assert error(found, covered(tube, armature, rest)) < EXACT
    return found


def make_override(path: Path, *, fully_editable: bool = True) -> Character:
    """A library override of the character of this file, saved there; bent."""
    rigs.save_library(path)
    tube, armature = rigs.override_character(path, fully_editable=fully_editable)
    bend(armature, 50.0)
    return tube, armature


def state(tube: MeshObject) -> Any:
    current_layer().update()
    return engine("live.states").state_of(tube)


def without(tube: MeshObject) -> Floats:
    tube.sbs.use_muscles = False
    found = rigs.evaluated(tube)
    tube.sbs.use_muscles = True
    current_layer().update()
    return found
