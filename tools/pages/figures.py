# SPDX-License-Identifier: MIT
"""The pictures of docs/figures.md: figures of Kavan and Zara 2005 and 2003 remade, and a twist in motion.

All positions are the library's. The pictures need the extras ``picture`` and ``plot``.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from PIL import Image

import sbs
from sbs import mesh as meshes
from sbs.options import Method
from sbs.poses import axes, descendants, turned
from sbs.quality.demo.figure import HEADINGS
from sbs.quality.picture import Camera, Row, compose, portraits, weight_colors
from sbs.quality.picture.portraits import CLAY
from sbs.samples import load as load_sample
from sbs.skinning.influences import share_of, tidy

from .scenes import twisted

Floats = NDArray[np.float64]

SHARES = np.linspace(0, 1, 25)
LINEAR, SPHERICAL = "#c0392b", "#2471a3"
DATA = Path(__file__).parents[2] / "tests" / "data"

# Degrees by which joints are bent and twisted.
POSTURE = {
    "LeftArm": (0.0, 100.0),
    "LeftForeArm": (110.0, 0.0),
    "RightArm": (-60.0, 90.0),
    "RightForeArm": (70.0, 100.0),
    "LeftUpLeg": (80.0, 0.0),
    "LeftLeg": (110.0, 0.0),
    "Head": (0.0, 50.0),
}
FENCER = {"RightArm": (-20.0, 90.0), "RightForeArm": (40.0, 60.0)}
ZONE = 0.3, 1.6  # of her upper arm, whose bone is 2.3 long: where bones blending begins and ends


def arc(degrees: float = 120.0, share: NDArray[np.float64] = SHARES) -> tuple[Floats, Floats, Floats]:
    """Figure 1: the path of a vertex whose weights run from one joint to the other, by LBS and by SBS.

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


def sheet(rows: Sequence[Row], headings: Sequence[str], footnote: str = "") -> Image.Image:
    """Rows of pictures below headings."""
    made: Image.Image = compose(rows, headings, footnote)
    return made


def picture_of(figure: Figure) -> Image.Image:
    """A plot as pixels."""
    content = BytesIO()
    figure.savefig(content, dpi=110)
    return Image.open(content)


def draw_arc(_samples: int) -> Image.Image:
    linear, spherical, elbow = arc()
    figure = Figure(figsize=(5, 4), layout="constrained")
    plot = figure.subplots()
    for points, color, name in ((linear, LINEAR, "LBS"), (spherical, SPHERICAL, "SBS")):
        plot.plot(points[:, 0], points[:, 1], "o-", color=color, label=name, markersize=3)
    plot.plot(*elbow[:2], "k+", markersize=12)
    for point, name, offset in (
        (elbow, "joint", (6, -12)),
        (linear[0], r"$C_{j_1} v$", (8, 0)),
        (linear[-1], r"$C_{j_2} v$", (-42, -4)),
    ):
        plot.annotate(name, (float(point[0]), float(point[1])), xytext=offset, textcoords="offset points")
    plot.set_aspect("equal")
    plot.margins(0.25)
    plot.set_axis_off()
    plot.legend(frameon=False)
    return picture_of(figure)


def angles(shares: NDArray[np.float64]) -> tuple[Floats, Floats]:
    """Figure 4: the angles of QLERP and of SLERP between two quaternions that are 90 degrees apart."""
    return np.arctan2(shares, 1 - shares), shares * np.pi / 2


def draw_angles(_samples: int) -> Image.Image:
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    arcs, differences = figure.subplots(1, 2)
    turn = np.linspace(0, np.pi / 2, 91)
    share = 0.22
    arcs.plot(np.cos(turn), np.sin(turn), color="gray")
    arcs.plot([1, 0], [0, 1], color="gray", linestyle=":")
    for angle, color, name in zip(
        angles(np.array(share)), (LINEAR, SPHERICAL), (r"QLERP, $\alpha(t)$", r"SLERP, $\beta(t)$"), strict=True
    ):
        arcs.plot([0, np.cos(angle)], [0, np.sin(angle)], "o-", color=color, label=name, markersize=4)
    arcs.plot([1 - share], [share], "o", color=LINEAR, markersize=4)
    arcs.annotate("p", (1, 0), xytext=(6, -4), textcoords="offset points")
    arcs.annotate("q", (0, 1), xytext=(-4, 6), textcoords="offset points")
    arcs.set_aspect("equal")
    arcs.set_axis_off()
    arcs.legend(frameon=False, loc="upper right")
    shares = np.linspace(0, 1, 201)
    alpha, beta = angles(shares)
    differences.plot(shares, np.degrees(alpha - beta), color="black")
    differences.axhline(0, color="gray", linewidth=0.5)
    differences.set_xlabel("t")
    differences.set_ylabel(r"$d(t) = \alpha(t) - \beta(t)$, degrees")
    return picture_of(figure)


