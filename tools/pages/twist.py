# SPDX-License-Identifier: MIT
"""The tables of docs/twist.md: frames, teeth, and bones, centers and amounts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.characters.limbs import ACROSS, RADII
from sbs.options import DeformOptions, Method
from sbs.quality import METHODS, MeasuredMotion, evaluate
from sbs.quality.methods import Blended, Deformer, NamedMethod, TwistMethod
from sbs.rigging.bones import bone_radii, bone_segments
from sbs.samples import load as load_sample
from sbs.skinning.influences import tidy

from .losses import KINDS, all_energies, energy_shares, geometric_mean
from .scenes import twisted
from .tables import table

SMOOTH = "smooth twist"
JOINT, DEGREES = "LeftForeArm", 170.0
TEETH = 15.0
"""Degrees by which two triangles meet in a valley that counts as one between teeth."""

FRAMES: dict[Method, tuple[int, ...]] = {"linear": (0, 2, 3, 5, 9), "spherical": (0, 3, 4, 5)}


@dataclass(frozen=True)
class Spread(NamedMethod):
    """A method with twists spread by so many frames along each bone; by none they are not spread."""

    frames: int

    def skin(self, character: sbs.Character) -> Deformer:
        return character.twisted_skin(sbs.limb_twist(character, frames=self.frames) if self.frames else None)


def methods() -> dict[str, NamedMethod]:
    """By their headings in the table."""
    found: dict[str, NamedMethod] = {}
    for method, counts in FRAMES.items():
        for frames in counts:
            name = {"linear": "LBS", "spherical": "SBS"}[method] + (f", {frames} frames" if frames else "")
            found[name] = Spread(name, {"method": method}, frames)
    return found


def frames_table(character: sbs.Character) -> str:
    """Thickness, areas and tears by numbers of frames."""
    motion = MeasuredMotion("twisted", (JOINT,), twisted(character, JOINT, DEGREES)[None])
    report = evaluate(character, [motion], methods())
    rows = []
    for name in methods():
        value = report.results[motion.name, name].value
        tear = value("tear", "largest") / report.results[motion.name, "LBS"].value("tear", "largest")
        shares = [f"{value(*measure):.1%}" for measure in (("thickness", "low"), ("area", "low"), ("area", "high"))]
        rows.append((name, *shares, f"{tear:.2f}"))
    return table(("170° at the forearm", "thickness 1%", "area 1%", "area 99%", "largest tear, over LBS"), rows)


# ---------------------------------------------------------------------------------------------------------------- teeth


def quads(triangles: NDArray[np.int32]) -> NDArray[np.int32]:
    """The quads (Q, 4) that the woman's triangles, two by two, were made of; a diagonal goes from corner 1 to 3."""
    corners = []
    for one, other in triangles.reshape(-1, 2, 3).tolist():
        (apex,) = set(one) - set(other)
        (opposite,) = set(other) - set(one)
        first = one.index(apex)
        corners.append((apex, one[first - 2], opposite, one[first - 1]))
    return np.array(corners, np.int32)


