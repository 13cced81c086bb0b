# SPDX-License-Identifier: MIT
"""What a gradient costs: ``python -m benchmarks.gradient``.

`Skin.deform_vjp` over `Skin.deform` of the woman, by each method: calls from Python on one thread, all in turns. Of
positions both ways, and of positions and normals both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import click
import numpy as np
from numpy.typing import DTypeLike

import sbs
from sbs.cli.tables import print_table
from sbs.options import BlendOptions
from sbs.samples import load as load_sample
from sbs.skinning.gradients import Differentiable
from sbs.skinning.skin import Skin

from .rounds import Case, frame_by_frame, measure
from .targets import Row
from .twist import poses

ROUNDS = 40
TARGET = 3.0
ALL: tuple[Differentiable, ...] = ("rest_positions", "joint_weights", "skinning_matrices")
WANTED: dict[str, tuple[Differentiable, ...]] = {
    "all": ALL,
    "positions": ALL[:1],
    "weights": ALL[1:2],
    "matrices": ALL[2:],
}
BOTH_WAYS: dict[str, BlendOptions] = {
    "LBS": {"method": "linear"},
    "SBS": {"method": "spherical"},
    "weighted": {"method": "spherical", "center": "weighted"},
    "optimized": {"method": "spherical", "center": "optimized"},
    "DQS": {"method": "dual_quaternion"},
}


def skin_of(character: sbs.Character, scalar: DTypeLike, optimized: bool) -> Skin:
    """The character's skin in the given type, with normals."""
    mesh = character.mesh
    assert mesh.normals is not None
    return Skin(
        mesh.positions.astype(scalar),
        mesh.joint_indices,
        mesh.joint_weights,
        rest_normals=mesh.normals.astype(scalar),
        joint_positions=character.skeleton.joint_positions,
        parents=character.skeleton.parents,
        centers=character.optimized_skin().centers if optimized else None,
    )


def cases(character: sbs.Character, scalar: DTypeLike, wanted: dict[str, tuple[Differentiable, ...]]) -> Iterator[Case]:
    """Of each method the deformation, then the gradients, of positions; then with normals, too."""
    random = np.random.default_rng(21)
    matrices = poses(character.skeleton)
    upstream = random.normal(size=(2, len(character.mesh.positions), 3)).astype(scalar)
    skins = [skin_of(character, scalar, optimized) for optimized in (False, True)]
    for attributes in ("p", "pn"):
        normals = attributes == "pn"
        for name, options in BOTH_WAYS.items():
            skin = skins[name == "optimized"]
            outputs = {"out": np.empty_like(skin.rest_positions)}
            if normals:
                outputs["out_normals"] = np.empty_like(skin.rest_positions)
            deform = partial(skin.deform, normals=normals, threads=1, **outputs, **options)
            grads = {"grad_positions": upstream[0], "grad_normals": upstream[1] if normals else None}
            yield Case("sbs", "frame", name, attributes, 1, "", frame_by_frame(deform, matrices))
            for names in wanted.values():
                more: tuple[Differentiable, ...] = ("rest_normals",) if normals and "rest_positions" in names else ()
                differentiate: Callable[..., object] = skin.deform_vjp
                back = partial(differentiate, threads=1, wanted=names + more, **grads, **options)
                yield Case("sbs", "gradient", name, attributes, 1, "", frame_by_frame(back, matrices))


@click.command()
@click.option("--scalar", type=click.Choice(["float32", "float64"]), multiple=True, default=("float32", "float64"))
@click.option("--rounds", default=ROUNDS, show_default=True, type=click.IntRange(1))
@click.option("--each", is_flag=True, help="Also by positions, weights and matrices alone.")
def main(scalar: tuple[str, ...], rounds: int, each: bool) -> None:
    """The gradient by rest positions (and normals), weights and matrices over the deformation."""
    wanted = WANTED if each else {"all": ALL}
    woman = load_sample("woman")
    rows = []
    for name in scalar:
        timings = measure(list(cases(woman, name, wanted)), rounds)
        step = 1 + len(wanted)
        for first in range(0, len(timings), step):
            forth = timings[first]
            for what, back in zip(wanted, timings[first + 1 : first + step], strict=True):
                row = Row("", "", "", back.minimum / forth.minimum, TARGET)
                of = {"p": "positions", "pn": "positions, normals"}[forth.case.attributes]
                times = [f"{timing.minimum / 1000:.1f}" for timing in (forth, back)]
                rows.append((name, forth.case.method, of, what, *times, f"{row.value:.2f}", row.verdict))
    head = ("type", "method", "of", "by", "deform, us", "gradient, us", "ratio", f"at most {TARGET:g}")
    print_table(head, rows, left=4)


if __name__ == "__main__":
    main()
