# SPDX-License-Identifier: MIT
"""The table of docs/muscles.md: how well muscles keep their volumes, and skin its distance from them, over whole clips.

All frames of all clips count. The first row of a character is of all its muscles, each other row of a pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

import sbs
from sbs import muscles

from .exchange import moving_characters
from .tables import table

Floats = NDArray[np.float64]

RINGS = 600
"""Sections of a belly that the nearest one is looked for in."""

RATE = 30.0
"""Frames of a second."""

WHOLE = 1 - 1e-6
"""The share of skin that keeps its whole distance."""

BATCH = 64
"""Frames at once."""

KEPT = 0.01
"""A change of a distance that counts as none."""


def distances(
    cover: muscles.MuscleCover, name: str, matrices: Floats, points: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Of points (N, 3) from a belly's surface, negative inside it, and whether the nearest of it is at one of its ends.

    A section is a circle, here found from three of its points. A point at the height h over its plane, and away from
    its axis by a, is the hypotenuse of h and a - r from it; the nearest of all sections counts.
    """
    surface, _ = cover.surface(name, matrices, rings=RINGS, sides=3)
    rings = surface.reshape(RINGS, 3, 3)[1:-1]
    centers, edges = rings.mean(axis=1), np.diff(rings, axis=1)
    radii = np.linalg.norm(rings[:, 0] - centers, axis=1)
    planes = np.cross(edges[:, 0], edges[:, 1])
    planes /= np.linalg.norm(planes, axis=1, keepdims=True)
    offsets = points[:, None] - centers
    heights = np.einsum("nrx,rx->nr", offsets, planes)
    above = np.sqrt(np.maximum((offsets**2).sum(axis=2) - heights**2, 0)) - radii
    found = np.hypot(heights, above)
    nearest = found.argmin(axis=1)[:, None]
    signed = np.take_along_axis(np.copysign(found, above), nearest, axis=1)[:, 0]
    return np.asarray(signed), np.isin(nearest[:, 0], (0, len(radii) - 1))


def covered_alone(cover: muscles.MuscleCover, vertex_count: int) -> NDArray[np.bool_]:
    """Which vertices (V,) one muscle covers."""
    counts = np.zeros(vertex_count, int)
    for number in range(len(cover)):
        counts[cover.skin_of(number).vertices] += 1
    return np.asarray(counts == 1)


@dataclass
class Measured:
    """The measurements of some muscles, over all frames.

    Changes are relative. Distances are of skin that one muscle covers with all of its share.
    """

    limited: int = 0  # how often a muscle met the limit of its growth
    volumes: list[Floats] = field(default_factory=list)  # changes where it did not
    kept: list[Floats] = field(default_factory=list)  # changes of distances with muscles
    without: list[Floats] = field(default_factory=list)  # and without


def row(muscles_found: list[Measured]) -> list[str]:
    """The cells of some muscles together."""
    volumes, kept, without = (
        np.abs(np.concatenate([part for each in muscles_found for part in getattr(each, name)]))
        for name in ("volumes", "kept", "without")
    )
    found = [f"{volumes.max(initial=0):.0e}", str(sum(each.limited for each in muscles_found))]
    if not len(kept):
        return [*found, *"----"]
    changes = [f"{100 * np.quantile(each, 0.99):.1f}%" for each in (without, kept)]
    return [*found, *changes, f"{100 * kept.max():.0f}%", f"{100 * (kept <= KEPT).mean():.1f}%"]


def measure(character: sbs.Character, cover: muscles.MuscleCover, matrices: Floats) -> dict[str, Measured]:
    """By muscle."""
    rest = np.tile(np.eye(4), (len(character.skeleton), 1, 1))
    rest_volumes = cover.measure(rest).volumes
    alone = covered_alone(cover, len(character.mesh.positions))
    found = {muscle.name: Measured() for muscle in cover.muscles}
    for start in range(0, len(matrices), BATCH):
        poses = matrices[start : start + BATCH]
        states = cover.measure(poses)
        before = np.asarray(character.skin.deform_many(poses), np.float64)
        after = before.copy()
        cover.apply(after, poses)
        for number, (name, measured) in enumerate(found.items()):
            limited = states.limited[:, number]
            measured.limited += int(limited.sum())
            measured.volumes.append(states.volumes[~limited, number] / rest_volumes[number] - 1)
            skin = cover.skin_of(number)
            kept = skin.vertices[(skin.shares > WHOLE) & alone[skin.vertices]]
            at_rest, _ = distances(cover, name, rest, character.mesh.positions[kept].astype(np.float64))
            for pose, without, within in zip(poses, before, after, strict=True):
                reached, over_tendon = distances(cover, name, pose, within[kept])
                measured.kept.append((reached / at_rest - 1)[~over_tendon])
                measured.without.append((distances(cover, name, pose, without[kept])[0] / at_rest - 1)[~over_tendon])
    return found


def rows_of(character: sbs.Character) -> Iterator[list[str]]:
    cover = muscles.bind(character, muscles.fit(character))
    matrices = np.concatenate(
        [clip.skinning_matrices(np.arange(int(clip.duration * RATE) + 1) / RATE) for clip in character.animations]
    )
    found = measure(character, cover, matrices)
    yield [f"{character.name}, {len(matrices)} frames", *row(list(found.values()))]
    for kind in dict.fromkeys(name.rpartition(" ")[0] for name in found):
        yield [f"  {kind}", *row([found[f"{kind} {side}"] for side in ("left", "right")])]


NAMES = ("arnaud_ozz", "knight_kaykit", "woman_makehuman_cmu")
# fmt: off
COLUMNS = (
    "muscles", "volume: largest change", "limits met", "distance: change of 99% without", "of 99% with", "largest with",
    "within 1%",
)
# fmt: on


def write(characters: Path) -> None:
    """Print the table."""
    chosen = [each for each in moving_characters(characters) if each.name in NAMES]
    click.echo(table(COLUMNS, (row for each in chosen for row in rows_of(each))))
