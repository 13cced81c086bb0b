# SPDX-License-Identifier: MIT
"""``sbs weights``: make, correct, check and paint weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..formats import written
from ..quality.picture import Camera, Row, column_width, compose, portraits, weight_colors
from ..rigging.skeleton import Skeleton
from ..weights import (
    Capsules,
    Influences,
    bone_segments,
    capsule_weights,
    check,
    fit_capsules,
    for_spherical,
    heat_weights,
    limit,
    normalize,
    prune,
    smooth,
    tidy,
)
from ..weights.spherical import REACH
from .compare import transform_points
from .errors import Refusal
from .how_to_fit import HowToFit, how_to_fit
from .options import JSON, SOURCE_OF_MESHES, Source, joint_option, known_joints, output_option, print_json, refuse_idle
from .pictures import PICTURE, PictureOptions, picture_options, save_figure
from .streams import OutputFile
from .terminal import say
from .weight_findings import describe_findings, describe_for_json


def choose_suffix(context: click.Context) -> str:
    """The suffix of `-o -`: a PNG with --show, or else a GLB."""
    return ".png" if isinstance(context.params.get("shown"), str) else ".glb"


@click.command()
@SOURCE_OF_MESHES
@click.option("--capsules", "capsules_from", metavar="auto|FILE", help="Weights by capsules: fitted, or from a file.")
@how_to_fit
@click.option("--heat", is_flag=True, help="Weights by heat; --capsules are for a mesh on which heat can't work.")
@click.option(
    "--joints",
    "joint_choice",
    type=click.Choice(["weighted", "all"]),
    default="weighted",
    help="Which joints fitted capsules and heat may use: those with weight in FILE, or all.",
)
@click.option(
    "--for",
    "purpose",
    type=click.Choice(["spherical"]),
    help="Widen transitions between joints as spherical blending likes them; hard parts stay hard.",
)
@click.option(
    "--reach", type=click.FloatRange(0), default=REACH, help="How far --for spreads weights, in radii of the limb."
)
@click.option("--smooth", "smoothing", type=click.IntRange(0, 1000), default=0, help="Smooth so many times.")
@click.option("--prune", "threshold", type=click.FloatRange(0, 1), help="Drop weights below this.")
@click.option("--limit", "most", type=click.IntRange(1), help="At most so many influences a vertex.")
@click.option("--capsules-out", type=OutputFile(piped=".json"), help="Write the capsules to this JSON file.")
@click.option("--check", "checks", is_flag=True, help="Tell what is wrong with the weights; status 1 if anything is.")
@JSON
@joint_option(
    "Paint the weights of this joint into OUTPUT, a PNG.",
    "--show",
    "shown",
    metavar="JOINT",
    multiple=False,
    is_eager=True,
)
@picture_options()
@output_option(piped=choose_suffix, text="The character to write, or the PNG.")
@click.pass_context
def weights(
    context: click.Context,
    source: Source,
    capsules_from: str | None,
    how: HowToFit,
    heat: bool,
    joint_choice: str,
    purpose: str | None,
    reach: float,
    smoothing: int,
    threshold: float | None,
    most: int | None,
    capsules_out: Path | None,
    checks: bool,
    as_json: bool,
    shown: str | None,
    drawn: PictureOptions,
    output: Path | None,
) -> None:
    """Make weights for the character in FILE, or change its weights, and write it.

    Steps are made in this order: weights by examples, capsules or heat, else those of FILE; --for; --smooth, --prune,
    --limit; --check; the output, which is FILE with these weights if that is glTF, else the character alone.
    """
    refuse_idle(
        (not checks, "{} needs --check", ("as_json",)),
        (purpose is None, "{} needs --for", ("reach",)),
        (not heat and capsules_from != "auto", "{} needs --heat or --capsules auto", ("joint_choice",)),
        (capsules_from is None, "{} needs --capsules", ("capsules_out",)),
        (output is None, "{} needs --output", ("shown",)),
        (shown is None, "{} needs --show", PICTURE),
        (how.examples is not None, "--fit takes the place of {}", ("heat", "capsules_from")),
    )
    if output is None and capsules_out is None and not checks:
        raise click.UsageError("one of --output, --capsules-out and --check is needed")
    if output is not None and shown is None:
        written(output, "write")
    elif output is not None and output.suffix.lower() != ".png":
        raise click.BadParameter(f"{output.name!r} does not end in .png", param_hint="--output")
    character = source.load()
    names = character.skeleton.names
    if shown is not None:
        shown = names[known_joints(character, [shown], option="--show")[0]]

    joints = find_usable_joints(character, joint_choice)
    capsules = None if capsules_from is None else find_capsules(character, capsules_from, joints)
    made = how.fit(character, most or 4) or make_weights(character, capsules, heat, joints)
    if purpose is not None:
        made = for_spherical(character.with_weights(*made), reach=reach)
    influences = apply_tools(character, made, smoothing, threshold, most)
    if capsules_out is not None and capsules is not None:
        capsules.to_json(capsules_out)
        say(f"{capsules_out}: {len(capsules)} capsules")
    well = True
    if checks:
        mesh = character.mesh
        found = check(*influences, len(names), positions=mesh.positions, triangles=mesh.triangles, max_influences=most)
        well = found.ok
        if as_json:
            print_json(describe_for_json(found, influences, names))
        else:
            say(*describe_findings(found, influences, names))
    if output is not None and shown is not None:
        paint(character, influences, shown, drawn, output)
    elif output is not None:
        character.with_weights(*influences).save(output)
        say(f"{output}: {len(influences.joint_indices)} vertices, up to {count_influences(influences)} influences")
    if not well:
        context.exit(1)


def find_usable_joints(character: Character, choice: str) -> NDArray[np.bool_]:
    """Flags (J,) of the joints that may get weight: all, or those with weight in the file if there are two."""
    flags = np.zeros(len(character.skeleton), bool)
    indices, weights = character.skin.influences()
    flags[indices[weights > 0]] = True
    return flags if choice == "weighted" and flags.sum() > 1 else np.ones_like(flags)


def find_capsules(character: Character, source: str, joints: NDArray[np.bool_]) -> Capsules:
    """Capsules of all joints, fitted or from a file."""
    if source == "auto":
        return fit_capsules(character.skeleton, character.mesh.positions, enabled=joints)
    return sort_capsules(Capsules.from_json(source), character.skeleton, source)


def sort_capsules(capsules: Capsules, skeleton: Skeleton, source: str) -> Capsules:
    """Capsules of a file in the order of the joints, matched by their names if they have any."""
    if capsules.names is None:
        if len(capsules) != len(skeleton):
            raise Refusal(f"{source}: {len(capsules)} capsules without names, for {len(skeleton)} joints")
        return capsules
    missing, unknown = (
        set(a) - set(b) for a, b in ((skeleton.names, capsules.names), (capsules.names, skeleton.names))
    )
    if missing or unknown:
        problem = f"no capsule for joint {min(missing)!r}" if missing else f"the skeleton has no joint {min(unknown)!r}"
        raise Refusal(f"{source}: {problem}")
    order = [capsules.names.index(name) for name in skeleton.names]
    return Capsules(
        capsules.heads[order],
        capsules.tails[order],
        capsules.inner_radii[order],
        capsules.outer_radii[order],
        multipliers=capsules.multipliers[order],
        enabled=capsules.enabled[order],
        falloffs=None if capsules.falloffs is None else [capsules.falloffs[joint] for joint in order],
        names=skeleton.names,
    )


def make_weights(character: Character, capsules: Capsules | None, heat: bool, joints: NDArray[np.bool_]) -> Influences:
    """Weights by heat or capsules, or else those of the file, as the skin uses them."""
    mesh = character.mesh
    if heat:
        result = heat_weights(
            mesh.positions, mesh.triangles, *bone_segments(character.skeleton), joints=joints, capsules=capsules
        )
        say(*str(result.report).splitlines())
        return Influences(result.joint_indices, result.joint_weights)
    if capsules is not None:
        outside = capsules.count_outside(mesh.positions)
        say(f"capsules: {outside} vertices outside of all, which go to the nearest")
        return capsule_weights(np.asarray(mesh.positions, np.float64), capsules)
    return tidy(mesh.joint_indices, mesh.joint_weights)


def apply_tools(
    character: Character, influences: Influences, smoothing: int, threshold: float | None, most: int | None
) -> Influences:
    mesh = character.mesh
    if smoothing:
        influences = smooth(mesh.positions, mesh.triangles, *influences, iterations=smoothing)
    if threshold is not None:
        influences = prune(*influences, threshold)
    if most is not None:
        influences = limit(*influences, most)
    return normalize(*influences)


def count_influences(influences: Influences) -> int:
    return int(np.count_nonzero(influences.joint_weights, axis=1).max(initial=0))


def paint(character: Character, influences: Influences, joint: str, drawn: PictureOptions, output: Path) -> None:
    """Write a picture of the rest pose with the weights of a joint in blue, from two opposite directions."""
    mesh = character.mesh
    positions = transform_points(character.scene_matrix, mesh.positions)
    colors = weight_colors(*influences, [character.skeleton.index(joint)])
    sides = {"": np.array(drawn.view), "from behind": -np.array(drawn.view)}
    column = column_width(drawn.width, len(sides))
    size = (column, column)
    pictures: list[NDArray[Any]] = []
    for direction in sides.values():
        camera = Camera.framing(positions, direction, drawn.up, aspect=1.0)
        pictures += portraits(mesh.positions, mesh.triangles, [positions], colors, camera, size, samples=drawn.samples)
    row = Row(pictures, [""] * len(sides), f"{joint}: blue is all of the weight, clay is none")
    figure = compose([row], list(sides), width=drawn.width)
    save_figure(figure, output)
