# SPDX-License-Identifier: MIT
"""``sbs curvature``: the curvature of the mesh while a joint bends, original and subdivided."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..characters.poses import flexed
from ..quality.picture.extra import load as load_extra
from ..rigging.blending import BonesBlending
from ..skinning.attachment import connected_triangles, heaviest_joints
from ..support.files import replacing
from ..support.text import plain
from ..weights.curvature import curvature
from ..weights.subdivision import Scheme, subdivide, triangles_near_joints
from .blended_bones import BONES_BLENDING
from .how_to_deform import METHOD, HowToDeform, how_to_deform
from .options import (
    JSON,
    SCHEME,
    SOURCE,
    Source,
    joint_option,
    known_joints,
    output_option,
    parse_axis,
    print_json,
    read_numbers,
)
from .tables import print_table
from .terminal import say

COLORS = ("#2471a3", "#c0392b", "#229954", "#7d3c98", "#b7950b")


@dataclass(frozen=True)
class Curve:
    """A mesh, and its curvature relative to the joint during a bend: degrees (N,)."""

    vertices: int
    triangles: int
    degrees: NDArray[np.float64]


def parse_bend(context: click.Context, parameter: click.Parameter, text: str) -> tuple[float, float]:
    """Two angles in degrees, from 0:135."""
    angles = read_numbers(text, ":")
    if len(angles) != 2 or angles[0] == angles[1]:
        raise click.BadParameter(f"{text!r} is not FROM:TO, two angles in degrees", context, parameter)
    return angles[0], angles[1]


@click.command(name="curvature")
@SOURCE
@joint_option("The joint that bends.", name="joint", multiple=False, required=True)
@click.option("--bend", metavar="FROM:TO", default="0:135", callback=parse_bend, help="Degrees.")
@click.option(
    "--axis",
    metavar="AXIS",
    callback=parse_axis,
    help="x, y, z or X,Y,Z, in the joint's own frame.  [default: the axis that the limb bends about, across its bones]",
)
@click.option("--steps", type=click.IntRange(2, 10_000), default=28, help="How many angles.")
@how_to_deform(METHOD, *BONES_BLENDING)
@SCHEME
@click.option("--levels", type=click.IntRange(1, 4), default=1, help="Up to how often to subdivide.")
@joint_option("Subdivide near this joint; repeatable. By default the joint and its parent.", "--subdivide")
@JSON
@output_option(".png", ".svg", text="A plot to write: PNG or SVG.")
def bend_curvature(
    source: Source,
    joint: str,
    bend: tuple[float, float],
    axis: tuple[float, ...] | None,
    steps: int,
    how: HowToDeform,
    scheme: Scheme,
    levels: int,
    joints: tuple[str, ...],
    as_json: bool,
    output: Path | None,
) -> None:
    """Bend a joint of the character in FILE and measure the curvature of its mesh, original and subdivided.

    The bend is told from a stretched limb, in which the bone of the joint goes on as its parent's: a limb that is bent
    in FILE is straightened first.

    The curvature relative to a joint is the largest angle between the normals of two neighbors, at least one of which
    is connected to the joint: all its vertices are attached to it. With bones blending these are the vertices on both
    sides of the joint.
    """
    character = source.load()
    (number,) = known_joints(character, [joint])
    name = character.skeleton.names[number]
    original = bind(character, how)
    if not connected_triangles(character.mesh.triangles, original.attachment, number).any():
        raise click.BadParameter(f"no triangle is connected to joint {name!r}", param_hint="--joint")
    subjects = {"original": original}
    near = known_joints(character, joints, option="--subdivide") if joints else original.with_triangles(number)
    for level in range(1, levels + 1):
        times = "" if level == 1 else f", {level} levels"
        subjects[f"{scheme} subdivided{times}"] = original.divided(near, scheme, level)
    angles = np.linspace(*bend, steps)
    local = flexed(character.skeleton, number, angles, axis)
    matrices = character.skinning_matrices(local)
    curves = {title: subject.curve(number, matrices) for title, subject in subjects.items()}
    by = "bones blending" if how.bones else how.title
    if output is not None:
        draw(output, f"{source.file.name}, {name}, {by}", angles, curves)
    if as_json:
        found = {title: {**vars(curve), "degrees": curve.degrees.tolist()} for title, curve in curves.items()}
        print_json({"joint": name, "method": by, "bend": angles.tolist(), "curvature": found})
        return
    for title, curve in curves.items():
        say(f"{title}: {curve.vertices} vertices, {curve.triangles} triangles")
    say(f"Curvature relative to {name}, {by}, in degrees:")
    rows = [
        (f"{angle:g}", *(f"{curve.degrees[row]:.1f}" for curve in curves.values())) for row, angle in enumerate(angles)
    ]
    print_table(("bend", *curves), rows)
    if output is not None:
        say(output)


@dataclass(frozen=True)
class Bound:
    """A character, how it is deformed, and the joint that each vertex is attached to (V,)."""

    character: Character
    how: HowToDeform
    attachment: NDArray[np.int32]
    blending: BonesBlending | None = None

    def with_triangles(self, joint: int) -> list[int]:
        """The joint and its parent, if triangles are connected to that."""
        parent = int(self.character.skeleton.parents[joint])
        triangles = self.character.mesh.triangles
        return [near for near in (parent, joint) if connected_triangles(triangles, self.attachment, near).any()]

    def divided(self, near: list[int], scheme: Scheme, levels: int) -> Bound:
        """The same with a finer mesh near some joints: new vertices belong where those around them do."""
        mesh = self.character.mesh
        triangles = triangles_near_joints(self.character, near, attachment=self.attachment)
        division = subdivide(mesh.positions, mesh.triangles, triangles, scheme=scheme, levels=levels)
        fine = self.character.with_mesh(division.mesh(mesh))
        attachment = division.attachment(self.attachment)
        blending = None if self.blending is None else self.how.blend_bones(fine, self.blending, attachment)
        return Bound(fine, self.how, attachment, blending)

    def curve(self, joint: int, matrices: NDArray[np.float64]) -> Curve:
        """The curvature relative to a joint over poses (N, J, 4, 4)."""
        mesh, blending = self.character.mesh, self.blending
        connected = connected_triangles(mesh.triangles, self.attachment, joint)
        if blending is None:
            bound = self.how.bind(self.character)
            frames = bound.skin.deform_many(matrices, **bound.options)
        else:
            frames = blending.skin().deform_many(matrices, **blending.options)
        largest = curvature(frames, mesh.triangles, rest_positions=mesh.positions)[:, connected].max(axis=1)
        return Curve(len(mesh.positions), len(mesh.triangles), np.degrees(largest))


def bind(character: Character, how: HowToDeform) -> Bound:
    """How a character is deformed by the options."""
    if how.bones:
        blending = how.blend_bones(character)
        return Bound(character, how, blending.attachment, blending)
    return Bound(character, how, heaviest_joints(character.mesh.joint_indices, character.mesh.joint_weights))


def draw(output: Path, title: str, angles: NDArray[np.float64], curves: dict[str, Curve]) -> None:
    """Write the plot, figure 9."""
    figure = load_extra("matplotlib.figure", "matplotlib", "plots").Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for (name, curve), color in zip(curves.items(), COLORS, strict=False):
        axes.plot(angles, curve.degrees, color=color, label=f"{name}, {curve.vertices:,} vertices")
    axes.set_title(plain(title), parse_math=False)
    axes.set(xlabel="bend in degrees", ylabel="curvature in degrees", xlim=sorted(angles[[0, -1]]))
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3, linewidth=0.5)
    axes.legend(frameon=False)
    with replacing(output) as temporary:
        figure.savefig(temporary, dpi=110)
