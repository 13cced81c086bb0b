# SPDX-License-Identifier: MIT
"""The table of docs/weights.md about automatic weights beside the weights of artists.

For real characters, capsules and heat make weights from the mesh and the skeleton alone, for the joints that the artist
gave weight. Then spherical blend skinning moves the character by frames of its own motions, and the vertices are
compared with their places by the artist's weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import click
import numpy as np
from numpy.typing import NDArray

from sbs import Skeleton, Skin, rotations, weights

from .scenes import ROOT
from .tables import table

COLUMNS = ("character", "vertices", "joints", "frames", "weights", "unweighted", "mean", "99 %", "most")
METHODS = ("nearest bone", "capsules", "heat")
# fmt: off
CHARACTERS = (
    "woman_makehuman_cmu", "arnaud_ozz", "knight_kaykit", "hand_webxr", "wolf_quaternius", "rat_quaternius",
)
# fmt: on


@dataclass(frozen=True, eq=False)
class Subject:
    """A character of tests/data with the frames of its motions in the file."""

    name: str
    positions: NDArray[np.float64]  # (V, 3)
    triangles: NDArray[np.int32]
    skeleton: Skeleton
    artist: weights.Influences
    frames: NDArray[np.float64]  # (F, J, 4, 4): skinning matrices

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
    with np.load(ROOT / "tests" / "data" / f"{name}.npz", allow_pickle=False) as file:
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
    """Automatic weights of a character beside the artist's."""

    unweighted: int  # vertices without weight
    positions: NDArray[np.float64]  # (F, V, 3)
    distances: NDArray[np.float64]  # (F, V), to the positions by the artist's weights, as shares of the size


def compare(subject: Subject) -> tuple[NDArray[np.float64], dict[str, Comparison]]:
    """Positions (F, V, 3) by the artist's weights, and the comparison for each method."""
    expected = subject.deformed(subject.artist)
    results = {}
    for method, influences in automatic(subject).items():
        positions = subject.deformed(influences)
        distances = np.linalg.norm(positions - expected, axis=-1) / subject.size
        results[method] = Comparison(subject.skin(influences).unweighted_vertex_count, positions, distances)
    return expected, results


def write() -> None:
    """Print the table."""
    rows = []
    for subject in map(read, CHARACTERS):
        counts = len(subject.positions), np.count_nonzero(subject.deforming), len(subject.frames)
        for method, result in compare(subject)[1].items():
            far = result.distances
            shares = f"{far.mean():.2%}", f"{np.percentile(far, 99):.1%}", f"{far.max():.1%}"
            rows.append((subject.name.replace("_", " "), *map(str, counts), method, str(result.unweighted), *shares))
    click.echo(table(COLUMNS, rows))
