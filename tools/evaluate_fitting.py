# SPDX-License-Identifier: MIT
"""Fit weights to three kinds of examples, and print how near methods come: the table of docs/fitting.md.

    python tools/evaluate_fitting.py --image docs/images/fitting.png

The woman that comes with the package, in poses made up at random from a seed. Examples are made by optimized centers
with twists spread, by Direct Delta Mush, and by sleeves of cloth. Some poses are held out: nothing is fitted to them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

import sbs
from delta_mush import DirectDeltaMush
from sbs import rotations
from sbs.characters.character import Character
from sbs.linear import near_joints
from sbs.options import BlendOptions, Center, Method
from sbs.picture import Camera, Row, compose, portraits
from sbs.poses import axes
from sbs.skinning.twist import Twist
from sbs.support.files import replacing
from sbs.weights import decompose, fit, fit_matrices
from sleeves import Sleeves

Floats = NDArray[np.float64]

SEED, FITTED, HELD_OUT = 2005, 36, 12

INFLUENCES = 8
"""As many as the artist's weights have at most, with the joints of twists."""
BEND, BEND_OTHERS, TWIST = (-10.0, 115.0), (-35.0, 35.0), 80.0
"""Degrees. Elbows and knees bend one way and not aside, shoulders, hips, hands and feet each way."""
DRAWN = ("example", "SBS, the artist's", "SBS, fitted", "LBS, fitted")
"""Drawn are those with the joints of twists."""

SPREAD = ", twists spread"
WORST = 0.04
"""The error that has the full color, as a share of the mesh's size."""

CLAY, RED = np.array([0.60, 0.43, 0.34]), np.array([0.70, 0.05, 0.05])


def random_poses(character: Character, limbs: NDArray[np.intp], count: int) -> Floats:
    """Rotation vectors (F, J, 3) that bend and twist every limb and what is at its end."""
    rng = np.random.default_rng(SEED)
    skeleton = character.skeleton
    ends = [joint for joint in range(len(skeleton)) if skeleton.parents[joint] in limbs and joint not in limbs]
    poses = np.zeros((count, len(skeleton), 3))
    for joint in [*limbs.tolist(), *ends]:
        bend, twist = axes(skeleton, joint)
        hinge = joint in limbs and skeleton.parents[joint] in limbs
        forward, aside, about = (
            rotations.matrices_from_axis_angle(axis, rng.uniform(low, high, count), degrees=True)
            for axis, low, high in (
                (bend, *(BEND if hinge else BEND_OTHERS)),
                (np.cross(twist, bend), *((0.0, 0.0) if hinge else BEND_OTHERS)),
                (twist, -TWIST, TWIST),
            )
        )
        poses[:, joint] = rotations.rotation_vectors_from_matrices(forward @ aside @ about)
    return poses


@dataclass(frozen=True, eq=False)
class Examples:
    """Poses, and what is to be seen in them; the last are held out.

    Attributes
    ----------
    name : str
    character : Character
    twist : Twist
    matrices : (F, J, 4, 4) ndarray
    centers : (V, 3) ndarray
        The optimized centers of the character with its twists spread, of which the first examples are made.
    posed : (F, V, 3) ndarray
    fitted : (V,) ndarray of bool
        The vertices that limbs move. Weights are fitted there, and errors are of these.
    """

    name: str
    character: Character
    twist: Twist
    matrices: Floats
    centers: Floats
    posed: Floats
    fitted: NDArray[np.bool_]

    @property
    def rest(self) -> Floats:
        return np.asarray(self.character.mesh.positions, np.float64)

    @property
    def size(self) -> float:
        return float(np.linalg.norm(np.ptp(self.rest, axis=0)))

    def errors(self, shown: Floats) -> tuple[float, float]:
        """Roots of mean squares over the size, of frames that were fitted and of those held out."""
        squares = np.square(shown - self.posed)[:, self.fitted].sum(axis=2) / self.size**2
        return float(np.sqrt(squares[:FITTED].mean())), float(np.sqrt(squares[FITTED:].mean()))


def examples_of(character: Character) -> Iterator[Examples]:
    twist = sbs.limb_twist(character)
    if not twist.bone_count:
        raise click.ClickException("no limbs")
    poses = random_poses(character, twist.joints, FITTED + HELD_OUT)
    matrices = character.skinning_matrices(rotation_vectors=poses)
    sleeves = Sleeves(character, twist.joints)
    skin = character.twisted_skin(twist, optimized=True)
    makers: dict[str, Callable[[], Floats]] = {
        "optimized centers, twists spread": lambda: skin.deform_many(matrices, center="optimized"),
        "Direct Delta Mush": lambda: DirectDeltaMush(character).deform_many(matrices),
        "sleeves of cloth": lambda: np.stack([sleeves.pose(pose) for pose in poses]),
    }
    fitted = sleeves.free[sleeves.surface_vertex]
    centers = np.asarray(skin.centers, np.float64)
    for name, make in makers.items():
        yield Examples(name, character, twist, matrices, centers, np.asarray(make(), np.float64), fitted)


