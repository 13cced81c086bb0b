# SPDX-License-Identifier: MIT
"""Poses that turn joints of a character, as options say them."""

from __future__ import annotations

from collections.abc import Sequence

import click
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..characters.character import Character
from ..poses import axes, bone_axis
from ..rotations import matrices_from_axis_angle
from .completion import complete_joints
from .options import AXES, known_joints, parse_direction

# About what a joint turns, by word or as a direction, and by how many degrees.
Turn = tuple[str | tuple[float, ...], float]


def parse_turns(context: click.Context, parameter: click.Parameter, texts: Sequence[str]) -> tuple[Turn, ...]:
    """A callback for options that take AXIS:DEGREES, such as x:125, bone:170, bend:90 or 1,0,1:-30."""
    turns: list[Turn] = []
    for text in texts:
        axis, _, angle = text.rpartition(":")
        try:
            degrees = float(angle)
        except ValueError:
            degrees = np.nan
        if not np.isfinite(degrees):
            raise click.BadParameter(f"{text!r} is not AXIS:DEGREES, as in x:125 or bone:170", context, parameter)
        if axis in ("bone", "bend"):
            turns.append((axis, degrees))
        else:
            turns.append((AXES.get(axis) or parse_direction(context, parameter, axis), degrees))
    return tuple(turns)


JOINT = click.option(
    "--joint",
    "joints",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_joints,
    help="Turn this joint in the bind pose; repeatable, each with its --rotate.",
)
ROTATE = click.option(
    "--rotate",
    "turns",
    metavar="AXIS:DEGREES",
    multiple=True,
    callback=parse_turns,
    help="How; AXIS is x, y, z or X,Y,Z in the joint's own frame, bone (along it: a twist) or bend (across it).",
)


def check_turns(joints: Sequence[str], turns: Sequence[Turn]) -> None:
    """See that there are as many joints as rotations.

    Raises
    ------
    click.UsageError
        If there are not.
    """
    if len(joints) != len(turns):
        raise click.UsageError("--joint and --rotate go together")


def turned_joints(
    character: Character, joints: Sequence[str], turns: Sequence[Turn]
) -> tuple[NDArray[np.float64], list[int]]:
    """Skinning matrices (J, 4, 4) of the bind pose with some joints turned, and the numbers of those.

    Raises
    ------
    click.BadParameter
        If there is no such joint, or one is turned twice.
    ValueError
        If a joint has no bone to turn about.
    """
    skeleton = character.skeleton
    numbers = known_joints(character, joints)
    local = np.tile(np.eye(3), (len(skeleton), 1, 1))
    for place, (number, (axis, degrees)) in enumerate(zip(numbers, turns, strict=True)):
        if number in numbers[:place]:
            raise click.BadParameter(f"{skeleton.names[number]!r} is turned twice", param_hint="--joint")
        if axis == "bone":
            direction: ArrayLike = bone_axis(skeleton, number)
        else:
            direction = axes(skeleton, number)[0] if axis == "bend" else axis
        local[number] = matrices_from_axis_angle(direction, degrees, degrees=True)
    return character.skinning_matrices(local), numbers


def in_words(character: Character, numbers: Sequence[int], turns: Sequence[Turn]) -> str:
    """Which joints are turned, and by how much."""
    names = character.skeleton.names
    return ", ".join(f"{names[number]} turned by {turn[1]:g}°" for number, turn in zip(numbers, turns, strict=True))
