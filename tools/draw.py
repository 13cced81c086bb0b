# SPDX-License-Identifier: MIT
"""Draw pictures of the pages into docs/images.

python tools/draw.py paper-2 twist                      # by their names; without any, all that need no source
python tools/draw.py quality --source CHARACTERS        # the folder of make_test_data.py; quality-curves, too
PYTHONPATH=python BLENDER_PYTHON tests/blender/rigify_knee.py knee.npz
python tools/draw.py at-joints --source knee.npz        # BLENDER_PYTHON is one that has Blender as a module
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from PIL import Image

import sbs
from pages import fitting, scenes, weights
from pages.figures import (
    draw_angles,
    draw_arc,
    draw_centers,
    draw_fencer,
    draw_models,
    draw_postures,
    draw_shoulder,
    draw_twisting,
    portray,
    sheet,
)
from pages.quality import PANEL, measured
from pages.variants import DRAWN
from sbs.correctives import draft
from sbs.options import BlendOptions
from sbs.poses import vertices_around
from sbs.quality import MeasuredMotion, NamedMethod, Report, chosen, evaluate
from sbs.quality.panel import FOOTNOTE, panel_row, shapes, worst_pose
from sbs.quality.picture import Camera, Row, portraits, render, smooth_surfaces
from sbs.quality.picture.portraits import BLUE, CLAY
from sbs.quality.plot import plot
from sbs.samples import load as load_sample
from sbs.support.files import replacing

IMAGES = Path(__file__).parents[1] / "docs" / "images"
RED, FLESH = np.array([0.70, 0.05, 0.05]), np.array([0.45, 0.10, 0.08])
View = tuple[float, float, float]
Picture = Image.Image | list[Image.Image]
"""A picture, or one that moves to and fro."""


def draw_at_joints(samples: int, source: Path) -> Picture:
    """The bent knee of a Rigify human by three settings of the add-on."""
    with np.load(source) as arrays:
        rest, triangles, bent, center = (arrays[name] for name in ("rest", "triangles", "shapes", "knee"))
    camera = Camera(center + np.array([0, 0.06, 0.1]), (1, 0.0, 0.15), (0, 0, 1), 0.42)
    colors = np.tile(CLAY, (len(rest), 1))
    pictures = list(portraits(rest, triangles, bent, colors, camera, (384, 384), samples=samples))
    row = Row(pictures, [""] * len(pictures), "The knee of a Rigify human bent by 110°")
    return sheet([row], ("Linear", "Spherical, At Joints 1", "Spherical, At Joints 0.35"))


# ---------------------------------------------------------------------------------------------------------- correctives

BENT = (
    ("LeftLeg", 125.0, "The knee bent by 125°", (1.0, 0.1, 0.1)),
    ("LeftForeArm", 80.0, "The elbow bent by 80°", (0.1, 1.0, 0.35)),
)


def drafted_shapes(woman: sbs.Character) -> Callable[[str, float], list[NDArray[np.floating]]]:
    """A function of a joint and its degrees: the mesh by linear blending, smooth twist, and with drafts besides."""
    twist = sbs.limb_twist(woman)
    skin = woman.twisted_skin(twist, optimized=True)
    options = BlendOptions(center="optimized", amount=sbs.twist_amounts(woman, twist))
    poses = np.stack([scenes.bent(woman, joint, degrees) for joint, degrees, *_ in BENT])
    drafts = draft(woman, [joint for joint, *_ in BENT], poses=poses, skin=skin, **options)

    def deform(joint: str, degrees: float) -> list[NDArray[np.floating]]:
        pose = scenes.bent(woman, joint, degrees)
        linear = woman.skin.deform(pose, method="linear")
        return [linear, skin.deform(pose, **options), skin.deform(pose, correctives=drafts, **options)]

    return deform


def joint_camera(woman: sbs.Character, joint: str, view: View) -> Camera:
    """A camera before a joint."""
    size = float(np.linalg.norm(np.ptp(woman.mesh.positions, axis=0)))
    return Camera(woman.skeleton.joint_positions[woman.skeleton.index(joint)], view, (0, 1, 0), 0.16 * size)


def draw_correctives(samples: int) -> Picture:
    """Joints as linear blending, smooth twist and drafted correctives bend them."""
    woman = load_sample("woman")
    deform, rows = drafted_shapes(woman), []
    for joint, degrees, caption, view in BENT:
        camera = joint_camera(woman, joint, view)
        rows.append(Row(portray(woman.mesh, deform(joint, degrees), camera, (300, 300), samples), [""] * 3, caption))
    return sheet(rows, ["LBS", "Smooth twist", "Drafted"])


def draw_elbow(samples: int) -> Picture:
    """An elbow that bends, by linear blending and with drafted correctives."""
    woman = load_sample("woman")
    deform, sheets = drafted_shapes(woman), []
    joint, _, _, view = BENT[1]
    for degrees in 90.0 * (0.5 - 0.5 * np.cos(np.linspace(0, np.pi, 9))):
        linear, _, drafted = deform(joint, float(degrees))
        camera = joint_camera(woman, joint, view)
        pictures = portray(woman.mesh, [linear, drafted], camera, (200, 200), samples // 2)
        sheets.append(sheet([Row(pictures, ["", ""], f"{degrees:.0f}°")], ["LBS", "Drafted"]))
    return sheets


# ---------------------------------------------------------------------------------------------------------------- flesh

Turn = tuple[str, tuple[float, float, float], float, str, tuple[float, float, float]]
"""The joint that bends, the axis in its frame, by how much, caption and view."""

RELAXED: tuple[Turn, ...] = (
    ("LeftLeg", (1, 0, 0), -90.0, "The knee bent by 90°", (1.0, 0.1, 0.1)),
    ("LeftLeg", (1, 0, 0), -125.0, "The knee bent by 125°", (1.0, 0.1, 0.1)),
    ("LeftForeArm", (1, 0, 0), -120.0, "The elbow bent by 120°, from above", (0.1, 1.0, 0.35)),
    ("LeftUpLeg", (1, 0, 0), 90.0, "The hip bent by 90°", (1.0, 0.2, 0.4)),
    ("LeftArm", (0, 0, 1), 80.0, "The arm raised by 80°", (0.2, 0.2, 1.0)),
    ("LeftArm", (1, 0, 0), 80.0, "The arm brought forward by 80°", (0.8, 0.5, 1.0)),
    ("LeftHand", (0, 1, 0), 150.0, "The wrist twisted by 150°", (0.1, 0.5, 1.0)),
)


def draw_flesh(samples: int) -> Picture:
    """Joints and a fist by linear blending, by smooth twist and relaxed as flesh."""
    return draw_turned(RELAXED, 2.2, chosen(("LBS", "smooth twist", "flesh")), samples)


def draw_bends(samples: int) -> Picture:
    """The same of some, for the first pages."""
    return draw_turned((RELAXED[2], RELAXED[4]), 2.2, chosen(("LBS", "DQS", "flesh")), samples)


def draw_turned(turns: Sequence[Turn], near: float, methods: dict[str, NamedMethod], samples: int) -> Picture:
    """Turned joints of the woman, who is 16.7 tall, and a fist; `near` is the distance that is shown around a joint."""
    woman, rows = load_sample("woman"), []
    poses = [
        woman.skinning_matrices(sbs.poses.turned(woman.skeleton, joint, axis, degrees))
        for joint, axis, degrees, _, _ in turns
    ]
    motion = MeasuredMotion("bent", tuple(caption for _, _, _, caption, _ in turns), np.stack(poses))
    report = evaluate(woman, [motion], methods)
    for pose, (name, _, _, _, view) in enumerate(turns):
        joint = woman.skeleton.joint_positions[woman.skeleton.index(name)]
        shown = np.linalg.norm(woman.mesh.positions - joint, axis=1) < near
        rows.append(pose_row(report, pose, np.asarray(shown), view, 1.2, 300, samples))
    fist = scenes.closed_hand()
    report = evaluate(fist.character, [scenes.without_path(fist)], methods)
    rows.append(scene_row(fist, report, 300, 1.2, samples, ""))
    return sheet(rows, [method.label for method in methods.values()], FOOTNOTE)


# -------------------------------------------------------------------------------------------------------------- muscles

ARM = ("biceps left", "triceps left", "forearm flexors left")
LEG = ("hamstrings left", "calf left")
# The joint that bends, by how much, activation, caption, the muscles that the picture is of, and the view.
LIMBS = (
    ("LeftForeArm", 120.0, 0.0, "The elbow bent by 120°, from above", ARM, (0.1, 1.0, 0.35)),
    ("LeftForeArm", 120.0, 1.0, "The same, tense", ARM, (0.1, 1.0, 0.35)),
    ("LeftLeg", 80.0, 1.0, "The knee bent by 80°, tense", LEG, (1.0, 0.1, 0.1)),
)


def draw_muscles(samples: int) -> Picture:
    """Bent limbs by LBS, by SBS, and by SBS with muscles."""
    woman, rows, size = load_sample("woman"), [], (360, round(360 / 1.3))
    cover = sbs.muscles.bind(woman, sbs.muscles.fit(woman))
    for joint, degrees, activation, caption, names, view in LIMBS:
        matrices = scenes.bent(woman, joint, degrees)
        activations = np.full(len(cover), activation)
        covered = woman.skin.deform(matrices)
        cover.apply(covered, matrices, activations=activations)
        deformed = [woman.skin.deform(matrices, method="linear"), woman.skin.deform(matrices), covered]
        shown = np.concatenate([cover.skin_of(name).vertices for name in names])
        camera = Camera.framing(np.concatenate([shape[shown] for shape in deformed]), view, (0, 1, 0), aspect=1.3)
        pictures = portray(woman.mesh, deformed, camera, size, samples)
        surfaces = [cover.surface(name, matrices, activations) for name in names]
        starts = np.cumsum([0, *(len(points) for points, _ in surfaces)])
        positions = np.concatenate([points for points, _ in surfaces])
        triangles = np.concatenate([corners + start for (_, corners), start in zip(surfaces, starts, strict=False)])
        (bellies,) = smooth_surfaces([positions], np.tile(FLESH, (len(positions), 1)), triangles.astype(np.int32))
        pictures.append(render(bellies, camera, size, samples=samples))
        number = [muscle.name for muscle in cover.muscles].index(names[0])
        growth = cover.measure(matrices, activations).growths[number]
        rows.append(Row(pictures, ("", "", "", f"{names[0]}: {growth:.2f} times as thick"), caption))
    return sheet(rows, ["LBS", "SBS", "SBS with muscles", "The muscles"], "")


# -------------------------------------------------------------------------------------------------------------- quality

TWISTED = (
    ("LeftForeArm", 170.0, "The forearm twisted by 170°", (0.2, 0.3, -1.0)),
    ("LeftArm", 120.0, "The upper arm twisted by 120°", (0.2, 0.3, -1.0)),
    ("LeftUpLeg", 90.0, "The thigh twisted by 90°", (0.6, 0.1, 1.0)),
    ("Neck1", 80.0, "The neck twisted by 80°", (0.6, 0.1, 1.0)),
)
WIDENED: tuple[Turn, ...] = (
    ("LeftForeArm", (1, 0, 0), -110.0, "The elbow bent by 110°", (0.2, 0.3, -1.0)),
    ("LeftLeg", (1, 0, 0), -110.0, "The knee bent by 110°", (1.0, 0.1, 0.3)),
    ("LeftUpLeg", (1, 0, 0), 80.0, "The thigh raised by 80°", (1.0, 0.1, 0.6)),
)


def pose_row(
    report: Report, pose: int, shown: NDArray[np.bool_], view: View, aspect: float, width: int, samples: int
) -> Row:
    """The pictures of a pose of the only motion of a report, its label as the caption."""
    motion = report.motions[0]
    points = np.concatenate([shape[shown] for shape in shapes(report, motion, pose).values()])
    camera = Camera.framing(points, view, (0, 1, 0), aspect=aspect)
    size = (width, round(width / aspect))
    return panel_row(report, motion, pose, camera, size, samples=samples, caption=motion.labels[pose])


def draw_twist(samples: int) -> Picture:
    """Twisted limbs by four methods."""
    woman = load_sample("woman")
    poses = np.stack([scenes.twisted(woman, name, degrees) for name, degrees, *_ in TWISTED])
    motion = MeasuredMotion("twisted", tuple(caption for _, _, caption, _ in TWISTED), poses)
    # The neck is too short to be found as a limb, so it is named.
    limbs = [bone.name for bone in sbs.twist_bones(woman) if bone.spread]
    methods = chosen(("LBS", "SBS", "smooth twist", "twist"), limbs=(*limbs, "Neck1"))
    report, rows = evaluate(woman, [motion], methods), []
    for pose, (name, _, _, view) in enumerate(TWISTED):
        shown = vertices_around(woman, woman.skeleton.index(name))
        rows.append(pose_row(report, pose, shown, view, 1.3, 360, samples))
    return sheet(rows, [method.label for method in methods.values()], FOOTNOTE)


def draw_spherical_weights(samples: int) -> Picture:
    """Bent joints and a fist with weights for linear and for spherical blending."""
    return draw_turned(WIDENED, 1.6, DRAWN, samples)


def scene_row(
    subject: scenes.Subject, report: Report, width: int, aspect: float, samples: int, where: str | None = None
) -> Row:
    """The worst pose of a scene."""
    motion = report.motions[0]
    pose = worst_pose(report, motion)
    camera = subject.camera
    if camera is None:
        mesh, skeleton = subject.character.mesh, subject.character.skeleton
        joints = [skeleton.index(joint) for joint in subject.joints or skeleton.names]
        heavy = mesh.joint_weights > (0.5 if subject.joints else -1)
        shown = np.any(np.isin(mesh.joint_indices, joints) & heavy, axis=1)
        points = np.concatenate([shape[shown] for shape in shapes(report, motion, pose).values()])
        camera = Camera.framing(points, subject.view, subject.up, aspect=aspect)
    if where is None:
        where = "" if motion.times is None else f", at {motion.labels[pose]}"
    size = (width, round(width / aspect))
    return panel_row(report, motion, pose, camera, size, samples=samples, caption=subject.caption + where)


def draw_quality(samples: int, source: Path) -> Picture:
    """The worst poses of real characters by each method."""
    rows = []
    for subject in scenes.subjects(source):
        report, _ = measured(subject)
        rows.append(scene_row(subject, report, 320, subject.aspect, samples))
    return sheet(rows, [method.label for method in PANEL.values()], FOOTNOTE)


def draw_curves(_samples: int, source: Path) -> Picture:
    """The measures of each method in each moment of animations."""
    moving = [subject for subject in scenes.subjects(source) if subject.motion.times is not None]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "curves.png")
        plot([measured(subject)[0] for subject in moving], path)
        with Image.open(path) as picture:
            picture.load()
            return picture


# -------------------------------------------------------------------------------------------------------------- weights

SEEN: dict[str, tuple[View, View, float]] = {
    "woman_makehuman_cmu": ((0.5, 0.2, 1), (0, 1, 0), 0.9),
    "arnaud_ozz": ((0.5, 0.2, 1), (0, 1, 0), 1.1),
    "knight_kaykit": ((1, 0.7, 0.3), (0, 1, 0), 1.6),
    "hand_webxr": ((0.4, 1, 0.4), (0, 0, -1), 1.2),
    "wolf_quaternius": ((1, 0.3, 0.7), (0, 1, 0), 1.4),
    "rat_quaternius": ((1, 0.3, 0.7), (0, 1, 0), 2.2),
}
"""Of each character the direction to the camera, the upward direction, and the ratio of width to height."""


def draw_weights(samples: int) -> Picture:
    """Characters by the artist's weights and by automatic ones, in the frame with the largest differences."""
    rows, full = [], 0.05
    for name, (view, up, aspect) in SEEN.items():
        subject = weights.read(name)
        expected, results = weights.compare(subject)
        frame = int(np.argmax(sum(result.distances.mean(axis=1) for result in results.values())))
        deformed = [expected[frame], *(result.positions[frame] for result in results.values())]
        camera = Camera.framing(np.concatenate(deformed), view, up, aspect=aspect)
        color = partial(colors_of, expected[frame], subject.size, full, BLUE)
        rest, size = (subject.positions, subject.triangles), (400, round(400 / aspect))
        pictures = [next(portraits(*rest, [each], color(each), camera, size, samples=samples)) for each in deformed]
        notes = [f"mean {result.distances[frame].mean():.2%}" for result in results.values()]
        caption = f"{name.replace('_', ' ')}, frame {frame + 1} of {len(subject.frames)}"
        rows.append(Row(pictures, ["", *notes], caption))
    footnote = (
        f"Blue: the distance to the vertex by the artist's weights, full at {full:.0%} of the size."
        " Surfaces are smoothed for the picture by Loop subdivision."
    )
    return sheet(rows, ["artist", *weights.METHODS], footnote)