def shapes(of: Examples) -> dict[str, Floats]:
    """What methods make of all poses, with the artist's weights and with fitted ones."""
    made: dict[str, Floats] = {}
    with_frames = of.character.with_twist_joints(of.twist)
    for suffix, character, matrices in (
        ("", of.character, of.matrices),
        (SPREAD, with_frames, of.twist.pose(of.matrices)),
    ):
        methods: tuple[Method, ...] = ("LBS", "SBS")
        for method in methods:
            made[f"{method}, the artist's{suffix}"] = deformed(character.skin, matrices, method)
            made[f"{method}, fitted{suffix}"] = fitted_shape(of, character, matrices, method)
    matrices = of.twist.pose(of.matrices)
    mesh = with_frames.mesh
    skin = sbs.Skin(of.rest, mesh.joint_indices, mesh.joint_weights, joint_count=matrices.shape[1], centers=of.centers)
    made[f"SBS about optimized centers, the artist's{SPREAD}"] = deformed(skin, matrices, "SBS", "optimized")
    made[f"SBS about optimized centers, fitted{SPREAD}"] = fitted_shape(
        of, with_frames, matrices, "SBS", centers=of.centers
    )
    made[f"SBS, centers fitted, too{SPREAD}"] = fitted_shape(of, with_frames, matrices, "SBS", fit_centers=True)
    joints = len(of.character.skeleton)
    made[f"LBS, {joints} joints of its own"] = with_own_joints(of, joints)
    return made


def deformed(skin: sbs.Skin, matrices: Floats, method: str, center: Center = "weighted") -> Floats:
    options: BlendOptions = {"method": "LBS"} if method == "LBS" else {"method": "SBS", "center": center}
    return np.asarray(skin.deform_many(matrices, **options), np.float64)


def fitted_shape(
    of: Examples,
    character: Character,
    matrices: Floats,
    method: Method,
    *,
    fit_centers: bool = False,
    centers: Floats | None = None,
) -> Floats:
    """Deformed by fitted weights, which are the artist's where no limb moves anything; about centers that are told."""
    center: Center = "optimized" if fit_centers or centers is not None else "weighted"
    began = time.perf_counter()
    found = fit(
        of.rest[of.fitted],
        of.posed[:FITTED, of.fitted],
        matrices[:FITTED],
        method=method,
        center=center,
        centers=None if centers is None else centers[of.fitted],
        fit_centers=fit_centers,
        influences=INFLUENCES,
        allowed=near_joints(character)[of.fitted],
    )
    click.echo(f"{of.name}: {method}, {time.perf_counter() - began:.0f} s", err=True)
    changed = character.with_weights(*found, vertices=of.fitted).mesh
    around = (of.rest if centers is None else centers).copy()
    if found.centers is not None:
        around[of.fitted] = found.centers
    skin = sbs.Skin(
        of.rest, changed.joint_indices, changed.joint_weights, joint_count=matrices.shape[1], centers=around
    )
    return deformed(skin, matrices, method, center)


def with_own_joints(of: Examples, joints: int) -> Floats:
    """Of frames that are held out the matrices are fitted too, as these joints have no pose of their own."""
    rest, posed = of.rest[of.fitted], of.posed[:, of.fitted]
    bones = decompose(rest, posed[:FITTED], joints, influences=INFLUENCES)
    start = np.tile(bones.skinning_matrices[:1], (HELD_OUT, 1, 1, 1))
    others, _ = fit_matrices(rest, posed[FITTED:], start, *bones, sweeps=300)
    matrices = np.concatenate([bones.skinning_matrices, others])
    shown = of.posed.copy()
    shown[:, of.fitted] = deformed(sbs.Skin(rest, *bones, joint_count=joints), matrices, "LBS")
    return shown


def error_colors(errors: Floats) -> Floats:
    """Colors (V, 3) of errors as shares of the size: clay without any."""
    return np.asarray(CLAY + (RED - CLAY) * np.clip(errors / WORST, 0, 1)[:, None])


def picture_row(of: Examples, made: dict[str, Floats], pose: int, width: int, samples: int) -> Row:
    """A pose that was held out, in color where it is wrong."""
    mesh = of.character.mesh
    positions = {"example": of.posed[pose], **{name: made[name + SPREAD][pose] for name in DRAWN[1:]}}
    camera = Camera.framing(np.concatenate([*positions.values()]), (0.5, 0.2, 1.0), (0, 1, 0), aspect=0.9)
    size = (width, round(width / 0.9))
    pictures: list[NDArray[np.uint8]] = []
    notes = []
    for name, shape in positions.items():
        errors = np.linalg.norm(shape - of.posed[pose], axis=1) / of.size
        pictures += portraits(
            mesh.positions, mesh.triangles, [shape], error_colors(errors), camera, size, samples=samples
        )
        notes.append(
            "" if name == "example" else f"{np.sqrt(np.square(errors).mean()):.2%}, at most {errors.max():.1%}"
        )
    return Row(pictures, notes, f"Examples by {of.name}; a pose that was held out")


@click.command(help=__doc__.splitlines()[0])
@click.option("--image", type=click.Path(dir_okay=False, path_type=Path), help="Draw a pose that was held out here.")
@click.option("--width", default=300, show_default=True, help="Pixels across a picture.")
@click.option("--samples", default=48, show_default=True, help="Light paths per pixel.")
def main(image: Path | None, width: int, samples: int) -> None:
    rows = []
    for number, of in enumerate(examples_of(sbs.samples.load("woman"))):
        made = shapes(of)
        for name, shape in made.items():
            fitted, held_out = of.errors(shape)
            click.echo(f"| {of.name} | {name} | {fitted:.3%} | {held_out:.3%} |")
        if image is not None:
            rows.append(picture_row(of, made, FITTED + number, width, samples))
    if image is not None:
        note = f"Red: as far as {WORST:.0%} of the size, or farther, from the example. Errors in percent of the size."
        with replacing(image) as temporary:
            compose(rows, DRAWN, note).save(temporary, optimize=True)


if __name__ == "__main__":
    main()
