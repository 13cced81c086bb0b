# SPDX-License-Identifier: MIT
"""``sbs bench``: nanoseconds per vertex of each method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..characters.loading import load
from ..characters.samples import load as load_sample
from ..quality.demo.bench import PAPER_RATIO, measure, ratio_to_linear, tube
from ..quality.demo.scenes import twist
from ..skinning.skin import Skin
from .options import ANIMATION, JSON, TIME, find_animation, pose_at, print_json, read_numbers, refuse_idle
from .streams import InputFile
from .tables import print_records
from .terminal import say

COLUMNS = {
    "method": "{method}",
    "threads": "{threads}",
    "minimum": "{minimum_ns:.2f}",
    "median": "{median_ns:.2f}",
    "ratio to LBS": "{ratio_to_linear:.2f}",
}


def parse_threads(context: click.Context, parameter: click.Parameter, text: str) -> tuple[int, ...]:
    """Numbers of threads, from 1,2,4."""
    counts = read_numbers(text)
    if not counts or any(count < 1 or count % 1 for count in counts):
        raise click.BadParameter(f"{text!r} is not a list of numbers of threads, as in 1,2,4", context, parameter)
    return tuple(int(count) for count in counts)


@click.command()
@click.argument("file", required=False, type=InputFile())
@ANIMATION
@TIME
@click.option("--vertices", type=click.IntRange(60, 100_000_000), default=100_000, help="Of the generated tube.")
@click.option("--threads", metavar="N,N,...", default="1,2", callback=parse_threads, help="Numbers of threads to try.")
@click.option("--rounds", type=click.IntRange(1), default=50, help="Rounds of timing.")
@JSON
def bench(
    file: Path | None,
    animation_name: str | None,
    time: float | None,
    vertices: int,
    threads: tuple[int, ...],
    rounds: int,
    as_json: bool,
) -> None:
    """Time each method on the character in FILE and on a generated tube.

    Without FILE the character is the woman that comes with the package, her forearm twisted. The tube has 60 joints and
    four influences at every vertex. Times are of whole calls from Python, per vertex; the methods take turns.
    """
    subjects = [load_case(file, animation_name, time), ("tube", *tube(vertices))]
    results = [time_case(name, skin, matrices, threads, rounds) for name, skin, matrices in subjects]
    if as_json:
        print_json({"paper_ratio": PAPER_RATIO, "subjects": results})
        return
    for result in results:
        facts = ", ".join(f"{result[key]} {key}" for key in ("vertices", "joints", "joint sets", "solves"))
        say(f"{result['name']}: {facts}; nanoseconds per vertex")
        print_records(COLUMNS, result["timings"])
    low, high = PAPER_RATIO
    say(f"Spherical to linear in Kavan and Zara 2005, Table 2: {low} to {high}")


def load_case(
    file: Path | None, animation_name: str | None, time: float | None
) -> tuple[str, Skin, NDArray[np.float64]]:
    """The character to time: its name, skin and skinning matrices."""
    if file is None:
        refuse_idle((True, "{} needs FILE", ("animation_name", "time")))
        scene = twist(load_sample("woman"))
        return "woman", scene.character.skin, scene.skinning_matrices
    character = load(file)
    animation = None if animation_name is None else find_animation(character, animation_name)
    return file.name, character.skin, pose_at(character, animation, time)


def time_case(
    name: str, skin: Skin, matrices: NDArray[np.float64], threads: tuple[int, ...], rounds: int
) -> dict[str, Any]:
    """The timings of a skin, ready for JSON."""
    timings = measure(skin, matrices, threads=threads, rounds=rounds)
    return {
        "name": name,
        "vertices": skin.vertex_count,
        "joints": skin.joint_count,
        "joint sets": len(skin.joint_sets),
        "solves": skin.pose_report(matrices).solves,
        "timings": [
            {
                "method": timing.method,
                "threads": timing.threads,
                "minimum_ns": timing.minimum,
                "median_ns": timing.median,
                "ratio_to_linear": ratio_to_linear(timings, timing),
            }
            for timing in timings
        ],
    }
