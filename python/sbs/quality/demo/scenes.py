# SPDX-License-Identifier: MIT
"""The scenes of the figure: characters, poses and cameras."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...characters.character import Character
from ...characters.poses import bone_axis, descendants, turned
from ...characters.samples import load as load_sample
from ..picture.camera import Camera

UPWARD = (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Scene:
    """A row of the figure: a pose (J, 4, 4) of a character, and its picture.

    The weight of the joints `moved` (N,) colors the mesh. `aspect` is the ratio of width to height of a picture.
    """

    name: str
    caption: str
    character: Character
    skinning_matrices: NDArray[np.float64]
    moved: NDArray[np.intp]
    camera: Camera
    aspect: float


def scenes() -> list[Scene]:
    """The rows of the figure, from top to bottom."""
    woman = load_sample("woman")
    return [twist(woman), knee(woman), fist(load_sample("hand"))]


def arm(woman: Character) -> Scene:
    """The first picture of the README."""
    skeleton = woman.skeleton
    upper, lower = (
        turned(skeleton, name, bone_axis(skeleton, name), degrees)
        for name, degrees in (("LeftArm", 110), ("LeftForeArm", 150))
    )
    elbow = skeleton.joint_positions[skeleton.index("LeftForeArm")]
    return Scene(
        name="arm",
        caption="The upper arm twisted by 110°, the forearm by 150°, on the same rig with the same weights.",
        character=woman,
        skinning_matrices=woman.skinning_matrices(upper @ lower),
        moved=descendants(skeleton, "LeftArm"),
        camera=Camera(np.add(elbow, (-0.6, 0.3, 0)), (0.2, 0.25, 1), UPWARD, 5.2),
        aspect=1.0,
    )


def twist(woman: Character) -> Scene:
    skeleton = woman.skeleton
    local = turned(skeleton, "LeftForeArm", bone_axis(skeleton, "LeftForeArm"), 170)
    elbow = skeleton.joint_positions[skeleton.index("LeftForeArm")]
    return Scene(
        name="twisted arm",
        caption="(a) The left forearm twisted by 170° about its bone, from behind. LBS winds the elbow up like a candy"
        " wrapper; by SBS and DQS it stays an arm; spread along the bone, the twist is hardly seen. Blue: the weight of"
        " the joints that move.",
        character=woman,
        skinning_matrices=woman.skinning_matrices(local),
        moved=descendants(skeleton, "LeftForeArm"),
        camera=Camera(np.add(elbow, (0.15, -0.05, 0)), (0.35, 0.15, -1), UPWARD, 3.6),
        aspect=1.15,
    )


def knee(woman: Character) -> Scene:
    skeleton = woman.skeleton
    local = turned(skeleton, "LeftLeg", (1, 0, 0), -125)
    knee_joint = skeleton.joint_positions[skeleton.index("LeftLeg")]
    return Scene(
        name="bent knee",
        caption="(b) The left knee bent by 125° about x. LBS collapses it; SBS and DQS move its vertices on arcs about"
        " the joint, which bulges; blended in part, it keeps the shape of a knee.",
        character=woman,
        skinning_matrices=woman.skinning_matrices(local),
        moved=descendants(skeleton, "LeftLeg"),
        camera=Camera(np.add(knee_joint, (0, 0.35, -0.45)), (1, 0.1, -0.4), UPWARD, 3.5),
        aspect=1.15,
    )


def fist(hand: Character) -> Scene:
    animation = next(animation for animation in hand.animations if animation.name == "fist")
    skinning_matrices = animation.skinning_matrices(animation.duration)
    phalanges = [joint for joint, name in enumerate(hand.skeleton.names) if "phalanx" in name]
    fingers = np.any(np.isin(hand.mesh.joint_indices, phalanges) & (hand.mesh.joint_weights > 0), axis=1)
    shown = np.concatenate([hand.mesh.positions[fingers], hand.skin.deform(skinning_matrices)[fingers]])
    return Scene(
        name="fist",
        caption="(c) A hand closed to a fist. LBS thins the fingers at every joint, most at the middle ones.",
        character=hand,
        skinning_matrices=skinning_matrices,
        moved=np.array(phalanges),
        camera=Camera.framing(shown, (0.45, -0.5, 1), (-1, 0, 0.45), aspect=1.5, margin=0.06),
        aspect=1.5,
    )
