# SPDX-License-Identifier: MIT
"""Options that several commands share, and how they apply to a character."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..characters.loading import load
from ..rigging.animation import NEAR_END, Animation
from ..support.names import nearest_name
from .completion import complete_animations, complete_joints
from .streams import InputFile, OutputFile, claim_output

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

CHARACTER = click.argument("file", type=InputFile())
CHARACTERS = click.argument("files", metavar="FILE...", type=InputFile(), nargs=-1, required=True)
MESHES = click.option(
    "--mesh",
    "meshes",
    metavar="NAME",
    multiple=True,
    help="A mesh of the file, which `sbs info` lists; may be given several times.  [default: all]",
)
SKIN = click.option(
    "--skin",
    type=click.IntRange(0),
    help="The skeleton of this skin of the file, by its number.  [default: of --mesh, or with the most vertices]",
)


def gathered(argument: str, kind: type[Any], *options: Decorator) -> Decorator:
    """Add options to a command, which gets the values of all of them as one argument.

    `kind` is a dataclass with a field for the parameter of each option, and perhaps more, with defaults, so that a
    command can leave options out. Help lists the options in this order.
    """
    names = [field.name for field in fields(kind)]

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def called(*arguments: Any, **values: Any) -> Any:
            chosen = {name: values.pop(name) for name in names if name in values}
            return command(*arguments, **values, **{argument: kind(**chosen)})

        decorated: Callable[..., Any] = called
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return add


@dataclass(frozen=True)
class Source:
    """The file of a command's character, which of it is meant, and whether weights may need a repair."""

    file: Path
    strict: bool
    meshes: tuple[str, ...] = ()
    skin: int | None = None

    def load(self) -> Character:
        """Read the character."""
        return load(self.file, strict=self.strict, mesh=self.meshes or None, skin=self.skin)


class MethodChoice(click.Choice[str]):
    """Methods, by the names that help shows and whatever else is understood as one of them."""

    def __init__(self, shown: Iterable[str], find_name: Callable[[str], str]) -> None:
        super().__init__([*shown], case_sensitive=False)
        self._find_name = find_name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name of the method."""
        try:
            return self._find_name(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


ANIMATION = click.option(
    "--animation",
    "animation_name",
    metavar="NAME",
    shell_complete=complete_animations,
    help="An animation of the file, by its name or the end of it.",
)
TIME = click.option("--time", type=float, help="Seconds into the animation.  [default: 0]")
STRICT = click.option("--strict", is_flag=True, help="Refuse weights that need a repair.")
SOURCE = gathered("source", Source, CHARACTER, STRICT)
SOURCE_OF_MESHES = gathered("source", Source, CHARACTER, MESHES, SKIN, STRICT)


def joint_option(text: str, option: str = "--joint", name: str = "joints", **more: Any) -> Decorator:
    """Joints of the character, by their names; one of them unless the option is repeated."""
    shown: dict[str, Any] = {"metavar": "NAME", "multiple": True, "shell_complete": complete_joints, "help": text}
    return click.option(option, name, **shown | more)


def output_option(
    *suffixes: str, text: str, required: bool = False, piped: str | Callable[[click.Context], str] | None = None
) -> Decorator:
    """The file that a command writes, see `OutputFile`."""
    return click.option("-o", "--output", required=required, type=OutputFile(*suffixes, piped=piped), help=text)


CHARACTER_OUTPUT = output_option(
    ".glb", required=True, text="The character to write, a name that ends in .glb; - is the standard output."
)
SCHEME = click.option(
    "--scheme",
    type=click.Choice(["1:4", "1:3"]),
    default="1:4",
    help="Triangles split at their edges, or at their centroids.",
)


def claim_for_json(context: click.Context, parameter: click.Parameter, asked: bool) -> bool:
    """A callback: JSON alone goes to the standard output, all messages to the standard error."""
    if asked:
        claim_output(context, parameter.opts[0])
    return asked


JSON = click.option(
    "--json", "as_json", is_flag=True, callback=claim_for_json, help="Print JSON; all else goes to the standard error."
)


def print_json(facts: Any) -> None:
    """Print facts for --json."""
    click.echo(json.dumps(facts, indent=2, allow_nan=False))


@contextmanager
def blamed_on(option: str) -> Iterator[None]:
    """Name an option in the errors of the library."""
    try:
        yield
    except (KeyError, ValueError) as error:
        raise click.BadParameter(str(error.args[0]), param_hint=option) from error


def read_numbers(text: str, separator: str = ",") -> tuple[float, ...]:
    """Finite numbers; none if any is something else."""
    try:
        numbers = tuple(float(part) for part in text.split(separator))
    except ValueError:
        return ()
    return numbers if np.isfinite(numbers).all() else ()


def parse_direction(context: click.Context, parameter: click.Parameter, text: str) -> tuple[float, ...]:
    """A callback for options that take X,Y,Z."""
    numbers = read_numbers(text)
    if len(numbers) != 3 or not any(numbers):
        raise click.BadParameter(f"{text!r} is not a direction X,Y,Z", context, parameter)
    return numbers


AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def parse_axis(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[float, ...] | None:
    """A callback for options that take x, y, z or X,Y,Z."""
    if text is None:
        return None
    return AXES.get(text) or parse_direction(context, parameter, text)


def known_joints(character: Character, names: Iterable[str], option: str = "--joint") -> list[int]:
    """The numbers of joints, given by names, or by numbers if no joint has such a name."""
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


# Whether some options have no effect, the message for one that was given, as in "{} needs --x", and their parameters.
Idle = tuple[bool, str, tuple[str, ...]]


def refuse_idle(*rows: Idle) -> None:
    """Refuse options that were given although they have no effect beside the others."""
    for is_idle, reason, names in rows:
        for option in given(names) if is_idle else ():
            raise click.UsageError(reason.format(option))


def has_option(name: str) -> bool:
    """Whether the current command has an option for a parameter."""
    return any(parameter.name == name for parameter in click.get_current_context().command.params)


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
    """The animation with that name, or the one whose name ends in it."""
    with blamed_on("--animation"):
        return character.animations[name]


def pose_at(character: Character, animation: Animation | None, time: float | None) -> NDArray[np.float64]:
    """Skinning matrices (J, 4, 4) of an animation, or without one those of the pose in the file."""
    if animation is None:
        if time is not None:
            raise click.UsageError("--time needs --animation")
        return character.rest_matrices
    seconds = 0.0 if time is None else time
    if not 0.0 <= seconds <= animation.duration + NEAR_END:
        raise click.BadParameter(
            f"{seconds:g} s is outside of the animation, which lasts {animation.duration:g} s", param_hint="--time"
        )
    return animation.skinning_matrices(seconds)
