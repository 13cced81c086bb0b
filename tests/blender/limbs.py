# SPDX-License-Identifier: GPL-3.0-or-later
"""A tube about the bones of an arm, and its shape by the library with twists spread along them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import addon
import bpy
import numpy as np
import rigs
from expected import Floats, body, error, move, read
from mathutils import Quaternion
from objects import ArmatureObject, Character, MeshObject, current_layer

NAMES = ("Shoulder", "UpperArm", "ForeArm", "Hand")
LIMBS = ("UpperArm", "ForeArm")

# As a share of the size of the mesh: Blender has positions in single precision.
EXACT = 1e-6


def make(rows: int = 41) -> Character:
    """The tube and its armature, not bound."""
    armature = rigs.make_armature()
    for number, name in enumerate(NAMES):
        armature.data.bones[f"B{number}"].name = name
    return make_tube(rows), armature


def make_tube(rows: int = 41, name: str = "Tube", only: Sequence[str] = NAMES) -> MeshObject:
    """A tube with the vertex groups of all of the bones, or only of some."""
    tube = rigs.make_tube(rows=rows, name=name)
    for number, bone in enumerate(NAMES):
        group = tube.vertex_groups[f"B{number}"]
        group.name = bone
        if bone not in only:
            tube.vertex_groups.remove(group)
    return tube


def bind_more(armature: ArmatureObject, *items: MeshObject) -> None:
    current_layer().update()
    rigs.select([*items, armature])
    assert addon.ops.bind() == {"FINISHED"}


def twist(armature: ArmatureObject, bone: str, degrees: float) -> None:
    """Turn a bone about its own axis, from rest."""
    armature.pose.bones[bone].rotation_quaternion = Quaternion((0.0, 1.0, 0.0), math.radians(degrees))


def bound() -> Character:
    """A bound tube and its posed armature, with twists spread, as by the checkbox."""
    tube, armature = make()
    rigs.bind(tube, armature)
    tube.sbs.spread_twist = True
    pose(armature)
    return tube, armature


def bound_at_rest() -> Character:
    """A tube at rest each of whose vertices has one bone, with twists spread."""
    tube, armature = make(rows=81)
    heights = rigs.positions(tube.data)[:, 2]
    for number, name in enumerate(NAMES):
        tube.vertex_groups[name].remove(range(len(heights)))
        inside = np.flatnonzero((heights > number - 1e-6) & (heights < number + 1 - 1e-6 + (number == 3)))
        tube.vertex_groups[name].add(inside.tolist(), 1.0, "REPLACE")
    rigs.bind(tube, armature)
    tube.sbs.spread_twist = True
    return tube, armature


def pose(armature: ArmatureObject, degrees: float = 170.0) -> None:
    """Turn all bones, and the forearm about its own axis alone."""
    rigs.turn(armature)
    twist(armature, "ForeArm", degrees)


def assert_spread(tube: MeshObject, armature: ArmatureObject, *names: str, **options: Any) -> None:
    """The mesh is as the library says, with twists spread along these bones or both limbs."""
    assert error(rigs.evaluated(tube), deformed(tube, armature, names or LIMBS, **options)) < EXACT


def ticked(armature: ArmatureObject) -> list[str]:
    """The bones along which the artist has twists spread."""
    return [bone.name for bone in armature.pose.bones if bone.sbs_twist]


def binding_of(tube: MeshObject) -> Any:
    """The binding of the live engine, up to date."""
    current_layer().update()
    return rigs.state_of(tube).binding


def deformed(
    item: MeshObject,
    armature: ArmatureObject,
    names: Sequence[str] | Callable[[Any, Sequence[bpy.types.PoseBone]], Any] | None = LIMBS,
    *,
    across: float = 0.35,
    twists: Floats | None = None,
    rest: Floats | None = None,
    mesh: bpy.types.Mesh | None = None,
    centers: Floats | None = None,
    smooth: bool = False,
    frames: int = 4,
    **options: Any,
) -> Floats:
    """The mesh deformed by `sbs.Skin` with twists in armature space, and brought back to its own space, (V, 3).

    Twists are spread along the bones of these names, or those that the library finds if there are None; a function
    makes the `sbs.Twist` of the package and the bones that deform. By default they are those of the pose; rest
    positions tell where the vertices are that move, those of the mesh where they are along bones. The other options
    are those of `sbs.twist_amounts`, `sbs.limb_twist` and `sbs.Skin.deform`.
    """
    sbs = addon.module("core.library").load()
    to_rig, bones, weights, matrices = read(item, armature, mesh)
    places = move(to_rig, np.array([vertex.co for vertex in (mesh or item.data).vertices], np.float64))
    character = body(sbs, bones, places, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        if callable(names):
            spread = names(sbs, bones)
        else:
            spread = sbs.limb_twist(character, names, smooth=smooth, frames=frames)
        given = {} if centers is None else {"centers": move(to_rig, centers)}
        indices = np.broadcast_to(np.arange(len(bones)), weights.shape)
        skin = sbs.Skin(places, indices, weights, joint_count=len(bones), twist=spread, **given)
        moved = {} if rest is None else {"rest_positions": move(to_rig, rest)}
        if across < 1.0:
            options["amount"] = sbs.twist_amounts(character, spread, across)
        found = skin.deform(matrices, twists=twists, **moved, **options)
    return move(np.linalg.inv(to_rig), found)
