# SPDX-License-Identifier: MIT
"""``sbs quality``: how well each method keeps the shape of a character."""

from __future__ import annotations

import csv
from itertools import count
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..characters.poses import vertices_around
from ..quality import COLUMNS, MeasuredMotion, Report, clip, evaluate, made_poses, panel
from ..quality.methods import NamedMethod
from ..quality.picture import column_width, compose
from ..quality.picture.extra import load as load_extra
from ..quality.picture.extra import load_mitsuba
from ..quality.plot import plot
from ..support.files import replacing
from .completion import complete_animations
from .estimate import describe_duration, estimate_price, sample_motions
from .how_to_deform import CORRECTIVES, MUSCLES, HowToDeform, how_to_deform
from .named_methods import LIMBS, METHODS, Limbs, complete_methods
from .options import (
    JSON,
    SOURCE_OF_MESHES,
    Source,
    find_animation,
    joint_option,
    known_joints,
    output_option,
    print_json,
    refuse_idle,
)
from .pictures import PICTURE, PictureOptions, picture_options, save_figure
from .streams import OutputFile
from .tables import print_table
from .terminal import progress_bar, say

ASPECT = 1.0

# So many poses are measured in a few seconds.
WORTH_AN_ESTIMATE = 100


@click.command()
@SOURCE_OF_MESHES
@click.option(
    "--animation",
    "animation_names",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_animations,
    help="An animation of the file; may be given several times. By default all, or --poses if there are none.",
)
@click.option("--poses", "made", is_flag=True, help="Bend and twist each joint, in place of animations or with them.")
@joint_option("Of --poses: only this joint, or these.")
@LIMBS
@METHODS
@how_to_deform(MUSCLES, CORRECTIVES)
@click.option("--frames", type=click.IntRange(1, 100_000), default=24, help="Poses that are measured of an animation.")
@click.option(
    "--rate",
    type=click.FloatRange(0, 100_000, min_open=True),
    default=96.0,
    help="Moments a second at which pops are looked for.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    help="About how many seconds to measure: fewer poses of each motion, and pieces of its path, if all takes longer.",
)
@JSON
@click.option("--csv", "table", type=OutputFile(piped=".csv"), help="Write all numbers to this file.")
@click.option("--plot", "plotted", type=OutputFile(".png", ".svg"), help="Draw curves, a PNG or SVG.")
@picture_options()
@output_option(".png", text="Pictures of the worst poses: PNG.")
def quality(
    source: Source,
    animation_names: tuple[str, ...],
    made: bool,
    joints: tuple[str, ...],
    limbs: Limbs,
    methods: dict[str, NamedMethod],
    how: HowToDeform,
    frames: int,
    rate: float,
    time_limit: float | None,
    as_json: bool,
    table: Path | None,
    plotted: Path | None,
    drawn: PictureOptions,
    output: Path | None,
) -> None:
    """Measure how well each method keeps the shape of the character in FILE.

    Volume, areas, lengths and thickness are shown as shares of the rest pose, tears as second differences across edges,
    pops in per cent of the mesh's size. docs/quality.md explains them. With --muscles one more method is `muscles`: SBS
    whose skin covers them. With --correctives one more is `corrected`: the last of the methods with these shapes.
    """
    refuse_idle((output is None, "{} needs --output", PICTURE), (not made, "{} needs --poses", ("joints",)))
    character = source.load()
    methods = complete_methods(methods, limbs, character, how)
    moves = animation_names or (character.animations and not made)
    refuse_idle((not moves, "{} needs an animation", ("frames", "rate")))
    if plotted is not None:
        load_extra("matplotlib.figure", "matplotlib", "plots")
    if output is not None:
        load_mitsuba()
    motions = limit_motions(
        find_motions(character, animation_names, made, joints, frames, rate), character, methods, time_limit
    )
    steps = count(1)
    with progress_bar() as progress:
        task = progress.add_task("measuring", total=len(motions) * len(methods))

        def advance() -> None:
            progress.advance(task)
            done, rest = divmod(next(steps), len(methods))
            if progress.disable and rest == 0 and len(motions) > 1:
                say(f"{done} of {len(motions)}: {motions[done - 1].name}", err=True)

        report = evaluate(character, motions, methods, progress=advance)
    if as_json:
        print_json(report.as_json())
    else:
        print_table(COLUMNS, report.cells(), left=2)
    if table is not None:
        write_csv(report, table)
        say(table)
    if plotted is not None:
        plot([report], plotted)
        say(plotted)
    if output is not None:
        draw(report, drawn, output)


