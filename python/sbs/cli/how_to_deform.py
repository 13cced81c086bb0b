# SPDX-License-Identifier: MIT
"""The options that say how characters are deformed, for all commands that do, and characters bound by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import click
import numpy as np
from numpy.typing import NDArray

from .. import muscles
from ..characters.character import Character
from ..characters.limbs import limb_twist, twist_amounts
from ..correctives import Corrective, Correctives, Shape, draft, read
from ..correctives.flesh import Flesh
from ..muscles import Muscle, MuscleCover
from ..quality.methods import DEFAULT, METHODS, BestMethod, FleshMethod, TwistMethod, method_key
from ..skinning.options import (
    DEFAULTS,
    VARIANTS,
    BlendOptions,
    Center,
    CorrectedOptions,
    Method,
    Rotation,
    method_name,
)
from ..skinning.skin import Skin
from ..skinning.twist import Twist
from ..weights import for_spherical
from .blended_bones import BONES_BLENDING, BonesOptions
from .numbers import read_npy
from .options import Decorator, MethodChoice, blamed_on, gathered, given, has_option, known_joints, refuse_idle
from .streams import InputFile
from .terminal import progress_bar

__all__ = [
    "BONES_BLENDING",
    "CENTER",
    "CENTERS_CACHE",
    "CORRECTIVES",
    "FLESH",
    "METHOD",
    "MUSCLES",
    "ROTATION",
    "TWIST",
    "BoundCharacter",
    "HowToDeform",
    "find_twist",
    "how_to_deform",
    "twist_option",
]


def parse_twist(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    """A callback: names of joints, no names for all limbs that are found, or None for no twist."""
    if text is None or text == "none":
        return None
    return () if text == "auto" else tuple(text.split(","))


def twist_option(default: str | None, text: str) -> Decorator:
    """Which limbs have their twists spread."""
    return click.option("--twist", metavar="auto|none|NAME,NAME,...", default=default, callback=parse_twist, help=text)


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


class _FileOr(InputFile):
    """A file that is there, or a word in place of one."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word = word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Its path, or the word."""
        return value if value == self._word else super().convert(value, param, ctx)


def find_method(name: str) -> str:
    """The key of a method in `METHODS`, or rigid, by any name that it has."""
    return "rigid" if name.lower() == "rigid" else method_key(name)


def find_base(name: str) -> str:
    """The full name of a method without options of its own."""
    return method_name(name, "--base")


METHOD = click.option(
    "--method",
    type=MethodChoice([*METHODS, "rigid"], find_method),
    help=f"How, by the names of `sbs quality`.  [default: {DEFAULT}; SBS beside options of it]",
)
ROTATION = click.option(
    "--rotation",
    type=click.Choice(get_args(Rotation)),
    default=DEFAULTS["rotation"],
    help="How spherical blends rotations.",
)
CENTER = click.option(
    "--center",
    type=click.Choice(get_args(Center)),
    default=DEFAULTS["center"],
    help="Where spherical puts rotation centers.",
)
CENTERS_CACHE = click.option(
    "--centers-cache",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where optimized centers are kept, to be found once for a mesh and its weights.",
)
AMOUNT = click.option(
    "--amount",
    metavar="NUMBER|FILE",
    callback=parse_amount,
    help="Blend with --base: how much of --method there is, from 0 to 1; an NPY file has a number for each vertex.",
)
ACROSS = click.option(
    "--across",
    metavar="NUMBER",
    type=click.FloatRange(0, 1),
    help="Blend with --base where joints meet, but not along limbs: how much of --method there is, from 0 to 1.",
)
BASE = click.option(
    "--base",
    type=MethodChoice(["rigid", "LBS", "SBS", "DQS"], find_base),
    help="The method where --amount or --across is 0.  [default: linear]",
)
TWIST = twist_option(
    None,
    "Spread the twists of limbs along their bones: of all that are found, or of these joints.  [default: auto for"
    " methods that spread twists, else none]",
)
MUSCLES = click.option(
    "--muscles",
    "muscles_from",
    type=_FileOr("fit"),
    metavar="FILE|fit",
    help="Muscles that deformed skin covers: of a JSON file, as `sbs muscles -o` writes it; with fit those of a human"
    " body, by the names of joints.",
)
CORRECTIVES = click.option(
    "--correctives",
    "correctives_from",
    type=_FileOr("draft"),
    metavar="FILE|draft",
    help="Shapes that the pose drives: of a JSON file, as `sbs correctives` writes it; with draft shapes that relax the"
    " skin around hinges, which takes some seconds.",
)
FLESH = click.option(
    "--flesh",
    is_flag=True,
    help="Relax the skin in each pose as flesh would be, which takes many times as long.",
)


