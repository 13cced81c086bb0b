# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers of correctives: shape keys that the swings of a bone drive, by expressions that need no Python.

The formula is that of `sbs/drivers.h` for one joint. A swing has two coordinates, across the limb. All that the formula
has is a custom property of the mesh, with a driver that finds it from others, as expressions are short: the
coordinates, and of each pose its nearness c, how far it is reached, how far it has faded into each other one, and its
share q. The value of a shape key is its share times a factor of all. Expressions of bones with one corrective are
shorter: its share is its weight. The properties are not with the shape keys: Blender's glTF exporter leaves out the
values of all if drivers there drive anything else.

Files of earlier versions have drivers of another formula, which go on working until a corrective of their bone changes
or is solved again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...settings.typed import animation_of
from .swings import ALONG_BONE, Vector3

Floats = NDArray[np.float64]

#: Swings below this, in radians, are too near the rest pose to drive anything.
LEAST_SWING = 0.05
#: Swings that differ by less, in radians, are the same pose.
SAME_SWING = 0.02
#: The most poses of a bone: expressions that name all of them have up to 255 characters.
MOST_POSES = 16
#: Of the values of a bone together.
MOST_VALUE = 1.1
# Poses on opposite sides, by the cosine of their angle, never have a share at once.
_OPPOSITE = -0.9999
_PROPERTY = "sbs_corrective_"


def check(others: list[Vector3], swing: Vector3) -> None:
    """Refuse a swing that cannot be told apart from rest, or from others of its bone. Raises ValueError."""
    if np.linalg.norm(swing) < LEAST_SWING:
        raise ValueError("The bone is hardly bent: bend it to where it looks wrong first")
    if any(np.linalg.norm(np.subtract(other, swing)) < SAME_SWING for other in others):
        raise ValueError("There is a corrective of this pose already: edit that one")
    if len(others) >= MOST_POSES:
        raise ValueError(f"The bone has {len(others)} correctives already, which is the most: remove one first")


# ------------------------------------------------------------------------------------------------------ expressions --


def _plane(axis: Vector3) -> tuple[Floats, Floats]:
    """Two directions across an axis at right angles, of which the first is turned into the second about it."""
    along = np.array(axis)
    beside = np.eye(3)[min((2, 0, 1), key=lambda number: abs(axis[number]))]
    first = beside - (beside @ along) * along
    first /= np.linalg.norm(first)
    return first, np.cross(along, first)


def _coordinate(axis: Vector3, number: int, p: str) -> str:
    """A coordinate of a swing, by the quaternion w, x, y, z, of which a variable p is along the axis.

    With v across the axis, the swing is the direction (w v + p (axis x v)) / m by the angle 2 atan2(|v|, m), where
    m^2 = w^2 + p^2. Least squares keep quotients finite at rest and at half a turn.
    """
    first, second = (_sum(direction, "xyz") for direction in _plane(axis))
    across = f"w*({second})+{p}*({first})" if number else f"w*({first})-{p}*({second})"
    square, rest = f"max(x*x+y*y+z*z-{p}*{p},1e-12)", f"max(w*w+{p}*{p},1e-12)"
    return f"2*atan2(sqrt({square}),sqrt({rest}))/sqrt({square}*{rest})*({across})"


def _sum(factors: Floats, names: str) -> str:
    """The sum of some variables with factors."""
    terms = [f"{factor:+.7g}*{name}" for factor, name in zip(factors, names, strict=True) if abs(factor) > 1e-9]
    return "".join(terms).removeprefix("+")


def _ramp(share: str) -> str:
    """The ramp h of sbs/drivers.h; share is a sum."""
    inside = f"clamp({share},0,1)"
    return f"({inside}-.03125+8*(pow(max(.0625-{inside},0),2)-pow(max({inside}-.9375,0),2)))/.9375"


def _nearness(pose: Floats) -> str:
    return f"pow(max({_sum(pose / np.linalg.norm(pose), 'xz')},0),2)/(x*x+z*z+1e-30)"


def _share_of(step: Floats, begin: Floats) -> str:
    """How far along a step from its begin the coordinates are. Ramps are level at their ends, so few digits do."""
    across = step / (step @ step)
    return f"{across[0]:.6g}*x{across[1]:+.6g}*z{-float(begin @ across):+.6g}"


_LEVEL = "(min(s*q/max(t,1e-30),1.2)-pow(max(min(s*q/max(t,1e-30),1.2)-1,0),2)/.4)/max(q,1e-30)"