def portray(
    mesh: sbs.Mesh,
    shapes: list[NDArray[Any]],
    camera: Camera,
    size: tuple[int, int],
    samples: int,
    colors: NDArray[np.float64] | None = None,
    drawn: NDArray[np.bool_] | None = None,
) -> list[NDArray[np.uint8]]:
    """Pictures of a mesh in several shapes, of clay if it has no colors; of vertices that are not drawn, nothing."""
    colors = np.tile(CLAY, (len(mesh.positions), 1)) if colors is None else colors
    drawn = np.ones(len(mesh.positions), bool) if drawn is None else drawn
    numbers = np.cumsum(drawn) - 1
    triangles = numbers[mesh.triangles[drawn[mesh.triangles].all(axis=1)]]
    parts = [shape[drawn] for shape in shapes]
    return list(portraits(mesh.positions[drawn], triangles, parts, colors[drawn], camera, size, samples=samples))


def portray_weights(
    character: sbs.Character,
    shapes: list[NDArray[Any]],
    joint: str,
    *,
    reach: float,
    drawn: float,
    view: tuple[float, float, float],
    size: int,
    samples: int,
) -> list[NDArray[np.uint8]]:
    """Square pictures of several shapes, the weight of a joint and of all that hangs on it in blue.

    Vertices within reach of the joint at bind are in view; vertices farther away than `drawn` are not drawn.
    """
    mesh, skeleton = character.mesh, character.skeleton
    distances = np.linalg.norm(mesh.positions - skeleton.joint_positions[skeleton.index(joint)], axis=1)
    points = np.concatenate([shape[distances < reach] for shape in shapes])
    camera = Camera.framing(points, view, (0, 1, 0), aspect=1)
    colors = weight_colors(mesh.joint_indices, mesh.joint_weights, descendants(skeleton, joint))
    return portray(mesh, shapes, camera, (size, size), samples, colors, np.asarray(distances < drawn))


def draw_shoulder(samples: int) -> Image.Image:
    """Figure 2: a shoulder twisted by 180 degrees."""
    woman = load_sample("woman")
    matrices = twisted(woman, "RightArm", 180)
    methods: dict[str, Method] = {"LBS": "linear", "SBS": "spherical"}
    shapes = [woman.skin.deform(matrices, method=method) for method in methods.values()]
    pictures = portray_weights(
        woman, shapes, "RightArm", reach=3.2, drawn=6.4, view=(-0.5, 0.2, 1), size=420, samples=samples
    )
    return sheet([Row(pictures, [""] * 2, "The right shoulder twisted by 180°")], list(methods))


def centered(woman: sbs.Character, joint: str, center: ArrayLike, degrees: float = 90) -> list[NDArray[Any]]:
    """A column of figure 3: the whole mesh by shares of a joint and its parent, about one center."""
    number = woman.skeleton.index(joint)
    pair = np.tile([int(woman.skeleton.parents[number]), number], (len(woman.mesh.positions), 1))
    bend = turned(woman.skeleton, joint, axes(woman.skeleton, number)[0], degrees)
    shapes = []
    for share in (0.0, 1 / 3, 2 / 3, 1.0):
        weights = np.tile([1 - share, share], (len(pair), 1))
        skin = sbs.Skin(woman.mesh.positions, pair, weights, joint_count=31, centers=np.tile(center, (len(pair), 1)))
        shapes.append(skin.deform(woman.skinning_matrices(bend), center="optimized"))
    return shapes


def draw_centers(samples: int) -> Image.Image:
    """Figure 3: the choice of the center, the elbow or the shoulder. The arm as it begins is gray."""
    woman = load_sample("woman")
    skeleton, mesh = woman.skeleton, woman.mesh
    joint, parent = "LeftForeArm", "LeftArm"
    arm = share_of(*tidy(mesh.joint_indices, mesh.joint_weights), descendants(skeleton, parent)) > 0.5
    numbers = np.cumsum(arm) - 1
    triangles = numbers[mesh.triangles[arm[mesh.triangles].all(axis=1)]]
    columns = [centered(woman, joint, skeleton.joint_positions[skeleton.index(name)]) for name in (joint, parent)]
    shapes = [shape[arm] for column in columns for shape in column]
    beginning = shapes[0]
    far = np.array([1e3, 0, 0])  # out of view: in the first row both are the same
    together = [np.concatenate([shape, beginning + far * np.allclose(shape, beginning, atol=1e-4)]) for shape in shapes]
    moved = weight_colors(mesh.joint_indices[arm], mesh.joint_weights[arm], descendants(skeleton, joint))
    across = skeleton.bind_matrices[skeleton.index(joint)][:3, :3] @ axes(skeleton, skeleton.index(joint))[0]
    camera = Camera.framing(np.concatenate(shapes), across * np.sign(across[2]), (0, 1, 0), aspect=1)
    rest = np.concatenate([mesh.positions[arm], mesh.positions[arm] + far])
    faces = np.concatenate([triangles, triangles + len(beginning)])
    colors = np.concatenate([moved, np.full_like(moved, 0.5)])
    pictures = list(portraits(rest, faces, together, colors, camera, (300, 300), samples=samples))
    names = ("by the upper arm", "a third of the way", "two thirds", "by the forearm")
    rows = [Row([pictures[k], pictures[4 + k]], ["", ""], name) for k, name in enumerate(names)]
    return sheet(rows, ["about the elbow", "about the shoulder"])