def draw_fitting(samples: int) -> Picture:
    """A pose that was held out, of three kinds of examples, in color where it is wrong."""
    rows, full = [], 0.04
    names = ("SBS, the artist's", "SBS, fitted", "LBS, fitted")
    for number, examples in enumerate(fitting.examples_of(load_sample("woman"))):
        pose, mesh, made = fitting.FITTED + number, examples.character.mesh, fitting.shapes(examples)
        example = examples.posed[pose]
        deformed = [example, *(made[name + fitting.SPREAD]()[pose] for name in names)]
        errors = [np.linalg.norm(each - example, axis=1) / examples.size for each in deformed[1:]]
        camera = Camera.framing(np.concatenate(deformed), (0.5, 0.2, 1.0), (0, 1, 0), aspect=0.9)
        color = partial(colors_of, example, examples.size, full, RED)
        size = (300, round(300 / 0.9))
        pictures = [portray(mesh, [each], camera, size, samples, color(each))[0] for each in deformed]
        notes = [f"{np.sqrt(np.square(each).mean()):.2%}, at most {each.max():.1%}" for each in errors]
        rows.append(Row(pictures, ["", *notes], f"Examples by {examples.name}; a pose that was held out"))
    note = f"Red: as far as {full:.0%} of the size, or farther, from the example. Errors in percent of the size."
    return sheet(rows, ("example", *names), note)


