# SPDX-License-Identifier: MIT
"""The scenes of docs/quality.md: characters and motions, with a row of pictures each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.poses import axes, turned
from sbs.quality import MeasuredMotion, clip, sweep
from sbs.quality.demo.scenes import Scene, fist, knee, twist
from sbs.quality.picture import Camera
from sbs.rotations import matrices_from_axis_angle
from sbs.samples import load as load_sample
from sbs.weights import from_dense

from .exchange import read_character

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Subject:
    """A row of the figure: a character in a motion, and how it is seen."""

    name: str  # for tables
    caption: str
    character: sbs.Character
    motion: MeasuredMotion
    view: tuple[float, float, float] = (0.5, 0.2, 1)  # towards the camera
    up: tuple[float, float, float] = (0, 1, 0)
    aspect: float = 1.0  # width to height of a picture
    camera: Camera | None = None  # in place of one that has all of the character in view
    joints: tuple[str, ...] = ()  # or else the parts that these joints move


def still(scene: Scene, path: NDArray[np.float64], caption: str) -> Subject:
    """A pose of the demo, with a path of its own."""
    motion = MeasuredMotion(scene.name, (scene.name,), scene.skinning_matrices[None], (path,))
    return Subject(scene.name, caption, scene.character, motion, aspect=scene.aspect, camera=scene.camera)


def twisted_arm() -> Subject:
    """The demo's forearm, and a path through half a turn."""
    woman = load_sample("woman")
    _, bone = axes(woman.skeleton, woman.skeleton.index("LeftForeArm"))
    path = sweep(woman, "LeftForeArm", bone)
    return still(twist(woman), path, "The left forearm twisted by 170°, from behind")


def bent_knee() -> Subject:
    """The demo's knee, and the path to it."""
    woman = load_sample("woman")
    local = [turned(woman.skeleton, "LeftLeg", (1, 0, 0), -degrees) for degrees in np.arange(0, 126, 2.5)]
    return still(knee(woman), woman.skinning_matrices(np.stack(local)), "The left knee bent by 125°")


def closed_hand() -> Subject:
    """The fist of the demo, the whole way."""
    hand = fist(load_sample("hand")).character
    motion = clip(hand.animations[0])
    return Subject("fist", "A hand closed to a fist", hand, motion, view=(0.45, -0.5, 1), up=(-1, 0, 0.45), aspect=1.3)


def rat() -> Subject:
    """The rat of the tests, attacking."""
    character = sbs.load(ROOT / "tests" / "data" / "Rat.glb")
    attack = next(animation for animation in character.animations if animation.name.endswith("Rat_Attack"))
    return Subject("rat attack", "A rat that attacks", character, clip(attack), view=(1, 0.3, 0.7), aspect=1.6)


def tube_surface(x: NDArray[np.float64], radius: float, sides: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Vertices (V, 3) and triangles (T, 3) of an open tube about the x axis, with a ring at each place."""
    along, angle = np.meshgrid(x, np.arange(sides) * 2 * np.pi / sides, indexing="ij")
    points = np.stack([along, radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(-1, 3)
    ring, side = np.meshgrid(np.arange(len(x) - 1) * sides, np.arange(sides), indexing="ij")
    a, b = (ring + side).reshape(-1), (ring + (side + 1) % sides).reshape(-1)
    triangles = np.concatenate([np.stack([a, b + sides, a + sides], 1), np.stack([a, b, b + sides], 1)])
    return points, triangles.astype(np.int32)


def straight_joints(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bind matrices (J, 4, 4) of a chain along the x axis."""
    bind = np.tile(np.eye(4), (len(x), 1, 1))
    bind[:, 0, 3] = x
    return bind


def tube(rings: int = 200, sides: int = 32) -> Subject:
    """A tube of 4 joints with smooth weights of up to three influences, bent by 90 degrees and twice more."""
    points, triangles = tube_surface(np.linspace(-0.5, 3.5, rings), 0.3, sides)
    weights = np.maximum(1 - np.abs(points[:, :1] - np.arange(4)) / 1.3, 0) ** 2
    skeleton = sbs.Skeleton([-1, 0, 1, 2], straight_joints(np.arange(4.0)))
    influences = from_dense(weights / weights.sum(axis=1, keepdims=True))
    mesh = sbs.Mesh(points, triangles, influences.joint_indices, influences.joint_weights)
    character = sbs.Character.from_mesh(mesh, skeleton, name="tube")
    turns = matrices_from_axis_angle(np.eye(3)[[0, 1, 2, 1]], [0, 40, 90, -60], degrees=True)
    motion = MeasuredMotion("tube", ("bent",), character.skinning_matrices(turns)[None])
    return Subject("tube", "A tube of four joints, bent by 40°, 90° and 60°", character, motion)


def arnaud(characters: Path) -> Subject:
    """Gymnastics."""
    character = read_character(characters / "arnaud_ozz", ["atlas"])
    return Subject("arnaud atlas", "Gymnastics (arnaud, atlas)", character, clip(character.animations[0]))


def benchmark(characters: Path) -> Subject:
    """MakeHuman's own poses to judge weights by."""
    character = read_character(characters / "woman_makehuman_default", ["benchmark"])
    caption = "MakeHuman's poses to judge weights by (benchmark)"
    shoulders = ("upperarm01.L", "upperarm01.R", "spine01", "spine02", "head")
    return Subject("MakeHuman benchmark", caption, character, clip(character.animations[0]), joints=shoulders)


def subjects(characters: Path) -> list[Subject]:
    """All, in the order of the page."""
    own = (twisted_arm(), bent_knee(), closed_hand(), rat(), tube())
    return [*own, arnaud(characters), benchmark(characters)]


def without_path(subject: Subject) -> MeasuredMotion:
    """The motion of a subject, in which no pops are looked for."""
    return replace(subject.motion, paths=(), path_times=())


def bent(character: sbs.Character, joint: str, degrees: float) -> NDArray[np.float64]:
    """Skinning matrices (J, 4, 4) of a joint that is bent."""
    across, _ = axes(character.skeleton, character.skeleton.index(joint))
    return character.skinning_matrices(turned(character.skeleton, joint, tuple(across), degrees))


def twisted(character: sbs.Character, joint: str, degrees: float) -> NDArray[np.float64]:
    """Skinning matrices (J, 4, 4) of a joint that turns about its bone."""
    _, bone = axes(character.skeleton, character.skeleton.index(joint))
    return character.skinning_matrices(turned(character.skeleton, joint, tuple(bone), degrees))
