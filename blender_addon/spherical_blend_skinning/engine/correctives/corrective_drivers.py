# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers of correctives: shape keys that the swings of a bone drive, by expressions that need no Python.

The formula is that of `sbs/drivers.h` for one joint, without its rounded corners. A swing is a rotation vector in the
axes of the bone, across its own y axis, so it has two components, x = (x, z). The corrective of the swing x_k has

    f_k(x) = min(|x| cos a, |x_k|) cos^2 a,

a being the angle between x and x_k, and 0 beyond a right angle. Those of a bone have the weights w = F^-T f(x) with
F_ik = f_k(x_i): 1 in the own pose, 0 in the others and at rest. Each f_k is a custom property of the mesh, which has a
driver, and a value is the sum of these properties with the coefficients of F^-T. They are not with the shape keys:
Blender's glTF exporter leaves out the values of all if drivers there drive anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Quaternion
from numpy.typing import NDArray

from ...settings.given import pose_of
from ...settings.typed import animation_of

#: Swings below this, in radians, are too near the rest pose to drive anything.
LEAST_SWING = 0.05
_PROPERTY = "sbs_corrective_"
# Variables of a bone: the angle of its swing, and the quaternion of its rotation.
_VARIABLES = {
    "a": ("SWING_TWIST_Y", "ROT_W"),
    "w": ("QUATERNION", "ROT_W"),
    "x": ("QUATERNION", "ROT_X"),
    "y": ("QUATERNION", "ROT_Y"),
    "z": ("QUATERNION", "ROT_Z"),
}