def colors_of(
    expected: NDArray[np.float64],
    size: float,
    full: float,
    color: NDArray[np.float64],
    positions: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Colors (V, 3) from clay to one that is full at a distance from the expected positions, as a share of the size."""
    distances = np.linalg.norm(positions - expected, axis=1) / size
    return np.asarray(CLAY + (color - CLAY) * np.clip(distances / full, 0, 1)[:, None])


# ---------------------------------------------------------------------------------------------------------- the command

PICTURES: dict[str, tuple[Callable[[int], Picture], int]] = {
    "paper-1": (draw_arc, 0),
    "paper-2": (draw_shoulder, 16),
    "paper-3": (draw_centers, 16),
    "paper-4": (draw_angles, 0),
    "paper-5": (draw_models, 16),
    "paper-6": (draw_postures, 16),
    "paper-2003-11": (draw_fencer, 16),
    "twisting": (draw_twisting, 16),
    "twist": (draw_twist, 48),
    "muscles": (draw_muscles, 48),
    "flesh": (draw_flesh, 16),
    "bends": (draw_bends, 64),
    "correctives": (draw_correctives, 48),
    "correctives-elbow": (draw_elbow, 48),
    "spherical_weights": (draw_spherical_weights, 48),
    "weights": (draw_weights, 32),
    "fitting": (draw_fitting, 48),
}
"""Light paths per pixel beside each."""
FROM_SOURCE: dict[str, tuple[Callable[[int, Path], Picture], int]] = {
    "quality": (draw_quality, 48),
    "quality-curves": (draw_curves, 0),
    "at-joints": (draw_at_joints, 64),
}


def save(picture: Picture, path: Path) -> None:
    """Write a picture, or an animated one that goes to its end and back."""
    with replacing(path) as temporary:
        if isinstance(picture, Image.Image):
            picture.save(temporary, optimize=True)
        else:
            there_and_back = [*picture, *picture[-2:0:-1]]
            first, *others = (each.quantize(96, dither=Image.Dither.NONE) for each in there_and_back)
            first.save(temporary, save_all=True, append_images=others, duration=120, loop=0, optimize=True)


@click.command(help=__doc__)
@click.argument("names", nargs=-1, type=click.Choice([*PICTURES, *FROM_SOURCE]))
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), default=IMAGES, help="Where pictures go.")
@click.option("--source", type=click.Path(exists=True, path_type=Path), help="The characters, or the knee.")
@click.option("--samples", type=click.IntRange(1), help="Light paths per pixel, the same for all pictures.")
def main(names: tuple[str, ...], folder: Path, source: Path | None, samples: int | None) -> None:
    warnings.simplefilter("ignore", sbs.WeightWarning)  # of characters whose weights have to be normalized
    for name in names or PICTURES:
        if name in PICTURES:
            draw, own = PICTURES[name]
            picture = draw(samples or own)
        elif source is None:
            raise click.UsageError(f"{name} needs a --source")
        else:
            draw_source, own = FROM_SOURCE[name]
            picture = draw_source(samples or own, source)
        save(picture, folder / f"{name}.png")
        click.echo(f"{name}: drawn", err=True)


if __name__ == "__main__":
    main()
