# SPDX-License-Identifier: MIT
"""The options of bones blending, and bones blending of a character by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import get_args

import click
import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..quality import fit_zones
from ..rigging.blending import BlendingProfile, BonesBlending, bones_blending
from .options import Decorator, joint_option, known_joints, read_numbers

# An end of zones as given: the joint, or None for all joints without an end of their own, and the number.
Ends = tuple[tuple[str | None, float], ...]


def parse_ends(context: click.Context, parameter: click.Parameter, texts: Sequence[str]) -> Ends:
    """A callback for options with numbers, each for all joints or for one."""
    ends: list[tuple[str | None, float]] = []
    for text in texts:
        # names may contain "=", too
        name, equals, number = text.rpartition("=")
        value = read_numbers(number)
        if len(value) != 1:
            raise click.BadParameter(f"{text!r} is neither NUMBER nor NAME=NUMBER", context, parameter)
        joint = name if equals else None
        if joint in dict(ends):
            raise click.BadParameter(f"{text!r}: {joint or 'all joints'} had a number before", context, parameter)
        ends.append((joint, *value))
    return tuple(ends)


def _zone_option(name: str, where: str) -> Decorator:
    return click.option(
        name,
        metavar="[NAME=]NUMBER",
        multiple=True,
        callback=parse_ends,
        help=f"Where along the bone the share of a joint {where}, in its units of length from the joint; for all "
        "joints that are blended or for one, repeatable. By default by the radius of the limb.",
    )


BONES_BLENDING = (
    joint_option(
        "Blend the bones at this joint (Kavan and Zara 2003), or at all; repeatable. The others are blended linearly.",
        "--bones-blending",
        "bones",
        metavar="NAME|all",
    ),
    _zone_option("--t-min", "begins"),
    _zone_option("--t-max", "is all"),
    click.option(
        "--zone-scale",
        type=click.FloatRange(min=0, min_open=True),
        default=1.0,
        help="How many times as far from the joint the ends are that go by the radius of the limb.",
    ),
    click.option(
        "--fit-zones", is_flag=True, help="Choose the ends that are not given for each joint, by how well it bends."
    ),
    click.option(
        "--profile",
        type=click.Choice(get_args(BlendingProfile)),
        default="linear",
        help="How the share grows from one end to the other: evenly, or level at both ends.",
    ),
)


@dataclass(frozen=True, eq=False)
class BonesOptions:
    """Which joints are blended, where, and how; none by default.

    `t_min` and `t_max` are ends of zones in place of those by default or by fitting.
    """

    bones: tuple[str, ...] = ()
    t_min: Ends = ()
    t_max: Ends = ()
    zone_scale: float = 1.0
    fit_zones: bool = False
    profile: BlendingProfile = "linear"

    def blend_bones(
        self, character: Character, original: BonesBlending | None = None, attachment: NDArray[np.int32] | None = None
    ) -> BonesBlending:
        """Bones blending of a character; if its mesh was divided, with the zones and joints of the original one."""
        mesh = character.mesh
        ends = {"--t-min": self.t_min, "--t-max": self.t_max}
        t_min, t_max = (_numbers(character, given, option) for option, given in ends.items())
        if self.fit_zones and original is None:
            bind = partial(fit_zones, triangles=mesh.triangles)
        else:
            bind = partial(bones_blending, zone_scale=self.zone_scale)
        blending = bind(
            character.skeleton,
            mesh.positions,
            joints=None if "all" in self.bones else known_joints(character, self.bones, option="--bones-blending"),
            influences=(mesh.joint_indices, mesh.joint_weights),
            attachment=attachment,
            t_min=t_min if original is None else original.t_min,
            t_max=t_max if original is None else original.t_max,
            profile=self.profile,
        )
        for option, given in ends.items():
            _refuse_idle(character, blending, given, option)
        if (self.zone_scale != 1 or self.fit_zones) and np.isfinite(t_min + t_max)[np.isfinite(blending.t_min)].all():
            option = "--fit-zones" if self.fit_zones else "--zone-scale"
            raise click.BadParameter("all ends of zones are given", param_hint=option)
        return blending


def _numbers(character: Character, ends: Ends, option: str) -> NDArray[np.float64]:
    """One end of the zones of all joints (J,), NaN for the default."""
    given = dict(ends)
    numbers = np.full(len(character.skeleton), given.pop(None, np.nan))
    names = [name for name in given if name is not None]
    numbers[known_joints(character, names, option=option)] = [given[name] for name in names]
    return numbers


def _refuse_idle(character: Character, blending: BonesBlending, ends: Ends, option: str) -> None:
    """Refuse numbers for joints that are not blended."""
    blended = {character.skeleton.names[joint] for joint in np.flatnonzero(np.isfinite(blending.t_min))}
    named = {name for name, _ in ends if name is not None}
    for name in sorted(named - blended):
        raise click.BadParameter(f"joint {name!r} is not blended with a parent", param_hint=option)
    if len(named) < len(ends) and not blended - named:
        raise click.BadParameter("the number for all joints has no joint left", param_hint=option)