def swing_of(armature: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> tuple[float, float]:
    """The swing of a bone as constraints leave it, in radians about its x and z axes at rest."""
    posed = armature.evaluated_get(depsgraph)
    pose_bone = pose_of(posed).bones[bone]
    local = posed.convert_space(pose_bone=pose_bone, matrix=pose_bone.matrix, from_space="POSE", to_space="LOCAL")
    swing, _twist = local.to_quaternion().normalized().to_swing_twist("Y")
    return swing_vector(swing)


def swing_vector(swing: Quaternion) -> tuple[float, float]:
    """The rotation vector of a swing, by its x and z."""
    across = np.hypot(swing.x, swing.z)
    if across == 0.0:
        return 0.0, 0.0
    factor = 2.0 * np.arctan2(across, abs(swing.w)) / across * (1.0 if swing.w >= 0 else -1.0)
    return float(factor * swing.x), float(factor * swing.z)


def _function(swing: NDArray[np.float64], pose: NDArray[np.float64]) -> float:
    """f_k(x)."""
    length = float(np.linalg.norm(pose))
    along = float(swing @ pose) / length
    cosine = along / max(float(np.linalg.norm(swing)), 1e-12)
    return min(along, length) * cosine**2 if along > 0 else 0.0


def coefficients(swings: NDArray[np.float64]) -> NDArray[np.float64]:
    """F^-T of the poses (n, 2) of a bone: row k has the coefficients of the weight of pose k.

    Raises ValueError if two of the poses are too near each other, or one is too near the rest pose.
    """
    if np.linalg.norm(swings, axis=1).min() < LEAST_SWING:
        raise ValueError("The bone is hardly bent: bend it to where it looks wrong first")
    functions = np.array([[_function(swing, pose) for pose in swings] for swing in swings])
    if np.linalg.cond(functions) > 1e3:
        raise ValueError("There is a corrective of this pose already: edit that one")
    return np.asarray(np.linalg.inv(functions).T)


def _expression(pose: NDArray[np.float64]) -> str:
    """f_k by a, w, x, y and z; Blender evaluates expressions that are as simple as this without Python.

    The quaternion is that of the swing times that of the twist, so the swing has (x w + z y) / n and (z w - x y) / n as
    its x and z, with n^2 = w^2 + y^2.
    """
    length = float(np.linalg.norm(pose))
    along = f"max({pose[0] / length:.7g}*(x*w+z*y)+{pose[1] / length:.7g}*(z*w-x*y),0)"
    square = "((w*w+y*y)*(x*x+z*z)+1e-12)"
    return f"min(a*{along}/sqrt{square},{length:.7g})*pow({along},2)/{square}"


def _path(number: str) -> str:
    return f'["{_PROPERTY}{number}"]'


def write_drivers(keys: bpy.types.Key, armature: bpy.types.Object, bone: str, poses: Mapping[str, Any]) -> None:
    """Write the drivers of all correctives of a bone, of which `poses` has shape keys and swings by their numbers.

    If these poses cannot be told apart, that is a ValueError, and nothing has changed.
    """
    found = coefficients(np.array([swing for _, swing in poses.values()], np.float64))
    mesh: Any = keys.user
    for number, (_, swing) in poses.items():
        mesh[f"{_PROPERTY}{number}"] = 0.0
        mesh.driver_remove(_path(number))
        driver: Any = mesh.driver_add(_path(number)).driver
        for name, (mode, channel) in _VARIABLES.items():
            variable = driver.variables.new()
            variable.name, variable.type = name, "TRANSFORMS"
            target = variable.targets[0]
            target.id, target.bone_target = armature, bone
            target.transform_type, target.rotation_mode = channel, mode
            target.transform_space = "LOCAL_SPACE"
        driver.expression = _expression(np.array(swing, np.float64))
    numbers = list(poses)
    for row, (number, (block, _)) in zip(found, poses.items(), strict=True):
        block.driver_remove("value")
        driver = block.driver_add("value").driver
        # Its own comes first: by this the corrective of a shape key is found, whatever its name.
        order = sorted(range(len(numbers)), key=lambda other: numbers[other] != number)
        terms = []
        for place, other in enumerate(order):
            if other != order[0] and abs(row[other]) < 1e-6:
                continue
            variable = driver.variables.new()
            variable.name, variable.type = f"f{place}", "SINGLE_PROP"
            variable.targets[0].id_type = "MESH"
            variable.targets[0].id = mesh
            variable.targets[0].data_path = _path(numbers[other])
            terms.append(f"{row[other]:+.7f}*f{place}")
        driver.expression = "".join(terms)


def remove_drivers(keys: bpy.types.Key, number: str) -> None:
    """Remove the drivers of a corrective: of its function, and of its shape key if it is there."""
    block = driven_keys(keys).get(number)
    if block is not None:
        block.driver_remove("value")
    mesh: Any = keys.user
    mesh.driver_remove(_path(number))
    mesh.pop(f"{_PROPERTY}{number}", None)


class Driven(NamedTuple):
    """A shape key, and the bone that drives it."""

    key: bpy.types.ShapeKey
    armature: bpy.types.Object
    bone: str


def find(keys: bpy.types.Key) -> dict[str, Driven]:
    """Driven keys, by the numbers of correctives: found by drivers, which follow renaming.

    Without correctives whose key, driver or bone was deleted.
    """
    blocks = driven_keys(keys)
    found = {}
    for path, target in _first_targets(keys.user):
        armature, number = target.id, _number(path)
        if number not in blocks or not isinstance(armature, bpy.types.Object) or armature.pose is None:
            continue
        if target.bone_target in armature.pose.bones:
            found[number] = Driven(blocks[number], armature, target.bone_target)
    return found


def driven_keys(keys: bpy.types.Key) -> dict[str, bpy.types.ShapeKey]:
    """Shape keys with a driver, by the numbers of correctives, whether or not their bones are there."""
    paths = {f'key_blocks["{bpy.utils.escape_identifier(block.name)}"].value': block for block in keys.key_blocks}
    found: dict[str, bpy.types.ShapeKey] = {}
    for path, target in _first_targets(keys):
        if path in paths:
            found.setdefault(_number(target.data_path), paths[path])
    return found


def _number(path: str) -> str:
    """The number of the corrective whose function has a data path."""
    return path.removeprefix(f'["{_PROPERTY}').removesuffix('"]')


def _first_targets(block: bpy.types.ID) -> Iterator[tuple[str, bpy.types.DriverTarget]]:
    """The path of each driver of a data-block, and its first target."""
    data = animation_of(block)
    for curve in data.drivers if data is not None else ():
        if curve.driver is not None and curve.driver.variables:
            yield curve.data_path, curve.driver.variables[0].targets[0]
