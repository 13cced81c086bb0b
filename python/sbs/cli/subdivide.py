# SPDX-License-Identifier: MIT
"""``sbs subdivide``: a finer mesh near some joints."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..characters.poses import flexed
from ..quality.zones import BENDS
from ..weights.subdivision import Scheme, subdivide_bent, subdivide_near_joints
from .how_to_deform import BONES_BLENDING, METHOD, HowToDeform, how_to_deform
from .options import CHARACTER_OUTPUT, SCHEME, SOURCE, Source, joint_option, known_joints, refuse_idle
from .terminal import say


@click.command()
@SOURCE
@joint_option("Near this joint; repeatable.", required=True)
@SCHEME
@click.option("--levels", type=click.IntRange(1), default=1, help="How often.")
@click.option(
    "--bent",
    metavar="DEGREES",
    type=click.FloatRange(min=0),
    help="Only triangles that bends of the joints by 45, 90 and 120 degrees curve by more than this, level by level.",
)
@how_to_deform(METHOD, *BONES_BLENDING)
@CHARACTER_OUTPUT
def subdivide(
    source: Source,
    joints: tuple[str, ...],
    scheme: Scheme,
    levels: int,
    bent: float | None,
    how: HowToDeform,
    output: Path,
) -> None:
    """Divide the triangles of the character in FILE that are connected to joints.

    A vertex is attached to its heaviest joint; a triangle is connected to a joint if all its vertices are attached to
    it. With --bent, triangles are divided that are curved by bends of the joints, wherever they are. The surface, its
    seams and the weights of old vertices do not change. The output has the character alone: materials, colors and all
    else of FILE are left out.
    """
    refuse_idle((bent is None, "{} needs --bent", tuple(field.name for field in fields(HowToDeform))))
    character = source.load()
    numbers = known_joints(character, joints)
    if bent is None:
        fine = subdivide_near_joints(character, numbers, scheme=scheme, levels=levels)
    else:
        local = np.concatenate([flexed(character.skeleton, number, BENDS) for number in numbers])
        matrices = character.skinning_matrices(local)

        def deform(finer: Character) -> NDArray[Any]:
            bound = how.bind(finer)
            return np.asarray(bound.skin.deform_many(matrices, **bound.options))

        fine = subdivide_bent(character, deform, degrees=bent, scheme=scheme, levels=levels)
    fine.save(output)
    if character.source is not None:
        say("materials and all else of the file are left out", err=True)
    before, after = character.mesh, fine.mesh
    say(
        f"{output}: {len(after.positions)} vertices of {len(before.positions)}, "
        f"{len(after.triangles)} triangles of {len(before.triangles)}"
    )
