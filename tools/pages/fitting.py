# SPDX-License-Identifier: MIT
"""The table of docs/fitting.md: weights fitted to three kinds of examples.

The woman that comes with the package, in poses made up at random from a seed. Examples are made by optimized centers
with twists spread, by Direct Delta Mush, and by sleeves of cloth. Some poses are held out: nothing is fitted to them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import click
import numpy as np
from numpy.typing import NDArray

import sbs
from sbs import rotations
from sbs.linear import near_joints
from sbs.options import BlendOptions, Center, Method
from sbs.poses import axes
from sbs.skinning.twist import Twist
from sbs.weights import decompose, fit, fit_matrices

from .delta_mush import DirectDeltaMush
from .sleeves import Sleeves
from .tables import table

Floats = NDArray[np.float64]

SEED, FITTED, HELD_OUT = 2005, 36, 12

INFLUENCES = 8
"""As many as the artist's weights have at most, with the joints of twists."""
BEND, BEND_OTHERS, TWIST = (-10.0, 115.0), (-35.0, 35.0), 80.0
"""Degrees. Elbows and knees bend one way and not aside, shoulders, hips, hands and feet each way."""
SPREAD = ", twists spread"


def random_poses(character: sbs.Character, limbs: NDArray[np.intp], count: int) -> Floats:
    """Rotation vectors (F, J, 3) that bend and twist every limb and the joint at its end."""
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
    """Poses, and the deformed mesh in them; the last are held out."""

    name: str
    character: sbs.Character
    twist: Twist
    matrices: Floats  # (F, J, 4, 4)
    centers: Floats  # (V, 3): optimized ones of the character with its twists spread, that make the first examples
    posed: Floats  # (F, V, 3)
    fitted: NDArray[np.bool_]  # (V,): the vertices that limbs move; weights are fitted there, and errors are of these

    @property
    def rest(self) -> Floats:
        return np.asarray(self.character.mesh.positions, np.float64)

    def matrices_of(self, character: sbs.Character) -> Floats:
        """Skinning matrices (F, J, 4, 4) of the character, or of the one with joints of twists."""
        return self.matrices if character is self.character else self.twist.pose(self.matrices)

    @property
    def size(self) -> float:
        return float(np.linalg.norm(np.ptp(self.rest, axis=0)))

    def errors(self, shown: Floats) -> tuple[float, float]:
        """Roots of mean squares over the size, of frames that were fitted and of frames held out."""
        squares = np.square(shown - self.posed)[:, self.fitted].sum(axis=2) / self.size**2
        return float(np.sqrt(squares[:FITTED].mean())), float(np.sqrt(squares[FITTED:].mean()))


def examples_of(character: sbs.Character) -> Iterator[Examples]:
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


def shapes(examples: Examples) -> dict[str, Callable[[], Floats]]:
    """Functions that deform the mesh, (F, V, 3), by each method, with the artist's weights and with fitted ones."""
    plain, spread = examples.character, examples.character.with_twist_joints(examples.twist)
    made: dict[str, Callable[[], Floats]] = {}
    methods: tuple[Method, ...] = ("LBS", "SBS")
    for suffix, character in (("", plain), (SPREAD, spread)):
        for method in methods:
            matrices = examples.matrices_of(character)
            made[f"{method}, the artist's{suffix}"] = partial(deformed, character.skin, matrices, method)
            made[f"{method}, fitted{suffix}"] = partial(fitted_shape, examples, character, method)
    matrices = examples.matrices_of(spread)
    influences = spread.mesh.joint_indices, spread.mesh.joint_weights
    skin = sbs.Skin(examples.rest, *influences, joint_count=matrices.shape[1], centers=examples.centers)
    centers = "SBS about optimized centers"
    made[f"{centers}, the artist's{SPREAD}"] = partial(deformed, skin, matrices, "SBS", "optimized")
    fit_to_spread = partial(fitted_shape, examples, spread, "SBS")
    made[f"{centers}, fitted{SPREAD}"] = partial(fit_to_spread, centers=examples.centers)
    made[f"SBS, centers fitted, too{SPREAD}"] = partial(fit_to_spread, fit_centers=True)
    joints = len(plain.skeleton)
    made[f"LBS, {joints} joints of its own"] = partial(with_own_joints, examples, joints)
    return made


def deformed(skin: sbs.Skin, matrices: Floats, method: str, center: Center = "weighted") -> Floats:
    options: BlendOptions = {"method": "LBS"} if method == "LBS" else {"method": "SBS", "center": center}
    return np.asarray(skin.deform_many(matrices, **options), np.float64)


def fitted_shape(
    examples: Examples,
    character: sbs.Character,
    method: Method,
    *,
    fit_centers: bool = False,
    centers: Floats | None = None,
) -> Floats:
    """Deformed by fitted weights, which are the artist's where no limb moves anything; about centers that are told."""
    center: Center = "optimized" if fit_centers or centers is not None else "weighted"
    chosen, rest, matrices = examples.fitted, examples.rest, examples.matrices_of(character)
    began = time.perf_counter()
    found = fit(
        rest[chosen],
        examples.posed[:FITTED, chosen],
        matrices[:FITTED],
        method=method,
        center=center,
        centers=None if centers is None else centers[chosen],
        fit_centers=fit_centers,
        influences=INFLUENCES,
        allowed=near_joints(character)[chosen],
    )
    click.echo(f"{examples.name}: {method}, {time.perf_counter() - began:.0f} s", err=True)
    changed = character.with_weights(*found, vertices=chosen).mesh
    around = (rest if centers is None else centers).copy()
    if found.centers is not None:
        around[chosen] = found.centers
    skin = sbs.Skin(rest, changed.joint_indices, changed.joint_weights, joint_count=matrices.shape[1], centers=around)
    return deformed(skin, matrices, method, center)


def with_own_joints(examples: Examples, joints: int) -> Floats:
    """Of frames that are held out the matrices are fitted too, as these joints have no pose of their own."""
    rest, posed = examples.rest[examples.fitted], examples.posed[:, examples.fitted]
    bones = decompose(rest, posed[:FITTED], joints, influences=INFLUENCES)
    start = np.tile(bones.skinning_matrices[:1], (HELD_OUT, 1, 1, 1))
    others, _ = fit_matrices(rest, posed[FITTED:], start, *bones, sweeps=300)
    matrices = np.concatenate([bones.skinning_matrices, others])
    shown = examples.posed.copy()
    shown[:, examples.fitted] = deformed(sbs.Skin(rest, *bones, joint_count=joints), matrices, "LBS")
    return shown


def write() -> None:
    """Print the table, in percent."""
    rows: dict[str, list[str]] = {}
    heads = [""]
    for examples in examples_of(sbs.samples.load("woman")):
        heads += [examples.name, "held out"]
        for name, make in shapes(examples).items():
            rows.setdefault(name, [name]).extend(f"{100 * error:.3f}" for error in examples.errors(make()))
    click.echo(table(heads, rows.values()))