@dataclass(frozen=True)
class BoundCharacter:
    """A character, or a mesh of one, ready to be deformed: its options are those of `Skin.deform`."""

    character: Character
    skin: Skin
    options: BlendOptions
    muscles: MuscleCover | None
    correctives: Correctives | None = None
    flesh: Flesh | None = None

    @property
    def shaped(self) -> CorrectedOptions:
        """The options with the correctives."""
        return {**self.options, "correctives": self.correctives}


@dataclass(frozen=True, eq=False)
class HowToDeform(BonesOptions):
    """How a command deforms characters, by its options; what a command has no option for is the default.

    A method of the table `METHODS` gives `method` and the options that the table has for it.
    """

    method: Any = None
    rotation: Rotation = DEFAULTS["rotation"]
    center: Center = DEFAULTS["center"]
    centers_cache: Path | None = None
    amount: float | NDArray[np.number[Any]] | None = None
    across: float | None = None
    base: Method | None = None
    twist: tuple[str, ...] | None = None
    muscles_from: Path | Literal["fit"] | None = None
    correctives_from: Path | Literal["draft"] | None = None
    flesh: bool = False

    title: str = field(default="", init=False)
    best: bool = field(default=False, init=False)  # with weights for spherical blending

    def __post_init__(self) -> None:
        self._take_method()
        chooses = has_option("method")  # else bones blending is compared with the methods
        of_file = isinstance(self.correctives_from, Path)
        refuse_idle(
            (self.across is not None, "--across takes the place of {}", ("amount",)),
            (self.across is None and self.amount is None, "{} needs --amount or --across", ("base",)),
            (self.method != "spherical", "{} needs --method spherical", ("rotation", "center")),
            (not self.bones, "{} needs --bones-blending", _ZONE_OPTIONS),
            (bool(self.bones) and chooses, "--bones-blending takes the place of {}", _METHOD_OPTIONS),
            (bool(self.bones) and chooses, "--bones-blending deforms without {}", ("correctives_from",)),
            (of_file, "--correctives of a file are those of all meshes, without {}", ("meshes",)),
            (self.fit_zones, "--fit-zones takes the place of {}", ("zone_scale",)),
            (self.center != "optimized", "{} needs --center optimized", ("centers_cache",)),
        )

    def _take_method(self) -> None:
        """Set the options that the name of a method stands for, where they were left out."""
        if not has_option("method"):
            object.__setattr__(self, "method", DEFAULTS["method"])
            return
        name = self.method or ("SBS" if given(set(_METHOD_OPTIONS) - {"centers_cache"}) else DEFAULT)
        found: dict[str, Any] = {"method": name} if name == "rigid" else {**METHODS[name].options}
        spread = METHODS.get(name)
        if isinstance(spread, TwistMethod):
            refuse_idle((self.twist is None, f"--method {name!r} spreads twists: it has no {{}} none", ("twist",)))
            found["twist"] = self.twist or ()
            if spread.across < 1:
                found["across"] = spread.across
        if isinstance(spread, FleshMethod):
            if not has_option("flesh"):
                raise click.BadParameter(f"{name!r} is no method of this command", param_hint="--method")
            found |= {"flesh": True, "best": isinstance(spread, BestMethod)}
        has_more = isinstance(spread, TwistMethod) or name in VARIANTS
        taken = ("rotation", "center", "amount", "across", "base", *(() if "twist" in found else ("twist",)))
        refuse_idle((has_more, f"--method {name!r} takes the place of {{}}", taken))
        found["title"] = name if has_more else found["method"]
        for option, value in found.items():
            object.__setattr__(self, option, value)

    @property
    def options(self) -> BlendOptions:
        """The options of `Skin.deform`."""
        return cast("BlendOptions", {name: getattr(self, name) for name in _SKIN_OPTIONS})

    def skin(self, character: Character) -> Skin:
        """The skin, with optimized centers and with the twists of limbs spread, if they are asked for."""
        return self._skin(character, self._twist(character))

    def muscles(self, character: Character) -> MuscleCover | None:
        """The muscles that deformed skin covers; None if none were asked for."""
        return _cover(character, self._muscles(character))

    def correctives(self, character: Character, skin: Skin, options: BlendOptions) -> Correctives | None:
        """The shapes that the pose drives; None if none were asked for. Drafts are for this skin and these options."""
        if self.correctives_from is None:
            return None
        if self.correctives_from != "draft":
            return read_correctives(self.correctives_from, character, solved=True)
        found = draft_shapes(character, None, skin, options)
        if not len(found):
            message = "no hinge was found: `sbs correctives draft --joint` drafts for the joints that it is told"
            raise click.BadParameter(message, param_hint="--correctives")
        return found

    def bind(self, character: Character) -> BoundCharacter:
        """The character, ready to be deformed.

        If no option chooses a method, vertices for which the file asks for another deformation than linear get that.
        """
        character = self._weighted(character)
        (bound,) = self._bind(character, [character])
        return replace(bound, correctives=self.correctives(character, bound.skin, bound.options))

    def find_flesh(self, character: Character) -> Flesh | None:
        """The flesh of a character; None if it was not asked for."""
        if not self.flesh:
            return None
        with blamed_on("--flesh"):
            return Flesh(character)

    def bind_meshes(self, character: Character) -> Iterator[BoundCharacter]:
        """Each mesh of a character, bound by itself, with its part of the correctives of the whole."""
        character = self._weighted(character)
        shapes, first = None, 0
        if self.correctives_from is not None:
            whole = self.bind(character)
            shapes = whole.correctives
            assert shapes is not None
            shapes.check(whole.skin, whole.options)
        for bound in self._bind(character, character.parts):
            end = first + bound.skin.vertex_count
            yield bound if shapes is None else replace(bound, correctives=cut_part(shapes, first, end))
            first = end

    def _bind(self, character: Character, parts: Iterable[Character]) -> Iterator[BoundCharacter]:
        """Successive parts of a character. Limbs and muscles are found in the character as a whole."""
        twist, placed, first = self._twist(character), self._muscles(character), 0
        whole = self.amount if self.across is None else twist_amounts(character, twist, self.across)
        is_of_vertices = isinstance(whole, np.ndarray) and whole.shape == (len(character.mesh.positions),)
        for part in parts:
            end = first + len(part.mesh.positions)
            amount = whole[first:end] if isinstance(whole, np.ndarray) and is_of_vertices else whole
            first, cover, flesh = end, _cover(part, placed), self.find_flesh(part)
            if self.bones:
                blending = self.blend_bones(part)
                skin = blending.skin(rest_normals=part.mesh.normals)
                yield BoundCharacter(part, skin, blending.options, cover, None, flesh)
            elif part.options and not given(_METHOD_OPTIONS):
                yield BoundCharacter(part, part.skin, part.options, cover, None, flesh)
            else:
                options: BlendOptions = {**self.options, "amount": amount}
                yield BoundCharacter(part, self._skin(part, twist), options, cover, None, flesh)

    def _weighted(self, character: Character) -> Character:
        return character.with_weights(*for_spherical(character)) if self.best else character

    def _skin(self, character: Character, twist: Twist | None) -> Skin:
        if self.center == "optimized":
            if twist is None:
                return character.optimized_skin(cache=self.centers_cache)
            return character.twisted_skin(twist, optimized=True, cache=self.centers_cache)
        return character.skin if twist is None else character.twisted_skin(twist)

    def _twist(self, character: Character) -> Twist | None:
        if self.twist is None:
            return None
        # Smooth twist is for characters without limbs, too.
        is_asked = given(["twist"]) or not has_option("method")
        return find_twist(character, self.twist) if is_asked else limb_twist(character)

    def _muscles(self, character: Character) -> tuple[Muscle, ...] | None:
        if self.muscles_from is None:
            return None
        with blamed_on("--muscles"):
            return muscles.fit(character) if self.muscles_from == "fit" else muscles.read(self.muscles_from)


