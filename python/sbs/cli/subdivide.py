# SPDX-License-Identifier: MIT
"""``sbs subdivide``: a finer mesh near some joints."""

from __future__ import annotations

from pathlib import Path

import click

from ..characters.loading import load
from ..mesh import Scheme, subdivide_near_joints
from .completion import complete_joints
from .options import CHARACTER, CHARACTER_OUTPUT, SCHEME, STRICT, known_joints
from .terminal import say


@click.command()
@CHARACTER
@click.option(
    "--joint",
    "joints",
    metavar="NAME",
    multiple=True,
    required=True,
    shell_complete=complete_joints,
    help="Near this joint; repeatable.",
)
@SCHEME
@click.option("--levels", type=click.IntRange(1), default=1, show_default=True, help="How often.")
@STRICT
@CHARACTER_OUTPUT
def subdivide(file: Path, joints: tuple[str, ...], scheme: Scheme, levels: int, strict: bool, output: Path) -> None:
    """Divide the triangles of the character in FILE that are connected to joints.

    A vertex is attached to its heaviest joint; a triangle is connected to a joint if all its vertices are attached to
    it. The surface, its seams and the weights of old vertices do not change.
    """
    character = load(file, strict=strict)
    fine = subdivide_near_joints(character, known_joints(character, joints), scheme=scheme, levels=levels)
    fine.save(output)
    before, after = character.mesh, fine.mesh
    say(
        f"{output}: {len(after.positions)} vertices of {len(before.positions)}, "
        f"{len(after.triangles)} triangles of {len(before.triangles)}"
    )
