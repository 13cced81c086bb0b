# SPDX-License-Identifier: MIT
"""Compare automatic weights with those of artists: the table and the picture of docs/weights.md.

    python tools/evaluate_weights.py build/weights

For real characters, capsules and heat make weights from the mesh and the skeleton alone, for the joints that the artist
gave weight. Then spherical blend skinning moves the character by frames of its own motions, and the vertices are
compared with where the artist's weights put them. Writes table.md and weights.png, each picture in the frame in which
automatic weights do worst.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from sbs import Skeleton, Skin, rotations, weights
from sbs.picture import Camera, Row, compose, portraits
from sbs.picture.portraits import BLUE, CLAY
from sbs.support.files import replacing

DATA = Path(__file__).parents[1] / "tests" / "data"
COLUMNS = ("character", "vertices", "joints", "frames", "weights", "unweighted", "mean", "99 %", "most")
METHODS = ("nearest bone", "capsules", "heat")
FULL_COLOR = 0.05  # the distance, as a share of the size, that is shown in full blue


@dataclass(frozen=True)
class View:
    """The view of a character: direction to the camera, upward direction, and ratio of width to height of a picture."""

    direction: tuple[float, float, float]
    up: tuple[float, float, float]
    aspect: float


CHARACTERS = {
    "woman_makehuman_cmu": View((0.5, 0.2, 1), (0, 1, 0), 0.9),
    "arnaud_ozz": View((0.5, 0.2, 1), (0, 1, 0), 1.1),
    "knight_kaykit": View((1, 0.7, 0.3), (0, 1, 0), 1.6),
    "hand_webxr": View((0.4, 1, 0.4), (0, 0, -1), 1.2),
    "wolf_quaternius": View((1, 0.3, 0.7), (0, 1, 0), 1.4),
    "rat_quaternius": View((1, 0.3, 0.7), (0, 1, 0), 2.2),
}


@dataclass(frozen=True, eq=False)
class Subject:
    """A character of tests/data with the frames of its motions in the file.

    Attributes
    ----------
    name : str
    positions : (V, 3) ndarray
    triangles : (T, 3) ndarray
    skeleton : Skeleton
    artist : Influences
        As found in the file.
    frames : (F, J, 4, 4) ndarray
        Skinning matrices.
    """

    name: str
    positions: NDArray[np.float64]
    triangles: NDArray[np.int32]
    skeleton: Skeleton
    artist: weights.Influences
    frames: NDArray[np.float64]

    @property
    def size(self) -> float:
        """The diagonal of the rest positions' box."""
        return float(np.linalg.norm(np.ptp(self.positions, axis=0)))

    @property
    def deforming(self) -> NDArray[np.bool_]:
        """The joints (J,) that the artist gave weight."""
        flags = np.zeros(len(self.skeleton), bool)
        flags[self.artist.joint_indices[self.artist.joint_weights > 0]] = True
        return flags

    def deformed(self, influences: weights.Influences) -> NDArray[np.float64]:
        """Positions (F, V, 3) by spherical blend skinning with some weights."""
        return self.skin(influences).deform_many(self.frames).astype(np.float64)

    def skin(self, influences: weights.Influences) -> Skin:
        skeleton = self.skeleton
        return Skin(self.positions, *influences, parents=skeleton.parents, joint_positions=skeleton.joint_positions)


def read(name: str) -> Subject:
    """Read a character; make_test_data.py documents the format."""
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    bind = np.tile(np.eye(4), (len(arrays["parents"]), 1, 1))
    bind[:, :3] = arrays["bind_matrices"]
    clips = [key.removesuffix(".frames") for key in arrays if key.endswith(".frames")]
    quaternions = np.concatenate([arrays[f"{clip}.quaternions"] for clip in clips]).astype(np.float64)
    frames = np.tile(np.eye(4), (*quaternions.shape[:2], 1, 1))
    frames[..., :3, :3] = rotations.matrices_from_quaternions(quaternions)
    frames[..., :3, 3] = np.concatenate([arrays[f"{clip}.translations"] for clip in clips])
    return Subject(
        name,
        arrays["rest_positions"].astype(np.float64),
        arrays["triangles"],
        Skeleton(arrays["parents"], bind, names=arrays["joint_names"].tolist()),
        weights.normalize(arrays["joint_indices"], arrays["joint_weights"].astype(np.float64)),
        frames,
    )