class _Function(NamedTuple):
    """An expression, and the properties that its variables are, by their names."""

    expression: str
    variables: Mapping[str, str]


def ramp(share: float) -> float:
    """The ramp h of sbs/drivers.h."""
    inside = min(max(share, 0.0), 1.0)
    return (inside - 0.03125 + 8 * (max(0.0625 - inside, 0.0) ** 2 - max(inside - 0.9375, 0.0) ** 2)) / 0.9375


def _functions(axis: Vector3, swings: Mapping[str, Vector3]) -> dict[str, _Function]:
    """All properties of a bone that are found from its coordinates, by their names, in the order of dependence."""
    directions = _plane(axis)
    poses = {number: np.array([swing @ each for each in directions]) for number, swing in _arrays(swings).items()}
    base = next(iter(poses))
    x, z = f"{base}_x", f"{base}_z"
    place = {"x": x, "z": z}
    found: dict[str, _Function] = {}
    for number, pose in poses.items():
        nearness = _nearness(pose)
        reached = _ramp(_share_of(pose, np.zeros(2)))
        if len(poses) == 1:
            return {number: _Function(f"{nearness}*{reached}", place)}
        found[f"{number}_c"] = _Function(nearness, place)
        found[f"{number}_r"] = _Function(f"c*{reached}", {"c": f"{number}_c", **place})
    sums = {}
    for number, pose in poses.items():
        own = pose @ pose
        faded: dict[str, str] = {}
        sums[number] = 0.0
        for other, to in poses.items():
            cosine = float(pose @ to / np.sqrt(own * (to @ to)))
            alike = max(cosine, 0.0) ** 2
            sums[number] += ramp(float(pose @ to / (to @ to))) * alike
            if other == number or cosine < _OPPOSITE:
                continue
            name = f"{number}_u_{other}"
            towards = _ramp(_share_of(to - pose, pose))
            variables = {"c": f"{other}_c", **place}
            found[name] = _Function(f"pow(1/(1.000000001-(1-{1 - alike:.6g}*(1-c))*{towards})-1,2)", variables)
            faded[f"u{len(faded)}"] = name
        expression = f"c/(1+sqrt({'+'.join(faded) or '0'}))"
        found[number] = _Function(expression, {"c": f"{number}_c", **faded})
    shares = {f"q{place}": number for place, number in enumerate(poses)}
    at_poses = "+".join(f"{sums[number]:.7g}*{name}" for name, number in shares.items())
    reached_all = {f"r{place}": f"{number}_r" for place, number in enumerate(poses)}
    found[f"{base}_s"] = _Function("+".join(reached_all), reached_all)
    found[f"{base}_q"] = _Function("+".join(shares), shares)
    found[f"{base}_t"] = _Function(at_poses, shares)
    found[f"{base}_l"] = _Function(_LEVEL, {name: f"{base}_{name}" for name in "sqt"})
    return found


def _arrays(swings: Mapping[str, Vector3]) -> dict[str, Floats]:
    return {number: np.array(swing) for number, swing in swings.items()}


# ---------------------------------------------------------------------------------------------------------- drivers --


def _path(number: str) -> str:
    return f'["{_PROPERTY}{number}"]'


def write_drivers(
    keys: bpy.types.Key, armature: bpy.types.Object, bone: str, axis: Vector3, poses: Mapping[str, Any]
) -> None:
    """Write the drivers of all correctives of a bone, of which `poses` has shape keys and swings by their numbers.

    `axis` is the direction of the limb; swings are across it.
    """
    mesh: Any = keys.user
    for number in poses:
        _clear(mesh, number)
    base = next(iter(poses))
    about = {name: ("QUATERNION", f"ROT_{name.upper()}") for name in "wxyz"}
    along = "y" if axis == ALONG_BONE else "p"
    if along == "p":
        driver = _new_driver(mesh, f"{base}_p", _sum(np.array(axis), "xyz"))
        for name in "xyz":
            _add_channel(driver, name, about[name], armature, bone)
    for place, name in enumerate("xz"):
        driver = _new_driver(mesh, f"{base}_{name}", _coordinate(axis, place, along))
        for channel, kind in about.items():
            _add_channel(driver, channel, kind, armature, bone)
        if along == "p":
            _add_property(driver, "p", mesh, f"{base}_p")
    for name, function in _functions(axis, {number: swing for number, (_, swing) in poses.items()}).items():
        driver = _new_driver(mesh, name, function.expression)
        for variable, other in function.variables.items():
            _add_property(driver, variable, mesh, other)
    for number, (block, _) in poses.items():
        block.slider_max = max(block.slider_max, MOST_VALUE)  # Blender holds values at it
        block.driver_remove("value")
        driver = _driver_of(block.driver_add("value"))
        # Its share comes first: by this the corrective of a shape key is found, whatever its name.
        _add_property(driver, "q", mesh, number)
        if len(poses) > 1:
            _add_property(driver, "l", mesh, f"{base}_l")
        driver.expression = "q*l" if len(poses) > 1 else "q"


