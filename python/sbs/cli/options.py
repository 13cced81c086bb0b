# SPDX-License-Identifier: MIT
"""Options that several commands share, and how they apply to a character."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..characters.limbs import limb_twist
from ..options import SHORT_NAMES, method_name
from ..rigging.animation import NEAR_END, Animation
from ..skinning.skin import Skin
from ..skinning.twist import Twist
from ..support.names import nearest_name
from .completion import complete_animations
from .numbers import read_npy
from .streams import InputFile, OutputFile, claim_output

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Command], Command]


CHARACTER = click.argument("file", type=InputFile())
CHARACTERS = click.argument("files", metavar="FILE...", type=InputFile(), nargs=-1, required=True)
MESHES = click.option(
    "--mesh",
    "meshes",
    metavar="NAME",
    multiple=True,
    help="A mesh of the file, which `sbs info` lists; may be given several times.  [default: all]",
)


class MethodChoice(click.Choice[str]):
    """Methods, by the names that help shows and whatever else is understood as one of them."""

    def __init__(self, shown: Iterable[str], name_of: Callable[[str], str]) -> None:
        super().__init__([*shown], case_sensitive=False)
        self._name_of = name_of

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name of the method."""
        try:
            return self._name_of(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


ANY_METHOD = MethodChoice(["rigid", *SHORT_NAMES, *SHORT_NAMES.values()], method_name)


METHOD = click.option("--method", type=ANY_METHOD, default="spherical", show_default=True)
ROTATION = click.option(
    "--rotation",
    type=click.Choice(["qlerp", "average"]),
    default="qlerp",
    show_default=True,
    help="How spherical blends rotations.",
)
CENTER = click.option(
    "--center",
    type=click.Choice(["joint_set", "weighted", "optimized"]),
    default="joint_set",
    show_default=True,
    help="Where spherical puts rotation centers.",
)
CENTERS_CACHE = click.option(
    "--centers-cache",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where optimized centers are kept, to be found once for a mesh and its weights.",
)


def parse_twist(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    """A callback: names of joints, none of them for those that are found, or None for no twist."""
    if text is None or text == "none":
        return None
    return () if text == "auto" else tuple(text.split(","))


TWIST = click.option(
    "--twist",
    metavar="auto|none|NAME,NAME,...",
    callback=parse_twist,
    help="Spread the twists of limbs along their bones: of those that are found, or of these joints.  [default: none]",
)


def parse_amount(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> float | NDArray[np.number[Any]] | None:
    """A callback for options that take a number or an NPY file. The skin checks its shape and range."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return read_npy(text)
    except OSError as error:
        raise click.BadParameter(f"{text!r} is neither a number nor a file", context, parameter) from error
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no NPY file of numbers: {error}", context, parameter) from error


AMOUNT = click.option(
    "--amount",
    metavar="NUMBER|FILE",
    callback=parse_amount,
    help="Blend with --base: how much of --method there is, from 0 to 1; an NPY file has a number for each vertex.",
)
BASE = click.option(
    "--base",
    type=ANY_METHOD,
    help="The method where --amount is 0.  [default: linear]",
)
ANIMATION = click.option(
    "--animation",
    "animation_name",
    metavar="NAME",
    shell_complete=complete_animations,
    help="An animation of the file, by its name or the end of it.",
)
TIME = click.option("--time", type=float, help="Seconds into the animation.  [default: 0]")
STRICT = click.option("--strict", is_flag=True, help="Refuse weights that need a repair.")
CHARACTER_OUTPUT = click.option(
    "-o",
    "--output",
    required=True,
    type=OutputFile(".glb"),
    help="The character to write, a name that ends in .glb; - is the standard output.",
)
SCHEME = click.option(
    "--scheme",
    type=click.Choice(["1:4", "1:3"]),
    default="1:4",
    show_default=True,
    help="Triangles split at their edges, or at their centroids.",
)


def claim_for_json(context: click.Context, parameter: click.Parameter, asked: bool) -> bool:
    """A callback: JSON alone goes to the standard output, what else is said to the standard error."""
    if asked:
        claim_output(context, parameter.opts[0])
    return asked


JSON = click.option(
    "--json", "as_json", is_flag=True, callback=claim_for_json, help="Print JSON; all else goes to the standard error."
)


def parse_direction(context: click.Context, parameter: click.Parameter, text: str) -> tuple[float, ...]:
    """A callback for options that take X,Y,Z."""
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != 3 or not np.isfinite(numbers).all() or not any(numbers):
        raise click.BadParameter(f"{text!r} is not a direction X,Y,Z", context, parameter)
    return numbers


AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def parse_axis(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[float, ...] | None:
    """A callback for options that take x, y, z or X,Y,Z."""
    if text is None:
        return None
    return AXES.get(text) or parse_direction(context, parameter, text)


VIEW = click.option(
    "--view",
    metavar="X,Y,Z",
    default="0.4,0.2,1",
    show_default=True,
    callback=parse_direction,
    help="From the mesh towards the camera.",
)
UP = click.option(
    "--up",
    metavar="X,Y,Z",
    default="0,1,0",
    show_default=True,
    callback=parse_direction,
    help="What is upward in the picture.",
)


def width_option(default: int) -> Option[Any]:
    """How wide a picture is."""
    return click.option(
        "--width", type=click.IntRange(200, 20000), default=default, show_default=True, help="Pixels across."
    )


def samples_option(default: int) -> Option[Any]:
    """How long is worked on a picture."""
    return click.option(
        "--samples", type=click.IntRange(1, 4096), default=default, show_default=True, help="Light paths per pixel."
    )


WIDTH, SAMPLES = width_option(1920), samples_option(64)


def skin_for(character: Character, center: str, cache: Path | None, twist: Twist | None = None) -> Skin:
    """The character's skin, with optimized centers if they are asked for, and with the twists of limbs spread.

    Raises
    ------
    click.UsageError
        If there is a cache but no optimized centers, or one beside a twist.
    """
    if cache is not None and center != "optimized":
        raise click.UsageError("--centers-cache needs --center optimized")
    if twist is not None:
        if cache is not None:
            raise click.UsageError("--centers-cache holds centers without --twist")
        return character.twisted_skin(twist, optimized=center == "optimized")
    return character.optimized_skin(cache=cache) if center == "optimized" else character.skin


def twist_for(character: Character, names: tuple[str, ...]) -> Twist:
    """What spreads the twists of the limbs of these names, or of all that are found.

    Raises
    ------
    click.BadParameter
        If a twist can't be spread along one of the bones, or there is none.
    """
    joints = known_joints(character, names, option="--twist") if names else None
    try:
        twist = limb_twist(character, joints)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--twist") from error
    if twist is None:
        raise click.BadParameter("no limb was found: name the joints", param_hint="--twist")
    return twist


def known_joints(character: Character, names: Iterable[str], option: str = "--joint") -> list[int]:
    """The numbers of joints, given by names, or by numbers if no joint has such a name.

    Raises
    ------
    click.BadParameter
        If there is no such joint.
    """
    known = character.skeleton.names
    numbers = []
    for name in names:
        if name in known:
            numbers.append(known.index(name))
        elif name.isdecimal() and int(name) < len(known):
            numbers.append(int(name))
        else:
            message = f"no joint {name!r}; the file has: {', '.join(known)}{nearest_name(name, known)}"
            raise click.BadParameter(message, param_hint=option)
    return numbers


def refuse_beside(option: str, *names: str) -> None:
    """Refuse the options of some parameters together with another option that replaces them.

    Raises
    ------
    click.UsageError
        If one was given.
    """
    for name in given(names):
        raise click.UsageError(f"{option} takes the place of {name}")


def refuse_without(option: str, *names: str) -> None:
    """Refuse the options of some parameters without another option, because they would have no effect.

    Raises
    ------
    click.UsageError
        If one was given.
    """
    for name in given(names):
        raise click.UsageError(f"{name} needs {option}")


def given(names: Iterable[str]) -> list[str]:
    """The options of some parameters of the current command that were given."""
    context = click.get_current_context()
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in names and context.get_parameter_source(parameter.name) not in _NOT_GIVEN
    ]


_NOT_GIVEN = (click.core.ParameterSource.DEFAULT, click.core.ParameterSource.DEFAULT_MAP)


def find_animation(character: Character, name: str) -> Animation:
    """The animation with that name, or the one whose name ends in it.

    Raises
    ------
    click.BadParameter
        If there is none.
    """
    try:
        return character.animations[name]
    except KeyError as error:
        raise click.BadParameter(error.args[0], param_hint="--animation") from None


def pose_at(character: Character, animation_name: str | None, time: float | None) -> NDArray[np.float64]:
    """Skinning matrices (J, 4, 4) of an animation, or without a name those of the pose in the file.

    Raises
    ------
    click.UsageError
        If there is a time, but no animation, or one that ends before.
    """
    if animation_name is None:
        if time is not None:
            raise click.UsageError("--time needs --animation")
        return character.rest_matrices
    animation = find_animation(character, animation_name)
    seconds = 0.0 if time is None else time
    if not 0.0 <= seconds <= animation.duration + NEAR_END:
        raise click.BadParameter(
            f"{seconds:g} s is outside of the animation, which lasts {animation.duration:g} s", param_hint="--time"
        )
    return animation.skinning_matrices(seconds)