def in_clay(
    character: sbs.Character, shapes: list[NDArray[Any]], view: tuple[float, float, float], size: int, samples: int
) -> list[NDArray[np.uint8]]:
    """Square pictures of a whole character in several shapes, by one camera and in one color."""
    camera = Camera.framing(np.concatenate(shapes), view, (0, 1, 0), aspect=1, margin=0.03)
    return portray(character.mesh, shapes, camera, (size, size), samples)


def draw_models(samples: int) -> Image.Image:
    """Figure 5 and table 1: the models, each as large as the others."""
    characters = {"Hand": load_sample("hand"), "Woman": load_sample("woman"), "Rat": sbs.load(DATA / "Rat.glb")}
    pictures, notes = [], []
    for character in characters.values():
        mesh = character.mesh
        (picture,) = in_clay(character, [mesh.positions], (0.5, 0.3, 1), 280, samples)
        pictures.append(picture)
        counts = (len(mesh.positions), len(mesh.triangles), len(character.skeleton))
        notes.append("{:,} vertices, {:,} triangles, {} joints".format(*counts))
    return sheet([Row(pictures, notes, "")], list(characters))


def posed(woman: sbs.Character, turns: dict[str, tuple[float, float]]) -> Floats:
    """Skinning matrices of joints that are bent and twisted, by degrees."""
    skeleton = woman.skeleton
    vectors = np.zeros((len(skeleton), 3))
    for name, (bend, twist) in turns.items():
        across, along = axes(skeleton, skeleton.index(name))
        vectors[skeleton.index(name)] = np.radians(bend) * across + np.radians(twist) * along
    return woman.skinning_matrices(rotation_vectors=vectors)


def draw_postures(samples: int) -> Image.Image:
    """Figure 6: a posture that bends and twists much, and one that does little, by LBS and SBS."""
    woman, rows = load_sample("woman"), []
    for caption, share in (("Large deformations", 1.0), ("The same turns, a third of the way", 1 / 3)):
        matrices = posed(woman, {name: (share * bend, share * twist) for name, (bend, twist) in POSTURE.items()})
        shapes = [woman.skin.deform(matrices, method=method) for method in ("linear", "spherical")]
        rows.append(Row(in_clay(woman, shapes, (0.5, 0.1, 1), 420, samples), ["", ""], caption))
    return sheet(rows, ["LBS", "SBS"])


def draw_fencer(samples: int) -> Image.Image:
    """Figure 11 of 2003: the arm of a fencer, by vertex blending and by bones blending of a finer arm."""
    woman = load_sample("woman")
    skeleton = woman.skeleton
    arm = ["RightArm", "RightForeArm"]
    ends = np.full((2, len(skeleton)), np.nan)
    ends[:, skeleton.index("RightArm")] = ZONE

    def blend(mesh: sbs.Mesh) -> sbs.BonesBlending:
        influences = mesh.joint_indices, mesh.joint_weights
        return sbs.bones_blending(
            skeleton, mesh.positions, joints=arm, influences=influences, t_min=ends[0], t_max=ends[1]
        )

    chosen = meshes.triangles_near_joints(woman, arm, attachment=blend(woman.mesh).attachment)
    finer = woman.with_mesh(meshes.subdivide(woman.mesh.positions, woman.mesh.triangles, chosen).mesh(woman.mesh))
    blending = blend(finer.mesh)
    matrices = posed(woman, FENCER)
    linear = woman.skin.deform(matrices, method="linear")
    blended = blending.skin().deform(matrices, **blending.options)
    pictures = []
    for character, shape in ((woman, linear), (finer, blended)):
        pictures += portray_weights(
            character, [shape], "RightArm", reach=3.0, drawn=99, view=(-0.3, 0.2, 1), size=420, samples=samples
        )
    return sheet([Row(pictures, ["", ""], "")], ["vertex blending", "bones blending, arm 1:4"])


def draw_twisting(samples: int) -> list[Image.Image]:
    """A forearm that is twisted to and fro, by each method."""
    woman, joint, frames = load_sample("woman"), "LeftForeArm", 9
    turns = 170 * (0.5 - 0.5 * np.cos(np.linspace(0, np.pi, frames)))
    shapes = [
        woman.skin.deform(twisted(woman, joint, float(turn)), method=method) for turn in turns for method in HEADINGS
    ]
    pictures = portray_weights(
        woman, shapes, joint, reach=1.8, drawn=3.2, view=(0.35, 0.15, -1), size=200, samples=samples
    )
    count = len(HEADINGS)
    return [
        sheet([Row(pictures[count * k : count * (k + 1)], [""] * count, f"{turn:.0f}°")], list(HEADINGS.values()))
        for k, turn in enumerate(turns)
    ]
