# SPDX-License-Identifier: MIT
"""The characters and motions of which docs/quality.md has a row of pictures and a table each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import sbs
from characters_to_glb import read_character
from sbs.characters.character import Character, Mesh
from sbs.demo.scenes import Scene, fist, knee, twist
from sbs.picture import Camera
from sbs.poses import axes, turned
from sbs.quality import MeasuredMotion, clip, sweep
from sbs.rigging.skeleton import Skeleton
from sbs.rotations import matrices_from_axis_angle
from sbs.samples import load as load_sample
from sbs.weights import from_dense

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Subject:
    """A row of the figure.

    Attributes
    ----------
    name : str
        For tables.
    caption : str
    character : Character
    motion : MeasuredMotion
    view, up : (float, float, float)
        Towards the camera, and upward.
    aspect : float
        Width to height of a picture.
    camera : Camera or None
        In place of one that has all of the character in view.
    joints : tuple of str
        Or else all that these joints move.
    """

    name: str
    caption: str
    character: Character
    motion: MeasuredMotion
    view: tuple[float, float, float] = (0.5, 0.2, 1)
    up: tuple[float, float, float] = (0, 1, 0)
    aspect: float = 1.0
    camera: Camera | None = None
    joints: tuple[str, ...] = ()


def still(scene: Scene, path: NDArray[np.float64]) -> Subject:
    """A pose of the demo, with a path of its own."""
    motion = MeasuredMotion(scene.name, (scene.name,), scene.skinning_matrices[None], (path,))
    return Subject(scene.name, "", scene.character, motion, aspect=scene.aspect, camera=scene.camera)


def twisted_arm() -> Subject:
    """The demo's forearm, and a path through half a turn."""
    woman = load_sample("woman")
    _, bone = axes(woman.skeleton, woman.skeleton.index("LeftForeArm"))
    subject = still(twist(woman), sweep(woman, "LeftForeArm", bone))
    return described(subject, "The left forearm twisted by 170°, from behind")


def bent_knee() -> Subject:
    """The demo's knee, and the path to it."""
    woman = load_sample("woman")
    local = [turned(woman.skeleton, "LeftLeg", (1, 0, 0), -degrees) for degrees in np.arange(0, 126, 2.5)]
    return described(still(knee(woman), woman.skinning_matrices(np.stack(local))), "The left knee bent by 125°")


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


def tube(rings: int = 200, sides: int = 32) -> Subject:
    """A tube of 4 joints with smooth weights of up to three influences, bent by 90 degrees and twice more."""
    x, angle = np.meshgrid(np.linspace(-0.5, 3.5, rings), np.arange(sides) * 2 * np.pi / sides, indexing="ij")
    points = np.stack([x, 0.3 * np.cos(angle), 0.3 * np.sin(angle)], axis=-1).reshape(-1, 3)
    ring, side = (index.reshape(-1) for index in np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij"))
    a, b = ring * sides + side, ring * sides + (side + 1) % sides
    triangles = np.concatenate([np.stack([a, b + sides, a + sides], 1), np.stack([a, b, b + sides], 1)])
    weights = np.maximum(1 - np.abs(points[:, :1] - np.arange(4)) / 1.3, 0) ** 2
    bind = np.tile(np.eye(4), (4, 1, 1))
    bind[:, 0, 3] = np.arange(4)
    skeleton = Skeleton([-1, 0, 1, 2], bind)
    influences = from_dense(weights / weights.sum(axis=1, keepdims=True))
    mesh = Mesh(points, triangles.astype(np.int32), influences.joint_indices, influences.joint_weights)
    character = Character.from_mesh(mesh, skeleton, name="tube")
    turns = matrices_from_axis_angle(np.eye(3)[[0, 1, 2, 1]], [0, 40, 90, -60], degrees=True)
    caption = "A tube of four joints, bent by 40°, 90° and 60°"
    return Subject(
        "tube", caption, character, MeasuredMotion("tube", ("bent",), character.skinning_matrices(turns)[None])
    )


OWN: dict[str, Callable[[], Subject]] = {
    "twisted arm": twisted_arm,
    "bent knee": bent_knee,
    "fist": closed_hand,
    "rat attack": rat,
    "tube": tube,
}


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


def described(subject: Subject, caption: str) -> Subject:
    return Subject(**{**vars(subject), "caption": caption})


def subjects(characters: Path) -> Iterator[Subject]:
    """All, in the order of the page."""
    for make in OWN.values():
        yield make()
    yield arnaud(characters)
    yield benchmark(characters)
