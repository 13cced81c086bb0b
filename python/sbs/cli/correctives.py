# SPDX-License-Identifier: MIT
"""``sbs correctives``: draft, list, solve, mirror and prune shapes that poses drive."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
from numpy.typing import NDArray

from .. import correctives as shaping
from ..correctives import Correctives, DraftedCorrectives
from ..correctives.solving import After
from ..rigging.triangle_mesh import diagonal
from .errors import Refusal
from .how_to_deform import (
    METHOD_CHOICE,
    MUSCLES,
    BoundCharacter,
    HowToDeform,
    draft_shapes,
    how_to_deform,
    read_correctives,
)
from .options import (
    JSON,
    SOURCE,
    Source,
    blamed_on,
    joint_option,
    known_joints,
    output_option,
    print_json,
    refuse_idle,
)
from .streams import InputFile
from .tables import print_table
from .terminal import progress_bar, say

SHAPES = click.argument("shapes", type=InputFile())
OUTPUT = output_option(".json", required=True, text="Where to write them: a JSON file, and an NPZ file beside it.")


@click.group(name="correctives")
def correctives() -> None:
    """Shapes that poses drive, for characters whose joints look wrong when they are bent.

    A file of them is a JSON file with the poses, and an NPZ file beside it with shapes and targets. Shapes are
    made for the method that options choose; with the same options `sbs deform --correctives` shows them.
    """


@correctives.command(name="draft")
@SOURCE
@joint_option("A joint; may be given several times.  [default: all hinges: elbows, knees, fingers, toes]")
@click.option("--all", "of_all", is_flag=True, help="Draft all joints: shoulders, hips, wrists, necks and spines, too.")
@click.option("--shapes", type=click.IntRange(min=1), help="How many shapes --all makes at most.")
@click.option(
    "--error",
    type=click.FloatRange(0, 1, max_open=True),
    help="The share of the error without shapes that --all may leave.  [default: 0.3, without --shapes]",
)
@how_to_deform(*METHOD_CHOICE)
@OUTPUT
def draft(
    source: Source,
    joints: tuple[str, ...],
    of_all: bool,
    shapes: int | None,
    error: float | None,
    how: HowToDeform,
    output: Path,
) -> None:
    """Draft correctives of the character in FILE: bend its hinges, and relax the skin around them.

    With --all all joints are bent, in the directions of animations or else in four, and those shapes are kept whose
    absence would be seen most.
    """
    refuse_idle(
        (of_all, "--all takes the place of {}", ("joints",)),
        (not of_all, "{} needs --all", ("shapes", "error")),
        (shapes is not None, "--shapes takes the place of {}", ("error",)),
    )
    character = source.load()
    bound = how.bind(character)
    if of_all:
        drafted = draft_all(bound, shapes, error)
        if not len(drafted.correctives):
            raise Refusal("no joint was found that bends skin")
        write(output, drafted.correctives)
        say(f"error: {drafted.error:.3%} of the size, {drafted.error_before:.3%} without them")
        return
    chosen = known_joints(character, joints) if joints else None
    found = draft_shapes(character, chosen, bound.skin, bound.options)
    if not len(found):
        raise Refusal("no hinge was found: name the joints, or draft --all")
    write(output, found)


def draft_all(bound: BoundCharacter, shapes: int | None, error: float | None) -> DraftedCorrectives:
    """Correctives of all joints, with a bar."""
    with progress_bar() as progress:
        task = progress.add_task("drafting", total=1.0)
        return shaping.draft_all(
            bound.character,
            skin=bound.skin,
            shapes=shapes,
            error=error,
            progress=lambda done: progress.update(task, completed=done),
            **bound.options,
        )


@correctives.command(name="list")
@SOURCE
@SHAPES
@JSON
def list_them(source: Source, shapes: Path, as_json: bool) -> None:
    """List the correctives of SHAPES, for the character in FILE.

    Their joints, the part of the rotations that drives them (swing, twist or both), by how many degrees the first joint
    is turned in the pose, how many vertices are moved, and by how much at most, as a share of the mesh's diagonal.
    """
    character = source.load()
    found = read_correctives(shapes, character, named="SHAPES")
    size = diagonal(character.mesh.positions) or 1.0
    rows: list[dict[str, Any]] = []
    for each in found:
        deltas = np.zeros((0, 3)) if each.shape is None else np.asarray(each.shape.deltas, np.float64)
        rows.append(
            {
                "name": each.name,
                "joints": list(each.driver.joints),
                "part": each.driver.part,
                "degrees": round(float(np.degrees(np.linalg.norm(each.coordinates[0]))), 3),
                "solved": each.shape is not None,
                "vertices": len(deltas),
                "largest": float(f"{np.linalg.norm(deltas, axis=1).max(initial=0) / size:.6g}"),
                "target": each.target is not None,
            }
        )
    if as_json:
        print_json(rows)
        return
    print_table(
        ("name", "joints", "part", "degrees", "vertices", "largest delta", "target"),
        [
            (
                row["name"],
                ", ".join(row["joints"]),
                row["part"],
                f"{row['degrees']:.0f}",
                str(row["vertices"]) if row["solved"] else "not solved",
                f"{row['largest']:.3%}" if row["solved"] else "",
                "kept" if row["target"] else "none",
            )
            for row in rows
        ],
        left=3,
    )


@correctives.command(name="solve")
@SOURCE
@SHAPES
@how_to_deform(*METHOD_CHOICE, MUSCLES)
@OUTPUT
def solve(source: Source, shapes: Path, how: HowToDeform, output: Path) -> None:
    """Solve the correctives of SHAPES anew, for other weights or another method, so that targets are met.

    The table has how far vertices are from the target then, as a share of the mesh's diagonal, and how many no shape
    brings there.
    """
    character = source.load()
    found = read_correctives(shapes, character, named="SHAPES")
    bound = how.bind(character)
    solutions = found.solve(bound.skin, triangles=find_triangles(bound), after=make_cover(bound), **bound.options)
    if not solutions:
        raise Refusal(f"{shapes}: no corrective has a target")
    print_table(
        ("name", "vertices", "error", "unreached"),
        [
            (name, str(len(solution.vertices)), f"{solution.error:.2e}", str(len(solution.unreached)))
            for name, solution in solutions.items()
        ],
    )
    write(output, found)


@correctives.command(name="mirror")
@SOURCE
@SHAPES
@click.option("--name", "names", metavar="NAME", multiple=True, help="One of them; repeatable.  [default: of one side]")
@click.option(
    "--from",
    "side",
    type=click.Choice(["positive", "negative"]),
    default="positive",
    help="Without --name: the side of the mirror that they are on.",
)
@click.option("--axis", type=click.Choice(["x", "y", "z"]), default="x", help="Across the mirror.")
@click.option("--position", type=float, default=0.0, help="Of the mirror, along that axis.")
@how_to_deform(*METHOD_CHOICE, MUSCLES)
@OUTPUT
def mirror(
    source: Source,
    shapes: Path,
    names: tuple[str, ...],
    side: Literal["positive", "negative"],
    axis: Literal["x", "y", "z"],
    position: float,
    how: HowToDeform,
    output: Path,
) -> None:
    """Add the mirror images of correctives of SHAPES, in place of those of the other side."""
    character = source.load()
    found = read_correctives(shapes, character, solved=True, named="SHAPES")
    bound = how.bind(character)
    triangles, after = character.mesh.triangles, make_cover(bound)
    plane: dict[str, Any] = {"source": side, "axis": axis, "position": position}
    with blamed_on("--name"):
        made = shaping.mirror(found, bound.skin, triangles, names or None, after=after, **plane, **bound.options)
    if not made:
        raise Refusal(f"no corrective is on the {side} side of {axis}")
    say("mirrored: " + ", ".join(each.name for each in made))
    write(output, found)


@correctives.command(name="prune")
@SOURCE
@SHAPES
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=1e-4,
    help="Deltas up to this share of the mesh's diagonal are dropped.",
)
@OUTPUT
def prune(source: Source, shapes: Path, tolerance: float, output: Path) -> None:
    """Drop small deltas of the correctives of SHAPES, so that they cost less."""
    character = source.load()
    found = read_correctives(shapes, character, named="SHAPES")
    before = count_deltas(found)
    found.prune(tolerance, character.skin)
    say(f"{count_deltas(found)} of {before} deltas are left")
    write(output, found)


def count_deltas(found: Correctives) -> int:
    """How many deltas all shapes have."""
    return sum(0 if each.shape is None else len(each.shape.vertices) for each in found)


def find_triangles(bound: BoundCharacter) -> NDArray[np.int32] | None:
    """The triangles of the mesh, if its normals are to be changed, too."""
    return bound.character.mesh.triangles if bound.skin.has_normals else None


def make_cover(bound: BoundCharacter) -> After | None:
    """A function that lets the deformed mesh cover the muscles, if there are any."""
    cover = bound.muscles
    if cover is None:
        return None

    def covered(positions: NDArray[np.floating[Any]], matrices: NDArray[np.float64]) -> NDArray[np.floating[Any]]:
        cover.apply(positions, matrices)
        return positions

    return covered


def write(output: Path, found: Correctives) -> None:
    """Write them and say so."""
    shaping.write(output, found)
    say(f"{output}: {len(found)} correctives, {count_deltas(found)} deltas")
