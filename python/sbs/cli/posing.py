# SPDX-License-Identifier: MIT
"""Poses that turn joints of a character, as options say them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..characters.character import Character
from ..characters.poses import axes, bone_axis
from ..rigging.animation import Animation
from ..support.rotations import matrices_from_axis_angle
from .options import (
    ANIMATION,
    AXES,
    TIME,
    find_animation,
    gathered,
    given,
    has_option,
    joint_option,
    known_joints,
    parse_direction,
    pose_at,
    read_numbers,
    refuse_idle,
)

# The axis of a turn, by a word or as a direction, and the angle in degrees.
Turn = tuple[str | tuple[float, ...], float]


def parse_turns(context: click.Context, parameter: click.Parameter, texts: Sequence[str]) -> tuple[Turn, ...]:
    """A callback for options that take AXIS:DEGREES, such as x:125, bone:170, 90 for bend:90, or 1,0,1:-30."""
    turns: list[Turn] = []
    for text in texts:
        axis, colon, angle = text.rpartition(":")
        axis = axis if colon else "bend"
        degrees = read_numbers(angle)
        if len(degrees) != 1:
            raise click.BadParameter(f"{text!r} is not AXIS:DEGREES, as in x:125 or bone:170", context, parameter)
        is_word = axis in ("bone", "bend")
        turns.append((axis if is_word else AXES.get(axis) or parse_direction(context, parameter, axis), *degrees))
    return tuple(turns)


JOINT = joint_option("Turn this joint in the bind pose; repeatable, each with its --rotate.")
ROTATE = click.option(
    "--rotate",
    "turns",
    metavar="AXIS:DEGREES",
    multiple=True,
    callback=parse_turns,
    help="How; AXIS is x, y, z or X,Y,Z in the joint's own frame, bone (along it: a twist) or bend (across it); DEGREES"
    " alone bend.",
)


@dataclass(frozen=True)
class PoseOptions:
    """The pose that a command deforms characters in: of an animation, or the bind pose with some joints turned."""

    animation_name: str | None
    time: float | None
    joints: tuple[str, ...]
    turns: tuple[Turn, ...]

    def __post_init__(self) -> None:
        if len(self.joints) != len(self.turns):
            raise click.UsageError("--joint and --rotate go together")
        # A command that compares methods takes an animation by itself.
        moves = self.animation_name is not None or bool(given(["motion_file"])) or has_option("methods")
        refuse_idle(
            (
                bool(self.joints),
                "--joint takes the place of {}",
                ("animation_name", "motion_file", "time", "fps", "frames"),
            ),
            (not moves, "{} needs --animation", ("time",)),
        )

    def animation(self, character: Character) -> Animation | None:
        """The animation of the character with that name, if one is given."""
        return None if self.animation_name is None else find_animation(character, self.animation_name)

    def matrices(self, character: Character, animation: Animation | None) -> NDArray[np.float64]:
        """Skinning matrices (J, 4, 4): of turned joints, of a moment of the animation, or of the pose in the file."""
        if self.joints:
            return turned_joints(character, self.joints, self.turns)
        return pose_at(character, animation, self.time)

    def in_words(self, character: Character, animation: Animation | None) -> str:
        """Which joints are turned and by how much, or the animation and the time."""
        if animation is not None:
            return f"{animation.name} at {self.time or 0:g} s"
        names = [character.skeleton.names[joint] for joint in known_joints(character, self.joints)]
        return ", ".join(f"{name} turned by {turn[1]:g}°" for name, turn in zip(names, self.turns, strict=True))


POSE = gathered("pose", PoseOptions, ANIMATION, TIME, JOINT, ROTATE)


def turned_joints(character: Character, joints: Sequence[str], turns: Sequence[Turn]) -> NDArray[np.float64]:
    """Skinning matrices (J, 4, 4) of the bind pose with some joints turned."""
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
    return character.skinning_matrices(local)