def automatic(subject: Subject) -> dict[str, weights.Influences]:
    """Weights by each of `METHODS`."""
    positions, chosen = subject.positions, subject.deforming
    heads, tails = weights.bone_segments(subject.skeleton)
    nothing = np.zeros((len(heads), 2))
    nearest = weights.Capsules(heads, tails, nothing, nothing, enabled=chosen)
    heat = weights.heat_weights(positions, subject.triangles, heads, tails, joints=chosen)
    click.echo(f"{subject.name}: {heat.report}", err=True)
    return {
        "nearest bone": weights.capsule_weights(positions, nearest, limit=1),
        "capsules": weights.capsule_weights(
            positions, weights.fit_capsules(subject.skeleton, positions, enabled=chosen)
        ),
        "heat": weights.Influences(heat.joint_indices, heat.joint_weights),
    }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Automatic weights of a character beside the artist's.

    Attributes
    ----------
    unweighted : int
        Vertices without weight.
    positions : (F, V, 3) ndarray
        In all frames.
    distances : (F, V) ndarray
        To those by the artist's weights, as shares of the character's size.
    """

    unweighted: int
    positions: NDArray[np.float64]
    distances: NDArray[np.float64]


def compare(subject: Subject) -> tuple[NDArray[np.float64], dict[str, Comparison]]:
    """Positions (F, V, 3) by the artist's weights, and the comparison for each method."""
    expected = subject.deformed(subject.artist)
    results = {}
    for method, influences in automatic(subject).items():
        positions = subject.deformed(influences)
        distances = np.linalg.norm(positions - expected, axis=-1) / subject.size
        results[method] = Comparison(subject.skin(influences).unweighted_vertex_count, positions, distances)
    return expected, results


def rows(subject: Subject, results: dict[str, Comparison]) -> Iterator[tuple[str, ...]]:
    """The rows of the table, in the order of `COLUMNS`."""
    for method, result in results.items():
        yield (
            subject.name.replace("_", " "),
            str(len(subject.positions)),
            str(np.count_nonzero(subject.deforming)),
            str(len(subject.frames)),
            method,
            str(result.unweighted),
            f"{result.distances.mean():.2%}",
            f"{np.percentile(result.distances, 99):.1%}",
            f"{result.distances.max():.1%}",
        )


def picture_row(
    subject: Subject, expected: NDArray[np.float64], results: dict[str, Comparison], width: int, samples: int
) -> Row:
    """Pictures by the artist's weights and by each method, in the frame with the largest differences of all methods."""
    frame = int(np.argmax(sum(result.distances.mean(axis=1) for result in results.values())))
    shapes = [expected[frame], *(result.positions[frame] for result in results.values())]
    shares = [np.zeros(len(expected[frame])), *(result.distances[frame] for result in results.values())]
    view = CHARACTERS[subject.name]
    size = (width, round(width / view.aspect))
    camera = Camera.framing(np.concatenate(shapes), view.direction, view.up, aspect=view.aspect)
    pictures: list[NDArray[Any]] = []
    for shape, share in zip(shapes, shares, strict=True):
        colors = CLAY + (BLUE - CLAY) * np.clip(share / FULL_COLOR, 0, 1)[:, None]
        pictures += portraits(subject.positions, subject.triangles, [shape], colors, camera, size, samples=samples)
    notes = ["", *(f"mean {result.distances[frame].mean():.2%}" for result in results.values())]
    return Row(pictures, notes, f"{subject.name.replace('_', ' ')}, frame {frame + 1} of {len(subject.frames)}")


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """The table as GitHub Markdown, with numbers right-aligned."""
    rule = ["---", "---:", "---:", "---:", "---", "---:", "---:", "---:", "---:"]
    return "".join(f"| {' | '.join(line)} |\n" for line in [COLUMNS, rule, *lines])


@click.command()
@click.argument("output", type=click.Path(file_okay=False, path_type=Path))
@click.option("--only", multiple=True, type=click.Choice(list(CHARACTERS)), help="Not all characters, just these.")
@click.option("--width", default=400, show_default=True, help="Pixels across a picture.")
@click.option("--samples", default=32, show_default=True, help="Light paths per pixel; 0: no pictures.")
def main(output: Path, only: tuple[str, ...], width: int, samples: int) -> None:
    """Write table.md and weights.png to the folder OUTPUT."""
    output.mkdir(parents=True, exist_ok=True)
    lines: list[tuple[str, ...]] = []
    pictures: list[Row] = []
    for name in only or CHARACTERS:
        subject = read(name)
        expected, results = compare(subject)
        lines += rows(subject, results)
        if samples:
            pictures.append(picture_row(subject, expected, results, width, samples))
    table = markdown(lines)
    click.echo(table, nl=False)
    with replacing(output / "table.md") as temporary:
        temporary.write_text(table, encoding="utf-8")
    if samples:
        footnote = (
            f"Blue: the distance to the vertex by the artist's weights, full at {FULL_COLOR:.0%} of the size."
            " Surfaces are smoothed for the picture by Loop subdivision."
        )
        with replacing(output / "weights.png") as temporary:
            compose(pictures, ["artist", *METHODS], footnote).save(temporary)


if __name__ == "__main__":
    main()