def limit_motions(
    motions: list[MeasuredMotion], character: Character, methods: dict[str, NamedMethod], limit: float | None
) -> list[MeasuredMotion]:
    """The motions, or samples that take about so many seconds. Says how long measuring them takes."""
    poses = sum(len(motion.poses) for motion in motions)
    if limit is None and poses < WORTH_AN_ESTIMATE:
        return motions
    cost = estimate_price(character, motions, methods)
    seconds = cost.total(motions)
    counts = f"{len(motions)} motion{'s'[: len(motions) > 1]} by {len(methods)} method{'s'[: len(methods) > 1]}"
    if limit is None or seconds <= limit:
        say(f"measuring {counts}: about {describe_duration(seconds)}", err=True)
        return motions
    fewer = sample_motions(motions, limit / seconds)
    left = sum(len(motion.poses) for motion in fewer)
    part = f"{left} of {poses} poses, and pieces of the paths, about {describe_duration(cost.total(fewer))}"
    say(f"measuring {counts}: all would take about {describe_duration(seconds)}; {part}", err=True)
    return fewer


def find_motions(
    character: Character,
    animation_names: tuple[str, ...],
    made: bool,
    joints: tuple[str, ...],
    frames: int,
    rate: float,
) -> list[MeasuredMotion]:
    """The animations of these names, or all; and made poses if they are asked for or there are no animations."""
    animations = [find_animation(character, name) for name in dict.fromkeys(animation_names)]
    if not animations and not made:
        animations = list(character.animations)
    motions = [clip(animation, poses=frames, rate=rate) for animation in animations]
    if made or not motions:
        names = character.skeleton.names
        chosen_joints = [names[joint] for joint in known_joints(character, joints)]
        motions.append(made_poses(character, chosen_joints or None))
    return motions


def write_csv(report: Report, path: Path) -> None:
    records = report.records()
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)


def draw(report: Report, drawn: PictureOptions, output: Path) -> None:
    """Write pictures of every motion's worst pose, one row each."""
    column = column_width(drawn.width, len(report.methods))
    size = (column, round(column / ASPECT))
    rows = []
    with progress_bar() as progress:
        task = progress.add_task("drawing", total=len(report.motions) * len(report.methods))
        for motion in report.motions:
            pose = panel.worst_pose(report, motion)
            shown = find_shown(report.gauge.character, motion, pose)
            points = [positions[shown] for positions in panel.shapes(report, motion, pose).values()]
            camera = drawn.camera(np.concatenate(points), ASPECT)
            caption = f"{motion.name}: {motion.labels[pose]}"
            rows.append(
                panel.panel_row(
                    report,
                    motion,
                    pose,
                    camera,
                    size,
                    samples=drawn.samples,
                    caption=caption,
                    progress=lambda: progress.advance(task),
                )
            )
    headings = [method.label for method in report.methods.values()]
    figure = compose(rows, headings, panel.FOOTNOTE, width=drawn.width)
    save_figure(figure, output)


def find_shown(character: Character, motion: MeasuredMotion, pose: int) -> NDArray[np.bool_]:
    """Which vertices (V,) a picture must show: all, or those around the joint that the pose turns."""
    if motion.focus is None:
        return np.ones(character.skin.vertex_count, bool)
    return vertices_around(character, motion.focus[pose])
