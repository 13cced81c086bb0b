# SPDX-License-Identifier: MIT
"""``sbs improve``: a character that looks better wherever linear blending is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..characters.limbs import limb_twist
from ..characters.motions import MeasuredMotion, clip, made_poses
from ..correctives import Correctives, as_blend_shapes, draft_all
from ..quality import Gauge
from ..quality.gauge import over_time
from ..quality.methods import deformed
from ..quality.panel import COLORS, FULL_STRAIN
from ..quality.picture import Row, column_width, compose, portraits
from ..quality.picture.extra import load_mitsuba
from ..quality.picture.portraits import BLUE, CLAY
from ..quality.report import in_words, number
from ..support.callers import warn
from ..weights.linear import to_linear
from ..weights.tools import limit
from .options import CHARACTER_OUTPUT, JSON, SOURCE, Source, print_json, refuse_idle
from .pictures import PICTURE, PictureOptions, picture_options, save_figure
from .streams import OutputFile
from .tables import print_table
from .terminal import progress_bar, say

Floats = NDArray[np.float64]

PARTS = ("weights", "twist", "correctives")
FRAMES = 6
"""Twist joints of a limb, which linear blending needs: see `Character.with_twist_joints`."""

COLUMNS = {
    "surface energy": ("surface_energy", "mean"),
    "bending": ("bending", "total"),
    "volume smallest": ("volume", "smallest"),
    "volume largest": ("volume", "largest"),
    "crossing": ("crossing", "area"),
}


def parse_without(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...]:
    """A callback: parts to leave out, from weights,twist."""
    names = tuple(text.split(",")) if text else ()
    for name in names:
        if name not in PARTS:
            raise click.BadParameter(f"{name!r} is no part; these are: {', '.join(PARTS)}", context, parameter)
    if set(names) == set(PARTS):
        raise click.BadParameter("nothing is left to improve", context, parameter)
    return names


@dataclass(frozen=True, eq=False)
class Improved:
    """A better character, and the shapes in it, by the joints that it had before."""

    character: Character
    correctives: Correctives | None

    def deform(self, motion: MeasuredMotion, pose: int, before: Character, place: int | None) -> Floats:
        """Positions (V, 3) by linear blending in a pose of a motion: of an animation by its number, or a made one."""
        made = self.character
        if place is not None:
            assert motion.times is not None
            animation, time = made.animations[place], float(motion.times[pose])
            rest = made.shape_motion(animation).rest_positions(time) if made.mesh.shapes else None
            return _linear(made, animation.skinning_matrices(time), rest)
        matrices = motion.poses[pose]
        # Twist joints follow the joints that they are children of.
        count = len(before.skeleton)
        helpers = matrices[made.skeleton.parents[count:]]
        rest = np.array(made.mesh.positions if (own := motion.rest_positions(before, pose)) is None else own)
        for each, weight in zip(self.correctives or (), self._weights(matrices), strict=True):
            assert each.shape is not None
            rest[each.shape.vertices] += (weight * each.shape.deltas).astype(rest.dtype)
        return _linear(made, np.concatenate([matrices, helpers]), rest)

    def _weights(self, matrices: Floats) -> Floats:
        return np.zeros(0) if self.correctives is None else np.asarray(self.correctives.weights(matrices))


def _linear(character: Character, matrices: Floats, rest: Any) -> Floats:
    return np.asarray(deformed(character.skin, matrices, rest, {"method": "linear"}), np.float64)


@dataclass(frozen=True, eq=False)
class Compared:
    """A pose before and after."""

    label: str
    gauge: Gauge
    before: Floats
    after: Floats

    @property
    def difference(self) -> float:
        """The root of the mean of squares."""
        return float(np.sqrt(np.square(self.after - self.before).sum(axis=1).mean()))


@click.command()
@SOURCE
@click.option(
    "--without",
    metavar="NAME,NAME,...",
    callback=parse_without,
    help="Parts to leave out: weights, twist or correctives.",
)
@click.option("--influences", type=click.IntRange(1), default=4, help="The most for each vertex.")
@click.option(
    "--rate", type=click.FloatRange(0, min_open=True), default=30.0, help="Keys a second, at least, of what is added."
)
@JSON
@click.option("--picture", type=OutputFile(".png"), help="Draw before and after in the pose that differs most, a PNG.")
@picture_options()
@CHARACTER_OUTPUT
def improve(
    source: Source,
    without: tuple[str, ...],
    influences: int,
    rate: float,
    as_json: bool,
    picture: Path | None,
    drawn: PictureOptions,
    output: Path,
) -> None:
    """Make the character in FILE better for engines with linear blending alone, and write it.

    It gets weights that are fitted to spherical blending, joints that spread the twists of limbs, and drafted
    correctives as blend shapes; joints and shapes have keys in every animation, and shapes their drivers.

    The table compares linear blending before and after in all animations, and in made poses, in which the shapes follow
    their drivers: energies and the share of the area that crosses are means of poses, volumes the extremes, as shares
    of the volume at rest.
    """
    refuse_idle(
        (picture is None, "{} needs --picture", PICTURE),
        ({"twist", "correctives"} <= set(without), "{} needs twist or correctives", ("rate",)),
        ({"weights", "twist"} <= set(without), "{} needs weights or twist", ("influences",)),
    )
    if picture is not None:
        load_mitsuba()
    character = source.load()
    made = improve_character(character, without, influences, rate)
    rows, most = measure(character, made)
    made.character.save(output)
    if as_json:
        print_json([{**row, **{key: number(row[key]) for key in COLUMNS}} for row in rows])
    else:
        cells = [[in_words(measure, row[key]) for key, (measure, _) in COLUMNS.items()] for row in rows]
        heads = [(row["motion"], row["character"]) for row in rows]
        print_table(["motion", "", *COLUMNS], [[*head, *each] for head, each in zip(heads, cells, strict=True)], left=2)
    joints = len(made.character.skeleton) - len(character.skeleton)
    say(f"{output}: {joints} twist joints, {len(made.correctives or ())} correctives")
    names = worse(rows)
    if names:
        warn(f"{output} is worse than before in {', '.join(map(repr, names))}: keep the file as it was", UserWarning)
    if picture is not None:
        draw(most, character, drawn, picture)


def improve_character(character: Character, without: Sequence[str], influences: int, rate: float) -> Improved:
    """The parts, one after the other: shapes correct the weights, and twist joints stand still where joints bend."""
    made, shapes = character, None
    if "weights" not in without:
        with progress_bar() as bar:
            task = bar.add_task("fitting", total=1.0)
            # Twists and helpers would be fitted to bends, too, which correctives then would correct twice.
            made = to_linear(
                character,
                0,
                skin=character.skin,
                influences=influences,
                progress=lambda share: bar.update(task, completed=share),
            ).character
    if "correctives" not in without:
        with progress_bar() as bar:
            task = bar.add_task("drafting", total=1.0)
            shapes = draft_all(
                made, skin=made.skin, method="linear", progress=lambda share: bar.update(task, completed=share)
            ).correctives
        if len(shapes):
            made = as_blend_shapes(made, shapes, fps=rate)
        else:
            say("no joint was found that bends skin: there are no correctives", err=True)
    if "twist" not in without:
        twist = limb_twist(character, frames=FRAMES)
        if twist.bone_count:
            made = made.with_twist_joints(twist, rate=rate)
            mesh = made.mesh
            indices, weights = limit(mesh.joint_indices, mesh.joint_weights, influences)
            made = made.with_mesh(
                replace(mesh, joint_indices=indices, joint_weights=weights.astype(mesh.joint_weights.dtype))
            )
        else:
            say("no limb was found: there are no twist joints", err=True)
    return Improved(made, shapes)


def measure(character: Character, made: Improved) -> tuple[list[dict[str, Any]], Compared]:
    """Two rows for each animation, made bends and made twists: before and after; and the most different pose."""
    plain, rows = Gauge(character), []
    most: Compared | None = None
    for name, motion, animation, poses in _motions(character):
        before, after = [], []
        for pose in poses:
            matrices, rest = motion.poses[pose], motion.rest_positions(character, pose)
            gauge = plain if rest is None else Gauge(character, rest)
            label = f"{motion.name}: {motion.labels[pose]}"
            seen = Compared(
                label, gauge, _linear(character, matrices, rest), made.deform(motion, pose, character, animation)
            )
            before.append(gauge.measure(matrices, seen.before))
            after.append(gauge.measure(matrices, seen.after))
            if most is None or seen.difference > most.difference:
                most = seen
        rows += [_row(name, "before", before), _row(name, "after", after)]
    assert most is not None
    return rows, most


def _motions(character: Character) -> Iterator[tuple[str, MeasuredMotion, int | None, Sequence[int]]]:
    """Names, motions, the places of animations, and the poses to measure."""
    for place, animation in enumerate(character.animations):
        motion = clip(animation)
        yield animation.name, motion, place, range(len(motion.poses))
    made = made_poses(character)
    twists = [" twisted by " in label for label in made.labels]
    for name, is_twist in (("made bends", False), ("made twists", True)):
        yield name, made, None, np.flatnonzero(np.equal(twists, is_twist)).tolist()


def worse(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The motions whose surface is strained more than before by more than the fitting of weights may cost."""
    before, after = rows[::2], rows[1::2]
    energy = "surface energy"
    return [new["motion"] for old, new in zip(before, after, strict=True) if new[energy] > 2.0 * old[energy] + 0.1]


def _row(motion: str, name: str, measured: Sequence[dict[str, Any]]) -> dict[str, Any]:
    values = {
        key: over_time([pose[measure] for pose in measured], statistic)
        if measure == "volume"
        else float(np.mean([pose[measure][statistic] for pose in measured]))
        for key, (measure, statistic) in COLUMNS.items()
    }
    return {"motion": motion, "character": name, **values}


def draw(compared: Compared, character: Character, drawn: PictureOptions, output: Path) -> None:
    """Write a picture of a pose before and after, colored by strain."""
    column = column_width(drawn.width, 2)
    shapes = [compared.before, compared.after]
    camera, mesh = drawn.camera(np.concatenate(shapes), 1.0), character.mesh
    pictures: list[NDArray[Any]] = []
    for positions in shapes:
        share = np.clip(compared.gauge.strain(positions) / FULL_STRAIN, 0, 1)
        colors = CLAY + (BLUE - CLAY) * share[:, None]
        size = (column, column)
        pictures += portraits(mesh.positions, mesh.triangles, [positions], colors, camera, size, samples=drawn.samples)
    figure = compose([Row(pictures, ["", ""], compared.label)], ["before", "after"], COLORS, width=drawn.width)
    save_figure(figure, output)