def split(corners: NDArray[np.int32], other: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Triangles of quads; quads that are marked by `other` (Q,) are split along their other diagonal."""
    turned_quads = np.where(other[:, None], np.roll(corners, 1, axis=1), corners)
    return turned_quads[:, [0, 1, 3, 1, 2, 3]].reshape(-1, 3)


def teeth(points: NDArray[np.float64], triangles: NDArray[np.int32]) -> dict[tuple[int, int], bool]:
    """The edges between two triangles: whether these meet in a valley of more than `TEETH` degrees."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    first: dict[tuple[int, int], int] = {}
    found: dict[tuple[int, int], bool] = {}
    for number, triangle in enumerate(triangles.tolist()):
        for start, end, apex in zip(triangle, triangle[1:] + triangle[:1], triangle[2:] + triangle[:2], strict=True):
            edge = min(start, end), max(start, end)
            other = first.setdefault(edge, number)
            if other != number:
                is_sharp = normals[number] @ normals[other] < np.cos(np.radians(TEETH))
                is_valley = (points[apex] - points[start]) @ normals[other] > 0
                found[edge] = bool(is_sharp and is_valley)
    return found


def teeth_table(character: sbs.Character) -> str:
    """How many edges of the forearm are valleys, by how its quads are split."""
    mesh = character.mesh
    joint = character.skeleton.index(JOINT)
    poses = {f"{degrees:+g}°": twisted(character, JOINT, degrees) for degrees in (DEGREES, -DEGREES)}
    heaviest = mesh.joint_indices[np.arange(len(mesh.positions)), np.argmax(mesh.joint_weights, axis=1)]
    corners = quads(np.asarray(mesh.triangles))
    corners = corners[np.all(heaviest[corners] == joint, axis=1)]
    twists = {"LBS": None, "SBS": None} | {
        f"SBS, {frames} frames": sbs.limb_twist(character, frames=frames) for frames in (4, 9)
    }
    deformed = {("rest", ""): np.asarray(mesh.positions, np.float64)}
    for name, twist in twists.items():
        options: DeformOptions = {"method": "linear" if name == "LBS" else "spherical"}
        for pose, matrices in poses.items():
            deformed[name, pose] = np.asarray(character.twisted_skin(twist).deform(matrices, **options), np.float64)
    rows = []
    for (name, pose), points in deformed.items():
        lengths = [np.linalg.norm(points[corners[:, one]] - points[corners[:, one + 2]], axis=1) for one in (0, 1)]
        as_it_is, opposite = np.zeros(len(corners), bool), np.ones(len(corners), bool)
        splits = [split(corners, other) for other in (as_it_is, opposite, lengths[0] < lengths[1])]
        both = [teeth(points, triangles) for triangles in splits]
        sides = both[0].keys() & both[1].keys()  # without the diagonals
        counts = [sum(valleys.values()) for valleys in both] + [sum(both[0][side] for side in sides)]
        rows.append((f"{name} {pose}".strip(), *map(str, counts)))
    head = (f"{len(both[0])} edges", "as it is", "other diagonals", "shorter diagonals", "sides of quads alone")
    return table(head, rows)


# ------------------------------------------------------------------------------------------ bones, centers and amounts


def found_bones(character: sbs.Character) -> list[int]:
    return [bone.joint for bone in sbs.twist_bones(character) if bone.spread]


def arms_and_legs(character: sbs.Character) -> list[int]:
    """The bones that are found, without fingers and tails."""
    names = character.skeleton.names
    others = re.compile(r"finger|thumb|tail", re.IGNORECASE)
    return [joint for joint in found_bones(character) if not others.search(names[joint])]


def long_bones(character: sbs.Character) -> list[int]:
    """All bones that are longer than two radii of their limb, whatever they are."""
    mesh, skeleton = character.mesh, character.skeleton
    heads, tails = bone_segments(skeleton)
    radii = bone_radii(mesh.positions, tidy(mesh.joint_indices, mesh.joint_weights), heads, tails)
    is_long = (np.linalg.norm(tails - heads, axis=1) > RADII * radii) & (skeleton.parents >= 0)
    return sorted({*np.flatnonzero(is_long).tolist(), *found_bones(character)})


@dataclass(frozen=True)
class Choice(TwistMethod):
    """Smooth twist, but for some choice.

    Attributes
    ----------
    bones : callable
        The joints of a character along whose bones twists are spread.
    wide : bool
        Whether the character has weights for spherical blending.
    """

    bones: Callable[[sbs.Character], list[int]] = found_bones
    wide: bool = False

    def skin(self, character: sbs.Character) -> Deformer:
        if self.wide:
            character = character.with_weights(*sbs.weights.for_spherical(character))
        twist = sbs.limb_twist(character, self.bones(character))
        skin = character.twisted_skin(twist, optimized=self.options.get("center") == "optimized")
        return Blended(skin, sbs.twist_amounts(character, twist, self.across))


def choices(across: float, *, wide: bool) -> dict[str, NamedMethod]:
    """Smooth twist with so much across joints, and methods that differ from it in one choice."""
    smooth = Choice("", METHODS[SMOOTH].options, across=across, wide=wide)
    found: dict[str, NamedMethod] = {
        SMOOTH: smooth,
        "no fingers and tails": replace(smooth, bones=arms_and_legs),
        "all long bones": replace(smooth, bones=long_bones),
        "weighted centers": replace(smooth, options=METHODS["weighted"].options),
    }
    return found | {f"{more:g} across": replace(smooth, across=more) for more in (0.5, 0.7) if more > across}


def choices_table(characters: Path, every: int, *, across: float, wide: bool) -> str:
    """The energies of all characters, relative to linear blending with the artists' weights."""
    panel = choices(across, wide=wide)
    energies = all_energies(characters, {"LBS": METHODS["LBS"]} | panel, every)
    shares = {kind: energy_shares(energies, kind) for kind in KINDS}
    rows = []
    for name in panel:
        means = [f"{geometric_mean(list(kind[name].values())):.3f}" for kind in shares.values()]
        changes = sorted(
            (value - kind[SMOOTH][character], f"{name_of_kind} of {character}")
            for name_of_kind, kind in shares.items()
            for character, value in kind[name].items()
        )
        extremes = [f"{change:+.3f}, {where}" for change, where in (changes[0], changes[-1])]
        rows.append((name, *means, *(extremes if name != SMOOTH else ["", ""])))
    head = f"{across:g} across" + (", weights for spherical blending" if wide else "")
    return table((head, *KINDS, "better by at most", "worse by at most"), rows)


def write(characters: Path | None = None, every: int = 3) -> None:
    """Print the tables; of the woman alone if there are no characters."""
    woman = load_sample("woman")
    click.echo(f"{frames_table(woman)}\n\n{teeth_table(woman)}")
    if characters is not None:
        click.echo(f"\n{choices_table(characters, every, across=ACROSS, wide=False)}")
        click.echo(f"\n{choices_table(characters, every, across=0.5, wide=True)}")