def _new_driver(mesh: Any, name: str, expression: str) -> Any:
    mesh[_PROPERTY + name] = 0.0
    driver = _driver_of(mesh.driver_add(_path(name)))
    driver.expression = expression
    return driver


def _driver_of(curve: Any) -> Any:
    """The driver of a new curve, whose keys at 0 and 1 would attract values that are nearer than 1e-4."""
    while curve.keyframe_points:
        curve.keyframe_points.remove(curve.keyframe_points[0])
    return curve.driver


def _add_channel(driver: Any, name: str, kind: tuple[str, str], armature: bpy.types.Object, bone: str) -> None:
    variable = driver.variables.new()
    variable.name, variable.type = name, "TRANSFORMS"
    target = variable.targets[0]
    target.id, target.bone_target = armature, bone
    target.rotation_mode, target.transform_type = kind
    target.transform_space = "LOCAL_SPACE"


def _add_property(driver: Any, name: str, mesh: Any, number: str) -> None:
    variable = driver.variables.new()
    variable.name, variable.type = name, "SINGLE_PROP"
    variable.targets[0].id_type = "MESH"
    variable.targets[0].id = mesh
    variable.targets[0].data_path = _path(number)


def _clear(mesh: Any, number: str) -> None:
    """Remove all properties that are named after a corrective, with their drivers."""
    own = _PROPERTY + number
    for name in [name for name in list(mesh.keys()) if name == own or name.startswith(f"{own}_")]:
        mesh.driver_remove(f'["{name}"]')
        del mesh[name]


def remove_drivers(keys: bpy.types.Key, number: str) -> None:
    """Remove the drivers of a corrective: of its functions, and of its shape key if it is there."""
    block = driven_keys(keys).get(number)
    if block is not None:
        block.driver_remove("value")
    _clear(keys.user, number)


class Driven(NamedTuple):
    """A shape key, and the bone that drives it."""

    key: bpy.types.ShapeKey
    armature: bpy.types.Object
    bone: str
    is_former: bool  #: Whether its drivers have the formula of earlier versions


def find(keys: bpy.types.Key) -> dict[str, Driven]:
    """Driven keys, by the numbers of correctives: found by drivers, which follow renaming.

    Without correctives whose key, driver or bone was deleted.
    """
    blocks, targets = driven_keys(keys), dict(_first_targets(keys.user))
    found: dict[str, Driven] = {}
    for number, block in blocks.items():
        own = source = targets.get(f'["{_PROPERTY}{number}"]')
        while source is not None and source.data_path in targets and not source.bone_target:
            source = targets[source.data_path]
        armature = None if source is None else source.id
        if own is None or source is None or not isinstance(armature, bpy.types.Object) or armature.pose is None:
            continue
        if source.bone_target in armature.pose.bones:
            found[number] = Driven(block, armature, source.bone_target, own is source)
    return found


def driven_keys(keys: bpy.types.Key) -> dict[str, bpy.types.ShapeKey]:
    """Shape keys with a driver, by the numbers of correctives, whether or not their bones are there."""
    paths = {f'key_blocks["{bpy.utils.escape_identifier(block.name)}"].value': block for block in keys.key_blocks}
    found: dict[str, bpy.types.ShapeKey] = {}
    for path, target in _first_targets(keys):
        number = target.data_path.removeprefix(f'["{_PROPERTY}').removesuffix('"]')
        if path in paths and number.isdigit():
            found.setdefault(number, paths[path])
    return found


def _first_targets(block: bpy.types.ID) -> Iterator[tuple[str, bpy.types.DriverTarget]]:
    """The path of each driver of a data-block, and its first target."""
    data = animation_of(block)
    for curve in data.drivers if data is not None else ():
        if curve.driver is not None and curve.driver.variables:
            yield curve.data_path, curve.driver.variables[0].targets[0]
