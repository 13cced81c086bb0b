# SPDX-License-Identifier: MIT
"""Figures 1 to 3 of Kavan and Zara 2005 remade, and a twist in motion: ``python tools/draw_figures.py docs/images``.

All positions are the library's. The pictures need the extras ``picture`` and ``plot``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

import sbs
from sbs.demo.figure import HEADINGS
from sbs.options import Method
from sbs.picture import Camera, Row, compose, portraits, weight_colors
from sbs.poses import bone_axis, descendants, turned
from sbs.samples import load as load_sample
from sbs.support.files import replacing

Floats = NDArray[np.float64]

SAMPLES = 16
SHARES = np.linspace(0, 1, 25)
LINEAR, SPHERICAL, DUAL = "#c0392b", "#2471a3", "#7d3c98"


def arc(degrees: float = 120.0, share: NDArray[np.float64] = SHARES) -> tuple[Floats, Floats, Floats]:
    """Figure 1: where a vertex goes whose weights run from one joint to the other, by LBS and by SBS.

    Returns
    -------
    linear, spherical : (N, 3) ndarray
    elbow : (3,) ndarray
        The joint that turns, and so the center of rotation.
    """
    bind = np.tile(np.eye(4), (2, 1, 1))
    bind[0, 0, 3] = -3
    arm = sbs.Skeleton([-1, 0], bind)
    vertex = np.tile([1.5, 0.6, 0.0], (len(share), 1))
    skin = sbs.Skin(
        vertex,
        np.tile([0, 1], (len(share), 1)),
        np.stack([1 - share, share], axis=1),
        parents=arm.parents,
        joint_positions=arm.joint_positions,
    )
    matrices = arm.skinning_matrices(arm.forward(np.array([[0, 0, 0], [0, 0, np.radians(degrees)]])))
    linear, spherical = (skin.deform(matrices, method=method) for method in ("linear", "spherical"))
    return linear, spherical, np.asarray(arm.joint_positions[1])


def draw_arc(path: Path) -> None:
    linear, spherical, elbow = arc()
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    for points, color, name in ((linear, LINEAR, "LBS"), (spherical, SPHERICAL, "SBS")):
        axes.plot(points[:, 0], points[:, 1], "o-", color=color, label=name, markersize=3)
    axes.plot(*elbow[:2], "k+", markersize=12)
    for point, name, offset in (
        (elbow, "joint", (6, -12)),
        (linear[0], r"$C_{j_1} v$", (8, 0)),
        (linear[-1], r"$C_{j_2} v$", (-42, -4)),
    ):
        axes.annotate(name, (float(point[0]), float(point[1])), xytext=offset, textcoords="offset points")
    axes.set_aspect("equal")
    axes.margins(0.25)
    axes.set_axis_off()
    axes.legend(frameon=False)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)


def around(character: sbs.Character, joint: str, reach: float) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """The vertices (V,) near a joint at bind, and the triangles between them: the rest need not be drawn."""
    place = character.skeleton.joint_positions[character.skeleton.index(joint)]
    near = np.linalg.norm(character.mesh.positions - place, axis=1) < reach
    return near, character.mesh.triangles[near[character.mesh.triangles].all(axis=1)]


def photograph(
    character: sbs.Character,
    shapes: list[NDArray[Any]],
    joint: str,
    *,
    reach: float,
    drawn: float,
    view: tuple[float, float, float],
    size: tuple[int, int],
) -> list[NDArray[np.uint8]]:
    """Pictures of several shapes, the weight of what hangs on a joint in blue.

    In them is what is within reach of the joint at bind; farther away than `drawn` nothing is drawn.
    """
    near, triangles = around(character, joint, drawn)
    framed, _ = around(character, joint, reach)
    points = np.concatenate([shape[framed] for shape in shapes])
    camera = Camera.framing(points, view, (0, 1, 0), aspect=size[0] / size[1])
    mesh = character.mesh
    moved = descendants(character.skeleton, joint)
    colors = weight_colors(mesh.joint_indices, mesh.joint_weights, moved)
    numbers = np.cumsum(near) - 1  # of the vertices that are left
    return list(
        portraits(
            mesh.positions[near],
            numbers[triangles],
            [shape[near] for shape in shapes],
            colors[near],
            camera,
            size,
            samples=SAMPLES,
        )
    )


def twisted(character: sbs.Character, joint: str, degrees: float) -> Floats:
    """Skinning matrices of a joint that turns about its bone."""
    skeleton = character.skeleton
    return character.skinning_matrices(turned(skeleton, joint, bone_axis(skeleton, joint), degrees))


def draw_shoulder(path: Path, woman: sbs.Character) -> None:
    """Figure 2: a shoulder twisted by 180 degrees."""
    matrices = twisted(woman, "RightArm", 180)
    methods: dict[str, Method] = {"LBS": "linear", "SBS": "spherical"}
    shapes = [woman.skin.deform(matrices, method=method) for method in methods.values()]
    pictures = photograph(woman, shapes, "RightArm", reach=3.2, drawn=6.4, view=(-0.5, 0.2, 1), size=(420, 420))
    with replacing(path) as temporary:
        compose([Row(pictures, [""] * 2, "The right shoulder twisted by 180°")], list(methods)).save(temporary)


def centered(
    woman: sbs.Character, joint: str, shift: tuple[float, float, float], degrees: float = 90
) -> list[NDArray[Any]]:
    """A column of figure 3: the whole mesh by shares of a joint and its parent, about one center."""
    number = woman.skeleton.index(joint)
    pair = np.tile([int(woman.skeleton.parents[number]), number], (len(woman.mesh.positions), 1))
    center = woman.skeleton.joint_positions[number] + shift
    bend = turned(woman.skeleton, joint, (1, 0, 0), degrees)
    shapes = []
    for share in (0.0, 1 / 3, 2 / 3, 1.0):
        weights = np.tile([1 - share, share], (len(pair), 1))
        skin = sbs.Skin(woman.mesh.positions, pair, weights, joint_count=31, centers=np.tile(center, (len(pair), 1)))
        shapes.append(skin.deform(woman.skinning_matrices(bend), center="optimized"))
    return shapes


def draw_centers(path: Path, woman: sbs.Character) -> None:
    """Figure 3: the choice of the center."""
    joint = "LeftForeArm"
    columns = [centered(woman, joint, shift) for shift in ((0, 0, 0), (-2.5, 1.5, 0))]
    pictures = photograph(
        woman, [*columns[0], *columns[1]], joint, reach=2.0, drawn=7.0, view=(0.4, 0.2, 1), size=(300, 300)
    )
    names = ("by the upper arm", "a third of the way", "two thirds", "by the forearm")
    rows = [Row([pictures[k], pictures[4 + k]], ["", ""], name) for k, name in enumerate(names)]
    with replacing(path) as temporary:
        compose(rows, ["about the elbow", "about another point"]).save(temporary)


def draw_twist(path: Path, woman: sbs.Character, frames: int = 9) -> None:
    """A forearm that is twisted to and fro, by each method: an animated PNG."""
    joint = "LeftForeArm"
    angles = 170 * (0.5 - 0.5 * np.cos(np.linspace(0, np.pi, frames)))
    shapes = [
        woman.skin.deform(twisted(woman, joint, float(angle)), method=method) for angle in angles for method in HEADINGS
    ]
    pictures = photograph(woman, shapes, joint, reach=1.8, drawn=3.2, view=(0.35, 0.15, -1), size=(200, 200))
    count = len(HEADINGS)
    sheets = [
        compose([Row(pictures[count * k : count * (k + 1)], [""] * count, f"{angle:.0f}°")], list(HEADINGS.values()))
        for k, angle in enumerate(angles)
    ]
    there_and_back = [sheet.quantize(96, dither=Image.Dither.NONE) for sheet in [*sheets, *sheets[-2:0:-1]]]
    with replacing(path) as temporary:
        first, *others = there_and_back
        first.save(temporary, save_all=True, append_images=others, duration=120, loop=0, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where paper-1.png, paper-2.png, paper-3.png, twisting.png go")
    folder = parser.parse_args().folder
    woman = load_sample("woman")
    draw_arc(folder / "paper-1.png")
    draw_shoulder(folder / "paper-2.png", woman)
    draw_centers(folder / "paper-3.png", woman)
    draw_twist(folder / "twisting.png", woman)


if __name__ == "__main__":
    main()