# The options that are those of `Skin.deform`, and all that choose a method.
_SKIN_OPTIONS = tuple(each.name for each in fields(HowToDeform) if each.name in DEFAULTS)
_METHOD_OPTIONS = (*_SKIN_OPTIONS, "centers_cache", "across", "twist")
_ZONE_OPTIONS = ("t_min", "t_max", "zone_scale", "fit_zones", "profile")


def _cover(character: Character, placed: tuple[Muscle, ...] | None) -> MuscleCover | None:
    """Muscles bound to a character, or to a mesh of it."""
    if placed is None:
        return None
    if character.mesh.shapes:
        raise click.BadParameter("the mesh has blend shapes, which move it away from muscles", param_hint="--muscles")
    with blamed_on("--muscles"):
        return muscles.bind(character, placed)


def read_correctives(
    path: Path, character: Character, *, solved: bool = False, named: str = "--correctives"
) -> Correctives:
    """Correctives of a file for all meshes of a character; `named` is its name in errors."""
    count = len(character.mesh.positions)
    with blamed_on(named):
        found = read(path, character.skeleton)
        for each in found:
            if solved and each.shape is None:
                raise ValueError(f"{each.name!r} is not solved: `sbs correctives solve` does it")
            last = -1 if each.shape is None else each.shape.vertices.max(initial=-1)
            if last >= count:
                raise ValueError(f"{each.name!r} has a vertex {last}, and the character has {count} vertices")
    return found


def draft_shapes(character: Character, joints: Sequence[int] | None, skin: Skin, options: BlendOptions) -> Correctives:
    """Correctives that are drafted, with a bar."""
    with progress_bar() as progress:
        task = progress.add_task("drafting", total=1.0)
        return draft(
            character, joints, skin=skin, progress=lambda done: progress.update(task, completed=done), **options
        )


def cut_part(correctives: Correctives, first: int, end: int) -> Correctives:
    """The shapes of some successive vertices, for a mesh of these alone, whose amounts have another mean."""
    cut = []
    for each in correctives:
        shape = each.shape
        if shape is not None:
            kept = (shape.vertices >= first) & (shape.vertices < end)
            normals = None if shape.normal_deltas is None else shape.normal_deltas[kept]
            shape = Shape(shape.vertices[kept] - np.int32(first), shape.deltas[kept], normals)
        cut.append(Corrective(each.name, each.driver, each.coordinates, None, shape))
    found = Correctives(correctives.skeleton)
    found.insert(*cut)
    return found


def find_twist(character: Character, names: tuple[str, ...]) -> Twist:
    """The twist that is spread along the limbs of these joints, or of all limbs that are found."""
    joints = known_joints(character, names, option="--twist") if names else None
    with blamed_on("--twist"):
        twist = limb_twist(character, joints)
        if not twist.bone_count:
            raise ValueError("no limb was found: name the joints")
    return twist


METHOD_CHOICE = (METHOD, ROTATION, CENTER, CENTERS_CACHE, AMOUNT, ACROSS, BASE, TWIST)
EVERY_OPTION = (*METHOD_CHOICE, FLESH, MUSCLES, CORRECTIVES, *BONES_BLENDING)


def how_to_deform(*options: Decorator) -> Decorator:
    """Add options to a command that say how to deform, all by default, as the argument `how`, a `HowToDeform`."""
    return gathered("how", HowToDeform, *(options or EVERY_OPTION))
